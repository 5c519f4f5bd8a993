// What the layers of a model pass on, measured in the graph itself.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace nap {

/// A tensor that one layer hands to another.
struct Activation {
  /// "h.0.attn", what the layer of this name returns; "h.0 before ln_2", what it makes for a layer
  /// inside it; "before fc2" outside of all layers.
  std::string layer;
  /// "4x64x768xf32".
  std::string type;
  int64_t elements = 0;
  /// Where the model file makes it.
  mlir::Location place;
};

/// What @predict returns of activation number k, a float each: "output k.mean" and so on. The
/// deviation is the square root of the mean squared distance from the mean.
inline constexpr const char *kActivationFigures[] = {"mean", "deviation", "most"};

/// Turns a frontend's module into one that initialises the model and, in @predict, runs its forward
/// pass once, as training does, and returns the mean, the deviation and the largest magnitude of
/// each activation that depends on an input and has more than one element. All other functions, and
/// the optimizer's states, go. Empty where the module has no @forward.
std::vector<Activation> measureActivations(mlir::ModuleOp module);

} // namespace nap
