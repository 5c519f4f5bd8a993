"""What the checks of this folder ask Napkin: reports of model files, counts of ops of the IR, answers of `napkin math`, the table of devices."""
import collections
import functools
import json
import pathlib
import re
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(command)}\n{result.stderr[-2000:]}")
    return result.stdout


# Model files ---------------------------------------------------------------------------------------

def words_of(model, defines):
    """What a command takes for a model, by its name or by the path of its file, and sizes."""
    if not isinstance(model, pathlib.Path):
        model = EXAMPLES / "gpt2.nap" if model == "gpt2" else HERE / "Inputs" / f"{model}.nap"
    return [str(model), *(word for name, value in defines for word in ("-D", f"{name}={value}"))]


@functools.lru_cache(maxsize=None)
def report(model, after, defines, flags=()):
    return json.loads(run("napkin", "report", *words_of(model, defines), *flags, f"--after={after}", "--json"))


def forward(model, **sizes):
    """The report before there are gradients."""
    flags = ("--accumulate=1",) if model == "gpt2" else ()
    return report(model, "nap-recognize", tuple(sizes.items()), flags)


def step(model, flags=(), **sizes):
    """The report with gradients and update."""
    return report(model, "nap-assemble-step", tuple(sizes.items()), tuple(flags))


def dense(r):
    return r["forward_flops"]["dense"]


def model_flops(r, how="dense"):
    return r["rows"][-1]["model_flops"][how]


def part(r, *names):
    """Forward FLOPs of parts, dense."""
    wanted = [p["dense"] for p in r["forward_parts"] if any(p["name"].endswith(name) for name in names)]
    assert len(wanted) == len(names), (names, r["forward_parts"])
    return sum(wanted)


def emit(model, defines, *passes):
    """The graph as text, after passes."""
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.mlir"
        run("napkin", "compile", *words_of(model, defines), "--emit=graph", "-o", str(graph))
        return run("napkin-opt", str(graph), *passes) if passes else graph.read_text()


def forward_counters(model, **sizes):
    """What @forward alone counts, as written; 0 of what it does not have."""
    return counters_of(emit(model, tuple(sizes.items()), "--nap-annotate-cost"), "forward")


def counters_of(text, function):
    """What a function of an annotated module counts."""
    body = text[text.index(f"func.func @{function}"):]
    total = collections.Counter()
    for cost in re.findall(r"nap\.cost = \{([^}]*)\}", body[:body.index("\n  }")]):
        total.update({key: int(value) for key, value in re.findall(r"(\w+) = (\d+)", cost)})
    return total


@functools.lru_cache(maxsize=None)
def declared(model, defines):
    """Elements of each parameter."""
    found = re.findall(r'nap\.declare +parameter @"?([^" ]+)"?.*? : tensor<([0-9x]*)x[a-z]', emit(model, defines))
    sizes = {}
    for name, shape in found:
        sizes[name] = 1
        for size in shape.split("x"):
            sizes[name] *= int(size)
    return sizes


def parameters(model, prefix="", without=None, **sizes):
    return sum(count for name, count in declared(model, tuple(sizes.items())).items()
               if name.startswith(prefix) and not (without and name.startswith(without)))


# The IR --------------------------------------------------------------------------------------------

def count(body, arguments, result="", passes=()):
    """The ops of a function after nap-annotate-cost: one (name, counters, least bytes) each; and the module's model
    counts."""
    text = f"func.func @forward({arguments}) {{\n{body}\n  return\n}}\n" if not result else (
        f"func.func @forward({arguments}) -> {result[0]} {{\n{body}\n  return {result[1]} : {result[0].strip('()')}\n}}\n")
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        out = run("napkin-opt", file.name, *passes, "--nap-annotate-cost")
    ops = []
    for line in out.splitlines():
        cost = re.search(r"nap\.cost = \{(.*?)\}", line)
        if not cost:
            continue
        name = re.search(r"nap\.([a-z_0-9]+)", line)[1]
        counters = {key: int(value) for key, value in re.findall(r"(\w+) = (\d+) : i", cost[1])}
        least = re.search(r"nap\.bytes_min = (\S+) : f64", line)[1]
        value = int.from_bytes(bytes.fromhex(least[2:]), "big") if least.startswith("0x") else None
        ops.append((name, counters, struct.unpack(">d", value.to_bytes(8, "big"))[0] if value else float(least)))
    counts = re.search(r"nap\.model_counts = \{(.*?)\}", out)[1]
    return ops, {key: int(value) for key, value in re.findall(r"(\w+) = (\d+) : i", counts)}


def t(*shape, dtype="f32"):
    return "tensor<" + "".join(f"{size}x" for size in shape) + dtype + ">"


def einsum(pattern, *types):
    """An einsum of arguments of these types; the last is the result's."""
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types[:-1]))
    operands = ", ".join(f"%a{i}" for i in range(len(types) - 1))
    body = f'  %r = nap.einsum "{pattern}" {operands} : ({", ".join(types[:-1])}) -> {types[-1]}'
    ops, _ = count(body, arguments)
    return ops[0][1], ops[0][2]


def summed(counters, *names):
    return sum(counters.get(name, 0) for name in names)


def attention(b, h, sq, sk, e, f, to=None, backward=False, since=None):
    """Model counts of attention, and with its adjoint."""
    q, k, v, o, l = t(b, h, sq, e), t(b, h, sk, e), t(b, h, sk, f), t(b, h, sq, f), t(b, h, sq)
    bounds = "".join(f", {name} = {value} : i64" for name, value in (("from", since), ("to", to)) if value is not None)
    attributes = f"{{scale = 1.0{bounds}}}"
    body = f"  %o, %l = nap.attention %q, %k, %v {attributes} : ({q}, {k}, {v}) -> ({o}, {l})"
    if backward:
        body += (f"\n  %dq, %dk, %dv = nap.attention_backward %q, %k, %v, %o, %l, %o {attributes} : "
                 f"({q}, {k}, {v}, {o}, {l}, {o}) -> ({q}, {k}, {v})")
    return count(body, f"%q: {q}, %k: {k}, %v: {v}")[1]


def product_as_sum(m, n, k):
    """Every product, then every sum: the lecture's count of 2K - 1, in one kernel."""
    a, b, wide, out = t(m, k, dtype="bf16"), t(k, n, dtype="bf16"), t(m, n, k, dtype="bf16"), t(m, n, dtype="bf16")
    body = f"""  %x = nap.broadcast %a [0, 2] : {a} -> {wide}
  %y = nap.broadcast %b [2, 1] : {b} -> {wide}
  %p = nap.mul %x, %y : {wide}
  %r = nap.reduce sum %p [2] : {wide} -> {out}"""
    body = body.replace(f"%b [2, 1] : {b}", f"%bt [1, 2] : {t(n, k, dtype='bf16')}")
    ops, _ = count(f"  %bt = nap.permute %b [1, 0] : {b} -> {t(n, k, dtype='bf16')}\n" + body, f"%a: {a}, %b: {b}",
                   (out, "%r"), ("--nap-fuse",))
    (_, counters, least), = ops
    return summed(counters, "vec") / least


def convolution(n, c, h, w, out, kernel, padding, high=None):
    """FLOPs of a convolution, padded taps too."""
    high = padding if high is None else high
    x, padded = t(n, c, h, w), t(n, c, h + padding + high, w + padding + high)
    i, j = h + padding + high - kernel + 1, w + padding + high - kernel + 1
    windows, filters, y = t(n, c, i, j, kernel, kernel), t(out, c, kernel, kernel), t(n, out, i, j)
    body = f"""  %p = nap.pad %x low [0, 0, {padding}, {padding}] high [0, 0, {high}, {high}] inner [0, 0, 0, 0] with 0.0 : {x} -> {padded}
  %w = nap.window %p sizes [{kernel}, {kernel}] strides [1, 1] dilations [1, 1] : {padded} -> {windows}
  %r = nap.einsum "bcijuv,ocuv->boij" %w, %f : ({windows}, {filters}) -> {y}"""
    return count(body, f"%x: {x}, %f: {filters}")


# Ops by a preset -------------------------------------------------------------------------------------

ACTIVATION = """model activation() {{
  dim batch = {m}
  input x : {dtype}[batch, {n}]
  param w : [{n}, 2] = zeros
  loss = sum(einsum({made}(x), w, "b i, i o -> b o"))
  train {{ optimizer = sgd(lr = 0.1) }}
}}
"""


def by_op_each(text, op, preset, *flags):
    """FLOPs a byte and FLOPs by a preset of each op that is called so."""
    with tempfile.NamedTemporaryFile("w", suffix=".nap") as file:
        file.write(text)
        file.flush()
        out = run("napkin", "report", file.name, *flags, f"--explain={op}", f"--preset={preset}")
    found = re.findall(rf"^    {re.escape(preset)}: ([\d,]+) FLOP, (\S+) FLOP/B", out, re.M)
    return [(float(intensity), int(each.replace(",", ""))) for each, intensity in found]


def by_op(text, op, preset, *flags):
    """The sum of their FLOPs, and FLOPs a byte of each."""
    found = by_op_each(text, op, preset, *flags)
    return sum(each for _, each in found), [intensity for intensity, _ in found]


# `napkin math` and the table of devices --------------------------------------------------------------

def math(question, pattern, **flags):
    words = [f"--{name.replace('_', '-')}={value}" if value != "" else f"--{name.replace('_', '-')}" for name, value in flags.items()]
    return float(re.search(pattern, run("napkin", "math", question, *words), re.M)[1].replace(",", ""))


def days(**flags):
    return math("time", r"= ([\d.]+) days", **flags)


def flops(**flags):
    return math("flops", r"^(\S+) FLOPs", **flags)


def mfu(**flags):
    return math("mfu", r"MFU ([\d.]+) %", **flags) / 100


@functools.lru_cache(maxsize=None)
def devices():
    table, name = {}, None
    for line in run("napkin", "device", "--list").splitlines()[1:]:
        head = re.match(r"(\S+) .*? ([\d.]+) GB +([\d.]+) TB/s  (.*)", line)
        if head:
            name = head[1]
            peaks = dict(reversed([pair.split() for pair in re.findall(r"\S+ [\d.e+]+", head[4])]))
            table[name] = {"mem_gb": float(head[2]) * 1e9, "mem_bw": float(head[3]) * 1e12,
                           "peaks": {key: float(value) * 1e12 for key, value in peaks.items()}}
        for key, pattern in (("derived", r"x 2 = ([\d.]+)"), ("best", r"best product measured ([\d.]+)")):
            found = re.search(pattern, line)
            if found:
                table[name][key] = float(found[1]) * 1e12
    return table


def sources(name):
    """Figures of one device with their sources, by what they are called."""
    found = {}
    for line in run("napkin", "device", f"--device={name}").splitlines()[1:]:
        if line.startswith("  note: "):
            continue
        figure = re.match(r"  (\S+(?: product)?) +([\d.e+]+) (TFLOP/s|TB/s|GB|MiB|SM|us) +(\S.*)", line)
        if figure:
            last = figure[1]
            found[last] = (float(figure[2]), figure[4])
        else:
            derived = re.match(r"  +(\d+) MHz x (\d+) FMA x (\d+) units x 2 = ([\d.]+): (\S.*)", line)
            assert derived, line
            found[f"{last} from its clock"] = (float(derived[1]) * float(derived[2]) * float(derived[3]) * 2e-6, derived[5])
            found[f"{last}, units"] = (float(derived[3]), derived[5])
    return found


DTYPES = {"fp32": "f32", "tf32": "tf32", "fp16": "f16", "bf16": "bf16", "fp8": "f8", "int8": "i8", "fp4": "f4"}


def device(name, config):
    found = devices()[config["device"]]
    if ".peak_" in name:
        return found["peaks"][DTYPES[config["dtype"]]]
    if name.endswith("accel_intensity"):
        return math("bound", r"device's ([\d.]+) FLOP/B", device=config["device"], dtype=DTYPES[config["dtype"]],
                    flops=1, bytes=1)
    return found["mem_gb" if name.endswith("mem_gb") else "mem_bw"]
