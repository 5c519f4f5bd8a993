// Text of attention's schedule.
#include "ir/schedule/AttentionSchedule.h"

#include "ir/schedule/Entries.h"

using namespace nap;

static constexpr ScheduleField<AttentionSchedule> fields[] = {
    {"tasks", &AttentionSchedule::tasks},
    {"scratch", &AttentionSchedule::scratch},
    {"lanes", &AttentionSchedule::lanes},
    {"tile_rows", &AttentionSchedule::tileRows},
    {"tile_vectors", &AttentionSchedule::tileVectors},
    {"query_block", &AttentionSchedule::queryBlock},
    {"key_block", &AttentionSchedule::keyBlock},
    {"key_width", &AttentionSchedule::keyWidth},
    {"value_width", &AttentionSchedule::valueWidth},
    {"element_bytes", &AttentionSchedule::elementBytes}};

mlir::DictionaryAttr AttentionSchedule::toAttr(mlir::MLIRContext *context) const {
  return mlir::DictionaryAttr::get(context, scheduleEntries(context, *this, fields));
}

AttentionSchedule AttentionSchedule::fromAttr(mlir::DictionaryAttr attr) {
  return readSchedule(attr, fields);
}
