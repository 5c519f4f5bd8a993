"""An audit's file against its table: check.py AUDIT.json AUDIT.txt."""
import json
import sys

audit = json.load(open(sys.argv[1]))
table = open(sys.argv[2]).read().splitlines()
assert audit["format"] == "napkin-audit" and audit["version"] == 1 and audit["steps"] == 4
assert max(map(len, table)) <= 120, max(table, key=len)
for figure in audit["figures"]:
    line = next(line for line in table if line.startswith(figure["name"] + " "))
    assert (figure["measured"] is None) == ("not measured: " in line), line
    assert (figure["measured"] is None) == (figure["not_measured"] is not None), figure
    assert figure["not_measured"] is None or figure["not_measured"] in line, line
kernels = audit["kernels"]
seconds = sum(kernel["seconds"] for kernel in kernels)
whole = next(figure for figure in audit["figures"] if figure["name"].startswith("time of the kernels"))
assert abs(seconds - whole["measured"]) <= 1e-12, (seconds, whole)
assert seconds <= audit["step_seconds"]
print(f"{len(audit['figures'])} figures, {len(kernels)} kernels agree")
