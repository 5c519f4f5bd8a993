// Session: a loaded program on its device.

#ifndef NAPKIN_RUNTIME_EXECUTE_SESSION_H
#define NAPKIN_RUNTIME_EXECUTE_SESSION_H

#include "runtime/Program.h"
#include "runtime/Status.h"
#include "runtime/execute/Executor.h"

#include <memory>
#include <span>

namespace napkin::runtime {

/// How a session runs.
struct SessionOptions {
  int threads = 0;     ///< workers; 0: as many as the process may use
  bool poison = false; ///< overwrite memory that dies; the environment's NAPKIN_POISON=1 does too
};

/// Runs functions of one program on tensors in one arena. Tensors that persist (parameters, states,
/// buffers, inputs, scalars) keep their values between runs; results can be read until the next
/// run.
class Session {
public:
  /// Allocates everything that running needs. `loaded` outlives the session.
  static Result<std::unique_ptr<Session>> create(const LoadedProgram &loaded,
                                                 const SessionOptions &options = {});
  /// A session on a device that was made for this program.
  Session(const LoadedProgram &loaded, std::unique_ptr<Device> device);

  const Program &program() const { return loaded.program; }
  Device &device() const { return *place; }
  int workers() const { return place->workers(); }

  /// The index of a function, or -1.
  int64_t functionIndex(std::string_view name) const;
  /// The bytes of a tensor where the host sees them; `Device` says when they are the device's.
  std::byte *data(int64_t tensor) const { return place->data(tensor); }
  /// Its bytes as a span.
  std::span<std::byte> bytes(int64_t tensor) const;

  /// Runs a function by index; a device may still run it when this returns.
  Failure run(int64_t function) { return place->run(function); }
  /// Runs a function by index to its end.
  Failure runToEnd(int64_t function);
  /// Runs a function by name to its end; fails if there is none.
  Failure run(std::string_view function);

  /// Copies `size` bytes, which must be the tensor's size, into the persistent tensor `name`.
  Failure setTensor(std::string_view name, const void *source, int64_t size);
  /// Copies the persistent tensor `name` out.
  Result<std::vector<std::byte>> getTensor(std::string_view name) const;
  /// Copies the result `name` of `function` out; valid after that function ran.
  Result<std::vector<std::byte>> getResult(std::string_view function, std::string_view name) const;

  /// Writes a scalar by index, rounded to its type.
  void setScalar(int64_t tensor, double value);
  /// Reads the first element of a scalar, or of a result that has one element, of a function that
  /// has ended.
  double scalar(int64_t tensor) const;
  /// Writes the random words of the program, if it has any.
  void setRandom(uint64_t seed, uint32_t step, uint32_t microBatch);
  /// Writes every scalar's default value.
  void setDefaultScalars();

  /// Watches launches; null: nobody.
  void setObserver(LaunchObserver *observer) { place->setObserver(observer); }

  /// How often inputs were handed over: who gathered a batch early sees whether it still stands.
  int64_t batchesPushed() const { return batches; }
  /// Hands over inputs that were just filled.
  Failure pushInputs(std::span<const int64_t> inputs);

private:
  const LoadedProgram &loaded;
  std::unique_ptr<Device> place;
  int64_t batches = 0;
  int64_t randomTensor = -1;
};

} // namespace napkin::runtime

#endif
