"""Properties of counts at the edges, over the IR and over small models; prints a line for what does not hold, then "ok" and how many were asked.

No two sizes of a case are equal, so that swapped axes show. Seeds are fixed.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from check import count, run

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
FAULTS, ASKED = [], 0


def expect(found, wanted, what):
    global ASKED
    ASKED += 1
    if found != wanted:
        FAULTS.append(f"{what}: {found}, wanted {wanted}")


def tensor(*shape, element="f32"):
    return f"tensor<{'x'.join(map(str, (*shape, element)))}>"


def one(op, *operands, result):
    """Counters and least bytes of one op of the operands' types."""
    names = [f"%a{i}" for i in range(len(operands))]
    ops, _ = count(f"  %r = nap.{op.format(*names)} : {result[0]}", ", ".join(map(": ".join, zip(names, operands))), (result[1], "%r"))
    return ops[-1][1], ops[-1][2]


def product(pattern, shapes, result):
    kinds = [tensor(*shape) for shape in shapes]
    return one(f'einsum "{pattern}" ' + ", ".join(f"{{{i}}}" for i in range(len(kinds))), *kinds,
               result=(f"({', '.join(kinds)}) -> {tensor(*result)}", tensor(*result)))


def contractions(draw):
    """Every size another one, one among them at random, and 1."""
    for _ in range(6):
        b, m, n, k = draw.sample(range(2, 30), 4)
        costs, least = product("bmk,kn->bmn", [(b, m, k), (k, n)], (b, m, n))
        expect(costs, {"mm": 2 * b * m * n * k}, f"batch product {b} {m} {n} {k}")
        expect(least, 4 * (b * m * k + k * n + b * m * n), f"bytes of batch product {b} {m} {n} {k}")
    m, n = draw.sample(range(2, 30), 2)
    expect(product("mk,kn->mn", [(m, 1), (1, n)], (m, n))[0], {"mm": 2 * m * n}, "a product over one term is 2 M N")
    expect(product("mk,kn->mn", [(1, 1), (1, 1)], (1, 1))[0], {"mm": 2}, "one element")
    expect(product("m,n->mn", [(m,), (n,)], (m, n))[0], {"vec": m * n}, "an outer product sums nothing")
    # (2, 1, 4, 8) @ (3, 8, 5): the product of the broadcast batch sizes; repeated elements are read once.
    body = ("  %0 = nap.broadcast %a [0, 2, 3] : tensor<2x4x8xf32> -> tensor<2x3x4x8xf32>\n"
            '  %1 = nap.einsum "cbmk,bkn->cbmn" %0, %b : (tensor<2x3x4x8xf32>, tensor<3x8x5xf32>) -> tensor<2x3x4x5xf32>')
    ops, _ = count(body, "%a: tensor<2x4x8xf32>, %b: tensor<3x8x5xf32>", ("tensor<2x3x4x5xf32>", "%1"))
    expect(ops[-1][1], {"mm": 2 * 3 * 2 * 4 * 5 * 8}, "broadcast batch sizes")
    expect(ops[-1][2], 4 * (2 * 4 * 8 + 3 * 8 * 5 + 2 * 3 * 4 * 5), "bytes of a broadcast operand")


def attentions(draw):
    """Keys and values of other sizes, as many queries as no other, grouped heads."""
    for _ in range(4):
        group, kv, queries, keys, e, f = draw.sample(range(2, 40), 6)
        heads = group * kv
        q, k, v, o, l = tensor(heads, queries, e), tensor(kv, keys, e), tensor(kv, keys, f), tensor(heads, queries, f), tensor(heads, queries)
        body = f"  %o, %l = nap.attention %q, %k, %v {{scale = 0.5}} : ({q}, {k}, {v}) -> ({o}, {l})"
        ops, model = count(body, f"%q: {q}, %k: {k}, %v: {v}", (o, "%o"))
        expect(ops[-1][1]["mm"], 2 * heads * queries * keys * (e + f), f"attention {heads} {queries} {keys} {e} {f}")
        expect(model["exact"], model["dense"], "attention without a mask")
        # Keys and values once a kv head.
        expect(ops[-1][2], 4 * (heads * queries * (e + f + 1) + kv * keys * (e + f)), f"bytes of attention {heads} {kv} {queries} {keys}")


def storage():
    """Bits of every type as laid out, views that move nothing, what is read of strides that go back."""
    for element, bits in (("f64", 64), ("f32", 32), ("bf16", 16), ("f16", 16), ("f8E4M3FN", 8), ("f8E5M2", 8), ("f4E2M1FN", 4)):
        if element == "f32":
            continue
        costs, least = one("cast {0}", tensor(7, 3, element=element), result=(f"{tensor(7, 3, element=element)} -> {tensor(7, 3)}", tensor(7, 3)))
        expect(least, (21 * bits + 7) // 8 + 84, f"bytes of a cast of {element}")
        expect("mm" in costs, False, f"a cast of {element} multiplies")
    body = ("  %0 = nap.slice %a [0, 8] step [2, -3] : tensor<5x9xf32> -> tensor<3x3xf32>\n"
            "  %1 = nap.neg %0 : tensor<3x3xf32>")
    ops, _ = count(body, "%a: tensor<5x9xf32>", ("tensor<3x3xf32>", "%1"))
    expect([least for name, _, least in ops], [0, 72], "a slice that goes back, and its negation")
    expect(one("exp {0}", tensor(1), result=(tensor(1), tensor(1))), ({"trn": 1}, 8), "one element")
    expect(one("exp {0}", "tensor<f32>", result=("tensor<f32>", "tensor<f32>")), ({"trn": 1}, 8), "no axes")
    # Nothing is no size: one element is the least.
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("func.func @f(%a: tensor<0x3xf32>) -> tensor<0x3xf32> {\n  %0 = nap.exp %a : tensor<0x3xf32>\n  return %0 : tensor<0x3xf32>\n}\n")
        file.flush()
        out = subprocess.run(["napkin-opt", file.name, "--nap-annotate-cost"], capture_output=True, text=True)
        if out.returncode == 0:
            expect("nap.bytes_min = 0.000000e+00" in out.stdout and "nap.cost = {}" in out.stdout, True, "an empty tensor costs nothing")


def report(file, defines, *flags):
    words = [word for name, value in defines.items() for word in ("-D", f"{name}={value}")]
    return json.loads(run("napkin", "report", str(file), *words, "--json", *flags))


def model_of(lines, optimizer="sgd(lr = 0.1)"):
    return "\n".join(["model m() {", "  dim batch = 5", *("  " + line for line in lines),
                      "  loss = mean(y * y)", f"  train {{ optimizer = {optimizer} }}", "}"]) + "\n"


def weights(folder):
    """A frozen weight takes exactly its gradient; a tied one is a parameter once and two products; a layer k times is k times."""
    def flops(name, lines, optimizer="sgd(lr = 0.1)"):
        file = pathlib.Path(folder) / f"{name}.nap"
        file.write_text(model_of(lines, optimizer))
        r = report(file, {})
        return r["rows"][-1]["model_flops"]["exact"], r["forward_flops"]["exact"], r["rows"][-1]["memory"]["parameters"], r
    head = ["input x : [batch, 7]", "param a : [7, 11] = normal(std = 0.1)", "param b : [11, 13] = normal(std = 0.1)"]
    second = 2 * 5 * 11 * 13
    both = [*head, 'y = einsum(x, a, "i j, j k -> i k")', 'y = einsum(y, b, "i j, j k -> i k")']
    whole, forward, *_ = flops("trained", both)
    frozen, same, *_ = flops("frozen", both, 'none if name == "b" else sgd(lr = 0.1)')
    expect(same, forward, "a frozen weight changes the forward pass")
    expect(whole - frozen, second, "a frozen weight takes its own gradient away and no more")
    first, *_ = flops("first", both, 'none if name == "a" else sgd(lr = 0.1)')
    expect(whole - first, second + 2 * 5 * 7 * 11, "with the first weight frozen nobody wants the second product's input's gradient")
    square = ["input x : [batch, 7]", "param a : [7, 7] = normal(std = 0.1)", "y = x"]
    once, *_ = flops("once", [*square, 'y = einsum(y, a, "i j, j k -> i k")'])
    for k in (2, 3, 5):
        all_k, forward, parameters, r = flops(f"tied{k}", [*square, f"for i in 0:{k} {{", '  y = einsum(y, a, "i j, j k -> i k")', "}"])
        expect(forward, k * 2 * 5 * 7 * 7, f"a weight used {k} times is {k} products")
        expect(all_k, once + (k - 1) * 3 * 2 * 5 * 7 * 7, f"backward of a weight used {k} times")
        expect(parameters, 4 * 7 * 7, f"a weight used {k} times is kept once")


def recompute(folder):
    """Without attention the program multiplies what the model asks for; with checkpoints that, and what is computed again."""
    file = pathlib.Path(folder) / "blocks.nap"
    file.write_text("""model m(layers = 4) {
  dim batch = 6
  input x : [batch, 10]
  y = x
  for i in 0:layers {
    y = block@h.{i}(y)
  }
  loss = mean(y * y)
  train { optimizer = adamw(lr = 0.1) }
}
layer block(x: [..., d]) -> [..., d] {
  h = gelu_tanh(linear@up(x, 23))
  return x + linear@down(h, d)
}
""")
    plain = report(file, {})
    for row in plain["rows"]:
        if "model_flops" in row:
            expect(row["hw_flops"], row["model_flops"]["exact"], f"{row['pass']}: nothing is computed twice")
    model, kept = plain["rows"][-1]["model_flops"], plain["rows"][-1]["memory"]["saved"]
    # A block's backward pass wants what GELU read, the first product, and not the second one's result: that is its own
    # input's sum. Of every second block the input is made anew too, by the second product of the block before. The
    # last block, or pair of blocks, stays: its backward pass comes first. From the model's input, block k's takes k
    # blocks: 0 + 1 + 2 of them, and three first products.
    up = down = 2 * 6 * 10 * 23
    for strategy, again in (("blocks", 3 * up), ("sqrt", 2 * up + down), ("minimal", 3 * (up + down) + 3 * up)):
        last = report(file, {}, f"--checkpoint={strategy}")["rows"][-1]
        expect(last["model_flops"], model, f"{strategy}: the model's own products")
        expect(last["hw_flops"] - model["exact"], again, f"{strategy}: products that are done again")
        expect(last["memory"]["saved"] <= kept, True, f"{strategy}: more is kept")


def four_parts(folder):
    """Parameters, gradients, optimizer state and activations of two products, by optimizer and precision."""
    file = pathlib.Path(folder) / "parts.nap"
    elements, x, first, second = 7 * 11 + 11 * 13, 5 * 7, 5 * 11, 5 * 13
    for optimizer, moments in (("sgd(lr = 0.1)", 0), ("adagrad(lr = 0.1)", 1), ("adamw(lr = 0.1)", 2)):
        file.write_text(model_of(["input x : [batch, 7]", "param a : [7, 11] = normal(std = 0.1)", "param b : [11, 13] = normal(std = 0.1)",
                                  'y = einsum(x, a, "i j, j k -> i k")', 'y = einsum(y, b, "i j, j k -> i k")'], optimizer))
        for policy, master, copy, gradient, stored in (("f32", 4, 0, 4, 4), ("mixed(bf16)", 4, 2, 4, 2), ("pure(bf16)", 2, 0, 2, 2)):
            rows = [row["memory"] for row in report(file, {}, f"--precision={policy}", "--after=nap-assemble-step")["rows"]]
            found = [rows[-1]["parameters"], rows[-1]["working"], max(row["micro_gradients"] for row in rows), rows[-1]["states"], rows[-1]["saved_at_loss"]]
            # The second product reads the first's result, the loss's gradient the second's; the first product reads
            # the input, in a copy where it is narrower.
            wanted = [master * elements, copy * elements, gradient * elements, 4 * moments * elements, stored * (first + second) + (stored * x if stored < 4 else 0)]
            expect(found, wanted, f"{optimizer}, {policy}: parameters, copies, gradients, states, activations")


def use_by_types(folder):
    """Each product counts at its own type's peak: one of bf16 and its weight's gradient, one that is pinned to f32 and both of its gradients."""
    file, device = pathlib.Path(folder) / "pinned.nap", pathlib.Path(folder) / "device.json"
    file.write_text(model_of(["input x : [batch, 7]", "param a : [7, 11] = normal(std = 0.1)", "param b : [11, 13] = normal(std = 0.1)",
                              'y = einsum(x, a, "i j, j k -> i k")', 'y = einsum(y, cast(b, f32), "i j, j k -> i k")']))
    device.write_text('{"peaks_tflops": {"f32": 2, "bf16": 8}, "bandwidth_tb_s": 1}')
    use = report(file, {}, "--precision=mixed(bf16)", f"--device={device}", "--step-time=0.001")["measured"]
    seconds = 2 * 2 * 5 * 7 * 11 / 8e12 + 3 * 2 * 5 * 11 * 13 / 2e12
    for name in ("mfu_exact", "hfu"):
        expect(abs(use[name] * 1e-6 / seconds - 1) < 1e-9, True, f"{name} of two types: {use[name]}, wanted {seconds / 1e-6}")


def inside(size, kernel, stride, dilation, padding):
    """Of one axis, pairs of a place and an offset whose element is in the image, and all pairs; by looking at each."""
    places = range((size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1)
    pairs = [p * stride + o * dilation - padding for p in places for o in range(kernel)]
    return sum(0 <= at < size for at in pairs), len(pairs)


def taps(draw, folder):
    """Convolutions of random sizes, strides, dilations, paddings and groups, with both gradients: the model asks for taps in the image, three times; the
    program makes all."""
    file = pathlib.Path(folder) / "conv.nap"
    asked = 0
    while asked < 12:
        h, w, ku, kv, su, sv, dilation, pu, pv, groups, n, c, o = (draw.randrange(low, high) for low, high in (
            (1, 12), (1, 12), (1, 5), (1, 5), (1, 4), (1, 4), (1, 3), (0, 4), (0, 4), (1, 4), (1, 4), (1, 4), (1, 4)))
        if h + 2 * pu < dilation * (ku - 1) + 1 or w + 2 * pv < dilation * (kv - 1) + 1:
            continue
        asked += 1
        file.write_text(f"""model m() {{
  param x : [{n}, {c * groups}, {h}, {w}] = normal()
  y = conv2d@conv(x, {o * groups}, [{ku}, {kv}], stride = [{su}, {sv}], padding = [{pu}, {pv}], dilation = {dilation}, groups = {groups}, bias = false)
  loss = sum(y * y)
  train {{ optimizer = sgd(lr = 0.1) }}
}}
""")
        rows, columns = inside(h, ku, su, dilation, pu), inside(w, kv, sv, dilation, pv)
        exact, whole = (2 * n * groups * o * c * rows[i] * columns[i] for i in (0, 1))
        r = report(file, {}, "--after=nap-assemble-step")
        what = f"convolution of {h}x{w} by {ku}x{kv}, stride {su} {sv}, dilation {dilation}, padding {pu} {pv}, {groups} groups"
        # Where one of the three sums is of one term, it is a plain product, in `vec`.
        forward, last = r["forward_flops"], r["rows"][-1]
        if min(c * ku * kv, n * (rows[1] // ku) * (columns[1] // kv), o) > 1:
            expect((forward["exact"], forward["padded"]), (exact, whole - exact), f"{what}: forward")
            expect((last["model_flops"]["exact"], last["model_flops"]["padded"]), (3 * exact, 3 * (whole - exact)), f"{what}: a step")
        expect(r["presets"]["padded"], last["model_flops"]["dense"], f"{what}: preset padded")
        expect(forward["dense"] - forward["padded"], forward["exact"], f"{what}: dense less padding")


def numbers(text):
    return {name: int(value.replace(",", "")) for name, value in re.findall(r"(\w+) ([\d,]+)", text)}


def explained():
    """The lines of each kernel add up to its sum, those of all kernels to the step's."""
    for name, defines in (("words", {"layers": 2, "seq": 24}), ("mlp", {}), ("gpt2", {"layers": 1, "d": 24, "heads": 3, "vocab": 40, "context": 20, "batch": 2}),
                          ("llama", {"layers": 1, "d": 32, "heads": 4, "kv_heads": 2, "hidden": 40, "vocab": 40, "seq": 20, "batch": 2})):
        file = EXAMPLES / f"{name}.nap"
        words = [word for key, value in defines.items() for word in ("-D", f"{key}={value}")]
        step = {}
        for part in re.split(r"^(?=\S)", run("napkin", "report", str(file), *words, "--explain=all"), flags=re.M)[1:]:
            head, *lines = part.splitlines()
            times = int(re.search(r", (\d+) a step, each:$", head)[1])
            sums = {}
            for line in lines:
                if re.match(r"  \w+ -> ", line):
                    for counter, value in numbers(line.rsplit(": ", 1)[1]).items():
                        sums[counter] = sums.get(counter, 0) + value
            whole = numbers(next(line for line in lines if line.startswith("  = ")))
            expect(sums, whole, f"{name}, {head}")
            for counter, value in whole.items():
                step[counter] = step.get(counter, 0) + times * value
        rows = report(file, defines)["rows"]
        row = rows[-1]
        expect(step, {counter: row[key] for counter, key in (("mm", "hw_flops"), ("vec", "vec"), ("trn", "trn"), ("cmp", "cmp"), ("cvt", "cvt"), ("integer", "integer")) if row[key]},
               f"{name}: all kernels")
        for before, after in zip(rows, rows[1:]):
            if after["pass"] == "nap-simplify":
                for figure in ("hw_flops", "vec", "trn"):
                    expect(after[figure] <= before[figure], True, f"{name}: simplifying raises {figure}")


def main():
    draw = random.Random(7)
    contractions(draw)
    attentions(draw)
    storage()
    with tempfile.TemporaryDirectory() as folder:
        weights(folder)
        recompute(folder)
        four_parts(folder)
        use_by_types(folder)
        taps(draw, folder)
    explained()
    print(*FAULTS, f"{'wrong' if FAULTS else 'ok'} {ASKED}", sep="\n")


main()
