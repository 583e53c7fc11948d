"""The interpreters' tables, for libraries that define primitives."""

import olympus as _olympus  # noqa: F401
from olympus.interpreters import ad as ad
from olympus.interpreters import batching as batching
from olympus.interpreters import mlir as mlir
from olympus.interpreters import partial_eval as partial_eval
from olympus.interpreters import pxla as pxla
from olympus.interpreters import xla as xla

__all__ = [
    "ad",
    "batching",
    "mlir",
    "partial_eval",
    "pxla",
    "xla",
]
