"""Law L3 for the fused update: with it, and with any strategy or budget beside it, a step has the bits of the step without
it, and its peak lacks the gradients.

fused.py MODEL FOLDER
"""
import json
import re
import sys

import models

model, root, data = models.prepare(sys.argv[1], sys.argv[2])
# No number of its own is clipped away.
flags = [*model.flags(1), *models.TASKS, "--clip-norm", "none"]
WORKERS = 2
failures = []


def train(name, *more):
    """Weights, states and losses; the norm's sum has another order."""
    folder, log = root / name, root / f"{name}.jsonl"
    models.call("napkin", "train", *flags, *data, "--quiet", "--steps", 3, "--threads", WORKERS, "--save", folder, "--log", log,
                *more, NAPKIN_POISON="1")
    files = {path.name: path.read_bytes() for path in sorted(max(folder.glob("step-*")).iterdir())}
    return files, re.sub(r', "gradient_norm": [^,}]*', "", models.measured_losses(log))


def rows(*more):
    table = json.loads(models.call("napkin", "plan", *flags, "--json", "--threads", WORKERS, *more))
    return {row["strategy"]: row for row in table["strategies"]}, table["frontier"]


reference = train("whole", "--checkpoint", "none")
named, frontier = rows("--fused-update")
for name, more in [(name, ["--checkpoint", name]) for name in named] + \
                  [("least", ["--memory", frontier[0]["peak_bytes"]])]:
    if train(name, "--fused-update", *more) != reference:
        failures.append(f"{name}: other bits")
    if name not in named:
        continue
    # What is planned is what the program takes.
    program = json.loads(models.call("napkin", "compile", *flags, "--fused-update", "--emit=plan", *more))
    takes = program["arena_bytes"] + WORKERS * program["scratch_bytes_per_worker"]
    if takes != named[name]["peak_bytes"]:
        failures.append(f"{name}: {named[name]['peak_bytes']} bytes were planned and the program takes {takes}")
# Numbers of the optimizer live longer.
before, frontier_before = rows()
if any(named[name]["peak_bytes"] > before[name]["peak_bytes"] + 4096 for name in named):
    failures.append("the peak rises")
if frontier[0]["peak_bytes"] > frontier_before[0]["peak_bytes"] + 4096:
    failures.append("the least peak rises")

print("\n".join(failures) or "the same bits")
sys.exit(1 if failures else 0)
