"""Laws L1, L2 and L3 over budgets: an example at three sizes, twenty budgets each from the least peak to that of `none`.

Every budget is obeyed by the fastest plan of the frontier that it holds, and a larger one is never slower. Under every named strategy and
under some of the budgets a run has the same losses and weights; what it asks for is what the plan says, and what it then has in
memory is that.

budgets.py MODEL FOLDER INTERPOSER [SIZES]. SIZES: how many of the three, the law size first.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import sys

import models

# `compile` counts the processors that it may use, whose scratch is in a budget.
CPUS = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, CPUS)
THREADS = len(CPUS)
BUDGETS, STEPS, PAGE = 20, 3, 4096
# What differs from the law size, which is the first.
SIZES = {
    "mlp": [{}, dict(hidden=67, batch=13), dict(hidden=131, batch=29)],
    "words": [{}, dict(d=45, seq=29), dict(layers=2, heads=5, d=55, seq=37)],
    "gpt2": [{}, dict(layers=1, heads=3, d=45, context=37, seq=35), dict(layers=3, d=58, context=53, seq=51)],
    "llama": [{}, dict(layers=1, d=60, hidden=45, seq=29), dict(layers=3, d=84, hidden=77, seq=37)],
    "optimizers": [{}, dict(hidden=67, batch=13), dict(hidden=131, batch=29)],
}
name, interposer = sys.argv[1], sys.argv[3]
root = pathlib.Path(sys.argv[2])
shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
failures = []
runs = 0


def flags_of(model):
    return model.flags(model.micro_batches[-1])


def check_budgets(place, model, table):
    """Plans within the budgets; returns (budget, bytes taken) of each."""
    frontier = {row["peak_bytes"]: row["ns"] for row in table["frontier"]}
    least, most = table["frontier"][0]["peak_bytes"], table["strategies"][0]["peak_bytes"]
    budgets = [least + (most - least) * part // (BUDGETS - 1) for part in range(BUDGETS)]
    plans, before = [], None
    for budget in budgets:
        program = json.loads(models.call("napkin", "compile", *flags_of(model), "--emit=plan", "--memory", budget))
        taken = program["arena_bytes"] + THREADS * program["scratch_bytes_per_worker"]
        if taken > budget or taken not in frontier:
            failures.append(f"{place}: {budget} bytes allowed, {taken} taken, not of the frontier {sorted(frontier)}")
            continue
        if frontier[taken] != min(ns for bytes, ns in frontier.items() if bytes <= budget):
            failures.append(f"{place}: {budget} bytes: not the fastest plan")
        if before is not None and frontier[taken] > before:
            failures.append(f"{place}: {budget} bytes: slower than with less")
        before = frontier[taken]
        plans.append((budget, taken))
    return plans


def train(folder, model, place, taken, *flags):
    """Files and losses of a run that takes `taken` bytes; its memory is looked at as well."""
    global runs
    runs += 1
    run = folder / f"run{runs}"
    run.mkdir()
    models.call("napkin", "train", *flags_of(model), *models.data_flags(model, folder), "--quiet", "--steps", STEPS, "--threads",
                THREADS, "--save", run / "saved", "--log", run / "log", "--audit", "--audit-file", run / "audit", "--audit-limit",
                "bytes=0", "--audit-limit", "flops=0", *flags, LD_PRELOAD=interposer, INTERPOSE_LOG=str(run / "seen"),
                NAPKIN_POISON="1")
    mapped = [int(line.split()[1]) for line in (run / "seen").read_text().splitlines() if line.startswith("map ")]
    if mapped.count(taken) != 1:
        failures.append(f"{place}: {taken} bytes were planned and {mapped} mapped")
    figures = {figure["name"].split(" of ")[0]: figure for figure in json.loads((run / "audit").read_text())["figures"]}
    resident, anonymous = figures["tensors resident"], figures["anonymous memory"]
    if not 0.95 * resident["predicted"] <= resident["measured"] <= resident["predicted"] + PAGE:
        failures.append(f"{place}: {resident['predicted']} bytes of tensors were planned, {resident['measured']} are resident")
    if anonymous["predicted"] != taken or anonymous["measured"] > taken + models.BESIDE:
        failures.append(f"{place}: {taken} bytes were planned, {anonymous['measured']} are anonymous")
    saved = max((run / "saved").glob("step-*"))
    return {path.name: path.read_bytes() for path in sorted(saved.iterdir())}, models.measured_losses(run / "log")


tried = SIZES[name][:int(sys.argv[4]) if len(sys.argv) > 4 else None]
for number, sizes in enumerate(tried):
    model = models.MODELS[name]
    sized = dataclasses.replace(model, sizes=model.sizes | sizes)
    model, folder, _ = models.prepare(sized, root / f"size{number}", samples=400)
    table = json.loads(models.call("napkin", "plan", *flags_of(model), "--json", "--threads", THREADS))
    plans = check_budgets(f"size {number}", model, table)
    ways = [(row["strategy"], row["peak_bytes"], ("--checkpoint", row["strategy"])) for row in table["strategies"]]
    # Different plans, four at the law size and two at the others.
    distinct = list({taken: (budget, taken) for budget, taken in plans}.values())
    chosen = distinct[::max(1, len(distinct) // (2 if number else 4))]
    ways += [(f"{budget} bytes", taken, ("--memory", budget)) for budget, taken in chosen]
    reference = None
    for way, taken, flags in ways:
        result = train(folder, model, f"size {number}, {way}", taken, *flags)
        reference = reference or result
        if result != reference:
            failures.append(f"size {number}, {way}: other bits than with {ways[0][0]}")

print("\n".join(failures) or f"{len(tried) * BUDGETS} budgets obeyed, {runs} runs of the same bits")
sys.exit(1 if failures else 0)
