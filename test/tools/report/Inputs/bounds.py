"""What bounds kernels, and how much more than the least bytes they move: bounds.py H100.json PROCESSOR.json TPU.json"""
import json
import sys

h100, processor, tpu = (json.load(open(path))["rows"][-1] for path in sys.argv[1:4])


def share(kernels):
    return sum(kernel["bytes_plan"] for kernel in kernels) / sum(kernel["bytes_min"] for kernel in kernels)


def products(row):
    return [kernel for kernel in row["kernels"] if kernel["name"].startswith("matmul") and ".h_" in kernel["name"]]


def bounds(kernels):
    return ", ".join(sorted({kernel["bound"] for kernel in kernels}))


print(f"products of the layer on h100: {bounds(products(h100))}, {share(products(h100)):.3f} of the least bytes")
print(f"updates on h100: {bounds([k for k in h100['kernels'] if k['name'].startswith('mul_add_sqrt_div')])}")
print(f"products of the layer on a processor: {share(products(processor)):.3f} of the least bytes")
print(f"whole step on tpu_v4: {share(tpu['kernels']):.3f} of the least bytes")
