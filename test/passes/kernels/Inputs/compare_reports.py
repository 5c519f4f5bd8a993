"""Fails unless the second report has at most a fourth of the first one's kernels and half of its bytes, the same
contractions, and in each report the classes of memory add up."""
import re
import sys

SCALE = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


def read(path):
    text = open(path).read()
    row = next(line for line in text.splitlines() if line.startswith("now"))
    ops = int(row.split()[1])
    table = {name.strip(): float(mib) for name, mib in re.findall(r"^  ([a-z= ,]+?) {2,}([\d.-]+) +[\d.-]+ +[\d.]+$", text, re.M)}
    parts = ["= state", "saved activations at the peak", "temporaries at the peak", "padding and fragmentation"]
    total = table.get("= arena", table.get("= peak"))
    assert abs(sum(table.get(part, 0) for part in parts) - total) < 0.003, table
    state = ["parameters", "buffers", "optimizer state", "gradients, accumulated", "inputs and scalars"]
    assert abs(sum(table.get(part, 0) for part in state) - table["= state"]) < 0.003, table
    # pass, ops, model, products, vec and cmp, trn, least bytes, planned bytes
    fields = [re.fullmatch(r"([\d.]+)([kMG]?)", field) for field in row.split()[3:8]]
    scaled = [float(field[1]) * SCALE[field[2]] for field in fields]
    return ops, scaled[0], scaled[-1]


single, fused = read(sys.argv[1]), read(sys.argv[2])
assert fused[0] * 4 <= single[0] + single[0] // 10, (single, fused)
assert fused[1] == single[1], (single, fused)
assert fused[2] * 2 < single[2], (single, fused)
