"""Other values of the families of vectors.json: sizes drawn at random, and what the published formulas make of them, written out here once more.

Prints a line for what differs, then "ok" and how many figures were asked.
"""
import itertools
import math as arithmetic
import pathlib
import random
import re
import tempfile

from counting import (ACTIVATION, attention, by_op, by_op_each, counters_of, devices, einsum, emit, flops, forward, forward_counters, math, mfu, model_flops, run,
                      sources, step, summed, t)

FAULTS, ASKED = [], 0


def expect(found, wanted, what, within=0.0):
    global ASKED
    ASKED += 1
    if abs(found - wanted) > within * abs(wanted):
        FAULTS.append(f"{what}: {found}, wanted {wanted}")


# Transformers by each preset -----------------------------------------------------------------------

def presets(n, tokens, linears, attend, head, scores, positions, looked_up):
    """Each preset's count, from trainable elements, tokens, and forward FLOPs of blocks, of attention over all pairs, and of the head."""
    whole = linears + attend + head
    return {"gpt3_d1": 6 * n * tokens, "palm": 6 * n * tokens + 3 * attend, "nanogpt": 6 * (n - positions) * tokens + 3 * attend,
            "llm.c": 6 * n * tokens + 3 * attend // 2, "torchtitan": 6 * (n - looked_up) * tokens + 3 * attend,
            "megatron21": 4 * (linears + attend) + 3 * head, "megatron_now": 3 * (linears + attend // 2 + head), "korthikanti": 3 * whole,
            "korthikanti_selective": 3 * (whole + attend), "chinchilla_a4": 3 * (linears + attend + 3 * scores), "cs336": 3 * whole + 15 * n,
            "torch": 3 * (linears + head) + 7 * attend // 2, "mac": whole // 2}


def gpt2(draw):
    heads, e = draw.randrange(1, 6), 2 * draw.randrange(2, 12)
    layers, d, vocab, length, batch = draw.randrange(1, 5), heads * e, draw.randrange(30, 300), draw.randrange(3, 40), draw.randrange(1, 5)
    n = (vocab + length) * d + layers * (12 * d * d + 13 * d) + 2 * d
    tokens = batch * length
    linears, attend, head = 24 * tokens * layers * d * d, 4 * tokens * length * layers * d, 2 * tokens * vocab * d
    what = f"gpt2 of {layers} layers, {heads} heads of {e}, {vocab} words, {batch} x {length}"
    sizes = dict(layers=layers, d=d, heads=heads, vocab=vocab, context=length, batch=batch)
    r = forward("gpt2", **sizes)
    expect(r["parameters"], n, f"{what}: parameters")
    seen = batch * layers * 4 * d * length * (length + 1) // 2
    expect(r["forward_flops"]["exact"], linears + seen + head, f"{what}: forward, pairs that are seen")
    expect(model_flops(step("gpt2", ("--accumulate=1",), **sizes), "exact"), 3 * (linears + seen + head), f"{what}: a step, pairs that are seen")
    for name, wanted in presets(n, tokens, linears, attend, head, layers * heads * length * tokens, length * d, 0).items():
        expect(r["presets"][name], wanted, f"{what}: preset {name}")
        same = dict(preset=name, layers=layers, width=d, heads=heads, context=length, vocab=vocab, batch=batch, parameters=n)
        expect(flops(**same), wanted, f"{what}: napkin math flops --preset={name}")
        if name in ("palm", "nanogpt", "torchtitan", "korthikanti"):
            expect(flops(**same, recompute="selective"), wanted + attend, f"{what}: {name} with attention computed again")
            expect(flops(**same, recompute="full"), wanted + wanted / 3, f"{what}: {name} with all computed again", 1e-12)


def llama(draw):
    kv, group, e = draw.randrange(1, 4), draw.randrange(1, 4), 2 * draw.randrange(2, 9)
    heads, layers, hidden, vocab, length, batch = kv * group, draw.randrange(1, 4), draw.randrange(5, 90), draw.randrange(30, 200), draw.randrange(3, 30), draw.randrange(1, 4)
    d, tied, bias = heads * e, draw.random() < 0.5, draw.random() < 0.5
    block = 2 * d * d + 2 * d * kv * e + 3 * d * hidden + 2 * d + (d + 2 * kv * e if bias else 0)
    n = layers * block + d + vocab * d * (1 if tied else 2)
    tokens = batch * length
    linears, attend, head = 2 * tokens * layers * (2 * d * d + 2 * d * kv * e + 3 * d * hidden), 4 * tokens * length * layers * d, 2 * tokens * vocab * d
    r = forward("decoder", vocab=vocab, layers=layers, d=d, heads=heads, kv_heads=kv, hidden=hidden, tied=str(tied).lower(), qkv_bias=str(bias).lower(), seq=length, batch=batch)
    what = f"decoder of {layers} layers, {heads} heads of {e} on {kv}, {vocab} words, {batch} x {length}, tied {tied}, biases {bias}"
    expect(r["parameters"], n, f"{what}: parameters")
    for name, wanted in presets(n, tokens, linears, attend, head, layers * heads * length * tokens, 0, 0 if tied else vocab * d).items():
        expect(r["presets"][name], wanted, f"{what}: preset {name}")


# Models of other tables: torchvision's (parameters, and what it calls GFLOPS: multiply-accumulates, rounded), and language models' cards.
VISION = [("resnet", dict(b1=3, b2=4, b3=6, b4=3), 21797672, 3.66), ("resnext", {}, 25028904, 4.23), ("resnext", dict(b3=23, base=8), 88791336, 16.41),
          ("resnext", dict(groups=1, base=128), 68883240, 11.40), ("resnext", dict(b3=23, groups=1, base=128), 126886696, 22.75), ("mobilenet", {}, 3504872, 0.30),
          ("vit", dict(layers=24, d=1024, heads=16), 304326632, 61.55)]
LANGUAGE = [("TinyLlama 1.1B", dict(vocab=32000, layers=22, d=2048, heads=32, kv_heads=4, hidden=5632), 1100048384),
            ("Qwen 2.5 7B", dict(vocab=152064, layers=28, d=3584, heads=28, kv_heads=4, hidden=18944, qkv_bias="true"), 7615616512),
            ("Llama 3 70B", dict(vocab=128256, layers=80, d=8192, heads=64, kv_heads=8, hidden=28672), 70553706496),
            ("Llama 3.1 405B", dict(vocab=128256, layers=126, d=16384, heads=128, kv_heads=8, hidden=53248), 405853388800)]


def published():
    for model, sizes, parameters, macs in VISION:
        r = forward(model, **sizes)
        expect(r["parameters"], parameters, f"{model} {sizes}: parameters")
        expect(round(r["presets"]["mac"] / 1e9, 2), macs, f"{model} {sizes}: multiply-accumulates")
    for name, sizes, parameters in LANGUAGE:
        expect(forward("decoder", **sizes)["parameters"], parameters, f"{name}: parameters")


# Ops -----------------------------------------------------------------------------------------------

def causal(draw):
    """Pairs that a query sees, counted one by one."""
    for _ in range(6):
        queries, keys = draw.randrange(1, 200), draw.randrange(1, 200)
        # The last query sees the last key, or the first the first; every query sees one at least.
        for to in {max(keys - queries, 0), 0}:
            pairs = sum(min(i + 1 + to, keys) for i in range(queries))
            found = attention(1, 1, queries, keys, 1, 1, to=to)
            expect(found["exact"], 4 * pairs, f"pairs of {queries} queries and {keys} keys, the first sees {to + 1}")
            expect(found["dense"], 4 * queries * keys, f"all pairs of {queries} queries and {keys} keys")
        # Each query sees so many keys at most, itself the last: T W - W (W - 1) / 2.
        window = draw.randrange(1, queries + 1)
        found = attention(1, 1, queries, queries, 1, 1, to=0, since=1 - window)
        expect(found["exact"], 4 * (queries * window - window * (window - 1) // 2), f"pairs of {queries} queries in a window of {window}")


def cheapest(groups, result, sizes):
    """The least work of a chain of pairwise contractions, over all orders."""
    if len(groups) == 1:
        return 0
    best = None
    for a, b in itertools.combinations(range(len(groups)), 2):
        rest = [group for i, group in enumerate(groups) if i not in (a, b)]
        kept = set(result).union(*rest)
        together = set(groups[a]) | set(groups[b])
        made = "".join(sorted(together & kept))
        work = (2 if together - kept else 1) * arithmetic.prod(sizes[letter] for letter in together)
        total = work + cheapest(rest + [made], result, sizes)
        best = total if best is None else min(best, total)
    return best


def chains(draw):
    for _ in range(6):
        letters = "ijklmn"[:draw.randrange(4, 7)]
        sizes = {letter: draw.randrange(2, 30) for letter in letters}
        groups, result = ["".join(pair) for pair in itertools.pairwise(letters)], letters[0] + letters[-1]
        pattern = f"{','.join(groups)}->{result}"
        counters, least = einsum(pattern, *(t(*(sizes[letter] for letter in group)) for group in [*groups, result]))
        expect(summed(counters, "mm", "vec"), cheapest(groups, result, sizes), f"{pattern} of {sizes}")
        expect(least, 4 * sum(arithmetic.prod(sizes[letter] for letter in group) for group in [*groups, result]), f"bytes of {pattern} of {sizes}")


ROW = """model row() {{
  dim batch = {rows}
  input x : [batch, {n}]
  param w : [{n}] = zeros
  loss = sum({made} * w)
  train {{ optimizer = sgd(lr = 0.1) }}
}}
"""

PRODUCT = """model product() {{
  dim batch = {m}
  input x : [batch, {k}]
  param w : [{k}, {n}] = zeros
  loss = sum(einsum(x, w, "b i, i o -> b o"))
  train {{ optimizer = sgd(lr = 0.1) }}
}}
"""


def rows(draw, folder):
    """What a row of n adds to a sum."""
    def counters(made, n, lines):
        file = pathlib.Path(folder) / "row.nap"
        file.write_text(ROW.format(rows=lines, n=n, made=made))
        return forward_counters(file)
    for _ in range(3):
        n, lines = draw.randrange(2, 900), draw.randrange(1, 9)
        bare = counters("x", n, lines)
        for made, vec, trn, cmp in (("softmax(x)", 3 * n - 1, n, n - 1), ("log_softmax(x)", 3 * n - 1, n + 1, n - 1), ("layer_norm@norm(x)", 7 * n + 1, 1, 0),
                                    ("rms_norm@norm(x)", 4 * n + 1, 1, 0), ("relu(x)", 0, 0, n), ("maximum(x, 0)", 0, 0, n), ("where(x < w, w, x)", 0, 0, n),
                                    ("dropout(x, 0.1)", n, 0, n), ("gelu_tanh(x)", 8 * n, n, 0),
                                    ("silu(x)", 3 * n, n, 0), ("sigmoid(x)", 2 * n, n, 0)):
            found = counters(made, n, lines)
            expect([found[key] - bare[key] for key in ("vec", "trn", "cmp")] == [lines * vec, lines * trn, lines * cmp], True,
                   f"{made} of {lines} rows of {n}: {found} beside {bare}")


# AdamW as other people write it: decay first and by itself, corrections as scalars of their own, the master copy cast behind.
ADAMW = """model update() {{
  dim batch = 3
  input x : [batch, {m}]
  param w : [{m}, {n}] = normal(std = 0.1)
  loss = sum(einsum(x, w, "b i, i o -> b o"))
  train {{ optimizer = {optimizer} }}
}}
optimizer own(lr: f32[] = 0.01, b1: f32[] = 0.8, b2 = 0.95, decay = 0.1) {{
  state first = zeros
  state second = zeros
  kept = (1 - lr * decay) * weight
  second = b2 * second + grad * grad * (1 - b2)
  first = first + (1 - b1) * (grad - first)
  weight = kept - (first / (1 - b1 ** (step + 1))) * lr / (1e-7 + sqrt(second))
}}
optimizer near(lr: f32[] = 0.01) {{
  state first = zeros
  state second = zeros
  first = 0.9 * first + 0.1 * grad
  second = 0.9 * second + 0.1 * abs(grad)
  weight = weight - lr * first / (sqrt(second) + 1e-8)
}}
optimizer plain(lr: f32[] = 0.01) {{ weight = weight - lr * grad }}
optimizer heavy(lr: f32[] = 0.01, mu: f32[] = 0.9) {{
  state velocity = zeros
  velocity = mu * velocity + grad
  weight = weight - lr * velocity
}}
optimizer squares(lr: f32[] = 0.01, eps: f32[] = 1e-10) {{
  state g2 = zeros
  g2 = g2 + grad * grad
  weight = weight - lr * grad / (sqrt(g2) + eps)
}}
"""

# Whether an update is AdamW's, and what a parameter more adds to it: additions, multiplications and divisions, and roots. The prelude's take a decay that
# a run may set.
UPDATES = {"adamw(lr = 0.1)": (True, (13, 1)), "adamw(lr = 0.1, weight_decay = 0)": (True, (13, 1)), "own()": (True, (13, 1)), "near()": (False, (10, 1)),
           "plain()": (False, (2, 0)), "heavy()": (False, (4, 0)), "squares()": (False, (6, 1)), "sgd(lr = 0.1)": (False, (4, 0)),
           "momentum(lr = 0.1)": (False, (6, 0)), "adagrad(lr = 0.1)": (False, (8, 1))}

ATTENDING = """model attending() {{
  dim batch = {b}
  input x : [batch, {s}, 3]
  param q : [{h}, 3, {e}] = normal()
  param k : [{g}, 3, {e}] = normal()
  param v : [{g}, 3, {f}] = normal()
  y = scaled_dot_product_attention(einsum(x, q, "b s d, h d e -> b h s e"), einsum(x, k, "b s d, g d e -> b g s e"), einsum(x, v, "b s d, g d f -> b g s f"), causal = true)
  loss = mean(y * y)
  train {{ optimizer = sgd(lr = 0.1) }}
}}
"""


def updates(draw):
    """Fifteen an element of an update by AdamW, in ops of its own and in a kernel; other updates by their ops."""
    for optimizer, (is_adamw, _) in UPDATES.items():
        for precision in ("f32", "mixed(bf16)"):
            m, n = draw.sample(range(5, 60), 2)
            text = ADAMW.format(m=m, n=n, optimizer=optimizer)
            for after in ("import", "nap-assemble-step", "nap-fuse"):
                found = [each for _, each in by_op_each(text, "all", "cs336", f"--precision={precision}", f"--after={after}")]
                what = f"cs336, {optimizer} of {m} x {n} in {precision} after {after}"
                # In a kernel stand beside it the choices of three new values or old ones, where gradients are not finite, and a few scalars.
                own = 18 if after == "nap-fuse" else 15
                expect(any(0 <= flops - own * m * n < (20 if own == 18 else 1) for flops in found), is_adamw, f"{what}: {found}")


def gradients(draw):
    """2 K - 1 a result of the four products of attention's gradient, keys and values summed over the queries that share them."""
    for _ in range(3):
        b, s, e, f = draw.randrange(1, 4), draw.randrange(2, 60), 2 * draw.randrange(2, 9), draw.randrange(3, 20)
        g = draw.randrange(1, 4)
        h = g * draw.randrange(1, 4)
        text = ATTENDING.format(b=b, s=s, e=e, f=f, g=g, h=h)
        forward = 2 * b * h * s * s * (e + f)
        for op, products, results, vec, trn, cmp in (
                ("attention", forward, h * s * (s + f), h * (2 * s * s + s * (3 + f) + s * (e + 2 + f)), h * (s * s + 2 * s), h * s * s),
                ("attention_backward", 2 * forward, h * s * (s + e) + g * s * (e + f), h * (3 * s * s + 2 * s * e), h * s * s, 0)):
            expect(by_op(text, op, "cs336", "--after=nap-autodiff")[0], products - b * results + b * (vec + trn + cmp), f"cs336, {op} of {b} x {h} / {g} heads, {s} queries, {e} and {f}")


def course(draw):
    """The course's switches: 2 K - 1 a product, one a comparison, twenty a GELU, fifteen an update by AdamW."""
    updates(draw)
    gradients(draw)
    for precision, size in (("f32", 4), ("pure(bf16)", 2)):
        m, n, k = draw.sample(range(2, 300), 3)
        text, flags = PRODUCT.format(m=m, n=n, k=k), ("--after=import", f"--precision={precision}")
        found, (intensity,) = by_op(text, "einsum", "cs336", *flags)
        expect(found, m * n * (2 * k - 1), f"cs336, a product {m} {n} {k} in {precision}")
        expect(intensity, m * n * (2 * k - 1) / size / (m * k + k * n + m * n), f"cs336, intensity of a product {m} {n} {k} in {precision}", 1e-9)
        for preset, wanted in (("mac", m * n * k), ("torch", 2 * m * n * k), ("xla", 2 * m * n * k), ("padded", 2 * m * n * k), ("korthikanti", 2 * m * n * k)):
            expect(by_op(text, "einsum", preset, *flags)[0], wanted, f"{preset}, a product {m} {n} {k} in {precision}")
    for made in ("gelu", "gelu_tanh"):
        m, n = draw.sample(range(2, 90), 2)
        text = ACTIVATION.format(m=m, n=n, made=made, dtype="f32")
        # As it is written the op that computes tanh or erf has it all; in one kernel it is read and written once.
        expect(by_op(text, {"gelu": "erf", "gelu_tanh": "tanh"}[made], "cs336", "--after=import")[0], 20 * m * n, f"cs336, {made} of {m} x {n}")
        expect(20 / 8 in by_op(text, "all", "cs336", "--after=nap-fuse")[1], True, f"cs336, intensity of {made} of {m} x {n}")

    m, n = draw.sample(range(2, 90), 2)
    text = ACTIVATION.format(m=m, n=n, made="relu", dtype="bf16")
    expect(by_op(text, "select", "cs336", "--after=import")[0], m * n, f"cs336, relu of {m} x {n}")
    expect(0.25 in by_op(text, "all", "cs336", "--after=nap-fuse", "--precision=pure(bf16)")[1], True, f"cs336, intensity of relu of {m} x {n}")


# `napkin math` ---------------------------------------------------------------------------------------

def memory(line, **flags):
    return math("memory", rf"^  {line} +([\d,]+)", **flags)


def counted(draw, folder):
    """What a parameter more adds to an update."""
    for optimizer, (_, wanted) in UPDATES.items():
        few, more = sorted(draw.sample(range(5, 60), 2))
        rows = []
        for n in (few, more):
            file = pathlib.Path(folder) / "update.nap"
            file.write_text(ADAMW.format(m=7, n=n, optimizer=optimizer))
            text = emit(file, (), "--nap-simplify", "--nap-annotate-cost")
            rows.append(counters_of(text, "update"))
        expect([(rows[1][key] - rows[0][key]) / (7 * (more - few)) for key in ("vec", "trn")] == list(wanted), True, f"{optimizer}: {rows} of {few} and {more}")


def lists(draw):
    """Published lists of activations."""
    for _ in range(4):
        heads, e = draw.randrange(1, 9), 8 * draw.randrange(1, 9)
        layers, s, b, vocab, parts = draw.randrange(1, 20), draw.randrange(1, 300), draw.randrange(1, 9), draw.randrange(1, 5000), draw.choice((1, 2, 4, 8))
        h = heads * e
        sizes = dict(width=h, heads=heads, context=s, batch=b)
        what = f"{layers} layers of {h}, {heads} heads, {b} x {s}"
        sbh, scores = s * b * h, heads * s * s * b
        layer = dict(preset="korthikanti", **sizes)
        # A share of bytes may be in parts, of which whole bytes are printed.
        expect(memory("= a layer", **layer), 34 * sbh + 5 * scores, f"{what}: 34 s b h + 5 a s s b")
        expect(memory("= a layer", **layer, recompute="selective"), 34 * sbh, f"{what}: without attention")
        expect(memory("= a layer", **layer, recompute="full"), 2 * sbh, f"{what}: the input alone")
        expect(memory("= a layer", **layer, tensor_parallel=parts), (10 + 24 / parts) * sbh + 5 * scores / parts, f"{what}: over {parts}", 1 / sbh)
        expect(memory("= a layer", **layer, tensor_parallel=parts, sequence_parallel=""), (34 * sbh + 5 * scores) / parts, f"{what}: over {parts}, sequence too", 1 / sbh)
        expect(memory("= activations of .*?", preset="a1", layers=layers, vocab=vocab, **sizes), 4 * (layers * (16 * sbh + 2 * scores) + sbh + 2 * s * b * vocab), f"{what}: a1")
        expect(memory("= activations of .*?", preset="lecture", layers=layers, width=h, batch=b), 2 * b * h * layers, f"{what}: lecture")
        tokens, wide = b * s, draw.choice((2, 4))
        kept = {0: 16, 1: 12, 2: 10, 3: 6}[again := draw.randrange(0, 4)]
        once = 5 * tokens * h * wide + tokens * h * wide + tokens * h * wide + 2 * tokens * 4 + tokens * 4 + tokens * max(vocab, 3 * h) * wide
        once += (4 * tokens * h * wide if again >= 1 else 0) + (4 * tokens * h * wide if again >= 3 else 0)
        expect(memory("= activations of .*?", preset="llm.c", layers=layers, vocab=vocab, recompute=again, dtype={2: "bf16", 4: "f32"}[wide], **sizes),
               layers * (kept * tokens * h * wide + 4 * tokens * 4 + heads * tokens * 4) + once, f"{what}: llm.c, {again}")


STATE = {"f32": 8, "mixed(bf16)": 10, "pure(bf16)": 4}
MOMENTS = {"sgd": 0, "momentum": 1, "adagrad": 1, "rmsprop": 1, "adam": 2, "adamw": 2}


def napkin(draw):
    """Rules of thumb."""
    for _ in range(4):
        n, tokens, k, peak, share = draw.randrange(10**6, 10**12), draw.randrange(10**6, 10**14), draw.randrange(1, 5000), draw.randrange(10**12, 10**16), draw.uniform(0.05, 1)
        expect(flops(parameters=n, tokens=tokens), 6 * n * tokens, "6 N D", 1e-12)
        # Hundredths of a day are printed.
        seconds = 6 * n * tokens / (k * peak * share)
        expect(math("time", r"^([\d.e+]+) s", parameters=n, tokens=tokens, devices=k, peak=peak, mfu=share), seconds, f"seconds of {n} on {tokens}", 1e-5)
        done, moved, bandwidth = draw.uniform(1, 1e15), draw.uniform(1, 1e12), draw.uniform(1e10, 1e13)
        flags = dict(flops=done, bytes=moved, peak=peak, bandwidth=bandwidth)
        expect(math("bound", r"^intensity (\S+)", **flags), done / moved, "intensity", 1e-5)
        expect(math("bound", r"device's (\S+)", **flags), peak / bandwidth, "ridge", 1e-5)
        text = run("napkin", "math", "bound", *(f"--{key}={value}" for key, value in flags.items()))
        expect(text.split("bound by ")[1].split()[0] == ("compute" if done / moved > peak / bandwidth else "memory"), True, f"bound: {text}")
        took = draw.uniform(1.01, 50) * 6 * n * tokens / (k * peak)
        expect(mfu(parameters=n, tokens=tokens, seconds=took, devices=k, peak=peak), 6 * n * tokens / (k * peak * took), "MFU", 0.01)
        optimizer, precision, room = draw.choice(list(MOMENTS)), draw.choice(list(STATE)), draw.uniform(1e9, 1e12)
        each = STATE[precision] + 4 * MOMENTS[optimizer]
        expect(math("largest", r"parameter: (\S+) parameters", memory=room, devices=k, optimizer=optimizer, precision=precision), k * room / each, f"largest by {optimizer}, {precision}", 1e-3)
        inputs, outputs, size = draw.randrange(64, 20000), draw.randrange(64, 20000), 2
        ridge = draw.uniform(1, 30)
        wanted = next(b for b in itertools.count(1) if 2 * b * inputs * outputs >= ridge * size * (inputs * outputs + b * (inputs + outputs)))
        expect(math("rows", r"from (\d+) row", inputs=inputs, outputs=outputs, peak=ridge * 1e12, bandwidth=1e12), wanted, f"rows of {inputs} x {outputs} at {ridge}")
        layers = draw.randrange(2, 2000)
        every = draw.randrange(1, layers + 1)
        text = run("napkin", "math", "checkpoint", f"--layers={layers}", f"--every={every}")
        found = [float(word) for word in re.search(rf"^one in {every} +(.*)", text, re.M)[1].split()]
        points = -(-layers // every)
        expect(found[:3] == [points, points + every - 1, layers - points], True, f"{layers} layers, one in {every} kept: {found}")


BLOCKS = {"f64": (64, 0, 0), "f32": (32, 0, 0), "tf32": (32, 0, 0), "bf16": (16, 0, 0), "f16": (16, 0, 0), "f8": (8, 0, 0), "i8": (8, 0, 0), "f4": (4, 0, 0),
          "i4": (4, 0, 0), "mxfp8": (8, 32, 0), "mxfp6": (6, 32, 0), "mxfp4": (4, 32, 0), "nvfp4": (4, 16, 32)}


def types(draw):
    for _ in range(4):
        elements = draw.randrange(1, 10**9)
        for name, (bits, block, tensor) in BLOCKS.items():
            whole = elements * bits + tensor + (-(-elements // block) * 8 if block else 0)
            expect(math("size", rf"^{name} +\S+ +([\d,]+)", elements=elements), -(-whole // 8), f"{elements} of {name}")


# Devices whose sheets print peaks of matrix units for sparse operands, the double; and a peak that such a sheet prints for
# dense operands.
HALVED = {"h100_sxm", "h100_pcie", "h100_nvl", "h200_sxm", "b200_sxm", "gb200", "b300_sxm", "l40s"}
DENSE = {("b300_sxm", "f4")}


def table():
    """Each figure is that of the list, with a source, which says of a peak whether it was halved; what clock and units give is
    the sheet's peak; multiprocessors have the same number of units."""
    for name, row in devices().items():
        found = sources(name)
        for figure, wanted in [*row["peaks"].items(), ("bandwidth", row["mem_bw"]), ("memory", row["mem_gb"])]:
            unit = 1e9 if figure == "memory" else 1e12
            expect(found[figure][0] * unit, wanted, f"{name}, {figure}", 1e-5)
        for figure, (value, source) in found.items():
            halved = name in HALVED and figure in row["peaks"] and figure not in ("f64", "f32") and (name, figure) not in DENSE
            expect("half of what it prints for sparse operands" in source, halved, f"{name}, {figure}: {source}")
            if figure.endswith(" from its clock"):
                expect(value, found[figure.split()[0]][0], f"{name}, {figure}", 0.008)
            if figure.endswith(", units") and "processors" in found:
                expect(value % found["processors"][0], 0, f"{name}: {value} units of {found['processors'][0]} multiprocessors")


def main():
    draw = random.Random(11)
    for _ in range(2):
        gpt2(draw)
        llama(draw)
    published()
    causal(draw)
    chains(draw)
    with tempfile.TemporaryDirectory() as folder:
        rows(draw, folder)
        counted(draw, folder)
    course(draw)
    lists(draw)
    napkin(draw)
    types(draw)
    table()
    print(*FAULTS, f"{'wrong' if FAULTS else 'ok'} {ASKED}", sep="\n")


if __name__ == "__main__":
    main()
