"""Law L3 for the head: however many parts its rows are cut into, weights, states and losses have the same bits.

head_in_parts.py FOLDER. Models at sizes where parts begin at multiples of 256 bytes, so that rows are read and parts
written where they lie, and at sizes where they do not.
"""
import dataclasses
import pathlib
import sys

import models

root = pathlib.Path(sys.argv[1])
root.mkdir(parents=True, exist_ok=True)
EVEN = dict(layers=1, heads=4, d=32, seq=32, batch=8, vocab=67)
DROPOUT = dict(layers=1, heads=2, d=42, context=32, seq=32, batch=6, vocab=67, p=0.1)
CASES = [
    # model, its sizes, micro-batches, policy, numbers of parts
    ("words", EVEN, 1, "f32", (2, 3, 4)),
    ("words", models.MODELS["words"].sizes, 1, "f32", (2, 7)),
    ("gpt2", DROPOUT, 3, "f32", (3,)),
    ("llama", models.MODELS["llama"].sizes, 1, "f32", (2, 3, 7)),
    ("llama", models.MODELS["llama"].sizes | dict(tied="true"), 1, "f32", (3,)),
    ("words", EVEN, 1, "mixed(bf16)", (2, 3)),
    ("gpt2", DROPOUT, 3, "mixed(bf16)", (3, 7)),
    ("words", EVEN, 1, "mixed(f16)", (2, 3)),
    ("words", models.MODELS["words"].sizes, 1, "pure(bf16)", (2, 3)),
    ("gpt2", DROPOUT, 3, "pure(bf16)", (3,)),
]
failures = []
runs = 0


def train(name, data, *flags):
    """What a run of three steps left behind, by the file, and the log without its times."""
    folder, log = root / name, root / f"{name}.jsonl"
    models.call("napkin", "train", *data, "--quiet", "--steps", 3, "--save", folder, "--log", log,
                "--threads", 2, *flags, NAPKIN_POISON="1")
    last = max(folder.glob("step-*"))
    files = {path.name: path.read_bytes() for path in sorted(last.iterdir())}
    return {**files, "log": models.measured_losses(log)}


def is_in_parts(flags, chunks):
    """Whether a contraction over rows goes on from the part before."""
    return " init " in models.call("napkin", "compile", *flags, "--chunks", chunks, "--emit=kernels")


for number, (name, sizes, accumulate, policy, many) in enumerate(CASES):
    sized = dataclasses.replace(models.MODELS[name], sizes=sizes)
    model, _, data = models.prepare(sized, root / f"data-{number}", samples=200)
    flags = [*model.flags(accumulate), "--precision", policy]
    whole = train(f"{number}-whole", data, *flags, "--chunks", 1)
    for chunks in many:
        found = train(f"{number}-{chunks}", data, *flags, "--chunks", chunks)
        runs += 1
        failures += [f"{name}, {policy}, {chunks} parts: {file} differs" for file in whole if whole[file] != found.get(file)]
        if not is_in_parts(flags, chunks):
            failures.append(f"{name}, {policy}: not computed in {chunks} parts")
    if train(f"{number}-seed", data, *flags, "--chunks", 1, "--seed", 8)["log"] == whole["log"]:
        failures.append(f"{name}, {policy}: another seed gave the same")

print("\n".join(failures) or f"{runs} runs in parts, the same bits")
sys.exit(1 if failures else 0)
