// The rematerialization problem as an integer programme, for CBC.
#pragma once

#include "passes/planning/remat/Problem.h"

namespace napkin::test {

/// What CBC says of a problem.
struct IlpAnswer {
  /// Whether the search ended within its limit of nodes: `time` is then the least.
  bool isProven = false;
  /// Whether no sequence meets the budget.
  bool isInfeasible = false;
  int64_t time = 0;
  /// No sequence takes less.
  double bound = 0;
};

/// The fastest sequence in which first instances keep the order of their numbers, by the programme
/// of Checkmate (Jain et al. 2020, equations 1 to 9): stage t runs step t for the first time, after
/// steps before it that run again; R[t,i] says whether step i runs in stage t, S[t,i] whether its
/// result is held from stage t - 1, F[t,i,k] whether it ends with step k of stage t. One thread, at
/// most `nodes` nodes. Each step has one result. `known` is the time of a sequence within the
/// budget, or -1.
IlpAnswer solveByIlp(const nap::planning::RematProblem &problem, int64_t budget, int64_t nodes,
                     int64_t known = -1);

} // namespace napkin::test
