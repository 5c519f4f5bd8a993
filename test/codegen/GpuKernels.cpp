// Operands as tensors of bytes, one behind the other in the arena.
#include "test/codegen/GpuKernels.h"

#include "codegen/BuildProgram.h"
#include "codegen/cuda/printer/CudaPrinter.h"

#include <cstring>
#include <fmt/format.h>

using namespace nap;
namespace rt = napkin::runtime;

std::vector<int64_t> nap::makeSites(int64_t count) {
  std::vector<int64_t> sites;
  for (int64_t i = 0; i < count; ++i)
    sites.push_back(static_cast<uint32_t>(0xDEADBEEF + i * 0x9E3779B9));
  return sites;
}

std::unique_ptr<GpuKernels> GpuKernels::load(const std::vector<CudaKernelText> &kernels) {
  auto made = std::make_unique<GpuKernels>();
  rt::Program &program = made->program;
  program.model = "kernels";
  for (const CudaKernelText &kernel : kernels) {
    rt::Launch launch;
    launch.kernel = static_cast<int64_t>(program.kernels.size());
    rt::KernelInfo info;
    info.name = info.symbol = kernel.name;
    if (kernel.product)
      info.product = libraryCallOf(*kernel.product);
    for (const CudaArgument &argument : kernel.arguments) {
      if (argument.isOfLaunch) {
        launch.sites = makeSites(argument.elements);
        info.sites = static_cast<int64_t>(launch.sites.size());
        continue;
      }
      rt::TensorInfo tensor;
      tensor.name = fmt::format("{}.{}", kernel.name, argument.name);
      tensor.role = argument.isWritten ? rt::Role::buffer : rt::Role::parameter;
      tensor.dtype = rt::DType::boolean;
      tensor.bytes = argument.elements * argument.elementBytes;
      tensor.shape = {tensor.bytes};
      // What the library takes must be of the type that it is told.
      if (kernel.product) {
        tensor.dtype = argument.elementBytes == 2 ? rt::DType::bf16 : rt::DType::f32;
        tensor.shape = {argument.elements};
      }
      tensor.offset = program.arenaBytes;
      program.arenaBytes +=
          (tensor.bytes + rt::arenaAlignment - 1) / rt::arenaAlignment * rt::arenaAlignment;
      (argument.isWritten ? launch.results : launch.arguments)
          .push_back(static_cast<int64_t>(program.tensors.size()));
      program.tensors.push_back(std::move(tensor));
    }
    program.kernels.push_back(std::move(info));
    rt::Function &function = program.functions.emplace_back();
    function.name = kernel.name;
    function.launches.push_back(std::move(launch));
    rt::CudaKernelCode &code = made->code.kernels.emplace_back();
    for (const CudaGrid &grid : kernel.grids)
      code.grids.push_back({grid.name, grid.blocks, grid.blockThreads, grid.askedBytes});
    code.workspaceBytes = kernel.workspaceBytes;
  }
  made->code.texts = {joinCudaText(kernels)};
  made->code.prelude = cudaPrelude().str();
  auto device = rt::openCudaDevice(program, made->code);
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().message);
    return nullptr;
  }
  made->device = std::move(*device);
  return made;
}

bool GpuKernels::check(const rt::Failure &failure) {
  if (failure)
    fmt::print(stderr, "{}\n", failure->message);
  failed |= failure.has_value();
  return !failure;
}

void GpuKernels::run(size_t number, const std::vector<std::byte *> &operands) {
  const rt::Launch &launch = program.functions[number].launches.front();
  size_t next = 0;
  for (int64_t tensor : launch.arguments) {
    std::memcpy(device->data(tensor), operands[next++],
                static_cast<size_t>(program.tensors[tensor].bytes));
    if (!check(device->push(tensor)))
      return;
  }
  if (!check(device->run(static_cast<int64_t>(number))) || !check(device->settle()))
    return;
  for (int64_t tensor : launch.results) {
    if (!check(device->pull(tensor)))
      return;
    std::memcpy(operands[next++], device->data(tensor),
                static_cast<size_t>(program.tensors[tensor].bytes));
  }
}
