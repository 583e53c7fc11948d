"""Entries of the table: which functions, and what the runners need to test them."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.public_functions.drawing import Call, Draw, widen
from tests.public_functions.points import SmoothCase, smooth_case

# How recorded calls name the pages.
NAMESPACES = {
    "numpy": "jnp",
    "numpy.linalg": "jnp.linalg",
    "numpy.fft": "jnp.fft",
    "nn": "nn",
    "nn.initializers": "nn.initializers",
    "lax": "lax",
    "lax.linalg": "lax.linalg",
    "scipy.special": "special",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """A public function, and how each runner tests it.

    A function may have several entries, with labels, where its calls are drawn in
    several ways. What other runners read is then in the one without a label.

    Attributes:
      page: the page without its first word: `numpy`, `scipy.special`, ...
      name: the function's name there; `add.reduce` is a method of `add`.
      draw: makes a call of a `Draw`. Drawn calls are compared with an oracle.
      undrawn: why there is no `draw`.
      alias: the name of the page that is the same function, in place of `draw`.
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
      smooth: points where all derivatives must agree: the arguments as a tuple,
        `(X,)`; with what is called in front, `(lambda x: f(x, 1), X)`; or a list of
        such. A text says why there are none.
      types: calls whose result types are recorded, with semicolons between them:
        `v, w; v, axis=0`. `tests/result_types/calls.py` has the variables. Where it is
        not a call of the function, `{f}` stands for its name.
      unrecorded: why there are no `types`.
      standard: the function's parameters in the array API standard, and where its
        results have fixed dtypes those: `x1, x2, /: real -> same`, in the words of
        `tests/array_api/standard.py`. None where the standard does not have it.
    """

    page: str
    name: str
    draw: Callable[[Draw], Call] | None = None
    undrawn: str = ""
    alias: str = ""
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
    smooth: Any = ()
    types: str = ""
    unrecorded: str = ""
    standard: str | None = None

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

    def smooth_cases(self) -> list[SmoothCase]:
        """The points where all derivatives must agree, each with what is called."""
        if isinstance(self.smooth, str) or not self.smooth:
            return []
        points = self.smooth if isinstance(self.smooth, list) else [self.smooth]
        own = Entry(self.page, self.name).function()
        return [smooth_case(self.name, own, point) for point in points]

    def recorded_calls(self) -> list[str]:
        """The texts of calls whose result types are recorded."""
        if not self.types:
            return []
        name = f"{NAMESPACES[self.page]}.{self.name}"
        calls = [part.strip() for part in self.types.split(";")]
        return [
            call.replace("{f}", name) if "{f}" in call else f"{name}({call})"
            for call in calls
        ]

    def expected(self, call: Call) -> Any:
        """What the oracle gives."""
        args, kwargs = call
        if self.prepare is not None:
            args = tuple(self.prepare(*args))
        if self.wide:
            args = tuple(map_arrays(widen, args))
            kwargs = {k: map_arrays(widen, v) for k, v in kwargs.items()}
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


def entries(page: str, **common: Any) -> Callable[..., list[Entry]]:
    """Makes the function by which a module lists entries of a page.

    `common` are fields that all of them share.
    """

    def entry(
        names: str, draw: Callable[[Draw], Call] | None = None, **fields: Any
    ) -> list[Entry]:
        """The same fields for several names."""
        fields = {**common, **fields}
        return [Entry(page, name, draw, **fields) for name in names.split()]

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
        size = np.abs(widen(np.asarray(array)).astype(complex))
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
