"""Law L5 on real text: in each line of `--count` the distinct bytes of a launch are the report's. Kernels that are named
as arguments look rows up by ids, some of them twice: they may move less."""
import sys

lines = [line.split() for line in sys.stdin][1:]
if not lines:
    sys.exit("no kernel was counted")
for name, _, report, distinct, requested, _ in lines:
    fewer = int(distinct) < int(report) and name in sys.argv[1:]
    if not (distinct == report or fewer) or int(requested) < int(distinct):
        sys.exit(f"{name}: {report} bytes by the report, {distinct} distinct, {requested} requested")
print(len(lines), "kernels move what the report says")
