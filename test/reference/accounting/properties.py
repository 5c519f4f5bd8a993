"""Holds what every report must satisfy, over the examples and over random models.

Prints a line for what does not hold, then "ok" and how many models were asked.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
SCHEMA = (ROOT / "docs" / "accounting.md").read_text().split("## The report as JSON")[1]
FAULTS = []


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{result.stderr[-2000:]}")
    return result.stdout


def report(file, defines, *flags):
    words = [word for name, value in defines.items() for word in ("-D", f"{name}={value}")]
    return json.loads(run("napkin", "report", str(file), *words, "--json", *flags))


def expect(holds, what):
    if not holds:
        FAULTS.append(what)


def totals(row):
    return sum(part["mm"] for part in row["work"])


def check_rows(name, r):
    rows = r["rows"]
    models = {row["model_flops"]["exact"] for row in rows if "model_flops" in row}
    expect(len(models) == 1, f"{name}: model FLOPs change in a pass: {models}")
    for before, row in zip([None] + rows, rows):
        where = f"{name}, {row['pass']}"
        expect(not row["broken"], f"{where}: {row['check']}")
        memory = row["memory"]
        state = sum(memory[c] for c in ("parameters", "working", "buffers", "states", "gradients", "inputs"))
        expect(state == memory["state"], f"{where}: state is not the sum of its classes")
        whole = state + memory["saved"] + memory["temporary"] + memory["padding"]
        expect(whole == memory["total"] == row["peak"]["bytes"], f"{where}: classes of memory do not add up")
        live = sum(tensor["bytes"] for tensor in row["peak"]["live"])
        expect(live == memory["saved"] + memory["temporary"], f"{where}: the tensors at the peak are not its bytes")
        expect(memory["padding"] >= 0, f"{where}: the arena is smaller than its peak")
        for counter in ("mm", "vec", "trn", "cmp", "cvt", "integer"):
            total = sum(part[counter] for part in row["work"])
            expect(total == row["hw_flops" if counter == "mm" else counter], f"{where}: {counter} by type does not add up")
            kernels = sum(part[counter] for kernel in row["kernels"] for part in kernel["work"])
            expect(kernels == total, f"{where}: {counter} of the kernels is {kernels}, of the step {total}")
        for figure in ("bytes_min", "bytes_plan"):
            expect(sum(kernel[figure] for kernel in row["kernels"]) == row[figure], f"{where}: {figure} does not add up")
        expect(row["bytes_min"] <= row["bytes_plan"], f"{where}: less is planned than must be moved")
        if row["pass"] == "nap-fuse":
            expect(row["hw_flops"] == before["hw_flops"], f"{where}: fusion changes products")
            expect(row["bytes_plan"] <= before["bytes_plan"], f"{where}: fusion moves more")
    # What the step reads and writes in any case: the state that it changes.
    last = rows[-1]
    expect(2 * last["memory"]["states"] <= last["bytes_plan"], f"{name}: the plan moves less than the state")
    expect(max(r["timeline"]) + last["memory"]["padding"] == last["memory"]["total"], f"{name}: the peak is not the highest of the timeline")
    part = sum(part["exact"] for part in r["forward_parts"])
    expect(part == r["forward_flops"]["exact"], f"{name}: forward parts do not add up")
    order = r["forward_flops"]
    expect(order["exact"] <= order["dense"] and order["half"] <= order["dense"], f"{name}: dense is not the most")


def check_schema(name, r):
    """Every member stands in docs/accounting.md; the classes of memory are called there by that name."""
    row = r["rows"][-1]
    for members in (r, r["forward_flops"], r["forward_parts"][0], row, row["model_flops"], row["work"][0], row["peak"], row["peak"]["live"][0], row["kernels"][0]):
        for member in members:
            expect(re.search(rf"\b{member}\b", SCHEMA), f"{name}: docs/accounting.md does not name \"{member}\"")


def check_model(name, file, defines, batch, dtypes=True):
    r = report(file, defines)
    check_rows(name, r)
    check_schema(name, r)
    expect(r == report(file, defines), f"{name}: two reports differ")
    double = report(file, {**defines, batch: 2 * defines[batch]})
    first, second = r["rows"][-1], double["rows"][-1]
    expect(second["model_flops"]["exact"] == 2 * first["model_flops"]["exact"], f"{name}: twice the batch is not twice the products")
    expect(second["memory"]["state"] - second["memory"]["inputs"] == first["memory"]["state"] - first["memory"]["inputs"],
           f"{name}: state grows with the batch")
    before, after = (next(row for row in x["rows"] if row["pass"] == "nap-assemble-step") for x in (r, double))
    expect(after["memory"]["saved_at_loss"] <= 2 * before["memory"]["saved_at_loss"], f"{name}: saved bytes more than double")
    # The step in halves is the same work of the model.
    if defines[batch] % 2 == 0:
        halves = report(file, {**defines, batch: defines[batch] // 2}, f"--accumulate={2 * r['accumulate']}")
        check_rows(f"{name} in halves", halves)
        expect(halves["rows"][-1]["model_flops"] == first["model_flops"], f"{name}: two halves are not the whole")
    if dtypes:
        narrow = report(file, defines, "--precision=mixed(bf16)")
        check_rows(f"{name} in bf16", narrow)
        expect(narrow["rows"][-1]["model_flops"] == first["model_flops"], f"{name}: a type changes the model's products")
        types = {(part["compute"], part["accumulate"]) for part in narrow["rows"][-1]["work"] if part["mm"]}
        expect(("bf16", "f32") in types, f"{name}: no product of bf16 summed in f32: {types}")
    # The screen says the same.
    words = [word for key, value in defines.items() for word in ("-D", f"{key}={value}")]
    text = run("napkin", "report", str(file), *words)
    expect(all(len(line) <= 120 for line in text.splitlines()), f"{name}: a line of more than 120 columns")
    arena = re.search(r"^  = arena +([\d.]+)", text, re.M)[1]
    expect(arena == f"{first['memory']['total'] / 2**20:.3f}", f"{name}: the screen's arena is {arena} MiB")
    expect(f"{first['model_flops']['exact']:,}" in text, f"{name}: the screen has other model FLOPs")
    top = text[text.index("TOP OPS"):].splitlines()
    shares = [float(line.split()[-1]) for line in top[1:] if line and not line.startswith(("= all", "NOTE"))]
    expect(abs(sum(shares) - 100) < 0.05 * len(shares) + 0.05, f"{name}: shares are {sum(shares)} %")
    return r


def random_model(seed):
    """A perceptron of random depth, widths, activations and norms; weights without biases at random."""
    draw = random.Random(seed)
    widths = [draw.randrange(3, 40) for _ in range(draw.randrange(2, 6))]
    lines = [f"model m{seed}() {{", f"  dim batch = {draw.randrange(2, 12)}", f"  input x : [batch, {widths[0]}]", "  y = x"]
    kept = {}
    for number, width in enumerate(widths[1:]):
        lines.append(f"  y = linear@l{number}(y, {width}, bias = {draw.choice(['true', 'false'])})")
        lines.append(f"  y = {draw.choice(['relu(y)', 'gelu_tanh(y)', 'silu(y)', 'tanh(y)', f'layer_norm@n{number}(y)', f'rms_norm@n{number}(y)'])}")
        if width in kept and draw.random() < 0.8:
            lines.append(f"  y = y + {kept[width]}")
        kept[width] = f"s{number}"
        lines.append(f"  s{number} = y")
    optimizer = draw.choice(["sgd(lr = 0.1)", "adagrad(lr = 0.1)", "adamw(lr = 0.001)"])
    lines += ["  loss = mean(y * y)", f"  train {{ optimizer = {optimizer} }}", "}"]
    products = [2 * a * b for a, b in zip(widths, widths[1:])]
    batch = int(lines[1].split()[-1])
    return "\n".join(lines) + "\n", batch, products


def main():
    asked = 0
    small = {"layers": 2, "heads": 2, "d": 24, "vocab": 33, "batch": 2}
    for name, defines in (("gpt2", {**small, "context": 20}), ("words", {**small, "seq": 20}),
                          ("llama", {**small, "kv_heads": 1, "hidden": 40, "seq": 20}), ("mlp", {"batch": 6})):
        r = check_model(name, EXAMPLES / f"{name}.nap", defines, "batch")
        asked += 1
        if name == "mlp":
            continue
        # Twice the length: all but attention doubles, dense attention is four times.
        length = "context" if name == "gpt2" else "seq"
        longer = report(EXAMPLES / f"{name}.nap", {**defines, length: 40}, "--after=nap-recognize")
        def attention(x, key):
            return sum(p[key] for p in x["forward_parts"] if p["name"].startswith("attention"))
        rest, more = (x["forward_flops"]["dense"] - attention(x, "dense") for x in (r, longer))
        expect(more == 2 * rest, f"{name}: products of weights do not double with the length")
        expect(attention(longer, "dense") == 4 * attention(r, "dense"), f"{name}: dense attention is not quadratic")
        expect(attention(longer, "exact") * 21 * 20 == attention(r, "exact") * 41 * 40,
               f"{name}: exact attention is not of T (T + 1) / 2 pairs")
        backward = (r["rows"][-1]["model_flops"]["exact"] - r["forward_flops"]["exact"]) / r["forward_flops"]["exact"]
        expect(backward == 2, f"{name}: backward is {backward} times forward")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(sys.argv[1])):
            text, batch, products = random_model(seed)
            file = pathlib.Path(folder) / f"m{seed}.nap"
            file.write_text(text)
            r = check_model(f"random model {seed}", file, {"batch": batch}, "batch", dtypes=seed % 3 == 0)
            forward = batch * sum(products)
            expect(r["forward_flops"]["exact"] == forward, f"random model {seed}: forward is not 2 M N K")
            # The input wants no gradient.
            expect(r["rows"][-1]["model_flops"]["exact"] == 3 * forward - batch * products[0],
                   f"random model {seed}: backward is not twice forward without the first layer's input")
            asked += 1
    print(*FAULTS, f"{'wrong' if FAULTS else 'ok'} {asked}", sep="\n")


main()
