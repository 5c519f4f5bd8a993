// Executor: the host as a device, on its own threads.

#ifndef NAPKIN_RUNTIME_EXECUTE_EXECUTOR_H
#define NAPKIN_RUNTIME_EXECUTE_EXECUTOR_H

#include "runtime/execute/Device.h"
#include "runtime/execute/WorkerPool.h"

#include <string>
#include <vector>

namespace napkin::runtime {

/// Nanoseconds of the steady clock.
int64_t nowNanoseconds();

/// Operand pointers are made once; running allocates nothing. Memory is the host's, so copies do
/// nothing and every function has ended when `run` returns.
class Executor : public Device {
public:
  /// `loaded` outlives the executor. With `poison` what dies is overwritten after each launch, so
  /// that a read of it shows.
  Executor(const LoadedProgram &loaded, Arena memory, int threads, bool poison);

  std::byte *data(int64_t tensor) override {
    return arena.at(loaded.program.tensors[tensor].offset);
  }
  Failure push(int64_t) override { return std::nullopt; }
  Failure pull(int64_t) override { return std::nullopt; }
  Failure run(int64_t function) override;
  Failure settle() override { return std::nullopt; }
  bool runsAhead() const override { return false; }
  void setObserver(LaunchObserver *other) override { observer = other; }
  int workers() const override { return pool.workers(); }
  int64_t bytesTaken() const override { return arena.mappedBytes(); }
  int64_t bytesMeasured() override { return arena.mappedBytes(); }
  const Arena *hostMemory() const override { return &arena; }

private:
  const LoadedProgram &loaded;
  Arena arena;
  WorkerPool pool;
  /// By function, all launches' operands one after the other.
  std::vector<std::vector<std::byte *>> operands;
  LaunchObserver *observer = nullptr;
  const bool poison;
};

/// Finds the first launch that wrote a value that is not finite.
class NanFinder : public LaunchObserver {
public:
  NanFinder(const Program &program, Device &device) : program(program), device(device) {}
  void ended(const Function &function, int64_t index, const Launch &launch, int64_t beganAt,
             int64_t endedAt) override;
  /// Forgets what was found.
  void clear();
  /// One sentence naming the launch, its tensor and line; empty where all was finite. An infinity
  /// counts only where no nan follows it: masks hold infinities.
  std::string finding() const { return nan.empty() ? infinity : nan; }
  /// True once a nan was written.
  bool foundNan() const { return !nan.empty(); }

private:
  const Program &program;
  Device &device;
  std::string nan;
  std::string infinity;
};

} // namespace napkin::runtime

#endif
