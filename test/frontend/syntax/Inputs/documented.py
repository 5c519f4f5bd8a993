"""Fails when a whole model, layer or optimizer in a page of docs/ does not parse.

documented.py PAGE: each block between ``` that begins with one of those words goes to parse-test.
"""
import re
import subprocess
import sys
import tempfile

blocks = re.findall(r"^```\n(.*?)^```$", open(sys.argv[1]).read(), re.M | re.S)
files = [block for block in blocks if re.match(r"(model|layer|fn|optimizer) \w+\(", block)]
wrong = 0
for text in files:
    with tempfile.NamedTemporaryFile("w", suffix=".nap") as file:
        file.write(text)
        file.flush()
        wrong += subprocess.run(["parse-test", file.name]).returncode != 0
        tidy = subprocess.run(["parse-test", "--format", file.name], capture_output=True, text=True)
        wrong += tidy.stdout != text
sys.exit(bool(wrong) or not files)
