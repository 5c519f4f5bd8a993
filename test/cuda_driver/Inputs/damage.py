"""Writes damaged copies of an executable: a bit flipped in its CUDA code, its end cut off, a part taken out of its middle."""
import pathlib
import sys

whole = pathlib.Path(sys.argv[1]).read_bytes()
folder = pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)
flipped = bytearray(whole)
flipped[-2000] ^= 4
for name, content in (("flipped", flipped), ("cut", whole[:-30]), ("shorter", whole[:-5000] + whole[-4000:])):
    path = folder / name
    path.write_bytes(content)
    path.chmod(0o755)
