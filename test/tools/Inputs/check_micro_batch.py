"""Compares --micro-batch=auto with a search of all divisors.

check_micro_batch.py NAPKIN FOLDER MODEL FLAGS..., among them batch=N and --accumulate N.
"""
import json
import pathlib
import re
import sys

from commands import Napkin

napkin, folder, *model = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
batch = next(int(word.split("=")[1]) for word in model if word.startswith("batch="))
logical = batch * int(model[model.index("--accumulate") + 1])
run = Napkin(napkin, model).run
failures = []


def cut(samples):
    return ["--micro-batch", samples, "--accumulate", logical // samples]


def plan(*flags, status=0):
    return json.loads(run("plan", "--json", *flags, status=status).stdout)


# Without a budget: 'none' of every divisor. With one: the fastest within it.
divisors = [n for n in range(1, logical + 1) if logical % n == 0]
tables = {n: plan(*cut(n)) for n in divisors}
peaks = [table["strategies"][0]["peak_bytes"] for table in tables.values()]
floors = [table["frontier"][0]["peak_bytes"] for table in tables.values()]
budgets = [max(peaks), (max(peaks) + min(floors)) // 2, (max(peaks) + 3 * min(floors)) // 4, min(floors)]
chosen = set()
for budget in budgets:
    within = {n: min((row for row in table["frontier"] if row["peak_bytes"] <= budget), key=lambda row: row["ns"])
              for n, table in tables.items() if table["frontier"][0]["peak_bytes"] <= budget}
    best = min(within, key=lambda n: (within[n]["ns"], -n))
    done = run("plan", "--json", "--micro-batch=auto", f"--memory={budget}")
    facts = json.loads(done.stdout)
    found = facts["batch"], facts["accumulate"], facts["chosen"]["ns"]
    if found != (best, logical // best, within[best]["ns"]):
        failures.append(f"{budget} bytes: {found}, and {best} at a time takes {within[best]['ns']}")
    if f"micro-batch: {best} of {logical} samples at a time, by '{facts['chosen']['strategy']}'" not in done.stderr:
        failures.append(f"{budget} bytes: {done.stderr}")
    chosen.add(best)
# The other commands choose the same.
for command, more in (("compile", ["--emit=plan"]), ("report", [])):
    line = run(command, "--micro-batch=auto", f"--memory={budget}", *more).stderr
    if f"micro-batch: {best} of" not in line:
        failures.append(f"{command} within {budget} bytes: {line}")
if len(chosen) < 2:
    failures.append(f"{chosen}: every budget has the same micro-batch")
run("plan", "--micro-batch=auto", f"--memory={min(floors) - 256}", status=3)

# A fused update takes one micro-batch alone.
line = run("compile", "--micro-batch=auto", "--fused-update", "--emit=plan").stderr
if f"micro-batch: {logical} of {logical} samples" not in line:
    failures.append(f"with a fused update: {line}")

print("\n".join(failures) or "the same as a search of all")
sys.exit(1 if failures else 0)
