"""Runs a file of wrong models and compares what is said about each.

errors.py TEST FOLDER [--write]: TEST is a file for split-file. Of each section NAME.nap, section
NAME.expected is what emit-graph says, with its flags on a first line `// flags: ...`. FOLDER is an
empty place to work in. --write puts what is said now into TEST.
"""
import difflib
import pathlib
import re
import shlex
import subprocess
import sys

test, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
head, *rest = re.split(r"^//--- (.+)\n", test.read_text(), flags=re.M)
sections = dict(zip(rest[::2], rest[1::2]))
for name, text in sections.items():
    if name.endswith(".nap"):
        (folder / name).write_text(text)

failed = False
for name in [n for n in sections if n.endswith(".nap") and not n.startswith("part-")]:
    flags = re.match(r"// flags: (.*)\n", sections[name])
    command = ["emit-graph", name, "--kinds", "--summary"]
    command += shlex.split(flags[1]) if flags else []
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    said = run.stderr + "\n"
    expected = name[:-4] + ".expected"
    if run.returncode != 1 or "--write" in sys.argv:
        print(f"{name}: ended with {run.returncode}")
        failed |= run.returncode != 1
    if said.strip() != sections.get(expected, "").strip():
        failed = True
        old = sections.get(expected, "").strip().splitlines()
        print(*difflib.unified_diff(old, said.strip().splitlines(), expected, "said", lineterm=""),
              sep="\n")
    sections[expected] = said
if "--write" in sys.argv:
    names = [n for n in sections if n.endswith(".nap")]
    order = [m for n in names for m in ([n, n[:-4] + ".expected"] if not n.startswith("part-") else [n])]
    test.write_text(head + "".join(f"//--- {n}\n{sections[n]}" for n in order))
sys.exit(failed)
