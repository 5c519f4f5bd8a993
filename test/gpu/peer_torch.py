"""A model of examples/ in PyTorch on a GPU: bf16 by autocast, f32 weights, fused AdamW, clipping; the median of a step in
milliseconds as JSON.

Usage: peer_torch.py gpt2.nap|llama.nap SIZES KIND; SIZES as JSON, KIND eager or compile.
"""
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

WARM, STEPS = 4, 12


class Gpt(nn.Module):
    def __init__(self, layers, heads, d, context, vocab, **_):
        super().__init__()
        self.heads = heads
        self.wte, self.wpe = nn.Embedding(vocab, d), nn.Embedding(context, d)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(dict(ln_1=nn.LayerNorm(d), attn=nn.Linear(d, 3 * d), proj=nn.Linear(d, d), ln_2=nn.LayerNorm(d),
                               fc=nn.Linear(d, 4 * d), out=nn.Linear(4 * d, d))) for _ in range(layers))
        self.ln_f = nn.LayerNorm(d)

    def forward(self, tokens, targets):
        b, s = tokens.shape
        x = self.wte(tokens) + self.wpe.weight[:s]
        for block in self.blocks:
            q, k, v = block.attn(block.ln_1(x)).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + block.proj(y.transpose(1, 2).reshape(b, s, -1))
            x = x + block.out(F.gelu(block.fc(block.ln_2(x)), approximate="tanh"))
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.view(b * s, -1).float(), targets.view(-1))


def turn(x, cosine, sine):
    """Rotary positions: halves of a head's elements are pairs."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class Llama(nn.Module):
    def __init__(self, layers, heads, kv_heads, d, hidden, vocab, seq, **_):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, d // heads
        self.embed, self.head = nn.Embedding(vocab, d), nn.Linear(d, vocab, bias=False)
        linear = lambda n, m: nn.Linear(n, m, bias=False)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(dict(norm_1=nn.RMSNorm(d), q=linear(d, d), k=linear(d, kv_heads * self.size),
                               v=linear(d, kv_heads * self.size), o=linear(d, d), norm_2=nn.RMSNorm(d),
                               gate=linear(d, hidden), up=linear(d, hidden), down=linear(hidden, d))) for _ in range(layers))
        self.norm = nn.RMSNorm(d)
        angles = torch.outer(torch.arange(seq), 10000.0 ** (-torch.arange(0, self.size, 2) / self.size))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, tokens, targets):
        b, s = tokens.shape
        x = self.embed(tokens)
        for block in self.blocks:
            y = block.norm_1(x)
            split = lambda t, heads: t.view(b, s, heads, self.size).transpose(1, 2)
            q, k, v = split(block.q(y), self.heads), split(block.k(y), self.kv_heads), split(block.v(y), self.kv_heads)
            q, k = turn(q, self.cosine, self.sine).to(v.dtype), turn(k, self.cosine, self.sine).to(v.dtype)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv_heads)
            x = x + block.o(y.transpose(1, 2).reshape(b, s, -1))
            y = block.norm_2(x)
            x = x + block.down(F.silu(block.gate(y)) * block.up(y))
        return F.cross_entropy(self.head(self.norm(x)).view(b * s, -1).float(), targets.view(-1))


def main():
    model, sizes, kind = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch.manual_seed(1)
    with torch.device("cuda"):
        net = (Gpt if model.startswith("gpt") else Llama)(**sizes)
    loss_of = torch.compile(net) if kind == "compile" else net
    adamw = torch.optim.AdamW(net.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    rows = torch.randint(0, sizes["vocab"], (sizes["batch"], sizes["seq"] + 1), device="cuda")
    tokens, targets = rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
    times = []
    for _ in range(WARM + STEPS):
        start = time.perf_counter()
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(tokens, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        adamw.step()
        adamw.zero_grad(set_to_none=True)
        loss.item()
        times.append(time.perf_counter() - start)
    print(json.dumps({"ms": 1e3 * statistics.median(times[WARM:])}))


if __name__ == "__main__":
    main()
