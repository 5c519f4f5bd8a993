"""Laws L2 and L3 for what is computed again: every strategy and every budget gives the same bits, a budget is obeyed
or refused, a larger one is never slower.

checkpoint.py MODEL FOLDER [PARTS]. With PARTS, all but the reference has its head cut into so many parts.
"""
import json
import subprocess
import sys

import models

model, root, data = models.prepare(sys.argv[1], sys.argv[2])
PARTS = ["--chunks", sys.argv[3]] if len(sys.argv) > 3 else []
THREADS = 2
failures = []


def train(name, accumulate, *flags):
    folder, log = root / name, root / f"{name}.jsonl"
    models.call("napkin", "train", *model.flags(accumulate), *data, "--quiet", "--steps", 3, "--threads", THREADS,
                "--save", folder, "--log", log, *flags, NAPKIN_POISON="1")
    files = {path.name: path.read_bytes() for path in sorted(max(folder.glob("step-*")).iterdir())}
    return files, models.measured_losses(log)


def plan(accumulate, *flags):
    return json.loads(models.call("napkin", "plan", *model.flags(accumulate), "--json", "--threads", THREADS, *PARTS, *flags))


def bytes_of(accumulate, *flags):
    """Bytes that the program asks for; the exit status where there is none."""
    command = ["napkin", "compile", *model.flags(accumulate), "--emit=plan", *PARTS, *flags]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode:
        return None, run
    program = json.loads(run.stdout)
    return program["arena_bytes"], program["scratch_bytes_per_worker"]


for accumulate in model.micro_batches[-1:]:
    tag = f"x{accumulate}-"
    table = plan(accumulate)
    frontier = table["frontier"]
    if [row["peak_bytes"] for row in frontier] != sorted({row["peak_bytes"] for row in frontier}):
        failures.append(f"{tag}the frontier's bytes do not rise")
    if [row["ns"] for row in frontier] != sorted({row["ns"] for row in frontier}, reverse=True):
        failures.append(f"{tag}the frontier's times do not fall")
    if frontier[-1]["ns"] != table["strategies"][0]["ns"]:
        failures.append(f"{tag}without a limit something is computed again")

    # No named strategy is faster than the frontier at the bytes that it takes.
    for row in table["strategies"]:
        if row["ns"] < min(other["ns"] for other in frontier if other["peak_bytes"] <= row["peak_bytes"]):
            failures.append(f"{tag}{row['strategy']} is faster than every plan within its bytes")

    # A budget between the least and the peak has the fastest plan of the frontier that it holds.
    least, most = frontier[0]["peak_bytes"], frontier[-1]["peak_bytes"]
    budget = (least + most) // 2
    fastest = min((row for row in frontier if row["peak_bytes"] <= budget), key=lambda row: row["ns"])
    if plan(accumulate, "--memory", budget)["chosen"] != fastest:
        failures.append(f"{tag}{budget} bytes: not the fastest plan of the frontier")

    reference = train(tag + "kept", accumulate)
    recomputed = 0
    # Blocks by hand: the default of a model that has them.
    by_name = {row["strategy"]: row for row in table["strategies"]}
    if manual := by_name.get("manual"):
        if not manual["recomputed_ns"] or manual["saved_bytes"] >= by_name["none"]["saved_bytes"]:
            failures.append(f"{tag}nothing is computed again by hand")
        if train(tag + "none", accumulate, "--checkpoint", "none", *PARTS) != reference:
            failures.append(f"{tag}by hand: other bits")
        arena, scratch = bytes_of(accumulate)
        if arena + table["workers"] * scratch != manual["peak_bytes"]:
            failures.append(f"{tag}by hand {manual['peak_bytes']} bytes were planned, {arena} and {scratch} a worker it is")
    for strategy in ("blocks", "minimal"):
        if train(tag + strategy, accumulate, "--checkpoint", strategy, *PARTS) != reference:
            failures.append(f"{tag}{strategy}: other bits")
    for name, row in (("least", frontier[0]), ("middle", frontier[len(frontier) // 2])):
        recomputed += row["recomputed_ns"]
        if train(tag + name, accumulate, "--memory", row["peak_bytes"], *PARTS) != reference:
            failures.append(f"{tag}{name}: other bits")
    arena, scratch = bytes_of(accumulate, "--memory", frontier[0]["peak_bytes"])
    workers = table["workers"]
    if table["scratch_bytes"] != workers * scratch or arena + workers * scratch != least:
        failures.append(f"{tag}{least} bytes were planned, {arena} and {scratch} a worker it is")
    if not recomputed and len(frontier) > 1:
        failures.append(f"{tag}nothing was computed again")

    # Below the least: refused, with the least by name.
    _, run = bytes_of(accumulate, "--memory", least - 256)
    if run.returncode != 3 or f"the least that can be planned is {least} bytes" not in run.stderr:
        failures.append(f"{tag}{least - 256} bytes: status {run.returncode}, {run.stderr}")

print("\n".join(failures) or "the same bits, within every budget")
sys.exit(1 if failures else 0)
