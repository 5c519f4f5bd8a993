"""Fails unless two logs of training have the same losses, gradient norms and metrics: bit for bit, or, given a third
argument, to this part of each."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "laws" / "Inputs"))
import models


def numbersOf(path):
    return [json.loads(line) for line in models.measured_losses(pathlib.Path(path)).splitlines()]


first, second = (numbersOf(path) for path in sys.argv[1:3])
part = float(sys.argv[3]) if len(sys.argv) > 3 else 0


def agree(one, other):
    return one.keys() == other.keys() and all(abs(one[k] - other[k]) <= part * abs(one[k]) for k in one)


if not first or len(first) != len(second):
    sys.exit(f"{len(first)} steps and {len(second)}")
for one, other in zip(first, second):
    if not agree(one, other):
        sys.exit(f"{one}\n{other}")
print(len(first), "steps,", "near" if part else "the same")
