// CudaDevice: an NVIDIA GPU as the device of a session.

#ifndef NAPKIN_RUNTIME_CUDA_CUDADEVICE_H
#define NAPKIN_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/cuda/CudaModule.h"
#include "runtime/cuda/products/Products.h"
#include "runtime/execute/Device.h"

#include <memory>
#include <optional>
#include <vector>

namespace napkin::runtime {

/// Where the host sees a tensor.
struct CudaPlace {
  enum class Kind : uint8_t {
    mirror, ///< in the host's image of the arena
    input,  ///< pinned; copied by way of staging
    number, ///< pinned; a scalar or the random words
    result, ///< pinned; one element that functions return
  };
  Kind kind = Kind::mirror;
  int64_t at = 0; ///< in the pinned memory; of an input, in the staging too
};

/// A launch: its grids, with their operands in the order of the kernel's parameters; or, without
/// grids, a product of the library.
struct CudaLaunch {
  struct Grid {
    cuda::Kernel kernel = nullptr;
    unsigned blocks = 1, threads = 1, sharedBytes = 0;
  };
  std::vector<Grid> grids;
  std::vector<cuda::Pointer> values;
  std::vector<void *> parameters; ///< the addresses of `values`
};

/// The device of `openCudaDevice`.
class CudaDevice : public Device {
public:
  CudaDevice(const cuda::Driver &driver, cuda::DeviceFacts facts, const Program &program,
             const CudaCode &code);
  ~CudaDevice() override;
  /// What `openCudaDevice` does with it; nothing else is called before.
  Failure open(const ProductOptions &products);

  std::byte *data(int64_t tensor) override;
  Failure push(int64_t tensor) override;
  Failure pull(int64_t tensor) override;
  Failure run(int64_t function) override;
  Failure settle() override;
  bool runsAhead() const override { return true; }
  void setObserver(LaunchObserver *other) override { observer = other; }
  int workers() const override { return 1; }
  int64_t bytesTaken() const override { return totalBytes(); }
  int64_t bytesMeasured() override;
  const Arena *hostMemory() const override { return nullptr; }

private:
  int64_t totalBytes() const {
    return program.arenaBytes + stagingBytes + sitesBytes + workspaceBytes;
  }
  cuda::Pointer at(int64_t tensor) const { return arena + program.tensors[tensor].offset; }

  // Opening, in this order.
  void layOut();
  Failure checkMemory();
  Failure allocate();
  Failure prepare();

  // Failures: the first stays.
  Failure check(int status, std::string_view doing);
  Failure checkCopy(int status, int64_t tensor, std::string_view way);
  Failure fail(Error error);

  // Functions (CudaFunctions.cpp).
  Failure upload();
  Failure launchOne(int64_t function, int64_t index);
  Failure launchAll(int64_t function);
  Failure launchStepwise(int64_t function);
  Failure launchObserved(int64_t function);
  Failure fetchResults(int64_t function);
  Failure poisonAfter(const Launch &launch);
  Failure capture(int64_t function);
  std::string launchName(int64_t function, int64_t index) const;

  const cuda::Driver &driver;
  const cuda::DeviceFacts facts;
  const Program &program;
  const CudaCode &code;
  const bool poison; ///< memory that dies is overwritten
  /// NAPKIN_CUDA_STEPWISE=1: each kernel is waited for, so a fault names its own.
  const bool stepwise;
  Failure failure; ///< the first; nothing runs after it

  cuda::Context context = nullptr;
  std::optional<cuda::LoadedModule> module;
  std::unique_ptr<Products> products; ///< null: all kernels are grids
  cuda::Stream compute = nullptr, copying = nullptr;
  cuda::Event inputsCopied = nullptr, inputsTaken = nullptr, numbersTaken = nullptr;
  cuda::Event began = nullptr, ended = nullptr;
  cuda::Pointer arena = 0, staging = 0, sites = 0, workspace = 0;
  size_t freeBefore = 0; ///< before code and memory were taken
  int64_t stagingBytes = 0, sitesBytes = 0, pinnedBytes = 0;
  int64_t workspaceBytes = 0; ///< what the kernel wants that wants most: one runs at a time
  std::byte *pinned = nullptr, *mirror = nullptr;
  std::vector<CudaPlace> places;
  std::vector<std::vector<CudaLaunch>> launches; ///< by function
  std::vector<std::vector<int64_t>> results;     ///< by function, those with a place of their own
  std::vector<bool> wasRun;
  std::vector<cuda::GraphExec> graphs; ///< by function; null before its second run

  std::vector<int64_t> pushedInputs;  ///< on their way to staging, not yet taken
  std::vector<int64_t> pushedNumbers; ///< written by the host, not yet taken
  bool inputsInFlight = false, numbersInFlight = false;
  LaunchObserver *observer = nullptr;
};

/// Opens the driver and device number `ordinal`, checks that the program fits in its free memory,
/// finds the algorithms of products of the library, loads or compiles the code, and takes one
/// arena. Functions are launched kernel by kernel once, then captured as a graph that every later
/// run replays; with an observer they are launched kernel by kernel, with the times of the device's
/// events. Inputs are copied from pinned memory on a stream of their own while a function runs.
/// From a function's third run on nothing is allocated here. `program` and `code` outlive the
/// device.
Result<std::unique_ptr<Device>> openCudaDevice(const Program &program, const CudaCode &code,
                                               int ordinal = 0,
                                               const ProductOptions &products = {});

/// What the driver calls device number `ordinal`, "NVIDIA H200".
Result<std::string> cudaDeviceName(int ordinal);

} // namespace napkin::runtime

#endif
