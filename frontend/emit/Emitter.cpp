//===- Emitter.cpp - Graph ops at the place that is being read ------------===//

#include "frontend/emit/Emitter.h"

#include "ir/Cost.h"
#include "ir/location/CheckpointBlock.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

namespace napkin {

using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::RankedTensorType;

static RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

mlir::Value Body::read(Declaration &declaration, bool isGradient, mlir::Location loc) {
  auto [entry, isNew] =
      numbers.insert({{&declaration, isGradient}, static_cast<unsigned>(arguments.size())});
  if (isNew) {
    arguments.push_back({&declaration, isGradient});
    // A gradient comes in the type that the optimizer computes in.
    mlir::RankedTensorType type = declaration.type;
    if (isGradient)
      type = type.clone(nap::accumulatorType(type.getElementType()));
    block->addArgument(type, loc);
  }
  return block->getArgument(entry->second);
}

Declaration *Body::declarationOf(mlir::Value argument, bool *isGradient) const {
  auto blockArgument = llvm::dyn_cast<mlir::BlockArgument>(argument);
  if (!blockArgument || blockArgument.getOwner() != block.get())
    return nullptr;
  const auto &[declaration, gradient] = arguments[blockArgument.getArgNumber()];
  if (isGradient)
    *isGradient = gradient;
  return declaration;
}

void Body::eraseDead() {
  llvm::SmallPtrSet<mlir::Operation *, 16> kept;
  for (const BodyResult &result : results)
    if (mlir::Operation *op = result.value.getDefiningOp())
      kept.insert(op);
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (op.use_empty() && !kept.contains(&op))
      op.erase();
}

void Emitter::enter(Body *next) {
  body = next;
  if (body)
    builder.setInsertionPointToEnd(body->block.get());
}

mlir::Location Emitter::location() {
  bool isSame = lastLocation && place.source == lastSource && place.begin == lastBegin &&
                (instance ? *instance : std::string()) == lastInstanceText &&
                checkpoint == lastCheckpoint;
  if (isSame)
    return lastLocation;
  lastSource = place.source;
  lastBegin = place.begin;
  lastInstanceText = instance ? *instance : std::string();
  lastCheckpoint = checkpoint;
  mlir::Location loc = builder.getUnknownLoc();
  if (place.isValid()) {
    LineColumn at = place.position();
    loc = mlir::FileLineColLoc::get(context, place.source->name(), at.line, at.column);
  }
  if (!lastInstanceText.empty())
    loc = mlir::NameLoc::get(builder.getStringAttr(lastInstanceText), loc);
  if (checkpoint)
    loc = nap::inCheckpointBlock(loc, *checkpoint);
  lastLocation = loc;
  return loc;
}

mlir::Type Emitter::element(DType dtype) const {
  mlir::Builder types(context);
  switch (dtype) {
  case DType::F64:
    return types.getF64Type();
  case DType::F32:
    return floatType;
  case DType::F16:
    return types.getF16Type();
  case DType::BF16:
    return types.getBF16Type();
  case DType::F8E4M3:
    return types.getType<mlir::Float8E4M3FNType>();
  case DType::F8E5M2:
    return types.getType<mlir::Float8E5M2Type>();
  case DType::F4E2M1:
    return types.getType<mlir::Float4E2M1FNType>();
  case DType::I64:
    return types.getI64Type();
  case DType::I32:
    return types.getI32Type();
  case DType::Bool:
    return types.getI1Type();
  }
  return floatType;
}

DType Emitter::dtypeOf(mlir::Type type) const {
  if (type == floatType)
    return DType::F32;
  for (DType dtype : {DType::F64, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2,
                      DType::F4E2M1, DType::I64, DType::I32, DType::Bool})
    if (element(dtype) == type)
      return dtype;
  return DType::F32;
}

mlir::Value Emitter::constant(const Number &number, mlir::Type element) {
  mlir::Attribute value;
  if (auto integer = llvm::dyn_cast<mlir::IntegerType>(element))
    value = builder.getIntegerAttr(
        integer, integer.getWidth() == 1 ? number.asReal() != 0
                                         : number.asWhole().value_or(std::trunc(number.asReal())));
  else
    value = builder.getFloatAttr(element, number.asReal());
  RankedTensorType type = typeOf({}, element);
  return create<nap::ConstantOp>(type, mlir::DenseElementsAttr::get(type, value));
}

mlir::Value Emitter::splat(const Number &number, ArrayRef<int64_t> sizes, mlir::Type element) {
  return broadcast(constant(number, element), sizes);
}

mlir::Value Emitter::cast(mlir::Value x, mlir::Type element) {
  RankedTensorType type = tensorType(x);
  if (type.getElementType() == element)
    return x;
  return create<nap::CastOp>(typeOf(type.getShape(), element), x);
}

mlir::Value Emitter::reshape(mlir::Value x, ArrayRef<int64_t> sizes) {
  RankedTensorType type = tensorType(x);
  if (type.getShape() == sizes)
    return x;
  return create<nap::ReshapeOp>(typeOf(sizes, type.getElementType()), x);
}

mlir::Value Emitter::permute(mlir::Value x, ArrayRef<int64_t> order) {
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> sizes;
  bool isIdentity = true;
  for (auto [place, axis] : llvm::enumerate(order)) {
    sizes.push_back(type.getShape()[axis]);
    isIdentity &= axis == static_cast<int64_t>(place);
  }
  if (isIdentity)
    return x;
  return create<nap::PermuteOp>(typeOf(sizes, type.getElementType()), x,
                                builder.getDenseI64ArrayAttr(order));
}

mlir::Value Emitter::broadcastInto(mlir::Value x, ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes) {
  RankedTensorType type = tensorType(x);
  if (type.getShape() == sizes)
    return x;
  return create<nap::BroadcastOp>(typeOf(sizes, type.getElementType()), x,
                                  builder.getDenseI64ArrayAttr(axes));
}

mlir::Value Emitter::broadcast(mlir::Value x, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> own = tensorType(x).getShape();
  if (own == sizes)
    return x;
  size_t offset = sizes.size() - own.size();
  SmallVector<int64_t> kept, axes;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    if (own[axis] != sizes[offset + axis])
      continue;
    kept.push_back(own[axis]);
    axes.push_back(offset + axis);
  }
  return broadcastInto(reshape(x, kept), axes, sizes);
}

mlir::Value Emitter::slice(mlir::Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> sizes) {
  RankedTensorType type = tensorType(x);
  bool isWhole = type.getShape() == sizes &&
                 llvm::all_of(starts, [](int64_t s) { return s == 0; }) &&
                 llvm::all_of(strides, [](int64_t s) { return s == 1; });
  if (isWhole)
    return x;
  return create<nap::SliceOp>(typeOf(sizes, type.getElementType()), x,
                              builder.getDenseI64ArrayAttr(starts),
                              builder.getDenseI64ArrayAttr(strides));
}

mlir::Value Emitter::reduce(nap::ReduceKind kind, mlir::Value x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!llvm::is_contained(axes, axis))
      sizes.push_back(type.getShape()[axis]);
  return create<nap::ReduceOp>(typeOf(sizes, type.getElementType()),
                               nap::ReduceKindAttr::get(context, kind), x,
                               builder.getDenseI64ArrayAttr(axes));
}

mlir::Value Emitter::concat(ArrayRef<mlir::Value> values, int64_t axis) {
  if (values.size() == 1)
    return values[0];
  RankedTensorType type = tensorType(values[0]);
  SmallVector<int64_t> sizes(type.getShape());
  for (mlir::Value value : values.drop_front())
    sizes[axis] += tensorType(value).getShape()[axis];
  return create<nap::ConcatOp>(typeOf(sizes, type.getElementType()), mlir::ValueRange(values),
                               builder.getI64IntegerAttr(axis));
}

mlir::Value Emitter::unary(std::string_view name, mlir::Value x) {
  mlir::Type type = x.getType();
#define NAPKIN_UNARY(NAME, OP)                                                                     \
  if (name == NAME)                                                                                \
    return create<nap::OP>(type, x);
  NAPKIN_UNARY("neg", NegOp)
  NAPKIN_UNARY("not", NotOp)
  NAPKIN_UNARY("abs", AbsOp)
  NAPKIN_UNARY("sign", SignOp)
  NAPKIN_UNARY("ceil", CeilOp)
  NAPKIN_UNARY("floor", FloorOp)
  NAPKIN_UNARY("round", RoundOp)
  NAPKIN_UNARY("cos", CosOp)
  NAPKIN_UNARY("sin", SinOp)
  NAPKIN_UNARY("erf", ErfOp)
  NAPKIN_UNARY("exp", ExpOp)
  NAPKIN_UNARY("expm1", Expm1Op)
  NAPKIN_UNARY("log", LogOp)
  NAPKIN_UNARY("log1p", Log1pOp)
  NAPKIN_UNARY("rsqrt", RsqrtOp)
  NAPKIN_UNARY("sqrt", SqrtOp)
  NAPKIN_UNARY("sigmoid", SigmoidOp)
  NAPKIN_UNARY("tanh", TanhOp)
  NAPKIN_UNARY("stop_gradient", StopGradientOp)
#undef NAPKIN_UNARY
  llvm_unreachable("no such elementwise op");
}

mlir::Value Emitter::binary(std::string_view name, mlir::Value a, mlir::Value b) {
  mlir::Type type = a.getType();
#define NAPKIN_BINARY(NAME, OP)                                                                    \
  if (name == NAME)                                                                                \
    return create<nap::OP>(type, a, b);
  NAPKIN_BINARY("add", AddOp)
  NAPKIN_BINARY("sub", SubOp)
  NAPKIN_BINARY("mul", MulOp)
  NAPKIN_BINARY("div", DivOp)
  NAPKIN_BINARY("rem", RemOp)
  NAPKIN_BINARY("pow", PowOp)
  NAPKIN_BINARY("floor_div", FloorDivOp)
  NAPKIN_BINARY("maximum", MaximumOp)
  NAPKIN_BINARY("minimum", MinimumOp)
  NAPKIN_BINARY("and", AndOp)
  NAPKIN_BINARY("or", OrOp)
#undef NAPKIN_BINARY
  llvm_unreachable("no such elementwise op");
}

mlir::Value Emitter::compare(nap::ComparePredicate predicate, mlir::Value a, mlir::Value b) {
  return create<nap::CompareOp>(typeOf(tensorType(a).getShape(), builder.getI1Type()),
                                nap::ComparePredicateAttr::get(context, predicate), a, b);
}

mlir::Value Emitter::select(mlir::Value condition, mlir::Value a, mlir::Value b) {
  return create<nap::SelectOp>(a.getType(), condition, a, b);
}

} // namespace napkin
