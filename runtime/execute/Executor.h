// Executor: runs the launches of a function in order.

#ifndef NAPKIN_RUNTIME_EXECUTE_EXECUTOR_H
#define NAPKIN_RUNTIME_EXECUTE_EXECUTOR_H

#include "runtime/Program.h"
#include "runtime/execute/WorkerPool.h"

#include <string>
#include <vector>

namespace napkin::runtime {

/// Is told of every launch, when it has ended.
class LaunchObserver {
public:
  virtual ~LaunchObserver() = default;
  /// `launch` is number `index` of `function`; times are of the steady clock, in nanoseconds.
  virtual void ended(const Function &function, int64_t index, const Launch &launch,
                     int64_t beganAt, int64_t endedAt) = 0;
};

/// Nanoseconds of the steady clock.
int64_t nowNanoseconds();

/// Operand pointers are made once; running allocates nothing.
class Executor {
public:
  /// All three outlive the executor.
  Executor(const LoadedProgram &loaded, const Arena &arena, WorkerPool &pool);

  /// Runs all launches of `program.functions[function]`.
  void run(int64_t function);

  /// Overwrite what dies after each launch, so that a read of it shows.
  void setPoison(bool on) { poison = on; }
  /// At most one observer; null: none.
  void setObserver(LaunchObserver *other) { observer = other; }

private:
  const LoadedProgram &loaded;
  const Arena &arena;
  WorkerPool &pool;
  /// By function, all launches' operands one after the other.
  std::vector<std::vector<std::byte *>> operands;
  LaunchObserver *observer = nullptr;
  bool poison = false;
};

/// Finds the first launch that wrote a value that is not finite.
class NanFinder : public LaunchObserver {
public:
  NanFinder(const Program &program, const Arena &arena) : program(program), arena(arena) {}
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
  const Arena &arena;
  std::string nan;
  std::string infinity;
};

} // namespace napkin::runtime

#endif
