"""Runs every command of a transcript and compares what it says, to the letter.

sentences.py TOY-TRAIN FOLDER TRANSCRIPT [--update]. A transcript is lines "$ ARGUMENTS", each
followed by the lines of standard error and standard output and a line "= STATUS"; a line "% LINE" is
Python that prepares the next ones. Both run in FOLDER, so that paths are short. `--update` writes
what was said into the transcript.
"""
import shlex
import subprocess
import sys

tool, folder, transcript = sys.argv[1:4]
lines = open(transcript).read().splitlines()
head = [line for line in lines[: next(i for i, line in enumerate(lines) if line.startswith("$"))]]
said, wanted = list(head), lines
for line in lines:
    if line.startswith("% "):
        subprocess.run([sys.executable, "-c", line[2:]], cwd=folder, check=True)
        said.append(line)
        continue
    if not line.startswith("$ "):
        if line == "" or line.startswith("#"):
            if len(said) > len(head):
                said.append(line)
        continue
    run = subprocess.run([tool, *shlex.split(line[2:])], cwd=folder, capture_output=True,
                         text=True, timeout=60)
    said += [line, *(run.stderr + run.stdout).splitlines(), f"= {run.returncode}"]
if "--update" in sys.argv:
    open(transcript, "w").write("\n".join(said) + "\n")
    sys.exit(0)
if said != wanted:
    for a, b in zip(said, wanted):
        if a != b:
            sys.exit(f"wanted: {b}\n  said: {a}")
    sys.exit(f"{len(wanted)} lines wanted and {len(said)} said")
print(f"{sum(line.startswith('$') for line in lines)} commands")
