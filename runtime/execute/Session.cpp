// Session: tensors by name, numbers by index.

#include "runtime/execute/Session.h"

#include "runtime/Numbers.h"
#include "runtime/device/TileRegisters.h"

#include <cstring>
#include <fmt/format.h>

namespace napkin::runtime {

/// The budget counts the scratch of as many workers as there were processors where the program
/// was compiled.
static Failure checkBudget(const Program &program, int threads) {
  int64_t bytes = program.arenaBytes + threads * program.scratchBytesPerWorker;
  if (program.memoryBudget == 0 || bytes <= program.memoryBudget)
    return std::nullopt;
  int64_t left = program.memoryBudget - program.arenaBytes;
  int64_t fit = program.scratchBytesPerWorker ? left / program.scratchBytesPerWorker : 0;
  return Error{fmt::format("with {} workers {} bytes are needed, {} were given when it was "
                           "compiled; give --threads {} or compile it with a larger --memory",
                           threads, bytes, program.memoryBudget, std::max<int64_t>(fit, 1)),
               ExitStatus::infeasibleBudget};
}

Result<std::unique_ptr<Session>> Session::create(const LoadedProgram &loaded,
                                                 const SessionOptions &options) {
  if (std::string problem = checkProgram(loaded.program); !problem.empty())
    return Error{problem};
  if (loaded.kernels.size() != loaded.program.kernels.size())
    return Error{fmt::format("program: it has {} kernels and {} were loaded",
                             loaded.program.kernels.size(), loaded.kernels.size())};
  if (loaded.program.tileRegisters)
    if (Failure denied = requestTileRegisters())
      return *denied;
  int threads = options.threads > 0 ? options.threads : usableProcessors();
  if (Failure failure = checkBudget(loaded.program, threads))
    return *failure;
  Result<Arena> arena =
      Arena::create(loaded.program.arenaBytes, loaded.program.scratchBytesPerWorker, threads);
  if (!arena)
    return arena.error();
  auto executor = std::make_unique<Executor>(loaded, std::move(*arena), threads,
                                             options.poison || isPoisonWanted());
  return std::make_unique<Session>(loaded, std::move(executor));
}

Session::Session(const LoadedProgram &loaded, std::unique_ptr<Device> device)
    : loaded(loaded), place(std::move(device)) {
  for (size_t i = 0; i < program().tensors.size(); ++i)
    if (program().tensors[i].role == Role::random)
      randomTensor = static_cast<int64_t>(i);
  setDefaultScalars();
}

int64_t Session::functionIndex(std::string_view name) const {
  const Function *function = findFunction(program(), name);
  return function ? function - program().functions.data() : -1;
}

std::span<std::byte> Session::bytes(int64_t tensor) const {
  return {data(tensor), static_cast<size_t>(program().tensors[tensor].bytes)};
}

Failure Session::runToEnd(int64_t function) {
  if (Failure failure = run(function))
    return failure;
  return place->settle();
}

Failure Session::run(std::string_view name) {
  int64_t index = functionIndex(name);
  if (index < 0)
    return Error{fmt::format("the program has no function '{}'", name)};
  return runToEnd(index);
}

Failure Session::pushInputs(std::span<const int64_t> inputs) {
  ++batches;
  for (int64_t input : inputs)
    if (Failure failure = place->push(input))
      return failure;
  return std::nullopt;
}

Failure Session::setTensor(std::string_view name, const void *source, int64_t size) {
  int64_t index = findTensor(program(), name);
  if (index < 0)
    return Error{fmt::format("the program has no tensor '{}'", name)};
  int64_t wanted = program().tensors[index].bytes;
  if (size != wanted)
    return Error{fmt::format("tensor '{}' has {} bytes and {} were given", name, wanted, size)};
  std::memcpy(data(index), source, static_cast<size_t>(size));
  return place->push(index);
}

Result<std::vector<std::byte>> Session::getTensor(std::string_view name) const {
  int64_t index = findTensor(program(), name);
  if (index < 0)
    return Error{fmt::format("the program has no tensor '{}'", name)};
  if (Failure failure = place->pull(index))
    return *failure;
  std::span<std::byte> content = bytes(index);
  return std::vector<std::byte>(content.begin(), content.end());
}

Result<std::vector<std::byte>> Session::getResult(std::string_view functionName,
                                                  std::string_view name) const {
  const Function *function = findFunction(program(), functionName);
  if (!function)
    return Error{fmt::format("the program has no function '{}'", functionName)};
  auto found = function->results.find(std::string(name));
  if (found == function->results.end())
    return Error{fmt::format("function '{}' has no result '{}'", functionName, name)};
  if (Failure failure = place->pull(found->second))
    return *failure;
  std::span<std::byte> content = bytes(found->second);
  return std::vector<std::byte>(content.begin(), content.end());
}

void Session::setScalar(int64_t tensor, double value) {
  storeElement(program().tensors[tensor].dtype, data(tensor), 0, value);
  // A scalar waits for the next function, which tells what fails.
  static_cast<void>(place->push(tensor));
}

double Session::scalar(int64_t tensor) const {
  return loadElement(program().tensors[tensor].dtype, data(tensor), 0);
}

void Session::setRandom(uint64_t seed, uint32_t step, uint32_t microBatch) {
  if (randomTensor < 0)
    return;
  uint32_t words[4] = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), step,
                       microBatch};
  std::memcpy(data(randomTensor), words, sizeof(words));
  static_cast<void>(place->push(randomTensor));
}

void Session::setDefaultScalars() {
  for (size_t i = 0; i < program().tensors.size(); ++i)
    if (program().tensors[i].role == Role::scalar)
      setScalar(static_cast<int64_t>(i), program().tensors[i].value);
}

} // namespace napkin::runtime
