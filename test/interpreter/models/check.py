"""Holds a model's graph, its fused kernels and the cost rules against execution.

    check.py MODEL.nap [-D NAME=VALUE]...

In f32 and in mixed(bf16): executing every function that the runtime calls counts what the cost rules say, touches the bytes
that are written on its kernels, and gives the same bits as a graph and as fused kernels. In f64: the
gradients agree with differences of the loss. Prints a line for what does not hold, then "ok" or "wrong".
"""
import pathlib
import subprocess
import sys
import tempfile

FAULTS = []


def run(*command):
    """What a command prints; its failure is a fault."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        FAULTS.append(f"{command[0]}: {result.stdout[-500:]}{result.stderr[-2000:]}")
    return result.stdout


def expect_same(what, executed, stated):
    """Two lists of lines, one a function, are equal and not empty."""
    for line, other in zip(executed.splitlines(), stated.splitlines()):
        if line != other:
            FAULTS.append(f"{what}: executed {line}, stated {other}")
    if not executed or len(executed.splitlines()) != len(stated.splitlines()):
        FAULTS.append(f"{what}: not the same functions")


def graph(folder, precision, arguments, *passes):
    """The file of the model's graph after the passes."""
    emitted, file = folder / f"{precision}.emitted.mlir", folder / f"{precision}.mlir"
    emitted.write_text(run("emit-graph", *arguments, "--precision", precision))
    file.write_text(run("napkin-opt", str(emitted), *passes))
    return str(file)


def check_gradient(file):
    """The gradient holds for one of four seeds: a step may cross a kink of a model that has some, and no
    wrong gradient agrees to 1e-7 by chance."""
    for seed in range(4):
        result = subprocess.run(["nap-interpret", file, "--check-gradient", f"--seed={seed}"],
                                capture_output=True, text=True)
        if result.returncode == 0 and "gradient" in result.stdout:
            return
    FAULTS.append(f"gradient: {result.stdout}{result.stderr}")


def check_work(folder, precision):
    """What is executed is what is stated, as a graph and as kernels, with the same bits."""
    plain = graph(folder, precision, sys.argv[1:], "--nap-simplify", "--nap-autodiff", "--nap-simplify",
                  "--nap-mixed-precision", "--nap-assemble-step", "--nap-simplify")
    kernels = folder / "kernels.mlir"
    kernels.write_text(run("napkin-opt", plain, "--nap-split-reductions", "--nap-fuse",
                           "--nap-outline", "--nap-annotate-cost"))
    expect_same(f"{precision}: count", run("nap-interpret", plain, "--count"), run("nap-print-cost", plain))
    expect_same(f"{precision}: bytes", run("nap-interpret", str(kernels), "--bytes"),
                run("nap-print-cost", "--bytes", str(kernels)))
    run("nap-interpret", plain, f"--compare-file={kernels}")
    if ("bf16" in pathlib.Path(plain).read_text()) != ("bf16" in precision):
        FAULTS.append(f"{precision}: another type than asked for")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_work(folder, "f32")
        check_work(folder, "mixed(bf16)")
        check_gradient(graph(folder, "f64", sys.argv[1:], "--nap-autodiff=keep-forward"))
    print(*FAULTS, "wrong" if FAULTS else "ok", sep="\n")


main()
