// Texts of values that one expression says.
#include "codegen/cuda/printer/Printer.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>
#include <fmt/format.h>

using namespace mlir;
using namespace nap;

std::string CudaPrinter::typeName(Type type) {
  if (type.isIndex())
    return wide ? "i64" : "int";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return "u8";
  case 16:
    return "u16";
  case 32:
    return "u32";
  default:
    return "u64";
  }
}

std::string CudaPrinter::plain(Value value) { return expressions.lookup(value).text; }

std::string CudaPrinter::atom(Value value) {
  const Expression &found = expressions[value];
  return found.isAtom ? found.text : "(" + found.text + ")";
}

/// An integer as a signed number.
std::string CudaPrinter::signedOf(Value value) {
  if (value.getType().isIndex() || value.getType().isInteger(1))
    return atom(value);
  return (value.getType().isInteger(64) ? "i64(" : "int(") + plain(value) + ")";
}

/// The shortest text that reads back as this number of its type.
template <typename T> static std::string shortest(T value, const char *ending) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  std::string number(text, end);
  if (number.find_first_of(".en") == std::string::npos)
    number += ".0";
  return number + ending;
}

Expression CudaPrinter::constant(arith::ConstantOp op) {
  Type type = op.getType();
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue())) {
    if (type.isInteger(1))
      return {integer.getValue().isZero() ? "false" : "true", true};
    if (type.isIndex())
      return {std::to_string(integer.getInt()), integer.getInt() >= 0};
    uint64_t bits = integer.getValue().getZExtValue();
    std::string text = bits < 1024 ? std::to_string(bits) + "u" : fmt::format("0x{:x}u", bits);
    return {text + (type.isInteger(64) ? "ll" : ""), true};
  }
  APFloat value = cast<FloatAttr>(op.getValue()).getValue();
  bool isNegative = value.isNegative();
  if (type.isBF16() || type.isF16())
    return {fmt::format("{}{{{}}}", typeName(type), value.bitcastToAPInt().getZExtValue()), true};
  if (!value.isFinite()) {
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    return {type.isF32() ? fmt::format("float_of(0x{:x}u)", bits)
                         : fmt::format("double_of(0x{:x}ull)", bits),
            true};
  }
  std::string text =
      type.isF32() ? shortest(value.convertToFloat(), "f") : shortest(value.convertToDouble(), "");
  return {text, !isNegative};
}

/// Whether an index is never negative, as far as its ops say.
static bool isNotNegative(Value value) {
  if (auto counter = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == value && isNotNegative(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<IntegerAttr>(constant.getValue()).getInt() >= 0;
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp>(op))
    return true;
  if (isa<arith::MinUIOp>(op))
    return isNotNegative(op->getOperand(0)) || isNotNegative(op->getOperand(1));
  return isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp>(op) &&
         llvm::all_of(op->getOperands(), isNotNegative);
}

/// A comparison of operands without their signs, which print as signed numbers where they are
/// indices.
std::string CudaPrinter::withoutSign(Operation *op, const char *sign) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (!x.getType().isIndex() || (isNotNegative(x) && isNotNegative(y)))
    return atom(x) + sign + atom(y);
  const char *type = wide ? "u64(" : "u32(";
  return type + plain(x) + ")" + sign + type + plain(y) + ")";
}

std::string CudaPrinter::comparison(arith::CmpFOp op) {
  std::string x = atom(op.getLhs()), y = atom(op.getRhs());
  using P = arith::CmpFPredicate;
  switch (op.getPredicate()) {
  case P::OEQ:
    return x + " == " + y;
  case P::OGT:
    return x + " > " + y;
  case P::OGE:
    return x + " >= " + y;
  case P::OLT:
    return x + " < " + y;
  case P::OLE:
    return x + " <= " + y;
  case P::UNE:
    return x + " != " + y;
  case P::ULT:
    return "!(" + x + " >= " + y + ")";
  case P::ULE:
    return "!(" + x + " > " + y + ")";
  case P::UGT:
    return "!(" + x + " <= " + y + ")";
  case P::UGE:
    return "!(" + x + " < " + y + ")";
  case P::UEQ:
    return "!(" + x + " < " + y + " || " + x + " > " + y + ")";
  case P::ONE:
    return x + " < " + y + " || " + x + " > " + y;
  case P::ORD:
    return x + " == " + x + " && " + y + " == " + y;
  case P::UNO:
    return x + " != " + x + " || " + y + " != " + y;
  case P::AlwaysFalse:
    return "false";
  case P::AlwaysTrue:
    return "true";
  }
  llvm_unreachable("no other predicate");
}

Expression CudaPrinter::comparison(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  auto of = [&](Value value, bool isSigned) { return isSigned ? signedOf(value) : atom(value); };
  auto text = [&](bool isSigned, const char *sign) {
    return Expression{of(op.getLhs(), isSigned) + sign + of(op.getRhs(), isSigned), false};
  };
  switch (op.getPredicate()) {
  case P::eq:
    return text(false, " == ");
  case P::ne:
    return text(false, " != ");
  case P::slt:
    return text(true, " < ");
  case P::sle:
    return text(true, " <= ");
  case P::sgt:
    return text(true, " > ");
  case P::sge:
    return text(true, " >= ");
  case P::ult:
    return {withoutSign(op, " < "), false};
  case P::ule:
    return {withoutSign(op, " <= "), false};
  case P::ugt:
    return {withoutSign(op, " > "), false};
  case P::uge:
    return {withoutSign(op, " >= "), false};
  }
  llvm_unreachable("no other predicate");
}

/// The text of an op that has one result and writes nothing; empty for one that is not known.
Expression CudaPrinter::expression(Operation *op) {
  auto infix = [&](const char *sign) {
    return Expression{atom(op->getOperand(0)) + sign + atom(op->getOperand(1)), false};
  };
  auto call = [&](StringRef name) {
    std::string text = name.str() + "(";
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      text += (i ? ", " : "") + plain(operand);
    return Expression{text + ")", true};
  };
  // CUDA's names end in f for f32.
  auto math = [&](StringRef name) {
    return call(op->getResult(0).getType().isF32() ? name.str() + "f" : name.str());
  };
  auto signedInfix = [&](const char *sign) {
    std::string text = signedOf(op->getOperand(0)) + sign + signedOf(op->getOperand(1));
    bool isIndex = op->getResult(0).getType().isIndex();
    return isIndex ? Expression{text, false}
                   : Expression{typeName(op->getResult(0).getType()) + "(" + text + ")", true};
  };
  auto choose = [&](bool isSigned, const char *sign) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    std::string isLess = isSigned ? signedOf(x) + sign + signedOf(y) : withoutSign(op, sign);
    return Expression{isLess + " ? " + atom(x) + " : " + atom(y), false};
  };
  auto convert = [&](bool fromSigned) {
    Value x = op->getOperand(0);
    return Expression{typeName(op->getResult(0).getType()) + "(" +
                          (fromSigned ? signedOf(x) : plain(x)) + ")",
                      true};
  };
  return TypeSwitch<Operation *, Expression>(op)
      .Case<arith::ConstantOp>([&](auto op) { return constant(op); })
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return infix(" + "); })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return infix(" - "); })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return infix(" * "); })
      .Case<arith::DivFOp, arith::DivUIOp>([&](auto) { return infix(" / "); })
      .Case<arith::RemUIOp>([&](auto) { return infix(" % "); })
      .Case<arith::DivSIOp>([&](auto) { return signedInfix(" / "); })
      .Case<arith::RemSIOp>([&](auto) { return signedInfix(" % "); })
      .Case<arith::FloorDivSIOp>([&](auto op) {
        std::string text =
            "floor_div(" + signedOf(op.getLhs()) + ", " + signedOf(op.getRhs()) + ")";
        return Expression{op.getType().isIndex() ? text : typeName(op.getType()) + "(" + text + ")",
                          true};
      })
      .Case<arith::CeilDivUIOp>([&](auto op) {
        return Expression{"(" + atom(op.getLhs()) + " + " + atom(op.getRhs()) + " - 1) / " +
                              atom(op.getRhs()),
                          false};
      })
      .Case<arith::RemFOp>([&](auto) { return math("fmod"); })
      .Case<arith::NegFOp>([&](auto op) {
        return Expression{"-" + atom(op.getOperand()), false};
      })
      // Both sides are computed, of truth values too: `&&` and `||` would leave reads out.
      .Case<arith::AndIOp>([&](auto) { return infix(" & "); })
      .Case<arith::OrIOp>([&](auto) { return infix(" | "); })
      .Case<arith::XOrIOp>(
          [&](auto op) { return infix(op.getType().isInteger(1) ? " != " : " ^ "); })
      .Case<arith::ShLIOp>([&](auto) { return infix(" << "); })
      .Case<arith::ShRUIOp>([&](auto) { return infix(" >> "); })
      .Case<arith::ShRSIOp>([&](auto op) {
        return Expression{typeName(op.getType()) + "(" + signedOf(op.getLhs()) + " >> " +
                              atom(op.getRhs()) + ")",
                          true};
      })
      .Case<arith::MaxSIOp>([&](auto) { return choose(true, " > "); })
      .Case<arith::MinSIOp>([&](auto) { return choose(true, " < "); })
      .Case<arith::MaxUIOp>([&](auto) { return choose(false, " > "); })
      .Case<arith::MinUIOp>([&](auto) { return choose(false, " < "); })
      .Case<arith::MaximumFOp>([&](auto) { return call("maximum"); })
      .Case<arith::MinimumFOp>([&](auto) { return call("minimum"); })
      .Case<arith::CmpFOp>([&](auto op) {
        return Expression{comparison(op), false};
      })
      .Case<arith::CmpIOp>([&](auto op) { return comparison(op); })
      .Case<arith::SelectOp>([&](auto op) {
        return Expression{atom(op.getCondition()) + " ? " + atom(op.getTrueValue()) + " : " +
                              atom(op.getFalseValue()),
                          false};
      })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto op) {
        if (op.getIn().getType().isF16())
          return call("to_f32");
        return op.getType().isF16() ? call("to_f16") : convert(false);
      })
      .Case<arith::SIToFPOp, arith::ExtSIOp>([&](auto) { return convert(true); })
      .Case<arith::IndexCastOp>([&](auto op) {
        // Into an index the number is signed; out of one, any cast keeps its bits.
        return convert(op.getType().isIndex());
      })
      .Case<arith::UIToFPOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>(
          [&](auto) { return convert(false); })
      .Case<arith::FPToUIOp>([&](auto) { return convert(false); })
      .Case<arith::FPToSIOp>([&](auto op) {
        bool isWide = op.getType().isInteger(64);
        return Expression{
            typeName(op.getType()) + (isWide ? "(i64(" : "(int(") + plain(op.getIn()) + "))", true};
      })
      .Case<arith::BitcastOp>([&](auto op) {
        Type to = op.getType();
        if (!isa<FloatType>(to))
          return call("bits_of");
        return call(to.isF32() ? "float_of" : to.isF64() ? "double_of" : typeName(to) + "_of");
      })
      .Case<math::FmaOp>([&](auto) { return call("fused"); })
      .Case<math::SqrtOp>([&](auto) { return math("sqrt"); })
      .Case<math::AbsFOp>([&](auto) { return math("fabs"); })
      .Case<math::CopySignOp>([&](auto) { return math("copysign"); })
      .Case<math::FloorOp>([&](auto) { return math("floor"); })
      .Case<math::CeilOp>([&](auto) { return math("ceil"); })
      .Case<math::RoundEvenOp>([&](auto) { return math("rint"); })
      .Case<math::TruncOp>([&](auto) { return math("trunc"); })
      .Case<math::ExpOp>([&](auto) { return math("exp"); })
      .Case<math::ExpM1Op>([&](auto) { return math("expm1"); })
      .Case<math::LogOp>([&](auto) { return math("log"); })
      .Case<math::Log1pOp>([&](auto) { return math("log1p"); })
      .Case<math::SinOp>([&](auto) { return math("sin"); })
      .Case<math::CosOp>([&](auto) { return math("cos"); })
      .Case<math::TanhOp>([&](auto) { return math("tanh"); })
      .Case<math::ErfOp>([&](auto) { return math("erf"); })
      .Case<math::PowFOp>([&](auto) { return math("pow"); })
      .Case<memref::LoadOp>([&](auto op) {
        return Expression{atom(op.getMemRef()) + "[" + plain(op.getIndices()[0]) + "]", true};
      })
      .Case<gpu::ThreadIdOp>([&](auto) {
        return Expression{typeName(op->getResult(0).getType()) + "(threadIdx.x)", true};
      })
      .Case<gpu::BlockIdOp>([&](auto) {
        return Expression{typeName(op->getResult(0).getType()) + "(blockIdx.x)", true};
      })
      .Default([](Operation *) { return Expression{}; });
}
