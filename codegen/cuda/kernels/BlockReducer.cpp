// Sums along last axes by all threads of a block.
//
//   float running_sum = 0.0f;
//   for (int j = thread; j < n; j += 128)
//     running_sum = running_sum + term;
//   const float sum = block_sum(running_sum, running);
#include "codegen/cuda/kernels/BlockReducer.h"

#include "codegen/body/Combine.h"
#include "codegen/cuda/CudaWork.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

Value nap::sharedMemory(func::FuncOp func, Location loc, Type element, int64_t count,
                        StringRef name, bool isWide) {
  auto space = gpu::AddressSpaceAttr::get(element.getContext(), gpu::AddressSpace::Workgroup);
  OpBuilder start = OpBuilder::atBlockBegin(&func.getBody().front());
  return memref::AllocaOp::create(start, NameLoc::get(start.getStringAttr(name), loc),
                                  MemRefType::get({count}, element, AffineMap(), space),
                                  isWide ? start.getI64IntegerAttr(16) : IntegerAttr());
}

/// A declaration of the function for these types: `name.0`, `name.1`, ..., of which the text has
/// the name.
static std::string declarePrelude(OpBuilder &b, Location loc, StringRef name, FunctionType type) {
  Operation *parent = b.getInsertionBlock()->getParentOp();
  while (!isa<ModuleOp>(parent))
    parent = parent->getParentOp();
  auto module = cast<ModuleOp>(parent);
  for (unsigned i = 0;; ++i) {
    std::string symbol = (name + "." + llvm::Twine(i)).str();
    auto known = module.lookupSymbol<func::FuncOp>(symbol);
    if (known && known.getFunctionType() != type)
      continue;
    if (!known) {
      OpBuilder start = OpBuilder::atBlockBegin(module.getBody());
      func::FuncOp::create(start, loc, symbol, type).setPrivate();
    }
    return symbol;
  }
}

func::CallOp nap::makeCall(OpBuilder &b, Location loc, StringRef name, StringRef resultName,
                           Type result, ValueRange operands) {
  TypeRange results = result ? TypeRange(result) : TypeRange();
  std::string symbol =
      declarePrelude(b, loc, name, FunctionType::get(b.getContext(), operands.getTypes(), results));
  return func::CallOp::create(b, NameLoc::get(b.getStringAttr(resultName), loc), symbol, results,
                              operands);
}

Value nap::callPrelude(OpBuilder &b, Location loc, StringRef name, StringRef resultName,
                       Type result, ValueRange operands) {
  func::CallOp call = makeCall(b, loc, name, resultName, result, operands);
  return result ? call.getResult(0) : Value();
}

void nap::addConstant(func::FuncOp func, StringRef text) {
  OpBuilder b(func.getContext());
  SmallVector<Attribute> constants;
  if (auto known = func->getAttrOfType<ArrayAttr>(kConstantsAttr))
    llvm::append_range(constants, known);
  constants.push_back(b.getStringAttr(text));
  func->setAttr(kConstantsAttr, b.getArrayAttr(constants));
}

scf::IfOp nap::ifFirst(Body &body, Value thread) {
  OpBuilder &b = body.builder();
  Value isFirst =
      arith::CmpIOp::create(b, body.loc(), arith::CmpIPredicate::eq, thread, body.indexConstant(0));
  auto branch = scf::IfOp::create(b, body.loc(), isFirst, /*withElseRegion=*/false);
  setShare(branch, 1, kRunningSums);
  return branch;
}

Body::Loop BlockReducer::openThreads(int64_t count, ValueRange inits) {
  Body::Loop loop =
      body.open(thread, body.indexConstant(count), IndexRange::below(count), inits, kRunningSums);
  setShare(loop.op, count, kRunningSums);
  threadLevel = std::min(threadLevel, body.level());
  return loop;
}

void BlockReducer::closeThreads(const Body::Loop &loop, ValueRange yields) {
  if (threadLevel == body.level())
    threadLevel = ~0u;
  body.close(loop, yields);
}

/// What a block's reduction is called, and its result.
static std::pair<StringRef, StringRef> namesOf(ReduceKind kind) {
  if (kind == ReduceKind::sum)
    return {"block_sum", "sum"};
  return kind == ReduceKind::max ? std::pair<StringRef, StringRef>("block_max", "largest")
                                 : std::pair<StringRef, StringRef>("block_min", "least");
}

/// At most kRowBlock terms from `first`, by all threads.
Value BlockReducer::reduceBlock(ReduceKind kind, Type element, int64_t n, const Linear &first,
                                llvm::function_ref<Value(const Linear &)> term) {
  Value neutral = body.number(element, neutralOf(body.builder(), kind, element), false);
  Body::Loop loop = openThreads(n, neutral);
  Value value = term(first + loop.index());
  Value sum = combine(body.builder(), body.loc(), kind, loop.op.getRegionIterArg(0), value);
  closeThreads(loop, sum);
  // One reduction ends before the next begins, so all of a type share their memory.
  Value &running = runningOf[element];
  if (!running)
    running = sharedMemory(func, body.loc(), element, kRunningSums, "running");
  auto [function, name] = namesOf(kind);
  return callPrelude(body.builder(), body.loc(), function, name, element,
                     {loop.op.getResult(0), running});
}

/// The same by one thread, which keeps all running sums.
Value BlockReducer::reduceAlone(ReduceKind kind, Type element, int64_t n, const Linear &first,
                                llvm::function_ref<Value(const Linear &)> term) {
  Value neutral = body.number(element, neutralOf(body.builder(), kind, element), false);
  Value running = body.allocate(element, kRunningSums);
  Body::Loop clear = body.open(0, kRunningSums);
  body.store(neutral, running, clear.index());
  body.close(clear);
  auto add = [&](const Linear &to, Value value) {
    Value old = body.load(running, element, to);
    body.store(combine(body.builder(), body.loc(), kind, old, value), running, to);
  };
  Body::Loop loop = body.open(0, n);
  Value value = term(first + loop.index());
  add(body.space().remainder(loop.index(), kRunningSums), value);
  body.close(loop);
  for (int64_t half = kRunningSums / 2; half >= 1; half /= 2) {
    Body::Loop fold = body.open(0, half);
    add(fold.index(), body.load(running, element, fold.index() + half));
    body.close(fold);
  }
  return memref::LoadOp::create(body.builder(), body.loc(), running, body.indexConstant(0));
}

Value BlockReducer::reduce(ReduceKind kind, Type element, int64_t n,
                           std::function<Value(const Linear &)> term) {
  bool isAlone = body.level() >= threadLevel;
  countAlone += isAlone;
  auto reducePart = [&](int64_t count, const Linear &first,
                        llvm::function_ref<Value(const Linear &)> of) {
    return isAlone ? reduceAlone(kind, element, count, first, of)
                   : reduceBlock(kind, element, count, first, of);
  };
  if (n <= kRowBlock)
    return reducePart(n, 0, term);
  int64_t whole = n / kRowBlock, rest = n % kRowBlock;
  Value results = isAlone ? body.allocate(element, whole + (rest > 0))
                          : sharedMemory(func, body.loc(), element, whole + (rest > 0), "blocks");
  auto keep = [&](Value value, Value place) {
    OpBuilder b = body.builder();
    if (!isAlone)
      b = ifFirst(body, thread).getThenBodyBuilder();
    memref::StoreOp::create(b, body.loc(), value, results, place);
    if (!isAlone)
      gpu::BarrierOp::create(body.builder(), body.loc());
  };
  Body::Loop loop = body.open(0, whole);
  Value result = reducePart(kRowBlock, loop.index() * kRowBlock, term);
  keep(result, loop.op.getInductionVar());
  body.close(loop);
  if (rest)
    keep(reducePart(rest, whole * kRowBlock, term), body.indexConstant(whole));
  return reduce(kind, element, whole + (rest > 0),
                [&](const Linear &j) { return body.load(results, element, j); });
}
