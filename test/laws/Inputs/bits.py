"""Law L3 for one example model: no strategy changes a bit of the losses, weights and states.

bits.py MODEL FOLDER, where build.py compiled it.
"""
import fcntl
import os
import pathlib
import signal
import subprocess
import sys

import models

model = models.MODELS[sys.argv[1]]
root = pathlib.Path(sys.argv[2])
data = models.data_flags(model, root)
STEPS = 4


class Run:
    """What a run left behind, by the file; the log without its times."""

    def __init__(self, folder, log=None):
        last = max(folder.glob("step-*"))
        self.files = {path.name: path.read_bytes() for path in sorted(last.iterdir())}
        if log:
            self.files["log"] = models.measured_losses(log)

    def differences(self, other):
        return [name for name in sorted({*self.files, *other.files})
                if self.files.get(name) != other.files.get(name)]


def train(name, command, *flags, steps=STEPS, **environment):
    folder, log = root / name, root / f"{name}.jsonl"
    models.call(*command, *data, "--quiet", "--steps", steps, "--save", folder, "--log", log,
                *flags, **environment)
    return Run(folder, log)


def kill_and_resume(name, command):
    """Kills a run at about its sixth step, whatever it does then, and takes it up."""
    folder, steps = root / name, 60
    whole = train(name + "-whole", command, "--threads", 2, steps=steps)
    reading, writing = os.pipe()
    # A full pipe stops the run, so that it cannot end before it is killed.
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    flags = [*data, "--quiet", "--steps", steps, "--threads", 3, "--save", folder, "--save-every", 2]
    run = subprocess.Popen([str(word) for word in [*command, *flags, "--log", f"/dev/fd/{writing}"]],
                           pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as lines:
        for _ in range(6):
            lines.readline()
        run.send_signal(signal.SIGKILL)
        if run.wait() != -signal.SIGKILL:
            sys.exit(f"{name}: ended with {run.returncode} before it was killed")
    saved = max(folder.glob("step-*")).name
    if not "step-00000004" <= saved < f"step-{steps:08}":
        sys.exit(f"{name}: {saved} is the newest checkpoint of the killed run")
    models.call(*command, *data, "--quiet", "--steps", steps, "--threads", 1, "--save", folder, "--resume", folder)
    del whole.files["log"]
    expect_equal(name, whole, Run(folder))


failures = []
equal = 0


def expect_equal(name, wanted, found):
    global equal
    equal += 1
    for file in wanted.differences(found):
        failures.append(f"{name}: {file} differs")


for accumulate in model.micro_batches:
    tag = f"x{accumulate}-"
    fused, unfused = ([root / f"{tag}{form}"] for form in ("fused", "unfused"))
    reference = train(tag + "reference", fused, "--threads", 1)
    for threads in (2, 3, 8):
        expect_equal(f"{tag}{threads} workers", reference,
                     train(f"{tag}poisoned-{threads}", fused, "--threads", threads, NAPKIN_POISON="1"))
    expect_equal(tag + "again, 3 workers", reference, train(tag + "again", fused, "--threads", 3))
    expect_equal(tag + "not fused", reference, train(tag + "unfused-run", unfused, "--threads", 2, NAPKIN_POISON="1"))
    if accumulate == model.micro_batches[-1]:
        expect_equal(tag + "in the compiler's process, narrow vectors, other tasks", reference,
                     train(tag + "jit", ["napkin", "train", *model.flags(accumulate), "--cpu=x86-64-v3"], "--threads", 2))
        stored = ["napkin", "train", *model.flags(accumulate), "--store-masks", "--fuse-recompute=off"]
        expect_equal(tag + "masks and values stored", reference, train(tag + "stored", stored, "--threads", 2))
        kill_and_resume(tag + "killed", fused)
        # What was learned with other kernels goes on with these.
        folder = root / (tag + "unfused-run")
        models.call(*fused, *data, "--quiet", "--steps", STEPS + 2, "--resume", folder, "--save", folder)
        models.call(*unfused, *data, "--quiet", "--steps", STEPS + 2, "--resume", root / (tag + "reference"),
                    "--save", root / (tag + "reference"))
        expect_equal(tag + "resumed with other kernels", Run(root / (tag + "reference")), Run(folder))

    # The test can fail: another seed is another run.
    other = train(tag + "other-seed", fused, "--threads", 1, "--seed", 8)
    if "model.safetensors" not in reference.differences(other) or "log" not in reference.differences(other):
        failures.append(f"{tag}another seed gave the same")
    if len(reference.files["log"].splitlines()) != STEPS:
        failures.append(f"{tag}the log has not {STEPS} steps")

print("\n".join(failures) or f"{equal} runs, the same bits")
sys.exit(1 if failures else 0)
