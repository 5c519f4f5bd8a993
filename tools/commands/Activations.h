// napkin report --activations: what layers pass on before the first update.
#pragma once

#include "tools/commands/Model.h"

namespace nap {

/// Compiles the forward pass alone, runs it once on initial values and the flags' --data or drawn
/// inputs, and prints a line an activation: mean, deviation, largest magnitude.
ExitStatus reportActivations(const ParsedFlags &flags);

} // namespace nap
