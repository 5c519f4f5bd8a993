// Orders of low peak, every step once.
#pragma once

#include "passes/planning/remat/Problem.h"

namespace nap::planning {

/// The order of least peak among several: the given one; that with steps that free bytes as soon as
/// they can run, or with steps that add bytes as late as they can; greedy ones (least bytes added,
/// most freed; forwards and from the end back); and a depth-first one from the results with the
/// larger part first. Of equal ones the first of these. A new version in place comes after every
/// reader of the old one, and steps from `parting` on after all before it, as in the given order.
Sequence bestOfOrders(const RematProblem &problem, int64_t parting = 0);

/// An order of least peak of all, by dynamic programming over the sets of steps that may have run
/// (Ahn et al. 2020, SERENITY), below `known` bytes and parted alike. Empty where there is none
/// below, for more than 64 steps, or where one size of sets has more than `mostSets` members.
Sequence exactOrder(const RematProblem &problem, int64_t known, size_t mostSets = size_t(1) << 20,
                    int64_t parting = 0);

} // namespace nap::planning
