// Rematerialization problems and schedules as JSON.
#pragma once

#include "passes/planning/remat/Problem.h"
#include "tools/plan/Problem.h"

namespace nap::plan {

/// A problem of which every node has one result: node n writes tensor n.
struct RematFile {
  planning::RematProblem problem;
  /// Per step, its node; given nodes are no steps.
  std::vector<int64_t> nodeOf;
  std::optional<int64_t> budget;
  /// Whether first instances may change places.
  bool mayMove = true;
};

/// An error names the file and the node.
rt::Result<RematFile> readRematFile(const Text &text);

/// A schedule as nodes by number, on lines of a readable length.
std::string writeSchedule(const RematFile &file, const planning::Sequence &sequence);
rt::Result<planning::Sequence> readSchedule(const Text &text, const RematFile &file);

} // namespace nap::plan
