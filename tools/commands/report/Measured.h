// What an audited run measured of a step, for a report of the same model.
#pragma once

#include "passes/Report.h"
#include "llvm/Support/Error.h"

namespace nap {

/// Reads a file that `--audit-file` wrote (docs/runtime.md, Audit) of a run of the graph with this
/// hash; a sentence on what is wrong with it.
llvm::Expected<MeasuredStep> readMeasured(const std::string &path, llvm::StringRef graphHash);

} // namespace nap
