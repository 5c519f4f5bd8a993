"""Laws under policies that store less than f32, for one example model at law sizes.

precision.py FOLDER MODEL: for each policy the losses, weights and states of a run have the same bits for 1, 3 and 8 workers,
from an executable with fused kernels or unfused in the compiler's process, and where a run was taken up with other kernels.
FOLDER/POLICY holds the data and the executable `fused` then.
precision.py FOLDER bytes: the plan gives a parameter the bytes of its policy.
"""
import json
import pathlib
import re
import shutil
import sys

import models

POLICIES = ("mixed(bf16)", "mixed(f16)", "pure(bf16)")
# By policy: element types of parameters and of their working copies, where there are some.
TYPES = {"f32": ("f32", None), "mixed(bf16)": ("f32", "bf16"), "mixed(f16)": ("f32", "f16"), "pure(bf16)": ("bf16", None)}
# Gradients that are summed over micro-batches, and states, are f32.
BYTES = {"f32": 16, "mixed(bf16)": 18, "mixed(f16)": 18, "pure(bf16)": 14}
# With one micro-batch a step gradients live for a part of it; a matrix's is of this type.
GRADIENTS = {"f32": "f32", "mixed(bf16)": "f32", "mixed(f16)": "f32", "pure(bf16)": "bf16"}
SUMMED = 4
SAVED, STEPS = 3, 5
failures = []
runs = 0


def train(folder, command, data, *flags):
    """Files of the checkpoints after SAVED and STEPS steps, and the log without its times."""
    log = folder.with_suffix(".jsonl")
    models.call(*command, *data, "--quiet", "--steps", STEPS, "--save", folder, "--save-every", SAVED, "--log", log, *flags)
    files = {f"{step.name}/{path.name}": path.read_bytes() for step in folder.glob("step-*") for path in step.iterdir()}
    return {**files, "log": models.measured_losses(log)}


def check_bits(name, policy, root):
    """Two compilations a policy. Returns the losses."""
    global runs
    model = models.MODELS[name]
    models.write_data(model, root)
    data = models.data_flags(model, root)
    flags = [*model.flags(model.micro_batches[-1]), "--precision", policy, *models.TASKS]
    fused = root / "fused"
    models.call("napkin", "compile", *flags, "-o", fused)
    reference = train(root / "reference", [fused], data, "--threads", 1)
    unfused = ["napkin", "train", *flags, "--disable-pass=nap-fuse"]
    others = {
        "3 workers": train(root / "three", [fused], data, "--threads", 3),
        "8 workers": train(root / "eight", [fused], data, "--threads", 8),
        "not fused, in the compiler": train(root / "unfused", unfused, data, "--threads", 2),
    }
    # What was learned with other kernels goes on with these.
    shutil.rmtree(root / "unfused" / f"step-{STEPS:08}")
    others["resumed"] = train(root / "unfused", [fused], data, "--threads", 2, "--resume", root / "unfused")
    # The log of the run that was taken up has its last steps alone.
    others["resumed"]["log"] = reference["log"]
    for other, files in others.items():
        runs += 1
        if sorted(files) != sorted(reference):
            failures.append(f"{name}, {policy}, {other}: other files, {sorted(files)}")
        failures.extend(f"{name}, {policy}, {other}: {file} differs"
                        for file in sorted(files.keys() & reference.keys()) if files[file] != reference[file])
    return reference["log"]


def check_gradients(policy, plan):
    """With one micro-batch a step the gradient of a matrix is a temporary of the parameter's own type: the one that its
    update reads. Gradients of vectors are sums, and f32."""
    tensors = plan["tensors"]
    (step,) = [function for function in plan["functions"] if function["name"] == "step"]
    found = set()
    for launch in step["launches"]:
        read = [tensors[argument] for argument in launch["arguments"]]
        for state in read:
            if state["role"] != "state" or not state["name"].endswith("#m") or len(state["shape"]) < 2:
                continue
            gradients = [tensor["dtype"] for tensor in read
                         if tensor["role"] == "temporary" and tensor["shape"] == state["shape"]]
            found.add(state["owner"])
            if gradients != [GRADIENTS[policy]]:
                failures.append(f"{policy}: the update of {state['owner']} reads gradients of types {gradients}")
    wanted = {tensor["name"] for tensor in tensors if tensor["role"] == "parameter" and len(tensor["shape"]) > 1}
    if found != wanted:
        failures.append(f"{policy}: updates of {sorted(found)} were found, wanted {sorted(wanted)}")


def check_bytes(policy, accumulate):
    """All trained by adamw: the sums by class, to the byte."""
    model = models.MODELS["gpt2"]
    plan = json.loads(models.call("napkin", "compile", *model.flags(accumulate), "--precision", policy, "--emit=plan"))
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
    if accumulate == 1:
        check_gradients(policy, plan)
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
    wanted = (BYTES[policy] - (SUMMED if accumulate == 1 else 0)) * elements - 2 * uncopied
    if total != wanted:
        failures.append(f"{policy}, {accumulate} micro-batches: parameters, copies, gradients and states take {total} bytes, wanted {wanted}")
    if any(tensor["dtype"] != stored for tensor in parameters):
        failures.append(f"{policy}: not all parameters are {stored}")


root, name = pathlib.Path(sys.argv[1]), sys.argv[2]
shutil.rmtree(root, ignore_errors=True)
if name == "bytes":
    for policy in BYTES:
        for accumulate in (1, 3):
            check_bytes(policy, accumulate)
else:
    losses = set()
    for policy in POLICIES:
        folder = root / re.sub(r"\W", "", policy)
        folder.mkdir(parents=True)
        losses.add(check_bits(name, policy, folder))
    # The test can fail: another policy is another run. bytes and narrow_gradients.py tell these from f32.
    if len(losses) != len(POLICIES):
        failures.append(f"{name}: two policies have the same losses")
print("\n".join(failures) or f"{runs} runs, the same bits")
sys.exit(1 if failures else 0)
