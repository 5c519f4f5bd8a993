"""Makes GROUP.safetensors for each GROUP.nap of this folder; see ../vectors.py."""
import math
import pathlib
import sys

import torch
from torch.nn import functional as F

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here.parent))
from vectors import Group, draw, drawDistinct


def activations():
    g = Group(here / "activations.nap")
    c, row = g.input("cotangent", draw(3, 7)), g.input("row", draw(3))

    def gelu_tanh(x):
        return F.gelu(x, approximate="tanh")

    loss = 0
    for name, fn in {"relu": F.relu, "silu": F.silu, "gelu": F.gelu, "gelu_tanh": gelu_tanh,
                     "softplus": F.softplus, "softmax": lambda x: F.softmax(x, -1),
                     "log_softmax": lambda x: F.log_softmax(x, -1)}.items():
        loss += g.value(f"{name}_value", (c * fn(g.param(name + ".x", 3, 7, low=-4, high=4))).sum())
    x = g.param("logsumexp.x", 3, 7, low=-4, high=4)
    loss += g.value("logsumexp_value", (row * x.logsumexp(-1)).sum())
    g.save(loss)


def losses():
    g = Group(here / "losses.nap")
    targets = g.input("targets", torch.tensor([3, -100, 0, 6, 2]))
    y = g.input("y", draw(5, 7))
    labels = g.input("labels", draw(5, 7, low=0, high=1))
    x = g.param("cross_entropy.x", 5, 7)
    loss = g.value("cross_entropy_value", F.cross_entropy(x, targets))
    kept = targets != -100
    g.value("accuracy_value", (x.argmax(-1) == targets)[kept].double().mean())
    loss = loss + g.value("smoothed_value", F.cross_entropy(
        g.param("smoothed.x", 5, 7), targets, label_smoothing=0.1))
    loss = loss + g.value("binary_value", F.binary_cross_entropy_with_logits(
        g.param("binary.x", 5, 7), labels))
    loss = loss + g.value("mse_value", F.mse_loss(g.param("mse.x", 5, 7), y))
    g.save(loss)


def rope(x, base=10000.0):
    """Su et al., arXiv 2104.09864, as rotations of complex numbers: first half real, second imaginary."""
    s, e = x.shape[-2:]
    angle = torch.outer(torch.arange(s).double(), base ** (-2 * torch.arange(e // 2).double() / e))
    turned = torch.complex(x[..., :e // 2], x[..., e // 2:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], -1)


def layers():
    g = Group(here / "layers.nap")
    wide, narrow = g.input("wide", draw(3, 5, 7)), g.input("narrow", draw(3, 5, 6))
    ids = g.input("ids", torch.randint(13, (3, 5)))
    x = {name: g.param("x." + name, 3, 5, 6)
         for name in ("linear", "layer_norm", "rms_norm", "swiglu", "rope")}
    y = F.linear(x["linear"], g.param("linear.weight", 7, 6), g.param("linear.bias", 7))
    loss = g.value("linear_value", (wide * y).sum())
    y = F.layer_norm(x["layer_norm"], (6,), g.param("layer_norm.weight", 6),
                     g.param("layer_norm.bias", 6))
    loss = loss + g.value("layer_norm_value", (narrow * y).sum())
    y = F.rms_norm(x["rms_norm"], (6,), g.param("rms_norm.weight", 6), eps=1e-6)
    loss = loss + g.value("rms_norm_value", (narrow * y).sum())
    up = F.linear(x["swiglu"], g.param("swiglu.up_proj.weight", 11, 6))
    gate = F.silu(F.linear(x["swiglu"], g.param("swiglu.gate_proj.weight", 11, 6)))
    y = F.linear(gate * up, g.param("swiglu.down_proj.weight", 6, 11))
    loss = loss + g.value("swiglu_value", (narrow * y).sum())
    loss = loss + g.value("rope_value", (narrow * rope(x["rope"])).sum())
    y = F.embedding(ids, g.param("embedding.weight", 13, 6))
    loss = loss + g.value("embedding_value", (narrow * y).sum())
    g.save(loss)


def images():
    g = Group(here / "images.nap")
    cotangent = g.input("cotangent", draw(2, 4, 7, 9))
    x = {name: g.param("x." + name, 2, 4, 7, 9, draw=drawDistinct)
         for name in ("conv2d", "max_pool2d", "avg_pool2d", "group_norm", "batch_norm")}
    y = F.conv2d(x["conv2d"], g.param("conv2d.weight", 6, 2, 3, 2), g.param("conv2d.bias", 6),
                 stride=2, padding=1, dilation=(2, 1), groups=2)
    loss = g.value("conv2d_value", (g.input("folded", draw(*y.shape)) * y).sum())
    y = F.max_pool2d(x["max_pool2d"], 3, stride=2, padding=1)
    loss = loss + g.value("max_pool2d_value", (g.input("pooled", draw(*y.shape)) * y).sum())
    y = F.avg_pool2d(x["avg_pool2d"], 2)
    loss = loss + g.value("avg_pool2d_value", (g.input("averaged", draw(*y.shape)) * y).sum())
    y = F.group_norm(x["group_norm"], 2, g.param("group_norm.weight", 4), g.param("group_norm.bias", 4))
    loss = loss + g.value("group_norm_value", (cotangent * y).sum())
    mean, var = torch.zeros(4), torch.ones(4)
    y = F.batch_norm(x["batch_norm"], mean, var, g.param("batch_norm.weight", 4),
                     g.param("batch_norm.bias", 4), training=True)
    loss = loss + g.value("batch_norm_value", (cotangent * y).sum())
    g.save(loss, {"batch_norm.running_mean": mean, "batch_norm.running_var": var})


def attention():
    g = Group(here / "attention.nap")
    b, h, groups, s, t, e, f = 2, 6, 3, 5, 7, 8, 9
    cotangent = g.input("cotangent", draw(b, h, s, f))
    allowed = g.input("allowed", (torch.rand(b, s, t) < 0.6).int())
    allowed[:, :, 2] = 1
    bias = g.input("bias", draw(b, s, t))
    # The last query stands on the last key, as the prelude has it.
    row, column = torch.arange(s)[:, None] + (t - s), torch.arange(t)
    kinds = {"plain": (h, {}),
             "causal": (groups, {"attn_mask": column <= row}),
             "masked": (groups, {"attn_mask": allowed[:, None] > 0}),
             "biased": (groups, {"attn_mask": bias[:, None], "scale": 0.5}),
             "window": (h, {"attn_mask": (column <= row) & (column > row - 3)})}
    loss = 0
    for name, (heads, options) in kinds.items():
        q, k = g.param("q." + name, b, h, s, e), g.param("k." + name, b, heads, t, e)
        v = g.param("v." + name, b, heads, t, f)
        y = F.scaled_dot_product_attention(q, k, v, enable_gqa=heads != h, **options)
        loss = loss + g.value(f"{name}_value", (cotangent * y).sum())
    g.save(loss)


class Lion(torch.optim.Optimizer):
    """Chen et al., arXiv 2302.06675, algorithm 2; PyTorch has none."""

    def __init__(self, params, lr, betas, weight_decay):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                m = self.state[w].setdefault("m", torch.zeros_like(w))
                (beta1, beta2), lr = group["betas"], group["lr"]
                update = torch.lerp(w.grad, m, beta1).sign()
                w.mul_(1 - lr * group["weight_decay"]).sub_(lr * update)
                m.lerp_(w.grad, 1 - beta2)


class Muon(torch.optim.Optimizer):
    """Jordan et al., 2024, in f64, where PyTorch's own multiplies in bf16."""

    def __init__(self, params, lr, momentum, weight_decay):
        super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for w in group["params"]:
                velocity = self.state[w].setdefault("velocity", torch.zeros_like(w))
                velocity.lerp_(w.grad, 1 - group["momentum"])
                x = w.grad.lerp(velocity, group["momentum"])
                x = x / (x.norm() + 1e-7)
                for _ in range(5):
                    left = x @ x.T
                    x = 3.4445 * x + (-4.7750 * left + 2.0315 * left @ left) @ x
                w.mul_(1 - group["lr"] * group["weight_decay"])
                w.sub_(group["lr"] * math.sqrt(max(1, w.shape[0] / w.shape[1])) * x)


def optimizers():
    steps = 5
    g = Group(here / "optimizers.nap", steps)
    a, b = g.input("a", draw(5 * steps, 3)), g.input("b", draw(5 * steps, 3))
    names = ("sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lion", "muon")
    w = {name: g.param(name + ".w", 5, 3) for name in (*names, "frozen")}
    start = {name: t.detach().clone() for name, t in w.items()}
    optim, decay = torch.optim, dict(weight_decay=0.1)
    running = [
        optim.SGD([w["sgd"]], lr=0.05, **decay),
        optim.SGD([w["momentum"]], lr=0.05, momentum=0.8, **decay),
        optim.SGD([w["nesterov"]], lr=0.05, momentum=0.8, nesterov=True, **decay),
        optim.Adagrad([w["adagrad"]], lr=0.1, **decay),
        optim.RMSprop([w["rmsprop"]], lr=0.01, alpha=0.9, **decay),
        optim.Adam([w["adam"]], lr=0.02, betas=(0.9, 0.95), **decay),
        optim.AdamW([w["adamw"]], lr=0.02, betas=(0.9, 0.95), **decay),
        Lion([w["lion"]], lr=0.01, betas=(0.9, 0.99), **decay),
        Muon([w["muon"]], lr=0.02, momentum=0.95, **decay)]
    losses = []
    for x, y in zip(a.split(5), b.split(5)):
        loss = sum(((t * x - y) ** 2).mean() for t in w.values())
        for one in running:
            one.zero_grad()
        loss.backward()
        for one in running:
            one.step()
        losses.append(loss.item())
    g.value("loss", torch.tensor(losses))
    after = {name + ".w": t.detach().clone() for name, t in w.items()}
    for name, t in w.items():
        t.data.copy_(start[name])
    g.save(weights=after)


def schedules():
    steps, warmup, peak, floor = 12, 3, 0.3, 0.03
    g = Group(here / "schedules.nap", steps)
    g.init["w"] = torch.tensor(1.0, requires_grad=True)
    g.input("a", torch.ones(2 * steps))

    def follow(after, total):
        """A warmup to `peak` and then the scheduler `after`, at every step."""
        w = torch.optim.SGD([torch.zeros(1)], lr=peak)
        rise = torch.optim.lr_scheduler.LambdaLR(w, lambda step: (step + 1) / warmup)
        found = []
        for _ in range(warmup):
            found.append(w.param_groups[0]["lr"])
            w.step()
            rise.step()
        w = torch.optim.SGD([torch.zeros(1)], lr=peak)
        fall = after(w)
        for _ in range(total - warmup):
            found.append(w.param_groups[0]["lr"])
            w.step()
            fall.step()
        return torch.tensor(found)

    rates = torch.optim.lr_scheduler
    cosine = follow(lambda w: rates.CosineAnnealingLR(w, steps - warmup, eta_min=floor), steps)
    g.value("cosine_value", cosine)
    g.value("linear_value", follow(lambda w: rates.LinearLR(
        w, 1.0, floor / peak, total_iters=steps - warmup), steps))
    g.value("stable_value", follow(lambda w: rates.LambdaLR(
        w, lambda step: min(1, 1 + (floor / peak - 1) * (step - 5) / 4)), steps))
    # The gradient is 1, so every step takes the whole rate off the weight.
    g.save(weights={"w": 1 - cosine.sum()})


for make in (activations, losses, layers, images, attention, optimizers, schedules):
    make()
