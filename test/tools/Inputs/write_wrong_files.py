"""Writes the files that wrong-commands.txt and wrong-data.txt speak of into a folder: small.nap, its data, and bad forms of both."""
import os
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
os.chdir(folder)

SMALL = """model small(features = 3, lr: f32[] = 0.1) {
  dim batch = 5
  input x : [batch, features]
  input labels : i32[batch]
  logits = linear(x, 2)
  loss = cross_entropy(logits, labels)
  metric accuracy = accuracy(logits, labels)
  output logits
  train {
    optimizer = adamw(lr = lr)
    steps = 4
  }
}
"""


def write_npy(path, dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + data)


def floats(count, change={}):
    return struct.pack(f"<{count}f", *[change.get(i, i % 7 / 7) for i in range(count)])


pathlib.Path("small.nap").write_text(SMALL)
pathlib.Path("bare").write_text(SMALL)
pathlib.Path("taken.nap").write_text(SMALL)
pathlib.Path("taken").mkdir()
pathlib.Path("loop").symlink_to("loop")
pathlib.Path("library.nap").write_text("fn twice(x) {\n  return 2 * x\n}\n")
pathlib.Path("uses.nap").write_text('use twice from "library.nap"\n' + SMALL.replace("linear(x, 2)", "twice(linear(x, 2))"))
pathlib.Path("typo.nap").write_text(SMALL.replace("linear(x, 2)", "linaer(x, 2)"))
pathlib.Path("empty.nap").write_text("")
pathlib.Path("bytes.nap").write_bytes(b"model small(\xff\xfe) {}\n")
pathlib.Path("untrained.nap").write_text(SMALL[:SMALL.index("  train {")].replace("  loss =", "  output score =") + "}\n")
pathlib.Path("folder.nap").mkdir()
pathlib.Path("folder").mkdir()
pathlib.Path("file").write_text("not a folder\n")
pathlib.Path("readonly").mkdir()
write_npy("x.npy", "<f4", [20, 3], floats(60))
write_npy("x-wide.npy", "<f4", [20, 4], floats(80))
write_npy("x-few.npy", "<f4", [4, 3], floats(12))
write_npy("x-more.npy", "<f4", [25, 3], floats(75))
write_npy("x-double.npy", "<f8", [20, 3], struct.pack("<60d", *range(60)))
write_npy("x-nan.npy", "<f4", [20, 3], floats(60, {31: float("nan")}))
write_npy("x-all-nan.npy", "<f4", [20, 3], floats(60, {i: float("nan") for i in range(60)}))
write_npy("x-flat.npy", "<f4", [60], floats(60))
write_npy("labels.npy", "<i4", [20], struct.pack("<20i", *[i % 2 for i in range(20)]))
write_npy("labels-float.npy", "<f4", [20], floats(20))
write_npy("labels-wide.npy", "<i4", [20], struct.pack("<20i", *[2 if i == 13 else i % 2 for i in range(20)]))
write_npy("labels-long.npy", "<i8", [20], struct.pack("<20q", *[i % 2 for i in range(20)]))
write_npy("labels-few.npy", "<i4", [4], struct.pack("<4i", 0, 1, 0, 1))
pathlib.Path("x-cut.npy").write_bytes(pathlib.Path("x.npy").read_bytes()[:200])
pathlib.Path("empty.npy").write_bytes(b"")
