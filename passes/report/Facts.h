// What a model's forward graph tells of its size, and what rules of thumb make of that.
#pragma once

#include "passes/report/ModelFlops.h"

#include <optional>
#include <string>
#include <vector>

namespace nap {

/// Forward FLOPs by what they are for.
struct ModelPart {
  /// "h.N.mlp.c_fc", "attention scores", "other products".
  std::string name;
  ModelFlops flops;
};

/// Sizes of a model and its forward FLOPs in one step, all micro-batches together.
struct ModelFacts {
  /// Trainable elements; those of tables that are neither looked up nor multiplied (learned
  /// positions); those of tables that are looked up and never multiplied.
  int64_t parameters = 0, positions = 0, lookedUp = 0;
  /// Rows that the model's weights are multiplied with: tokens or samples. Of weights that are
  /// multiplied with fewer, as in a convolution of many strides, the fewest.
  Count tokens = 0, fewestRows = 0;
  /// Of the optimizer's update: Muon multiplies matrices.
  ModelFlops update;
  ModelFlops forward;
  /// Of the forward pass, attention; and the last product with a weight: a language model's head.
  ModelFlops attention;
  Count head = 0;
  /// The head's result: "4x1024x50257xf32", and its bytes; whether a program of kernels stores
  /// but parts of it (nap-chunk-rows).
  std::string headType;
  mlir::Type headTensor;
  int64_t headBytes = 0;
  bool isHeadInParts = false;
  /// Probabilities of all attention heads, hidden ones too.
  Count scores = 0;
  std::vector<ModelPart> parts;
  /// Of the graph as written, with gradients and update where there are some: model FLOPs;
  /// additions, comparisons and conversions beside contractions; of them, products of two tensors
  /// that sum nothing. 0 of a model of which there are sizes alone.
  ModelFlops written;
  Count beside = 0, outer = 0;
  /// The least bytes of a whole step (model/GraphBytes.h).
  Count graphBytes = 0;
};

/// Reads the facts off a module that has a @forward.
ModelFacts factsOf(mlir::ModuleOp module);

/// Sizes of a decoder of GPT-2's kind, as a page gives them.
struct TransformerSizes {
  double layers = 0, width = 0, heads = 1, headSize = 0, ffn = 0;
  /// Tokens of a sequence; rows of the head, 0 without one; tokens in all.
  double context = 0, vocab = 0, tokens = 0;
  /// Trainable elements; 0: those that follow from the sizes.
  double parameters = 0;
};

/// The facts of a model of these sizes, attention dense; nothing where there are more parameters
/// than 2^63 or more FLOPs than counts hold.
std::optional<ModelFacts> factsOf(const TransformerSizes &sizes);

/// What a step is made of: "forward + backward", and "+ update" where that multiplies too.
std::string stepParts(const ModelFacts &facts);

/// A published way of counting a training step's FLOPs (docs/accounting.md, Presets).
struct Preset {
  std::string name;
  /// The formula, in letters.
  std::string formula;
  Count (*count)(const ModelFacts &facts);
  /// Whether sizes do not tell it: `ModelFacts::written` is wanted.
  bool wantsGraph = false;
  /// How it counts attention, where it is three forward passes, so that recomputation can be added;
  /// null for others.
  Count ModelFlops::*attention = nullptr;
};

/// All presets.
llvm::ArrayRef<Preset> presets();

/// The preset called `name`, or null.
const Preset *findPreset(llvm::StringRef name);

/// "gpt3_d1, palm, ...": what presets are called.
std::string presetNames();

} // namespace nap
