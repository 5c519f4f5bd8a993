"""Holds every gradient of a file of modules against finite differences (law L4).

    check.py FILE.mlir | FILE.nap

A model file is compiled to its graph in f64 first. A file's modules, parted by `// -----`, each
start with a line `// NAME` and have @forward in f64. Three programs are checked for each: autodiff alone, with nap-simplify before and after it, and
with nap-recognize too; the others' losses must also be the first's, to 1e-12. Prints a line for each that is wrong and a total.
"""
import pathlib
import subprocess
import sys
import tempfile

SPLIT = "\n// -----\n"
PIPELINES = {
    "autodiff": ["--nap-autodiff=keep-forward"],
    "simplified": ["--nap-simplify", "--nap-autodiff=keep-forward", "--nap-simplify"],
    "recognized": ["--nap-simplify", "--nap-recognize", "--nap-autodiff=keep-forward", "--nap-simplify"],
}


def run(*command, stdin=None):
    return subprocess.run(command, input=stdin, capture_output=True, text=True)


def loss_of(file):
    printed = run("nap-interpret", str(file), "--function=forward", "--print").stdout
    return float(printed.split("loss:")[1].split()[0])


def compiled(modules, passes):
    """The modules after `passes`, in one call."""
    result = run("napkin-opt", "-", "-split-input-file", *passes, stdin=SPLIT.join(modules))
    if result.returncode:
        sys.exit(result.stderr)
    return result.stdout.split(SPLIT)


def faults(texts, folder):
    """Sentences about what is wrong with one module, given by pipeline."""
    losses = {}
    seen = {}
    for name, text in texts.items():
        if text in seen:
            losses[name] = losses[seen[text]]
            continue
        seen[text] = name
        file = folder / f"{name}.mlir"
        file.write_text(text)
        checked = run("nap-interpret", str(file), "--check-gradient")
        if checked.returncode or "gradient" not in checked.stdout:
            wrong = [line for line in checked.stdout.splitlines() if "WRONG" in line]
            yield f"{name}: {'; '.join(wrong) or checked.stderr.strip()}"
        losses[name] = loss_of(file)
    before = losses["autodiff"]
    for name, after in losses.items():
        if abs(before - after) > 1e-12 * max(abs(before), 1):
            yield f"the loss is {after} {name}, was {before}"


def title(module):
    return next(line[3:] for line in module.splitlines()
                if line.startswith("// ") and not line.startswith(("// RUN", "// CHECK")))


def modules_of(path):
    """The texts of a file's modules."""
    if not path.endswith(".nap"):
        return pathlib.Path(path).read_text().split(SPLIT)
    graph = run("emit-graph", path, "--precision", "f64")
    if graph.returncode:
        sys.exit(graph.stderr)
    return [f"// {pathlib.Path(path).stem}\n" + graph.stdout]


def main():
    modules = modules_of(sys.argv[1])
    programs = {name: compiled(modules, passes) for name, passes in PIPELINES.items()}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for i, module in enumerate(modules):
            texts = {name: outputs[i] for name, outputs in programs.items()}
            for fault in faults(texts, pathlib.Path(folder)):
                print(f"{title(module)}: {fault}")
                wrong += 1
    print(f"{len(modules)} modules, {wrong} wrong")


main()
