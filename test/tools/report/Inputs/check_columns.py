"""Asks for the report of every example after every pass, with devices, presets and precisions by turns, and looks at its columns.

    check_columns.py EXAMPLES WIDE DEVICE

No line is longer than 120 columns or ends in a blank, and the cells of a row stand apart, of WIDE too, a model of huge sizes and long names, on DEVICE, whose names are long.
Prints what is wrong, then "ok" and how many reports were read.
"""
import itertools
import pathlib
import re
import subprocess
import sys

FLAGS = [[], ["--device=h100", "--step-time=1e9", "--preset=chinchilla_a4"], ["--device=mi250x", "--precision=mixed(bf16)", "--preset=cs336", "--trn-weight=20"],
         ["--preset=korthikanti_selective", "--device=rtx4090", "--accumulate=3"], ["--preset=xla"], ["--preset=torchtitan", "--device=l4"]]
CELL = re.compile(r"-|\d+(\.\d+)?[kMGTPEZY]?|\d+k")
FAULTS, READ = [], 0


def report(file, *flags):
    return subprocess.run(["napkin", "report", str(file), *flags], capture_output=True, text=True)


def check(file, *flags):
    global READ
    READ += 1
    result = report(file, *flags)
    what = " ".join([pathlib.Path(file).name, *flags])
    if result.returncode:
        FAULTS.append(f"{what}: {result.stderr}")
        return
    lines = result.stdout.splitlines()
    for line in lines:
        if len(line) > 120 or line != line.rstrip():
            FAULTS.append(f"{what}: {len(line)} columns: '{line}'")
    first = next(i for i, line in enumerate(lines) if line.startswith("PASS "))
    for line in itertools.takewhile(lambda line: line and not line.startswith("DIFF"), lines[first + 2:]):
        name, *cells = line.split()
        # Changes and what is said of a pass stand between and behind the figures.
        figures = list(itertools.takewhile(lambda cell: CELL.fullmatch(cell) or re.fullmatch(r"[-+][\d.]+%|x[\d.e+]+|new", cell), cells))
        figures = [cell for cell in figures if CELL.fullmatch(cell)]
        if len(figures) != (11 if any(flag.startswith("--device") for flag in flags) else 10):
            FAULTS.append(f"{what}: a row of {len(figures)} figures: '{line}'")


def main():
    examples, wide, device = sys.argv[1:]
    turn = 0
    for file in sorted(pathlib.Path(examples).glob("*.nap")):
        passes = re.search(r"the passes are (.*)", report(file, "--after=none-such").stderr)[1].split(", ")
        for after in dict.fromkeys(passes):
            check(file, f"--after={after}", *FLAGS[turn % len(FLAGS)])
            turn += 1
    for after in ("import", "nap-recognize", "nap-autodiff", "nap-assemble-step"):
        check(wide, f"--after={after}", f"--device={device}", "--step-time=1e18", "--preset=chinchilla_a4")
    print(*FAULTS, f"{'wrong' if FAULTS else 'ok'} {READ}", sep="\n")


main()
