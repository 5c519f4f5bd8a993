#!/usr/bin/env python3
"""What NVRTC costs for the example models: processor time of a first compilation, and of one whose code is in the cache.

Usage: python3 bench/cuda.py [--napkin=build/release/bin/napkin] [--target=sm_90] [NAME ...]

No GPU is needed. Each model is compiled to an executable twice with --timing, into a cache that is empty at first: the
phase `NVRTC for ...` of both runs stands in the table. "step" is the first for what a training step needs alone
(--train-only), as `napkin train` compiles it; --threads=1 gives one core.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {
    "mlp": ["mlp.nap"],
    "words": ["words.nap"],
    "gpt2": ["gpt2.nap"],
    "gpt2-bf16": ["gpt2.nap", "--precision=mixed(bf16)"],
    "llama-bf16": ["llama.nap", "--precision=mixed(bf16)"],
    "optimizers": ["optimizers.nap"],
}


def phase_of(napkin, words, target, folder, *flags):
    """Seconds of the phase: by the clock, and of all threads."""
    environment = {**os.environ, "XDG_CACHE_HOME": folder}
    command = [napkin, "compile", ROOT / "examples" / words[0], *words[1:], *flags, f"--target={target}", "--timing", "-o", f"{folder}/model"]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    if run.returncode:
        sys.exit(f"napkin compile {' '.join(words)}: {run.stderr}")
    line = next(line for line in run.stderr.splitlines() if line.startswith("NVRTC for"))
    wall, processor = line.split()[3:5]
    return float(wall), float(processor)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--napkin", default=str(ROOT / "build/release/bin/napkin"))
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--threads", type=int, help="processors that may be used; default: all")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    options = parser.parse_args()
    if options.threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    if unknown := [name for name in options.names if name not in MODELS]:
        parser.error(f"no model '{unknown[0]}'; there are {', '.join(MODELS)}")
    print(f"NVRTC for {options.target}, seconds: by the clock, and processor time in brackets")
    print(f"{'model':12} {'step':>16} {'first':>16} {'from the cache':>16}")
    for name in options.names or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            step = phase_of(options.napkin, MODELS[name], options.target, folder, "--train-only")
        with tempfile.TemporaryDirectory() as folder:
            first = phase_of(options.napkin, MODELS[name], options.target, folder)
            again = phase_of(options.napkin, MODELS[name], options.target, folder)
        print(f"{name:12} " + " ".join(f"{f'{wall:.2f} ({processor:.2f})':>16}" for wall, processor in (step, first, again)))


if __name__ == "__main__":
    main()
