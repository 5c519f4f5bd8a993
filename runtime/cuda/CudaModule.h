// CudaModule: a program's kernels on a device.

#ifndef NAPKIN_RUNTIME_CUDA_CUDAMODULE_H
#define NAPKIN_RUNTIME_CUDA_CUDAMODULE_H

#include "runtime/Program.h"
#include "runtime/cuda/CudaCode.h"
#include "runtime/cuda/Driver.h"

namespace napkin::runtime::cuda {

/// A device as its driver describes it.
struct DeviceFacts {
  Ordinal device = 0;
  std::string name;       ///< "NVIDIA H200"
  int major = 0, minor = 0; ///< the compute capability
  int64_t gridBlocks = 0;         ///< in the first dimension
  int64_t sharedPerBlock = 0;     ///< bytes that every kernel may take
  int64_t sharedPerBlockMost = 0; ///< bytes that a kernel may take that asks for them
  int driverVersion = 0;

  /// "sm_90".
  std::string architecture() const;
  /// Bytes of shared memory that a launch of the grid gives a block.
  int64_t sharedBytes(const CudaGridCode &grid) const {
    return isAskedFor(architecture()) ? grid.sharedBytes : 0;
  }
};

/// Asks the driver for device number `ordinal` of those that it shows.
Result<DeviceFacts> readFacts(const Driver &driver, int ordinal);

/// Loaded code: unloads it at its end.
class LoadedModule {
public:
  /// Loads the code that suits the device: of the images the one of its architecture, else one that
  /// runs there too, else what NVRTC makes of the text, from the cache where it is there. Checks
  /// what each kernel wants of a block and lets it have its shared memory. The context is current.
  static Result<LoadedModule> load(const Driver &driver, const DeviceFacts &facts,
                                   const CudaCode &code, const Program &program);
  LoadedModule(LoadedModule &&other) noexcept;
  LoadedModule &operator=(LoadedModule &&) = delete;
  ~LoadedModule();

  /// The grids of each of the program's kernels, in their order.
  const std::vector<std::vector<Kernel>> &kernels() const { return list; }

private:
  explicit LoadedModule(const Driver &driver) : driver(driver) {}
  Failure find(const DeviceFacts &facts, const CudaCode &code, const Program &program);
  Failure findGrid(const DeviceFacts &facts, const CudaGridCode &wanted, Module module,
                   const std::string &name);
  Failure loadPart(const DeviceFacts &facts, const char *bytes);

  const Driver &driver;
  std::vector<Module> modules; ///< of each part of the text
  std::vector<std::vector<Kernel>> list;
  std::string from; ///< where the code came from, "code for sm_90 of the program"
};

/// The image of `code` that runs on a device of this capability: of its architecture, or of the
/// same major number and a lower minor one, the highest (NVIDIA, "CUDA C++ Programming Guide",
/// binary compatibility); images of one architecture alone (sm_90a) run on no other. Null: none.
const CudaImage *imageFor(const CudaCode &code, int major, int minor);

} // namespace napkin::runtime::cuda

#endif
