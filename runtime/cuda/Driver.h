// Driver: the functions of NVIDIA's driver that are used, found when they are wanted.
//
// The declarations are our own: they follow the documentation of the CUDA driver API, and no header
// of the toolkit is needed. Names are those of the library, where "_v2" means 64-bit sizes.

#ifndef NAPKIN_RUNTIME_CUDA_DRIVER_H
#define NAPKIN_RUNTIME_CUDA_DRIVER_H

#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace napkin::runtime::cuda {

/// What every function returns (CUresult); the ones that are told apart.
enum Status : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  stubLibrary = 34,
  deviceUnavailable = 46,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  eccUncorrectable = 214,
  invalidPtx = 218,
  jitCompilerNotFound = 221,
  unsupportedPtxVersion = 222,
  jitCompilationDisabled = 223,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  assertion = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidPc = 718,
  launchFailed = 719,
  systemNotReady = 802,
  systemDriverMismatch = 803,
  compatNotSupported = 804,
  captureUnsupported = 900,
  captureInvalidated = 901,
  captureIsolation = 905,
};

using Ordinal = int;          ///< CUdevice
using Pointer = uint64_t;     ///< CUdeviceptr
using Context = struct ContextOf *;
using Module = struct ModuleOf *;
using Kernel = struct KernelOf *; ///< CUfunction
using Stream = struct StreamOf *;
using Event = struct EventOf *;
using Graph = struct GraphOf *;
using GraphExec = struct GraphExecOf *;

/// CUdevice_attribute.
enum DeviceAttribute : int {
  maxGridX = 5,
  maxSharedPerBlock = 8,
  capabilityMajor = 75,
  capabilityMinor = 76,
  maxSharedOptIn = 97,
};
/// CUfunction_attribute.
enum KernelAttribute : int {
  kernelMaxThreads = 0,
  kernelStaticShared = 1,
  kernelMaxDynamicShared = 8,
};
/// CUjit_option.
enum JitOption : int { jitErrorLog = 5, jitErrorLogBytes = 6 };
/// Flags of streams: no order with the legacy stream.
inline constexpr unsigned streamNonBlocking = 1;
/// Flags of events: with times, or without, which is cheaper.
inline constexpr unsigned eventWithTime = 0, eventWithoutTime = 2;
/// CUstreamCaptureMode: of this thread's calls those that a capture forbids fail.
inline constexpr int captureThreadLocal = 1;

/// The library's functions; all but the last two return a `Status`.
struct Driver {
  int (*init)(unsigned flags) = nullptr;
  int (*driverVersion)(int *version) = nullptr;
  int (*deviceCount)(int *count) = nullptr;
  int (*deviceGet)(Ordinal *device, int ordinal) = nullptr;
  int (*deviceName)(char *name, int bytes, Ordinal device) = nullptr;
  int (*deviceAttribute)(int *value, int attribute, Ordinal device) = nullptr;
  int (*contextRetain)(Context *context, Ordinal device) = nullptr;
  int (*contextRelease)(Ordinal device) = nullptr;
  int (*contextSetCurrent)(Context context) = nullptr;
  int (*memoryInfo)(size_t *free, size_t *total) = nullptr;
  int (*memoryAlloc)(Pointer *pointer, size_t bytes) = nullptr;
  int (*memoryFree)(Pointer pointer) = nullptr;
  int (*hostAlloc)(void **pointer, size_t bytes, unsigned flags) = nullptr;
  int (*hostFree)(void *pointer) = nullptr;
  int (*copyToDevice)(Pointer to, const void *from, size_t bytes, Stream stream) = nullptr;
  int (*copyToHost)(void *to, Pointer from, size_t bytes, Stream stream) = nullptr;
  int (*copyOnDevice)(Pointer to, Pointer from, size_t bytes, Stream stream) = nullptr;
  int (*fillWords)(Pointer to, unsigned word, size_t words, Stream stream) = nullptr;
  int (*fillBytes)(Pointer to, unsigned char value, size_t bytes, Stream stream) = nullptr;
  int (*streamCreate)(Stream *stream, unsigned flags) = nullptr;
  int (*streamDestroy)(Stream stream) = nullptr;
  int (*streamSynchronize)(Stream stream) = nullptr;
  int (*streamWaitEvent)(Stream stream, Event event, unsigned flags) = nullptr;
  int (*streamBeginCapture)(Stream stream, int mode) = nullptr;
  int (*streamEndCapture)(Stream stream, Graph *graph) = nullptr;
  int (*eventCreate)(Event *event, unsigned flags) = nullptr;
  int (*eventDestroy)(Event event) = nullptr;
  int (*eventRecord)(Event event, Stream stream) = nullptr;
  int (*eventSynchronize)(Event event) = nullptr;
  int (*eventElapsedTime)(float *milliseconds, Event begin, Event end) = nullptr;
  int (*moduleLoad)(Module *module, const void *image, unsigned options, int *names,
                    void **values) = nullptr;
  int (*moduleUnload)(Module module) = nullptr;
  int (*moduleKernel)(Kernel *kernel, Module module, const char *name) = nullptr;
  int (*kernelGetAttribute)(int *value, int attribute, Kernel kernel) = nullptr;
  int (*kernelSetAttribute)(Kernel kernel, int attribute, int value) = nullptr;
  int (*launchKernel)(Kernel kernel, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                      Stream stream, void **parameters, void **extra) = nullptr;
  int (*graphInstantiate)(GraphExec *exec, Graph graph, unsigned long long flags) = nullptr;
  int (*graphLaunch)(GraphExec exec, Stream stream) = nullptr;
  int (*graphExecDestroy)(GraphExec exec) = nullptr;
  int (*graphDestroy)(Graph graph) = nullptr;
  int (*errorName)(int status, const char **name) = nullptr;
  int (*errorString)(int status, const char **text) = nullptr;
};

/// The driver of this machine, initialised; opened once in a process and kept. It is the library
/// that NAPKIN_CUDA_DRIVER names, for tests, else libcuda.so.1 where the loader finds it. Fails
/// with a sentence where there is none, where it is a toolkit's stub or too old, or finds no
/// device.
Result<const Driver *> openDriver();

/// "CUDA_ERROR_NO_DEVICE", or the number where the driver does not know it.
std::string nameOfStatus(const Driver &driver, int status);

/// One sentence about a call that failed: `doing` is what it was for, "copying 'tokens' to the
/// device". The known kinds say what to do; the driver's name for it stands at the end.
Error errorOf(const Driver &driver, int status, const std::string &doing);

/// True for what a kernel did; the device can do nothing more for this process after it.
bool isKernelFault(int status);

/// "12.4" of the driver's 12040.
std::string versionText(int version);

} // namespace napkin::runtime::cuda

#endif
