"""Law L5 on real text: in each line of `--count` the distinct bytes of a launch are the report's, and the bytes that were
asked for and the FLOPs of tensor cores and of threads those that the schedule predicts. Kernels that are named as arguments look
rows up by ids, some of them twice: they may move less."""
import sys

lines = [line.split() for line in sys.stdin][1:]
if not lines:
    sys.exit("no kernel was counted")
for name, _, report, distinct, *counts in lines:
    requested = counts[0]
    fewer = int(distinct) < int(report) and name in sys.argv[1:]
    if not (distinct == report or fewer) or int(requested) < int(distinct):
        sys.exit(f"{name}: {report} bytes by the report, {distinct} distinct, {requested} requested")
    if "-" in counts:
        sys.exit(f"{name}: no prediction")
    for what, counted, predicted in zip(("bytes", "FLOPs of tensor cores", "FLOPs of threads"), counts[::2], counts[1::2]):
        if counted != predicted:
            sys.exit(f"{name}: {predicted} {what} predicted, {counted} counted")
print(len(lines), "kernels move what the report says, and ask for what was predicted")
