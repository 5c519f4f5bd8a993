"""Compiles one example model at law sizes, in the forms that the laws compare, and writes its data.

build.py MODEL FOLDER: FOLDER/xN-FORM for N micro-batches a step.
"""
import sys

import models

model, root, _ = models.prepare(sys.argv[1], sys.argv[2])
for accumulate in model.micro_batches:
    forms = {"fused": models.TASKS, "unfused": ["--disable-pass=nap-fuse", *models.TASKS]}
    for form, flags in forms.items():
        models.call("napkin", "compile", *model.flags(accumulate), *flags, "-o", root / f"x{accumulate}-{form}")
