"""SciPy's LAPACK and BLAS, without the rest of SciPy's linear algebra.

jaxlib's kernels take the functions from two extension modules of `scipy.linalg`.
Importing those the usual way runs the package first, which takes ten times as long as
they do, and few programs need it.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator
from types import ModuleType

_PACKAGE = "scipy.linalg"
# In the order in which they need each other.
_NAMES = ("cython_blas", "cython_lapack")


@contextlib.contextmanager
def importable() -> Iterator[None]:
    """A block in which the modules can be imported without the package.

    After it they are imported with the package, as always, and are the same objects.
    """
    modules = {} if _PACKAGE in sys.modules else _load_modules()
    try:
        yield
    finally:
        for name, module in modules.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def _load_modules() -> dict[str, ModuleType]:
    """The modules by name, as they are in `sys.modules`; none where one fails."""
    loaded: dict[str, ModuleType] = {}
    try:
        for name in _NAMES:
            module = _load(f"{_PACKAGE}.{name}")
            loaded[module.__name__] = module
    except Exception:  # another layout than that of today: the usual import says what
        for name in loaded:
            sys.modules.pop(name, None)
        return {}
    return loaded


def _load(name: str) -> ModuleType:
    import scipy  # type: ignore[import-untyped]

    folder = os.path.join(scipy.__path__[0], _PACKAGE.rpartition(".")[2])
    spec = importlib.machinery.PathFinder.find_spec(name, [folder])
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
