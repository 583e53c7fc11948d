"""Small libraries for example programs: optimizers, and layers as pairs of functions.

They are meant to be read and copied; larger programs use libraries made for training.
"""

import olympus as _olympus  # noqa: F401
from olympus.example_libraries import optimizers as optimizers
from olympus.example_libraries import stax as stax

__all__ = ["optimizers", "stax"]
