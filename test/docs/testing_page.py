"""Runs what docs/testing.md shows: the test inside is a file of ours, the one outside passes against
an installed Napkin, and fails once its expectation is spoilt.

Usage: testing_page.py ROOT BUILD FOLDER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

root, build, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
page = (root / "docs/testing.md").read_text()
blocks = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def runOutside():
    home = folder / "home"
    done = subprocess.run(["sh", "-c", blocks["outside/run"]], cwd=folder / "outside",
                          env={"HOME": str(home), "PATH": os.environ["PATH"]},
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


for name in [name for name in blocks if name.startswith("inside/")]:
    ours = root / "test/docs" / pathlib.Path(name).name
    if blocks[name] != ours.read_text():
        sys.exit(f"docs/testing.md and {ours} differ")

shutil.rmtree(folder, ignore_errors=True)
for name, text in blocks.items():
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    lines = [line for line in text.splitlines() if line]
    if name.endswith(".mlir") and len(lines) > 12:
        sys.exit(f"{name} has {len(lines)} lines; the page promises ten or so")
subprocess.run(["cmake", "--install", build, "--prefix", folder / "home/napkin"], check=True,
               stdout=subprocess.DEVNULL)

code, output = runOutside()
if code or not re.search(r"^PASS: mine :: sum_of_one.mlir", output, re.MULTILINE):
    sys.exit(f"the test outside leaves with {code}\n{output}")
test = folder / "outside/sum_of_one.mlir"
test.write_text(test.read_text().replace("nap.reduce sum [[X]]", "nap.reduce max [[X]]"))
code, output = runOutside()
if not code or not re.search(r"^FAIL: mine :: sum_of_one.mlir", output, re.MULTILINE):
    sys.exit(f"the spoilt test outside leaves with {code}\n{output}")
print("as the page says")
