"""Adds up what the optimizer's kernels of a report move, beside its parameters.

update_bytes.py < REPORT.json
"""
import json
import sys

report = json.load(sys.stdin)
# AdamW divides by a root of the second moment; its scalars are eight numbers and whether to step at all.
kernels = [kernel for kernel in report["rows"][-1]["kernels"] if "sqrt_div" in kernel["name"]]
launches = sum(kernel["count"] for kernel in kernels)
moved = sum(kernel["bytes_plan"] for kernel in kernels) - launches * (8 * 4 + 1)
print(f"{launches} launches move {moved / report['parameters']:g} bytes a parameter")
