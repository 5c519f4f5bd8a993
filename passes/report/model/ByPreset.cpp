// What an op counts by another's convention.
#include "passes/report/model/ByPreset.h"

#include "ir/Einsum.h"
#include "ir/attention/Attention.h"
#include "passes/report/model/Gelu.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nap;

/// How a preset counts ops.
namespace {
struct OpRules {
  llvm::StringLiteral preset;
  /// How attention and convolutions are counted.
  Count ModelFlops::*products;
  /// In words.
  llvm::StringLiteral text;
  /// A result of a product over K terms is K products and K - 1 sums.
  bool isStrict = false;
  /// GELU is 20 an element.
  bool knowsGelu = false;
  /// A gradient of attention computes the scores again.
  bool computesScoresAgain = false;
  /// Products that sum nothing are contractions over one term.
  bool doublesOuter = false;
  /// Counters beside products.
  bool vec = false, trn = false, cmp = false, cvt = false;
  Count divisor = 1;
};
} // namespace

static constexpr OpRules kRules[] = {
    {.preset = "cs336",
     .products = &ModelFlops::dense,
     .text = "2 K - 1 a product over K, all pairs, GELU 20 an element, all else 1",
     .isStrict = true,
     .knowsGelu = true,
     .vec = true,
     .trn = true,
     .cmp = true},
    {.preset = "torch",
     .products = &ModelFlops::dense,
     .text = "products alone, all pairs and taps, attention's gradient 2.5 times forward",
     .computesScoresAgain = true},
    {.preset = "xla",
     .products = &ModelFlops::exact,
     .text = "no functions, comparisons and conversions 1, outer products twice",
     .doublesOuter = true,
     .vec = true,
     .cmp = true,
     .cvt = true},
    {.preset = "mac",
     .products = &ModelFlops::dense,
     .text = "multiply-accumulates of products alone, all pairs and taps",
     .divisor = 2},
    {.preset = "padded",
     .products = &ModelFlops::dense,
     .text = "all pairs and taps",
     .vec = true,
     .trn = true,
     .cmp = true},
    {.preset = "korthikanti", .products = &ModelFlops::dense, .text = "products alone, all pairs"},
    {.preset = "megatron_now",
     .products = &ModelFlops::half,
     .text = "products alone, half of all pairs"},
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

/// Results of the contractions of an op: one sum less each than there are terms.
static Count contractedResults(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    AttentionShape shape = attentionShape(attention);
    return Count(shape.lead) * shape.heads * shape.queries * (shape.keys + shape.valueSize);
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
static Count countOp(Operation *op, const Cost &cost, const Gelus &gelus, const OpRules &rules,
                     const SymbolTable &symbols) {
  if (gelus.parts.contains(op))
    return 0;
  if (auto gelu = gelus.elements.find(op); gelu != gelus.elements.end())
    return 20 * Count(gelu->second);
  Count flops = modelFlopsOf(op, symbols).*rules.products;
  if (rules.isStrict)
    flops -= contractedResults(op);
  if (rules.computesScoresAgain && isa<AttentionBackwardOp>(op))
    flops = flops / 4 * 5;
  if (rules.vec)
    flops += cost.vec;
  if (rules.trn)
    flops += cost.trn;
  if (rules.cmp)
    flops += cost.cmp;
  if (rules.cvt)
    flops += cost.cvt;
  if (auto einsum = dyn_cast<EinsumOp>(op);
      einsum && rules.doublesOuter && einsum.getFactors().size() == 2 && cost.mm == 0)
    flops += cost.vec;
  return flops;
}

Count nap::countByPreset(Operation *op, const SymbolTable &symbols, const Preset &preset) {
  const OpRules *rules = findRules(preset);
  Block *body = bodyOf(op, symbols);
  Gelus gelus;
  if (rules->knowsGelu)
    gelus = findGelus(body ? *body : *op->getBlock());
  Count sum = 0;
  if (body)
    visitCosts(*body, [&](Operation &inner, const Cost &cost, int64_t) {
      sum = addCounts(sum, countOp(&inner, cost, gelus, *rules, symbols));
    });
  else if (auto costed = dyn_cast<Costed>(op))
    sum = countOp(op, costed.getCost(), gelus, *rules, symbols);
  return sum / rules->divisor;
}
