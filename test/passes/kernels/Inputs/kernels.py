"""Lists the launches of a function in the output of --emit=kernels: class and name; "copy" before what only moves elements.

kernels.py FILE.mlir FUNCTION
"""
import re
import sys

VIEWS = {"nap.permute", "nap.reshape", "nap.broadcast", "nap.slice"}
text = open(sys.argv[1]).read()
classes, ops = {}, {}
for definition in re.finditer(r"nap\.kernel_def +(\w+) @([\w.]+) .*?\n  }\n", text, re.DOTALL):
    body = definition[0].split("\n", 2)[1:]
    name = definition[2]
    classes[name] = definition[1]
    ops[name] = set(re.findall(r"(?:= |^ +)(nap\.\w+)", "\n".join(body), re.MULTILINE)) - {"nap.yield"}
function = re.search(rf"func\.func @{sys.argv[2]}\(.*?\n  }}\n", text, re.DOTALL)[0]
for name in re.findall(r"nap\.launch @([\w.]+)\(", function):
    print(*(["copy"] if ops[name] <= VIEWS else []), classes[name], name)
