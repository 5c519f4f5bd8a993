"""Law L1 for one example model: the memory that was predicted is the memory that is asked for, before the first step ends,
and from the second step on no thread asks for any.

memory.py MODEL FOLDER INTERPOSER FORM...: a form is an executable in FOLDER beside its data, or `compiler`: the process of
`napkin train`. The interposer sees calls from outside (interpose.c).
"""
import json
import pathlib
import subprocess
import sys

import models

model = models.MODELS[sys.argv[1]]
root, interposer = pathlib.Path(sys.argv[2]), sys.argv[3]
data = models.data_flags(model, root)
failures = []
runs = 0


def measure(command, threads, steps):
    """What the interposer saw, by kind."""
    log = root / "interposed"
    log.unlink(missing_ok=True)
    models.call(*command, *data, "--quiet", "--threads", threads, "--steps", steps, "--log", root / "memory.jsonl",
                LD_PRELOAD=interposer, INTERPOSE_LOG=str(log))
    seen = {"allocations": [], "largest": [], "map": [], "step": []}
    for line in log.read_text().splitlines():
        kind, number = line.split()
        seen[kind].append(int(number))
    return seen


def predicted(program, threads):
    """Every offset is a multiple of 256 bytes and so is the sum, which the runtime asks for to the byte. The kernel gives
    whole pages: what the process holds is this, rounded up once to 4096."""
    return program["arena_bytes"] + threads * program["scratch_bytes_per_worker"]


def check(name, command, program):
    global runs
    for threads in (1, 3):
        few, many = measure(command, threads, 3), measure(command, threads, 30)
        runs += 2
        peak = predicted(program, threads)
        place = f"{name}, {threads} workers"
        for seen, steps in ((few, 3), (many, 30)):
            if seen["map"].count(peak) != 1:
                failures.append(f"{place}: {peak} bytes were predicted and {seen['map']} mapped")
            if len(seen["step"]) != steps or len(set(seen["step"])) != 1:
                failures.append(f"{place}: allocations after each step: {seen['step']}")
        if few["allocations"] != many["allocations"]:
            failures.append(f"{place}: {few['allocations']} allocations in 3 steps, {many['allocations']} in 30")
        # Beside it there is the code of the kernels, and small things.
        others = [size for size in few["map"] if size != peak]
        most = pathlib.Path(command[0]).stat().st_size
        if len(others) > 1 or sum(others) > most or few["largest"][0] > most:
            failures.append(f"{place}: also mapped {others}, and the largest allocation is {few['largest']}")


def check_compiler():
    """The passes allocate before the first step, nothing does from then on."""
    global runs
    flags = model.flags(model.micro_batches[-1])
    program = json.loads(models.call("napkin", "compile", *flags, "--emit=plan"))
    seen = measure(["napkin", "train", *flags], 2, 5)
    runs += 1
    if seen["map"].count(predicted(program, 2)) != 1 or len(set(seen["step"])) != 1 or len(seen["step"]) != 5:
        failures.append(f"in the compiler: {predicted(program, 2)} bytes were predicted; {seen}")


for form in sys.argv[4:]:
    if form == "compiler":
        check_compiler()
    else:
        check(form, [root / form], json.loads(models.call(root / form, "--program")))
print("\n".join(failures) or f"{runs} runs, each byte predicted")
sys.exit(1 if failures else 0)
