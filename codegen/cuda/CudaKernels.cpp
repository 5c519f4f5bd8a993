// Kernels for CUDA, from the same bodies as the CPU's: each class has its skeleton in kernels/.
#include "codegen/cuda/CudaKernels.h"

#include "codegen/cuda/kernels/Kernels.h"
#include "codegen/math/Expand.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace nap;

/// Whether the kernel sums along last axes.
static bool sumsRows(KernelFunction kernel) {
  return llvm::any_of(kernel.region().getOps<ReduceOp>(), [](ReduceOp reduce) {
    return !reduce.getAxes().empty() && reduce.getKind() != ReduceKind::prod &&
           reduce.getAxes().back() == reduce.getX().getType().getRank() - 1;
  });
}

/// Writes the code, by the skeleton of the kernel's class and op.
static LogicalResult fillFunction(KernelFunction kernel, CudaKernel &cuda) {
  for (Operation &op : kernel.region()) {
    if (auto scatter = dyn_cast<ScatterAddOp>(op))
      return fillScatterAdd(kernel, scatter, cuda);
    if (auto cumsum = dyn_cast<CumsumOp>(op))
      return lowerCumsum(kernel, cumsum, cudaLines(cuda));
    if (auto topK = dyn_cast<TopKOp>(op))
      return lowerTopK(kernel, topK, cudaLines(cuda));
    if (isa<AttentionOp, AttentionBackwardOp>(op))
      return fillAttention(kernel, &op, cuda);
  }
  if (kernel.def.getKernelClass() == KernelClass::contraction && fillContraction(kernel, cuda))
    return success();
  FailureOr<int64_t> rows = rowsOf(kernel);
  if (failed(rows))
    return failure();
  if (*rows || sumsRows(kernel))
    fillRows(kernel, cuda, *rows);
  else
    fillElements(kernel, cuda);
  return success();
}

/// Elements of a tensor at most whose indices, and those a little beyond, have 32 bits.
static constexpr int64_t kMostNarrow = INT32_MAX - (int64_t(1) << 20);

KernelFunction nap::addSumGrid(KernelFunction kernel, CudaKernel &cuda, int64_t workspace) {
  OpBuilder builder(kernel.func);
  auto type = MemRefType::get({workspace}, builder.getF32Type());
  unsigned last = kernel.func.getNumArguments();
  [[maybe_unused]] auto added =
      kernel.func.insertArgument(last, type, builder.getDictionaryAttr({}), kernel.func.getLoc());
  builder.setInsertionPointAfter(kernel.func);
  KernelFunction sum{kernel.def, func::FuncOp::create(builder, kernel.func.getLoc(),
                                                      (kernel.func.getSymName() + ".sum").str(),
                                                      kernel.func.getFunctionType())};
  builder.setInsertionPointToStart(sum.func.addEntryBlock());
  func::ReturnOp::create(builder, kernel.func.getLoc());
  cuda.sum.func = sum.func;
  cuda.workspace = workspace;
  cuda.isWide |= workspace > kMostNarrow;
  return sum;
}

/// Erases what nobody uses, reads among it: what the compiler would leave out is not printed.
static void eraseDead(func::FuncOp func) {
  SmallVector<Operation *> ops;
  // An op before what it holds, so that turned round nothing is looked at after its parent went.
  func.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (op != func && isOpTriviallyDead(op))
      op->erase();
}

FailureOr<CudaKernel> nap::lowerCudaKernel(KernelDefOp def, ModuleOp target) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  CudaKernel cuda;
  KernelFunction kernel{def, {}};
  SmallVector<Type> operands = kernel.operandTypes();
  for (Type operand : operands)
    cuda.isWide |= cast<MemRefType>(operand).getNumElements() > kMostNarrow;
  kernel.func = func::FuncOp::create(builder, def.getLoc(), def.getSymName(),
                                     builder.getFunctionType(operands, {}));
  builder.setInsertionPointToStart(kernel.func.addEntryBlock());
  func::ReturnOp::create(builder, def.getLoc());
  if (failed(fillFunction(kernel, cuda)))
    return failure();
  cuda.func = kernel.func;
  for (func::FuncOp func : {cuda.func, cuda.sum.func})
    if (func) {
      expandMath(func);
      eraseDead(func);
    }
  return cuda;
}
