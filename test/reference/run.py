"""Trains a model by napkin from a file of reference vectors and compares what comes out.

Usage: run.py MODEL.nap VECTORS.safetensors FOLDER [FLAG...]; FLAGs go to `napkin train`.
VECTORS is laid out as prelude/make.py says. A gradient is read off the weights: the model trains by
sgd with a rate of 2**20, so the weight moves by that many gradients.
"""
import json
import math
import pathlib
import shutil
import subprocess
import sys

import safetensors

RATE = float(1 << 20)
# Law L4's bound for f32: against the largest reference value of the same tensor.
TOLERANCE = 1e-5
# The bound for f64: law L4 leaves 1e-7 to differences of gradients, and here both sides are exact
# but for rounding.
TOLERANCE_F64 = 1e-10


def part(tensors, prefix):
    """The tensors under a prefix, without it."""
    return {name[len(prefix):]: t for name, t in tensors.items() if name.startswith(prefix)}


def difference(values, wanted):
    """The largest difference, in units of the largest wanted value."""
    scale = max(map(abs, wanted))
    if len(values) != len(wanted) or not all(map(math.isfinite, values)):
        return math.inf
    return max(abs(a - b) for a, b in zip(values, wanted)) / (scale or 1.0)


def train(model, tensors, folder, flags):
    """Runs napkin in `folder`; the log's lines, and the weights after the last step.

    `init.*` are the weights to begin with and `data.*` the inputs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    safetensors.write(folder / "init.safetensors", part(tensors, "init."))
    safetensors.write(folder / "data.safetensors", part(tensors, "data."))
    done = subprocess.run(
        ["napkin", "train", model, "--data", folder / "data.safetensors", "--init",
         folder / "init.safetensors", "--log", folder / "log.jsonl", "--save", folder / "saved",
         *flags], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"napkin train left with {done.returncode}\n{done.stdout}{done.stderr}")
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    (saved,) = (folder / "saved").glob("step-*/model.safetensors")
    return [line for line in lines if "loss" in line], safetensors.read(saved)


class Comparison:
    """Collects differences, and says at the end what is wrong."""

    def __init__(self, flags=()):
        self.tolerance = TOLERANCE_F64 if "--precision=f64" in flags else TOLERANCE
        self.compared, self.worst, self.failures = 0, 0.0, []

    def add(self, what, values, wanted, tolerance=None):
        found = difference(values, wanted)
        tolerance = tolerance or self.tolerance
        self.compared += 1
        self.worst = max(self.worst, found)
        if found > tolerance:
            self.failures.append(f"{what}: off by {found:.2e} of the largest, {list(values)[:4]}... "
                                 f"and the reference is {list(wanted)[:4]}...")

    def addGradients(self, tensors, weights):
        """`gradient.P` against the move of P from `init.P` to its weight, by one step of sgd."""
        for name, (_, _, wanted) in part(tensors, "gradient.").items():
            moved = zip(tensors["init." + name][2], weights[name][2])
            self.add(f"gradient of {name}", [(b - a) / RATE for b, a in moved], wanted)

    def exit(self):
        print(*self.failures, f"{self.compared} compared, the worst is off by {self.worst:.2e}",
              sep="\n")
        sys.exit(bool(self.failures) or not self.compared)


def main():
    model, vectors, folder, *flags = sys.argv[1:]
    tensors = safetensors.read(vectors)
    flags = tensors["__metadata__"]["flags"].split() + flags
    lines, weights = train(model, tensors, pathlib.Path(folder), flags)
    comparison = Comparison()
    for name, (_, _, wanted) in part(tensors, "value.").items():
        comparison.add(name, [line.get(name, math.nan) for line in lines], wanted)
    comparison.addGradients(tensors, weights)
    for name, (_, _, wanted) in part(tensors, "weight.").items():
        comparison.add(f"{name} after the last step", weights[name][2], wanted)
    comparison.exit()


if __name__ == "__main__":
    main()
