"""Makes expected.safetensors with PyTorch: loss, gradients and ten steps of the small GPT-2.

Needs PyTorch (made with 2.15, CPU). The tests read its result and need the standard library only.
"""
import math
import pathlib

import torch

import inputs
import safetensors

SIZES = inputs.SIZES


def tensors(dtype):
    found = {}
    for name, (_, shape, values) in inputs.weights().items():
        found[name] = torch.tensor(values, dtype=dtype).reshape(shape).requires_grad_()
    return found


def lossOf(w, tokens, targets):
    """Radford et al., 2019, in the layout of the published files: x @ weight + bias."""
    b, s = tokens.shape
    heads, d = SIZES["heads"], SIZES["d"]

    def norm(x, name):
        return torch.nn.functional.layer_norm(x, (d,), w[name + ".weight"], w[name + ".bias"])

    def linear(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = w["wte.weight"][tokens] + w["wpe.weight"][:s]
    for i in range(SIZES["layers"]):
        q, k, v = (linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
                   .reshape(b, s, 3, heads, d // heads).permute(2, 0, 3, 1, 4))
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // heads)
        scores = scores.masked_fill(~torch.ones(s, s, dtype=torch.bool).tril(), -math.inf)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, d)
        x = x + linear(y, f"h.{i}.attn.c_proj")
        y = torch.nn.functional.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"),
                                     approximate="tanh")
        x = x + linear(y, f"h.{i}.mlp.c_proj")
    logits = norm(x, "ln_f") @ w["wte.weight"].T
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batches():
    read = {name: torch.tensor(list(values)).reshape(shape)
            for name, (_, shape, values) in inputs.data().items()}
    size = SIZES["batch"]
    return list(zip(read["tokens"].split(size), read["targets"].split(size)))


def losses(dtype, clip):
    """The loss of each of STEPS steps, before its update, and the norms of the gradients."""
    w = tensors(dtype)
    groups = [{"params": [t for t in w.values() if t.dim() >= 2], "weight_decay": 0.1},
              {"params": [t for t in w.values() if t.dim() < 2], "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    found, norms = [], []
    for tokens, targets in batches():
        loss = lossOf(w, tokens, targets)
        adamw.zero_grad()
        loss.backward()
        norm = torch.sqrt(sum((t.grad.double() ** 2).sum() for t in w.values())).item()
        if norm > clip:
            for t in w.values():
                t.grad *= clip / norm
        adamw.step()
        found.append(loss.item())
        norms.append(norm)
    return found, norms


torch.manual_seed(0)
w = tensors(torch.float64)
loss = lossOf(w, *batches()[0])
loss.backward()
expected = {"loss": ("F64", [], [loss.item()])}
for name, t in w.items():
    expected["gradient." + name] = ("F64", list(t.shape), t.grad.flatten().tolist())
doubles, norms = losses(torch.float64, clip=1.0)
singles, _ = losses(torch.float32, clip=1.0)
expected["losses.f64"] = ("F64", [inputs.STEPS], doubles)
expected["losses.f32"] = ("F64", [inputs.STEPS], singles)
expected["norms.f64"] = ("F64", [inputs.STEPS], norms)
safetensors.write(pathlib.Path(__file__).parent / "expected.safetensors", expected, {
    "format": "napkin reference vectors, version 1",
    "made_by": f"make.py, PyTorch {torch.__version__}",
    "model": "examples/gpt2.nap",
    "flags": inputs.FLAGS,
    "gradient": "of the mean cross-entropy of the first batch, f64, not clipped",
    "losses": f"10 steps, --optimizer '{inputs.OPTIMIZER}' --clip-norm=1, before each update",
})
print("loss", loss.item())
print("losses", doubles, "f32 differs by", max(abs(a - b) for a, b in zip(doubles, singles)))
print("gradient norms", norms)
print("least gradient", min((t.grad.abs().max().item(), n) for n, t in w.items()))
