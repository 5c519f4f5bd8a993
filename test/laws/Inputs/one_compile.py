"""Law L9: one compile per run. What a run sets it sets without a compiler, and gets what compiling with it gives.

one_compile.py FOLDER
"""
import pathlib
import subprocess
import sys

import models

# betas.nap reads what the perceptron reads.
_, root, data = models.prepare("mlp", sys.argv[1])
source = pathlib.Path(__file__).with_name("betas.nap")
failures = []


def compile_model(name, *flags):
    models.call("napkin", "compile", source, "-o", root / name, *flags)
    return root / name


def weights(name, executable, *flags):
    """The weights after a run of an executable in an environment without a compiler, or anything else."""
    folder = root / f"{name}-saved"
    run = subprocess.run([executable, *data, "--quiet", "--save", folder, *flags], env={}, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{name}: {run.stderr}")
    return (max(folder.glob("step-*")) / "model.safetensors").read_bytes()


executable = compile_model("betas")
before = executable.read_bytes()
results = {"as compiled": weights("as-compiled", executable)}
settings = [("-D", "lr=0.02"), ("-D", "b1=0.8"), ("-D", "b2=0.9"), ("-D", "decay=0.3"), ("-D", "warm=5"), ("--seed", "5"),
            ("--steps", "9")]
for number, setting in enumerate(settings):
    results[" ".join(setting)] = weights(f"run-{number}", executable, *setting)
if len(set(results.values())) != len(results):
    failures.append(f"of {list(results)} two gave the same weights")

# Set by a run, or when it is compiled: the same.
several = [word for setting in settings for word in setting]
if weights("set-by-run", executable, *several) != weights("set-before", compile_model("set", *several)):
    failures.append("numbers set by a run give other weights than the same numbers compiled in")
if executable.read_bytes() != before:
    failures.append("the executable has changed")

# The machine code knows none of these numbers.
code = [models.call("napkin", "compile", source, "--emit=llvm", *flags) for flags in ([], several)]
if code[0] != code[1]:
    failures.append("a number that a run sets is in the code of a kernel")

print("\n".join(failures) or f"{len(results)} settings of one executable")
sys.exit(1 if failures else 0)
