"""Writes allocation problems of several shapes and sizes to a folder: write_allocations.py FOLDER [COUNT ...]

  cuts       a full rectangle of 2^20 bytes, parted by straight cuts again and again: the optimum is 2^20
  pinwheels  the same, where every other part is made of five pieces around a middle one, which no straight cut parts
  training   a training step: what the forward pass saves lives until the backward pass comes back to it, beside short-lived
             tensors of both; no placement is below the largest live sum, and how near one comes is not known
  again      the same, with the inside of each block computed again when the backward pass reaches it

Buffers stand in a random order that is the same everywhere.
"""

import random
import sys

HEIGHT = 1 << 20


def cut(rng, piece):
    """Two pieces, or none where the piece is too small."""
    lower, upper, bottom, top = piece
    if rng.random() < 0.5:
        if upper - lower < 2:
            return None
        at = lower + 1 + int(rng.random() * (upper - lower - 1))
        return [(lower, at, bottom, top), (at, upper, bottom, top)]
    if top - bottom < 2:
        return None
    at = bottom + 1 + int(rng.random() * (top - bottom - 1))
    return [(lower, upper, bottom, at), (lower, upper, at, top)]


def pinwheel(rng, piece):
    """Four pieces around a fifth."""
    lower, upper, bottom, top = piece
    if upper - lower < 3 or top - bottom < 3:
        return None
    a = lower + 1 + int(rng.random() * (upper - lower - 2))
    b = a + 1 + int(rng.random() * (upper - a - 1))
    c = bottom + 1 + int(rng.random() * (top - bottom - 2))
    d = c + 1 + int(rng.random() * (top - c - 1))
    return [(lower, b, bottom, c), (b, upper, bottom, d), (a, upper, d, top), (lower, a, c, top), (a, b, c, d)]


def part(rng, count, has_pinwheels):
    pieces = [(0, 4 * count, 0, HEIGHT)]
    while len(pieces) < count:
        # The larger of two, so that few are tiny.
        picks = [int(rng.random() * len(pieces)) for _ in range(2)]
        pick = max(picks, key=lambda i: (pieces[i][1] - pieces[i][0]) * (pieces[i][3] - pieces[i][2]))
        is_pinwheel = has_pinwheels and rng.random() < 0.5
        parts = (pinwheel if is_pinwheel else cut)(rng, pieces[pick])
        if parts:
            pieces[pick] = parts[0]
            pieces.extend(parts[1:])
    return [(lower, upper, top - bottom) for lower, upper, bottom, top in pieces]


def train(rng, count, again):
    """Blocks of eight ops; each saves some results and has short-lived ones, forwards and backwards."""
    ops = 8
    blocks = max(1, count // (5 * ops if again else 3 * ops))
    kinds = [256 * (1 + int(rng.random() ** 3 * 4000)) for _ in range(ops)]
    saves = [rng.random() < 0.6 for _ in range(ops)]
    steps_forward = blocks * ops
    steps_back = 2 * ops if again else ops
    buffers = []
    for block in range(blocks):
        back = steps_forward + (blocks - 1 - block) * steps_back
        buffers.append((block * ops, back + steps_back, kinds[0]))
        for op in range(ops):
            size, step = kinds[op], block * ops + op
            short = 1 + int(rng.random() * 3)
            read = back + steps_back - op
            if saves[op] and not again:
                buffers.append((step, read, size))
            else:
                buffers.append((step, min(step + short, steps_forward), size))
            if again:
                buffers.append((back + op, read if saves[op] else back + op + short, size))
            buffers.append((read - 1, read - 1 + 1 + int(rng.random() * 2), size))
            buffers.append((read - 1, read, 256 * (1 + int(rng.random() * 64))))
    return buffers


def write(path, buffers, rng):
    buffers = [buffers[i] for _, i in sorted((rng.random(), i) for i in range(len(buffers)))]
    with open(path, "w") as file:
        file.write("id,lower,upper,size\n")
        for number, (lower, upper, size) in enumerate(buffers):
            file.write(f"{number},{lower},{upper},{size}\n")


def main():
    folder, counts = sys.argv[1], [int(word) for word in sys.argv[2:]] or [50, 200, 1000, 5000, 50000]
    for count in counts:
        for shape in ("cuts", "pinwheels", "training", "again"):
            rng = random.Random(f"{shape} {count}")
            if shape in ("cuts", "pinwheels"):
                buffers = part(rng, count, shape == "pinwheels")
            else:
                buffers = train(rng, count, shape == "again")
            write(f"{folder}/{shape}-{count}.csv", buffers, rng)


main()
