// ArenaTest: a part of an arena is made zero, its neighbours are not, and no large page is broken.

#include "runtime/execute/Arena.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace napkin::runtime;

static constexpr int64_t arenaBytes = 5 * largePage + 12'288;

/// True where the page that holds this byte of the arena takes memory.
static bool isResident(const Arena &arena, int64_t offset) {
  int64_t page = sysconf(_SC_PAGESIZE);
  unsigned char state = 0;
  mincore(arena.at(offset / page * page), static_cast<size_t>(page), &state);
  return state & 1;
}

/// Makes [first, last) zero in an arena of ones and looks at every byte.
static bool clearsExactly(Arena &arena, int64_t first, int64_t last) {
  std::memset(arena.at(0), 1, arenaBytes);
  zeroBytes(arena.at(first), last - first);
  // Before anything is read, which would bring back what was given away.
  for (int64_t begin = 0; begin < arenaBytes; begin += largePage) {
    bool isWhole = first <= begin && begin + largePage <= last;
    if (isResident(arena, begin) == isWhole) {
      fmt::print("[{}, {}): large page {} {}\n", first, last, begin / largePage,
                 isWhole ? "still takes memory" : "was broken");
      return false;
    }
  }
  for (int64_t i = 0; i < arenaBytes; ++i)
    if ((*arena.at(i) == std::byte{0}) != (first <= i && i < last)) {
      fmt::print("[{}, {}): byte {} is {}\n", first, last, i, int(*arena.at(i)));
      return false;
    }
  return true;
}

int main() {
  Result<Arena> arena = Arena::create(arenaBytes, 0, 1);
  if (!arena)
    return 1;
  if (reinterpret_cast<uintptr_t>(arena->at(0)) % largePage != 0) {
    fmt::print("the arena does not begin with a large page\n");
    return 1;
  }
  constexpr int64_t p = largePage;
  constexpr int64_t cases[][2] = {{0, p},         {0, 4},          {64, p + 64},
                                  {64, 3 * p},    {64, 3 * p + 4}, {p - 4, 2 * p + 4},
                                  {p, 3 * p - 4}, {p + 4, p + 8},  {4 * p + 64, arenaBytes},
                                  {p, p},         {0, arenaBytes}};
  return std::all_of(std::begin(cases), std::end(cases),
                     [&](auto &range) { return clearsExactly(*arena, range[0], range[1]); })
             ? 0
             : 1;
}
