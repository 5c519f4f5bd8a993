"""GPT-2 124M: what a budget costs beside the named strategies.

compare_strategies.py NAPKIN MODEL FLAGS...: at 60 % of the peak of `none` the chosen plan is strictly faster than each named strategy
that fits; at the peak of each named strategy it is never slower; every row has a bound that is not above it.
"""
import json
import subprocess
import sys

command = [sys.argv[1], "plan", *sys.argv[2:], "--json"]
facts = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
failures = []
frontier, named = facts["frontier"], facts["strategies"]


def fastest(bytes):
    return min((row for row in frontier if row["peak_bytes"] <= bytes), key=lambda row: row["ns"], default=None)


budget = named[0]["peak_bytes"] * 6 // 10
chosen, fitting = fastest(budget), [row for row in named if row["peak_bytes"] <= budget]
if not fitting:
    failures.append("no named strategy fits: nothing is compared")
for row in fitting:
    if chosen["ns"] >= row["ns"]:
        failures.append(f"{row['strategy']} takes {row['ns']} ns within {budget} bytes, the chosen plan {chosen['ns']}")
for row in named:
    if fastest(row["peak_bytes"])["ns"] > row["ns"]:
        failures.append(f"{row['strategy']} is faster than every plan within its bytes")
for row in named + frontier:
    if not 0 < row["bound_ns"] <= row["ns"]:
        failures.append(f"{row}: a bound above what is found, or none")
print("\n".join(failures) or f"at 60 % of the peak: {chosen['ns'] / named[0]['ns']:.4f} of the time of none, {len(fitting)} strategies fit, "
      f"the fastest at {min(row['ns'] for row in fitting) / named[0]['ns']:.4f}")
sys.exit(bool(failures))
