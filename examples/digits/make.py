"""Writes the digits as .npy files: every fifth sample is held out. Needs numpy and scikit-learn.

Usage: python3 make.py, in a Python where `pip install numpy scikit-learn` was run.
"""
import pathlib

import numpy
import sklearn.datasets

here = pathlib.Path(__file__).parent
digits = sklearn.datasets.load_digits()
images = digits.data.astype(numpy.uint8)
labels = digits.target.astype(numpy.uint8)
assert (images == digits.data).all() and images.max() == 16

held_out = numpy.arange(len(labels)) % 5 == 0
for folder, kept in (("train", ~held_out), ("test", held_out)):
    (here / folder).mkdir(exist_ok=True)
    numpy.save(here / folder / "images.npy", images[kept])
    numpy.save(here / folder / "labels.npy", labels[kept])
    print(f"{folder}: {kept.sum()} samples")
