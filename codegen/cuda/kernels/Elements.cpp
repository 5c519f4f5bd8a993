// Every element of the results by itself.
//
//   for element = block * 256 + thread; element < n; element += blocks * 256
//     result[element] = body
#include "codegen/cuda/kernels/Kernels.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace nap;

void CudaResults::compute(ArrayRef<int64_t> shape, ArrayRef<Linear> index) {
  for (auto [i, result] : llvm::enumerate(kernel.results()))
    if (cast<RankedTensorType>(result.getType()).getShape() == shape)
      values.push_back({i, body.at(result, index)});
}

void CudaResults::store(const Linear &place) {
  for (auto [i, value] : values)
    body.store(value, kernel.result(i), place);
}

Body::Loop nap::openGrid(Body &body, int64_t count, int64_t blocks, int64_t threads,
                         StringRef name) {
  // A copy: opening a loop moves the builders.
  OpBuilder b = body.builder();
  auto named = [&](StringRef text) { return NameLoc::get(b.getStringAttr(text), body.loc()); };
  Value thread = gpu::ThreadIdOp::create(b, named("thread"), gpu::Dimension::x);
  Value block = gpu::BlockIdOp::create(b, named("block"), gpu::Dimension::x);
  Value start = arith::MulIOp::create(b, body.loc(), block, body.indexConstant(threads));
  Value first = arith::AddIOp::create(b, named("first"), start, thread);
  Body::Loop loop =
      body.open(first, body.indexConstant(count), IndexRange::below(count), {}, blocks * threads);
  loop.op.getInductionVar().setLoc(named(name));
  return loop;
}

void nap::fillElements(KernelFunction kernel, CudaKernel &cuda) {
  auto shape = spaceOf(kernel).getShape();
  int64_t count = ShapedType::getNumElements(shape);
  // Threads beyond one element would read what the first may overwrite.
  cuda.blockThreads = count == 1 ? 1 : kBlockThreads;
  cuda.blocks = std::clamp<int64_t>((count + kBlockThreads - 1) / kBlockThreads, 1, kBlocksAtMost);

  Body body = kernel.body();
  Body::Loop loop = openGrid(body, count, cuda.blocks, kBlockThreads, "element");
  CudaResults results{kernel, body};
  results.compute(shape, body.space().delinearize(loop.index(), shape));
  results.store(loop.index());
  body.close(loop);
}
