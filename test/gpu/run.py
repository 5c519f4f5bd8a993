#!/usr/bin/env python3
"""Everything that wants a GPU, in one command and one report.

Usage: python3 test/gpu/run.py [--build=build/release] [--out=gpu-report.md] [--device=cuda] [--minutes=9.5]
                               [--peer-python=PYTHON] [--rehearse]

1. Every kernel of test/codegen that has CUDA text, on the GPU beside the CPU's code.
2. The small examples, some steps on both: the same losses, to the bit without tensor cores.
   The same with products by cuBLASLt, where it is installed: within the tolerance of its products of the losses by ours.
3. Law L1: what the plan says of memory beside what the driver counts.
4. compute-sanitizer, where it is installed: memcheck, racecheck, synccheck, initcheck of a small GPT's steps.
5. Times: GPT-2 124M and 1.5B and a Llama of 1B in bf16: tokens/s, MFU, kernels over their floors; PyTorch beside them
   where --peer-python has it.

Checks that fail make the exit status 1. What does not fit in --minutes is listed as left out. --rehearse does all of it at
small sizes on the substitute driver, or with --device=cuda-host in the emulator; their times say nothing. The only needs are
Python and a built tree.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
TEXT = ROOT / "docs" / "architecture.md"
DIGITS = ROOT / "examples" / "digits" / "train"

sys.path.insert(0, str(ROOT / "test" / "laws" / "Inputs"))
import models

DIGIT_DATA = ["--data", f"images={DIGITS}/images.npy", "--data", f"labels={DIGITS}/labels.npy"]
BYTES = ["--data", str(TEXT), "--data-format", "bytes"]
GPT = ["gpt2.nap", "-D", "heads=2", "-D", "d=24", "-D", "context=19", "-D", "seq=9", "-D", "batch=2", "-D", "vocab=256"]
OPTIMIZERS = models.MODELS["optimizers"]
# Name, model and flags, steps, and how far losses may differ, as a part of them.
SMALL = [
    ("mlp", ["mlp.nap", *DIGIT_DATA], 6, 0),
    ("words", ["words.nap", "-D", "layers=1", "-D", "batch=4", "-D", "seq=16", *BYTES], 3, 0),
    ("gpt, f32, dropout, two micro-batches, clipping",
     [*GPT, "-D", "layers=2", "-D", "p=0.2", "--accumulate=2", "--clip-norm=0.5", "--cpu=x86-64-v3", *BYTES], 5, 0),
    ("gpt, bf16", [*GPT, "-D", "layers=1", "--precision=mixed(bf16)", "--cpu=x86-64-v3", *BYTES], 3, 2e-3),
    ("llama, f32", ["llama.nap", "-D", "vocab=256", "-D", "layers=2", "-D", "d=24", "-D", "heads=6", "-D", "kv_heads=2",
                    "-D", "hidden=21", "-D", "batch=2", "-D", "seq=11", *BYTES], 5, 0),
    # Its data is written beside the run.
    ("optimizers", [*OPTIMIZERS.flags(3), *models.data_flags(OPTIMIZERS, pathlib.Path())], 3, 0),
]


def sizes(**numbers):
    return [part for name, number in numbers.items() for part in ("-D", f"{name}={number}")]


# Name, model and flags, sizes for the peer.
TIMED = [
    ("GPT-2 124M", "gpt2.nap", dict(layers=12, heads=12, d=768, context=1024, vocab=50257, batch=8, seq=1024, p=0)),
    ("GPT-2 1.5B", "gpt2.nap", dict(layers=48, heads=25, d=1600, context=1024, vocab=50257, batch=4, seq=1024, p=0)),
    ("Llama 1B", "llama.nap", dict(layers=16, heads=32, kv_heads=8, d=2048, hidden=8192, vocab=32000, batch=4, seq=1024)),
]
REHEARSED = [
    ("GPT-2, tiny", "gpt2.nap", dict(layers=1, heads=2, d=16, context=16, vocab=256, batch=1, seq=8, p=0)),
]


class Report:
    def __init__(self):
        self.lines, self.failed = [], []

    def add(self, text=""):
        self.lines.append(text)
        print(text, flush=True)

    def check(self, holds, what):
        if not holds:
            self.failed.append(what)
        return "yes" if holds else "**no**"


class Runner:
    """Runs commands of the built tree until the time is over."""

    def __init__(self, options, folder):
        self.end = time.monotonic() + 60 * options.minutes
        self.napkin = pathlib.Path(options.build, "bin", "napkin").resolve()
        self.unit = pathlib.Path(options.build, "test-bin").resolve()
        self.device, self.folder = options.device, folder
        models.write_data(OPTIMIZERS, pathlib.Path(folder))
        self.environment = dict(os.environ)
        if options.rehearse and not options.isEmulated:
            library = str(self.unit / "libcuda-substitute.so")
            # A name of the device table, so that floors and MFU are in the report too.
            self.environment.update(NAPKIN_CUDA_DRIVER=library, NAPKIN_NVRTC=library, NAPKIN_CUBLASLT=library,
                                    NAPKIN_SUBSTITUTE="name=NVIDIA H200")

    def left(self):
        return self.end - time.monotonic()

    def run(self, words, most=240):
        """(status, output, errors); None where the time is over."""
        seconds = min(most, self.left())
        if seconds < 2:
            return None
        words = list(map(str, words))
        try:
            done = subprocess.run(words, env=self.environment, cwd=self.folder, text=True, capture_output=True,
                                  timeout=seconds)
        except subprocess.TimeoutExpired:
            return None if self.left() < 2 else (124, "", f"took more than {seconds:.0f} s")
        return done.returncode, done.stdout, done.stderr

    def train(self, model, flags, steps, device, *more, before=()):
        log = pathlib.Path(self.folder, "log")
        log.unlink(missing_ok=True)
        done = self.run([*before, self.napkin, "train", ROOT / "examples" / model, *flags, "--steps", steps, "--seed", "5",
                         "--quiet", "--log", log, f"--device={device}", *more])
        if done is None:
            return None
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        return done, lines


def lastLine(text):
    return (text.strip().splitlines() or [""])[-1]


def kernelRuns(flag):
    """Each run of run-kernel with CUDA text that the tests have: a file and flags, of which `flag` says where it runs."""
    for path in sorted((ROOT / "test" / "codegen").rglob("*.mlir")):
        for line in re.findall(r"RUN: (.*)", path.read_text()):
            words = shlex.split(line.split("|")[0])
            if "--cuda-host" in words and words[0].endswith("run-kernel"):
                yield path, [flag if word == "--cuda-host" else word for word in words[1:]
                             if word != "%s" and not word.startswith("--cuda-text")]


def checkKernels(report, runner, options):
    report.add("## Kernels beside the CPU's\n")
    runs = list(kernelRuns("--cuda-host" if options.isEmulated else "--cuda"))
    if options.rehearse:
        # One kernel of two grids, and one of more shared memory than a text may have, among them.
        runs = [run for run in runs if run[0].name in ("names-run.mlir", "columns-run.mlir", "asked-run.mlir")]
    count = 0
    for path, flags in runs:
        name = path.relative_to(ROOT)
        done = runner.run([runner.unit / "run-kernel", path, *flags])
        if done is None:
            report.add(f"- {name}: left out, the time is over")
            continue
        status, output, errors = done
        kernels = len(re.findall(r"tasks, ", output))
        count += kernels
        if not report.check(status == 0, f"kernels of {name}") == "yes":
            report.add(f"- {name}: **no**: {lastLine(output)} {lastLine(errors)}")
    report.add(f"{count} kernels of {len(runs)} runs; those that differ are listed above.\n")


def farthest(one, other):
    """The largest difference of two logs' numbers, as a part of the first's."""
    most = 0.0
    for a, b in zip(one, other):
        for key in ("loss", "gradient_norm", "accuracy"):
            if key in a and a[key] != b[key]:
                most = max(most, abs(a[key] - b[key]) / max(abs(a[key]), 1e-30))
    return most


def checkExamples(report, runner, options):
    report.add("## Small examples: the same losses\n")
    report.add("| example | steps | largest difference | allowed | holds |\n| --- | --- | --- | --- | --- |")
    for name, (model, *flags), steps, allowed in [SMALL[0], SMALL[-1]] if options.rehearse else SMALL:
        first = runner.train(model, flags, steps, "cpu")
        second = first and runner.train(model, flags, steps, runner.device)
        if not second:
            report.add(f"| {name} | left out, the time is over | | | |")
            continue
        (_, own), (done, other) = first, second
        if done[0] or len(own) != len(other) or not own:
            report.add(f"| {name} | {len(other)} | {lastLine(done[2])} | {allowed:g} | {report.check(False, name)} |")
            continue
        most = farthest(own, other)
        report.add(f"| {name} | {len(own)} | {most:.3g} | {allowed:g} | {report.check(most <= allowed, name)} |")
    report.add()


def checkProducts(report, runner, options):
    """Losses with products by our tiles and by cuBLASLt; the second run takes the algorithms that the first one kept."""
    report.add("## Products by cuBLASLt: losses beside those by our tiles\n")
    if options.isEmulated:
        report.add("The emulator has no library.\n")
        return
    report.add("| example | steps | largest difference | allowed | holds | again, to the bit |\n| --- | --- | --- | --- | --- | --- |")
    # f32 is summed in another order, tf32 and bf16 are rounded besides.
    tf32 = ("gpt, tf32", [*SMALL[3][1][:-len(BYTES) - 2], "--precision=tf32", *BYTES], 3, 0)
    for (name, (model, *flags), steps, _), allowed in [(SMALL[0], 1e-4), (SMALL[3], 5e-3), (tf32, 1e-2)]:
        if options.rehearse and name != "mlp":
            continue
        pins = pathlib.Path(runner.folder, "algorithms.json")
        pins.unlink(missing_ok=True)
        given = ("--products=cublaslt", "--algorithms", pins)
        own = runner.train(model, flags, steps, runner.device)
        first = own and runner.train(model, flags, steps, runner.device, *given)
        if not first:
            report.add(f"| {name} | left out, the time is over | | | | |")
            continue
        if "cuBLASLt was not found" in first[0][2]:
            report.add(f"| {name} | cuBLASLt is not installed | | | | |")
            continue
        second = runner.train(model, flags, steps, runner.device, *given)
        if first[0][0] or len(own[1]) != len(first[1]) or not own[1]:
            report.add(f"| {name} | {len(first[1])} | {lastLine(first[0][2])} | {allowed:g} | "
                       f"{report.check(False, f'{name} by cuBLASLt')} | |")
            continue
        most = farthest(own[1], first[1])
        again = "left out" if not second else report.check(farthest(first[1], second[1]) == 0 and len(second[1]) == len(first[1]),
                                                           f"{name} by cuBLASLt, again")
        report.add(f"| {name} | {len(first[1])} | {most:.3g} | {allowed:g} | "
                   f"{report.check(most <= allowed, f'{name} by cuBLASLt')} | {again} |")
    report.add()


def sanitize(report, runner, options):
    report.add("## compute-sanitizer\n")
    tool = shutil.which("compute-sanitizer")
    if not tool:
        report.add("It is not installed.\n")
        return
    model, *flags = SMALL[3][1]
    for kind in ("memcheck", "racecheck", "synccheck", "initcheck"):
        before = [tool, "--tool", kind, "--error-exitcode", "9"]
        done = runner.train(model, flags, 2, runner.device, before=before)
        if done is None:
            report.add(f"- {kind}: left out, the time is over")
            continue
        (status, output, errors), _ = done
        holds = report.check(status == 0, f"compute-sanitizer {kind}")
        report.add(f"- {kind}: {holds}; {lastLine(output + errors)}")
    report.add()


def timeWork(report, runner, options, name, model, numbers):
    flags = [*sizes(**numbers), "--accumulate=1", "--precision=mixed(bf16)", *BYTES]
    products = [] if options.isEmulated else ["--products=cublaslt"]
    steps = 4 if options.rehearse else 16
    report.add(f"### {name}: {', '.join(f'{key} {value}' for key, value in numbers.items())}\n")
    done = runner.train(model, flags, steps, runner.device, "--timing")
    if done is None:
        report.add("Left out, the time is over.\n")
        return
    (status, _, errors), lines = done
    if status == 3:
        report.add(f"It does not fit: {lastLine(errors)}\n")
        return
    if report.check(status == 0 and len(lines) == steps, f"{name} trains") != "yes":
        report.add(f"**It does not train**: {lastLine(errors)}\n")
        return
    milliseconds = statistics.median(line["ms"] for line in lines[3:])
    tokens = numbers["batch"] * numbers["seq"]
    mfu = [line["mfu"] for line in lines[3:] if "mfu" in line]
    report.add(f"- a step: {milliseconds:.3f} ms, {tokens / milliseconds * 1e3:.0f} tokens/s, MFU "
               + (f"{100 * statistics.median(mfu):.1f} %" if mfu else "unknown: the device is not in the table"))
    started = re.search(r"until the first step +([\d.]+)", errors)
    if started:
        report.add(f"- from the command to the first step: {started.group(1)} s")
    given = products and runner.train(model, flags, steps, runner.device, *products)
    if given and given[0][0] == 0 and len(given[1]) == steps:
        with_library = statistics.median(line["ms"] for line in given[1][3:])
        report.add(f"- with products by cuBLASLt: {with_library:.3f} ms, {with_library / milliseconds:.2f} of that")
    elif products:
        report.add("- with products by cuBLASLt: left out" + (f": {lastLine(given[0][2])}" if given else ", the time is over"))
    auditKernels(report, runner, name, model, flags)
    comparePeer(report, runner, options, model, numbers, milliseconds)
    report.add()


def addMemory(report, figure, by, name):
    """Memory as planned and as counted, for a figure of an audit."""
    mib = 1 << 20
    holds = report.check(not figure["broken"], f"memory of {name}")
    report.add(f"- memory: {figure['predicted'] / mib:.1f} MiB planned, {figure['measured'] / mib:.1f} MiB counted {by}: {holds}")


def auditKernels(report, runner, name, model, flags):
    """Memory as planned and as counted; the kernels that take the longest."""
    path = pathlib.Path(runner.folder, "audit.json")
    path.unlink(missing_ok=True)
    done = runner.train(model, flags, 4, runner.device, "--audit", "--audit-file", path,
                        "--audit-limit", "memory=1.02", "--audit-limit", "time=0")
    if done is None or not path.exists():
        report.add("- kernels: left out" + (f": {lastLine(done[0][2])}" if done else ", the time is over"))
        return
    audit = json.loads(path.read_text())
    for figure in audit["figures"]:
        if figure["name"] == "memory of the device" and figure["measured"] is not None:
            addMemory(report, figure, "by the driver, code included", name)
        # The emulator's tensors are the host's.
        if figure["name"] == "tensors resident" and figure["measured"] is not None:
            addMemory(report, figure, "by the system", name)
    kernels = sorted(audit["kernels"], key=lambda kernel: -kernel["seconds"])
    whole = sum(kernel["seconds"] for kernel in kernels) or 1
    floors = sum(kernel["floor_seconds"] or 0 for kernel in kernels)
    report.add(f"- kernels one by one: {whole * 1e3:.3f} ms" + (f", {whole / floors:.2f} of their floors" if floors else ""))
    report.add("\n| kernel | launches | ms | share | over its floor |\n| --- | --- | --- | --- | --- |")
    for kernel in kernels[:12]:
        over = f"{kernel['seconds'] / kernel['floor_seconds']:.2f}" if kernel["floor_seconds"] else "-"
        report.add(f"| {kernel['name']} | {kernel['launches']:g} | {kernel['seconds'] * 1e3:.4f} | "
                   f"{100 * kernel['seconds'] / whole:.1f} % | {over} |")


def comparePeer(report, runner, options, model, numbers, milliseconds):
    if not options.peer_python:
        report.add("- PyTorch: no --peer-python was given")
        return
    for kind in ("eager", "compile"):
        done = runner.run([options.peer_python, HERE / "peer_torch.py", model, json.dumps(numbers), kind], most=120)
        if done is None:
            report.add(f"- PyTorch {kind}: left out, the time is over")
            continue
        status, output, errors = done
        if status:
            report.add(f"- PyTorch {kind}: {lastLine(errors)}")
            continue
        peer = json.loads(lastLine(output))["ms"]
        report.add(f"- PyTorch {kind}: {peer:.3f} ms a step; Napkin takes {milliseconds / peer:.2f} of it")


def describeMachine(report, runner, options):
    report.add("# Napkin on a GPU" + (": rehearsal, whose times say nothing" if options.rehearse else "") + "\n")
    tool = shutil.which("nvidia-smi")
    if tool:
        done = runner.run([tool, "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit", "--format=csv,noheader"])
        report.add(f"- device: {done[1].strip() if done else 'unknown'}")
    done = runner.run(["git", "-C", ROOT, "describe", "--always", "--dirty"])
    report.add(f"- commit: {done[1].strip() if done and done[0] == 0 else 'unknown'}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "release")
    parser.add_argument("--out", default="gpu-report.md")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=9.5)
    parser.add_argument("--peer-python", default="")
    parser.add_argument("--rehearse", action="store_true")
    options = parser.parse_args()
    options.isEmulated = options.device == "cuda-host"
    if options.isEmulated and not options.rehearse:
        parser.error("--device=cuda-host is for --rehearse: the sizes of the whole run would take days")
    report, began = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        describeMachine(report, runner, options)
        checkKernels(report, runner, options)
        checkExamples(report, runner, options)
        checkProducts(report, runner, options)
        sanitize(report, runner, options)
        report.add("## Times in bf16, and memory\n")
        for name, model, numbers in REHEARSED if options.rehearse else TIMED:
            timeWork(report, runner, options, name, model, numbers)
    report.add("## Verdict\n")
    report.add("Every check holds." if not report.failed else "These do not hold: " + "; ".join(report.failed) + ".")
    report.add(f"\nIt took {(time.monotonic() - began) / 60:.1f} minutes.")
    pathlib.Path(options.out).write_text("\n".join(report.lines) + "\n")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
