//===- Precision.cpp - The element types of a precision policy ------------===//

#include "frontend/emit/Precision.h"
#include "frontend/emit/Emitter.h"

namespace napkin {

/// The element type of floats under 32 bits; null for any other type.
static mlir::Type narrowFloat(mlir::Type element) {
  bool isNarrow = llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isNarrow ? element : mlir::Type();
}

std::optional<Precision> Precision::named(std::string_view name, mlir::Builder types) {
  mlir::Type f32 = types.getF32Type(), f64 = types.getF64Type(), bf16 = types.getBF16Type();
  mlir::Type f16 = types.getF16Type();
  std::string text(name);
  if (name == "f64")
    return Precision{text, f64, f64, f64};
  if (name == "f32" || name == "tf32")
    return Precision{text, f32, f32, f32};
  if (name == "mixed(bf16)")
    return Precision{text, f32, bf16, f32};
  if (name == "mixed(f16)")
    return Precision{text, f32, f16, f32};
  if (name == "pure(bf16)")
    return Precision{text, bf16, bf16, f32};
  return std::nullopt;
}

mlir::Type Precision::declared(nap::Role role, DType dtype, const Emitter &emitter) const {
  if (dtype != DType::F32)
    return emitter.element(dtype);
  return role == nap::Role::parameter ? parameter : state;
}

mlir::Value widened(Emitter &emitter, mlir::Value x) {
  if (!narrowFloat(mlir::getElementTypeOrSelf(x.getType())))
    return x;
  mlir::Type f32 = emitter.builder.getF32Type();
  if (auto copy = x.getDefiningOp<nap::CastOp>()) {
    mlir::Value master = copy.getX();
    bool isMaster = llvm::isa<mlir::BlockArgument>(master) &&
                    mlir::getElementTypeOrSelf(master.getType()) == f32;
    if (isMaster)
      return master;
  }
  return emitter.cast(x, f32);
}

Value widened(Emitter &emitter, const Value &value) {
  if (const Tensor *tensor = value.tensor())
    return Tensor{widened(emitter, tensor->value), tensor->axes};
  const std::vector<Value> *list = value.list();
  if (!list)
    return value;
  std::vector<Value> wide;
  for (const Value &element : *list)
    wide.push_back(widened(emitter, element));
  return wide;
}

Value rounded(Emitter &emitter, const Value &value, mlir::Type element) {
  if (!element)
    return value;
  if (const std::vector<Value> *list = value.list()) {
    std::vector<Value> narrow;
    for (const Value &item : *list)
      narrow.push_back(rounded(emitter, item, element));
    return narrow;
  }
  const Tensor *tensor = value.tensor();
  bool isWider = tensor && tensor->rank() > 0 && llvm::isa<mlir::FloatType>(tensor->element()) &&
                 tensor->element().getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth();
  return isWider ? Tensor{emitter.cast(tensor->value, element), tensor->axes} : value;
}

mlir::Type narrowElement(const Value &value) {
  const Tensor *tensor = value.tensor();
  return tensor ? narrowFloat(tensor->element()) : mlir::Type();
}

/// Whether `number` is one of the numbers of a float type.
static bool isOf(const Number &number, mlir::Type element) {
  llvm::APFloat value(number.asReal());
  bool losesInfo = false;
  value.convert(llvm::cast<mlir::FloatType>(element).getFloatSemantics(),
                llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

mlir::Type roundedMeeting(const Value &a, const Value &b) {
  for (const auto &[one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    mlir::Type narrow = narrowElement(*other);
    if (!narrow)
      continue;
    if (const Number *number = one->number(); number && !isOf(*number, narrow))
      return narrow;
    const Tensor *scalar = one->tensor();
    bool isScalar = scalar && scalar->rank() == 0 && llvm::isa<mlir::FloatType>(scalar->element());
    if (isScalar && other->tensor()->rank() > 0 && scalar->element() != narrow)
      return narrow;
  }
  return {};
}

mlir::Type chooseProduct(Emitter &emitter, llvm::MutableArrayRef<Tensor> operands, mlir::Type met) {
  bool isPinned = llvm::any_of(
      operands, [&](const Tensor &operand) { return emitter.pins.contains(operand.value); });
  bool isF32 = met == emitter.builder.getF32Type();
  // No loss scale keeps what an optimizer multiplies in the range of f16.
  bool isOfUpdate = emitter.body && emitter.body->name == "update";
  bool isOutOfRange = isOfUpdate && emitter.precision.storage.isF16();
  mlir::Type factor = isF32 && !isPinned && !isOutOfRange && emitter.precision.isNarrow()
                          ? emitter.precision.storage
                          : met;
  for (Tensor &operand : operands)
    operand.value = emitter.cast(operand.value, factor);
  return factor == met ? met : emitter.floatType;
}

} // namespace napkin
