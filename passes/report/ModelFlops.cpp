// What the model asks for, whatever the program does.
#include "passes/report/ModelFlops.h"

#include "ir/attention/Attention.h"
#include "passes/Report.h"

using namespace mlir;
using namespace nap;

void ModelFlops::add(const ModelFlops &more, Count times) {
  for (Count ModelFlops::*count :
       {&ModelFlops::exact, &ModelFlops::half, &ModelFlops::dense, &ModelFlops::masked})
    this->*count = addCounts(this->*count, multiplyCounts(more.*count, times));
}

/// `products` of the two products of attention, scores and values: two forward, four backward.
static ModelFlops attentionFlops(const AttentionShape &shape, int64_t times) {
  Count pairs = 0, all = Count(shape.queries) * shape.keys;
  for (int64_t i = 0; i < shape.queries; ++i)
    pairs += std::max<int64_t>(0, shape.lastKey(i) - shape.firstKey(i));
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
  module->setAttr("nap.model_counts",
                  builder.getDictionaryAttr(
                      {builder.getNamedAttr("exact", countAttr(context, flops.exact)),
                       builder.getNamedAttr("half", countAttr(context, flops.half)),
                       builder.getNamedAttr("dense", countAttr(context, flops.dense)),
                       builder.getNamedAttr("masked", countAttr(context, flops.masked))}));
}

std::optional<ModelFlops> nap::readModelFlops(ModuleOp module) {
  auto counts = module->getAttrOfType<DictionaryAttr>("nap.model_counts");
  if (!counts)
    return std::nullopt;
  auto read = [&](StringRef name) {
    auto attr = counts.getAs<IntegerAttr>(name);
    return attr ? countOf(attr) : Count(0);
  };
  return ModelFlops{read("exact"), read("half"), read("dense"), read("masked")};
}
