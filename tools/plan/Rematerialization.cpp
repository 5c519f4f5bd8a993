// Rematerialization problems: JSON in, a schedule out.
#include "tools/plan/Problem.h"

#include <fmt/format.h>

using namespace nap::plan;

static rt::Error isNoProblem(const Text &problem) {
  return {fmt::format("{}: holds JSON; an allocation problem is CSV whose first line is "
                      "id,lower,upper,size",
                      problem.path)};
}

rt::Result<Outcome> nap::plan::solveRematerialization(const Text &problem, const Options &) {
  return isNoProblem(problem);
}

rt::Result<std::string> nap::plan::checkRematerialization(const Text &problem, const Text &,
                                                          const Options &) {
  return isNoProblem(problem);
}
