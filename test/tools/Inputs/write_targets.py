"""Writes data for test/reference/prelude/losses.nap whose second target is given.

Usage: write_targets.py FILE.safetensors ID
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "reference"))
import safetensors

zeros = [0.0] * 35
safetensors.write(sys.argv[1], {"targets": ("I32", [5], [3, int(sys.argv[2]), 0, 6, 2]),
                                "y": ("F32", [5, 7], zeros), "labels": ("F32", [5, 7], zeros)})
