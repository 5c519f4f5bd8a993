// The functions of the driver that runtime/cuda/Driver.cpp looks for, over the substitute machine.
#include "test/cuda_driver/substitute/Calls.h"
#include "test/cuda_driver/substitute/Kernels.h"
#include "test/cuda_driver/substitute/Settings.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <set>

using namespace substitute;
using namespace napkin::runtime::cuda;

namespace {

struct GraphState {
  std::vector<Work> works;
};
std::set<void *> liveEvents, liveGraphs, liveExecs, liveModules;
bool isInitialised = false;

/// What every exported function begins with: counts the call, fails where a test says so.
int begin(const char *name, bool wantsContext = true) {
  if (int status = countCall(name)) {
    if (isKernelFault(status))
      Machine::get().dead = status;
    return status;
  }
  if (!isInitialised)
    return notInitialized;
  Machine &machine = Machine::get();
  if (wantsContext && !machine.isCurrent) {
    machine.fault(fmt::format("{}: no context is current", name));
    return invalidContext;
  }
  return machine.dead;
}

/// The same for what a capture forbids.
int beginUncaptured(const char *name) {
  if (int status = begin(name))
    return status;
  return Machine::get().breakCaptures() ? captureUnsupported : success;
}

StreamState *stateOf(Stream stream) { return reinterpret_cast<StreamState *>(stream); }
EventState *stateOf(Event event) { return reinterpret_cast<EventState *>(event); }

/// The default stream is not one to rely on.
int checkStream(const char *name, Stream stream) {
  if (!Machine::get().isStream(stateOf(stream)))
    return misuse(fmt::format("{}: is given no stream that cuStreamCreate made", name),
                  invalidHandle);
  return success;
}

size_t hashOf(const void *data, size_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char *>(data), bytes});
}

Access accessOf(Pointer pointer, size_t bytes, bool isWrite) {
  return {pointer, pointer + bytes, isWrite};
}
Access accessOf(const void *pointer, size_t bytes, bool isWrite) {
  auto address = reinterpret_cast<uint64_t>(pointer);
  return {address, address + bytes, isWrite};
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) int

//===-- Devices and contexts ------------------------------------------------------------------===//

EXPORT cuInit(unsigned) {
  isInitialised = true;
  int status = begin("cuInit", false);
  isInitialised = status == success;
  return status == success && Settings::get().devices == 0 ? noDevice : status;
}

EXPORT cuDriverGetVersion(int *version) {
  *version = Settings::get().version;
  return success;
}

EXPORT cuDeviceGetCount(int *count) {
  *count = Settings::get().devices;
  return begin("cuDeviceGetCount", false);
}
EXPORT cuDeviceGet(Ordinal *device, int ordinal) {
  if (int status = begin("cuDeviceGet", false))
    return status;
  *device = ordinal;
  return ordinal < Settings::get().devices ? success : invalidDevice;
}

EXPORT cuDeviceGetName(char *name, int bytes, Ordinal device) {
  std::string own = Settings::get().name;
  if (own.empty())
    own = fmt::format("Substitute GPU {}", device);
  std::snprintf(name, size_t(bytes), "%s", own.c_str());
  return begin("cuDeviceGetName", false);
}

EXPORT cuDeviceGetAttribute(int *value, int attribute, Ordinal) {
  const Settings &settings = Settings::get();
  switch (attribute) {
  case maxGridX:
    *value = 2147483647;
    break;
  case maxSharedPerBlock:
    *value = 49152;
    break;
  case capabilityMajor:
    *value = settings.architecture / 10;
    break;
  case capabilityMinor:
    *value = settings.architecture % 10;
    break;
  case maxSharedOptIn:
    *value = settings.sharedMost;
    break;
  default:
    return misuse(fmt::format("attribute {} of a device is not known here", attribute),
                  invalidValue);
  }
  return begin("cuDeviceGetAttribute", false);
}

EXPORT cuDevicePrimaryCtxRetain(Context *context, Ordinal) {
  if (int status = begin("cuDevicePrimaryCtxRetain", false))
    return status;
  Machine::get().hasContext = true;
  *context = reinterpret_cast<Context>(&Machine::get());
  return success;
}

EXPORT cuDevicePrimaryCtxRelease_v2(Ordinal) {
  Machine &machine = Machine::get();
  begin("cuDevicePrimaryCtxRelease_v2", false);
  if (!machine.hasContext)
    return misuse("a context is released that was not retained", invalidContext);
  machine.synchronizeAll();
  machine.hasContext = machine.isCurrent = false;
  machine.reportLeaks();
  writeCalls();
  return success;
}

EXPORT cuCtxSetCurrent(Context context) {
  if (int status = begin("cuCtxSetCurrent", false))
    return status;
  Machine::get().isCurrent = Machine::get().hasContext && context;
  return Machine::get().isCurrent ? success : invalidContext;
}

//===-- Memory --------------------------------------------------------------------------------===//

EXPORT cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = Machine::get().freeBytes();
  *total = Settings::get().memory;
  return begin("cuMemGetInfo_v2");
}

EXPORT cuMemAlloc_v2(Pointer *pointer, size_t bytes) {
  int status = beginUncaptured("cuMemAlloc_v2");
  return status ? status : Machine::get().allocate(pointer, bytes);
}

EXPORT cuMemFree_v2(Pointer pointer) {
  int status = beginUncaptured("cuMemFree_v2");
  // What a dead device holds goes all the same.
  int freed = Machine::get().release(pointer);
  return status ? status : freed;
}

EXPORT cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  int status = beginUncaptured("cuMemHostAlloc");
  return status ? status : Machine::get().allocatePinned(pointer, bytes);
}

EXPORT cuMemFreeHost(void *pointer) {
  int status = beginUncaptured("cuMemFreeHost");
  int freed = Machine::get().releasePinned(pointer);
  return status ? status : freed;
}

EXPORT cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes, Stream stream) {
  Machine &machine = Machine::get();
  if (int status = begin("cuMemcpyHtoDAsync_v2"))
    return status;
  if (int status = checkStream("cuMemcpyHtoDAsync", stream))
    return status;
  std::string what = "a copy to the device";
  if (!machine.checkDevice(to, bytes, what) || !machine.checkHost(from, bytes, what))
    return invalidValue;
  Work work;
  work.what = what;
  work.accesses = {accessOf(to, bytes, true)};
  if (!machine.isPinned(from)) {
    if (stateOf(stream)->isCapturing)
      return misuse("a copy of pageable memory is captured", captureUnsupported);
    // The driver has read pageable memory when it returns.
    work.run = [to, kept = std::string(static_cast<const char *>(from), bytes)] {
      std::memcpy(Machine::get().backing(to), kept.data(), kept.size());
    };
    return machine.enqueue(stateOf(stream), std::move(work));
  }
  work.accesses.push_back(accessOf(from, bytes, false));
  work.run = [to, from, bytes, before = hashOf(from, bytes)] {
    if (hashOf(from, bytes) != before)
      Machine::get().fault("pinned memory was written while a copy from it was on its way");
    std::memcpy(Machine::get().backing(to), from, bytes);
  };
  return machine.enqueue(stateOf(stream), std::move(work));
}

EXPORT cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes, Stream stream) {
  Machine &machine = Machine::get();
  if (int status = begin("cuMemcpyDtoHAsync_v2"))
    return status;
  if (int status = checkStream("cuMemcpyDtoHAsync", stream))
    return status;
  std::string what = "a copy to the host";
  if (!machine.checkDevice(from, bytes, what) || !machine.checkHost(to, bytes, what))
    return invalidValue;
  StreamState *own = stateOf(stream);
  bool isPinned = machine.isPinned(to);
  Work work;
  work.what = what;
  work.accesses = {accessOf(from, bytes, false)};
  if (isPinned)
    work.accesses.push_back(accessOf(to, bytes, true));
  else if (own->isCapturing)
    return misuse("a copy to pageable memory is captured", captureUnsupported);
  work.run = [to, from, bytes] { std::memcpy(to, Machine::get().backing(from), bytes); };
  if (int status = machine.enqueue(own, std::move(work)))
    return status;
  // The driver returns from a copy to pageable memory when it has ended.
  return isPinned ? success : machine.synchronize(own, own->count, own->clock);
}

EXPORT cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, Stream stream) {
  Machine &machine = Machine::get();
  if (int status = begin("cuMemcpyDtoDAsync_v2"))
    return status;
  if (int status = checkStream("cuMemcpyDtoDAsync", stream))
    return status;
  std::string what = "a copy on the device";
  if (!machine.checkDevice(to, bytes, what) || !machine.checkDevice(from, bytes, what))
    return invalidValue;
  auto run = [to, from, bytes] {
    std::memmove(Machine::get().backing(to), Machine::get().backing(from), bytes);
  };
  return machine.enqueue(stateOf(stream), {what,
                                           {accessOf(to, bytes, true), accessOf(from, bytes, false)},
                                           run});
}

/// Both kinds of filling.
template <typename T>
static int fill(const char *name, Pointer to, T value, size_t count, Stream stream) {
  Machine &machine = Machine::get();
  if (int status = begin(name))
    return status;
  if (int status = checkStream(name, stream))
    return status;
  if (!machine.checkDevice(to, count * sizeof(T), name))
    return invalidValue;
  if (to % sizeof(T))
    return misuse(fmt::format("{}: 0x{:x} is no multiple of {} bytes", name, to, sizeof(T)),
                  invalidValue);
  auto run = [to, value, count] {
    std::fill_n(reinterpret_cast<T *>(Machine::get().backing(to)), count, value);
  };
  return machine.enqueue(stateOf(stream), {name, {accessOf(to, count * sizeof(T), true)}, run});
}

EXPORT cuMemsetD32Async(Pointer to, unsigned word, size_t words, Stream stream) {
  return fill("cuMemsetD32Async", to, word, words, stream);
}

EXPORT cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes, Stream stream) {
  return fill("cuMemsetD8Async", to, value, bytes, stream);
}

//===-- Streams and events --------------------------------------------------------------------===//

EXPORT cuStreamCreate(Stream *stream, unsigned) {
  if (int status = begin("cuStreamCreate"))
    return status;
  *stream = reinterpret_cast<Stream>(Machine::get().makeStream());
  return success;
}

EXPORT cuStreamDestroy_v2(Stream stream) {
  int status = begin("cuStreamDestroy_v2");
  if (int wrong = checkStream("cuStreamDestroy", stream))
    return wrong;
  Machine::get().destroyStream(stateOf(stream));
  return status;
}

EXPORT cuStreamSynchronize(Stream stream) {
  if (int status = begin("cuStreamSynchronize"))
    return status;
  if (int status = checkStream("cuStreamSynchronize", stream))
    return status;
  StreamState *own = stateOf(stream);
  if (own->isCapturing) {
    own->isCaptureBroken = true;
    return captureUnsupported;
  }
  return Machine::get().synchronize(own, own->count, own->clock);
}

EXPORT cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  if (int status = begin("cuStreamWaitEvent"))
    return status;
  if (int status = checkStream("cuStreamWaitEvent", stream))
    return status;
  if (!liveEvents.contains(event))
    return misuse("cuStreamWaitEvent: is given no event", invalidHandle);
  if (stateOf(stream)->isCapturing) {
    stateOf(stream)->isCaptureBroken = true;
    return captureIsolation;
  }
  Machine::get().wait(stateOf(stream), *stateOf(event));
  return success;
}

EXPORT cuStreamBeginCapture_v2(Stream stream, int) {
  if (int status = begin("cuStreamBeginCapture_v2"))
    return status;
  if (int status = checkStream("cuStreamBeginCapture", stream))
    return status;
  if (stateOf(stream)->isCapturing)
    return misuse("a stream is captured twice", invalidValue);
  stateOf(stream)->isCapturing = true;
  return success;
}

EXPORT cuStreamEndCapture(Stream stream, Graph *graph) {
  int status = begin("cuStreamEndCapture");
  *graph = nullptr;
  if (int wrong = checkStream("cuStreamEndCapture", stream))
    return wrong;
  StreamState *own = stateOf(stream);
  if (!own->isCapturing)
    return misuse("a capture ends that did not begin", 401);
  std::vector<Work> works = std::move(own->captured);
  own->captured.clear();
  own->isCapturing = false;
  if (std::exchange(own->isCaptureBroken, false))
    return captureInvalidated;
  if (status)
    return status;
  *graph = reinterpret_cast<Graph>(new GraphState{std::move(works)});
  liveGraphs.insert(*graph);
  ++Machine::get().graphs;
  return success;
}

EXPORT cuEventCreate(Event *event, unsigned flags) {
  if (int status = begin("cuEventCreate"))
    return status;
  auto state = new EventState();
  state->hasTime = !(flags & eventWithoutTime);
  *event = reinterpret_cast<Event>(state);
  liveEvents.insert(*event);
  ++Machine::get().events;
  return success;
}

EXPORT cuEventDestroy_v2(Event event) {
  int status = begin("cuEventDestroy_v2");
  if (liveEvents.erase(event) == 0)
    return misuse("cuEventDestroy: is given no event", invalidHandle);
  delete stateOf(event);
  --Machine::get().events;
  return status;
}

EXPORT cuEventRecord(Event event, Stream stream) {
  if (int status = begin("cuEventRecord"))
    return status;
  if (int status = checkStream("cuEventRecord", stream))
    return status;
  if (!liveEvents.contains(event))
    return misuse("cuEventRecord: is given no event", invalidHandle);
  Machine::get().record(*stateOf(event), stateOf(stream));
  return success;
}

EXPORT cuEventSynchronize(Event event) {
  if (int status = begin("cuEventSynchronize"))
    return status;
  if (!liveEvents.contains(event))
    return misuse("cuEventSynchronize: is given no event", invalidHandle);
  EventState &own = *stateOf(event);
  return own.stream ? Machine::get().synchronize(own.stream, own.count, own.clock) : success;
}

EXPORT cuEventElapsedTime(float *milliseconds, Event first, Event last) {
  if (int status = begin("cuEventElapsedTime"))
    return status;
  for (Event event : {first, last}) {
    EventState &own = *stateOf(event);
    if (!own.hasTime || !own.stream)
      return misuse("a time is asked of an event without one", invalidHandle);
    if (own.stream->done < own.count)
      return notReady;
  }
  // A clock that depends on the work alone: a microsecond each.
  *milliseconds = 1e-3f * static_cast<float>(stateOf(last)->count - stateOf(first)->count);
  return success;
}

//===-- Code ----------------------------------------------------------------------------------===//

EXPORT cuModuleLoadDataEx(Module *module, const void *image, unsigned count, int *names,
                          void **values) {
  if (int status = beginUncaptured("cuModuleLoadDataEx"))
    return status;
  auto code = std::make_unique<LoadedCode>();
  if (int status = loadImage(static_cast<const char *>(image), *code)) {
    for (unsigned i = 0; i < count; ++i)
      if (names[i] == jitErrorLog && status == invalidPtx)
        std::strcpy(static_cast<char *>(values[i]), "ptxas substitute: cannot read it\n");
    return status;
  }
  *module = reinterpret_cast<Module>(code.release());
  liveModules.insert(*module);
  ++Machine::get().modules;
  return success;
}

EXPORT cuModuleUnload(Module module) {
  int status = beginUncaptured("cuModuleUnload");
  if (liveModules.erase(module) == 0)
    return misuse("cuModuleUnload: is given no module", invalidHandle);
  Machine::get().synchronizeAll();
  --Machine::get().modules;
  return status;
}

EXPORT cuModuleGetFunction(Kernel *kernel, Module module, const char *name) {
  if (int status = begin("cuModuleGetFunction"))
    return status;
  if (!liveModules.contains(module))
    return misuse("cuModuleGetFunction: is given no module", invalidHandle);
  auto code = reinterpret_cast<LoadedCode *>(module);
  const nap::emulator::HostKernel *found = findKernel(*code, name);
  if (!found)
    return notFound;
  // Kernels live as long as the process, as those of the driver do as long as their module.
  *kernel = reinterpret_cast<Kernel>(new KernelState{code, found});
  return success;
}

EXPORT cuFuncGetAttribute(int *value, int attribute, Kernel kernel) {
  if (int status = begin("cuFuncGetAttribute"))
    return status;
  const Settings &settings = Settings::get();
  auto own = reinterpret_cast<KernelState *>(kernel);
  switch (attribute) {
  case kernelMaxThreads:
    *value = std::min(settings.threads, static_cast<int>(own->kernel->threads));
    return success;
  case kernelStaticShared:
    *value = settings.shared;
    return success;
  case kernelMaxDynamicShared:
    *value = own->dynamicShared;
    return success;
  default:
    *value = 0;
    return success;
  }
}

EXPORT cuFuncSetAttribute(Kernel kernel, int attribute, int value) {
  if (int status = begin("cuFuncSetAttribute"))
    return status;
  if (attribute != kernelMaxDynamicShared ||
      value + Settings::get().shared > Settings::get().sharedMost)
    return invalidValue;
  reinterpret_cast<KernelState *>(kernel)->dynamicShared = value;
  return success;
}

EXPORT cuLaunchKernel(Kernel kernel, unsigned gridX, unsigned gridY, unsigned gridZ,
                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                      Stream stream, void **parameters, void **extra) {
  if (int status = begin("cuLaunchKernel"))
    return status;
  if (int status = checkStream("cuLaunchKernel", stream))
    return status;
  Machine &machine = Machine::get();
  auto own = reinterpret_cast<KernelState *>(kernel);
  std::string name = own->kernel->name;
  if (gridX == 0 || gridX > 2147483647u || gridY != 1 || gridZ != 1 || blockY != 1 ||
      blockZ != 1 || extra)
    return misuse(fmt::format("{}: a grid of {} x {} x {}", name, gridX, gridY, gridZ),
                  invalidValue);
  if (blockX == 0 || blockX > std::min<unsigned>(1024, own->kernel->threads))
    return misuse(fmt::format("{}: {} threads a block, and the text promises at most {}", name,
                              blockX, own->kernel->threads),
                  invalidValue);
  if (sharedBytes > static_cast<unsigned>(std::max(49152, own->dynamicShared)))
    return misuse(fmt::format("{}: {} bytes of shared memory that it was not given", name,
                              sharedBytes),
                  invalidValue);
  std::vector<Pointer> operands;
  for (unsigned i = 0; i < own->kernel->argumentCount; ++i) {
    Pointer pointer;
    std::memcpy(&pointer, parameters[i], sizeof(pointer));
    auto bytes = static_cast<size_t>(own->kernel->arguments[i].bytes);
    if (!machine.checkDevice(pointer, bytes,
                             fmt::format("{}: {}", name, own->kernel->arguments[i].name)))
      return invalidValue;
    operands.push_back(pointer);
  }
  return machine.enqueue(stateOf(stream), launchWork(own, gridX, blockX, std::move(operands)));
}

//===-- Graphs --------------------------------------------------------------------------------===//

EXPORT cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph, unsigned long long) {
  if (int status = begin("cuGraphInstantiateWithFlags"))
    return status;
  if (!liveGraphs.contains(graph))
    return misuse("cuGraphInstantiate: is given no graph", invalidHandle);
  *exec = reinterpret_cast<GraphExec>(new GraphState(*reinterpret_cast<GraphState *>(graph)));
  liveExecs.insert(*exec);
  ++Machine::get().execs;
  return success;
}

EXPORT cuGraphLaunch(GraphExec exec, Stream stream) {
  if (int status = begin("cuGraphLaunch"))
    return status;
  if (int status = checkStream("cuGraphLaunch", stream))
    return status;
  if (!liveExecs.contains(exec))
    return misuse("cuGraphLaunch: is given no graph", invalidHandle);
  auto state = reinterpret_cast<GraphState *>(exec);
  Work whole;
  whole.what = "a graph";
  for (const Work &work : state->works)
    whole.accesses.insert(whole.accesses.end(), work.accesses.begin(), work.accesses.end());
  whole.run = [state] {
    for (const Work &work : state->works)
      if (!Machine::get().dead)
        work.run();
  };
  return Machine::get().enqueue(stateOf(stream), std::move(whole));
}

EXPORT cuGraphExecDestroy(GraphExec exec) {
  int status = begin("cuGraphExecDestroy");
  if (liveExecs.erase(exec) == 0)
    return misuse("cuGraphExecDestroy: is given no graph", invalidHandle);
  Machine::get().synchronizeAll();
  delete reinterpret_cast<GraphState *>(exec);
  --Machine::get().execs;
  return status;
}

EXPORT cuGraphDestroy(Graph graph) {
  int status = begin("cuGraphDestroy");
  if (liveGraphs.erase(graph) == 0)
    return misuse("cuGraphDestroy: is given no graph", invalidHandle);
  delete reinterpret_cast<GraphState *>(graph);
  --Machine::get().graphs;
  return status;
}
