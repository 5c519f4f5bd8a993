// How clang++ builds CUDA text for this host.
#pragma once

namespace nap::emulator {

/// Every access to memory that may be shared calls the emulator; nothing is merged, widened or
/// contracted.
inline constexpr char kHostCompileFlags[] =
    "-x c++ -std=c++20 -O2 -gline-tables-only -fPIC -march=native -w -ffp-contract=off "
    "-fno-vectorize -fno-slp-vectorize -fno-strict-aliasing -fno-exceptions "
    "-ftrivial-auto-var-init=pattern -fsanitize=thread "
    "-fsanitize=array-bounds,signed-integer-overflow -mllvm -tsan-instrument-func-entry-exit=0 "
    "-mllvm -tsan-instrument-atomics=0 -mllvm -tsan-instrument-read-before-write=1";

} // namespace nap::emulator
