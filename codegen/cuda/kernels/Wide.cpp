// Neighbouring elements of memory together, 16 bytes at once.
//
//   for e = 0 .. 8:                            u16 x[8], y[8];
//     out[8 group + e] = f(in[8 group + e])    load_many<8>(x, in, 8 group)
//                                              for e = 0 .. 8: y[e] = f(x[e])
//                                              store_many<8>(out, 8 group, y)
//
// All of a group is read before any of it is written, so a result may still take the place of an
// input.
#include "codegen/cuda/kernels/BlockReducer.h"
#include "codegen/cuda/kernels/Kernels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace nap;

/// Elements of a grid that is too small to gain anything, and ops of a body that grows too long
/// when it is written eight times.
static constexpr int64_t kFewElements = 1 << 12, kLongBody = 12;

int64_t nap::elementsTogether(KernelFunction kernel) {
  auto space = spaceOf(kernel);
  int64_t count = space.getNumElements();
  unsigned bits = 64;
  auto look = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getNumElements() == count)
      bits = std::min(bits, std::max(8u, tensor.getElementTypeBitWidth()));
  };
  for (Value input : kernel.region().getArguments())
    look(input.getType());
  for (Value result : kernel.results())
    look(result.getType());
  bool isShort = llvm::range_size(kernel.region()) <= kLongBody && !isLongBody(kernel.region());
  int64_t together = bits < 32 && isShort ? 8 : 4;
  // A normal number takes a hundred lines, of which four times as many take NVRTC as long.
  bool drawsNormals = !kernel.region().getOps<RandomNormalOp>().empty();
  bool reduces = !kernel.region().getOps<ReduceOp>().empty();
  return count < kFewElements || count % together || reduces || drawsNormals ? 1 : together;
}

void nap::accessTogether(func::FuncOp func, scf::ForOp loop, Value place, Value first,
                         int64_t together) {
  Block *entry = &func.getBody().front();
  Value number = loop.getInductionVar();
  Location loc = loop.getLoc();
  llvm::MapVector<Value, Value> read, written;
  auto arrayFor = [&](llvm::MapVector<Value, Value> &arrays, Value memory, StringRef name) {
    Value &array = arrays[memory];
    if (array)
      return array;
    OpBuilder start = OpBuilder::atBlockBegin(entry);
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    array =
        memref::AllocaOp::create(start, NameLoc::get(start.getStringAttr(name), loc),
                                 MemRefType::get({together}, element), start.getI64IntegerAttr(16));
    return array;
  };
  auto isOfGroup = [&](Value memory, Value index) {
    return isa<BlockArgument>(memory) && index == place;
  };
  for (Operation &op : llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    OpBuilder b(&op);
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (!isOfGroup(load.getMemRef(), load.getIndices()[0]))
        continue;
      Value array = arrayFor(read, load.getMemRef(), "read");
      load.replaceAllUsesWith(memref::LoadOp::create(b, load.getLoc(), array, number).getResult());
      load.erase();
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (!isOfGroup(store.getMemRef(), store.getIndices()[0]))
        continue;
      Value array = arrayFor(written, store.getMemRef(), "written");
      memref::StoreOp::create(b, store.getLoc(), store.getValue(), array, number);
      store.erase();
    }
  }
  std::string count = "<" + std::to_string(together) + ">";
  OpBuilder before(loop), after(loop->getContext());
  after.setInsertionPointAfter(loop);
  for (auto [memory, array] : read)
    callPrelude(before, loc, "load_many" + count, "", {}, {array, memory, first});
  for (auto [memory, array] : written)
    callPrelude(after, loc, "store_many" + count, "", {}, {memory, first, array});
}
