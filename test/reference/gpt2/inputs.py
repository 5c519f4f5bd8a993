"""The small GPT-2 instance of the reference vectors: its sizes, weights and tokens.

Standard library alone: the weights come from integers, so they are the same bits everywhere.
Usage: inputs.py WEIGHTS.safetensors DATA.safetensors
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import safetensors

# No two sizes are equal; context and seq differ so that wpe is cut.
SIZES = dict(vocab=61, context=17, layers=2, heads=4, d=64, batch=3, seq=13)
STEPS = 10
FLAGS = ("-D vocab=61 -D context=17 -D layers=2 -D heads=4 -D d=64 -D p=0 -D batch=3 -D seq=13 "
         "--accumulate=1 --data-order=sequential")
OPTIMIZER = "adamw(lr = 1e-3, beta2 = 0.95, weight_decay = 0.1 if rank(weight) >= 2 else 0)"


def integers(seed):
    """An endless stream of 16-bit integers: splitmix64's upper bits (Steele et al., 2014)."""
    state, mask = seed, (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield (z ^ (z >> 31)) >> 48


def shapes():
    """{published name: shape}."""
    d = SIZES["d"]
    found = {"wte.weight": [SIZES["vocab"], d], "wpe.weight": [SIZES["context"], d]}
    for i in range(SIZES["layers"]):
        for name, shape in {"ln_1.weight": [d], "ln_1.bias": [d],
                            "attn.c_attn.weight": [d, 3 * d], "attn.c_attn.bias": [3 * d],
                            "attn.c_proj.weight": [d, d], "attn.c_proj.bias": [d],
                            "ln_2.weight": [d], "ln_2.bias": [d],
                            "mlp.c_fc.weight": [d, 4 * d], "mlp.c_fc.bias": [4 * d],
                            "mlp.c_proj.weight": [4 * d, d], "mlp.c_proj.bias": [d]}.items():
            found[f"h.{i}.{name}"] = shape
    return found | {"ln_f.weight": [d], "ln_f.bias": [d]}


def weights():
    """Uniform in ±0.25, around 1 for the gains of norms: far from the published initial values, so
    that attention is not flat and every gradient is well away from 0. Exact in f32."""
    stream, found = integers(336), {}
    for name, shape in shapes().items():
        centre = 1.0 if ".ln_" in "." + name and name.endswith("weight") else 0.0
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = [centre + (next(stream) - 32768) / 131072 for _ in range(count)]
        found[name] = ("F32", shape, values)
    return found


def data():
    """STEPS batches of tokens and targets, in the order in which the steps take them."""
    stream, (batch, seq) = integers(7), (SIZES["batch"], SIZES["seq"])
    rows = [[next(stream) % SIZES["vocab"] for _ in range(seq + 1)] for _ in range(STEPS * batch)]
    return {"tokens": ("I32", [STEPS * batch, seq], [t for row in rows for t in row[:-1]]),
            "targets": ("I32", [STEPS * batch, seq], [t for row in rows for t in row[1:]])}


if __name__ == "__main__":
    safetensors.write(sys.argv[1], weights())
    safetensors.write(sys.argv[2], data())
