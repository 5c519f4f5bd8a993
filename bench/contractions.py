#!/usr/bin/env python3
"""Every contraction of a GPT-2 training step beside what the processor can multiply and add at most.

Usage: bench/contractions.py [--napkin=build/release/bin/napkin] [--seq=64,256] [--threads=2] [--steps=6]

Trains examples/gpt2.nap (124M, batch 4, f32) on random tokens and prints each kernel that holds a
product: its launches a step, what it computes at, and its share of the peak. The peak is that of a
loop of fused multiply-adds on registers alone, on as many threads, measured before and after in the
same run: the larger counts. A kernel's rate is the median over the steps but the first, which pays
for new memory. Work beside the product is part of a kernel's time and not of its rate.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Independent chains of fused multiply-adds, in the widest vectors that the compiler's target has.
PEAK = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
typedef float Vector __attribute__((vector_size(4 * LANES)));
static const long turns = 4000000;
static void *work(void *out) {
  Vector sums[12], x, y;
  for (int i = 0; i < LANES; ++i)
    x[i] = 0.999f, y[i] = 0.001f;
  for (int i = 0; i < 12; ++i)
    sums[i] = y;
  for (long turn = 0; turn < turns; ++turn)
    for (int i = 0; i < 12; ++i) {
      sums[i] = sums[i] * x + y;
      __asm__("" : "+x"(sums[i]));
    }
  float total = 0;
  for (int i = 0; i < 12; ++i)
    total += sums[i][0];
  *(volatile float *)out = total;
  return 0;
}
int main(int count, char **words) {
  int threads = atoi(words[1]);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    pthread_t ids[256];
    float out[256];
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < threads; ++i)
      pthread_create(&ids[i], 0, work, &out[i]);
    for (int i = 0; i < threads; ++i)
      pthread_join(ids[i], 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec);
    double rate = 2.0 * LANES * 12 * turns * threads / seconds;
    best = rate > best ? rate : best;
  }
  printf("%.1f\n", best / 1e9);
}
"""


def buildPeak(folder):
    source, program = folder / "peak.c", folder / "peak"
    source.write_text(PEAK)
    for compiler in ("clang-22", "clang", "cc"):
        if any(os.access(pathlib.Path(p) / compiler, os.X_OK) for p in os.environ["PATH"].split(":")):
            subprocess.run([compiler, "-O2", "-march=native", "-ffp-contract=fast", source, "-o", program,
                            "-pthread"], check=True)
            return program
    raise SystemExit("a C compiler is needed to measure the peak; none of clang-22, clang, cc is found")


def measurePeak(program, threads):
    """GFLOP/s of fused multiply-adds on registers."""
    return float(subprocess.run([program, str(threads)], check=True, capture_output=True, text=True).stdout)


def traceOf(napkin, folder, seq, threads, steps):
    """The events of one training run."""
    ids = random.Random(336)
    data = folder / "tokens.bin"
    data.write_bytes(b"".join(ids.randrange(50257).to_bytes(2, "little")
                              for _ in range(4 * (seq + 1) * (steps + 1))))
    sizes = {"p": 0, "batch": 4, "seq": seq}
    flags = [part for name, size in sizes.items() for part in ("-D", f"{name}={size}")]
    trace = folder / "trace.json"
    subprocess.run([napkin, "train", ROOT / "examples" / "gpt2.nap", *flags, "--accumulate", "1", "--data", data,
                    "--steps", str(steps), "--threads", str(threads), "--trace", trace],
                   check=True, capture_output=True, text=True)
    return json.loads(trace.read_text())["traceEvents"]


def ratesOf(events, steps):
    """{(kernel, line): (launches a step, median GFLOP/s)} of the kernels with a product."""
    rates = collections.defaultdict(list)
    for event in events:
        if event["cat"] == "step" and re.search("matmul", event["name"]):
            rates[event["name"], event["args"]["line"]].append(event["args"]["gflops"])
    found = {}
    for kernel, values in rates.items():
        launches = len(values) // steps
        found[kernel] = launches, statistics.median(values[launches:])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=ROOT / "build" / "release" / "bin" / "napkin")
    parser.add_argument("--seq", default="64,256")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()
    if not pathlib.Path(options.napkin).exists():
        parser.error(f"{options.napkin} is not there; build it with tools/try, or give --napkin")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = buildPeak(folder)
        for seq in map(int, options.seq.split(",")):
            before = measurePeak(program, options.threads)
            events = traceOf(options.napkin, folder, seq, options.threads, options.steps)
            peak = max(before, measurePeak(program, options.threads))
            print(f"GPT-2 124M, 4 x {seq}, {options.threads} threads; peak {peak:.0f} GFLOP/s")
            rates = ratesOf(events, options.steps)
            for (kernel, line), (launches, rate) in sorted(rates.items(), key=lambda item: item[1][1]):
                print(f"  {100 * rate / peak:5.1f} %  {rate:7.1f} GFLOP/s  {launches:3} a step  {kernel}  {line}")
            if rates:
                print(f"  lowest {100 * min(rate for _, rate in rates.values()) / peak:.1f} %")


if __name__ == "__main__":
    main()
