#!/usr/bin/env python3
"""GPT-2 124M in f32, batch 4, sequence 64, two threads: a compiled Napkin executable beside PyTorch.

Usage: PYTHON bench/gpt2.py [--napkin=build/release/bin/napkin] [--repeats=5] [--steps=8]
                            [--threads=2] [--out=FILE.md]
PYTHON is one that has torch and numpy (a virtual environment will do); Napkin needs neither.

Both train the same weights on the same tokens by the recipe of examples/gpt2.nap without dropout.
Every measurement is a process of its own, and the two alternate. A step's time is what the program
itself says, from batch to updated weights; the first two of a run warm up. Memory is the kernel's
count of the process's largest resident size. Variables that steer a math library are unset.
"""
import argparse
import json
import math
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VOCAB, CONTEXT, LAYERS, HEADS, D = 50257, 1024, 12, 12, 768
BATCH, SEQ = 4, 64
PEAK, WARMUP, TOTAL, BETA2, DECAY, CLIP = 6e-4, 700, 19560, 0.95, 0.1, 1.0
WARM = 2


# The model in PyTorch: functions on a dictionary of the published names.

def shapes():
    found = {"wte.weight": (VOCAB, D), "wpe.weight": (CONTEXT, D)}
    for i in range(LAYERS):
        for name, shape in {"ln_1.weight": (D,), "ln_1.bias": (D,),
                            "attn.c_attn.weight": (D, 3 * D), "attn.c_attn.bias": (3 * D,),
                            "attn.c_proj.weight": (D, D), "attn.c_proj.bias": (D,),
                            "ln_2.weight": (D,), "ln_2.bias": (D,),
                            "mlp.c_fc.weight": (D, 4 * D), "mlp.c_fc.bias": (4 * D,),
                            "mlp.c_proj.weight": (4 * D, D), "mlp.c_proj.bias": (D,)}.items():
            found[f"h.{i}.{name}"] = shape
    return found | {"ln_f.weight": (D,), "ln_f.bias": (D,)}


def lossOf(w, tokens, targets):
    import torch
    from torch.nn import functional as F
    b, s = tokens.shape
    rows = b * s

    def norm(x, name):
        return F.layer_norm(x, (D,), w[name + ".weight"], w[name + ".bias"])

    def linear(x, name):
        return torch.addmm(w[name + ".bias"], x, w[name + ".weight"])

    x = (F.embedding(tokens, w["wte.weight"]) + w["wpe.weight"][:s]).view(rows, D)
    for i in range(LAYERS):
        qkv = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn")
        q, k, v = qkv.view(b, s, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(y.transpose(1, 2).reshape(rows, D), f"h.{i}.attn.c_proj")
        y = F.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh")
        x = x + linear(y, f"h.{i}.mlp.c_proj")
    logits = F.linear(norm(x, "ln_f"), w["wte.weight"])
    return F.cross_entropy(logits, targets.reshape(rows))


def torchRun(folder, steps, threads, kind):
    """One run of PyTorch, in this process: {"ms": [...], "losses": [...]} on standard output."""
    import numpy
    import torch
    torch.set_num_threads(threads)
    w = {}
    for name, shape, offset in weightTable(folder):
        w[name] = torch.empty(shape)
        w[name].numpy()[...] = numpy.fromfile(folder / "init.safetensors", numpy.float32,
                                              math.prod(shape), offset=offset).reshape(shape)
        w[name].requires_grad_()
    tokens = torch.from_numpy(numpy.load(folder / "tokens.npy")).long()
    targets = torch.from_numpy(numpy.load(folder / "targets.npy")).long()
    groups = [{"params": [t for t in w.values() if t.dim() >= 2], "weight_decay": DECAY},
              {"params": [t for t in w.values() if t.dim() < 2], "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, BETA2), **{kind: True})
    times, losses = [], []
    for step in range(steps):
        start = time.perf_counter()
        for group in adamw.param_groups:
            group["lr"] = PEAK * (step + 1) / WARMUP
        rows = slice(step * BATCH, (step + 1) * BATCH)
        loss = lossOf(w, tokens[rows], targets[rows])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(w.values(), CLIP, foreach=True)
        adamw.step()
        adamw.zero_grad(set_to_none=True)
        losses.append(loss.item())
        times.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"ms": times, "losses": losses}))


# The same input for both.

def makeInput(folder, steps):
    """Weights by the model's initial distributions, and random tokens, from a fixed seed."""
    import numpy
    random = numpy.random.default_rng(336)
    header, offset = {}, 0
    for name, shape in shapes().items():
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [offset, offset + 4 * math.prod(shape)]}
        offset += 4 * math.prod(shape)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "init.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes().items():
            if name.endswith("bias"):
                values = numpy.zeros(shape, numpy.float32)
            elif len(shape) == 1:
                values = numpy.ones(shape, numpy.float32)
            else:
                std = 0.02 / math.sqrt(2 * LAYERS) if "c_proj" in name else 0.02
                values = random.standard_normal(shape, numpy.float32) * numpy.float32(std)
            values.tofile(file)
    rows = random.integers(0, VOCAB, (steps * BATCH, SEQ + 1)).astype(numpy.int32)
    numpy.save(folder / "tokens.npy", rows[:, :-1])
    numpy.save(folder / "targets.npy", rows[:, 1:])


def weightTable(folder):
    """(name, shape, byte offset) of each tensor in init.safetensors."""
    with open(folder / "init.safetensors", "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    for name, entry in header.items():
        yield name, entry["shape"], 8 + size + entry["data_offsets"][0]


# Running and counting.

def cleanEnvironment():
    steering = re.compile(r"(OPENBLAS|MKL|OMP|KMP|DNNL|ONEDNN|ATEN|TORCH|PYTORCH|NAPKIN|MALLOC)_|LD_PRELOAD")
    return {name: value for name, value in os.environ.items() if not steering.match(name)}


def run(command, cwd):
    """Runs a command: its standard output and its largest resident size in MiB."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen([str(part) for part in command], cwd=cwd, stdout=output,
                                 stderr=errors, env=cleanEnvironment())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode:
            sys.exit(f"{command} left with {child.returncode}\n{output.read()}{errors.read()}")
        return output.read(), usage.ru_maxrss / 1024


def runTorch(folder, steps, threads, kind):
    output, mebibytes = run([sys.executable, __file__, "--child", kind, "--folder", folder,
                             f"--steps={steps}", f"--threads={threads}"], folder)
    found = json.loads(output)
    return found["ms"], found["losses"], mebibytes


def runNapkin(folder, steps, threads):
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    _, mebibytes = run(["./gpt2", "--data=tokens.npy", "--data=targets.npy", "--init=init.safetensors",
                        "--data-order=sequential", f"--steps={steps}", f"--threads={threads}",
                        "--log", log], folder)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lines = [line for line in lines if "loss" in line and "step" in line]
    return [line["ms"] for line in lines], [line["loss"] for line in lines], mebibytes


def summary(values):
    """Median and the range of the middle half."""
    if len(values) < 4:
        return f"{statistics.median(values):.0f} ({min(values):.0f} to {max(values):.0f})"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


def machine():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", text)
    return f"{name[1] if name else 'unknown processor'}, {os.cpu_count()} logical processors"


def report(torchMs, napkinMs, torchMiB, napkinMiB, losses, firstStep, setting):
    import torch
    ratio = statistics.median(napkinMs) / statistics.median(torchMs)
    perRun = " ".join(f"{r:.2f}" for r in setting["ratios"])
    return f"""# GPT-2 124M, f32, batch {BATCH}, sequence {SEQ}, {setting['threads']} threads

{machine()}; PyTorch {torch.__version__} eager, AdamW `{setting['kind']}=True`, attention by
`scaled_dot_product_attention`; {setting['repeats']} interleaved runs of each, {setting['steps']} steps a run of which
the first {WARM} are left out. Median, and the middle half in brackets.

| | Napkin | PyTorch | Napkin / PyTorch |
| --- | --- | --- | --- |
| a training step, ms | {summary(napkinMs)} | {summary(torchMs)} | {ratio:.2f} |
| peak resident memory, MiB | {summary(napkinMiB)} | {summary(torchMiB)} | {statistics.median(napkinMiB) / statistics.median(torchMiB):.2f} |

Ratio of the medians, run by run: {perRun}. Losses of the first {len(losses)} steps differ by at most {max(abs(a - b) for a, b in losses):.1e}.
From `napkin train` to the end of its first step: {firstStep:.1f} s.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--napkin", default=ROOT / "build/release/bin/napkin", type=pathlib.Path)
    parser.add_argument("--repeats", default=5, type=int)
    parser.add_argument("--steps", default=8, type=int)
    parser.add_argument("--threads", default=2, type=int)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        torchRun(given.folder, given.steps, given.threads, given.child)
        return
    if given.steps <= WARM:
        sys.exit(f"gpt2.py: --steps is {given.steps} and the first {WARM} are left out")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        makeInput(folder, given.steps)
        flags = ["-D", f"batch={BATCH}", "-D", f"seq={SEQ}", "-D", "p=0", "--accumulate=1"]
        napkin = given.napkin.resolve()
        model = ROOT / "examples/gpt2.nap"
        run([napkin, "compile", model, "-o", folder / "gpt2", *flags], folder)
        start = time.perf_counter()
        run([napkin, "train", model, *flags, "--data=tokens.npy", "--data=targets.npy", "--steps=1",
             f"--threads={given.threads}"], folder)
        firstStep = time.perf_counter() - start

        # PyTorch's faster optimizer speaks for it.
        speed = {kind: statistics.median(runTorch(folder, given.steps, given.threads, kind)[0][WARM:])
                 for kind in ("fused", "foreach")}
        kind = min(speed, key=speed.get)
        torchMs, napkinMs, torchMiB, napkinMiB, ratios = [], [], [], [], []
        for _ in range(given.repeats):
            ms, torchLosses, mebibytes = runTorch(folder, given.steps, given.threads, kind)
            torchMs += ms[WARM:]
            torchMiB.append(mebibytes)
            own, napkinLosses, mebibytes = runNapkin(folder, given.steps, given.threads)
            napkinMs += own[WARM:]
            napkinMiB.append(mebibytes)
            ratios.append(statistics.median(own[WARM:]) / statistics.median(ms[WARM:]))
            print(f"PyTorch {summary(ms[WARM:])} ms, Napkin {summary(own[WARM:])} ms", file=sys.stderr)
        text = report(torchMs, napkinMs, torchMiB, napkinMiB, list(zip(torchLosses, napkinLosses)),
                      firstStep, dict(threads=given.threads, kind=kind, ratios=ratios,
                                      repeats=given.repeats, steps=given.steps))
    print(text)
    if given.out:
        given.out.write_text(text)


main()
