"""For libraries that extend olympus."""

import olympus as _olympus  # noqa: F401
from olympus.extend import backend as backend
from olympus.extend import core as core
from olympus.extend import ifrt_programs as ifrt_programs
from olympus.extend import linear_util as linear_util
from olympus.extend import lowering as lowering
from olympus.extend import mlir as mlir
from olympus.extend import random as random
from olympus.extend import sharding as sharding
from olympus.extend import source_info_util as source_info_util

__all__ = [
    "backend",
    "core",
    "ifrt_programs",
    "linear_util",
    "lowering",
    "mlir",
    "random",
    "sharding",
    "source_info_util",
]
