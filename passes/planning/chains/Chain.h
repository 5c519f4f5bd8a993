// Chains of layers: the best schedule of all.
#pragma once

#include "passes/planning/remat/Problem.h"

namespace nap::planning {

/// The fastest persistent schedule of a chain within `budget`: for every stretch of layers and
/// every amount of memory, either all of it is saved, or it runs up to some layer whose input is
/// then held while what is behind is reversed, and what is before afterwards (Griewank and Walther
/// 2000, Revolve; Beaumont et al. 2020, rotor). Exact where sizes are whole multiples of a 512th of
/// the budget, else sizes are rounded up. Empty where the problem is no chain of at most 256
/// layers, or nothing fits.
///
/// A chain is: steps 0 to L-1, each of which reads the one before and given tensors; at most one
/// step that reads the last of them; and L steps back, each of which reads its layer's input, its
/// layer's result, the step before it, or some of these.
Sequence solveChain(const RematProblem &problem, int64_t budget);

} // namespace nap::planning
