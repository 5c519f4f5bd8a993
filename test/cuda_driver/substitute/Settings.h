// Settings: the machine that the substitute plays, and what goes wrong on it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace substitute {

/// Read once from NAPKIN_SUBSTITUTE, "architecture=90,memory=1000000,fail=cuInit:1:100"; entries in
/// any order.
struct Settings {
  int devices = 1;
  std::string name;                   ///< of each device; empty: "Substitute GPU N"
  int architecture = 90;              ///< compute capability 9.0
  int newest = 100;                   ///< architecture that the substitute's NVRTC knows
  int noCompiler = 0;                 ///< 1: the substitute's NVRTC compiles nothing
  int version = 12040;                ///< of the driver: CUDA 12.4
  int threads = 1024;                 ///< a block, at most
  int sharedMost = 232448;            ///< bytes of shared memory a block, at most
  int shared = 0;                     ///< that each kernel is said to take
  int library = 130100;               ///< version of cuBLASLt, 13.1.0
  int noAlgorithm = 0;                ///< 1: its heuristic knows none
  uint64_t memory = uint64_t(2) << 30; ///< bytes, of which `used` are another's
  uint64_t used = 0;
  /// "fail=cuInit:1:100": the first call of cuInit returns 100.
  struct Failing {
    int64_t call = 0;
    int status = 0;
  };
  std::map<std::string, Failing> failing;
  /// "fault=gelu:700": a kernel with this in its name fails with 700 when it runs, from its
  /// `faultFrom`-th run on ("from=3").
  std::string faulty;
  int faultStatus = 0;
  int64_t faultFrom = 1;
  std::string log; ///< "log=FILE": how often each function was called, written at the end

  static const Settings &get();
};

} // namespace substitute
