// Sizes and text of a contraction's schedule.
#include "ir/schedule/ContractionSchedule.h"

#include "ir/schedule/Entries.h"

using namespace nap;

int64_t ContractionSchedule::packedColumnsBytes() const {
  int64_t columns = pairs() ? columnBlock : packAhead ? 2 * tileColumns : tileColumns;
  return columns * contractedBlock * packedBytes();
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

static constexpr ScheduleField<ContractionSchedule> fields[] = {
    {"tasks", &ContractionSchedule::tasks},
    {"scratch", &ContractionSchedule::scratch},
    {"lanes", &ContractionSchedule::lanes},
    {"tile_rows", &ContractionSchedule::tileRows},
    {"tile_columns", &ContractionSchedule::tileColumns},
    {"row_block", &ContractionSchedule::rowBlock},
    {"column_block", &ContractionSchedule::columnBlock},
    {"contracted_block", &ContractionSchedule::contractedBlock},
    {"element_bytes", &ContractionSchedule::elementBytes}};

mlir::DictionaryAttr ContractionSchedule::toAttr(mlir::MLIRContext *context) const {
  llvm::SmallVector<mlir::NamedAttribute> entries = scheduleEntries(context, *this, fields);
  entries.push_back(scheduleEntryAttr(context, "pack_rows", packRows));
  entries.push_back(scheduleEntryAttr(context, "pack_ahead", packAhead));
  entries.push_back(scheduleEntryAttr(context, "keep_sums", keepSums));
  mlir::Builder builder(context);
  entries.push_back(builder.getNamedAttr("unit", builder.getStringAttr(nameOf(unit))));
  return builder.getDictionaryAttr(entries);
}

ContractionSchedule ContractionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  ContractionSchedule schedule = readSchedule(attr, fields);
  schedule.packRows = scheduleEntry(attr, "pack_rows") != 0;
  schedule.packAhead = scheduleEntry(attr, "pack_ahead") != 0;
  schedule.keepSums = scheduleEntry(attr, "keep_sums") != 0;
  if (auto unit = attr.getAs<mlir::StringAttr>("unit"))
    schedule.unit = contractionUnitNamed(unit.getValue());
  return schedule;
}
