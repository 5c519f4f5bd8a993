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
DOCS = (ROOT / "docs" / "accounting.md").read_text().split("## The report as JSON")[1]
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
        expect(sum(tensors["bytes"] for tensors in row["saved"]) == memory["saved_at_loss"], f"{where}: the saved tensors are not its bytes")
        expect(all(tensors["read_by"] and tensors["count"] > 0 for tensors in row["saved"]), f"{where}: a saved tensor that nothing reads")
        expect(row["total_flops"] == row["hw_flops"] + row["vec"] + row["cmp"] + row["trn"], f"{where}: total FLOPs are not their sum")
        expect(memory["padding"] >= 0, f"{where}: the arena is smaller than its peak")
        for counter in ("mm", "vec", "trn", "cmp", "cvt", "integer"):
            total = sum(part[counter] for part in row["work"])
            expect(total == row["hw_flops" if counter == "mm" else counter], f"{where}: {counter} by type does not add up")
            kernels = sum(part[counter] for kernel in row["kernels"] for part in kernel["work"])
            expect(kernels == total, f"{where}: {counter} of the kernels is {kernels}, of the step {total}")
        for figure in ("bytes_min", "bytes_plan"):
            expect(sum(kernel[figure] for kernel in row["kernels"]) == row[figure], f"{where}: {figure} does not add up")
        expect(row["bytes_min"] <= row["bytes_plan"], f"{where}: less is planned than must be moved")
        expect(r["bytes_graph"] <= row["bytes_plan"] or "model_flops" not in row, f"{where}: less is planned than the whole graph must move")
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
    """The report is of the schema, and every member stands in docs/accounting.md."""
    checked = subprocess.run([sys.executable, ROOT / "test/tools/report/Inputs/check_schema.py", ROOT / "docs/report.schema.json"],
                             input=json.dumps(r), capture_output=True, text=True)
    expect(re.match(r"ok \d+\n$", checked.stdout), f"{name}: {checked.stdout}{checked.stderr}")
    row = r["rows"][-1]
    for members in (r, r["forward_flops"], r["forward_parts"][0], row, row["model_flops"], row["work"][0], row["peak"], row["peak"]["live"][0], row["kernels"][0], row["saved"][0]):
        for member in members:
            expect(re.search(rf"\b{member}\b", DOCS), f"{name}: docs/accounting.md does not name \"{member}\"")


def covered(places):
    """Bytes that intervals (first, end) cover together."""
    total, reach = 0, 0
    for first, end in sorted(places):
        total += max(0, end - max(first, reach))
        reach = max(reach, end)
    return total


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1]


def replay(name, file, defines, r, *flags):
    """Places and frees of the planned program, one launch after another: no tensor that is still read is written over, and the bytes in use are those
    of the report, launch by launch."""
    words = [word for key, value in defines.items() for word in ("-D", f"{key}={value}")]
    program = json.loads(run("napkin", "compile", str(file), *words, *flags, "--emit=plan"))
    tensors, last = program["tensors"], r["rows"][-1]
    place = [(tensor["offset"], tensor["offset"] + tensor["bytes"]) for tensor in tensors]
    kept = [place[i] for i, tensor in enumerate(tensors) if tensor["role"] not in ("temporary", "result")]
    # New versions lie where the old ones do.
    stays = {i for i in range(len(tensors)) if any(overlap(place[i], each) for each in kept)}
    expect(covered(kept) == last["memory"]["state"], f"{name}: what stays takes other bytes than the state of the report")
    expect(max(end for _, end in place) <= program["arena_bytes"] == last["memory"]["total"], f"{name}: the arena is not the report's")
    timelines, most = [], 0
    for function in program["functions"]:
        launches, live, timeline = function["launches"], set(), []
        read_last = {argument: number for number, launch in enumerate(launches) for argument in launch["arguments"]}
        for number, launch in enumerate(launches):
            written = set(launch["results"]) - stays
            # What a result takes the place of, its launch is the last to read. Parts of a join that others write lie in it.
            taken = {other for other in live for result in written if overlap(place[result], place[other]) and read_last.get(other, -1) <= number}
            for result in written:
                for other in live - taken - written:
                    inside = place[other][0] <= place[result][0] and place[result][1] <= place[other][1]
                    expect(inside or not overlap(place[result], place[other]),
                           f"{name}, {function['name']}, launch {number}: tensor {result} is written over {other}, which is still read")
            live = live - taken | written
            timeline.append(last["memory"]["state"] + covered(place[i] for i in live | set(launch["arguments"]) - stays))
            live -= set(launch.get("dies", ()))
        timelines.append(timeline)
        if function["name"] in ("prepare", "step", "counts", "micro_first", "micro_next", "update"):
            most = max(most, *timeline, 0)
    expect(r["timeline"] in timelines, f"{name}: no function of the plan has the timeline of the report")
    expect(most + last["memory"]["padding"] == last["memory"]["total"], f"{name}: the replay's peak is not the report's")


def check_scaling(name, reports, sizes):
    """Over once, twice and four times a size: every count and the saved bytes grow evenly, the model's products from nothing, the state not at all."""
    rows = [next(row for row in r["rows"] if row["pass"] == "nap-assemble-step") for r in reports]

    def even(what, values):
        expect(values[2] - values[1] == 2 * (values[1] - values[0]) >= 0, f"{name}: {what} does not grow evenly with {sizes}: {values}")

    for counter in ("vec", "trn", "cmp"):
        even(counter, [row[counter] for row in rows])
    even("saved bytes", [row["memory"]["saved_at_loss"] for row in rows])
    for what in ("states", "parameters", "gradients"):
        expect(len({row["memory"][what] for row in rows}) == 1, f"{name}: {what} change with {sizes}")
    # What the update computes is the same, whatever the batch: the step's functions less what grows.
    return [2 * rows[0][counter] - rows[1][counter] for counter in ("vec", "trn")]


def check_model(name, file, defines, batch, dtypes=True, multiplies=False):
    """All properties over one model; whether its optimizer `multiplies` matrices, which no batch changes."""
    r = report(file, defines)
    check_rows(name, r)
    check_schema(name, r)
    expect(r == report(file, defines), f"{name}: two reports differ")
    double, fourfold = (report(file, {**defines, batch: times * defines[batch]}) for times in (2, 4))
    replay(name, file, defines, r)
    fixed = check_scaling(name, (r, double, fourfold), "the batch")
    expect(fixed == check_scaling(name, (double, fourfold, report(file, {**defines, batch: 8 * defines[batch]})), "the batch"),
           f"{name}: the update's work changes with the batch")
    first, second = r["rows"][-1], double["rows"][-1]
    asked = [x["rows"][-1]["model_flops"]["exact"] for x in (r, double, fourfold)]
    expect(asked[2] - asked[1] == 2 * (asked[1] - asked[0]) > 0, f"{name}: products do not grow evenly with the batch: {asked}")
    of_update = 2 * asked[0] - asked[1]
    expect(of_update > 0 if multiplies else of_update == 0, f"{name}: the update multiplies {of_update}")
    of_batch = r["forward_flops"]["exact"], double["forward_flops"]["exact"]
    expect(of_batch[1] == 2 * of_batch[0], f"{name}: twice the batch is not twice the products")
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
    end = next(i for i, line in enumerate(top) if line.startswith("= all"))
    shares = [float(line.split()[-1]) for line in top[1:end]]
    expect(abs(sum(shares) - 100) < 0.05 * len(shares) + 0.05, f"{name}: shares are {sum(shares)} %")
    return r


def random_decoder(seed):
    """A decoder of random sizes, no two equal: keys and values of other sizes, any number of heads. The text, what a token multiplies with weights, what a
    pair of positions costs."""
    draw = random.Random(seed)
    vocab, d, e, f, hidden = draw.sample(range(4, 40), 5)
    heads, layers = draw.randrange(1, 5), draw.randrange(1, 4)
    optimizer = draw.choice(["sgd(lr = 0.1)", "adagrad(lr = 0.1)", "adamw(lr = 0.001)"])
    text = f"""model d{seed}() {{
  dim batch = 2, seq = 6
  input tokens, targets : i32[batch, seq]
  param wte : [{vocab}, {d}] = normal(std = 0.02)
  x = embed(wte, tokens)
  for i in 0:{layers} {{
    x = block@h.{{i}}(x)
  }}
  loss = cross_entropy(einsum(x, wte, "b s d, v d -> b s v"), targets)
  train {{ optimizer = {optimizer} }}
}}
layer block(x: [b, s, d]) -> [b, s, d] {{
  q, k = rearrange(linear@qk(x, {2 * heads * e}), "b s (two h e) -> two b h s e", two = 2, h = {heads})
  v = rearrange(linear@v(x, {heads * f}, bias = false), "b s (h f) -> b h s f", h = {heads})
  y = scaled_dot_product_attention(q, k, v, causal = true)
  x = x + linear@out(rearrange(y, "b h s f -> b s (h f)"), d)
  return x + linear@down(gelu_tanh(linear@up(x, {hidden}, bias = false)), d)
}}
"""
    token = 2 * (layers * (2 * heads * e * d + 2 * heads * f * d + 2 * d * hidden) + vocab * d)
    return text, token, 2 * layers * heads * (e + f)


def check_decoder(seed, folder):
    """Twice the length, over a random decoder: products with weights double, attention has the pairs that there are, what is saved and the update as for
    the batch."""
    text, token, pair = random_decoder(seed)
    file, name = pathlib.Path(folder) / f"d{seed}.nap", f"random decoder {seed}"
    file.write_text(text)
    reports = []
    for batch, length in ((2, 6), (2, 12), (2, 24), (4, 12)):
        r = report(file, {"batch": batch, "seq": length})
        check_rows(f"{name} of {length}", r)
        forward = {"exact": batch * (length * token + length * (length + 1) // 2 * pair), "dense": batch * (length * token + length**2 * pair)}
        step = r["rows"][-1]["model_flops"]
        for how, flops in forward.items():
            expect(r["forward_flops"][how] == flops, f"{name} of {batch} x {length}: forward {how} is {r['forward_flops'][how]}, wanted {flops}")
            expect(step[how] == 3 * flops, f"{name} of {batch} x {length}: a step, {how}, is not three times forward")
        reports.append(r)
    # 24 positions lie in one block of attention; its probabilities are in no memory.
    saved = [next(row["memory"]["saved_at_loss"] for row in r["rows"] if row["pass"] == "nap-assemble-step") for r in reports]
    expect(saved[1] - saved[0] == (saved[2] - saved[1]) // 2 > 0, f"{name}: saved bytes do not grow evenly with the length: {saved}")
    expect(len({(r["rows"][-1]["memory"]["states"], r["rows"][-1]["memory"]["parameters"]) for r in reports}) == 1, f"{name}: state grows with the length")
    replay(name, file, {"batch": 2, "seq": 12}, reports[1])
    replay(f"{name} in parts", file, {"batch": 2, "seq": 12}, report(file, {"batch": 2, "seq": 12}, "--accumulate=3"), "--accumulate=3")


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
                          ("llama", {**small, "kv_heads": 1, "hidden": 40, "seq": 20}), ("mlp", {"batch": 6}),
                          ("optimizers", {"features": 17, "hidden": 21, "classes": 5, "batch": 6})):
        # Muon's five steps are products of the weight's own size.
        r = check_model(name, EXAMPLES / f"{name}.nap", defines, "batch", multiplies=name == "optimizers")
        asked += 1
        if name in ("mlp", "optimizers"):
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
            check_decoder(seed, folder)
            asked += 1
    print(*FAULTS, f"{'wrong' if FAULTS else 'ok'} {asked}", sep="\n")


main()
