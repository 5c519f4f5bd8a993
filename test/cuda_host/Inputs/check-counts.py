"""Law L5 on real text: in each line of `--count` the distinct bytes of a launch are the report's, and the bytes that were
asked for and the FLOPs of tensor cores those that the schedule predicts. Kernels that are named as arguments look rows up by
ids, some of them twice: they may move less, and nothing is predicted of them or of what `without=` names."""
import sys

lines = [line.split() for line in sys.stdin][1:]
if not lines:
    sys.exit("no kernel was counted")
without = [name for argument in sys.argv[1:] if argument.startswith("without=") for name in argument[8:].split(",")]
predictions = 0
for name, _, report, distinct, requested, predicted, flops, predictedFlops in lines:
    fewer = int(distinct) < int(report) and name in sys.argv[1:]
    if not (distinct == report or fewer) or int(requested) < int(distinct):
        sys.exit(f"{name}: {report} bytes by the report, {distinct} distinct, {requested} requested")
    if predicted == "-" and not any(name.startswith(start) for start in without):
        sys.exit(f"{name}: no prediction")
    predictions += predicted != "-"
    if predicted != "-" and (predicted != requested or flops != predictedFlops):
        sys.exit(f"{name}: {predicted} bytes and {predictedFlops} FLOPs predicted, {requested} and {flops} counted")
print(len(lines), "kernels move what the report says,", predictions, "ask for what was predicted")
