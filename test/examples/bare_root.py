"""Runs an executable in a root folder that holds itself, the C library and its data, nothing else.

Usage: bare_root.py FOLDER EXECUTABLE [FILE...] -- ARGUMENT...
FOLDER becomes the root; FILEs are copied into it. Its standard output is passed on.
"""
import pathlib
import re
import shutil
import subprocess
import sys

# What Debian's libc6 brings, by the beginning of a file's name.
C_LIBRARY = ("ld-linux", "libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "linux-vdso")

split = sys.argv.index("--")
folder, executable, *files = sys.argv[1:split]
root = pathlib.Path(folder)
shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
for file in (executable, *files):
    shutil.copy(file, root / pathlib.Path(file).name)

needed = subprocess.run(["ldd", executable], check=True, capture_output=True, text=True).stdout
for line in needed.splitlines():
    path = re.search(r"(/\S+)", line)
    name = line.split()[0].rsplit("/", 1)[-1]
    if not name.startswith(C_LIBRARY):
        sys.exit(f"{executable} needs {line.strip()}, which is not the C library's")
    if path:
        target = root / path[1].lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path[1], target)

changeRoot = [shutil.which("unshare"), "-r", shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin")]
command = [*changeRoot, root, "/" + pathlib.Path(executable).name, *sys.argv[split + 1:]]
sys.exit(subprocess.run(command, env={}).returncode)
