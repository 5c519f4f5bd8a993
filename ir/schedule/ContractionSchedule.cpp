// Sizes and text of a contraction's schedule.
#include "ir/schedule/ContractionSchedule.h"

#include "ir/schedule/Entries.h"

using namespace nap;

int64_t ContractionSchedule::packedColumnsBytes() const {
  return (pairs() ? columnBlock : tileColumns) * contractedBlock * packedBytes();
}
int64_t ContractionSchedule::sumsBytes() const {
  return (keepSums ? rowBlock * columnBlock : tileRows * tileColumns) * elementBytes;
}
int64_t ContractionSchedule::packedRowsBytes() const {
  return packRows ? rowBlock * contractedBlock * packedBytes() : 0;
}

int64_t ContractionSchedule::scratchBytes() const {
  return packedColumnsBytes() + sumsBytes() + packedRowsBytes() + configurationBytes();
}

static constexpr llvm::StringLiteral unitNames[] = {"fma", "dot", "amx"};

llvm::StringRef nap::nameOf(ContractionUnit unit) { return unitNames[static_cast<int>(unit)]; }

ContractionUnit nap::contractionUnitNamed(llvm::StringRef name) {
  for (auto unit : {ContractionUnit::dot, ContractionUnit::amx})
    if (name == nameOf(unit))
      return unit;
  return ContractionUnit::fma;
}

mlir::DictionaryAttr ContractionSchedule::toAttr(mlir::MLIRContext *context) const {
  auto entry = [&](llvm::StringRef name, int64_t value) {
    return scheduleEntryAttr(context, name, value);
  };
  mlir::Builder builder(context);
  return builder.getDictionaryAttr(
      {entry("tasks", tasks), entry("scratch", scratch), entry("lanes", lanes),
       entry("tile_rows", tileRows), entry("tile_columns", tileColumns),
       entry("row_block", rowBlock), entry("column_block", columnBlock),
       entry("contracted_block", contractedBlock), entry("element_bytes", elementBytes),
       entry("pack_rows", packRows), entry("keep_sums", keepSums),
       builder.getNamedAttr("unit", builder.getStringAttr(nameOf(unit)))});
}

ContractionSchedule ContractionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  auto entry = [&](llvm::StringRef name) { return scheduleEntry(attr, name); };
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
  if (auto unit = attr.getAs<mlir::StringAttr>("unit"))
    schedule.unit = contractionUnitNamed(unit.getValue());
  schedule.keepSums = entry("keep_sums") != 0;
  return schedule;
}
