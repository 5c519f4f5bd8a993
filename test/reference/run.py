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
    """Runs napkin in `folder`; the log's lines, and the weights after the last step."""
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


def main():
    model, vectors, folder, *flags = sys.argv[1:]
    tensors = safetensors.read(vectors)
    flags = tensors["__metadata__"]["flags"].split() + flags
    lines, weights = train(model, tensors, pathlib.Path(folder), flags)
    compared, worst, failures = 0, 0.0, []

    def compare(what, values, wanted):
        nonlocal compared, worst
        compared += 1
        found = difference(values, wanted)
        worst = max(worst, found)
        if found > TOLERANCE:
            failures.append(f"{what}: off by {found:.2e} of the largest, {list(values)[:4]}... "
                            f"and the reference is {list(wanted)[:4]}...")

    for name, (_, _, wanted) in part(tensors, "value.").items():
        compare(name, [line.get(name, math.nan) for line in lines], wanted)
    for name, (_, _, wanted) in part(tensors, "gradient.").items():
        before, after = tensors["init." + name][2], weights[name][2]
        compare(f"gradient of {name}", [(b - a) / RATE for a, b in zip(after, before)], wanted)
    for name, (_, _, wanted) in part(tensors, "weight.").items():
        compare(f"{name} after the last step", weights[name][2], wanted)
    print(*failures, f"{compared} compared, the worst is off by {worst:.2e}", sep="\n")
    sys.exit(bool(failures) or not compared)


main()
