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
#include "codegen/cuda/CudaWork.h"
#include "codegen/cuda/printer/Printer.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <fmt/format.h>

using namespace mlir;
using namespace nap;

/// Characters of an expression from which it gets a line of its own.
static constexpr size_t kLongExpression = 60;

/// A name of the value's own, unique in the kernel.
std::string CudaPrinter::nameFor(Value value) {
  std::string base = "t";
  // The kernel's own location names no value.
  if (auto name = dyn_cast<NameLoc>(value.getLoc()); name && name != func.getLoc())
    base = cudaValueName(name.getName().getValue());
  unsigned &count = used[base];
  std::string name = count == 0 ? base : fmt::format("{}_{}", base, count);
  ++count;
  expressions[value] = {name, true};
  return name;
}

/// Whether anything from `op` to its user, both in one block, writes memory or waits for other
/// threads.
static bool passesWrite(Operation *op, Operation *user) {
  for (Operation *next = op->getNextNode(); next && next != user; next = next->getNextNode())
    if (next->getNumRegions() > 0 || isa<memref::StoreOp, gpu::BarrierOp, func::CallOp>(next))
      return true;
  return false;
}

bool CudaPrinter::canInline(Operation *op, const Expression &text) {
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
  // Both arms of a choice are computed, so that what a thread reads and does is its schedule's.
  if (isa<arith::SelectOp>(user) && user->getOperand(0) != result && text.works)
    return false;
  // A bound is printed in a loop's head, which each turn reads.
  if (isa<scf::ForOp>(user))
    return false;
  return !text.reads || !passesWrite(op, user);
}

/// Gives the targets their values, all read before any is written.
void CudaPrinter::yield(ValueRange targets, ValueRange values) {
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

void CudaPrinter::forLoop(scf::ForOp op) {
  for (auto [init, argument, result] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    std::string name = nameFor(argument);
    expressions[result] = {name, true};
    line(fmt::format("{} {} = {};", typeName(init.getType()), name, plain(init)));
  }
  if (auto isUnrolled = op->getAttrOfType<BoolAttr>(kUnrollAttr))
    line(isUnrolled.getValue() ? "#pragma unroll" : "#pragma unroll 1");
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

void CudaPrinter::branch(scf::IfOp op) {
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
      append(type.getIntOrFloatBitWidth() == 16
                 ? fmt::format("{}{{0x{:x}}}", type.isF16() ? "f16" : "bf16", bits)
                 : fmt::format("{}(0x{:x})", type.isF64() ? "double_of" : "float_of", bits));
    }
  else
    for (APInt value : values.getValues<APInt>())
      append(fmt::format("0x{:x}", value.getZExtValue()));
  return text;
}

/// A call of the prelude is a statement of its own: it may write, and wait for other threads.
void CudaPrinter::call(func::CallOp op) {
  std::string text = op.getCallee().rsplit('.').first.str() + "(";
  for (auto [i, operand] : llvm::enumerate(op.getOperands()))
    text += (i ? ", " : "") + plain(operand);
  text += ");";
  if (op.getNumResults() == 1)
    text = fmt::format("const {} {} = {}", typeName(op.getType(0)), nameFor(op.getResult(0)), text);
  line(text);
}

void CudaPrinter::statement(Operation &op) {
  if (auto ofPrelude = dyn_cast<func::CallOp>(op))
    return call(ofPrelude);
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
    if (auto first = array->getAttrOfType<IntegerAttr>(kAskedAttr)) {
      std::string type = typeName(array.getType().getElementType());
      return line(fmt::format("{0} *const {1} = reinterpret_cast<{0} *>(asked + {2});", type,
                              nameFor(array), first.getInt()));
    }
    // Some arrays are read 16 bytes at once.
    bool isWide = isShared && array.getAlignment().value_or(0) == 16;
    return line(fmt::format("{}{}{} {}[{}];", isWide ? "alignas(16) " : "",
                            isShared ? "__shared__ " : "",
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
  text.works = text.reads || flopsOf(&op) > 0 || llvm::any_of(op.getOperands(), [&](Value x) {
                 return expressions.lookup(x).works;
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

void CudaPrinter::block(Block &block) {
  for (Operation &op : block) {
    if (failed)
      return;
    statement(op);
  }
}

FailureOr<std::string> CudaPrinter::print() {
  for (const std::string &comment : head.comments)
    line("// " + comment);
  std::string parameters;
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    std::string name = head.arguments[i].name;
    unsigned &count = used[name];
    if (count++ > 0)
      name += fmt::format("_{}", count - 1);
    expressions[argument] = {name, true};
    std::string type = typeName(cast<MemRefType>(argument.getType()).getElementType());
    parameters += fmt::format("{}{}{} *{}{}", i ? ", " : "",
                              head.arguments[i].isWritten ? "" : "const ", type,
                              head.isInPlace ? "" : "__restrict__ ", name);
  }
  std::string atOnce = head.blocksAtOnce > 0 ? fmt::format(", {}", head.blocksAtOnce) : "";
  line(fmt::format("extern \"C\" __global__ __launch_bounds__({}{})", head.blockThreads, atOnce));
  line(fmt::format("void {}({}) {{", head.name, parameters));
  ++indent;
  if (auto constants = func->getAttrOfType<ArrayAttr>(kConstantsAttr))
    for (auto constant : constants.getAsRange<StringAttr>())
      line(fmt::format("constexpr {};", constant.getValue().str()));
  if (head.askedBytes > 0)
    line(fmt::format("NAP_ASKED_SHARED(asked, {});", head.askedBytes));
  block(func.getBody().front());
  --indent;
  line("}");
  if (failed)
    return failure();
  return out;
}

FailureOr<std::string> nap::printCuda(func::FuncOp func, const CudaHead &head, bool wide) {
  return CudaPrinter(func, head, wide).print();
}
