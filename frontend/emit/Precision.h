//===- Precision.h - The element types of a precision policy --------------===//
//
// A policy says what floats are kept and stored as; docs/language.md says where
// values are rounded. Every rounding is a cast, made here or by Emitter::cast.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/values/Value.h"
#include "ir/Ops.h"

#include "mlir/IR/Builders.h"

namespace napkin {

class Emitter;

/// The element types of a policy.
struct Precision {
  std::string name = "f32";
  mlir::Type parameter; ///< of parameters, as they are declared
  mlir::Type storage;   ///< of f32 in the body of a model, and of the operands of products
  mlir::Type state;     ///< of buffers, optimizer state, scalars, draws, losses, metrics; of f32 in
                        ///< bodies marked `in f32`, in initial values and in the recipe

  /// Whether floats are stored narrower than they are kept.
  bool isNarrow() const { return storage != state; }
  /// The policy called `name`, of one element type if there is no other; nothing if there is none.
  static std::optional<Precision> named(std::string_view name, mlir::Builder types);
  /// What a tensor of this role is declared as, if its type says `dtype`; f32
  /// where it says nothing.
  mlir::Type declared(nap::Role role, DType dtype, const Emitter &emitter) const;
};

/// `x` in f32 if it holds floats narrower than that; of a working copy the master copy.
mlir::Value widened(Emitter &emitter, mlir::Value x);
/// The same for every tensor in a value.
Value widened(Emitter &emitter, const Value &value);
/// Floats of a value that are wider than `element` rounded to it, but for those without axes; a
/// null `element` rounds nothing.
Value rounded(Emitter &emitter, const Value &value, mlir::Type element);
/// The element type of a tensor of floats narrower than f32; null for any other value.
mlir::Type narrowElement(const Value &value);
/// A float without axes, and a number that a narrower type lacks, do not widen narrower floats in
/// arithmetic: their type, to which the result is rounded; null where values are not such a pair.
mlir::Type roundedMeeting(const Value &a, const Value &b);
/// Casts the operands of a product to the type in which the policy multiplies, or, if one of them
/// is pinned, to `met`, in which they meet. Returns the element type of the result.
mlir::Type chooseProduct(Emitter &emitter, llvm::MutableArrayRef<Tensor> operands, mlir::Type met);

} // namespace napkin
