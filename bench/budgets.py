#!/usr/bin/env python3
"""What a budget costs on this machine: executables of one model under several budgets, predicted beside measured.

Usage: python3 bench/budgets.py [--model=examples/gpt2.nap] [--batch=4] [--seq=256] [--steps=4] [--rounds=2] [--threads=2]
                                [--napkin=build/release/bin/napkin] [--keep-device] [--out=FILE.md] [-D NAME=VALUE ...]

Budgets are the peak of `none`, 80 % and 60 % of it where a plan has so little, and the least that is planned. `napkin device`
measures the machine first (--keep-device: what is stored counts). Each budget is an executable of `napkin compile`; runs take turns,
`--rounds` times. Memory is the most that /proc/PID/smaps_rollup calls anonymous while the process runs, seen from outside: arena,
scratch, stacks, everything. A step's time is what the program logs, the least of all steps but each run's first; processor time is
that of a run less that of a run of one step, over the steps between and the threads, and tells more where others use the machine.
Predicted is the sum over the kernels of what the device file's rates give, as the executable has it (`--audit-file`), and "off" how
far the measured step is from it; "floor" is the sum of their floors, "plan" what the compiler chose by, its reference processor's.
Times are shown over those of `none` too. Where 80 % and 60 % of `none` are below the least that is planned, the update is fused into
the backward pass and nothing clipped (`--fused-update`), which keeps no set of gradients.
"""
import argparse
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20


def call(*words):
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(map(str, words))}\nstatus {run.returncode}\n{run.stderr}")
    return run


def anonymous(pid):
    """Anonymous bytes of a process; 0 where it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Anonymous:\s+(\d+) kB", text, re.M)
    return int(found.group(1)) * 1024 if found else 0


class Budget:
    """One budget: its executable, and what its runs measured."""

    def __init__(self, name, bytes, executable, flags=()):
        self.name, self.bytes, self.executable, self.flags = name, bytes, executable, flags
        self.plan, self.most, self.ms, self.processor = "", 0, [], []
        self.taken = self.predicted = self.floor = 0

    def compile(self, command):
        said = call(*command, *self.flags, f"--memory={self.bytes}", "-o", self.executable).stderr
        found = re.search(r"by '(\w+)'; time ([0-9.]+) x", said)
        self.plan, self.ratio = found.group(1), float(found.group(2))

    def audit(self, flags, path):
        call(self.executable, *flags, "--steps", 2, "--audit", "--audit-file", path,
             *[word for what in ("memory", "flops", "bytes", "time") for word in ("--audit-limit", f"{what}=0")])
        facts = json.loads(path.read_text())
        figures = {figure["name"]: figure for figure in facts["figures"]}
        self.taken = next(figure["predicted"] for name, figure in figures.items() if name.startswith("anonymous"))
        self.predicted = 1e3 * sum(row["predicted_seconds"] or 0 for row in facts["kernels"])
        self.floor = 1e3 * sum(row["floor_seconds"] or 0 for row in facts["kernels"])

    def once(self, flags, steps, log):
        """Runs so many steps; processor seconds of the process."""
        log.unlink(missing_ok=True)
        with tempfile.TemporaryFile("w+") as errors:
            child = subprocess.Popen([str(word) for word in (self.executable, *flags, "--steps", steps, "--log", log)], stderr=errors)
            ended = 0
            while not ended:
                self.most = max(self.most, anonymous(child.pid))
                time.sleep(0.02)
                ended, status, usage = os.wait4(child.pid, os.WNOHANG)
            child.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            if child.returncode:
                sys.exit(errors.read())
            return usage.ru_utime + usage.ru_stime

    def run(self, flags, steps, threads, log):
        first = self.once(flags, 1, log)
        whole = self.once(flags, steps + 1, log)
        self.processor.append(1e3 * (whole - first) / steps / threads)
        self.ms += [json.loads(line)["ms"] for line in log.read_text().splitlines()][1:]


def table(budgets):
    whole = budgets[0]
    lines = [["budget", "MiB", "plan", "planned MiB", "anonymous MiB", "beside MiB", "plan x none", "predicted x none",
              "measured x none", "floor ms", "predicted ms", "measured ms", "off %", "processor ms", "off %"]]
    lines.append(["---"] * len(lines[0]))
    for one in budgets:
        measured, processor = min(one.ms), min(one.processor)
        lines.append([one.name, f"{one.bytes / MIB:.0f}", one.plan, f"{one.taken / MIB:.1f}", f"{one.most / MIB:.1f}",
                      f"{(one.most - one.taken) / MIB:.1f}", f"{one.ratio:.3f}", f"{one.predicted / whole.predicted:.3f}",
                      f"{measured / min(whole.ms):.3f}", f"{one.floor:.0f}", f"{one.predicted:.0f}", f"{measured:.0f}",
                      f"{100 * (measured / one.predicted - 1):+.1f}", f"{processor:.0f}",
                      f"{100 * (processor / one.predicted - 1):+.1f}"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--model", default=ROOT / "examples/gpt2.nap")
    parser.add_argument("--napkin", default=ROOT / "build/release/bin/napkin", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--keep-device", action="store_true")
    parser.add_argument("-D", action="append", default=[], dest="sizes")
    for name, value in (("batch", 4), ("seq", 256), ("steps", 4), ("rounds", 2), ("threads", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    if not options.napkin.exists():
        sys.exit(f"{options.napkin} is not there; build it, or name it with --napkin")
    # The scratch of all workers is in a budget.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    if not options.keep_device:
        call(options.napkin, "device")
    sizes = [word for size in (f"batch={options.batch}", f"seq={options.seq}", *options.sizes) for word in ("-D", size)]
    model = [options.model, *sizes, "--accumulate=1"]

    def peaks(*flags):
        """Bytes of `none` and the least that is planned."""
        plans = json.loads(call(options.napkin, "plan", *model, *flags, "--json").stdout)
        return plans["strategies"][0]["peak_bytes"], plans["frontier"][0]["peak_bytes"]

    (most, least), (_, leastFused) = peaks(), peaks("--fused-update", "--clip-norm=none")
    wanted = {"none": most, "80 %": most * 8 // 10, "60 %": most * 6 // 10, "floor": least, "floor, fused": leastFused}
    fused = {name for name, bytes in wanted.items() if bytes < least}
    below = [name for name, bytes in wanted.items() if bytes < leastFused]
    budgets = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tokens = folder / "tokens.bin"
        dice = random.Random(7)
        ids = [dice.randrange(64) for _ in range(options.batch * options.seq * 64)]
        tokens.write_bytes(struct.pack(f"<{len(ids)}H", *ids))
        flags = ["--data", tokens, "--quiet", "--threads", options.threads]
        for name, bytes in wanted.items():
            if name in below:
                continue
            flags_of = ["--fused-update", "--clip-norm=none"] if name in fused else []
            budgets.append(Budget(name, bytes, folder / f"step{len(budgets)}", flags_of))
            budgets[-1].compile([options.napkin, "compile", *model])
            budgets[-1].audit(flags, folder / "audit")
        for _ in range(options.rounds):
            for budget in budgets:
                budget.run(flags, options.steps, options.threads, folder / "log")
    text = table(budgets)
    if below:
        text += f"\nBelow the least that is planned, {least / MIB:.0f} MiB: {', '.join(below)}\n"
    text += f"\nLoad at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.\n"
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


main()
