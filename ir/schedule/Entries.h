// The numbers of a `nap.schedule`.
#pragma once

#include "mlir/IR/Builders.h"

namespace nap {

/// The number `name` of a schedule, or `otherwise` where it (or the whole schedule) is missing.
inline int64_t scheduleEntry(mlir::DictionaryAttr schedule, llvm::StringRef name,
                             int64_t otherwise = 0) {
  auto value = schedule ? schedule.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
  return value ? value.getInt() : otherwise;
}

/// A number as an entry of a schedule.
inline mlir::NamedAttribute scheduleEntryAttr(mlir::MLIRContext *context, llvm::StringRef name,
                                              int64_t value) {
  mlir::Builder builder(context);
  return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
}

} // namespace nap
