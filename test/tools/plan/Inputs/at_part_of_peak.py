"""Plans problems of a folder at parts of their peaks and has each schedule checked; prints what is
added: at_part_of_peak.py FOLDER NAME=PART... [FLAG...]. The flags are those of the planning."""
import pathlib
import subprocess
import sys


def plan(*words):
    return subprocess.run(["napkin-plan", *words], capture_output=True, text=True, check=True).stdout


folder = pathlib.Path(sys.argv[1])
flags = [word for word in sys.argv[2:] if word.startswith("--")]
for word in sys.argv[2:]:
    if word in flags:
        continue
    name, part = word.split("=")
    problem, schedule = str(folder / f"{name}.json"), str(folder / "schedule.json")
    row = dict(zip(*(line.split() for line in plan(problem, f"--memory={1 << 60}").splitlines()[:2])))
    budget = int(int(row["PEAK"]) * float(part))
    plan(problem, f"--memory={budget}", "--solution", schedule, *flags)
    verdict = plan(problem, f"--memory={budget}", "--check", schedule).strip()
    print(f"{name} at {part}: {verdict.split(', ')[-1].removesuffix(' added')}")
