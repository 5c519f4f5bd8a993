#!/usr/bin/env python3
"""Training steps of Napkin's compiled executables beside PyTorch and JAX, on one machine in one run.

Usage: PYTHON bench/compare.py [WORK...] [--precision=f32,bf16] [--peers=eager,compile,jax]
                               [--repeats=3] [--seconds=6] [--threads=2] [--napkin=build/release/bin/napkin]
                               [--short] [--out=FILE.md]
PYTHON is one with torch, numpy and jax; Napkin needs none of them:
  python3 -m venv venv && venv/bin/pip install torch numpy "jax[cpu]"
WORK: gpt2-4x64, gpt2-4x256, characters, mlp; default: all.
--short: one round of a few steps, PyTorch's fused optimizer untried beside the other; the whole table in
minutes, to see where things stand.

All train the same weights (f32 masters) on the same batches with AdamW by the recipe of the model file.
Every measurement is a process of its own; the contenders take turns, `--repeats` rounds. A step's time is
what the program itself says, from batch to updated weights; the first steps of a run warm up. Memory is the
kernel's count of the process's largest resident size; "extra" is that less 16 bytes a parameter: weights,
gradients and two states. Compile time is the command `napkin compile`, and for peers the first step less
a usual one. The floor is what `napkin device`, measured here first, makes of Napkin's own kernels
(`--profile`); the lowest share of the measured peak is that of the slowest contraction that computes for more
than 1 % of the step. Losses are compared over the first 20 steps, where only rounding differs; later AdamW
divides gradients near 0 by their size, and even one program's f32 and f64 drift apart. Variables that steer a math library are unset.
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from works import WORKS, writeInput

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent
WARM = 3
FEW = 5
ALIKE = 20
PEERS = {"eager": "PyTorch eager", "compile": "PyTorch compile", "jax": "JAX jit"}


# What is asked for: how many times faster than the best peer. A step near its floor counts as well.
ASKED = {("gpt2-4x64", "f32"): 1.7, ("gpt2-4x256", "f32"): 1.25, ("gpt2-4x64", "bf16"): 1.8,
         ("gpt2-4x256", "bf16"): 1.5, ("characters", "f32"): 1.35, ("mlp", "f32"): 2.5}
NEAR_FLOOR = 1.12


def cleanEnvironment(extra):
    steering = re.compile(r"(OPENBLAS|MKL|OMP|KMP|DNNL|ONEDNN|ATEN|TORCH|PYTORCH|XLA|JAX|NAPKIN|MALLOC)_|LD_PRELOAD")
    return {name: value for name, value in os.environ.items() if not steering.match(name)} | extra


def run(command, cwd, extra):
    """Runs a command: its standard output, its largest resident size in MiB, its seconds."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        child = subprocess.Popen([str(part) for part in command], cwd=cwd, stdout=output, stderr=errors,
                                 env=cleanEnvironment(extra))
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode:
            sys.exit(f"{' '.join(map(str, command))} left with {child.returncode}\n{output.read()}{errors.read()[-4000:]}")
        return output.read(), usage.ru_maxrss / 1024, seconds


class Contender:
    """One program on one work: what its runs measured."""

    def __init__(self, name):
        self.name, self.ms, self.mebibytes, self.losses = name, [], [], []
        self.compileSeconds, self.version, self.medians = 0.0, "", []

    def add(self, ms, losses, mebibytes):
        self.ms += ms[WARM:]
        self.medians.append(statistics.median(ms[WARM:]))
        self.mebibytes.append(mebibytes)
        self.losses = losses

    def median(self):
        return statistics.median(self.ms)


class Bench:
    """What all measurements share."""

    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.napkin = given.napkin.resolve()
        self.extra = {"NAPKIN_DEVICE_FILE": str(folder / "device.json")}

    def measureMachine(self):
        return run([self.napkin, "device"], self.folder, self.extra)[0]

    def peak(self, precision):
        """FLOP/s of the products that a precision multiplies in, on as many threads; 0: not measured."""
        measured = json.loads((self.folder / "device.json").read_text())["matrix_products"]
        return max((one["flops_per_second"] for one in measured
                    if one["dtype"] == precision and one["threads"] == self.given.threads), default=0)

    def compileNapkin(self, work, precision):
        policy = {"f32": "f32", "bf16": "mixed(bf16)"}[precision]
        _, _, seconds = run([self.napkin, "compile", ROOT / work.model, "-o", self.folder / "napkin-step",
                             *work.flags(), "--precision", policy], self.folder, self.extra)
        return seconds

    def runNapkin(self, work, steps, *flags):
        log = self.folder / "log.jsonl"
        log.unlink(missing_ok=True)
        text, mebibytes, _ = run(["./napkin-step", *(f"--data={file}" for file in work.data),
                                  "--init=init.safetensors", "--data-order=sequential", f"--steps={steps}",
                                  f"--threads={self.given.threads}", "--quiet", "--log", log, *flags],
                                 self.folder, self.extra)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        lines = [line for line in lines if "loss" in line and "ms" in line]
        return [line["ms"] for line in lines], [line["loss"] for line in lines], mebibytes, text

    def runPeer(self, peer, work, steps, precision, kind):
        if peer == "jax":
            command = [HERE / "peer_jax.py", work.name, self.folder, steps, self.given.threads, precision]
        else:
            command = [HERE / "peer_torch.py", work.name, self.folder, steps, self.given.threads, precision,
                       int(peer == "compile"), kind]
        text, mebibytes, _ = run([sys.executable, *command], self.folder, {})
        found = json.loads(text.splitlines()[-1])
        return found["ms"], found["losses"], mebibytes, found["version"]

    def work(self, work, precision):
        """All contenders on one work: the rows of its table and a summary of floors."""
        own = Contender("Napkin")
        own.compileSeconds = self.compileNapkin(work, precision)
        torch = next((peer for peer in self.given.peers if peer != "jax"), None)
        kind, steps = "fused" if torch else None, WARM + FEW
        writeInput(work, self.folder, steps)
        if not self.given.short:
            typical = statistics.median(self.runNapkin(work, steps)[0][WARM:])
            # PyTorch's faster optimizer speaks for it.
            kinds = {kind: statistics.median(self.runPeer(torch, work, steps, precision, kind)[0][WARM:])
                     for kind in ("fused", "foreach")} if torch else {}
            kind = min(kinds, key=kinds.get, default=None)
            steps = WARM + max(FEW, min(2000, int(self.given.seconds * 1000 / typical)))
            writeInput(work, self.folder, steps)
        peers = {peer: Contender(PEERS[peer]) for peer in self.given.peers}
        for _ in range(self.given.repeats):
            for peer, contender in peers.items():
                ms, losses, mebibytes, contender.version = self.runPeer(peer, work, steps, precision, kind)
                contender.add(ms, losses, mebibytes)
                contender.compileSeconds = max(0.0, (ms[0] - statistics.median(ms[WARM:])) / 1000)
            ms, losses, mebibytes, _ = self.runNapkin(work, steps)
            own.add(ms, losses, mebibytes)
            print(f"{work.name} {precision}: " +
                  ", ".join(f"{c.name} {c.medians[-1]:.2f} ms" for c in (own, *peers.values())), file=sys.stderr)
        profile = self.runNapkin(work, steps, "--profile")[3]
        return own, peers, profile, kind


def summary(values):
    """Median and the middle half."""
    digits = 2 if statistics.median(values) < 50 else 0
    if len(values) < 4:
        return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def floorOf(profile):
    """(ms of the step under --profile, ms of its floor); None where the machine was not measured."""
    found = re.search(r"steps? of ([0-9.]+) ms .*; floor ([0-9.]+) ms", profile)
    return (float(found[1]), float(found[2])) if found else None


def lowestShare(profile, peak):
    """(share of the peak, kernel) of the slowest contraction of some weight; None where none was measured."""
    rows = []
    for line in profile.splitlines():
        if found := re.match(r"(\S*matmul\S*)\s+[0-9.]+\s+([0-9.]+)\s+([0-9.]+)", line):
            rows.append((float(found[3]) * 1e9 / peak if peak else 0, found[1], float(found[2])))
    whole = floorOf(profile)
    rows = [row for row in rows if whole and peak and row[2] > 0.01 * whole[0]]
    return min(rows)[:2] if rows else None


def overview(results):
    """The Markdown of all works, a line each: (work, precision, own, peers, profile, peak)."""
    lines = ["| work | Napkin ms | best peer | its ms | times faster | asked | step / floor | reached | lowest share of peak | "
             "resident / peer | extra / peer |", "| " + " | ".join(["---"] * 11) + " |"]
    for work, precision, own, peers, profile, peak in results:
        best = min(peers.values(), key=Contender.median, default=None)
        asked, floor, low = ASKED.get((work.name, precision)), floorOf(profile), lowestShare(profile, peak)
        faster = best.median() / own.median() if best else 0
        near = own.median() / floor[1] if floor else math.inf
        state = 16 * sum(math.prod(shape) for shape in work.shapes().values()) / 2**20
        whole, extra = "", ""
        if best:
            mine, theirs = statistics.median(own.mebibytes), statistics.median(best.mebibytes)
            whole, extra = f"{mine / theirs:.2f}", f"{(mine - state) / (theirs - state):.2f}"
        reached = "" if asked is None else "yes" if faster >= asked else "by its floor" if near <= NEAR_FLOOR else "no"
        lines.append(f"| {work.name} {precision} | {own.median():.2f} | {best.name if best else ''} "
                     f"| {f'{best.median():.2f}' if best else ''} | {f'{faster:.2f}' if best else ''} | {asked or ''} "
                     f"| {f'{near:.2f}' if floor else ''} | {reached} "
                     f"| {f'{100 * low[0]:.0f} %, `{low[1]}`' if low else ''} | {whole} | {extra} |")
    return "\n".join([*lines, ""])


def section(work, precision, own, peers, profile, kind):
    """The Markdown of one work."""
    parameters = sum(math.prod(shape) for shape in work.shapes().values())
    state = 16 * parameters / 2**20
    count, unit = work.samples()
    lines = [f"## {work.name}, {precision}", "",
             f"`{work.model} {' '.join(work.flags())}`, {parameters:,} parameters.", "",
             f"| | ms a step | {unit}/s | Napkin / it | run by run | resident MiB | Napkin / it | extra MiB | Napkin / it | compile s |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    ownMemory = statistics.median(own.mebibytes)
    for contender in (own, *peers.values()):
        memory = statistics.median(contender.mebibytes)
        ratio, each, whole, extra = "", "", "", ""
        if contender is not own:
            ratio = f"{own.median() / contender.median():.2f}"
            each = " ".join(f"{a / b:.2f}" for a, b in zip(own.medians, contender.medians))
            whole = f"{ownMemory / memory:.2f}"
            extra = f"{(ownMemory - state) / (memory - state):.2f}"
        lines.append(f"| {contender.name} | {summary(contender.ms)} | {1000 * count / contender.median():,.0f} | {ratio} "
                     f"| {each} | {memory:.0f} | {whole} | {memory - state:.0f} | {extra} | {contender.compileSeconds:.1f} |")
    def difference(peer, steps):
        return max(abs(a - b) for a, b in zip(own.losses[:steps], peer.losses))

    alike = min(ALIKE, len(own.losses))
    lines += ["", f"Losses beside Napkin's, largest difference over the first {alike} steps, and over all {len(own.losses)}: " +
              ", ".join(f"{peer.name} {difference(peer, alike):.1e}, {difference(peer, len(own.losses)):.1e}"
                        for peer in peers.values()) +
              (f". PyTorch's AdamW: `{kind}`." if kind else "."), "", "Napkin's step by kernel:", "", "```", profile.rstrip(), "```", ""]
    return "\n".join(lines)


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", text)
    return f"{name[1] if name else 'unknown processor'}, {os.cpu_count()} logical processors"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("works", nargs="*", metavar="WORK", help=", ".join(WORKS))
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--repeats", default=3, type=int)
    parser.add_argument("--seconds", default=6.0, type=float, help="of Napkin's steps in one run, about")
    parser.add_argument("--threads", default=2, type=int)
    parser.add_argument("--napkin", default=ROOT / "build/release/bin/napkin", type=pathlib.Path)
    parser.add_argument("--short", action="store_true", help="one round of a few steps")
    parser.add_argument("--out", type=pathlib.Path)
    given = parser.parse_args()
    given.peers = [peer for peer in given.peers.split(",") if peer]
    given.works = given.works or list(WORKS)
    if given.short:
        given.repeats = 1
    precisions = given.precision.split(",")
    for found, known in ((given.works, WORKS), (given.peers, PEERS), (precisions, ("f32", "bf16"))):
        for name in found:
            if name not in known:
                parser.error(f"'{name}' is not one of {', '.join(known)}")
    if not given.napkin.exists():
        parser.error(f"{given.napkin} is not there; build it with tools/try, or give --napkin")

    with tempfile.TemporaryDirectory() as name:
        bench = Bench(given, pathlib.Path(name))
        parts = ["# Training steps beside PyTorch and JAX", "",
                 f"{machine()}, {given.threads} threads. {given.repeats} rounds in which the contenders take turns; medians, the "
                 "middle half in brackets; the ratios of the rounds' medians after them.", "",
                 "```", bench.measureMachine().rsplit("stored in", 1)[0].rstrip(), "```", ""]
        versions, results, sections = {}, [], []
        for precision in precisions:
            for work in given.works:
                own, peers, profile, kind = bench.work(WORKS[work], precision)
                versions |= {peer.name: peer.version for peer in peers.values()}
                results.append((WORKS[work], precision, own, peers, profile, bench.peak(precision)))
                sections.append(section(WORKS[work], precision, own, peers, profile, kind))
                text = "\n".join([*parts, overview(results), *sections])
                if given.out:
                    given.out.write_text(text)
        print(text)
        print("; ".join(f"{name} {version}" for name, version in versions.items()))


if __name__ == "__main__":
    main()
