"""Every kernel of an example, at the sizes of the laws, from its CUDA text on this host beside the CPU's code on the same numbers:
bit for bit, and where the text multiplies on tensor cores within 1 % of the result's largest.

Arguments: a folder for files, the example, flags for `napkin compile` beside its sizes. Prints how many kernels there are."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "laws" / "Inputs"))
import models

folder, name, *flags = sys.argv[1:]
pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
path = pathlib.Path(folder, f"{name}.mlir")
models.call("napkin", "compile", *models.MODELS[name].flags(1), *flags, "--emit=kernels", "-o", path)
defined = re.findall(r"^ *nap\.kernel_def +\w+ @\"?([\w.]+)", path.read_text(), re.MULTILINE)
run = subprocess.run(["run-kernel", path, "--cuda-host", "--beside-cpu", "--cuda-near=0.01", "--bf16-unit=fma"], capture_output=True, text=True)
verdicts = dict(re.findall(r"^(\S+): (equal|near)$", run.stdout, re.MULTILINE))
if run.returncode or not defined or sorted(verdicts) != sorted(defined):
    sys.exit(f"{name}: status {run.returncode}, {len(verdicts)} of {len(defined)} kernels agree\n{run.stdout}{run.stderr}")
near = list(verdicts.values()).count("near")
print(f"{len(defined)} kernels of {name}: {len(defined) - near} equal, {near} near")
