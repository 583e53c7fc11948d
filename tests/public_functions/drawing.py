"""What is drawn: shapes, dtypes, values and options of one call."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT8 = [np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)]
# The dtypes of a word, without and with 64-bit values.
KINDS: dict[str, tuple[Sequence[Any], Sequence[Any]]] = {
    "bool": ([np.bool_], []),
    "int": ([np.int8, np.int16, np.int32], [np.int64]),
    "uint": ([np.uint8, np.uint16, np.uint32], [np.uint64]),
    "half": ([np.float16, BFLOAT16], []),
    "float": ([np.float16, BFLOAT16, np.float32, np.float32], [np.float64]),
    "single": ([np.float32], [np.float64]),
    "float8": (FLOAT8, []),
    "complex": ([np.complex64], [np.complex128]),
}
# Few sizes, so that few programs are compiled: 0-d, empty, axes of one, up to 3 axes.
SHAPES: dict[str, list[tuple[int, ...]]] = {
    "any": [(), (0,), (1,), (5,), (3, 4), (1, 4), (2, 0), (2, 3, 2), (3, 1, 2)],
    "full": [(1,), (5,), (3, 4), (1, 4), (4, 1), (2, 3, 2)],  # nothing empty, no 0-d
    "axes": [(0,), (1,), (5,), (3, 4), (1, 4), (2, 0), (2, 3, 2)],  # no 0-d
    "vector": [(0,), (1,), (2,), (5,), (8,)],
    "full vector": [(1,), (2,), (5,), (8,)],
    "matrix": [(0, 3), (1, 1), (3, 3), (2, 5), (4, 1)],
    "full matrix": [(1, 1), (3, 3), (2, 5), (4, 1)],
    "square": [(1, 1), (2, 2), (3, 3)],
}


class Call(NamedTuple):
    """Arguments of one call: NumPy arrays are traced, everything else is not."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def kind(dtype: Any) -> str:
    """b, i, u, f or c; NumPy calls the small floats V."""
    return "f" if dtype.kind == "V" else dtype.kind


def widen(x: Any) -> Any:
    """An argument in double precision, where it is a number of less."""
    if not isinstance(x, (np.ndarray, np.generic)):
        return x
    wide = {"f": np.float64, "c": np.complex128}.get(kind(x.dtype))
    return x if wide is None else np.asarray(x).astype(wide)


class Draw:
    """The dice of one case.

    Its seed is made of the run's, the entry's name and the number of the case. Whether
    64-bit values are on belongs to the group of cases that are compiled together.
    """

    def __init__(self, seed: int, name: str, number: int, x64: bool) -> None:
        self.rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
        self.x64 = x64
        self.number = number

    # -- choices -----------------------------------------------------------------------

    def pick(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def chance(self, of: float = 0.5) -> bool:
        return bool(self.rng.uniform() < of)

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both among them."""
        return int(self.rng.integers(low, high + 1))

    def options(self, **choices: Any) -> dict[str, Any]:
        """Each option is left out in half of the draws, or one of its values.

        A function is called for a value; an array is a value, not a list of them.
        """
        drawn = {}
        for name, values in choices.items():
            if self.chance():
                continue
            if callable(values):
                drawn[name] = values()
            elif isinstance(values, (list, tuple)):
                drawn[name] = self.pick(values)
            else:
                drawn[name] = values
        return drawn

    def call(self, *args: Any, **kwargs: Any) -> Call:
        return Call(args, kwargs)

    # -- shapes and axes ---------------------------------------------------------------

    def shape(self, family: str = "any") -> tuple[int, ...]:
        return self.pick(SHAPES[family])

    def alike(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with another: shorter, or with axes of one."""
        kept = shape[self.integer(0, len(shape)) :] if self.chance(0.3) else shape
        return tuple(1 if self.chance(0.2) else n for n in kept)

    def shapes(self, n: int, family: str = "any") -> list[tuple[int, ...]]:
        """Shapes that broadcast together."""
        shape = self.shape(family)
        return [shape if self.chance(0.6) else self.alike(shape) for _ in range(n)]

    def axis(self, x: Any) -> int:
        """An axis of an array, counted from either end."""
        return self.integer(-x.ndim, x.ndim - 1)

    def axes(self, x: Any, several: bool = True) -> list[Any]:
        """Values of `axis` for an array: None, one of either sign, tuples, none."""
        found: list[Any] = [None]
        if x.ndim:
            found += [self.axis(x), self.axis(x)]
        if several:
            some = self.rng.permutation(x.ndim)[: self.integer(0, x.ndim)]
            found.append(tuple(int(a) - self.pick([0, x.ndim]) for a in some))
        return found

    # -- values ------------------------------------------------------------------------

    def dtype(self, kinds: str = "float") -> np.dtype[Any]:
        word = self.pick(kinds.split())
        narrow, wide = KINDS[word]
        found = [*narrow, *wide, *wide] if self.x64 else narrow
        return np.dtype(self.pick(found))

    def array(
        self, kinds: str = "float", shape: Any = "any", values: str = "plain"
    ) -> np.ndarray[Any, Any]:
        """An array of one of the kinds, shapes and families of values named.

        Args:
          kinds: words of `KINDS`.
          shape: a shape, or a word of `SHAPES`.
          values: words of `VALUES`, one of which is drawn.
        """
        if isinstance(shape, str):
            shape = self.shape(shape)
        return self.filled(self.dtype(kinds), shape, self.pick(values.split()))

    def filled(self, dtype: Any, shape: Any, family: str) -> np.ndarray[Any, Any]:
        dtype = np.dtype(dtype)
        made = VALUES[family](self.rng, dtype, tuple(shape))
        return np.asarray(made).astype(dtype).reshape(shape)

    def arrays(
        self,
        n: int,
        kinds: str = "float",
        shape: str = "any",
        values: str = "plain",
        mixed: bool = True,
    ) -> list[Any]:
        """Arrays that broadcast together; some of other dtypes, or Python numbers."""
        dtype = self.dtype(kinds)
        out: list[Any] = []
        for one in self.shapes(n, shape):
            own = self.dtype(kinds) if mixed and self.chance(0.3) else dtype
            is_number = mixed and bool(out) and not one and self.chance(0.7)
            if is_number and own.kind in "biu":
                own = out[0].dtype  # a number beyond the other's range is no promise
            x = self.filled(own, one, self.pick(values.split()))
            out.append(x.item() if is_number and own.kind in "bifc" else x)
        return out

    def mask(self, x: Any) -> np.ndarray[Any, Any]:
        """A `where` that broadcasts against an array."""
        return np.asarray(self.rng.uniform(size=self.alike(x.shape)) < 0.7)


# -- families of values ----------------------------------------------------------------


def _is_inexact(dtype: Any) -> bool:
    return dtype.kind in "fcV"


def _limits(dtype: Any) -> Any:
    return ml_dtypes.finfo(dtype) if dtype.kind in "fcV" else np.iinfo(dtype)


def _both(rng: Any, dtype: Any, one: Callable[[], Any]) -> Any:
    """A draw, or two as the parts of complex numbers."""
    if dtype.kind != "c":
        return one()
    real, imag = one(), one()
    out = np.empty(np.shape(real), np.complex128)
    out.real, out.imag = real, imag
    return out


def plain(rng: Any, dtype: Any, shape: Any) -> Any:
    """Numbers of either sign of the order of one, or small whole numbers."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape)
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape)
    return _both(rng, dtype, lambda: rng.normal(size=shape) * 2)


def unit(rng: Any, dtype: Any, shape: Any) -> Any:
    """Numbers between -1 and 1."""
    if not _is_inexact(dtype):
        return rng.integers(-1 if dtype.kind == "i" else 0, 2, shape)
    return _both(rng, dtype, lambda: rng.uniform(-1, 1, shape))


def positive(rng: Any, dtype: Any, shape: Any) -> Any:
    """Numbers above zero."""
    if not _is_inexact(dtype):
        return rng.integers(1, 2 if dtype.kind == "b" else 10, shape)
    return _both(rng, dtype, lambda: rng.uniform(0.1, 4, shape))


def ties(rng: Any, dtype: Any, shape: Any) -> Any:
    """Few different numbers, zero among them."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape)
    low = 0 if dtype.kind == "u" else -1
    return _both(rng, dtype, lambda: rng.integers(low, 3, shape))


def distinct(rng: Any, dtype: Any, shape: Any) -> Any:
    """Different numbers in any order; as different as the dtype allows."""
    n = math.prod(shape)
    order = rng.permutation(n) - (0 if dtype.kind in "bu" else n // 2)
    return order.reshape(shape) * (0.5 if _is_inexact(dtype) else 1)


def special(rng: Any, dtype: Any, shape: Any) -> Any:
    """Plain numbers, with infinities, NaN, zeros of both signs, ends of the range."""
    if dtype.kind == "b":
        return plain(rng, dtype, shape)
    if not _is_inexact(dtype):
        return extreme(rng, dtype, shape)
    limits = _limits(dtype)
    ends = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, float(limits.tiny), float(limits.max)]
    beyond = [np.nan] if dtype in FLOAT8 else [np.inf, -np.inf, np.nan]
    points = [*ends, -ends[-1], *beyond]

    def one() -> Any:
        x = np.asarray(rng.normal(size=shape) * 2)
        chosen = np.asarray(rng.uniform(size=shape) < 0.6)
        return np.where(chosen, rng.choice(points, size=shape), x)

    return _both(rng, dtype, one)


def zeros(rng: Any, dtype: Any, shape: Any) -> Any:
    """Plain numbers and zeros, of both signs where there are two."""
    x = np.asarray(plain(rng, dtype, shape))
    signs = np.asarray(rng.choice([0.0, -0.0], size=shape)).astype(x.dtype)
    return np.where(rng.uniform(size=shape) < 0.5, signs, x)


def missing(rng: Any, dtype: Any, shape: Any) -> Any:
    """Plain numbers, some of them NaN."""
    x = np.asarray(plain(rng, dtype, shape))
    if not _is_inexact(dtype):
        return x
    return np.where(rng.uniform(size=shape) < 0.3, np.nan, x)


def infinite(rng: Any, dtype: Any, shape: Any) -> Any:
    """Plain numbers, some of them infinite or NaN, none at the ends of the range."""
    x = np.asarray(plain(rng, dtype, shape))
    if not _is_inexact(dtype) or dtype in FLOAT8:
        return x
    points = rng.choice([np.inf, -np.inf, np.nan], size=shape)
    return np.where(rng.uniform(size=shape) < 0.3, points, x)


def extreme(rng: Any, dtype: Any, shape: Any) -> Any:
    """Whole numbers, ends of the dtype's range and their neighbours among them."""
    if dtype.kind not in "iu":
        return plain(rng, dtype, shape)
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2]
    points = np.array([*ends, 0, 1, 2, 3, 7], dtype)
    return rng.choice(points, size=shape)


_FAMILIES = [plain, unit, positive, ties, distinct]
_FAMILIES += [special, zeros, missing, infinite, extreme]
VALUES: dict[str, Callable[..., Any]] = {f.__name__: f for f in _FAMILIES}
