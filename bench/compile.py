#!/usr/bin/env python3
"""Cold compile times of the example models, phase by phase.

Usage: python3 bench/compile.py [--napkin=build/release/bin/napkin] [--repeats=5] [--out=FILE.md] [--first-step] [NAME ...]

Every measurement is a process of its own that compiles a model file to an executable with --timing; nothing is kept
from one to the next. For each phase the table has the median over the repeats, in milliseconds: by the clock, and
processor time of all threads in brackets. The number of kernels does not change with the number of layers.
Names select models; without any all are measured. With --first-step each process is `napkin train` on data at hand,
ended after one step: its sum is the time from the model file to the end of the first step.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {
    "mlp": ["mlp.nap"],
    "words": ["words.nap"],
    "gpt2": ["gpt2.nap"],
    "gpt2 4x64": ["gpt2.nap", "-D", "p=0", "-D", "seq=64", "--accumulate", "1"],
    "gpt2 48 layers": ["gpt2.nap", "-D", "layers=48"],
    "llama": ["llama.nap"],
}


DIGITS = ROOT / "examples/digits/train"
# Language models read the bytes of a text.
DATA = {"mlp.nap": ["--data", DIGITS / "images.npy", "--data", DIGITS / "labels.npy"]}
TEXT = ["--data", ROOT / "LICENSE", "--data-format", "bytes"]


def run_once(napkin, words, output, first_step):
    """Phases of one compilation, or of one run to the end of its first step: name -> (seconds by the clock, seconds of
    all threads). A pass that runs several times is summed."""
    model = ROOT / "examples" / words[0]
    command, more = "compile", ["-o", output]
    if first_step:
        command, more = "train", [*DATA.get(words[0], TEXT), "--steps", "1", "--quiet"]
    run = subprocess.run([napkin, command, model, *words[1:], "--timing", *more], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"napkin {command} {' '.join(words)}: {run.stderr}")
    phases = {}
    lines = run.stderr.splitlines()
    # A run may have said something else before.
    for line in lines[next(i for i, line in enumerate(lines) if line.startswith("phase ")) + 1:]:
        *name, wall, cpu, _, _ = line.split()
        old = phases.get(" ".join(name), (0, 0))
        phases[" ".join(name)] = (old[0] + float(wall), old[1] + float(cpu))
    return phases


def count_kernels(executable):
    """Kernels of an executable."""
    return len(json.loads(subprocess.run([executable, "--program"], capture_output=True, text=True, check=True).stdout)["kernels"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--napkin", default=str(ROOT / "build/release/bin/napkin"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out")
    parser.add_argument("--first-step", action="store_true", help="time `napkin train` to the end of its first step")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    options = parser.parse_args()
    if not pathlib.Path(options.napkin).exists():
        parser.error(f"{options.napkin} is not there; build it with tools/try, or give --napkin")
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"no model '{unknown[0]}'; there are {', '.join(MODELS)}")
    names = options.names or list(MODELS)
    runs = {name: [] for name in names}
    facts = {}
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "model"
        for _ in range(options.repeats):
            for name in names:
                runs[name].append(run_once(options.napkin, MODELS[name], output, options.first_step))
                if not options.first_step:
                    facts[name] = (count_kernels(output), output.stat().st_size)
    rows = list(dict.fromkeys(phase for name in names for run in runs[name] for phase in run))
    rows.append(rows.pop(rows.index("all")))

    def cell(name, phase):
        found = [run[phase] for run in runs[name] if phase in run]
        if not found:
            return ""
        wall, cpu = (statistics.median(column) * 1000 for column in zip(*found))
        return f"{wall:.0f} ({cpu:.0f})"

    lines = [f"Milliseconds by the clock (of all threads), medians of {options.repeats}.", "",
             "| phase | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    lines += [f"| {phase} | " + " | ".join(cell(name, phase) for name in names) + " |" for phase in rows]
    if facts:
        lines.append("| kernels | " + " | ".join(str(facts[name][0]) for name in names) + " |")
        lines.append("| bytes of the executable | " + " | ".join(str(facts[name][1]) for name in names) + " |")
    text = "\n".join(lines) + "\n"
    if options.out:
        pathlib.Path(options.out).write_text(text)
    print(text, end="")


main()
