"""Law L1 for executables: all anonymous memory of a process that trains is at most what was planned and models.BESIDE bytes.

An example at a size where budgets matter is compiled under that of `none`, one half way, and the least. Each executable trains until
it has logged three steps, is stopped, and /proc says from outside what it has: arena, scratch, code, stacks, batches.

resident.py MODEL FOLDER
"""
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import models

# `compile` counts the processors that it may use, whose scratch is in a budget.
CPUS = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, CPUS)
# Law sizes are too small to tell budgets apart.
SIZES = {
    "mlp": dict(hidden=531, batch=901),
    "words": dict(layers=3, d=99, seq=67, batch=13),
    "gpt2": dict(layers=4, d=122, context=91, seq=91, batch=7),
    "llama": dict(layers=3, d=132, hidden=201, seq=87, batch=7),
    "optimizers": dict(hidden=531, batch=901),
}
name = sys.argv[1]
law = models.MODELS[name]
model, root, data = models.prepare(dataclasses.replace(law, sizes=law.sizes | SIZES[name]), sys.argv[2], samples=1000)
flags = model.flags(1)
failures = []


def steps_of(log):
    return log.read_text().count("\n") if log.exists() else 0


def anonymous_bytes(executable, log):
    """What a process has in memory that no file holds, three steps after its start."""
    child = subprocess.Popen([executable, *data, "--quiet", "--steps", "100000000", "--threads", str(len(CPUS)), "--log", log],
                             stderr=subprocess.PIPE)
    try:
        while steps_of(log) < 3:
            if child.poll() is not None:
                sys.exit(f"{executable} ended: {child.stderr.read().decode()}")
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGSTOP)
        text = pathlib.Path(f"/proc/{child.pid}/smaps_rollup").read_text()
    finally:
        child.kill()
        child.wait()
    return int(re.search(r"^Anonymous:\s+(\d+) kB", text, re.M).group(1)) * 1024


table = json.loads(models.call("napkin", "plan", *flags, "--json", "--threads", len(CPUS)))
least, most = table["frontier"][0]["peak_bytes"], table["strategies"][0]["peak_bytes"]
for budget in sorted({most, (least + most) // 2, least}, reverse=True):
    program = json.loads(models.call("napkin", "compile", *flags, "--emit=plan", "--memory", budget))
    planned = program["arena_bytes"] + len(CPUS) * program["scratch_bytes_per_worker"]
    executable, log = root / "step", root / f"{budget}.log"
    models.call("napkin", "compile", *flags, "--memory", budget, "-o", executable)
    anonymous = anonymous_bytes(executable, log)
    print(f"{budget} bytes allowed, {planned} planned, {anonymous} anonymous, {anonymous - planned} beside")
    if planned > budget:
        failures.append(f"{budget} bytes allowed and {planned} planned")
    if anonymous > planned + models.BESIDE:
        failures.append(f"{planned} bytes planned and {anonymous} anonymous, more than {models.BESIDE} beside")
    # Pages of the arena that only evaluation or padding has are never touched.
    if anonymous < 0.9 * planned:
        failures.append(f"{planned} bytes planned and {anonymous} anonymous: the process was not measured")

print(*failures or ["within what was planned and the constant"], sep="\n")
sys.exit(bool(failures))
