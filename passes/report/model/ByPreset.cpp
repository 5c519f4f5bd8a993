// What an op counts by another's convention.
#include "passes/report/model/ByPreset.h"

#include "ir/Einsum.h"
#include "ir/attention/Attention.h"

#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace mlir;
using namespace nap;

/// Counters beside products.
using Beside = std::array<Count Cost::*, 3>;
static constexpr Beside kNothing = {}, kAllElse = {&Cost::vec, &Cost::trn, &Cost::cmp},
                        kNoFunctions = {&Cost::vec, &Cost::cmp, &Cost::cvt};

/// Ways of a preset: a result of a product over K terms is K products and K - 1 sums; GELU is 20 an
/// element and an update by AdamW 15; a gradient of attention computes the scores again; products
/// that sum nothing are contractions over one term.
static constexpr unsigned kStrict = 1, kKnowsIdioms = 2, kScoresAgain = 4, kOuterTwice = 8;

/// How a preset counts ops.
namespace {
struct OpRules {
  llvm::StringLiteral preset;
  /// How attention and convolutions are counted.
  Count ModelFlops::*products;
  Beside beside;
  unsigned ways;
  /// In words.
  llvm::StringLiteral text;
  Count divisor = 1;
};
} // namespace

static constexpr OpRules kRules[] = {
    {"cs336", &ModelFlops::dense, kAllElse, kStrict | kKnowsIdioms,
     "2 K - 1 a product, all pairs, GELU 20, AdamW 15, else 1"},
    {"torch", &ModelFlops::dense, kNothing, kScoresAgain,
     "products alone, all pairs and taps, attention's gradient 2.5 times forward"},
    {"xla", &ModelFlops::exact, kNoFunctions, kOuterTwice,
     "no functions, comparisons and conversions 1, outer products twice"},
    {"mac", &ModelFlops::dense, kNothing, 0,
     "multiply-accumulates of products alone, all pairs and taps", 2},
    {"padded", &ModelFlops::dense, kAllElse, 0, "all pairs and taps"},
    {"korthikanti", &ModelFlops::dense, kNothing, 0, "products alone, all pairs"},
    {"megatron_now", &ModelFlops::half, kNothing, 0, "products alone, half of all pairs"},
};

/// The rules of a preset, or null.
static const OpRules *findRules(const Preset &preset) {
  for (const OpRules &rules : kRules)
    if (rules.preset == preset.name)
      return &rules;
  return nullptr;
}

bool nap::countsOps(const Preset &preset) { return findRules(preset) != nullptr; }

std::string nap::opPresetNames() {
  return llvm::join(llvm::map_range(kRules, [](const OpRules &each) { return each.preset.str(); }),
                    ", ");
}

std::string nap::rulesOf(const Preset &preset) { return findRules(preset)->text.str(); }

/// Results of the contractions of an op: one sum less each than there are terms. Those of
/// attention's gradient are the model's four: of probabilities and of queries, a row a query; of
/// values and of keys, summed over the queries and heads that share them.
static Count contractedResults(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    AttentionShape shape = attentionShape(attention);
    return Count(shape.lead) * shape.heads * shape.queries * (shape.keys + shape.valueSize);
  }
  if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
    AttentionShape shape = attentionShape(backward);
    Count ofQueries = Count(shape.heads) * shape.queries * (shape.keys + shape.keySize);
    Count ofKeys = Count(shape.groups) * shape.keys * (shape.keySize + shape.valueSize);
    return shape.lead * (ofQueries + ofKeys);
  }
  auto einsum = dyn_cast<EinsumOp>(op);
  if (!einsum)
    return 0;
  SmallVector<int64_t> sizes = letterSizes(einsum);
  Count results = 0;
  for (const EinsumStep &step : planEinsum(*parseEinsum(einsum.getPattern()), sizes)) {
    Count each = 1;
    for (char letter : step.pattern.result)
      each = multiplyCounts(each, sizes[letter]);
    if (step.contracts)
      results = addCounts(results, each);
  }
  return results;
}

/// One op, of whose own cost `cost` counts.
static Count countOp(Operation *op, const Cost &cost, const Idioms &idioms, const OpRules &rules,
                     const SymbolTable &symbols) {
  if (idioms.parts.contains(op))
    return 0;
  if (auto whole = idioms.flops.find(op); whole != idioms.flops.end())
    return whole->second;
  Count flops = modelFlopsOf(op, symbols).*rules.products;
  if (rules.ways & kStrict)
    flops -= contractedResults(op);
  if ((rules.ways & kScoresAgain) && isa<AttentionBackwardOp>(op))
    flops = flops / 4 * 5;
  for (Count Cost::*counter : rules.beside)
    if (counter)
      flops += cost.*counter;
  if (rules.ways & kOuterTwice)
    flops += outerProducts(op);
  return flops;
}

Count nap::countByPreset(Operation *op, const SymbolTable &symbols, const Preset &preset,
                         IdiomsByBlock &known) {
  const OpRules *rules = findRules(preset);
  Block *body = bodyOf(op, symbols), *block = body ? body : op->getBlock();
  auto [place, isNew] = known.try_emplace(block);
  Idioms &idioms = place->second;
  if (isNew && (rules->ways & kKnowsIdioms)) {
    constexpr Count gelu = 20, adamW = 15;
    addGelus(*block, gelu, idioms);
    addAdamWs(*block, adamW, idioms);
  }
  Count sum = 0;
  if (body)
    visitCosts(*body, [&](Operation &inner, const Cost &cost, int64_t) {
      sum = addCounts(sum, countOp(&inner, cost, idioms, *rules, symbols));
    });
  else if (auto costed = dyn_cast<Costed>(op))
    sum = countOp(op, costed.getCost(), idioms, *rules, symbols);
  return sum / rules->divisor;
}
