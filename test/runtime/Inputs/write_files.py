"""Writes small files for the tests: write_files.py FOLDER. Only the standard library."""
import json
import pathlib
import random
import struct
import sys
import zipfile

root = pathlib.Path(sys.argv[1])
root.mkdir(parents=True, exist_ok=True)
CODES = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "<i2": "h", "|u1": "B", "<u2": "H"}


def npy(values, shape, code="<f4", version=1):
    """The bytes of a .npy file."""
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (code, sizes)
    text = text.encode()
    start = 10 if version == 1 else 12
    padded = -(-(start + len(text) + 1) // 64) * 64
    text += b" " * (padded - start - len(text) - 1) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    data = struct.pack("<%d%s" % (len(values), CODES[code]), *values)
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def safetensors(arrays):
    """The bytes of a .safetensors file; arrays: name -> (type, shape, bytes)."""
    header, data = {}, b""
    for name, (kind, shape, content) in arrays.items():
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def write(name, data):
    (root / name).write_bytes(data)


random.seed(1)
X = [random.uniform(-1, 1) for _ in range(300)]
Y = [X[3 * i] - 2 * X[3 * i + 1] + 0.5 * X[3 * i + 2] + 0.25 for i in range(100)]
write("x.npy", npy(X, (100, 3)))
write("y.npy", npy(Y, (100,)))
write("nan-x.npy", npy([float("nan") if i == 150 else X[i] for i in range(300)], (100, 3)))
write("x2.npy", npy(X, (100, 3), version=2))
write("x64.npy", npy(X, (100, 3), "<f8"))
write("y16.npy", npy([i % 7 for i in range(100)], (100,), "<i2"))
write("y99.npy", npy(Y[:99], (99,)))
write("wide.npy", npy(X, (75, 4)))
write("few-x.npy", npy(X[:9], (3, 3)))
write("few-y.npy", npy(Y[:3], (3,)))
write("big-endian.npy", npy(X, (100, 3)).replace(b"<f4", b">f4"))
write("fortran.npy", npy(X, (100, 3)).replace(b"False,", b"True, "))
write("pickle.npy", npy(X, (100, 3)).replace(b"'<f4'", b"'|O' "))
write("complex.npy", npy(X, (100, 3)).replace(b"<f4", b"<c8"))
write("short.npy", npy(X, (100, 3))[:900])
write("header.npy", npy(X, (100, 3))[:40])
write("version.npy", b"\x93NUMPY\x09\x00" + npy(X, (100, 3))[8:])
write("magic.npy", b"hello, world")
write("grammar.npy", npy(X, (100, 3)).replace(b"'shape'", b"'shopa'"))
write("negative.npy", npy(X, (100, 3)).replace(b"(100, 3)", b"(-10, 3)"))
write("huge.npy", npy(X, (10**17, 10**17)))

x_bytes, y_bytes = struct.pack("<300f", *X), struct.pack("<100f", *Y)
good = {"x": ("F32", [100, 3], x_bytes), "y": ("F32", [100], y_bytes)}
write("xy.safetensors", safetensors(good))
write("only-x.safetensors", safetensors({"x": good["x"]}))
write("cut.safetensors", safetensors(good)[:-4])
write("length.safetensors", struct.pack("<Q", 1 << 40) + b"{}")
write("beyond.safetensors", struct.pack("<Q", 1000) + b"{}")
write("tiny.safetensors", b"1234")
write("syntax.safetensors", struct.pack("<Q", 10) + b'{"x": [1, ')
write("list.safetensors", struct.pack("<Q", 2) + b"[]")
deep = b"[" * 100
write("deep.safetensors", struct.pack("<Q", len(deep)) + deep)
header = {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
          "y": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}
text = json.dumps(header).encode()
write("overlap.safetensors", struct.pack("<Q", len(text)) + text + bytes(12))
write("sizes.safetensors", safetensors({"x": ("F32", [5], bytes(8))}))
write("type.safetensors", safetensors({"x": ("F4", [4], bytes(2))}))
twice = b'{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},' \
        b'"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}'
write("twice.safetensors", struct.pack("<Q", len(twice)) + twice + b"ab")
weight = struct.pack("<3f", 1, -2, 0.5)
bias = struct.pack("<f", 0.25)
rows = struct.pack("<i", 4)
write("weights.safetensors", safetensors({
    "weight": ("F32", [3], weight), "bias": ("F32", [1], bias), "rows": ("I32", [], rows)}))
write("weights-extra.safetensors", safetensors({
    "weight": ("F32", [3], weight), "bias": ("F32", [1], bias), "mask": ("F32", [1], bias)}))
write("weights-f64.safetensors", safetensors({
    "weight": ("F64", [3], struct.pack("<3d", 1, -2, 0.5)), "bias": ("F32", [1], bias)}))
write("weights-wrong.safetensors", safetensors({
    "weight": ("F32", [1, 3], weight), "gain": ("F32", [1], bias)}))

for name, method in ("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(root / f"{name}.npz", "w", method) as archive:
        for array, content in ("x", npy(X, (100, 3))), ("y", npy(Y, (100,))):
            with archive.open(f"{array}.npy", "w", force_zip64=True) as member:
                member.write(content)
data = (root / "deflated.npz").read_bytes()
write("cut.npz", data[:-30])
at = data.find(b"PK\x03\x04") + 60
write("damaged.npz", data[:at] + bytes([data[at] ^ 255]) + data[at + 1:])
with zipfile.ZipFile(root / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("x.npy", npy([0.0] * 300, (100, 3)))
bomb = bytearray((root / "bomb.npz").read_bytes())
directory = bomb.find(b"PK\x01\x02")
bomb[directory + 24:directory + 28] = struct.pack("<I", 0xF0000000)
write("bomb.npz", bytes(bomb))
with zipfile.ZipFile(root / "lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
    archive.writestr("x.npy", npy(X, (100, 3)))

words = "the cat sat on the mat\na dog ran to the man\n" * 40
write("words.txt", words.encode())
write("few.txt", b"short")
ids = [b % 200 for b in words.encode()]
write("plain.bin", struct.pack("<%dH" % len(ids), *ids))
write("odd.bin", b"123")
head = struct.pack("<256i", 20240520, 1, len(ids), *[0] * 253)
write("shard_0.bin", head + struct.pack("<%dH" % len(ids), *ids))
write("shard_1.bin", head + struct.pack("<%dH" % len(ids), *ids))
write("large.bin", struct.pack("<100H", *([5] * 50 + [300] * 50)))
write("count.bin", struct.pack("<256i", 20240520, 1, 7, *[0] * 253) + bytes(20))
write("old.bin", struct.pack("<256i", 20240520, 2, 0, *[0] * 253))
write("wide.bin", struct.pack("<256i", 20240801, 7, 0, *[0] * 253))
write("tokens-i64.npy", npy([1] * 160, (20, 8), "<i8"))
write("targets-i64.npy", npy([2] * 159 + [1 << 40], (20, 8), "<i8"))
write("tokens-300.npy", npy([1] * 159 + [300], (20, 8), "<i4"))
write("targets.npy", npy([2] * 160, (20, 8), "<i4"))
write("tokens-f.npy", npy([1.0] * 160, (20, 8)))
