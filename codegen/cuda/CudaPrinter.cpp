// Prints CUDA C++: one line an op, or an expression where an op's value has one user.
//
//   %x = memref.load %in[%i]           const float x = in[i];
//   %y = arith.mulf %x, %x             out[i] = x * x + 1.0f;
//   %z = arith.addf %y, %one
//   memref.store %z, %out[%i]
//
// A value is written into its user where it has one use, in the same block, and moves past no write
// or barrier on the way. i32 and i64 print as unsigned, whose arithmetic wraps like the ops' does;
// what is signed says so. An index is a signed number that never overflows.
#include "codegen/cuda/CudaPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// Characters of an expression from which it gets a line of its own.
static constexpr size_t kLongExpression = 60;

namespace {

/// Text of a value.
struct Expression {
  std::string text;
  /// Whether it stands inside a larger expression without brackets.
  bool isAtom = false;
  /// Whether it reads memory where it is printed.
  bool reads = false;
};

class Printer {
public:
  Printer(func::FuncOp func, const CudaHead &head, bool wide)
      : func(func), head(head), wide(wide) {}
  FailureOr<std::string> print();

private:
  std::string typeName(Type type);
  std::string nameFor(Value value);
  void line(const std::string &text) { out += std::string(indent * 2, ' ') + text + "\n"; }
  std::string atom(Value value);
  std::string plain(Value value);
  std::string signedOf(Value value);
  Expression constant(arith::ConstantOp op);
  Expression expression(Operation *op);
  std::string comparison(arith::CmpFOp op);
  Expression comparison(arith::CmpIOp op);
  bool canInline(Operation *op, const Expression &text);
  void block(Block &block);
  void statement(Operation &op);
  void forLoop(scf::ForOp op);
  void branch(scf::IfOp op);
  void yield(ValueRange targets, ValueRange values);
  void fail(Operation *op, const Twine &what) {
    failed = true;
    op->emitError("CUDA text: ") << what;
  }

  func::FuncOp func;
  const CudaHead &head;
  bool wide;
  bool failed = false;
  unsigned indent = 0;
  std::string out;
  DenseMap<Value, Expression> expressions;
  llvm::StringMap<unsigned> used;
};

} // namespace

std::string nap::cudaName(StringRef text) {
  static const llvm::StringSet<> reserved = {
      "auto",     "bool",     "break",     "case",    "char",    "class",     "const",
      "continue", "default",  "delete",    "do",      "double",  "else",      "enum",
      "extern",   "false",    "float",     "for",     "goto",    "if",        "inline",
      "int",      "long",     "new",       "not",     "or",      "and",       "xor",
      "register", "return",   "short",     "signed",  "sizeof",  "static",    "struct",
      "switch",   "template", "this",      "true",    "typedef", "union",     "unsigned",
      "void",     "volatile", "while",     "u8",      "u16",     "u32",       "u64",
      "i64",      "bf16",     "maximum",   "minimum", "fused",   "floor_div", "high_word",
      "bits_of", "bf16_of",  "float_of", "double_of", "to_f32",  "to_bf16", "expm1",     "log1p",
      "exp",      "log",      "sqrt",      "sin",     "cos",     "tanh",      "erf",
      "pow",      "floor",    "ceil",      "abs"};
  std::string name;
  for (char c : text)
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "_" + name;
  return reserved.contains(name) ? name + "_" : name;
}

std::string nap::cudaKernelName(StringRef kernel) {
  auto [what, where] = kernel.split('.');
  return cudaName((what + "__" + (where.empty() ? "kernel" : where)).str());
}

std::string Printer::typeName(Type type) {
  if (type.isIndex())
    return wide ? "i64" : "int";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isBF16())
    return "bf16";
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

/// A name of the value's own, unique in the kernel.
std::string Printer::nameFor(Value value) {
  std::string base = "t";
  // The kernel's own location names no value.
  if (auto name = dyn_cast<NameLoc>(value.getLoc()); name && name != func.getLoc())
    base = cudaName(name.getName().getValue());
  unsigned &count = used[base];
  std::string name = count == 0 ? base : fmt::format("{}_{}", base, count);
  ++count;
  expressions[value] = {name, true};
  return name;
}

std::string Printer::plain(Value value) { return expressions.lookup(value).text; }

std::string Printer::atom(Value value) {
  const Expression &found = expressions[value];
  return found.isAtom ? found.text : "(" + found.text + ")";
}

/// An integer as a signed number.
std::string Printer::signedOf(Value value) {
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

Expression Printer::constant(arith::ConstantOp op) {
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
  if (type.isBF16())
    return {fmt::format("bf16{{{}}}", value.bitcastToAPInt().getZExtValue()), true};
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

std::string Printer::comparison(arith::CmpFOp op) {
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

Expression Printer::comparison(arith::CmpIOp op) {
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
  // An index that is compared without a sign is not negative.
  case P::ult:
    return text(false, " < ");
  case P::ule:
    return text(false, " <= ");
  case P::ugt:
    return text(false, " > ");
  case P::uge:
    return text(false, " >= ");
  }
  llvm_unreachable("no other predicate");
}

/// The text of an op that has one result and writes nothing; empty for one that is not known.
Expression Printer::expression(Operation *op) {
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
    auto of = [&](Value value) { return isSigned ? signedOf(value) : atom(value); };
    return Expression{of(x) + sign + of(y) + " ? " + atom(x) + " : " + atom(y), false};
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
      .Case<arith::AndIOp>(
          [&](auto op) { return infix(op.getType().isInteger(1) ? " && " : " & "); })
      .Case<arith::OrIOp>(
          [&](auto op) { return infix(op.getType().isInteger(1) ? " || " : " | "); })
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
      .Case<arith::ExtFOp>(
          [&](auto op) { return op.getIn().getType().isBF16() ? call("to_f32") : convert(false); })
      .Case<arith::TruncFOp>(
          [&](auto op) { return op.getType().isBF16() ? call("to_bf16") : convert(false); })
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
        return call(to.isF32() ? "float_of" : to.isF64() ? "double_of" : "bf16_of");
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

/// Whether anything from `op` to its user, both in one block, writes memory or waits for other
/// threads.
static bool passesWrite(Operation *op, Operation *user) {
  for (Operation *next = op->getNextNode(); next && next != user; next = next->getNextNode())
    if (next->getNumRegions() > 0 || isa<memref::StoreOp, gpu::BarrierOp>(next))
      return true;
  return false;
}

bool Printer::canInline(Operation *op, const Expression &text) {
  if (isa<arith::ConstantOp>(op))
    return true;
  Value result = op->getResult(0);
  if (!result.hasOneUse() || text.text.size() > kLongExpression)
    return false;
  Operation *user = *result.getUsers().begin();
  if (user->getBlock() != op->getBlock())
    return false;
  // These print an operand twice.
  if (isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::CeilDivUIOp>(user))
    return false;
  if (auto compare = dyn_cast<arith::CmpFOp>(user);
      compare && llvm::is_contained({arith::CmpFPredicate::UEQ, arith::CmpFPredicate::ONE,
                                     arith::CmpFPredicate::ORD, arith::CmpFPredicate::UNO},
                                    compare.getPredicate()))
    return false;
  // A bound is printed in a loop's head, which each turn reads.
  if (isa<scf::ForOp>(user))
    return false;
  return !text.reads || !passesWrite(op, user);
}

/// Gives the targets their values, all read before any is written.
void Printer::yield(ValueRange targets, ValueRange values) {
  std::vector<std::string> texts;
  for (auto [target, value] : llvm::zip(targets, values))
    texts.push_back(plain(value));
  bool needsCopies = targets.size() > 1;
  if (needsCopies)
    for (auto [i, target] : llvm::enumerate(targets)) {
      std::string copy = fmt::format("next_{}", used["next"]++);
      line(fmt::format("const {} {} = {};", typeName(target.getType()), copy, texts[i]));
      texts[i] = copy;
    }
  for (auto [target, text] : llvm::zip(targets, texts))
    if (plain(target) != text)
      line(fmt::format("{} = {};", plain(target), text));
}

void Printer::forLoop(scf::ForOp op) {
  for (auto [init, argument, result] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    std::string name = nameFor(argument);
    expressions[result] = {name, true};
    line(fmt::format("{} {} = {};", typeName(init.getType()), name, plain(init)));
  }
  std::string counter = nameFor(op.getInductionVar());
  std::string step = plain(op.getStep());
  line(fmt::format("for ({} {} = {}; {} < {}; {}) {{", typeName(op.getInductionVar().getType()),
                   counter, plain(op.getLowerBound()), counter, atom(op.getUpperBound()),
                   step == "1" ? "++" + counter : counter + " += " + step));
  ++indent;
  block(*op.getBody());
  yield(op.getRegionIterArgs(), op.getBody()->getTerminator()->getOperands());
  --indent;
  line("}");
}

void Printer::branch(scf::IfOp op) {
  for (Value result : op.getResults()) {
    std::string name = nameFor(result);
    line(fmt::format("{} {};", typeName(result.getType()), name));
  }
  line(fmt::format("if ({}) {{", plain(op.getCondition())));
  auto arm = [&](Block *body) {
    ++indent;
    block(*body);
    yield(op.getResults(), body->getTerminator()->getOperands());
    --indent;
  };
  arm(op.thenBlock());
  if (Block *otherwise = op.elseBlock();
      otherwise && (op.getNumResults() > 0 || !otherwise->without_terminator().empty())) {
    line("} else {");
    arm(otherwise);
  }
  line("}");
}

/// Initial values of a list in the module, as numbers.
static std::string listOf(memref::GlobalOp global) {
  auto values = cast<DenseElementsAttr>(*global.getInitialValue());
  std::string text;
  auto append = [&](const std::string &number) { text += (text.empty() ? "" : ", ") + number; };
  if (isa<FloatType>(values.getElementType()))
    for (APFloat value : values.getValues<APFloat>()) {
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      Type type = values.getElementType();
      append(type.isBF16() ? fmt::format("bf16{{0x{:x}}}", bits)
                           : fmt::format("{}(0x{:x})", type.isF64() ? "double_of" : "float_of", bits));
    }
  else
    for (APInt value : values.getValues<APInt>())
      append(fmt::format("0x{:x}", value.getZExtValue()));
  return text;
}

void Printer::statement(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return forLoop(loop);
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return branch(condition);
  if (isa<gpu::BarrierOp>(op))
    return line("__syncthreads();");
  if (isa<scf::YieldOp, func::ReturnOp>(op))
    return;
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return line(fmt::format("{}[{}] = {};", atom(store.getMemRef()), plain(store.getIndices()[0]),
                            plain(store.getValue())));
  if (auto array = dyn_cast<memref::AllocaOp>(op)) {
    bool isShared = isa_and_nonnull<gpu::AddressSpaceAttr>(array.getType().getMemorySpace());
    return line(fmt::format("{}{} {}[{}];", isShared ? "__shared__ " : "",
                            typeName(array.getType().getElementType()), nameFor(array),
                            array.getType().getNumElements()));
  }
  if (auto list = dyn_cast<memref::GetGlobalOp>(op)) {
    auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(list, list.getNameAttr());
    return line(fmt::format("const {} {}[] = {{{}}};", typeName(list.getType().getElementType()),
                            nameFor(list.getResult()), listOf(global)));
  }
  if (auto product = dyn_cast<arith::MulUIExtendedOp>(op)) {
    std::string low = nameFor(product.getLow()), high = nameFor(product.getHigh());
    line(fmt::format("const u32 {} = {} * {};", low, atom(product.getLhs()),
                     atom(product.getRhs())));
    return line(fmt::format("const u32 {} = high_word({}, {});", high, plain(product.getLhs()),
                            plain(product.getRhs())));
  }
  if (op.getNumResults() != 1 || isa<VectorType>(op.getResult(0).getType()))
    return fail(&op, "no text for this op");
  Expression text = expression(&op);
  if (text.text.empty())
    return fail(&op, "no text for this op");
  text.reads = isa<memref::LoadOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
                 return expressions.lookup(operand).reads;
               });
  Value result = op.getResult(0);
  if (result.use_empty())
    return;
  if (canInline(&op, text)) {
    expressions[result] = std::move(text);
    return;
  }
  std::string name = nameFor(result);
  line(fmt::format("const {} {} = {};", typeName(result.getType()), name, text.text));
}

void Printer::block(Block &block) {
  for (Operation &op : block) {
    if (failed)
      return;
    statement(op);
  }
}

FailureOr<std::string> Printer::print() {
  for (const std::string &comment : head.comments)
    line("// " + comment);
  std::string parameters;
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    std::string name = head.arguments[i];
    unsigned &count = used[name];
    if (count++ > 0)
      name += fmt::format("_{}", count - 1);
    expressions[argument] = {name, true};
    std::string type = typeName(cast<MemRefType>(argument.getType()).getElementType());
    parameters += fmt::format("{}{}{} *{}{}", i ? ", " : "",
                              i >= head.firstResult && i < head.lastResult ? "" : "const ", type,
                              head.isInPlace ? "" : "__restrict__ ", name);
  }
  line(fmt::format("extern \"C\" __global__ __launch_bounds__({})", head.blockThreads));
  line(fmt::format("void {}({}) {{", head.name, parameters));
  ++indent;
  block(func.getBody().front());
  --indent;
  line("}");
  if (failed)
    return failure();
  return out;
}

FailureOr<std::string> nap::printCuda(func::FuncOp func, const CudaHead &head, bool wide) {
  return Printer(func, head, wide).print();
}

static constexpr llvm::StringLiteral kPrelude =
#include "codegen/CudaPrelude.inc"
    ;

StringRef nap::cudaPrelude() { return kPrelude; }
