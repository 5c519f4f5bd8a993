"""Runs a command for each case of a file and compares its exit status and what it says. A case is three lines: the
settings of the environment, the wanted error, in which # is any number and ... any text, "= STATUS". The library of the substitute, whose name is in GPU_LIBRARY, is
written <library> in what is wanted."""
import os
import re
import shlex
import subprocess
import sys

library = os.environ["GPU_LIBRARY"]
path, _, *command = sys.argv[1:]
with open(path) as file:
    lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
wrong = 0
for settings, wanted, status in zip(lines[0::3], lines[1::3], lines[2::3]):
    own = {"NAPKIN_CUDA_DRIVER": library, "NAPKIN_NVRTC": library, "NAPKIN_CUBLASLT": library}
    more = []
    for word in shlex.split(settings.removeprefix("$")):
        if word.startswith("--"):
            more.append(word)
        else:
            name, value = word.split("=", 1)
            own[name] = value
    run = subprocess.run(command + more, env={**os.environ, **own}, text=True, capture_output=True, timeout=120)
    said = run.stderr.replace(library, "<library>").strip()
    pattern = re.escape("napkin: error: " + wanted).replace(r"\#", "[0-9]+").replace(r"\.\.\.", ".*")
    if not re.fullmatch(pattern, said) or f"= {run.returncode}" != status:
        print(f"{settings}\n  said   {said} = {run.returncode}\n  wanted napkin: error: {wanted} {status}")
        wrong += 1
if wrong or not lines:
    sys.exit(f"{wrong} of {len(lines) // 3} answers are told wrongly")
print(len(lines) // 3, "answers, each with its sentence")
