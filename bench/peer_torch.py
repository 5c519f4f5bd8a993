"""A work of bench/works.py in PyTorch: one run in this process, its result as JSON on standard output.

Usage: peer_torch.py WORK FOLDER STEPS THREADS PRECISION COMPILED KIND
PRECISION f32 or bf16 (autocast with f32 weights); COMPILED 0 (eager) or 1 (torch.compile); KIND the
AdamW implementation, fused or foreach.
"""
import json
import pathlib
import sys
import time

import numpy
import torch
from torch.nn import functional as F

from works import WORKS, Gpt, readWeights


def gptLoss(work, w, tokens, targets):
    d, b, s = work.d, *tokens.shape
    rows = b * s

    def norm(x, name):
        return F.layer_norm(x, (d,), w[name + ".weight"], w[name + ".bias"])

    def linear(x, name):
        return torch.addmm(w[name + ".bias"], x, w[name + ".weight"])

    x = (F.embedding(tokens, w["wte.weight"]) + w["wpe.weight"][:s]).view(rows, d)
    for i in range(work.layers):
        qkv = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
        q, k, v = qkv.view(b, s, 3, work.heads, d // work.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(y.transpose(1, 2).reshape(rows, d), f"h.{i}.attn.c_proj")
        y = F.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = x + linear(y, f"h.{i}.mlp.c_proj")
    logits = F.linear(norm(x, "ln_f"), w["wte.weight"])
    return F.cross_entropy(logits.float(), targets.reshape(rows))


def mlpLoss(work, w, images, labels):
    x = images.float() / 16
    for layer in ("fc1", "fc2"):
        x = F.relu(F.linear(x, w[layer + ".weight"], w[layer + ".bias"]))
    return F.cross_entropy(F.linear(x, w["fc3.weight"], w["fc3.bias"]).float(), labels)


def main():
    name, folder, steps, threads, precision, compiled, kind = sys.argv[1:]
    work, folder, steps = WORKS[name], pathlib.Path(folder), int(steps)
    torch.set_num_threads(int(threads))
    w = {name: torch.from_numpy(array).requires_grad_() for name, array in readWeights(folder)}
    data = [torch.from_numpy(numpy.load(folder / file)).long() for file in work.data]
    groups = {}
    for tensor in w.values():
        groups.setdefault(work.decays(tensor.shape), []).append(tensor)
    # The rate is a number: a tensor would take PyTorch from `foreach` to one tensor after the other.
    adamw = torch.optim.AdamW([{"params": list(members), "weight_decay": decay} for decay, members in groups.items()],
                              lr=work.peak, betas=(0.9, work.beta2), **{kind: True})
    lossOf = gptLoss if isinstance(work, Gpt) else mlpLoss

    def gradients(*batch):
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss = lossOf(work, w, *batch)
        return loss

    forward = torch.compile(gradients) if compiled == "1" else gradients
    times, losses = [], []
    for step in range(steps):
        start = time.perf_counter()
        for group in adamw.param_groups:
            group["lr"] = work.rate(step, steps)
        rows = slice(step * work.batch, (step + 1) * work.batch)
        loss = forward(*(file[rows] for file in data))
        loss.backward()
        if work.clip is not None:
            torch.nn.utils.clip_grad_norm_(w.values(), work.clip, foreach=True)
        adamw.step()
        adamw.zero_grad(set_to_none=True)
        losses.append(loss.item())
        times.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"ms": times, "losses": losses, "version": torch.__version__}))


main()
