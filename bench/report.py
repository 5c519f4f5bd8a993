#!/usr/bin/env python3
"""How long reports of large graphs take.

Usage: python3 bench/report.py [--bin=build/release/bin] [--ops=50000]

Writes a training step of so many graph ops, layers of a product, a bias, a norm and an activation with their residual, forward and
backward alike, as `nap-report` gets it, and holds the report of it against what is asked: 2 s for 50,000 ops, and so much more or less for others. The report's time is what
`napkin-opt --nap-report` takes longer than `napkin-opt` alone, which reads the same text and checks it: seconds of processor time, the least of three runs. Then, beside it and
held against nothing, `napkin report` of examples/words.nap with so many layers that the frontend's step has about as many ops: reading the model, every pass, and a row after
each. Exits with 1 if the report takes longer than is asked.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Seconds for 50,000 ops.
ASKED = 2.0


def graph(ops, width=16, rows=8):
    """A step of at least `ops` ops as text."""
    matrix, weight, vector, sums = f"tensor<{rows}x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>", f"tensor<{rows}xf32>"
    declares, arguments, body, results, at = [], [f"%x: {matrix} {{nap.of = @x}}"], [], [], "%x"
    declares.append(f"nap.declare input @x : {matrix}")

    def op(text):
        body.append(f"  %{len(body)} = {text}")
        return f"%{len(body) - 1}"

    layer = 0
    while len(body) < ops:
        name = f"h.{layer}"
        declares += [f'nap.declare parameter @"{name}.w" : {weight}', f'nap.declare parameter @"{name}.b" : {vector}']
        w, b = f"%w{layer}", f"%b{layer}"
        arguments += [f'{w}: {weight} {{nap.of = @"{name}.w"}}', f'{b}: {vector} {{nap.of = @"{name}.b"}}']
        y = op(f'nap.einsum "ij,jk->ik" {at}, {w} : ({matrix}, {weight}) -> {matrix}')
        y = op(f"nap.add {y}, {op(f'nap.broadcast {b} [1] : {vector} -> {matrix}')} : {matrix}")
        s = op(f"nap.reduce sum {y} [1] : {matrix} -> {sums}")
        y = op(f"nap.sub {y}, {op(f'nap.broadcast {s} [0] : {sums} -> {matrix}')} : {matrix}")
        y = op(f"nap.tanh {y} : {matrix}")
        at = op(f"nap.add {at}, {y} : {matrix}")
        g = op(f'nap.einsum "ij,ik->jk" {at}, {y} : ({matrix}, {matrix}) -> {weight}')
        results.append((op(f"nap.sub {w}, {g} : {weight}"), weight, f'nap.updates = @"{name}.w"'))
        results.append((op(f"nap.add {b}, {op(f'nap.reduce sum {y} [0] : {matrix} -> {vector}')} : {vector}"), vector, f'nap.updates = @"{name}.b"'))
        layer += 1
    loss = op(f"nap.reduce sum {at} [0, 1] : {matrix} -> tensor<f32>")
    results.append((loss, "tensor<f32>", 'nap.result = "loss"'))
    kinds = ", ".join(f"{kind} {{{what}}}" for _, kind, what in results)
    return "\n".join([*declares, f"func.func @train_step({', '.join(arguments)}) -> ({kinds}) {{", *body,
                      f"  return {', '.join(value for value, _, _ in results)} : {', '.join(kind for _, kind, _ in results)}", "}"]) + "\n", len(body)


def seconds(command):
    """The least processor time of three runs, and the last one's output."""
    best = None
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if result.returncode:
            raise SystemExit(result.stderr[-2000:])
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best, result


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", default=ROOT / "build/release/bin", type=pathlib.Path)
    parser.add_argument("--ops", default=50000, type=int)
    options = parser.parse_args()
    bin, ops = options.bin, options.ops
    if not (bin / "napkin-opt").exists():
        sys.exit(f"{bin / 'napkin-opt'} is not there; build it, or name its folder with --bin")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "step.mlir"
        text, count = graph(ops)
        file.write_text(text)
        read, _ = seconds([bin / "napkin-opt", file, "-o", "/dev/null"])
        both, result = seconds([bin / "napkin-opt", file, "--nap-report", "-o", "/dev/null"])
        assert re.search(rf"^now +{count} ", result.stderr, re.M), result.stderr[:500]
        asked = ASKED * count / 50000
        taken = both - read
        print(f"{count} ops: read {read:.2f} s, read and reported {both:.2f} s")
        print(f"the report {taken:.2f} s, asked are {asked:.2f} s: {'within it' if taken <= asked else 'too long'}")
    layer, rest = 936, 6
    words = ROOT / "examples/words.nap"
    whole, result = seconds([bin / "napkin", "report", words, "-D", f"layers={max(1, round((ops - rest) / layer))}"])
    imported, last = re.search(r"^import +(\d+) ", result.stdout, re.M)[1], re.findall(r"^nap-\S+ +(\d+) ", result.stdout, re.M)[-1]
    print(f"words, {imported} ops at import and {last} launches at the end: the whole command {whole:.2f} s")
    return taken > asked


sys.exit(main())
