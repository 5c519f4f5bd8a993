"""What `load` in a model file says holds for --init: check_load.py MODEL.nap REFERENCE FOLDER.

REFERENCE is the folder of safetensors.py. Writes a file with other names and layouts, starts
`napkin train` and an executable with it, and compares what each saves with what loops over
the file give; then takes arrays away and gives wrong shapes.
"""
import os
import pathlib
import subprocess
import sys

model, reference, folder = sys.argv[1:]
sys.path.insert(0, reference)
import safetensors

folder = pathlib.Path(folder)
folder.mkdir(parents=True)
os.chdir(folder)


def numbers(first, *shape):
    count = 1
    for size in shape:
        count *= size
    return ("F32", list(shape), [first + i for i in range(count)])


theirs = {
    "net.first.weight": numbers(0, 6, 4), "net.second.weight": numbers(100, 6, 4),
    "attn.c_attn.weight": numbers(200, 4, 12), "q": numbers(300, 2, 4), "k": numbers(310, 2, 4),
    "v": numbers(320, 2, 4), "a": numbers(400, 4), "b": numbers(410, 4), "own": numbers(500, 4),
    "swapped": numbers(600, 1, 2, 5, 3), "stats": numbers(700, 4), "mask": numbers(800, 2)}
wanted = {
    "first_w": [0 + o * 4 + i for i in range(4) for o in range(6)],
    "second_w": [100 + o * 4 + i for i in range(4) for o in range(6)],
    "qkv": [200 + i * 12 + (t * 2 + h) * 2 + e
            for t in range(3) for h in range(2) for e in range(2) for i in range(4)],
    "joined": [300 + 10 * t + o * 4 + i for i in range(4) for t in range(3) for o in range(2)],
    "stacked": [*range(400, 404), *range(410, 414)], "kept": [2] * 4, "own": [*range(500, 504)],
    "middle": [600 + rest * 3 + c for c in range(3) for rest in range(10)],
    "seen": [*range(700, 704)]}
safetensors.write("theirs.safetensors", theirs)
safetensors.write("x.safetensors", {"x": numbers(1, 2, 4)})
subprocess.run(["napkin", "compile", model, "-o", "loads"], check=True)


def start(command, init, save):
    return subprocess.run([*command, "--data", "x.safetensors", "--init", init, "--save", save,
                           "--threads", "2"], capture_output=True, text=True)


for command, save in ((["napkin", "train", model], "jit"), (["./loads"], "exe")):
    run = start(command, "theirs.safetensors", save)
    name = pathlib.Path(command[0]).name
    assert run.returncode == 0, run.stderr
    assert f"{name}: note: theirs.safetensors: the model lacks 'mask'\n" in run.stderr, run.stderr
    saved = safetensors.read(f"{save}/step-00000001/model.safetensors")
    assert sorted(name for name in saved if name != "__metadata__") == sorted(wanted), sorted(saved)
    for tensor, values in wanted.items():
        assert list(saved[tensor][2]) == values, (command, tensor, list(saved[tensor][2]), values)


def refused(change, sentence):
    arrays = {name: tensor for name, tensor in (theirs | {"mask": None} | change).items() if tensor}
    safetensors.write("wrong.safetensors", arrays)
    run = start(["./loads"], "wrong.safetensors", "never")
    wanted = f"loads: error: wrong.safetensors: {sentence}\n"
    assert run.returncode == 1 and run.stderr == wanted, (run.returncode, run.stderr, wanted)


refused({"net.first.weight": None}, "the file lacks 'net.first.weight' for 'first_w'")
refused({"k": None, "own": None}, "the file lacks 'k' for 'joined', 'own'")
refused({"stats": None}, "the file lacks 'stats' for 'seen'")
refused({"net.second.weight": numbers(0, 4, 6)},
        "'net.second.weight' for 'second_w' is [4, 6] in the file and [6, 4] by the model's 'load'")
refused({"v": numbers(0, 2, 5)},
        "'v' for 'joined' is [2, 5] in the file and [2, 4] by the model's 'load'")
refused({"swapped": numbers(0, 2, 5, 3)},
        "'swapped' for 'middle' is [2, 5, 3] in the file and [1, 2, 5, 3] by the model's 'load'")
refused({"own": numbers(0, 5)}, "'own' is [5] in the file and [4] in the model")
assert not pathlib.Path("never").exists() or not list(pathlib.Path("never").iterdir())
