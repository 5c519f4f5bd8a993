// Command: the command line of an executable.

#ifndef NAPKIN_RUNTIME_COMMAND_COMMAND_H
#define NAPKIN_RUNTIME_COMMAND_COMMAND_H

#include "runtime/command/Flags.h"
#include "runtime/train/Run.h"

namespace napkin::runtime {

/// Turns `-D name=value` of run-time scalars into `RunOptions::definitions`. A choice that
/// compiling fixed is refused with a sentence, and so is an unknown name.
Failure readDefinitions(const Program &program, const ParsedFlags &flags, RunOptions &options);

/// Everything an executable does with its arguments (without the program's name).
ExitStatus runCommand(const LoadedProgram &loaded, std::span<const std::string> arguments,
                      std::string_view name);

} // namespace napkin::runtime

#endif
