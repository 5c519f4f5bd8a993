//===- Elementwise.cpp - Operations on two tensors of one shape -----------===//

#include "frontend/semantics/Evaluator.h"

#include <limits>

namespace napkin {

using ast::BinaryOp;

/// The rank of an element type where two meet: bool, i32, i64, floats by width.
static unsigned meetRank(mlir::Type type) {
  if (type.isInteger())
    return type.getIntOrFloatBitWidth();
  return 100 + type.getIntOrFloatBitWidth();
}

mlir::Type Evaluator::meet(mlir::Type a, mlir::Type b) const {
  if (a == b)
    return a;
  unsigned rankA = meetRank(a), rankB = meetRank(b);
  if (rankA == rankB)
    return emitter.floatType;
  return rankA > rankB ? a : b;
}

Tensor Evaluator::asTensor(const Value &value, mlir::Type element) {
  if (const Number *number = value.number())
    return {emitter.constant(*number, element), {}};
  if (const bool *boolean = value.boolean())
    return {emitter.constant(Number::ofWhole(*boolean), element), {}};
  const Tensor &tensor = *value.tensor();
  return {emitter.cast(tensor.value, element), tensor.axes};
}

bool Evaluator::align(Tensor &a, Tensor &b, const Operation &operation) {
  auto report = [&]<Error Kind>(auto &&...args) -> Diagnostic & {
    return this->report<Kind>(operation.caret, args...)
        .underline(operation.left)
        .underline(operation.right);
  };
  if (auto mistake = misaligned(a.axes, b.axes)) {
    std::string left = textOf(a.axes), right = textOf(b.axes);
    std::string text = operation.isOperator
                           ? fmt::format("{} {} {}", left, operation.name, right)
                           : fmt::format("{}({}, {})", operation.name, left, right);
    Diagnostic &error = report.template operator()<Error::Misaligned>(mistake->name, text);
    if (mistake->wantsOne)
      error.sentence += "; if every pair is meant, write the missing axis as 1";
    return false;
  }
  Broadcast met = broadcastAxes(a.axes, b.axes);
  if (met.conflict) {
    size_t left = a.axes.size() - 1 - *met.conflict, right = b.axes.size() - 1 - *met.conflict;
    report.template operator()<Error::SizesDiffer>(left, sizeText(a.axes[left]),
                                                   sizeText(b.axes[right]));
    return false;
  }
  llvm::SmallVector<int64_t> sizes = sizesOf(met.axes);
  if (!fits(sizes, operation.caret))
    return false;
  a = {emitter.broadcast(a.value, sizes), met.axes};
  b = {emitter.broadcast(b.value, sizes), met.axes};
  return true;
}

/// The element type that a number brings where it meets a tensor of this type.
static mlir::Type typeOfNumber(const Number &number, mlir::Type other, mlir::Type floatType) {
  if (!other.isInteger())
    return other;
  if (!number.isWhole())
    return floatType;
  return other.isInteger(1) ? mlir::IntegerType::get(other.getContext(), 32) : other;
}

bool Evaluator::meetTypes(const Value &a, const Value &b, Tensor &x, Tensor &y,
                          const Operation &operation, bool wantsFloat) {
  auto isOperand = [](const Value &value) {
    return value.number() || value.boolean() || value.tensor();
  };
  if (!isOperand(a) || !isOperand(b)) {
    report<Error::BadOperands>(operation.caret, operation.name, describe(a), describe(b))
        .underline(operation.left)
        .underline(operation.right);
    return false;
  }
  mlir::Type boolType = emitter.builder.getI1Type(), intType = emitter.builder.getI32Type();
  auto typeOf = [&](const Value &value, const Value &other) -> mlir::Type {
    if (const Tensor *tensor = value.tensor())
      return tensor->element();
    if (value.boolean())
      return boolType;
    if (roundedMeeting(value, other))
      return emitter.builder.getF32Type();
    if (const Tensor *tensor = other.tensor())
      return typeOfNumber(*value.number(), tensor->element(), emitter.floatType);
    return value.number()->isWhole() ? intType : emitter.floatType;
  };
  mlir::Type element = meet(typeOf(a, b), typeOf(b, a));
  if (wantsFloat && element.isInteger())
    element = emitter.floatType;
  for (const Value *value : {&a, &b})
    if (const Number *number = value->number(); number && element.isInteger(32)) {
      int64_t whole = *number->asWhole();
      if (whole < std::numeric_limits<int32_t>::min() ||
          whole > std::numeric_limits<int32_t>::max()) {
        report<Error::NumberTooLarge>(value == &a ? operation.left : operation.right, whole);
        return false;
      }
    }
  x = asTensor(a, element);
  y = asTensor(b, element);
  return true;
}

/// The op of an operator.
static std::string_view opOf(std::string_view op) {
  return op == "+"    ? "add"
         : op == "-"  ? "sub"
         : op == "*"  ? "mul"
         : op == "/"  ? "div"
         : op == "%"  ? "rem"
         : op == "**" ? "pow"
                      : op;
}

/// The predicate of a comparison.
static std::optional<nap::ComparePredicate> predicateOf(std::string_view op) {
  using nap::ComparePredicate;
  return op == "=="   ? std::optional(ComparePredicate::eq)
         : op == "!=" ? std::optional(ComparePredicate::ne)
         : op == "<"  ? std::optional(ComparePredicate::lt)
         : op == "<=" ? std::optional(ComparePredicate::le)
         : op == ">"  ? std::optional(ComparePredicate::gt)
         : op == ">=" ? std::optional(ComparePredicate::ge)
                      : std::nullopt;
}

/// A value of bools: a bool, or a tensor of them.
static bool isBools(const Value &value) {
  return value.boolean() || (value.tensor() && value.tensor()->element().isInteger(1));
}

/// The exponent, if a tensor of integers is raised to a small whole number.
static std::optional<int64_t> smallExponent(const Value &a, const Value &b) {
  if (!a.tensor() || !a.tensor()->element().isInteger() || isBools(a) || !b.number())
    return std::nullopt;
  std::optional<int64_t> exponent = b.number()->asWhole();
  return exponent && *exponent >= 1 && *exponent <= 64 ? exponent : std::nullopt;
}

Value Evaluator::binaryOf(std::string_view op, const Value &a, const Value &b,
                          const Operation &operation) {
  if (a.hasPoison() || b.hasPoison())
    return {};
  std::optional<nap::ComparePredicate> predicate = predicateOf(op);
  if (!predicate && isBools(a) && isBools(b)) {
    report<Error::ArithmeticOnBools>(operation.caret, operation.name)
        .underline(operation.left)
        .underline(operation.right);
    return {};
  }
  // Integers stay integers: a chain of products.
  if (op == "**")
    if (std::optional<int64_t> exponent = smallExponent(a, b)) {
      Tensor power = *a.tensor();
      for (int64_t count = 1; count < *exponent; ++count)
        power.value = emitter.binary("mul", power.value, a.tensor()->value);
      return power;
    }
  Tensor x, y;
  bool isOrder = predicate && *predicate != nap::ComparePredicate::eq &&
                 *predicate != nap::ComparePredicate::ne;
  if (!meetTypes(a, b, x, y, operation, op == "/" || op == "**"))
    return {};
  if (isOrder && x.element().isInteger(1)) {
    x.value = emitter.cast(x.value, emitter.builder.getI32Type());
    y.value = emitter.cast(y.value, emitter.builder.getI32Type());
  }
  if (!align(x, y, operation))
    return {};
  if (predicate)
    return Tensor{emitter.compare(*predicate, x.value, y.value), x.axes};
  return rounded(emitter, Tensor{emitter.binary(opOf(op), x.value, y.value), x.axes},
                 roundedMeeting(a, b));
}

Value Evaluator::arithmetic(BinaryOp op, const Value &a, const Value &b,
                            const Operation &operation) {
  return binaryOf(spelling(op), a, b, operation);
}

Value Evaluator::logical(std::string_view op, const Value &a, const Value &b,
                         const Operation &operation) {
  for (const Value *value : {&a, &b})
    if (!isBools(*value)) {
      report<Error::NotOfBool>(value == &a ? operation.left : operation.right, op,
                               describe(*value));
      return {};
    }
  // A bool that does not decide leaves the other side.
  if (a.boolean() && *a.boolean() == (op == "and"))
    return b;
  if (b.boolean() && *b.boolean() == (op == "and"))
    return a;
  Tensor x, y;
  if (!meetTypes(a, b, x, y, operation) || !align(x, y, operation))
    return {};
  return Tensor{emitter.binary(op, x.value, y.value), x.axes};
}

} // namespace napkin
