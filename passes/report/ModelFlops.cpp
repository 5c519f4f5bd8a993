// What the model asks for, whatever the program does.
#include "passes/report/ModelFlops.h"

#include "ir/attention/Attention.h"
#include "passes/Report.h"
#include "passes/report/model/Taps.h"

using namespace mlir;
using namespace nap;

void ModelFlops::add(const ModelFlops &more, Count times) {
  for (auto [name, count] : kModelCounts)
    this->*count = addCounts(this->*count, multiplyCounts(more.*count, times));
}

Count nap::seenPairs(const AttentionShape &shape) {
  Count pairs = 0;
  for (int64_t i = 0; i < shape.queries; ++i)
    pairs += std::max<int64_t>(0, shape.lastKey(i) - shape.firstKey(i));
  return pairs;
}

/// `times` the two products of attention, scores and values: once forward, twice backward.
static ModelFlops attentionFlops(const AttentionShape &shape, int64_t times) {
  Count pairs = seenPairs(shape), all = Count(shape.queries) * shape.keys;
  Count perPair = Count(shape.lead) * shape.heads * 2 * (shape.keySize + shape.valueSize) * times;
  bool isMasked = pairs < all;
  ModelFlops flops;
  flops.exact = pairs * perPair;
  flops.dense = all * perPair;
  flops.half = isMasked ? flops.dense / 2 : flops.dense;
  flops.masked = isMasked ? flops.dense : Count(0);
  return flops;
}

/// Of one graph op.
static ModelFlops flopsOfOp(Operation &op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return attentionFlops(attentionShape(attention), 1);
  if (auto backward = dyn_cast<AttentionBackwardOp>(op))
    return attentionFlops(attentionShape(backward), 2);
  ModelFlops flops;
  if (auto costed = dyn_cast<Costed>(op))
    flops.exact = flops.half = flops.dense = costed.getCost().mm;
  if (auto einsum = dyn_cast<EinsumOp>(op)) {
    flops.exact = flops.half = tapsInBounds(einsum);
    flops.padded = flops.dense - flops.exact;
  }
  return flops;
}

ModelFlops nap::modelFlopsOf(Operation *op, const SymbolTable &symbols) {
  Block *body = bodyOf(op, symbols);
  if (!body)
    return flopsOfOp(*op);
  ModelFlops sum;
  for (Operation &inner : *body)
    sum.add(flopsOfOp(inner));
  return sum;
}

Count nap::outerProducts(Operation *op) {
  auto einsum = dyn_cast<EinsumOp>(op);
  if (!einsum || einsum.getFactors().size() != 2)
    return 0;
  Cost cost = einsum.getCost();
  return cost.mm == 0 ? cost.vec : Count(0);
}

ModelFlops nap::countModelFlops(ModuleOp module) {
  SymbolTable symbols(module);
  ModelFlops sum;
  for (auto [func, times] : stepFunctions(module))
    for (Operation &op : cast<func::FuncOp>(func).getOps())
      sum.add(modelFlopsOf(&op, symbols), times);
  return sum;
}

IntegerAttr nap::countAttr(MLIRContext *context, Count count) {
  Builder builder(context);
  if (count == Count(int64_t(count)))
    return builder.getI64IntegerAttr(int64_t(count));
  return IntegerAttr::get(builder.getIntegerType(128),
                          APInt(128, {uint64_t(count), uint64_t(count >> 64)}));
}

Count nap::countOf(IntegerAttr attr) {
  APInt value = attr.getValue().sextOrTrunc(128);
  return Count((unsigned __int128)value.getRawData()[1] << 64 | value.getRawData()[0]);
}

void nap::writeModelFlops(ModuleOp module, const ModelFlops &flops) {
  MLIRContext *context = module.getContext();
  Builder builder(context);
  module->setAttr("nap.model_flops", builder.getF64FloatAttr(double(flops.exact)));
  SmallVector<NamedAttribute> counts;
  for (auto [name, count] : kModelCounts)
    counts.push_back(builder.getNamedAttr(name, countAttr(context, flops.*count)));
  module->setAttr("nap.model_counts", builder.getDictionaryAttr(counts));
}

std::optional<ModelFlops> nap::readModelFlops(ModuleOp module) {
  auto counts = module->getAttrOfType<DictionaryAttr>("nap.model_counts");
  if (!counts)
    return std::nullopt;
  ModelFlops flops;
  for (auto [name, count] : kModelCounts)
    if (auto attr = counts.getAs<IntegerAttr>(name))
      flops.*count = countOf(attr);
  return flops;
}
