"""A work of bench/works.py in JAX: one jitted step, its result as JSON on standard output.

Usage: peer_jax.py WORK FOLDER STEPS THREADS PRECISION
PRECISION f32 or bf16 (products on bf16 operands, weights f32). Weights and states are donated.
"""
import json
import os
import pathlib
import sys
import time

# XLA's pool of threads has the size of the process's set of processors.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(sys.argv[4])])

import jax
import jax.numpy as jnp
import numpy

from works import WORKS, Gpt, readWeights


def product(pattern, x, y, precision):
    if precision == "bf16":
        x, y = x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)
    return jnp.einsum(pattern, x, y)


def gptLoss(work, w, tokens, targets, precision):
    (b, s), d, h = tokens.shape, work.d, work.heads

    def norm(x, name):
        x = x.astype(jnp.float32)
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * w[name + ".weight"] + w[name + ".bias"]

    def linear(x, name):
        y = product("bsi,io->bso", x, w[name + ".weight"], precision)
        return y + w[name + ".bias"].astype(y.dtype)

    x = w["wte.weight"][tokens] + w["wpe.weight"][:s]
    for i in range(work.layers):
        qkv = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").reshape(b, s, 3, h, d // h)
        y = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], is_causal=True)
        x = x + linear(y.reshape(b, s, d), f"h.{i}.attn.c_proj")
        y = jax.nn.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate=True)
        x = x + linear(y, f"h.{i}.mlp.c_proj")
    logits = product("bsd,vd->bsv", norm(x, "ln_f"), w["wte.weight"], precision).astype(jnp.float32)
    picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - picked).mean()


def mlpLoss(work, w, images, labels, precision):
    x = images.astype(jnp.float32) / 16
    for layer in ("fc1", "fc2", "fc3"):
        x = product("bi,oi->bo", x, w[layer + ".weight"], precision) + w[layer + ".bias"]
        x = x if layer == "fc3" else jax.nn.relu(x)
    x = x.astype(jnp.float32)
    picked = jnp.take_along_axis(x, labels[:, None], -1)[:, 0]
    return (jax.nn.logsumexp(x, -1) - picked).mean()


def main():
    name, folder, steps, _, precision = sys.argv[1:]
    work, folder, steps = WORKS[name], pathlib.Path(folder), int(steps)
    lossOf = gptLoss if isinstance(work, Gpt) else mlpLoss
    w = {name: jnp.array(array) for name, array in readWeights(folder)}
    m = {name: jnp.zeros_like(value) for name, value in w.items()}
    v = {name: jnp.zeros_like(value) for name, value in w.items()}
    data = [numpy.load(folder / file) for file in work.data]

    def update(w, m, v, step, rate, *batch):
        loss, g = jax.value_and_grad(lambda w: lossOf(work, w, *batch, precision))(w)
        scale = 1.0
        if work.clip is not None:
            norm = jnp.sqrt(sum((x * x).sum() for x in g.values()))
            scale = jnp.minimum(1.0, work.clip / (norm + 1e-6))
        c1, c2 = 1 - 0.9 ** step, jnp.sqrt(1 - work.beta2 ** step)
        for name in w:
            gradient = g[name] * scale
            m[name] = 0.9 * m[name] + 0.1 * gradient
            v[name] = work.beta2 * v[name] + (1 - work.beta2) * gradient * gradient
            w[name] = (w[name] * (1 - rate * work.decays(w[name].shape)) -
                       rate * c2 / c1 * m[name] / (jnp.sqrt(v[name]) + 1e-8 * c2))
        return w, m, v, loss

    jitted = jax.jit(update, donate_argnums=(0, 1, 2))
    times, losses = [], []
    for step in range(steps):
        start = time.perf_counter()
        rows = slice(step * work.batch, (step + 1) * work.batch)
        w, m, v, loss = jitted(w, m, v, jnp.float32(step + 1), jnp.float32(work.rate(step, steps)),
                               *(file[rows] for file in data))
        losses.append(float(loss))
        jax.block_until_ready(w)
        times.append(1e3 * (time.perf_counter() - start))
    print(json.dumps({"ms": times, "losses": losses, "version": jax.__version__}))


main()
