"""Compares a table of `--emit=resources` with a golden one: nothing spills, shared memory is the same, and no kernel takes
more than 8 registers more. Arguments: the table, the golden table."""
import sys


def rowsOf(path):
    with open(path) as file:
        rows = [line.split() for line in file][1:]
    # What follows are threads and occupancy, which registers and shared memory imply.
    return {name: tuple(map(int, numbers[:3])) for name, *numbers in rows}


found, golden = rowsOf(sys.argv[1]), rowsOf(sys.argv[2])
if found.keys() != golden.keys():
    sys.exit(f"kernels differ: {sorted(found.keys() ^ golden.keys())}")
for name, (registers, spills, shared) in found.items():
    most, _, wanted = golden[name]
    if spills or shared != wanted or registers > most + 8:
        sys.exit(f"{name}: {registers} registers, {spills} bytes of spills, {shared} of shared memory; "
                 f"golden: {most}, 0, {wanted}")
print(len(found), "kernels, no spills")
