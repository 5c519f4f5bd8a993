// Writes over old versions, after every read of these.
#pragma once

#include "passes/planning/Recompute.h"

namespace nap::planning {

/// The sequence with each step that writes over an old version (`Recomputation::overwrites`) moved
/// behind the last read of that version in the sequence, clones of earlier steps among the readers;
/// what reads such a step's results moves with it. Everything else keeps its order.
///
/// In the program's order every read of an old version comes before the write over it, so that only
/// what is computed again can be in the way.
Sequence postponeOverwrites(const Recomputation &problem, const Sequence &sequence);

/// One sentence about a read of an old version after the step that writes over it; empty if there
/// is none. Independent of `postponeOverwrites`.
std::string checkOverwrites(const Recomputation &problem, const Sequence &sequence);

} // namespace nap::planning
