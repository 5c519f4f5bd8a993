"""Seeds one fault at a time in a small clean tree; arrows.py must name each, and nothing else."""
import pathlib
import sys
import tempfile

import arrows

CLEAN = {
    "ir/Dialect.h": '#include "mlir/IR/Dialect.h"\n#include "ir/Ops.h"\n',
    "passes/Fuse.cpp": '#include "passes/Fuse.h"\n#include "passes/planning/Plan.h"\n',
    "passes/planning/Plan.h": '#include "passes/planning/Arena.h"\n#include <vector>\n',
    "codegen/Emit.cpp": '#include "codegen/Emit.h"\n#include "runtime/Program.h"\n',
    "runtime/Program.h": '#include <cstdint>\n#include <fmt/format.h>\n',
    "tools/napkin.cpp": '#include "frontend/Parser.h"\n#include "runtime/Data.h"\n',
    "README.md": "clean\n",
}
FAULTS = {
    "ir/A.h": ('#include "passes/Fuse.h"\n', "ir may not include passes/Fuse.h"),
    "ir/B.td": ('include "runtime/Program.h"\n', "ir may not include runtime/Program.h"),
    "frontend/A.cpp": ('#include "passes/Fuse.h"\n', "frontend may not include passes/Fuse.h"),
    "passes/A.cpp": ('#include "runtime/Program.h"\n', "passes may not include runtime/Program.h"),
    "passes/planning/A.h": ('#include "ir/Ops.h"\n', "passes/planning may not include ir/Ops.h"),
    "passes/planning/B.h": ('#include "passes/Fuse.h"\n', "passes/planning may not include passes"),
    "passes/planning/C.h": ('#include <llvm/ADT/SmallVector.h>\n', "free of MLIR and LLVM"),
    "runtime/A.cpp": ('#include "mlir/IR/Dialect.h"\n', "free of MLIR and LLVM"),
    "runtime/B.cpp": ('#include "ir/Ops.h"\n', "runtime may not include ir/Ops.h"),
    "codegen/A.cpp": ('#include "runtime/Data.h"\n', "codegen may not include runtime/Data.h"),
    "codegen/B.cpp": ('#include "frontend/Parser.h"\n', "codegen may not include frontend/"),
    "codegen/C.cpp": ('#include "../ir/Ops.h"\n', "climbs; write it from the root"),
    "codegen/D.h": ('#include "Emit.h"\n', "is not written from the root"),
    "runtime/C.cpp": ("\n" * 601, "601 lines, more than 600"),
    "frontend/B.h": ("//" + "/" * 99 + "\n", "101 columns, more than 100"),
    "runtime/D.cpp": ("// TO" "DO later\n", "unfinished work"),
    "test/a.mlir": ("// FIX" "ME later\n", "unfinished work"),
    "test/interpreter/A.cpp": ('#include "ir/Cost.h"\n', "the interpreter asks for a cost"),
    "test/interpreter/B.cpp": ("cost = op.getCost();\n", "the interpreter asks for a cost"),
    "docs/a.md": ("see /" "root/notes\n", "names a path of one machine"),
    "%t.cu": ("\n", "a name has letters, digits"),
    "bench/run": ("cd /" "work/here\n", "names a path of one machine"),
}


def problemsOf(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return arrows.check(root)


failures = []
if problemsOf(CLEAN):
    failures.append(f"the clean tree is refused: {problemsOf(CLEAN)}")
for name, (text, wanted) in FAULTS.items():
    found = problemsOf({**CLEAN, name: text})
    if len(found) != 1 or not found[0].startswith(name + ":") or wanted not in found[0]:
        failures.append(f"{name}: wanted one '{wanted}', found {found}")
crowd = {f"passes/P{i}.cpp": "" for i in range(15)}
if problemsOf({**CLEAN, **crowd}) != ["passes: 16 files, more than 15"]:
    failures.append("a folder of 16 files is not caught")
print(*failures, f"{len(FAULTS) + 1} faults seeded", sep="\n")
sys.exit(bool(failures))
