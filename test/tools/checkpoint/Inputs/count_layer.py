"""Bytes that one more layer of GPT-2 leaves for the backward pass, beside Korthikanti et al. 2022, equations 1, 2 and table 2, of which
s, b, h and a are the sequence, the batch, the width and the heads.

count_layer.py NAPKIN MODEL. What they leave out is counted to the byte too: in f32 the mean and the deviation of each row of both norms,
the largest score and the sum of each row of attention, and the weights and biases of both norms, which the update reads after the norm.
"""
import json
import subprocess
import sys

napkin, model = sys.argv[1:]
FLAGS = ["--precision=pure(bf16)", "--store-masks", "--fuse-recompute=off", "--disable-pass=nap-recognize", "--accumulate=1", "--clip-norm=none",
         "--threads=1", "--json"]


def saved(layers, s, b, h, a):
    """Saved bytes by strategy."""
    sizes = dict(layers=layers, heads=a, d=h, context=s, seq=s, batch=b, vocab=67)
    words = [word for name, value in sizes.items() for word in ("-D", f"{name}={value}")]
    run = subprocess.run([napkin, "plan", model, *words, *FLAGS], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return {row["strategy"]: row["saved_bytes"] for row in json.loads(run.stdout)["strategies"]}


failures, layers = [], 0
for s, b, h, a in ((48, 2, 64, 4), (32, 3, 64, 2), (48, 2, 128, 4)):
    few, more = saved(2, s, b, h, a), saved(3, s, b, h, a)
    norms, scores = 2 * 2 * 4 * s * b + 2 * 2 * 4 * h, 2 * 4 * a * s * b
    wanted = {"none": 34 * s * b * h + 5 * a * s * s * b + norms + scores, "selective": 34 * s * b * h + norms, "blocks": 2 * s * b * h}
    for strategy, bytes in wanted.items():
        layers += 1
        if more[strategy] - few[strategy] != bytes:
            failures.append(f"{strategy} at s={s} b={b} h={h} a={a}: a layer saves {more[strategy] - few[strategy]} bytes, {bytes} are wanted")
print("\n".join(failures) or f"{layers} layers to the byte")
sys.exit(bool(failures))
