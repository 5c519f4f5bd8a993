"""Compares tables of `--emit=resources` for several architectures with a golden one: no kernel spills, shared memory is the
same, and no kernel takes more than 8 registers more. Arguments: the tables, the golden table. With --write as a third the
golden table is made anew."""
import sys


def tables(path):
    """architecture -> kernel -> (registers, spilled bytes, bytes of shared memory)"""
    found = {}
    for line in open(path):
        words = line.split()
        if len(words) == 1:
            rows = found[words[0]] = {}
        elif words and words[0] != "kernel":
            # What follows are threads and occupancy, which registers and shared memory imply.
            rows[words[0]] = tuple(map(int, words[1:4]))
    return found


def write(found, path):
    """A line a kernel: registers and bytes of shared memory for each architecture."""
    names = list(found)
    width = max(len(kernel) for kernel in found[names[0]])
    with open(path, "w") as file:
        file.write("kernel".ljust(width) + "".join(name.rjust(13) for name in names) + "\n")
        for kernel in found[names[0]]:
            numbers = (found[name][kernel] for name in names)
            texts = (f"{registers}/{shared}" for registers, _, shared in numbers)
            file.write(kernel.ljust(width) + "".join(text.rjust(13) for text in texts) + "\n")


found = tables(sys.argv[1])
if sys.argv[3:] == ["--write"]:
    write(found, sys.argv[2])
head, *lines = (line.split() for line in open(sys.argv[2]))
if head[1:] != list(found):
    sys.exit(f"architectures: {', '.join(found)}; golden: {', '.join(head[1:])}")
golden = {name: numbers for name, *numbers in lines}
for place, (architecture, rows) in enumerate(found.items()):
    if rows.keys() != golden.keys():
        sys.exit(f"{architecture}: kernels differ: {sorted(rows.keys() ^ golden.keys())}")
    for name, (registers, spills, shared) in rows.items():
        most, wanted = map(int, golden[name][place].split("/"))
        if spills or shared != wanted or registers > most + 8:
            sys.exit(f"{architecture}, {name}: {registers} registers, {spills} bytes of spills, {shared} of shared memory; "
                     f"golden: {most}, 0, {wanted}")
print(len(golden), "kernels on", len(found), "architectures, no spills")
