// TileRegisters: AMX, which Linux gives to a process that asks.

#include "runtime/device/TileRegisters.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace napkin::runtime {

bool hasTileRegisters() {
#ifdef __x86_64__
  constexpr unsigned bf16Tiles = 1u << 22, tiles = 1u << 24;
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & bf16Tiles) && (edx & tiles);
#else
  return false;
#endif
}

Failure requestTileRegisters() {
  constexpr const char *remedy = "compile it for another processor, --cpu=x86-64-v4";
  if (!hasTileRegisters())
    return Error{fmt::format("the program's kernels use AMX tile registers and this processor has "
                             "none; {}", remedy),
                 ExitStatus::machineFailure};
#ifdef SYS_arch_prctl
  // Linux, Documentation/arch/x86/xstate.rst: permission for the tile data component.
  constexpr int requestPermission = 0x1023, tileData = 18;
  if (syscall(SYS_arch_prctl, requestPermission, tileData) == 0)
    return std::nullopt;
#else
  errno = ENOSYS;
#endif
  return Error{fmt::format("the program's kernels use AMX tile registers and the system does not "
                           "give them ({}); {}", std::strerror(errno), remedy),
               ExitStatus::machineFailure};
}

} // namespace napkin::runtime
