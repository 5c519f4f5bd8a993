// Run: everything that one command asks of a program.

#ifndef NAPKIN_RUNTIME_TRAIN_RUN_H
#define NAPKIN_RUNTIME_TRAIN_RUN_H

#include "runtime/train/RunOptions.h"

namespace napkin::runtime {

/// Loads or initialises the weights, trains, evaluates, writes outputs, samples. Results go to
/// standard output, progress and errors ("NAME: error: ...") to standard error.
ExitStatus runProgram(const LoadedProgram &loaded, const RunOptions &options,
                      std::string_view name);

} // namespace napkin::runtime

#endif
