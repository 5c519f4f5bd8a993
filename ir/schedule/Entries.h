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

/// A number of a schedule's struct and its name among the entries.
template <typename Schedule> struct ScheduleField {
  llvm::StringLiteral name;
  int64_t Schedule::*number;
};

/// The numbers of a schedule as entries.
template <typename Schedule, size_t count>
llvm::SmallVector<mlir::NamedAttribute>
scheduleEntries(mlir::MLIRContext *context, const Schedule &schedule,
                const ScheduleField<Schedule> (&fields)[count]) {
  llvm::SmallVector<mlir::NamedAttribute> entries;
  for (const ScheduleField<Schedule> &field : fields)
    entries.push_back(scheduleEntryAttr(context, field.name, schedule.*field.number));
  return entries;
}

/// The schedule whose numbers `attr` has, 0 where one is missing.
template <typename Schedule, size_t count>
Schedule readSchedule(mlir::DictionaryAttr attr, const ScheduleField<Schedule> (&fields)[count]) {
  Schedule schedule;
  for (const ScheduleField<Schedule> &field : fields)
    schedule.*field.number = scheduleEntry(attr, field.name);
  return schedule;
}

} // namespace nap
