// driver-misuse: does one wrong thing with the driver, to see that the substitute tells it.
//
// Usage: driver-misuse CASE. Prints the statuses of the calls that are in question.

#include "runtime/cuda/Driver.h"
#include "test/Check.h"

#include <cstring>
#include <functional>
#include <map>

using namespace napkin::runtime;
using namespace napkin::runtime::cuda;

namespace {

constexpr size_t bytes = 4096;

/// A context with what the cases use.
struct Fixture {
  const Driver &driver;
  Context context = nullptr;
  Stream first = nullptr, second = nullptr;
  Event event = nullptr;
  Pointer memory = 0, other = 0;
  char *pinned = nullptr;

  explicit Fixture(const Driver &driver) : driver(driver) {
    driver.contextRetain(&context, 0);
    driver.contextSetCurrent(context);
    driver.streamCreate(&first, streamNonBlocking);
    driver.streamCreate(&second, streamNonBlocking);
    driver.eventCreate(&event, eventWithoutTime);
    driver.memoryAlloc(&memory, bytes);
    driver.memoryAlloc(&other, bytes);
    void *taken = nullptr;
    driver.hostAlloc(&taken, bytes, 0);
    pinned = static_cast<char *>(taken);
    std::memset(pinned, 1, bytes);
  }
  ~Fixture() {
    for (Stream stream : {first, second})
      driver.streamDestroy(stream);
    driver.eventDestroy(event);
    for (Pointer pointer : {memory, other})
      if (pointer)
        driver.memoryFree(pointer);
    driver.hostFree(pinned);
    driver.contextRelease(0);
  }
  void say(const char *what, int status) const {
    fmt::print("{}: {}\n", what, status == success ? "done" : nameOfStatus(driver, status));
  }
};

Pointer asPointer(void *pointer) { return reinterpret_cast<Pointer>(pointer); }

const std::map<std::string, std::function<void(Fixture &)>> cases = {
    {"right",
     [](Fixture &f) {
       f.driver.copyToDevice(f.memory, f.pinned, bytes, f.second);
       f.driver.eventRecord(f.event, f.second);
       f.driver.streamWaitEvent(f.first, f.event, 0);
       f.driver.copyOnDevice(f.other, f.memory, bytes, f.first);
       f.driver.streamSynchronize(f.first);
       std::memset(f.pinned, 2, bytes);
       f.driver.copyToHost(f.pinned, f.other, bytes, f.first);
       f.say("wait", f.driver.streamSynchronize(f.first));
       fmt::print("byte {}\n", int(f.pinned[0]));
     }},
    {"unordered",
     [](Fixture &f) {
       f.driver.copyToDevice(f.memory, f.pinned, bytes, f.second);
       f.driver.copyOnDevice(f.other, f.memory, bytes, f.first);
       f.say("wait", f.driver.streamSynchronize(f.first));
     }},
    {"too-early-an-event",
     [](Fixture &f) {
       f.driver.eventRecord(f.event, f.second);
       f.driver.copyToDevice(f.memory, f.pinned, bytes, f.second);
       f.driver.streamWaitEvent(f.first, f.event, 0);
       f.driver.copyOnDevice(f.other, f.memory, bytes, f.first);
     }},
    {"written-while-read",
     [](Fixture &f) {
       f.driver.copyToDevice(f.memory, f.pinned, bytes, f.first);
       f.pinned[17] = 3;
       f.say("wait", f.driver.streamSynchronize(f.first));
     }},
    {"not-waited-for",
     [](Fixture &f) {
       f.driver.fillBytes(f.memory, 7, bytes, f.first);
       f.driver.copyToHost(f.pinned, f.memory, bytes, f.first);
       fmt::print("byte {} before\n", int(f.pinned[0]));
       f.driver.streamSynchronize(f.first);
       fmt::print("byte {} after\n", int(f.pinned[0]));
     }},
    {"host-pointer",
     [](Fixture &f) {
       f.say("copy", f.driver.copyOnDevice(f.memory, asPointer(f.pinned), bytes, f.first));
     }},
    {"device-pointer",
     [](Fixture &f) {
       void *wrong = reinterpret_cast<void *>(f.other);
       f.say("copy", f.driver.copyToDevice(f.memory, wrong, bytes, f.first));
     }},
    {"beyond",
     [](Fixture &f) {
       f.say("copy", f.driver.copyToDevice(f.memory + 8, f.pinned, bytes, f.first));
     }},
    {"after-free",
     [](Fixture &f) {
       f.driver.memoryFree(f.other);
       f.say("fill", f.driver.fillBytes(std::exchange(f.other, 0), 0, bytes, f.first));
     }},
    {"freed-twice",
     [](Fixture &f) {
       f.driver.memoryFree(f.other);
       f.say("free", f.driver.memoryFree(std::exchange(f.other, 0)));
     }},
    {"misaligned",
     [](Fixture &f) { f.say("fill", f.driver.fillWords(f.memory + 2, 0, 4, f.first)); }},
    {"not-given-back", [](Fixture &f) { f.other = 0; }},
    {"captured-wait",
     [](Fixture &f) {
       f.driver.streamBeginCapture(f.first, captureThreadLocal);
       f.driver.fillBytes(f.memory, 7, bytes, f.first);
       f.say("wait", f.driver.streamSynchronize(f.first));
       Graph graph = nullptr;
       f.say("end", f.driver.streamEndCapture(f.first, &graph));
     }},
    {"captured-allocation",
     [](Fixture &f) {
       f.driver.streamBeginCapture(f.first, captureThreadLocal);
       Pointer more = 0;
       f.say("allocation", f.driver.memoryAlloc(&more, bytes));
       Graph graph = nullptr;
       f.say("end", f.driver.streamEndCapture(f.first, &graph));
     }},
    {"captured-event",
     [](Fixture &f) {
       f.driver.eventRecord(f.event, f.second);
       f.driver.streamBeginCapture(f.first, captureThreadLocal);
       f.say("wait", f.driver.streamWaitEvent(f.first, f.event, 0));
       Graph graph = nullptr;
       f.say("end", f.driver.streamEndCapture(f.first, &graph));
     }},
    {"graph-unordered",
     [](Fixture &f) {
       f.driver.streamBeginCapture(f.first, captureThreadLocal);
       f.driver.fillBytes(f.memory, 7, bytes, f.first);
       Graph graph = nullptr;
       GraphExec exec = nullptr;
       f.driver.streamEndCapture(f.first, &graph);
       f.driver.graphInstantiate(&exec, graph, 0);
       f.driver.graphDestroy(graph);
       f.driver.copyToDevice(f.memory, f.pinned, bytes, f.second);
       f.say("launch", f.driver.graphLaunch(exec, f.first));
       f.driver.graphExecDestroy(exec);
     }},
    {"no-context",
     [](Fixture &f) {
       f.driver.contextSetCurrent(nullptr);
       Pointer more = 0;
       f.say("allocation", f.driver.memoryAlloc(&more, bytes));
     }},
    {"time-without",
     [](Fixture &f) {
       f.driver.eventRecord(f.event, f.first);
       float milliseconds = 0;
       f.say("time", f.driver.eventElapsedTime(&milliseconds, f.event, f.event));
     }},
};

} // namespace

int main(int argc, char **argv) {
  auto found = cases.find(argc > 1 ? argv[1] : "");
  if (found == cases.end())
    return 2;
  Result<const Driver *> driver = openDriver();
  if (!driver) {
    fmt::print("{}\n", driver.error().message);
    return 2;
  }
  Fixture fixture(**driver);
  found->second(fixture);
  std::fflush(stdout);
  return 0;
}
