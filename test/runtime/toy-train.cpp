// toy-train: an executable's command line over a toy program.

#include "runtime/command/Command.h"
#include "test/runtime/ToyPrograms.h"

using namespace napkin::runtime;

/// The program named by the first argument; the rest is the command line.
static LoadedProgram programNamed(const std::string &name) {
  if (name == "bigram")
    return bigramProgram();
  if (name == "linear-1x4")
    return linearProgram(1, 4);
  if (name == "linear-2x2")
    return linearProgram(2, 2);
  return linearProgram(4, 1);
}

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string name = arguments.empty() ? "linear" : arguments[0];
  if (!arguments.empty())
    arguments.erase(arguments.begin());
  return static_cast<int>(runCommand(programNamed(name), arguments, name));
}
