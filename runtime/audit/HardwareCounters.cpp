// HardwareCounters: events of perf_event_open(2).

#include "runtime/audit/HardwareCounters.h"

#include "runtime/device/Peaks.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace napkin::runtime {

/// A raw event and how many FLOPs one count of it stands for.
struct RawEvent {
  uint64_t config;
  double weight;
};

/// FP_ARITH_INST_RETIRED of Intel's processors since Haswell's successor, event C7 with a mask of
/// vector widths; those of equal lanes share an event. A fused multiply-add counts twice there.
static constexpr RawEvent intelFlops[] = {
    {0x03c7, 1}, {0x04c7, 2}, {0x18c7, 4}, {0x60c7, 8}, {0x80c7, 16}};
/// RETIRED_SSE_AVX_FLOPS of AMD's processors since Zen.
static constexpr RawEvent amdFlops[] = {{0x0f03, 1}};

static constexpr double cacheLineBytes = 64;

HardwareCounters::HardwareCounters() {
#if defined(__x86_64__)
  std::string name = processorName();
  bool isIntel = name.find("Intel") != std::string::npos;
  bool isAmd = name.find("AMD") != std::string::npos;
  if (isIntel)
    for (const RawEvent &event : intelFlops)
      open(flopEvents, PERF_TYPE_RAW, event.config, event.weight);
  else if (isAmd)
    for (const RawEvent &event : amdFlops)
      open(flopEvents, PERF_TYPE_RAW, event.config, event.weight);
  else
    flopEvents.reason = "no counter known for this processor";
#else
  flopEvents.reason = "no counter known for this processor";
#endif
  open(byteEvents, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, cacheLineBytes);
}

HardwareCounters::~HardwareCounters() {
  for (const Figure *figure : {&flopEvents, &byteEvents})
    for (const Event &event : figure->events)
      close(event.descriptor);
}

void HardwareCounters::open(Figure &figure, uint32_t type, uint64_t config, double weight) {
  if (!figure.reason.empty())
    return;
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = type;
  attributes.config = config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.inherit = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor >= 0) {
    figure.events.push_back({static_cast<int>(descriptor), weight});
    return;
  }
  switch (errno) {
  case ENOENT:
  case ENODEV:
  case EOPNOTSUPP:
    figure.reason = "no such hardware counter here";
    return;
  case EACCES:
  case EPERM:
    figure.reason = "perf_event_paranoid forbids it";
    return;
  default:
    figure.reason = fmt::format("perf_event_open: {}", std::strerror(errno));
  }
}

Measured HardwareCounters::read(const Figure &figure) {
  if (!figure.reason.empty())
    return {std::nullopt, figure.reason};
  double sum = 0;
  for (const Event &event : figure.events) {
    uint64_t words[3] = {}; // the count, nanoseconds enabled, nanoseconds counted
    if (::read(event.descriptor, words, sizeof(words)) != sizeof(words))
      return {std::nullopt, fmt::format("a counter cannot be read: {}", std::strerror(errno))};
    if (words[2] == 0 && words[1] > 0)
      return {std::nullopt, "others hold the counters"};
    double share = words[2] > 0 ? static_cast<double>(words[1]) / static_cast<double>(words[2]) : 1;
    sum += event.weight * static_cast<double>(words[0]) * share;
  }
  return {sum, ""};
}

Measured HardwareCounters::flops() const { return read(flopEvents); }

Measured HardwareCounters::bytesFromMemory() const { return read(byteEvents); }

} // namespace napkin::runtime
