// Sectors and banks, from the addresses of a warp.
#include "codegen/cuda/emulator/Traffic.h"

#include <algorithm>
#include <set>

namespace nap::emulator {

static constexpr unsigned kSectorBytes = 32, kBankBytes = 4, kBanks = 32;

void Traffic::note(uint32_t warp, unsigned lane, const void *caller, uintptr_t address,
                   unsigned bytes, bool isShared) {
  Group &group = groups[{warp, caller}];
  group.isShared = isShared;
  group.bytes = bytes;
  size_t occurrence = group.laneCounts[lane]++;
  if (occurrence >= group.occurrences.size())
    group.occurrences.resize(occurrence + 1);
  group.occurrences[occurrence].push_back({lane, address});
}

/// Cycles that a set of words of shared memory takes: the most words that one bank gives.
static int64_t cyclesOf(const std::set<uintptr_t> &words) {
  unsigned load[kBanks] = {};
  unsigned most = 0;
  for (uintptr_t word : words)
    most = std::max(most, ++load[word % kBanks]);
  return most;
}

void Traffic::noteRows(const uintptr_t *rows, unsigned count) {
  for (unsigned first = 0; first < count; first += 8) {
    std::set<uintptr_t> words;
    for (unsigned row = first; row < first + 8; ++row)
      for (unsigned byte = 0; byte < 16; byte += kBankBytes)
        words.insert((rows[row] + byte) / kBankBytes);
    ++counts.phases;
    counts.cycles += cyclesOf(words);
  }
}

void Traffic::count(const Group &group, const Addresses &byLane) {
  std::vector<uintptr_t> addresses;
  for (const auto &[lane, address] : byLane)
    addresses.push_back(address);
  if (!group.isShared) {
    std::set<uintptr_t> sectors, bytes;
    for (uintptr_t address : addresses) {
      for (uintptr_t at = address / kSectorBytes; at <= (address + group.bytes - 1) / kSectorBytes;
           ++at)
        sectors.insert(at);
      bytes.insert(address);
    }
    ++counts.requests;
    counts.sectors += sectors.size();
    counts.leastSectors += (bytes.size() * group.bytes + kSectorBytes - 1) / kSectorBytes;
    return;
  }
  // Wide accesses go in as many phases as their bytes need; lanes in order.
  size_t lanesAPhase = std::max<size_t>(1, kBanks * kBankBytes / std::max(group.bytes, kBankBytes));
  for (size_t first = 0; first < addresses.size(); first += lanesAPhase) {
    std::set<uintptr_t> words;
    for (size_t i = first; i < std::min(addresses.size(), first + lanesAPhase); ++i)
      for (unsigned byte = 0; byte < std::max(group.bytes, kBankBytes); byte += kBankBytes)
        words.insert((addresses[i] + byte) / kBankBytes);
    ++counts.phases;
    counts.cycles += cyclesOf(words);
  }
}

void Traffic::flush() {
  for (auto &[place, group] : groups)
    for (Addresses &addresses : group.occurrences) {
      // Lanes may have come in another order.
      std::sort(addresses.begin(), addresses.end());
      count(group, addresses);
    }
  groups.clear();
}

} // namespace nap::emulator
