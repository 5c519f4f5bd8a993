// napkin-runtime: what every compiled executable is a copy of.

#include "runtime/command/Command.h"
#include "runtime/files/Console.h"
#include "runtime/image/Executable.h"

#include <fmt/format.h>

using namespace napkin::runtime;

/// The last part of a path.
static std::string nameOf(const std::string &path) { return path.substr(path.rfind('/') + 1); }

int main(int argc, char **argv) {
  std::string path = ownPath();
  std::string name = nameOf(path.empty() ? "napkin-runtime" : path);
  Result<std::unique_ptr<LoadedImage>> image = loadExecutable(path);
  if (!image) {
    writeErrors(fmt::format("{}: error: {}\n", name, image.error().message));
    return static_cast<int>(image.error().status);
  }
  std::vector<std::string> arguments(argv + 1, argv + argc);
  return static_cast<int>(runCommand((*image)->loaded, arguments, name));
}
