"""Compiles one example model at law sizes, in the forms that the laws compare, and writes its data.

build.py MODEL FOLDER: FOLDER/xN-FORM for N micro-batches a step.
"""
import pathlib
import shutil
import sys

import models

model = models.MODELS[sys.argv[1]]
root = pathlib.Path(sys.argv[2])
shutil.rmtree(root, ignore_errors=True)
root.mkdir(parents=True)
models.write_data(model, root)
for accumulate in model.micro_batches:
    forms = {"fused": models.TASKS, "unfused": ["--disable-pass=nap-fuse", *models.TASKS]}
    for form, flags in forms.items():
        models.call("napkin", "compile", *model.flags(accumulate), *flags, "-o", root / f"x{accumulate}-{form}")
