"""Entries of a table: which functions, how their calls are drawn, what they give."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.differential.comparing import widened
from tests.differential.drawing import Call, Draw


@dataclasses.dataclass(frozen=True)
class Entry:
    """A public function and the calls of it that are drawn.

    Attributes:
      page: the page without its first word: `numpy`, `scipy.special`, ...
      name: the function's name there; `add.reduce` is a method of `add`.
      draw: makes a call of a `Draw`.
      oracle: gets the arguments in double precision; a name or a function.
      call: how the function is called, where it is not `f(*args, **kwargs)`.
      prepare: what is done to the arguments before they are widened for the oracle.
      ulps: the allowed difference, in units of the last place.
      scale: what else rounding is relative to: "args" for the largest finite argument,
        "result" for the largest result, or a function of the arguments.
      jit: whether the call can be compiled.
      kinds: whether the dtype must be of the kind of the oracle's.
      signs: whether zeros must have the oracle's sign.
      wide: whether the oracle works in double precision.
      label: tells entries of one name apart.
    """

    page: str
    name: str
    draw: Callable[[Draw], Call]
    oracle: Any = None
    call: Callable[..., Any] | None = None
    prepare: Callable[..., Any] | None = None
    ulps: float = 4
    scale: Any = 0.0
    jit: bool = True
    kinds: bool = True
    signs: bool = False
    wide: bool = True
    label: str = ""

    @property
    def id(self) -> str:
        return f"{self.page}.{self.name}" + (f"-{self.label}" if self.label else "")

    def function(self, package: str = "olympus") -> Callable[..., Any]:
        """The function of a package of these pages, as it is to be called."""
        own = importlib.import_module(f"{package}.{self.page}")
        for part in self.name.split("."):
            own = getattr(own, part)
        if self.call is None:
            return own
        return lambda *args, **kwargs: self.call(own, *args, **kwargs)

    def expected(self, call: Call) -> Any:
        """What the oracle gives."""
        args, kwargs = call
        if self.prepare is not None:
            args = tuple(self.prepare(*args))
        if self.wide:
            args = tuple(map_arrays(widened, args))
            kwargs = {k: map_arrays(widened, v) for k, v in kwargs.items()}
        return self._oracle()(*args, **kwargs)

    def _oracle(self) -> Callable[..., Any]:
        if callable(self.oracle):
            return self.oracle
        own: Any = importlib.import_module(
            self.page if self.page.startswith("scipy") else "numpy"
        )
        if self.page.startswith("numpy."):
            own = importlib.import_module(self.page)
        for part in (self.oracle or self.name).split("."):
            own = getattr(own, part)
        if self.call is None:
            return own
        return lambda *args, **kwargs: self.call(own, *args, **kwargs)

    def size(self, call: Call, want: Any) -> float:
        """What rounding is relative to, beside each number of the result itself."""
        if self.scale == "args":
            return largest([*call.args, *call.kwargs.values()])
        if self.scale == "result":
            return largest(want)
        return float(self.scale(*call.args)) if callable(self.scale) else self.scale


def entries(page: str) -> Callable[..., list[Entry]]:
    """Makes the function by which a table of a page lists its entries."""

    def entry(names: str, draw: Callable[[Draw], Call], **settings: Any) -> list[Entry]:
        """The same draw for several names."""
        return [Entry(page, name, draw, **settings) for name in names.split()]

    return entry


def map_arrays(f: Callable[[Any], Any], x: Any) -> Any:
    """`f` of all arrays in nests of tuples and lists."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(map_arrays(f, y) for y in x))
    if isinstance(x, (tuple, list)):
        return type(x)(map_arrays(f, y) for y in x)
    if isinstance(x, dict):
        return {k: map_arrays(f, v) for k, v in x.items()}
    return f(x) if isinstance(x, (np.ndarray, np.generic)) else x


def largest(x: Any) -> float:
    """The largest finite size of all numbers in a nest."""
    found = [0.0]

    def one(array: Any) -> Any:
        size = np.abs(widened(np.asarray(array)).astype(complex))
        found.extend(size[np.isfinite(size)].ravel().tolist())
        return array

    map_arrays(one, x)
    return max(found)


def in_common_dtype(*args: Any) -> list[Any]:
    """Arguments as functions of arrays convert them before they compute."""
    dtype = importlib.import_module("olympus.numpy").result_type(*args)
    return [cast(x, dtype) for x in args]


def as_floats(*args: Any) -> list[Any]:
    """As `in_common_dtype`, whole numbers as the floats they are converted to."""
    return [
        _as_float(x) if x.dtype.kind in "biu" else x for x in in_common_dtype(*args)
    ]


def _as_float(x: Any) -> Any:
    narrow = np.float32 if x.dtype.itemsize <= 4 else np.float64
    return x.astype(narrow).astype(np.float64)


def cast(x: Any, dtype: Any) -> Any:
    """An array, or a Python number that must be one of the dtype."""
    return np.array(x, dtype) if isinstance(x, int) else np.asarray(x).astype(dtype)
