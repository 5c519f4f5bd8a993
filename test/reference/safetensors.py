"""Reads and writes safetensors with Python's standard library alone.

A tensor is (dtype, shape, values): dtype one of F64 F32 I64 I32 U8, values a flat row-major list.
"""
import array
import json
import pathlib
import struct
import sys

CODES = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B"}
assert sys.byteorder == "little", "safetensors is little-endian and so must be this machine"


def read(path):
    """{name: (dtype, shape, values)} in the file's order, and the metadata under '__metadata__'."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            tensors[name] = entry
            continue
        first, last = entry["data_offsets"]
        values = array.array(CODES[entry["dtype"]], data[8 + size + first:8 + size + last])
        tensors[name] = (entry["dtype"], entry["shape"], values)
    return tensors


def write(path, tensors, metadata=None):
    """Writes {name: (dtype, shape, values)} in the given order."""
    header = {"__metadata__": metadata} if metadata else {}
    chunks, offset = [], 0
    for name, (dtype, shape, values) in tensors.items():
        chunk = array.array(CODES[dtype], values).tobytes()
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [offset, offset + len(chunk)]}
        chunks.append(chunk)
        offset += len(chunk)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(chunks))
