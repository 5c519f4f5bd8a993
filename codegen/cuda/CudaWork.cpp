// Counts what a function does by walking its loops.
#include "codegen/cuda/CudaWork.h"

#include "codegen/math/Expand.h"
#include "ir/schedule/SumOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace nap;

static constexpr llvm::StringLiteral kShareAttr = "nap.share", kWorkAttr = "nap.work";

void nap::setShare(Operation *op, int64_t times, int64_t of) {
  op->setAttr(kShareAttr, DenseI64ArrayAttr::get(op->getContext(), {times, of}));
}

void nap::setWork(Operation *call, const CudaWork &work) {
  call->setAttr(kWorkAttr,
                DenseI64ArrayAttr::get(call->getContext(), {work.readBytes, work.writtenBytes,
                                                            work.productFlops, work.threadFlops}));
}

int64_t nap::flopsOf(Operation *op) {
  if (op->getNumResults() != 1 || !isa<Float32Type, Float64Type>(op->getResult(0).getType()))
    return 0;
  if (isa<math::FmaOp>(op))
    return 2;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp,
             math::SqrtOp, math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::SinOp,
             math::CosOp, math::TanhOp, math::ErfOp, math::PowFOp>(op);
}

/// How often the regions of `op` are gone through where it is come to `times` times; nothing where
/// memory decides.
static std::optional<int64_t> timesInside(Operation *op, int64_t times) {
  if (auto share = op->getAttrOfType<DenseI64ArrayAttr>(kShareAttr))
    return static_cast<int64_t>(static_cast<__int128>(times) * share[0] / share[1]);
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return std::nullopt;
  auto lower = getConstantIntValue(loop.getLowerBound()),
       upper = getConstantIntValue(loop.getUpperBound()),
       step = getConstantIntValue(loop.getStep());
  if (!lower || !upper || !step)
    return std::nullopt;
  return times * std::max<int64_t>(0, (*upper - *lower + *step - 1) / *step);
}

/// Functions of the prelude that touch no global memory, or that of a pointer they are given, as
/// many neighbours as the name says.
static bool countCall(func::CallOp call, int64_t times, CudaWork &work) {
  if (auto known = call->getAttrOfType<DenseI64ArrayAttr>(kWorkAttr)) {
    work += {known[0], known[1], known[2], known[3]};
    return true;
  }
  StringRef name = call.getCallee();
  // Halves of a block's running sums, 127 sums in all.
  if (name.starts_with("block_sum") && isa<FloatType>(call.getOperand(0).getType()))
    work.threadFlops += times / kRunningSums * (kRunningSums - 1);
  bool isLoad = name.consume_front("load_many<"), isStore = name.consume_front("store_many<");
  if (isLoad || isStore) {
    auto memory = cast<MemRefType>(call.getOperand(isLoad ? 1 : 0).getType());
    int64_t count = 0;
    name.consumeInteger(10, count);
    (isLoad ? work.readBytes : work.writtenBytes) +=
        times * count * memory.getElementTypeBitWidth() / 8;
    return true;
  }
  return llvm::none_of(call.getOperands(), [](Value x) {
    return isa<MemRefType>(x.getType()) && isa<BlockArgument>(x);
  });
}

/// Whether the compiler knows the op's result: the text has two literals.
static bool isOfLiterals(Operation &op) {
  return op.getNumOperands() == 2 && llvm::all_of(op.getOperands(), [](Value operand) {
           return operand.getDefiningOp<arith::ConstantOp>() != nullptr;
         });
}

static bool countBlock(Block &block, int64_t times, CudaWork &work) {
  for (Operation &op : block) {
    auto access = [&](Value memory, int64_t &bytes) {
      if (isa<BlockArgument>(memory))
        bytes += times * cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
    };
    if (!isOfLiterals(op))
      work.threadFlops += times * flopsOf(&op);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      access(load.getMemRef(), work.readBytes);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      access(store.getMemRef(), work.writtenBytes);
    if (auto call = dyn_cast<func::CallOp>(op); call && !countCall(call, times, work))
      return false;
    if (op.hasAttr(kRareAttr)) {
      if (!countBlock(*cast<scf::IfOp>(op).elseBlock(), times, work))
        return false;
      continue;
    }
    std::optional<int64_t> inside = op.getNumRegions() ? timesInside(&op, times) : 0;
    CudaWork ofRegions;
    for (Region &region : op.getRegions())
      for (Block &own : region)
        if (!countBlock(own, inside.value_or(1), ofRegions))
          return false;
    // How often matters only where something is asked for.
    bool asks = ofRegions.readBytes || ofRegions.writtenBytes || ofRegions.productFlops ||
                ofRegions.threadFlops;
    if (!inside && asks)
      return false;
    work += ofRegions;
  }
  return true;
}

std::optional<CudaWork> nap::workOf(func::FuncOp func, int64_t threads) {
  CudaWork work;
  if (!countBlock(func.getBody().front(), threads, work))
    return std::nullopt;
  return work;
}
