// Text of attention's schedule.
#include "ir/schedule/AttentionSchedule.h"

#include "ir/schedule/Entries.h"

using namespace nap;

mlir::DictionaryAttr AttentionSchedule::toAttr(mlir::MLIRContext *context) const {
  auto entry = [&](llvm::StringRef name, int64_t value) {
    return scheduleEntryAttr(context, name, value);
  };
  return mlir::DictionaryAttr::get(
      context,
      {entry("tasks", tasks), entry("scratch", scratch), entry("lanes", lanes),
       entry("tile_rows", tileRows), entry("tile_vectors", tileVectors),
       entry("query_block", queryBlock), entry("key_block", keyBlock), entry("key_width", keyWidth),
       entry("value_width", valueWidth), entry("element_bytes", elementBytes)});
}

AttentionSchedule AttentionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  auto entry = [&](llvm::StringRef name) { return scheduleEntry(attr, name); };
  AttentionSchedule s;
  s.tasks = entry("tasks");
  s.scratch = entry("scratch");
  s.lanes = entry("lanes");
  s.tileRows = entry("tile_rows");
  s.tileVectors = entry("tile_vectors");
  s.queryBlock = entry("query_block");
  s.keyBlock = entry("key_block");
  s.keyWidth = entry("key_width");
  s.valueWidth = entry("value_width");
  s.elementBytes = entry("element_bytes");
  return s;
}
