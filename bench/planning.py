#!/usr/bin/env python3
"""What the planner reaches on problems from files: MiniMalloc's problems, hard placements by construction, training steps of
published networks, and the examples' own.

Usage: python3 bench/planning.py [--bin=build/release/bin] [--examples] [--devices] [--sizes] [--only] [--out=FILE.md]

Writes Markdown. Seconds are processor time, of this machine. Problems are made by the scripts of test/tools/plan/Inputs. With
--examples every plan of every example model is looked at too; with --devices GPT-2 and Llama 8B are planned for memories of 24, 40 and
80 GiB; with --sizes long timelines are planned. --only leaves out everything else.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INPUTS = ROOT / "test/tools/plan/Inputs"
# Name, part of the peak, and the least added time in percent as CBC and HiGHS prove it with first runs in order.
NETWORKS = [("vgg16", 0.9, 0.1868), ("vgg19", 0.8, 0.1472), ("fcn8", 0.8, 0.1361), ("transformer", 0.7, 3.4740),
            ("resnet", 0.7, 0.3608), ("unet", 0.7, 0.3110), ("chain", 0.7, 9.6381)]


def rows(binary, *words):
    """Rows of the printed table, each as title -> value; percent signs go."""
    text = subprocess.run([binary, *map(str, words)], capture_output=True, text=True).stdout
    lines = [line.replace(" %", "").split() for line in text.split("\n\n")[0].splitlines()]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def table(titles, lines):
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [titles, ["---"] * len(titles), *lines]) + "\n"


def placements(binary, paths):
    found = rows(binary, *paths)
    return found, table(["problem", "buffers", "height", "bound", "gap %", "seconds"],
                        [[pathlib.Path(r["PROBLEM"]).stem, r["BUFFERS"], r["HEIGHT"], r["BOUND"], r["GAP"], r["SECONDS"]]
                         for r in found])


def networks(binary, folder):
    lines = []
    for name, part, wanted in NETWORKS:
        path = folder / f"{name}.json"
        peak = int(rows(binary, path, f"--memory={1 << 60}")[0]["PEAK"])
        row = rows(binary, path, f"--memory={int(peak * part)}")[0]
        lines.append([name, part, row["ADDED"], wanted, row["BOUND"], row["SECONDS"]])
    return table(["network", "part of its peak", "added %", "least %", "bound %", "seconds"], lines)


def examples(napkin):
    """Arenas beyond 1.005 of their largest live sum are listed by name: their gap is unproven."""
    lines = []
    for model in ("mlp", "words", "optimizers", "gpt2", "llama"):
        run, seconds = timed(napkin, "plan", ROOT / f"examples/{model}.nap", "--json", "--threads=2")
        if run.returncode:
            sys.exit(run.stderr)
        plans = json.loads(run.stdout)
        ratios = {f"{p['strategy']} at {p['peak_bytes']}": p["transient_bytes"] / p["live_bytes"]
                  for p in plans["strategies"] + plans["frontier"] if p["live_bytes"]}
        unproven = [name for name, ratio in ratios.items() if ratio > 1.005]
        lines.append([model, len(ratios), f"{max(ratios.values()):.4f}", ", ".join(unproven) or "none", f"{seconds / len(ratios):.3f}"])
    return table(["model", "plans", "largest arena / live bytes", "gap unproven", "seconds of the command a plan"], lines)


# Work, model file, flags.
MODELS = [("GPT-2 124M, 8 x 1024, f32", "gpt2", ["-D", "batch=8", "-D", "seq=1024", "--accumulate=1"]),
          ("Llama 8B, 1 x 8192, bf16, SGD, fused update", "llama",
           ["--precision=pure(bf16)", "--optimizer=sgd()", "--fused-update", "--clip-norm=none"]),
          ("Llama 8B, 1 x 8192, bf16, SGD", "llama", ["--precision=pure(bf16)", "--optimizer=sgd()"]),
          ("Llama 8B, 1 x 8192, bf16, AdamW", "llama", ["--precision=pure(bf16)"])]


def timed(*words):
    """A command's run, and its processor seconds."""
    def seconds():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = seconds()
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return run, seconds() - before


def devices(napkin):
    lines = []
    for name, model, flags in MODELS:
        for memory in ("24GiB", "40GiB", "80GiB"):
            command = [napkin, "compile", ROOT / f"examples/{model}.nap", *flags, f"--memory={memory}", "--emit=plan"]
            run, seconds = timed(*command)
            said = re.search(r"memory: ([0-9.]+) of [0-9.]+ MiB by '(\w+)'; time ([0-9.]+) x .* at most ([0-9.]+) %", run.stderr)
            least = re.search(r"the least that can be planned is \d+ bytes \(([0-9.]+) MiB\)", run.stderr)
            if said:
                found = list(said.groups())
            elif least:
                found = [f"refused: {least.group(1)} is the least", "", "", ""]
            else:
                found = [run.stderr.strip(), "", "", ""]
            lines.append([name, memory, *found, f"{seconds:.1f}"])
    return table(["work", "memory", "planned MiB", "by", "time / none", "gap %", "seconds"], lines)


def sizes(binary, folder):
    """Transformers of 18 steps a layer, as problem files, at half of their peaks."""
    lines = []
    for layers in (28, 278, 2778):
        subprocess.run([sys.executable, INPUTS / "write_networks.py", folder, str(layers)], check=True)
        path = folder / f"transformer-{layers}.json"
        peak = int(rows(binary, path, f"--memory={1 << 60}")[0]["PEAK"])
        row = rows(binary, path, f"--memory={peak // 2}")[0]
        lines.append([layers, row["STEPS"], row["ADDED"], row["BOUND"], row["GAP"], row["SECONDS"]])
    return table(["layers", "steps", "added %", "bound %", "gap %", "seconds"], lines)


def problems(binary, folder):
    subprocess.run([sys.executable, INPUTS / "write_allocations.py", folder], check=True)
    subprocess.run([sys.executable, INPUTS / "write_networks.py", folder], check=True)
    found, text = placements(binary, sorted((ROOT / "test/reference/minimalloc").glob("*.csv")))
    total = sum(float(row["SECONDS"]) for row in found)
    parts = [f"## MiniMalloc's problems, in {total:.1f} s together\n\n{text}"]
    hard = sorted(folder.glob("*.csv"), key=lambda path: (path.stem.split("-")[0], int(path.stem.split("-")[1])))
    parts.append("## Placements whose optimum is the bound, by how they are made (`cuts`, `pinwheels`), and training steps\n\n"
                 + placements(binary, ["--work=200000000", *hard])[1])
    return parts + ["## Training steps of networks\n\n" + networks(binary, folder)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", default=ROOT / "build/release/bin", type=pathlib.Path)
    for flag in ("examples", "devices", "sizes", "only"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    binary = options.bin / "napkin-plan"
    if not binary.exists():
        sys.exit(f"{binary} is not there; build it, or name its folder with --bin")
    parts = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if not options.only:
            parts += problems(binary, folder)
        if options.sizes:
            parts.append("## Long timelines\n\n" + sizes(binary, folder))
    if options.devices:
        parts.append("## Models within the memory of a device\n\n" + devices(options.bin / "napkin"))
    if options.examples:
        parts.append("## Arenas of the examples' plans\n\n" + examples(options.bin / "napkin"))
    text = "\n".join(parts)
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


main()
