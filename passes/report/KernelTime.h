// How long work takes at the roof of a device.
#pragma once

#include "passes/report/Costs.h"
#include "passes/report/device/Device.h"

namespace nap {

/// The least time of some work on a device, in seconds: arithmetic at its peaks beside traffic at
/// full bandwidth (Williams, Waterman and Patterson 2009), and what a launch takes.
struct RoofTime {
  double compute = 0, memory = 0, launch = 0;

  /// What takes longer: "compute", "memory", or "both" where they are equal.
  llvm::StringRef bound() const {
    return compute > memory ? "compute" : compute < memory ? "memory" : "both";
  }
  /// max(compute, memory) + launch.
  double total() const { return std::max(compute, memory) + launch; }
};

/// The time of `work` that moves `bytes`: each product at the peak of its types, additions and
/// comparisons at the vector peak, functions at theirs; no launch.
RoofTime roofTime(const Work &work, Count bytes, const Device &device);

/// The predicted nanoseconds of one execution of a kernel, a launch or a graph op: by the device's
/// `timeOf` where it has one, else at its roof with the launch; 0 where nothing is computed or
/// moved.
double kernelTime(mlir::Operation *kernel, const mlir::SymbolTable &symbols,
                  const Device &device = referenceDevice());

} // namespace nap
