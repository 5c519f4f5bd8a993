"""Holds the gradients of a narrow policy to those of f32, for example models at law sizes.

narrow_gradients.py FOLDER POLICY TOLERANCE MODEL...: per tensor, max |g - f| <= TOLERANCE max |f|, and not everywhere equal. A gradient is
read off one step of plain descent of rate 1.
"""
import pathlib
import sys

import models

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reference"))
import safetensors  # noqa: E402


def weights(folder, command, data, *more):
    models.call(*command, *data, "--quiet", "--threads", 2, "--steps", 1, "--save", folder, *more)
    (step,) = folder.glob("step-*")
    return safetensors.read(step / "model.safetensors")


root, policy, tolerance = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
failures = []
largest = 0.0
for name in sys.argv[4:]:
    model, folder, data = models.prepare(name, root / name)
    flags = [*model.flags(1), "--optimizer", "sgd(lr = lr)", "--clip-norm", "none", "--precision"]
    models.call("napkin", "compile", *flags, "f32", "-o", folder / "f32")
    # A step of rate 0 leaves the initial weights.
    start = weights(folder / "start", [folder / "f32"], data, "-D", "lr=0")
    wide = weights(folder / "wide", [folder / "f32"], data, "-D", "lr=1")
    narrow = weights(folder / "narrow", ["napkin", "train", *flags, policy], data, "-D", "lr=1")
    differ = 0
    for tensor in sorted(start.keys() - {"__metadata__"}):
        gradient = [a - b for a, b in zip(start[tensor][2], wide[tensor][2])]
        errors = [abs(a - b) for a, b in zip(wide[tensor][2], narrow[tensor][2])]
        scale = max(map(abs, gradient))
        if scale == 0:
            failures.append(f"{name}: {tensor} has no gradient")
            continue
        largest = max(largest, max(errors) / scale)
        differ += max(errors) > 0
        if max(errors) > tolerance * scale:
            failures.append(f"{name}: {tensor} is {max(errors) / scale:.3g} of its largest element off")
    if not differ:
        failures.append(f"{name}: the gradients are those of f32")
print("\n".join(failures) or f"gradients within {largest:.3g} of f32's")
sys.exit(1 if failures else 0)
