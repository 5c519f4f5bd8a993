// HardwareCounters: what the processor itself counts of this process.

#ifndef NAPKIN_RUNTIME_AUDIT_HARDWARECOUNTERS_H
#define NAPKIN_RUNTIME_AUDIT_HARDWARECOUNTERS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace napkin::runtime {

/// A figure, or why there is none.
struct Measured {
  std::optional<double> value;
  std::string reason; ///< a clause, empty with a value
};

/// Counts floating-point work and bytes from memory by the events of perf_event_open(2), of the
/// calling thread and all threads that it starts afterwards, in user space. Where several events
/// share a counter each is scaled by the time that it was counted for.
class HardwareCounters {
public:
  HardwareCounters();
  HardwareCounters(const HardwareCounters &) = delete;
  HardwareCounters &operator=(const HardwareCounters &) = delete;
  ~HardwareCounters();

  /// Additions, subtractions, multiplications, divisions, comparisons and roots of floats since
  /// construction, lanes of vectors one by one, a fused multiply-add two. Matrix tiles (AMX) and
  /// products of halves are in no counter.
  Measured flops() const;
  /// Bytes of the cache lines that the last level of the cache did not hold.
  Measured bytesFromMemory() const;

private:
  struct Event {
    int descriptor = -1;
    double weight = 1;
  };
  /// Events whose weighted sum is a figure; `reason` where one of them could not be opened.
  struct Figure {
    std::vector<Event> events;
    std::string reason;
  };
  static void open(Figure &figure, uint32_t type, uint64_t config, double weight);
  static Measured read(const Figure &figure);

  Figure flopEvents, byteEvents;
};

} // namespace napkin::runtime

#endif
