"""Plans problems of a folder at parts of their peaks and has each schedule checked: at_part_of_peak.py FOLDER NAME=PART...
Prints what is added."""
import pathlib
import subprocess
import sys


def plan(*words):
    return subprocess.run(["napkin-plan", *words], capture_output=True, text=True, check=True).stdout


folder = pathlib.Path(sys.argv[1])
for word in sys.argv[2:]:
    name, part = word.split("=")
    problem, schedule = str(folder / f"{name}.json"), str(folder / "schedule.json")
    row = dict(zip(*(line.split() for line in plan(problem, f"--memory={1 << 60}").splitlines()[:2])))
    budget = int(int(row["PEAK"]) * float(part))
    plan(problem, f"--memory={budget}", "--solution", schedule)
    verdict = plan(problem, f"--memory={budget}", "--check", schedule).strip()
    print(f"{name} at {part}: {verdict.split(', ')[-1].removesuffix(' added')}")
