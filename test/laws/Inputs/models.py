"""The example models at law sizes: no two sizes equal, none a multiple of 16, dropout on.

For each: its file, its sizes, the micro-batches a step that are tried, and data for it.
"""
import dataclasses
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
# Kernels are cut into so many tasks that eight workers have work, and one some more.
TASKS = ["--min-tasks", "9"]
# Anonymous memory of a process beyond the planned peak, at most: stacks, batches, the reader of data (docs/runtime.md, A step).
BESIDE = 16 << 20


@dataclasses.dataclass
class Model:
    file: str
    sizes: dict
    micro_batches: tuple
    # name -> (dtype, shape of a sample, number of classes or None)
    inputs: dict

    def flags(self, accumulate):
        sizes = [word for name, size in self.sizes.items() for word in ("-D", f"{name}={size}")]
        return [str(EXAMPLES / self.file), *sizes, "--accumulate", str(accumulate)]


MODELS = {
    "mlp": Model("mlp.nap", dict(features=9, hidden=35, classes=5, batch=7), (1,),
                 {"images": ("<i4", [9], 17), "labels": ("<i4", [], 5)}),
    "words": Model("words.nap", dict(layers=1, heads=3, d=33, seq=18, batch=5, vocab=67), (1,),
                   {"tokens": ("<u2", None, 67)}),
    "gpt2": Model("gpt2.nap", dict(layers=2, heads=2, d=42, context=19, seq=17, batch=3, vocab=67, p=0.1), (1, 3),
                  {"tokens": ("<u2", None, 67)}),
    "llama": Model("llama.nap", dict(layers=2, heads=6, kv_heads=2, d=36, hidden=21, seq=17, batch=3, vocab=67), (1,),
                   {"tokens": ("<u2", None, 67)}),
    "optimizers": Model("optimizers.nap", dict(features=9, hidden=35, classes=5, batch=7), (1, 3),
                        {"x": ("<f4", [9], None), "labels": ("<i4", [], 5), "importance": ("<f4", [], None)}),
    # What is no example: a model with blocks that are computed again by hand.
    "written": Model(str(pathlib.Path(__file__).with_name("written.nap")), {}, (1, 2), {"tokens": ("<u2", None, 67)}),
}
CODES = {"<i4": "i", "<u2": "H", "<f4": "f"}


def write_npy(path, dtype, shape, values):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header
                     + struct.pack(f"<{len(values)}{CODES[dtype]}", *values))


def write_data(model, folder, samples=41, seed=7):
    """Writes the model's data to the folder."""
    dice = random.Random(seed)
    for name, (dtype, shape, classes) in model.inputs.items():
        if shape is None:
            ids = [dice.randrange(classes) for _ in range(samples * 18)]
            (folder / f"{name}.bin").write_bytes(struct.pack(f"<{len(ids)}H", *ids))
            continue
        count = samples * (shape[0] if shape else 1)
        draw = dice.random if classes is None else lambda: dice.randrange(classes)
        write_npy(folder / f"{name}.npy", dtype, [samples, *shape], [draw() for _ in range(count)])


def data_flags(model, folder):
    """The flags that name what `write_data` wrote."""
    return [word for name, (_, shape, _) in model.inputs.items()
            for word in ("--data", str(folder / f"{name}.{'npy' if shape is not None else 'bin'}"))]


def prepare(model, folder, samples=41):
    """Empties the folder and writes the data of a model, or of one by its name, there: the model, the folder, the flags that
    name the data."""
    model, root = MODELS[model] if isinstance(model, str) else model, pathlib.Path(folder)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    write_data(model, root, samples)
    return model, root, data_flags(model, root)


def call(*command, **environment):
    """Runs a command that must succeed; variables are added to the environment."""
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                         env={**os.environ, **environment})
    if run.returncode:
        sys.exit(f"{' '.join(map(str, command))}\nstatus {run.returncode}\n{run.stderr}")
    return run.stdout


def measured_losses(log):
    """A log without the times."""
    return re.sub(r', "(ms|tokens_per_second|samples_per_second|mfu)": [^,}]*', "", log.read_text())
