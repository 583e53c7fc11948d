"""olympus: composable transformations of array programs.

Functions over `olympus.numpy` are traced to a small typed language, the olympuspr, which
is transformed, compiled by XLA and run. See `olympus.jit`, `olympus.make_olympuspr` and
`olympus.numpy` first.
"""

from __future__ import annotations

import importlib as _importlib

from olympus._src.api.jit import jit as jit
from olympus._src.api.shapes import ShapeDtypeStruct as ShapeDtypeStruct
from olympus._src.api.staging import eval_shape as eval_shape
from olympus._src.api.staging import make_olympuspr as make_olympuspr
from olympus._src.core.trace import Array as Array

_PAGES = frozenset(
    "debug dtypes errors experimental lax monitoring nn numpy random stages tree "
    "tree_util typing".split()
)


def __getattr__(name: str) -> object:
    """Loads a page at its first use, so that `import olympus` stays light."""
    if name in _PAGES:
        return _importlib.import_module(f"olympus.{name}")
    raise AttributeError(f"module 'olympus' has no attribute {name!r}")
