"""What the scripts that make reference vectors share. Needs PyTorch (made with 2.15, CPU), in f64.

Names of the tensors in a file: `init.P`, where parameter P starts; `data.I`, what input I reads;
`value.M`, metric M at every step (before its update); `gradient.P` of the loss; `weight.P`, parameter
P after the last step. Values are drawn from a coarse grid, so that they are exact in f32.
"""
import math

import torch

import safetensors

torch.set_default_dtype(torch.float64)
TYPES = {torch.float32: "F32", torch.float64: "F64", torch.int32: "I32"}


def draw(*shape, low=-2.0, high=2.0):
    """Uniform on a grid of 1/256, no value twice in a row: exact in f32, few ties."""
    return (low + (high - low) * torch.rand(shape)).mul(256).round().div(256)


def drawDistinct(*shape, low=-2.0, high=2.0):
    """As `draw`, no value twice: for maxima, whose gradient at a tie is a convention."""
    count = math.prod(shape)
    places = torch.randperm(count).reshape(shape)
    return (low + (high - low) * places / count).mul(4096).round().div(4096)


class Group:
    """What one model needs and what it must answer."""

    def __init__(self, path, steps=1, flags=""):
        """`path` is that of the model, GROUP.nap; GROUP.safetensors is written beside it. `flags` are more
        flags for `napkin train`."""
        torch.manual_seed(sum(path.stem.encode()))
        self.path, self.init, self.data, self.values = path, {}, {}, {}
        self.flags = f"--data-order=sequential --steps={steps} {flags}".strip()

    def param(self, name, *shape, draw=draw, **limits):
        self.init[name] = draw(*shape, **limits).requires_grad_()
        return self.init[name]

    def input(self, name, value):
        self.data[name] = value
        return value

    def value(self, name, value):
        self.values[name] = value
        return value

    def save(self, loss=None, weights=None):
        found = {}

        def add(name, t):
            t = t.detach()
            found[name] = (TYPES[t.dtype], list(t.shape), t.flatten().tolist())

        for name, t in self.init.items():
            add("init." + name, t.detach().float())
        for name, t in self.data.items():
            add("data." + name, t.float() if t.is_floating_point() else t.int())
        for name, t in self.values.items():
            add("value." + name, torch.as_tensor(t).reshape(-1))
        if loss is not None:
            loss.backward()
            add("value.loss", loss.reshape(1))
            for name, t in self.init.items():
                add("gradient." + name, t.grad)
        for name, t in (weights or {}).items():
            add("weight." + name, t)
        safetensors.write(self.path.with_suffix(".safetensors"), found, {
            "format": "napkin reference vectors, version 1",
            "made_by": f"make.py, PyTorch {torch.__version__}",
            "flags": self.flags})
