"""Compiles GPT-2 with two numbers of layers and compares numbers of kernels and sizes of objects.

depth.py FOLDER
"""
import json
import pathlib
import sys

import models

root = pathlib.Path(sys.argv[1])
kernels, sizes = [], []
for layers in (12, 48):
    model = models.MODELS["gpt2"]
    flags = [*model.flags(3), "-D", f"layers={layers}"]
    program = json.loads(models.call("napkin", "compile", *flags, "--emit=plan"))
    launched = {launch["kernel"] for function in program["functions"] for launch in function["launches"]}
    kernels.append(len(program["kernels"]))
    assert launched == set(range(kernels[-1])), "every kernel is launched"
    models.call("napkin", "compile", *flags, "--emit=obj", "-o", root / "object")
    sizes.append((root / "object").stat().st_size)
print("same number of kernels" if kernels[0] == kernels[1] else f"kernels: {kernels}")
print("objects within 1 %" if abs(sizes[1] - sizes[0]) <= 0.01 * sizes[0] else f"bytes: {sizes}")
