// The `checkpoint { }` block of the model in which an op stands.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

#include <optional>

namespace nap {

/// The name of the block's number in the location of an op.
inline constexpr llvm::StringLiteral kCheckpointBlock = "nap.checkpoint";

/// `loc` with the number of the block around it: `fused<{nap.checkpoint = 3 : i64}>[loc]`. It lasts
/// as long as the op's line does: through every rewrite that keeps locations, into kernels and into
/// text.
inline mlir::Location inCheckpointBlock(mlir::Location loc, int64_t number) {
  mlir::Builder builder(loc.getContext());
  return mlir::FusedLoc::get(loc.getContext(), {loc},
                             builder.getDictionaryAttr(builder.getNamedAttr(
                                 kCheckpointBlock, builder.getI64IntegerAttr(number))));
}

/// The number of the block in which what `loc` names was written; nothing outside of all.
inline std::optional<int64_t> checkpointBlockOf(mlir::Location loc) {
  if (auto named = llvm::dyn_cast<mlir::NameLoc>(loc))
    return checkpointBlockOf(named.getChildLoc());
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(loc);
  if (!fused)
    return std::nullopt;
  if (auto facts = llvm::dyn_cast_if_present<mlir::DictionaryAttr>(fused.getMetadata()))
    if (auto number = facts.getAs<mlir::IntegerAttr>(kCheckpointBlock))
      return number.getInt();
  for (mlir::Location part : fused.getLocations())
    if (std::optional<int64_t> number = checkpointBlockOf(part))
      return number;
  return std::nullopt;
}

} // namespace nap
