"""Fails unless two logs of training have the same losses, gradient norms and metrics, bit for bit."""
import json
import sys


def numbersOf(path):
    with open(path) as file:
        steps = [json.loads(line) for line in file]
    return [{k: v for k, v in step.items() if k not in ("ms", "samples_per_second", "tokens_per_second")} for step in steps]


first, second = (numbersOf(path) for path in sys.argv[1:3])
if not first or first != second:
    for one, other in zip(first, second):
        if one != other:
            sys.exit(f"{one}\n{other}")
    sys.exit(f"{len(first)} steps and {len(second)}")
print(len(first), "steps, the same")
