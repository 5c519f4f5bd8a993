"""Reads the table of budgets of `napkin plan` in a text file: its rows are as many as wanted, the first has the least peak and the last
that of `none` and its time; peaks rise and times fall; no gap is below zero.

read_frontier.py FILE ROWS [OTHER_ROWS]
"""
import pathlib
import re
import sys

named, budgets = pathlib.Path(sys.argv[1]).read_text().split("\nBudgets, the least first:")
NUMBER = r"\s+(-?[0-9.]+)"
ROW = re.compile(r"^(>?)\s+(\w+)" + 8 * NUMBER, re.M)


def rows(text):
    """(mark, strategy, peak, time over that of none, gap) of each row."""
    return [(found[1], found[2], float(found[3]), float(found[9]), float(found[10])) for found in ROW.finditer(text)]


failures = []
none, frontier = rows(named)[0], rows(budgets.split("\n\n")[0])
if none[1] != "none" or str(len(frontier)) not in sys.argv[2:]:
    failures.append(f"{len(frontier)} rows below {none[1]}")
for before, after in zip(frontier, frontier[1:]):
    if before[2] > after[2] or before[3] < after[3]:
        failures.append(f"{before} stands before {after}")
if frontier[0][2] > min(row[2] for row in rows(named)) or frontier[-1][2:4] != none[2:4]:
    failures.append(f"from {frontier[0]} to {frontier[-1]}, and {none} keeps everything")
failures += [f"{row}: a negative gap" for row in frontier if row[4] < 0]
marked = sum(bool(row[0]) for row in frontier)
print("\n".join(failures) or f"{len(frontier)} budgets from the floor to the peak, {marked} marked")
sys.exit(bool(failures))
