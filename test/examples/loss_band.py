"""Holds the losses of narrow policies to those of f32, step by step on the same data and draws.

    loss_band.py FOLDER STEPS BAND POLICY... -- MODEL FLAG...

For each policy: the mean loss of every stretch of 50 steps is within BAND of f32's, and is not equal to it. Prints the largest
distance. FOLDER has train.txt.
"""
import json
import pathlib
import subprocess
import sys

STRETCH = 50


def losses(folder, policy, steps, arguments):
    log = folder / "band.jsonl"
    log.unlink(missing_ok=True)
    command = ["napkin", "train", *arguments, "--precision", policy, "--quiet", "--steps", str(steps), "--threads", "2",
               "--data", str(folder / "train.txt"), "--log", str(log)]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{' '.join(command)}\n{run.stderr}")
    return [record["loss"] for record in map(json.loads, log.read_text().splitlines()) if "loss" in record]


def stretches(values):
    return [sum(values[first:first + STRETCH]) / STRETCH for first in range(0, len(values) - STRETCH + 1, STRETCH)]


def main():
    split = sys.argv.index("--")
    folder, steps, band = pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    arguments = sys.argv[split + 1:]
    wanted = losses(folder, "f32", steps, arguments)
    if len(wanted) != steps or wanted[-1] > wanted[0] - 0.5:
        sys.exit(f"f32: {len(wanted)} losses, from {wanted[0]} to {wanted[-1]}: it does not learn")
    for policy in sys.argv[4:split]:
        found = losses(folder, policy, steps, arguments)
        if found == wanted:
            sys.exit(f"{policy}: the losses are those of f32")
        distance = max(abs(a - b) for a, b in zip(stretches(found), stretches(wanted), strict=True))
        if not distance <= band:
            sys.exit(f"{policy}: means of {STRETCH} losses differ by up to {distance:.4f}, allowed are {band}")
        print(f"{policy}: means of {STRETCH} losses within {distance:.4f}, last {found[-1]:.4f} beside {wanted[-1]:.4f}")


main()
