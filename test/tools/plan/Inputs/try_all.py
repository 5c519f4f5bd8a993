"""Calls napkin-plan on every file of a folder but `right.csv`, and checks what is in its folder
`solutions` against that; prints file, exit status and what it says."""
import os
import pathlib
import subprocess
import sys

os.chdir(sys.argv[1])
calls = [(path, [path]) for path in sorted(pathlib.Path().glob("*.csv")) if path.stem != "right"]
calls += [(path, ["right.csv", "--check", path]) for path in sorted(pathlib.Path().glob("*/*.csv"))]
for path, words in calls:
    done = subprocess.run(["napkin-plan", *words], capture_output=True, text=True)
    print(f"{path}: {done.returncode}: {(done.stdout + done.stderr).strip()}")
