"""The dynamic loss scale of mixed(f16), in runs of a model whose samples are all the same.

loss_scale.py FOLDER: gradients that overflow skip their steps, change nothing and halve the scale; gradients below what f16
has are there nevertheless, and not without the scale; the scale doubles after 2000 steps; a run that was taken up has the bits
of one that was not.
"""
import json
import pathlib
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Inputs"))
import models  # noqa: E402

FIRST_SCALE = 65536
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def run(root, name, *flags):
    """The log's records, and the folder of checkpoints."""
    log = root / f"{name}.jsonl"
    model = pathlib.Path(__file__).with_name("scaled.nap")
    models.call("napkin", "train", model, "--data", f"x={root / 'x.npy'}", "--quiet", "--log", log, "--save", root / name, *flags)
    return [json.loads(line) for line in log.read_text().splitlines()], root / name


def overflow(root):
    records, folder = run(root, "overflow", "-D", "gain=100")
    skipped = [record for record in records if not record["finite"]]
    kept = records[len(skipped):]
    expect(len(skipped) > 2 and all(record["finite"] for record in kept), "the first steps overflow, and no other")
    expect([record["loss_scale"] for record in skipped] == [FIRST_SCALE / 2 ** (i + 1) for i in range(len(skipped))],
           "each skipped step halves the scale")
    expect(len({record["loss"] for record in [*skipped, kept[0]]}) == 1, "a skipped step changes no weight")
    expect(kept[1]["loss"] < kept[0]["loss"], "a step that is kept changes weights")
    expect({record["loss_scale"] for record in kept} == {skipped[-1]["loss_scale"]}, "the scale stays")
    trainer = json.loads((folder / "step-00000020" / "trainer.json").read_text())
    expect((trainer["step"], trainer["skipped"]) == (20, len(skipped)), "skipped steps are counted apart")
    return len(skipped)


def write_state(folder, name, code, value):
    """Writes a number of the state of a checkpoint; what it was."""
    path = folder / "optimizer.safetensors"
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    begin = 8 + length + json.loads(data[8:8 + length])[name]["data_offsets"][0]
    (old,) = struct.unpack_from(code, data, begin)
    struct.pack_into(code, data, begin, value)
    path.write_bytes(data)
    return old


def underflow(root):
    flags = ("-D", "gain=1e-7", "--steps", "1")
    wide = run(root, "wide", *flags, "--precision", "f32")[0][0]["gradient_norm"]
    records, folder = run(root, "scaled", *flags)
    scaled = records[0]["gradient_norm"]
    expect(abs(scaled - wide) < 2e-3 * wide, f"a gradient of norm {wide} is {scaled} in mixed(f16)")
    write_state(folder / "step-00000001", "loss#scale", "<f", 1)
    # The log goes on.
    records, _ = run(root, "scaled", "-D", "gain=1e-7", "--steps", "2", "--resume", folder)
    lost = records[-1]["gradient_norm"]
    expect(abs(lost - wide) > 0.1 * wide, f"a gradient of norm {wide} is {lost} without a scale")


def resume(root):
    files = lambda folder: {path.name: path.read_bytes() for path in (folder / "step-00000020").iterdir()}
    # Taken up after three steps that were kept, and those that were not.
    _, part = run(root, "part", "-D", "gain=100", "--steps", "3")
    run(root, "part", "-D", "gain=100", "--steps", "20", "--resume", part)
    whole, found = files(root / "overflow"), files(part)
    expect(sorted(whole) == sorted(found), "a run that was taken up leaves the same files")
    failures.extend(f"{name} differs in a run that was taken up" for name in whole if whole[name] != found.get(name))


def doubling(root):
    _, folder = run(root, "grown", "--steps", "1")
    expect(write_state(folder / "step-00000001", "loss#good_steps", "<i", 1998) == 1, "one step was finite")
    records, _ = run(root, "grown", "--steps", "4", "--resume", folder)
    expect([record["loss_scale"] for record in records] == [FIRST_SCALE] * 2 + [2 * FIRST_SCALE] * 2,
           f"the scale doubles after 2000 steps: {[record['loss_scale'] for record in records]}")


root = pathlib.Path(sys.argv[1])
shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
models.write_npy(root / "x.npy", "<f4", [40, 4], [0.5, -1.0, 0.25, 1.5] * 40)
skipped = overflow(root)
underflow(root)
resume(root)
doubling(root)
print("\n".join(failures) or f"{skipped} steps skipped, and all as it should be")
sys.exit(1 if failures else 0)
