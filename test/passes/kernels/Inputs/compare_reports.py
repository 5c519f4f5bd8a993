"""Fails unless the second report has at most a fourth of the first one's kernels and half of its bytes, the same
contractions, and in each report the classes of memory add up."""
import re
import sys

SCALE = {"k": 1e3, "M": 1e6, "G": 1e9}


def read(path):
    text = open(path).read()
    row = next(line for line in text.splitlines() if line.startswith("now"))
    ops = int(row.split()[1])
    table = {name.strip(): float(mib) for name, mib in re.findall(r"^  ([a-z= ,]+?) {2,}([\d.-]+)$", text, re.M)}
    parts = ["= state", "saved activations at the peak", "temporaries at the peak", "padding and fragmentation"]
    total = table.get("= arena", table.get("= peak"))
    assert abs(sum(table.get(part, 0) for part in parts) - total) < 0.003, table
    state = ["parameters", "buffers", "optimizer state", "gradients, accumulated", "inputs and scalars"]
    assert abs(sum(table.get(part, 0) for part in state) - table["= state"]) < 0.003, table
    fields = re.split(r"\s{2,}", row)
    scaled = [re.fullmatch(r"([\d.]+) ([kMG])", f) for f in fields]
    scaled = [float(m[1]) * SCALE[m[2]] for m in scaled if m]
    return ops, scaled[0], scaled[-1]


single, fused = read(sys.argv[1]), read(sys.argv[2])
assert fused[0] * 4 <= single[0] + single[0] // 10, (single, fused)
assert fused[1] == single[1], (single, fused)
assert fused[2] * 2 < single[2], (single, fused)
