// A function of kernels as the planner's problem.
#pragma once

#include "passes/MemoryModel.h"
#include "passes/planning/remat/Problem.h"

namespace nap {

/// Builds a problem from steps over a function's tensors. Tensors that lie in declarations take no
/// bytes, others what they take in the arena. A step that writes a part of a tensor has besides a
/// result of no bytes, which the readers of the tensor read that are added behind it; so the part
/// that was written first stays the first.
class KernelProblem {
public:
  /// No steps yet; the tensors, and which new version is written over which old one.
  KernelProblem(const FunctionMemory &memory, const std::vector<bool> &isFixed);
  /// Every step of the function, once, for free.
  explicit KernelProblem(const FunctionMemory &memory);

  void add(planning::Step step, int64_t cost, bool isRepeatable);

  planning::RematProblem problem;

private:
  /// Per tensor: the results of no bytes of the steps so far that write a part of it.
  std::vector<std::vector<int64_t>> partsOf;
};

} // namespace nap
