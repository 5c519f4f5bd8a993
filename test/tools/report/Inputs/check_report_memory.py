"""Holds the memory of `napkin report` against budgets, plans, and the sum of its classes.

check_report_memory.py NAPKIN MODEL FLAGS..., with two threads.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
from commands import Napkin  # noqa: E402

napkin, *model = sys.argv[1:]
run = Napkin(napkin, model).run
failures = []


def memory(*flags):
    row = json.loads(run("report", "--json", *flags).stdout)["rows"][-1]
    facts = row["memory"]
    if not facts["planned"]:
        failures.append(f"{flags}: nothing is planned")
    parts = sum(facts[name] for name in CLASSES)
    if parts != facts["total"]:
        failures.append(f"{flags}: the classes take {parts} bytes and the arena {facts['total']}")
    return facts


CLASSES = ("parameters", "working", "buffers", "states", "gradients", "inputs", "saved", "temporary", "padding")
table = json.loads(run("plan", "--json").stdout)
frontier = table["frontier"]
for row in frontier[:: max(1, len(frontier) // 6)]:
    budget = row["peak_bytes"]
    facts = memory("--memory", budget)
    takes = facts["total"] + table["workers"] * ((facts["scratch"] + 255) // 256 * 256)
    if takes != budget:
        failures.append(f"{budget} bytes are planned and the report has {takes}")
whole = memory()
if whole["total"] + table["scratch_bytes"] != table["strategies"][0]["peak_bytes"]:
    failures.append("without a budget the arena is not that of 'none'")
# The model has dropout: masks are stored, or whatever several kernels read, where nothing is drawn or computed again.
for flag in ("--store-masks", "--fuse-recompute=off"):
    saved = memory(flag)["saved_at_loss"]
    if saved <= whole["saved_at_loss"]:
        failures.append(f"{flag}: {saved} bytes are saved at the loss, and {whole['saved_at_loss']} without it")
run("report", "--memory", frontier[0]["peak_bytes"] - 256, status=3)

# Where all gradients at once are the peak, a fused update takes all but the largest, which is in flight, out of it.
run = Napkin(napkin, [str(pathlib.Path(__file__).with_name("deep.nap")), "--threads", "2"]).run
before, after = memory(), memory("--fused-update")
for name in CLASSES[:6]:
    if before[name] != after[name]:
        failures.append(f"{name}: {before[name]} bytes, and {after[name]} with a fused update")
layers, gradient = 6, 64 * 64 * 4
numbers = 256  # beside gradients: a row, and what has no axes
if not layers * gradient <= before["temporary"] <= layers * gradient + numbers:
    failures.append(f"{before['temporary']} temporary bytes, and gradients are {layers * gradient} of them")
if not gradient <= after["temporary"] <= gradient + numbers:
    failures.append(f"{after['temporary']} temporary bytes with a fused update, and one gradient is {gradient} of them")
if before["total"] - after["total"] < (layers - 1) * gradient - 2048:
    failures.append(f"the arena falls from {before['total']} to {after['total']} bytes")

print("\n".join(failures) or "within every budget")
sys.exit(1 if failures else 0)
