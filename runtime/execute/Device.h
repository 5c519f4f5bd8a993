// Device: where a program's functions run, and its memory.

#ifndef NAPKIN_RUNTIME_EXECUTE_DEVICE_H
#define NAPKIN_RUNTIME_EXECUTE_DEVICE_H

#include "runtime/Program.h"
#include "runtime/Status.h"

#include <string>

namespace napkin::runtime {

class Arena;

/// Is told of every launch, when it has ended.
class LaunchObserver {
public:
  virtual ~LaunchObserver() = default;
  /// `launch` is number `index` of `function`; times are of one steady clock, in nanoseconds.
  virtual void ended(const Function &function, int64_t index, const Launch &launch,
                     int64_t beganAt, int64_t endedAt) = 0;
};

/// Runs the functions of one program on memory that may be the device's own. The host writes and
/// reads tensors at `data`; what it wrote is the device's after `push`, and what a function wrote
/// is there after `settle` where it is a result of one element, else after `pull`. Where the
/// device's memory is the host's, these do nothing.
class Device {
public:
  virtual ~Device() = default;

  /// The bytes of a tensor as the host sees them. Waits where they are still being copied.
  virtual std::byte *data(int64_t tensor) = 0;
  /// Hands over what the host wrote into a tensor. Inputs, scalars and random words are the
  /// device's for the functions that run from now on; all others at once.
  virtual Failure push(int64_t tensor) = 0;
  /// Brings a tensor to where the host sees it.
  virtual Failure pull(int64_t tensor) = 0;
  /// Runs all launches of a function, or begins to.
  virtual Failure run(int64_t function) = 0;
  /// Waits until everything that was begun has ended; what failed of it is told here.
  virtual Failure settle() = 0;
  /// True if `run` returns while the function still runs: the next batch may then be gathered.
  virtual bool runsAhead() const = 0;
  /// At most one observer; null: none.
  virtual void setObserver(LaunchObserver *observer) = 0;
  /// Threads of the host that run kernels.
  virtual int workers() const = 0;
  /// Bytes that the program takes of the device's memory.
  virtual int64_t bytesTaken() const = 0;
  /// Bytes that the device's driver counts as taken since it was opened, of other processes too.
  virtual int64_t bytesMeasured() = 0;
  /// The host's memory that the program is in; null where it is the device's own.
  virtual const Arena *hostMemory() const = 0;
};

} // namespace napkin::runtime

#endif
