"""Makes llama.safetensors with PyTorch: loss and gradients of a small Llama 3, in f64.

Needs PyTorch (made with 2.15, CPU). The test reads its result and needs the standard library only.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import torch

import vectors

VOCAB, LAYERS, D, HEADS, KV_HEADS, HIDDEN, BATCH, SEQ = 29, 2, 24, 6, 2, 21, 2, 11
E = D // HEADS
FLAGS = (f"-D vocab={VOCAB} -D layers={LAYERS} -D d={D} -D heads={HEADS} -D kv_heads={KV_HEADS} -D hidden={HIDDEN} "
         f"-D batch={BATCH} -D seq={SEQ} --accumulate=1 --optimizer=sgd(lr=1048576) --clip-norm=none")
group = vectors.Group(pathlib.Path(__file__).parent / "llama.nap", flags=FLAGS)


def norm(x, name):
    """Zhang and Sennrich, 2019."""
    w = group.param(name + ".weight", D, low=0.5, high=1.5)
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w


def linear(x, name, out):
    return x @ group.param(name + ".weight", out, x.shape[-1], low=-0.5, high=0.5).T


def rope(x):
    """Su et al., 2021; first half against second half, as in the published weights."""
    frequency = 500000.0 ** (-2 * torch.arange(E // 2) / E)
    angle = torch.outer(torch.arange(SEQ, dtype=torch.float64), frequency)
    x1, x2 = x[..., :E // 2], x[..., E // 2:]
    return torch.cat([x1 * angle.cos() - x2 * angle.sin(), x2 * angle.cos() + x1 * angle.sin()], -1)


def attention(x, name):
    """Query head n reads key head n // (HEADS / KV_HEADS)."""
    def heads(part, count):
        return linear(x, f"{name}.{part}_proj", count * E).reshape(BATCH, SEQ, count, E).transpose(1, 2)

    q, k, v = rope(heads("q", HEADS)), rope(heads("k", KV_HEADS)), heads("v", KV_HEADS)
    k, v = (t.repeat_interleave(HEADS // KV_HEADS, 1) for t in (k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(E)
    scores = scores.masked_fill(~torch.ones(SEQ, SEQ, dtype=torch.bool).tril(), -math.inf)
    y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, SEQ, D)
    return linear(y, name + ".o_proj", D)


def mlp(x, name):
    gate = torch.nn.functional.silu(linear(x, name + ".gate_proj", HIDDEN))
    return linear(gate * linear(x, name + ".up_proj", HIDDEN), name + ".down_proj", D)


tokens = group.input("tokens", torch.randint(VOCAB, (BATCH, SEQ)))
targets = group.input("targets", torch.randint(VOCAB, (BATCH, SEQ)))
x = group.param("model.embed_tokens.weight", VOCAB, D)[tokens]
for i in range(LAYERS):
    name = f"model.layers.{i}"
    x = x + attention(norm(x, name + ".input_layernorm"), name + ".self_attn")
    x = x + mlp(norm(x, name + ".post_attention_layernorm"), name + ".mlp")
logits = linear(norm(x, "model.norm"), "lm_head", VOCAB)
group.save(loss=torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()))
