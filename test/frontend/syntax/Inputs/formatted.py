"""Fails when a model file that ships is not in the canonical layout."""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
files = sorted(root.glob("examples/**/*.nap")) + sorted(root.glob("frontend/prelude/*.nap"))
wrong = []
for path in files:
    command = ["parse-test", "--format", str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode or result.stdout != path.read_text():
        wrong.append(f"{path.relative_to(root)}: run napkin fmt on it\n{result.stdout[-400:]}")
print(*wrong, sep="\n")
sys.exit(bool(wrong) or not files)
