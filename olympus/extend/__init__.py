"""For libraries that extend olympus."""

from olympus.extend import core as core
from olympus.extend import linear_util as linear_util
from olympus.extend import random as random

__all__ = ["core", "linear_util", "random"]
