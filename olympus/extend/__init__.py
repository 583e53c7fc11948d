"""For libraries that extend olympus."""

from olympus.extend import core as core
from olympus.extend import random as random

__all__ = ["core", "random"]
