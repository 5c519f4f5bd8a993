// What the lanes of a warp do together: votes, exchanges, loads of matrices, products.
//
// Fragments are those of PTX's mma.m16n8k16 and ldmatrix: lane l has g = l / 4, t = 2 (l % 4);
// a0, a1 are A[g][t], A[g][t + 1], then rows g + 8, then columns t + 8; b0, b1 are B[t][g], B[t +
// 1][g], then rows t + 8; c0, c1 are C[g][t], C[g][t + 1], then row g + 8. Of mma.m16n8k8 on tf32,
// with t = l % 4: a0 is A[g][t], then row g + 8, then columns t + 4; b0 is B[t][g], then row t + 4.
// Of mma.m16n8k32 on 8 bits, with t = 4 (l % 4): a0 to a3 are A[g][t], ..., then row g + 8, then
// columns t + 16; b0 to b3 are B[t][g], ..., then rows t + 16.
#include "codegen/cuda/emulator/Emulator.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace nap::emulator {

/// Eight by eight elements of 16 bits a matrix; lane 8 i + r gives the address of row r of matrix
/// i.
static void loadMatrices(const void *const *in, void *const *out, unsigned count,
                         bool isTransposed) {
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    uint16_t elements[8][8];
    for (unsigned row = 0; row < 8; ++row) {
      const void *address;
      std::memcpy(&address, in[8 * matrix + row], sizeof(address));
      std::memcpy(elements[row], address, 16);
    }
    for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = lane / 4, column = 2 * (lane % 4) + i;
        uint16_t value = isTransposed ? elements[column][row] : elements[row][column];
        std::memcpy(static_cast<char *>(out[lane]) + 4 * matrix + 2 * i, &value, 2);
      }
  }
}

/// Element `i` of a lane's factor, as f32.
static float factorAt(const char *fragment, unsigned i, Factor factor) {
  uint16_t bits;
  uint32_t word;
  switch (factor) {
  case Factor::tf32:
    std::memcpy(&word, fragment + 4 * i, 4);
    return std::bit_cast<float>(word & ~0x1fffu);
  case Factor::f16:
    std::memcpy(&bits, fragment + 2 * i, 2);
    return static_cast<float>(std::bit_cast<_Float16>(bits));
  case Factor::bf16:
    std::memcpy(&bits, fragment + 2 * i, 2);
    return std::bit_cast<float>(uint32_t(bits) << 16);
  case Factor::e5m2:
    return static_cast<float>(
        std::bit_cast<_Float16>(uint16_t(static_cast<uint8_t>(fragment[i]) << 8)));
  case Factor::e4m3: {
    auto byte = static_cast<uint8_t>(fragment[i]);
    int exponent = byte >> 3 & 15, mantissa = byte & 7;
    if (exponent == 15 && mantissa == 7)
      return std::numeric_limits<float>::quiet_NaN();
    float size = exponent ? std::ldexp(float(8 + mantissa), exponent - 10)
                          : std::ldexp(float(mantissa), -9);
    return byte & 0x80 ? -size : size;
  }
  }
  return 0;
}

/// D = A B + C, each sum in f64 and rounded once. A lane's input is its parts of A, B and C.
static void multiply(const void *const *in, void *const *out, Factor factor) {
  // Neighbouring elements of a lane's word.
  const unsigned inWord = numbersInWord(factor), depth = 8 * inWord;
  float a[16][32], b[32][8], c[16][8];
  for (unsigned lane = 0; lane < kLanesOfWarp; ++lane) {
    const char *own = static_cast<const char *>(in[lane]);
    const char *ownB = own + 16, *ownC = own + 24;
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < 4 * inWord; ++i)
      a[g + 8 * (i / inWord % 2)][inWord * t + i % inWord + 4 * inWord * (i / (2 * inWord))] =
          factorAt(own, i, factor);
    for (unsigned i = 0; i < 2 * inWord; ++i)
      b[inWord * t + i % inWord + 4 * inWord * (i / inWord)][g] = factorAt(ownB, i, factor);
    for (unsigned i = 0; i < 4; ++i)
      std::memcpy(&c[g + 8 * (i / 2)][2 * t + i % 2], ownC + 4 * i, 4);
  }
  for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      double sum = c[row][column];
      for (unsigned k = 0; k < depth; ++k)
        sum += double(a[row][k]) * double(b[k][column]);
      auto rounded = static_cast<float>(sum);
      std::memcpy(static_cast<char *>(out[lane]) + 4 * i, &rounded, 4);
    }
}

/// All lanes are there: computes what each gets, and lets them go on.
void Emulator::completeCollective(unsigned index) {
  Warp &warp = warps[index];
  const void *in[kLanesOfWarp] = {};
  void *out[kLanesOfWarp] = {};
  for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
    if (warp.present >> lane & 1) {
      in[lane] = threads[index * kLanesOfWarp + lane].in;
      out[lane] = threads[index * kLanesOfWarp + lane].out;
    }
  bool isWhole = warp.present == ~0u;
  switch (warp.kind) {
  case Collective::syncWarp:
    ++warp.epoch;
    break;
  case Collective::ballot: {
    uint32_t votes = 0;
    for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
      if (uint32_t vote = 0; in[lane]) {
        std::memcpy(&vote, in[lane], 4);
        votes |= uint32_t(vote != 0) << lane;
      }
    for (void *own : out)
      if (own)
        std::memcpy(own, &votes, 4);
    break;
  }
  case Collective::shuffle:
    for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
      if (const void *partner = in[(lane ^ warp.detail) % kLanesOfWarp]; partner && out[lane])
        std::memcpy(out[lane], partner, 4);
    break;
  case Collective::loadMatrix:
  case Collective::loadMatrixTransposed: {
    if (!isWhole)
      break;
    uintptr_t rows[kLanesOfWarp] = {};
    unsigned own = thread;
    for (unsigned row = 0; row < 8 * warp.detail; ++row) {
      std::memcpy(&rows[row], in[row], sizeof(uintptr_t));
      // The lane that gives the address reads the row.
      thread = index * kLanesOfWarp + row;
      if (!shared.holds(rows[row]))
        fault("loads a matrix's row from memory that is not shared", warp.caller);
      else if (rows[row] % 16)
        fault("is misaligned: a matrix's row begins at a multiple of 16 bytes", warp.caller);
      explain(shared.read(rows[row], 16, now()), "shared memory", warp.caller);
    }
    thread = own;
    if (isTrafficCounted)
      traffic.noteRows(rows, 8 * warp.detail);
    loadMatrices(in, out, warp.detail, warp.kind == Collective::loadMatrixTransposed);
    break;
  }
  case Collective::multiply:
    if (!isWhole)
      break;
    multiply(in, out, Factor(warp.detail));
    counts.productFlops += 2 * 16 * 8 * 8 * numbersInWord(Factor(warp.detail));
    break;
  }
  for (unsigned lane = 0; lane < kLanesOfWarp; ++lane)
    if (warp.present >> lane & 1) {
      threads[index * kLanesOfWarp + lane].state = State::ready;
      warp.ready |= 1u << lane;
    }
  warp.present = 0;
}

} // namespace nap::emulator
