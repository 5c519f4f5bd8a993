"""Fails when a kind of error is exercised by no test.

covered.py ROOT PREFIX...: every id of the tables frontend/**/Errors.def that begins with a PREFIX
stands as [id] in the expected output of some test below test/.
"""
import pathlib
import re
import sys

root, prefixes = pathlib.Path(sys.argv[1]), tuple(sys.argv[2:])
tables = sorted(root.glob("frontend/**/Errors.def"))
ids = re.findall(r'NAPKIN_ERROR\(\w+,\s*"([\w.-]+)"', "".join(t.read_text() for t in tables))
repeated = sorted({name for name in ids if ids.count(name) > 1})
expected = "\n".join(
    line for path in sorted(root.glob("test/**/*")) if path.suffix in (".nap", ".test", ".mlir")
    for line in path.read_text(errors="replace").splitlines())
missing = [name for name in ids if name.startswith(prefixes) and f"[{name}]" not in expected]
print(*[f"{name}: no test exercises it" for name in missing], sep="\n")
print(*[f"{name}: stands twice in the table" for name in repeated], sep="\n")
sys.exit(bool(missing or repeated or not ids))
