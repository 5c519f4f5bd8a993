// What an op counts, as a formula with its numbers put in.
#include "ir/Einsum.h"
#include "ir/attention/Attention.h"
#include "passes/Report.h"
#include "passes/kernels/Emit.h"
#include "passes/report/Names.h"
#include "passes/report/model/ByPreset.h"
#include "passes/report/model/Taps.h"
#include "passes/report/print/Numbers.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// What one loop nest over all letters would count: of each term a multiplication less than there
/// are operands, and an addition where something is summed.
static Count loopNest(const EinsumPattern &pattern, ArrayRef<int64_t> sizes) {
  Count terms = 1;
  std::string seen;
  for (const std::string &group : pattern.operands)
    for (char letter : group)
      if (!StringRef(seen).contains(letter)) {
        seen += letter;
        terms = multiplyCounts(terms, sizes[letter]);
      }
  return multiplyCounts(terms,
                        Count(pattern.operands.size()) - 1 + (seen.size() > pattern.result.size()));
}

/// "2 x b s d o = 2 * 4 * 1024 * 768 * 3072 = 19,327,352,832 mm", a line a step of the pairwise
/// order; of more than two operands, what the order saves; of a convolution, taps in the image.
static std::string explainEinsum(EinsumOp einsum) {
  std::string text;
  SmallVector<int64_t> sizes = letterSizes(einsum);
  for (const EinsumStep &step : planEinsum(*parseEinsum(einsum.getPattern()), sizes)) {
    std::string letters;
    for (const std::string &group : step.pattern.operands)
      for (char letter : group)
        if (!StringRef(letters).contains(letter))
          letters += letter;
    std::string product = step.contracts ? "2" : "";
    for (char letter : letters)
      product += fmt::format("{}{}", product.empty() ? "" : "*", sizes[letter]);
    if (step.lhs == step.rhs && !step.contracts)
      text += fmt::format("    {}: sums, terms - results = {} vec\n", step.pattern.text(),
                          grouped(step.work));
    else
      text += fmt::format("    {}: {} = {} {}\n", step.pattern.text(), product, grouped(step.work),
                          step.contracts ? "mm" : "vec");
  }
  if (einsum.getFactors().size() > 2) {
    Cost cost = einsum.getCost();
    text += fmt::format("    in this order {}, in one loop nest {}\n", grouped(cost.mm + cost.vec),
                        grouped(loopNest(*parseEinsum(einsum.getPattern()), sizes)));
  }
  if (Count inside = tapsInBounds(einsum); inside < einsum.getCost().mm)
    text += fmt::format("    taps in the image {}, outside of it {} mm\n", grouped(inside),
                        grouped(einsum.getCost().mm - inside));
  return text;
}

/// Pairs that a mask leaves, those of whole blocks, and all.
template <typename OpTy> static std::string explainAttention(OpTy op, int64_t products) {
  AttentionShape shape = attentionShape(op);
  Count heads = Count(shape.lead) * shape.heads;
  std::string text;
  auto line = [&](const char *name, Count pairs) {
    text += fmt::format("    {}: 2*{}*{}*{}*({}+{}) = {} mm\n", name, products, grouped(heads),
                        grouped(pairs), shape.keySize, shape.valueSize,
                        grouped(heads * pairs * 2 * products * (shape.keySize + shape.valueSize)));
  };
  line("model, causal exact (pairs seen)", seenPairs(shape));
  line("model, causal dense (all pairs)", Count(shape.queries) * shape.keys);
  text += fmt::format("    program: {} pairs in blocks with a pair that is seen, {} mm\n",
                      grouped(countAttentionPairs(shape).pairs), grouped(op.getCost().mm));
  return text;
}

/// The counters that are not 0: "vec 3, trn 1".
static std::string counters(const Cost &cost) {
  std::string text;
  for (auto [name, counter] : kCounters)
    if (cost.*counter != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name.str(), grouped(cost.*counter));
  return text.empty() ? "nothing" : text;
}

/// An op with what of it counts, `cost`, and a formula; `made` elements of its result are.
static std::string explain(Operation *op, const Cost &cost, int64_t made) {
  Type type = op->getNumResults() ? op->getResult(0).getType() : op->getOperand(0).getType();
  std::string head = fmt::format("  {} -> {}: {}\n", op->getName().stripDialect().str(),
                                 typeText(type), counters(cost));
  if (auto einsum = dyn_cast<EinsumOp>(op))
    return head + explainEinsum(einsum);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return head + explainAttention(attention, 1);
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    return head + explainAttention(backward, 2);
  if (isa<CompareOp>(op) && cost.cmp == 0)
    return head + "    it only chooses: its choices have it in their count\n";
  if (isa<Fusable>(op)) {
    int64_t elements = cast<RankedTensorType>(type).getNumElements();
    Cost each = cast<Costed>(op).getCost();
    for (auto [name, counter] : kCounters)
      each.*counter = elements ? each.*counter / elements : Count(0);
    return head + fmt::format("    {} an element, {}\n", counters(each),
                              made == elements ? "of " + grouped(elements)
                                               : fmt::format("{} of {} are read", grouped(made),
                                                             grouped(elements)));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return head + fmt::format("    terms - results = {} - {}\n",
                              grouped(reduce.getX().getType().getNumElements()),
                              grouped(reduce.getType().getNumElements()));
  return head;
}

bool nap::explainOp(ModuleOp module, StringRef name, const Device &device, const Preset *preset,
                    llvm::raw_ostream &out) {
  SymbolTable symbols(module);
  std::vector<std::string> order;
  llvm::StringMap<int64_t> times;
  IdiomsByBlock idioms;
  for (auto [func, count] : stepFunctions(module))
    for (Operation &op : cast<func::FuncOp>(func).getOps()) {
      bool isAll = name == "all" && !isFree(&op) && !op.hasTrait<OpTrait::IsTerminator>();
      if (nameOf(&op) != name && !isAll)
        continue;
      std::string text;
      if (Block *body = bodyOf(&op, symbols))
        visitCosts(*body, [&](Operation &inner, const Cost &cost, int64_t made) {
          if (counters(cost) != "nothing")
            text = explain(&inner, cost, made) + text;
        });
      else if (auto costed = dyn_cast<Costed>(op))
        text = explain(&op, costed.getCost(),
                       cast<RankedTensorType>(op.getResult(0).getType()).getNumElements());
      text += fmt::format("  = {}\n", counters(workOf(&op, symbols).total()));
      Count least = leastBytes(&op, symbols);
      text += fmt::format("    bytes: {} at least, {} by the plan\n", grouped(least),
                          grouped(plannedBytes(&op, symbols, device, least)));
      if (preset) {
        Count flops = countByPreset(&op, symbols, *preset, idioms);
        text += fmt::format("    {}: {} FLOP, {:.10g} FLOP/B ({})\n", preset->name, grouped(flops),
                            least > 0 ? double(flops) / double(least) : 0.0, rulesOf(*preset));
      }
      text = nameOf(&op).str() + '\n' + text;
      if (times[text] == 0)
        order.push_back(text);
      times[text] += count;
    }
  for (const std::string &text : order) {
    auto [kernel, lines] = StringRef(text).split('\n');
    out << inColumns(fmt::format("{}, {} a step, each:\n{}", kernel.str(), times[text], lines));
  }
  return !order.empty();
}
