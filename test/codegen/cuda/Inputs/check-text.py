"""CUDA text as a reader wants it: above each kernel stand its name with the lines of the model that it is of, the types of its
operands, how often and on what grid it is launched and what a launch costs, and what it asks for. Argument: the text."""
import re
import sys

lines = open(sys.argv[1]).read().splitlines()
kernels = launches = 0
for number, line in enumerate(lines):
    if not line.startswith('extern "C" __global__'):
        continue
    comments = []
    for above in reversed(lines[:number]):
        if not above.startswith("// "):
            break
        comments.insert(0, above)
    name = re.match(r"void (\w+)\(", lines[number + 1]).group(1)
    is_second = name.endswith("__sum")
    # What fills states with zeros is of no line.
    wanted = [r"// (fill\w*  \(\)|[a-z][\w.]*  \([^()]*\.nap:\d[^()]*\))" + (", its second grid" if is_second else ""),
              r"// .*-> [a-z]+\d*\[.*\]",
              r"// \d+ x \d+ threads" if is_second else
              r"// (\d+) launch(es)? of \d+ x \d+ threads, each \S+ MFLOP, \S+ MB, \S+ FLOP/byte"]
    for comment, pattern in zip(comments, wanted):
        if not re.match(pattern, comment):
            sys.exit(f"{name}: '{comment}' does not match {pattern}")
    if len(comments) < 4 or not comments[-1].startswith("// asks memory for "):
        sys.exit(f"{name}: what it asks for is missing: {comments}")
    if re.match(r"(k|kernel)?_?\d*__", name):
        sys.exit(f"{name} is no name")
    kernels += not is_second
    launches += 0 if is_second else int(re.match(wanted[2], comments[2]).group(1))
print(f"{kernels} kernels for {launches} launches")
