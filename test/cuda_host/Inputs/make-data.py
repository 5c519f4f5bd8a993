"""Data for an example at the sizes of the laws: its name, and the folder to write to."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "laws" / "Inputs"))
import models

models.write_data(models.MODELS[sys.argv[1]], pathlib.Path(sys.argv[2]))
