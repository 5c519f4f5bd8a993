// --micro-batch=auto: the samples that a step computes at a time.
#pragma once

#include "tools/commands/Model.h"

#include "passes/report/device/Device.h"

namespace nap {

/// Where the flags say `--micro-batch=auto`, adds the numbers that it stands for: `--micro-batch`
/// and `--accumulate`, with as many samples in a step as the other flags ask for. Of all divisors
/// of that number, each with the plan that nap-checkpoint would choose for it, the one of least
/// predicted time of a step within `--memory`; the largest of equal ones. Says on standard error
/// what it chose and why, unless the flags say `--quiet`. Fails where no model reads, and where
/// none fits.
ExitStatus chooseMicroBatch(ParsedFlags &flags, const Device &clock = referenceDevice());

} // namespace nap
