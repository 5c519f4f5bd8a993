// Sizes and text of a contraction's schedule.
#include "ir/contraction/ContractionSchedule.h"

#include "mlir/IR/Builders.h"

using namespace nap;

int64_t ContractionSchedule::packedColumnsBytes() const {
  return tileColumns * contractedBlock * elementBytes;
}
int64_t ContractionSchedule::sumsBytes() const {
  return (keepSums ? rowBlock * columnBlock : tileRows * tileColumns) * elementBytes;
}
int64_t ContractionSchedule::packedRowsBytes() const {
  return packRows ? rowBlock * contractedBlock * elementBytes : 0;
}

mlir::DictionaryAttr ContractionSchedule::toAttr(mlir::MLIRContext *context) const {
  mlir::Builder builder(context);
  auto entry = [&](llvm::StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  return builder.getDictionaryAttr(
      {entry("tasks", tasks), entry("scratch", scratch), entry("lanes", lanes),
       entry("tile_rows", tileRows), entry("tile_columns", tileColumns),
       entry("row_block", rowBlock), entry("column_block", columnBlock),
       entry("contracted_block", contractedBlock), entry("element_bytes", elementBytes),
       entry("pack_rows", packRows),
       entry("keep_sums", keepSums)});
}

ContractionSchedule ContractionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  auto entry = [&](llvm::StringRef name) {
    auto value = attr.getAs<mlir::IntegerAttr>(name);
    return value ? value.getInt() : 0;
  };
  ContractionSchedule schedule;
  schedule.tasks = entry("tasks");
  schedule.scratch = entry("scratch");
  schedule.lanes = entry("lanes");
  schedule.tileRows = entry("tile_rows");
  schedule.tileColumns = entry("tile_columns");
  schedule.rowBlock = entry("row_block");
  schedule.columnBlock = entry("column_block");
  schedule.contractedBlock = entry("contracted_block");
  schedule.elementBytes = entry("element_bytes");
  schedule.packRows = entry("pack_rows") != 0;
  schedule.keepSums = entry("keep_sums") != 0;
  return schedule;
}
