"""Laws under policies that store less than f32, for example models at law sizes.

precision.py FOLDER MODEL...: for each policy the losses, weights and states of a run have the same bits for 1, 3 and 8 workers,
fused or not, as an executable or in the compiler's process, and where a run was taken up; and the plan gives a parameter the
bytes of its policy.
"""
import json
import pathlib
import shutil
import sys

import models

POLICIES = ("mixed(bf16)", "pure(bf16)")
# By policy: element types of parameters and of their working copies, where there are some.
TYPES = {"f32": ("f32", None), "mixed(bf16)": ("f32", "bf16"), "pure(bf16)": ("bf16", None)}
# Accumulated gradients and states are f32.
BYTES = {"f32": 16, "mixed(bf16)": 18, "pure(bf16)": 14}
STEPS = 3
failures = []
runs = 0


def files_of(folder):
    last = max(folder.glob("step-*"))
    return {path.name: path.read_bytes() for path in sorted(last.iterdir())}


def train(folder, command, data, *flags, steps=STEPS):
    log = folder.with_suffix(".jsonl")
    models.call(*command, *data, "--quiet", "--steps", steps, "--save", folder, "--log", log, *flags)
    return {**files_of(folder), "log": models.measured_losses(log)}


def check_bits(name, policy, root):
    global runs
    model = models.MODELS[name]
    models.write_data(model, root)
    data = models.data_flags(model, root)
    accumulate = model.micro_batches[-1]
    flags = [*model.flags(accumulate), "--precision", policy]
    fused, unfused = root / "fused-program", root / "unfused-program"
    models.call("napkin", "compile", *flags, *models.TASKS, "-o", fused)
    models.call("napkin", "compile", *flags, *models.TASKS, "--disable-pass=nap-fuse", "-o", unfused)
    reference = train(root / "reference", [fused], data, "--threads", 1)
    others = {
        "3 workers": train(root / "three", [fused], data, "--threads", 3),
        "8 workers": train(root / "eight", [fused], data, "--threads", 8),
        "not fused": train(root / "unfused", [unfused], data, "--threads", 2),
        "in the compiler": train(root / "jit", ["napkin", "train", *flags], data, "--threads", 2),
    }
    for folder, program in (("reference", fused), ("three", unfused)):
        models.call(program, *data, "--quiet", "--steps", STEPS + 2, "--resume", root / folder, "--save", root / folder)
    for other, files in others.items():
        runs += 1
        failures.extend(f"{name}, {policy}, {other}: {file} differs"
                        for file in files if files[file] != reference[file])
    runs += 1
    if files_of(root / "reference") != files_of(root / "three"):
        failures.append(f"{name}, {policy}: resumed with other kernels, another run")
    # The test can fail: f32 is another run.
    plain = train(root / "plain", ["napkin", "train", *model.flags(accumulate), "--precision", "f32"], data, "--threads", 2)
    if plain["log"] == reference["log"]:
        failures.append(f"{name}, {policy}: the losses are those of f32")


def check_bytes(policy):
    """All trained by adamw, gradients accumulated: the sums by class, to the byte."""
    model = models.MODELS["gpt2"]
    plan = json.loads(models.call("napkin", "compile", *model.flags(3), "--precision", policy, "--emit=plan"))
    tensors = plan["tensors"]
    parameters = [tensor for tensor in tensors if tensor["role"] == "parameter"]
    names = {tensor["name"] for tensor in parameters}
    elements = 0
    for tensor in parameters:
        size = 1
        for extent in tensor["shape"]:
            size *= extent
        elements += size
    total = sum(tensor["bytes"] for tensor in tensors
                if tensor["name"] in names or tensor.get("owner") in names)
    # A layer norm's gain and bias are read in f32: they have no copy.
    stored, copied = TYPES[policy]
    copies = [tensor for tensor in tensors if tensor["role"] == "working"]
    uncopied = 0
    if copied:
        owners = {tensor["owner"] for tensor in copies}
        for tensor in parameters:
            is_norm = ".ln_" in f".{tensor['name']}"
            if is_norm == (tensor["name"] in owners):
                failures.append(f"{policy}: {tensor['name']} has {'a' if is_norm else 'no'} working copy")
            if is_norm:
                uncopied += tensor["shape"][0]
    wanted = BYTES[policy] * elements - 2 * uncopied
    if total != wanted:
        failures.append(f"{policy}: parameters, copies, gradients and states take {total} bytes, wanted {wanted}")
    if any(tensor["dtype"] != stored for tensor in parameters):
        failures.append(f"{policy}: not all parameters are {stored}")


root = pathlib.Path(sys.argv[1])
shutil.rmtree(root, ignore_errors=True)
for policy in BYTES:
    check_bytes(policy)
for name in sys.argv[2:]:
    for number, policy in enumerate(POLICIES):
        folder = root / f"{name}-{number}"
        folder.mkdir(parents=True)
        check_bits(name, policy, folder)
print("\n".join(failures) or f"{runs} runs, the same bits")
sys.exit(1 if failures else 0)
