"""Cuts the schedule of a problem at every byte and every step: each is refused.

cut_schedule.py PROBLEM SCRATCH-FILE
"""
import json
import pathlib
import subprocess
import sys

problem, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
whole = subprocess.run(["napkin-plan", problem, "--solution", "-"], capture_output=True, text=True, check=True).stdout
steps = json.loads(whole)["schedule"]
cuts = [whole[:length] for length in range(len(whole.rstrip()))]
cuts += [json.dumps({"schedule": steps[:count]}) for count in range(len(steps))]
accepted = []
for cut in cuts:
    scratch.write_text(cut)
    if subprocess.run(["napkin-plan", problem, "--check", scratch], capture_output=True).returncode != 1:
        accepted.append(cut)
print("accepted, or worse:", *accepted, sep="\n") if accepted else None
sys.exit(bool(accepted))
