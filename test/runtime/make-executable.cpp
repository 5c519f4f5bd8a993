// make-executable: runtime, shared object and program text into one executable.

#include "runtime/files/Console.h"
#include "runtime/files/File.h"
#include "runtime/image/Executable.h"

#include <fmt/format.h>

using namespace napkin::runtime;

/// Prints an error; returns its status.
static int fail(const Error &error) {
  writeErrors(error.message + "\n");
  return static_cast<int>(error.status);
}

int main(int argc, char **argv) {
  if (argc != 5)
    return fail({"usage: make-executable OUT RUNTIME OBJECT PROGRAM", ExitStatus::wrongUsage});
  Result<std::string> object = readWholeFile(argv[3], 1 << 30);
  if (!object)
    return fail(object.error());
  Result<std::string> text = readWholeFile(argv[4], 1 << 30);
  if (!text)
    return fail(text.error());
  std::string problem;
  std::optional<Program> program = parseProgram(*text, problem);
  if (!program)
    return fail({problem});
  if (Failure failure =
          writeExecutable(argv[1], argv[2], std::as_bytes(std::span(*object)), *program))
    return fail(*failure);
  return 0;
}
