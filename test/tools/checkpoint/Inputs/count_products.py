"""Counts the products that each strategy runs again, in models whose counts are known by hand.

count_products.py NAPKIN FOLDER-OF-MODELS
"""
import json
import math
import subprocess
import sys

napkin, folder = sys.argv[1:]
failures = []


def report(model, strategy, *flags):
    run = subprocess.run([napkin, "report", f"{folder}/{model}.nap", "--json", f"--checkpoint={strategy}", *flags],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["rows"][-1]


def again(model, strategy, *flags):
    return report(model, strategy, *flags)["hw_flops"] - report(model, "none", *flags)["hw_flops"]


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found} FLOPs run again, wanted {wanted}")


# A block's first product gives what its backward pass reads, both of them give the next block's input.
product = 2 * 8 * 32 * 32
for layers in (1, 2, 3, 4, 5, 7):
    flags = ("-D", f"layers={layers}")
    expect(f"blocks, {layers}", again("chain", "blocks", *flags), (layers - 1) * product)
    # Before block k's first product, both of each of the k blocks before it: L (L - 1) / 2 blocks, of which each
    # last one is half a block.
    earlier = (layers - 1) * (layers - 2) // 2
    expect(f"minimal, {layers}", again("chain", "minimal", *flags), (2 * earlier + layers - 1) * product)
    stride = math.isqrt(layers - 1) + 1
    segments = (layers - 1) // stride
    expect(f"sqrt, {layers}", again("chain", "sqrt", *flags), segments * (2 * stride - 1) * product)
    expect(f"selective, {layers}", again("chain", "selective", *flags), 0)

# The scores of every layer, and nothing else: their bytes, and those of their softmax, are not saved.
flags = ("--disable-pass=nap-recognize",)
scores = 3 * 2 * (2 * 16 * 16 * 24)
expect("selective", again("cores", "selective", *flags), scores)
saved = [report("cores", strategy, *flags)["memory"]["saved_at_loss"] for strategy in ("none", "selective")]
saved = saved[0] - saved[1]
if saved < 3 * 2 * 16 * 16 * 4:
    failures.append(f"selective: saves {saved} bytes, less than one tensor of scores a layer")

print(*failures or ["every product is counted"], sep="\n")
sys.exit(bool(failures))
