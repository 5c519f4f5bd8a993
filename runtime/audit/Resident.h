// Resident: memory that this process really has.

#ifndef NAPKIN_RUNTIME_AUDIT_RESIDENT_H
#define NAPKIN_RUNTIME_AUDIT_RESIDENT_H

#include "runtime/audit/HardwareCounters.h"

#include <cstddef>

namespace napkin::runtime {

/// Bytes of the anonymous pages of this process, by /proc/self/smaps_rollup. Allocates only where
/// it fails.
Measured anonymousBytes();

/// Bytes of [begin, begin + bytes) whose pages are in memory, by mincore(2). A page of an anonymous
/// mapping gets there when it is first written, and stays.
Measured residentBytes(const std::byte *begin, int64_t bytes);

} // namespace napkin::runtime

#endif
