// What the search finds for one function, placed when it is asked for.
#pragma once

#include "passes/memory/search/StepSearch.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace nap {

/// A sequence of one function and what it takes.
struct FunctionPlan {
  planning::Sequence sequence;
  /// Nanoseconds of one execution, and of what of it is computed again.
  int64_t time = 0, recomputedTime = 0;
  /// Work inside contractions of what is computed again.
  int64_t recomputedFlops = 0;
  /// Bytes of the transient part of the arena: as placed, and the largest sum that is live at once.
  int64_t height = 0, load = 0;
  /// Bytes that the forward pass leaves for the backward pass.
  int64_t saved = 0;
};

/// What a sequence takes once it is placed.
FunctionPlan planOf(const StepModel &model, planning::Sequence sequence);

/// The plan that the search finds for the least peak, and one for each of many budgets from there to
/// the program's own peak; none is placed lower than that of the least peak. To search takes a
/// while and is done once, when a plan above the least is wanted; to place a plan takes a while
/// too, so that where one is sought the others stay as they are.
class SearchedPlans {
public:
  explicit SearchedPlans(const StepModel &model) : search(model), model(model) {}

  StepSearch search;

  /// The plan of the least peak.
  const FunctionPlan &least();
  /// The fastest plan that is placed within so many bytes, the lowest of those that are as fast;
  /// null where there is none.
  const FunctionPlan *fastestWithin(int64_t height);
  /// The plans that no other beats in both height and time, the lowest first.
  std::vector<FunctionPlan> frontier();

private:
  struct Found {
    planning::Sequence sequence;
    /// Live bytes in the search's own model: kernels of two stages have more there.
    int64_t peak = 0, time = 0;
    /// Live bytes of the kernels, which no placement is below; -1 where nobody asked.
    int64_t load = -1;
    std::optional<FunctionPlan> placed = std::nullopt;
  };

  void find();
  const FunctionPlan &place(Found &plan);
  bool isWithin(Found &plan, int64_t height);

  const StepModel &model;
  std::optional<FunctionPlan> lowest;
  /// The fastest first, the one of the least peak among them; empty before the search.
  std::vector<Found> found;
};

/// Of all plans those that no other beats in both bytes and time, the fewest bytes first.
template <typename Plan, typename Bytes>
std::vector<Plan> withoutBeaten(std::vector<Plan> plans, Bytes bytesOf) {
  std::stable_sort(plans.begin(), plans.end(), [&](const Plan &a, const Plan &b) {
    return std::pair{bytesOf(a), a.time} < std::pair{bytesOf(b), b.time};
  });
  std::vector<Plan> best;
  for (Plan &plan : plans)
    if (best.empty() || plan.time < best.back().time)
      best.push_back(std::move(plan));
  return best;
}

} // namespace nap
