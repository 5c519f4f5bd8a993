"""Holds initial values to their distributions: check.py MODEL.safetensors of initialisers.nap after a step of rate 0.

The largest distance between the distribution of n values and what is wanted stays below 1.63 / sqrt(n) in 99 of 100 draws
(Kolmogorov and Smirnov); the seed is fixed. No two parameters share draws, and rows of orthogonal ones are orthonormal.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import safetensors  # noqa: E402


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal(mean, std):
    return lambda x: phi((x - mean) / std)


def uniform(bound):
    return lambda x: min(max((x / bound + 1) / 2, 0.0), 1.0)


def truncated(mean, std, low, high):
    def distribution(x):
        z = min(max((x - mean) / std, low), high)
        return (phi(z) - phi(low)) / (phi(high) - phi(low))
    return distribution


# Fans of [61, 83]: 83 in, 61 out; of [16, 8, 5, 5]: 8 * 25 in.
WANTED = {
    "normal": normal(0, 1),
    "shifted": normal(3, 0.25),
    "uniform": uniform(2),
    "truncated": truncated(1, 0.5, -2, 2),
    "narrow": truncated(0, 1, -0.5, 1.5),
    "xavier_uniform": uniform(math.sqrt(6 / 144)),
    "xavier_normal": normal(0, 2 * math.sqrt(2 / 144)),
    "kaiming_uniform": uniform(math.sqrt(2) * math.sqrt(3 / 83)),
    "kaiming_normal": normal(0, math.sqrt(2 / 83)),
    "kaiming_out": normal(0, math.sqrt(2 / 61)),
    "convolution": normal(0, math.sqrt(2 / 200)),
}
GAINS = {"wide": 1, "tall": 3}
failures = []
tensors = {name: tensor for name, tensor in safetensors.read(pathlib.Path(sys.argv[1])).items() if name != "__metadata__"}
for name, value in (("zeros", 0), ("ones", 1)):
    if set(tensors[name][2]) != {value}:
        failures.append(f"{name}: has other values than {value}")
for name, distribution in WANTED.items():
    values = sorted(tensors[name][2])
    n = len(values)
    worst = max(max(abs(distribution(x) - i / n), abs(distribution(x) - (i + 1) / n)) for i, x in enumerate(values))
    if worst > 1.63 / math.sqrt(n):
        failures.append(f"{name}: its distribution is {worst:.4f} off, {1.63 / math.sqrt(n):.4f} is allowed")
for name, gain in GAINS.items():
    _, (rows, columns), values = tensors[name]
    matrix = [values[i * columns:(i + 1) * columns] for i in range(rows)]
    short = matrix if rows <= columns else list(zip(*matrix))
    for i, a in enumerate(short):
        for j, b in enumerate(short[:i + 1]):
            found = sum(x * y for x, y in zip(a, b))
            if abs(found - gain * gain * (i == j)) > 1e-4 * gain * gain:
                failures.append(f"{name}: rows {i} and {j} have the product {found}")
draws = {name: tuple(tensors[name][2][:8]) for name in WANTED}
ranks = {name: tuple(sorted(range(8), key=lambda i: values[i])) for name, values in draws.items()}
if len(set(ranks.values())) != len(ranks):
    failures.append("two parameters have the same draws")
print("\n".join(failures) or f"{len(tensors)} initialisers")
sys.exit(bool(failures))
