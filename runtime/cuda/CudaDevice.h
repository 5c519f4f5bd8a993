// CudaDevice: an NVIDIA GPU as the device of a session.

#ifndef NAPKIN_RUNTIME_CUDA_CUDADEVICE_H
#define NAPKIN_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/cuda/CudaCode.h"
#include "runtime/execute/Device.h"

#include <memory>

namespace napkin::runtime {

/// How a program runs on a GPU.
struct CudaOptions {
  int ordinal = 0;       ///< of the devices that the driver shows
  bool poison = false;   ///< overwrite memory that dies; the environment's NAPKIN_POISON=1 does too
  bool stepwise = false; ///< wait for each kernel, so that a fault names its own;
                         ///< NAPKIN_CUDA_STEPWISE=1 does too
};

/// Opens the driver and the device, checks that the program fits in its free memory, loads or
/// compiles the code, and takes one arena. Functions are launched kernel by kernel once, then
/// captured as a graph that every later run replays; with an observer they are launched kernel by
/// kernel, with the times of the device's events. Inputs are copied from pinned memory on a stream
/// of their own while a function runs. `program` and `code` outlive the device.
Result<std::unique_ptr<Device>> openCudaDevice(const Program &program, const CudaCode &code,
                                               const CudaOptions &options);

} // namespace napkin::runtime

#endif
