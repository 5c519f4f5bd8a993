// Updates right behind the gradients that they read.
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/ArrayRef.h"

namespace nap {

/// A declared tensor's new version, and the argument that is the old one.
struct StoredVersion {
  /// The parameter that both belong to; versions of one are stored together.
  mlir::Attribute parameter;
  mlir::Value old, next;
};

/// Moves each op of the block behind `last` up to right behind the last one before it that it
/// needs, and no further than the loss: a value that is stored, and all that makes it, then stands
/// where its gradient has just become final.
///
///   %ga = ..                     %ga = ..
///   %gb = ..  [last]       ->    %na = nap.sub %a, %ga
///   %na = nap.sub %a, %ga        %gb = ..
///   %nb = nap.sub %b, %gb        %nb = nap.sub %b, %gb
///
/// The ops that make the next versions of a parameter and its states come behind all reads of the
/// old ones, so that they may be written where these lie. Ops keep their order where nothing asks
/// for another.
void moveUpdates(mlir::Operation *last, mlir::Value loss, llvm::ArrayRef<StoredVersion> stored);

} // namespace nap
