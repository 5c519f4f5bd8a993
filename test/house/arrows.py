"""Fails when a room knows what it may not know, or outgrows its walls."""
import pathlib
import re
import sys

# Which rooms, or single headers, a room may include. The longest matching key speaks.
KNOWS = {
    "ir": {"ir"},
    "frontend": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "passes/planning": {"passes/planning"},
    "runtime": {"runtime"},
    "codegen": {"codegen", "ir", "runtime/Program.h"},
    "tools": {"tools", "frontend", "ir", "passes", "codegen", "runtime"},
}
ROOMS = {"ir", "frontend", "passes", "runtime", "codegen", "tools"}
NO_MLIR = {"runtime", "passes/planning"}
COMPILER = {"mlir", "mlir-c", "llvm", "llvm-c", "clang"}
FOLDERS = sorted(ROOMS | {"test", "examples", "bench", "docs", ".ci"})
DATA = {".npy", ".npz", ".safetensors", ".bin", ".txt", ".csv", ".jsonl"}
SOURCES = {".h", ".cpp", ".td", ".cu", ".cuh", ".inc"}
MAX_LINES, MAX_FILES, MAX_COLUMNS = 600, 15, 100
# The rooms whose C++ keeps to MAX_COLUMNS.
NARROW = {"frontend", "runtime", "tools", "codegen/cuda", "codegen/prelude"}

INCLUDE = re.compile(r'\s*#?\s*include\s+(["<])([^">]+)[">]')
LEFTOVER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
# The interpreter counts on its own: what it checks, it may not ask.
COUNTS_ALONE = "test/interpreter"
COST = re.compile(r"\b(getCost\w*|Costed\w*|ir/Cost\.h)\b")
# What a shell or a test that was not filled in would make of a name.
NAME = re.compile(r"[\w.+-]+")
MACHINE_PATH = re.compile(r"(?<![\w.$}%])/(work|root|home)/\w")


def within(path, folder):
    return path == folder or path.startswith(folder + "/")


def roomOf(path, rooms):
    """The most particular of `rooms` that holds `path`, or None."""
    return max((room for room in rooms if within(path, room)), key=len, default=None)


def filesOf(root):
    """Every file of the tree that is ours, in order."""
    found = [path for path in root.iterdir() if not path.name.startswith(".")]
    for folder in FOLDERS:
        found += (root / folder).rglob("*")
    return sorted(p for p in found if p.is_file() and "__pycache__" not in p.parts)


def checkInclude(name, quote, target):
    """What is wrong with the file `name` including `target`, or None."""
    room = roomOf(name, KNOWS)
    if ".." in target.split("/"):
        return f"include \"{target}\" climbs; write it from the root"
    if target.split("/")[0] in COMPILER:
        if roomOf(name, NO_MLIR):
            return f"{room} is free of MLIR and LLVM and includes {target}"
        return None
    if target.split("/")[0] in ROOMS:
        if not any(within(target, known) for known in KNOWS[room]):
            return f"{room} may not include {target}"
        if room != "passes/planning" or within(target, room):
            return None
    if quote == '"' and pathlib.PurePath(name).suffix in {".h", ".cpp", ".td"}:
        return f"include \"{target}\" is not written from the root"
    return None


def checkFile(name, text):
    """Everything wrong inside one file."""
    problems = []
    lines, source = text.splitlines(), pathlib.PurePath(name).suffix in SOURCES
    if len(lines) > MAX_LINES:
        problems.append(f"{name}: {len(lines)} lines, more than {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        if roomOf(name, KNOWS) and source:
            match = INCLUDE.match(line)
            problem = match and checkInclude(name, match[1], match[2])
            if problem:
                problems.append(f"{name}:{number}: {problem}")
        if roomOf(name, NARROW) and source and len(line) > MAX_COLUMNS:
            problems.append(f"{name}:{number}: {len(line)} columns, more than {MAX_COLUMNS}")
        if LEFTOVER.search(line):
            problems.append(f"{name}:{number}: unfinished work: {LEFTOVER.search(line)[1]}")
        if within(name, COUNTS_ALONE) and source and COST.search(line):
            problems.append(f"{name}:{number}: the interpreter asks for a cost: {COST.search(line)[1]}")
        if MACHINE_PATH.search(line):
            problems.append(f"{name}:{number}: names a path of one machine")
    return problems


def check(root):
    """Everything wrong in the tree `root`, as sentences."""
    problems, folders = [], {}
    for path in filesOf(root):
        name = path.relative_to(root).as_posix()
        if not NAME.fullmatch(path.name):
            problems.append(f"{name}: a name has letters, digits and . _ + - alone")
        folders.setdefault(str(pathlib.PurePath(name).parent), []).append(name)
        if path.suffix not in DATA and name != "LICENSE":
            problems += checkFile(name, path.read_text(errors="replace"))
    for folder, names in folders.items():
        if len(names) > MAX_FILES:
            problems.append(f"{folder}: {len(names)} files, more than {MAX_FILES}")
    return problems


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1]))
    if found:
        print(*found, sep="\n")
    sys.exit(bool(found))
