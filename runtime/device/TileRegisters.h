// TileRegisters: AMX, which Linux gives to a process that asks.

#ifndef NAPKIN_RUNTIME_DEVICE_TILEREGISTERS_H
#define NAPKIN_RUNTIME_DEVICE_TILEREGISTERS_H

#include "runtime/Status.h"

namespace napkin::runtime {

/// True on a processor whose matrix unit multiplies bf16 tiles (CPUID leaf 7, EDX bits 22 and 24).
bool hasTileRegisters();

/// Asks the system for the tile registers, for all threads of this process, now and later. Fails
/// where the processor has none or the system does not give them. Asking again is free.
Failure requestTileRegisters();

} // namespace napkin::runtime

#endif
