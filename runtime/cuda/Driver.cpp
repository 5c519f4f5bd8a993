// Driver: libcuda by dlopen, and what its numbers mean.

#include "runtime/cuda/Driver.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <type_traits>

namespace napkin::runtime::cuda {

/// The oldest driver that has every function below: graphs by cuGraphInstantiateWithFlags.
static constexpr int oldestVersion = 11040;

static Error machineError(std::string message) {
  return {std::move(message), ExitStatus::machineFailure};
}

std::string versionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The library's handle, and the name that it was found by.
static Result<std::pair<void *, std::string>> openLibrary() {
  const char *chosen = std::getenv("NAPKIN_CUDA_DRIVER");
  if (chosen && *chosen) {
    void *handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return machineError(fmt::format(
          "NAPKIN_CUDA_DRIVER={}: is no library that can be loaded: {}", chosen, dlerror()));
    return std::pair(handle, std::string(chosen));
  }
  // The second is where WSL keeps it.
  for (const char *path : {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"})
    if (void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL))
      return std::pair(handle, std::string(path));
  return machineError("this machine has no NVIDIA driver: libcuda.so.1 was not found; install the "
                      "driver, or use --device=cpu");
}

/// Finds every function; the name of the first that is missing comes back, or null.
static const char *bind(void *handle, Driver &driver) {
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (!function && !missing)
      missing = name;
  };
  find(driver.init, "cuInit");
  find(driver.driverVersion, "cuDriverGetVersion");
  find(driver.deviceCount, "cuDeviceGetCount");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.deviceName, "cuDeviceGetName");
  find(driver.deviceAttribute, "cuDeviceGetAttribute");
  find(driver.contextRetain, "cuDevicePrimaryCtxRetain");
  find(driver.contextRelease, "cuDevicePrimaryCtxRelease_v2");
  find(driver.contextSetCurrent, "cuCtxSetCurrent");
  find(driver.memoryInfo, "cuMemGetInfo_v2");
  find(driver.memoryAlloc, "cuMemAlloc_v2");
  find(driver.memoryFree, "cuMemFree_v2");
  find(driver.hostAlloc, "cuMemHostAlloc");
  find(driver.hostFree, "cuMemFreeHost");
  find(driver.copyToDevice, "cuMemcpyHtoDAsync_v2");
  find(driver.copyToHost, "cuMemcpyDtoHAsync_v2");
  find(driver.copyOnDevice, "cuMemcpyDtoDAsync_v2");
  find(driver.fillWords, "cuMemsetD32Async");
  find(driver.fillBytes, "cuMemsetD8Async");
  find(driver.streamCreate, "cuStreamCreate");
  find(driver.streamDestroy, "cuStreamDestroy_v2");
  find(driver.streamSynchronize, "cuStreamSynchronize");
  find(driver.streamWaitEvent, "cuStreamWaitEvent");
  find(driver.streamBeginCapture, "cuStreamBeginCapture_v2");
  find(driver.streamEndCapture, "cuStreamEndCapture");
  find(driver.eventCreate, "cuEventCreate");
  find(driver.eventDestroy, "cuEventDestroy_v2");
  find(driver.eventRecord, "cuEventRecord");
  find(driver.eventSynchronize, "cuEventSynchronize");
  find(driver.eventElapsedTime, "cuEventElapsedTime");
  find(driver.moduleLoad, "cuModuleLoadDataEx");
  find(driver.moduleUnload, "cuModuleUnload");
  find(driver.moduleKernel, "cuModuleGetFunction");
  find(driver.kernelGetAttribute, "cuFuncGetAttribute");
  find(driver.kernelSetAttribute, "cuFuncSetAttribute");
  find(driver.launchKernel, "cuLaunchKernel");
  find(driver.graphInstantiate, "cuGraphInstantiateWithFlags");
  find(driver.graphLaunch, "cuGraphLaunch");
  find(driver.graphExecDestroy, "cuGraphExecDestroy");
  find(driver.graphDestroy, "cuGraphDestroy");
  find(driver.errorName, "cuGetErrorName");
  find(driver.errorString, "cuGetErrorString");
  return missing;
}

/// Opens, binds and initialises.
static Result<Driver> makeDriver() {
  Result<std::pair<void *, std::string>> library = openLibrary();
  if (!library)
    return library.error();
  const auto &[handle, path] = *library;
  Driver driver;
  const char *missing = bind(handle, driver);
  int version = 0;
  if (driver.driverVersion && driver.driverVersion(&version) == success && version > 0 &&
      version < oldestVersion)
    return machineError(
        fmt::format("{}: the NVIDIA driver is of CUDA {} and {} or newer is needed; install a "
                    "newer driver",
                    path, versionText(version), versionText(oldestVersion)));
  if (missing)
    return machineError(fmt::format("{}: lacks the function {}, which drivers of CUDA {} have; "
                                    "install a newer driver",
                                    path, missing, versionText(oldestVersion)));
  if (int status = driver.init(0); status != success)
    return errorOf(driver, status, "starting the NVIDIA driver");
  int devices = 0;
  if (int status = driver.deviceCount(&devices); status != success)
    return errorOf(driver, status, "counting the devices");
  if (devices == 0)
    return errorOf(driver, noDevice, "counting the devices");
  return driver;
}

Result<const Driver *> openDriver() {
  static const Result<Driver> one = makeDriver();
  if (!one)
    return one.error();
  return &*one;
}

std::string nameOfStatus(const Driver &driver, int status) {
  const char *name = nullptr;
  if (driver.errorName && driver.errorName(status, &name) == success && name)
    return name;
  return fmt::format("error {}", status);
}

bool isKernelFault(int status) {
  switch (status) {
  case illegalAddress:
  case launchTimeout:
  case assertion:
  case hardwareStackError:
  case illegalInstruction:
  case misalignedAddress:
  case invalidAddressSpace:
  case invalidPc:
  case launchFailed:
    return true;
  default:
    return false;
  }
}

/// What is wrong and what to do about it; empty where the driver's own words are all there is.
static std::string explain(int status) {
  switch (status) {
  case outOfMemory:
    return "the device has no memory left for it; end what else runs there, or compile with a "
           "smaller --memory";
  case stubLibrary:
    return "the library is the toolkit's stub and no driver; install the NVIDIA driver, or take "
           "the stub out of LD_LIBRARY_PATH";
  case deviceUnavailable:
    return "another process has the device for itself, or it is set to take none";
  case noDevice:
    return "the driver finds no NVIDIA GPU; see what nvidia-smi and CUDA_VISIBLE_DEVICES say, or "
           "use --device=cpu";
  case invalidDevice:
    return "there is no such device";
  case invalidImage:
    return "the code is damaged, or none for a GPU; compile again";
  case noBinaryForGpu:
    return "the code is for another architecture than this device's; compile with its --target";
  case invalidPtx:
    return "the driver cannot read the assembly; compile again, with --target of this device";
  case unsupportedPtxVersion:
    return "the assembly is of a newer CUDA than this driver knows; install a newer driver, or "
           "compile with an older NVRTC";
  case jitCompilerNotFound:
    return "the driver lacks its compiler for assembly; compile with --target of this device";
  case jitCompilationDisabled:
    return "compiling assembly is switched off (CUDA_DISABLE_PTX_JIT); unset it, or compile with "
           "--target of this device";
  case eccUncorrectable:
    return "the device's memory has an error that could not be corrected; restart it";
  case systemNotReady:
    return "the machine's GPU services are not ready; on systems with NVSwitch start the fabric "
           "manager";
  case systemDriverMismatch:
    return "the driver's library and its kernel module are of different versions; restart the "
           "machine, or install them anew";
  case compatNotSupported:
    return "the compatibility package does not serve this GPU; use the driver's own libcuda.so.1";
  case illegalAddress:
    return "it read or wrote memory that is none of the program's";
  case misalignedAddress:
    return "it read or wrote at a place that is no multiple of the access";
  case illegalInstruction:
    return "it met an instruction that the device does not have";
  case invalidAddressSpace:
  case invalidPc:
  case hardwareStackError:
  case launchFailed:
  case assertion:
    return "it failed on the device";
  case launchTimeout:
    return "it ran longer than a device that also draws a screen allows";
  case launchOutOfResources:
    return "it wants more registers or threads than the device has for a block";
  default:
    return "";
  }
}

Error errorOf(const Driver &driver, int status, const std::string &doing) {
  std::string reason = explain(status);
  if (reason.empty()) {
    const char *text = nullptr;
    bool isKnown = driver.errorString && driver.errorString(status, &text) == success && text;
    reason = isKnown ? text : "the driver does not say why";
  }
  return {fmt::format("{}: {} ({})", doing, reason, nameOfStatus(driver, status)),
          status == outOfMemory ? ExitStatus::infeasibleBudget : ExitStatus::machineFailure};
}

} // namespace napkin::runtime::cuda
