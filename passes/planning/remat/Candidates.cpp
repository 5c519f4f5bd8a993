// Candidates by what they promise.
#include "passes/planning/remat/Candidates.h"
#include "passes/planning/remat/Rematerialize.h"

#include <algorithm>
#include <tuple>

using namespace nap::planning;

/// An action frees the tensor from its last use, `touch`, to its next reader, and runs at least its
/// writer again. What comes with it (others that are written again, inputs that stay) is another
/// candidate's, or takes bytes. What nothing has read yet is only put off, for nothing.
double RematCandidates::promiseOf(const RematState &state, int64_t tensor, int64_t touch,
                                  int64_t before) const {
  int64_t last = touch / 2, writer = facts.writerOf[tensor];
  bool isPutOff = (touch & 1) && (mayMove || !state.isFirst[last]);
  if (!isPutOff && !facts.problem.recomputable[writer])
    return 0;
  double area = state.mostTakenOff(last + 1, before, facts.sizes[tensor]);
  return areaPerTime(area, isPutOff ? 0 : facts.problem.costs[writer]);
}

std::vector<RematCandidate> RematCandidates::at(const RematState &state, int64_t low) const {
  bool isShort = facts.problem.isShort();
  std::vector<RematCandidate> result;
  for (int64_t tensor = 0; tensor < int64_t(facts.sizes.size()); ++tensor) {
    if (facts.sizes[tensor] == 0)
      continue;
    std::span<const int64_t> touches = state.touches(tensor);
    auto after = std::lower_bound(touches.begin(), touches.end(), 2 * low);
    if (after == touches.begin())
      continue;
    bool isAtEnd = after == touches.end();
    if (isAtEnd ? !facts.isKept[tensor] : *after / 2 == low || (*after & 1))
      continue;
    RematCandidate candidate{tensor, isAtEnd ? state.length() : *after / 2, 0};
    candidate.promise = promiseOf(state, tensor, *std::prev(after), candidate.before);
    if (isShort || candidate.promise > 0)
      result.push_back(candidate);
  }
  if (isShort)
    return result;
  auto isTired = [&](const RematCandidate &one) { return one.promise <= barren[one.tensor]; };
  std::sort(result.begin(), result.end(), [&](const RematCandidate &a, const RematCandidate &b) {
    return std::tuple{isTired(a), -a.promise, a.tensor} <
           std::tuple{isTired(b), -b.promise, b.tensor};
  });
  return result;
}
