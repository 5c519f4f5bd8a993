// Kernels to functions on memory.
//
// Takes a module with `nap.kernel_def`s; leaves beside them `module @code` with one function each:
//
//   nap.kernel_def pointwise @twice
//       attributes {nap.schedule = {tasks = 4, scratch = 0, chunk = 1024}} {
//   ^bb0(%x: tensor<4096xf32>):
//     %y = nap.add %x, %x : tensor<4096xf32>
//     nap.yield %y : tensor<4096xf32> }
//
//   func.func @twice(%x: memref<4096xf32>, %y: memref<4096xf32>, %scratch: memref<0xi8>,
//                    %first: index, %last: index) { scf.for ... vector.load ... arith.addf ... }
#include "codegen/LowerKernels.h"
#include "codegen/Passes.h"
#include "codegen/attention/LowerAttention.h"
#include "codegen/contraction/LowerContraction.h"
#include "codegen/math/Expand.h"
#include "codegen/skeletons/Skeletons.h"
#include "ir/contraction/Epilogue.h"
#include "ir/schedule/Entries.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Threading.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace nap;

int64_t KernelFunction::schedule(StringRef key, int64_t otherwise) {
  return scheduleEntry(def->getAttrOfType<DictionaryAttr>("nap.schedule"), key, otherwise);
}

Body KernelFunction::body(int64_t width) {
  return bodyAt(OpBuilder(func.getBody().front().getTerminator()), width);
}

Body KernelFunction::bodyAt(OpBuilder builder, int64_t width) {
  DenseMap<Value, Value> memory;
  for (auto [i, argument] : llvm::enumerate(region().getArguments()))
    memory[argument] = input(i);
  Body body(builder, def.getLoc(), std::move(memory), width);
  if (siteCount() > 0)
    body.setSites(sites());
  return body;
}

int64_t KernelFunction::siteCount() {
  auto count = def->getAttrOfType<IntegerAttr>("nap.sites");
  return count ? count.getInt() : 0;
}

/// The flat memory of a tensor.
static MemRefType memoryOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  if (element.isInteger(1))
    element = IntegerType::get(type.getContext(), 8);
  return MemRefType::get({tensor.getNumElements()}, element);
}

SmallVector<Type> KernelFunction::operandTypes() {
  SmallVector<Type> types;
  for (Value input : region().getArguments())
    types.push_back(memoryOf(input.getType()));
  for (Value result : results())
    types.push_back(memoryOf(result.getType()));
  if (int64_t sites = siteCount())
    types.push_back(MemRefType::get({sites}, IntegerType::get(def.getContext(), 64)));
  return types;
}

/// A product that the contraction skeleton knows; any other is computed element by element.
static bool lowerAsContraction(KernelFunction kernel) {
  auto schedule = kernel.def->getAttrOfType<DictionaryAttr>("nap.schedule");
  EinsumOp einsum = getContraction(kernel.region());
  if (!schedule || !schedule.contains("tile_rows") || !einsum)
    return false;
  std::optional<ContractionForm> form = getContractionForm(einsum);
  if (form)
    lowerContraction(kernel, *form, ContractionSchedule::fromAttr(schedule));
  return form.has_value();
}

/// Attention and its adjoint. Fails where the op's operands or results are not at constant strides.
static LogicalResult lowerAsAttention(KernelFunction kernel, Operation *op) {
  auto schedule = kernel.def->getAttrOfType<DictionaryAttr>("nap.schedule");
  bool isPlaced =
      llvm::all_of(op->getOperands(), [](Value x) { return readPlace(x).has_value(); }) &&
      llvm::all_of(op->getResults(), [](Value x) { return writtenPlace(x).has_value(); });
  if (!schedule || !schedule.contains("query_block") || !isPlaced)
    return op->emitError() << "found "
                           << (isPlaced ? "no schedule" : "tensors without constant strides")
                           << ", wanted what nap-fuse and nap-choose-schedules make of attention";
  if (auto forward = dyn_cast<AttentionOp>(op))
    lowerAttention(kernel, forward, AttentionSchedule::fromAttr(schedule));
  else
    lowerAttentionBackward(kernel, cast<AttentionBackwardOp>(op),
                           AttentionSchedule::fromAttr(schedule));
  return success();
}

/// Writes the code, by the skeleton of the kernel's class and op.
static LogicalResult fillFunction(KernelFunction kernel) {
  if (kernel.def.getKernelClass() == KernelClass::contraction && lowerAsContraction(kernel))
    return success();
  for (Operation &op : kernel.region()) {
    if (auto scatter = dyn_cast<ScatterAddOp>(op))
      return lowerScatterAdd(kernel, scatter);
    if (auto cumsum = dyn_cast<CumsumOp>(op))
      return lowerCumsum(kernel, cumsum);
    if (auto topK = dyn_cast<TopKOp>(op))
      return lowerTopK(kernel, topK);
    if (isa<AttentionOp, AttentionBackwardOp>(op))
      return lowerAsAttention(kernel, &op);
  }
  return lowerPointwise(kernel);
}

LogicalResult nap::lowerKernel(KernelDefOp def, ModuleOp target) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  KernelFunction kernel{def, {}};
  SmallVector<Type> operands = kernel.operandTypes();
  operands.push_back(MemRefType::get({kernel.schedule("scratch", 0)}, builder.getI8Type()));
  operands.append(2, builder.getIndexType());
  kernel.func = func::FuncOp::create(builder, def.getLoc(), def.getSymName(),
                                     builder.getFunctionType(operands, {}));
  builder.setInsertionPointToStart(kernel.func.addEntryBlock());
  func::ReturnOp::create(builder, def.getLoc());

  if (failed(fillFunction(kernel)))
    return failure();
  expandMath(kernel.func);
  return success();
}

LogicalResult nap::lowerKernels(ModuleOp planned, ModuleOp target) {
  SmallVector<KernelDefOp> kernels(planned.getOps<KernelDefOp>());
  // A module each, which no two threads share.
  SmallVector<OwningOpRef<ModuleOp>> modules;
  for (KernelDefOp kernel : kernels)
    modules.push_back(ModuleOp::create(kernel.getLoc()));
  if (failed(failableParallelForEachN(planned.getContext(), 0, kernels.size(), [&](size_t i) {
        return lowerKernel(kernels[i], *modules[i]);
      })))
    return failure();
  for (OwningOpRef<ModuleOp> &module : modules)
    target.getBody()->getOperations().splice(target.getBody()->end(), module->getBody()->getOperations());
  return success();
}

void nap::registerLoweredDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect>();
}

namespace {

struct LowerKernelsPass : PassWrapper<LowerKernelsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernelsPass)

  StringRef getArgument() const override { return "nap-lower-kernels"; }
  StringRef getDescription() const override {
    return "writes module @code: loops on memory for every kernel_def";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerLoweredDialects(registry);
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto code = ModuleOp::create(builder, module.getLoc(), "code");
    if (failed(lowerKernels(module, code)))
      signalPassFailure();
  }
};

} // namespace

void nap::registerCodegenPasses() { PassRegistration<LowerKernelsPass>(); }
