// The model that was asked for, with other flags.
#pragma once

#include "tools/commands/Model.h"
#include "tools/commands/plan/Table.h"

#include <functional>

namespace nap {

/// The pass after which a module has all that a planner reads.
inline constexpr llvm::StringLiteral kBeforePlanning = "nap-schedule";

/// Compiles variants of a model up to its kernels, without a word to the user.
class Variants {
public:
  /// `flags` are those of the command line.
  Variants(ParsedFlags flags, const Device &device) : flags(std::move(flags)), device(device) {}

  using Flags = std::vector<std::pair<std::string, std::string>>;

  /// Calls back with the planner of the model under more flags; false if it does not compile so.
  bool plan(const Flags &more, const std::function<void(const ModulePlanner &)> &use) const;

private:
  ParsedFlags flags;
  const Device &device;
};

/// Sets `largestBatch` of the named rows, and returns that of the least plan, -1 where inputs have
/// no axis of samples: the largest micro-batch with which the plan is within `table.capacity` and
/// with one sample more is not, sought between 0 and 2^20.
int64_t findLargestBatches(PlanTable &table, const Variants &variants);

/// Sets `changes` of a table in which nothing fits.
void findChanges(PlanTable &table, const Variants &variants);

} // namespace nap
