"""Holds a report's other forms against its JSON.

check_streams.py folded REPORT.json BYTES TIME     the lines of stacks add up to the step's planned bytes, and to its roof time but for roundings
check_streams.py timeline REPORT.json FILE.csv     classes add up to the total, the totals of one function are the report's timeline, and with what
                                                   lies idle below them the arena is not exceeded
"""
import csv
import itertools
import json
import sys

faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)


report = json.load(open(sys.argv[2]))
last = report["rows"][-1]
count = 0
if sys.argv[1] == "folded":
    for path, wanted, slack in ((sys.argv[3], last["bytes_plan"], 0), (sys.argv[4], last["roof_ms"] * 1e6, 1)):
        lines = open(path).read().splitlines()
        stacks = [line.rsplit(" ", 1)[0] for line in lines]
        expect(len(set(stacks)) == len(stacks), f"{path}: a stack has two lines")
        total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        # Bytes are whole. Times are rounded up, and the report takes launches of one name together: their bounds may differ.
        expect(wanted * (1 - 0.01 * slack) <= total <= wanted * (1 + 0.05 * slack) + len(lines) * slack, f"{path}: the lines add up to {total}, the step is {wanted}")
        count += len(lines)
else:
    rows = list(csv.DictReader(open(sys.argv[3])))
    classes = ("parameters", "working", "buffers", "states", "gradients", "inputs", "saved", "temporary")
    for row in rows:
        expect(sum(int(row[name]) for name in classes) == int(row["total"]), f"{row['function']} {row['op']}: the classes do not add up")
    timelines = [[int(row["total"]) for row in group] for _, group in itertools.groupby(rows, key=lambda row: row["function"])]
    expect(report["timeline"] in timelines, "no function has the report's timeline")
    reached = [int(row["total"]) + int(row["padding"]) for row in rows]
    expect(all(int(row["padding"]) >= 0 for row in rows), "padding is below 0")
    # The arena ends where its highest tensor does, of some op or declared, rounded up to the next place.
    expect(last["memory"]["total"] - 256 < max(reached) <= last["memory"]["total"], f"the highest end is {max(reached)}, the arena {last['memory']['total']}")
    expect(max(map(max, timelines)) + last["memory"]["padding"] == last["memory"]["total"], "the peak is not the report's")
    count = len(rows)
print(*faults, f"{'wrong' if faults else 'ok'} {count}", sep="\n")
