"""Trains examples/gpt2.nap in its small size by napkin and compares with expected.safetensors.

Usage: check.py MODEL.nap FOLDER gradients|losses [FLAG...]; FLAGs go to `napkin train`.
"""
import math
import pathlib
import shlex
import sys

import inputs
import run
import safetensors

model, folder, what, *flags = sys.argv[1:]
folder = pathlib.Path(folder)
expected = safetensors.read(pathlib.Path(__file__).parent / "expected.safetensors")
tensors = {"init." + name: t for name, t in inputs.weights().items()}
tensors |= {"data." + name: t for name, t in inputs.data().items()} | expected
flags = shlex.split(inputs.FLAGS) + flags
comparison = run.Comparison(flags)
if what == "gradients":
    flags += [f"--optimizer=sgd(lr = {run.RATE:.0f})", "--clip-norm=none", "--steps=1"]
    lines, weights = run.train(model, tensors, folder, flags)
    comparison.add("loss", [lines[0]["loss"]], expected["loss"][2])
    comparison.addGradients(tensors, weights)
else:
    flags += [f"--optimizer={inputs.OPTIMIZER}", "--clip-norm=1", f"--steps={inputs.STEPS}"]
    lines, _ = run.train(model, tensors, folder, flags)
    for step, wanted in enumerate(expected["losses.f64"][2]):
        comparison.add(f"loss of step {step}", [lines[step]["loss"]], [wanted], tolerance=1e-4)
    norms = [line.get("gradient_norm", math.nan) for line in lines]
    comparison.add("norms of the gradients", norms, expected["norms.f64"][2], tolerance=1e-4)
comparison.exit()
