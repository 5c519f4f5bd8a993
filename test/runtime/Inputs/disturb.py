"""Disturbs runs that save: disturb.py TOY-TRAIN FOLDER, which holds what write_files.py wrote.

A full disk, a kill at any moment, Ctrl-C once and twice, two runs in one folder, the same step saved
again: the folder always holds complete checkpoints and nothing half done, and a run goes on.
"""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

toy, folder = sys.argv[1:]
os.chdir(folder)
RUN = [toy, "linear", "--data", "x.npy", "--data", "y.npy", "--threads", "2"]


def run(*flags, **how):
    return subprocess.run([*RUN, *flags], capture_output=True, text=True, timeout=60, **how)


def names(where):
    return sorted(os.listdir(where)) if os.path.isdir(where) else []


def begin(where, *flags):
    """Starts a run that goes on until it is ended, and waits for its first checkpoint."""
    process = subprocess.Popen([*RUN, "--steps", "100000000", "--save-every", "1", "--keep", "2",
                                "--quiet", "--save", where, *flags], stderr=subprocess.PIPE,
                               text=True)
    while process.poll() is None and not any(name.startswith("step-") for name in names(where)):
        time.sleep(0.005)
    return process


def full_disk():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))


# A disk that is full in the middle of a file: one sentence, and nothing of the checkpoint is left.
ended = run("--steps", "3", "--quiet", "--save", "full", preexec_fn=full_disk)
assert ended.returncode == 4, ended
assert ended.stderr == ("linear: error: full/.writing-step-00000003/model.safetensors: cannot be "
                        "written: file too large\n"), ended.stderr
assert names("full") == [], names("full")

# Killed at any moment, it goes on from a complete checkpoint, and clears what was left half done.
shutil.rmtree("killed", ignore_errors=True)
for attempt in range(8):
    process = begin("killed", *(["--resume", "killed"] if attempt else []))
    time.sleep(0.01 + 0.007 * attempt)
    process.kill()
    process.communicate()
    assert any(name.startswith("step-") for name in names("killed")), names("killed")
pathlib.Path("killed/.writing-step-00000001").mkdir(exist_ok=True)
pathlib.Path("killed/.writing-step-00000001/model.safetensors").write_text("half")
newest = max(int(name[5:]) for name in names("killed") if name.startswith("step-"))
ended = run("--quiet", "--steps", str(newest + 3), "--resume", "killed", "--save", "killed",
            "--keep", "1")
assert ended.returncode == 0, ended.stderr
assert names("killed") == [f"step-{newest + 3:08}"], names("killed")

# Ctrl-C while it saves: the step is finished and saved; a second one ends at once.
for signals in (1, 2):
    process = begin("stopped")
    for _ in range(signals):
        process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130, process.returncode
    assert any(name.startswith("step-") for name in names("stopped"))
    assert signals == 2 or not any(name.startswith(".") for name in names("stopped"))
    shutil.rmtree("stopped")

# A second run in the same folder is refused while the first goes on, whose checkpoints stay whole.
process = begin("shared")
ended = run("--steps", "3", "--quiet", "--save", "shared")
assert ended.returncode == 1 and ended.stderr == (
    "linear: error: shared: another run saves there; save into another folder, or wait for it\n"
), ended
process.send_signal(signal.SIGINT)
process.communicate()
assert process.returncode == 130, process.returncode
assert run("--quiet", "--resume", "shared", "--steps", "1").returncode == 0

# The same step saved again replaces the old one.
for seed in ("1", "2"):
    ended = run("--steps", "3", "--quiet", "--save", "again", "--seed", seed)
    assert ended.returncode == 0, ended.stderr
assert names("again") == ["step-00000003"], names("again")
assert '"seed": 2' in pathlib.Path("again/step-00000003/trainer.json").read_text()

# What is read is not written over, and a pipe that nobody writes is not waited for.
before = pathlib.Path("x.npy").read_bytes()
for flag in ("--log", "--trace"):
    ended = run("--steps", "3", flag, "./x.npy")
    assert ended.returncode == 2 and ended.stderr == (
        f"linear: error: {flag} ./x.npy: would write over what --data reads; name another file\n"
    ), ended
assert pathlib.Path("x.npy").read_bytes() == before
os.mkfifo("pipe.npy")
ended = subprocess.run([toy, "linear", "--data", "x=pipe.npy", "--data", "y.npy"],
                       capture_output=True, text=True, timeout=60)
assert ended.returncode == 1 and "pipe.npy: is not a regular file" in ended.stderr, ended
print("undisturbed")
