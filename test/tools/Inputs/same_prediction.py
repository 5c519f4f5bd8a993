"""A step's time as a report, a run and a plan predict it: same_prediction.py REPORT.json AUDIT.json PLAN.json."""
import json
import sys

report, audit, plan = (json.load(open(path)) for path in sys.argv[1:4])
last = report["rows"][-1]
told = last["predicted_ms"]
run = 1e3 * sum(kernel["predicted_seconds"] for kernel in audit["kernels"])
assert told > 0 and abs(told / run - 1) < 1e-9, (told, run)
none = next(row for row in plan["strategies"] if row["strategy"] == "none")
launches = sum(kernel["launches"] for kernel in audit["kernels"])
assert -1e-6 <= none["ns"] * 1e-6 - told <= launches * 1e-6, (none, told)
print("report and run predict the same, and the plan of none within a nanosecond a kernel")
