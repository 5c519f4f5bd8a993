"""Damages good files in many ways: the runtime must end with a status of its own, never by a signal.

mutations.py TOY-TRAIN FOLDER COUNT. Each damaged file that is refused must cost exactly one line.
"""
import pathlib
import random
import subprocess
import sys

tool, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
GOOD = {
    "x.npy": ["linear", "--data", "x=DAMAGED", "--data", "y.npy"],
    "stored.npz": ["linear", "--data", "DAMAGED"],
    "deflated.npz": ["linear", "--data", "DAMAGED"],
    "xy.safetensors": ["linear", "--data", "DAMAGED"],
    "weights-extra.safetensors": ["linear", "--data", "x.npy", "--data", "y.npy", "--init", "DAMAGED"],
    "shard_0.bin": ["bigram", "--data", "DAMAGED"],
}
INTERESTING = [0, 1, 0x7F, 0x80, 0xFF, ord("["), ord("{"), ord('"'), ord("9"), ord("-"), ord("(")]


def damage(data, random):
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8])):
        kind = random.randrange(5)
        # Headers are where the damage is interesting: mostly near the two ends.
        where = min(int(random.expovariate(1 / 80)), len(data) - 1)
        if random.randrange(3) == 0:
            where = len(data) - 1 - where
        if kind == 0:
            data[where] = random.choice(INTERESTING)
        elif kind == 1:
            data[where] ^= 1 << random.randrange(8)
        elif kind == 2:
            data[where:where + 8] = random.choice([b"\xff" * 8, b"\0" * 8, b"99999999"])
        elif kind == 3:
            del data[where:where + random.randrange(1, 40)]
        else:
            data[where:where] = data[where // 2:where // 2 + random.randrange(1, 40)]
        data = data or bytearray(b"\0")
    return bytes(data)


random = random.Random(7)
for number in range(count):
    name = sorted(GOOD)[number % len(GOOD)]
    damaged = f"damaged{number}{pathlib.Path(name).suffix}"
    (folder / damaged).write_bytes(damage((folder / name).read_bytes(), random))
    arguments = [part.replace("DAMAGED", damaged) for part in GOOD[name]]
    run = subprocess.run([tool, *arguments, "--steps", "12", "--quiet"], cwd=folder, timeout=120,
                         capture_output=True)
    lines = run.stderr.splitlines()
    skipped = [line for line in lines if b"was skipped" in line]
    if run.returncode not in (0, 1, 2, 4) or len(lines) - len(skipped) != (run.returncode != 0):
        sys.exit(f"{folder / damaged}: status {run.returncode}, said {run.stderr.decode()}")
    (folder / damaged).unlink()
print(count, "files")
