// toy-train: an executable's command line over a toy program.

#include "runtime/command/Command.h"
#include "test/runtime/ToyPrograms.h"

using namespace napkin::runtime;

/// Writes 48 MiB that no plan knows of, once.
static void takeMemory(std::byte *const *, std::byte *, int64_t, int64_t) {
  constexpr size_t bytes = 48 << 20;
  static std::vector<std::byte> taken;
  if (taken.empty())
    taken.assign(bytes, std::byte{1});
}

/// The linear program, whose training step also launches `function`.
static LoadedProgram linearWith(const std::string &kernel, KernelFunction function) {
  LoadedProgram loaded = linearProgram(4, 1);
  Launch launch;
  launch.kernel = static_cast<int64_t>(loaded.kernels.size());
  loaded.program.kernels.push_back({kernel, kernel, 0, 0});
  loaded.kernels.push_back(function);
  for (Function &each : loaded.program.functions)
    if (each.name == "step")
      each.launches.push_back(launch);
  return loaded;
}

/// The linear program with a state of 48 MiB that is planned and that nobody writes.
static LoadedProgram linearWithUnusedState() {
  LoadedProgram loaded = linearProgram(4, 1);
  Program &program = loaded.program;
  TensorInfo state;
  state.name = "weight#unused";
  state.role = Role::state;
  state.owner = "weight";
  state.shape = {12 << 20};
  state.bytes = bytesOf(state.dtype, state.shape);
  state.offset = program.arenaBytes;
  program.arenaBytes += state.bytes;
  program.tensors.push_back(state);
  return loaded;
}

/// The program named by the first argument; the rest is the command line.
static LoadedProgram programNamed(const std::string &name) {
  if (name == "bigram")
    return bigramProgram();
  if (name == "linear-1x4")
    return linearProgram(1, 4);
  if (name == "linear-2x2")
    return linearProgram(2, 2);
  if (name == "linear-hungry")
    return linearWith("hungry", takeMemory);
  if (name == "linear-unused")
    return linearWithUnusedState();
  return linearProgram(4, 1);
}

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string name = arguments.empty() ? "linear" : arguments[0];
  if (!arguments.empty())
    arguments.erase(arguments.begin());
  return static_cast<int>(runCommand(programNamed(name), arguments, name));
}
