"""Conversions of the arguments of special functions, and pieces of series."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, shaping
from olympus._src.numpy import creation, promotion

F = TypeVar("F", bound=Callable[..., Any])


def check(name: str, *args: Any) -> None:
    """Raises TypeError unless all are arrays or numbers; lists are not."""
    promotion.check_arrays("scipy.special", name, *args)


def inexact(name: str, *args: Any, weak: bool = True) -> list[Array]:
    """The arguments as floating or complex arrays of one dtype and shape.

    Args:
      name: the user's function.
      args: what it was given.
      weak: leave the type of Python numbers weak.
    """
    check(name, *args)
    values = promotion.promote_inexact(*args)
    shapes = [avals.aval_of(x).shape for x in values]
    shape = promotion.result_shape(name, shapes, "scipy.special")
    return [_array(x, shape, weak) for x in values]


def floats(
    name: str,
    *args: Any,
    weak: bool = True,
    error: type[Exception] = ValueError,
) -> list[Array]:
    """As `inexact`, refusing complex numbers."""
    values = inexact(name, *args, weak=weak)
    if dtypes.kind(avals.aval_of(values[0]).dtype) == "c":
        raise error(
            f"scipy.special.{name}: does not support complex-valued inputs, got "
            f"{avals.aval_of(values[0]).dtype}; pass the real part"
        )
    return values


def default_floats(*xs: Any) -> list[Array]:
    """Floats in the default dtype, which is the widest there is."""
    dtype = dtypes.canonicalize_dtype(np.dtype(np.float64))
    return [lax.convert(x, dtype) for x in xs]


def reals(name: str, *args: Any, weak: bool = True) -> list[Array]:
    """As `floats`, for functions that have only ever refused by a TypeError."""
    return floats(name, *args, weak=weak, error=TypeError)


def _array(x: Any, shape: tuple[int, ...], weak: bool) -> Any:
    """A value of the trace that is current, so that its operators are the library's."""
    aval = avals.aval_of(x)
    if aval.weak_type and not weak:
        x = lax.convert(x, aval.dtype, False)
    return shaping.broadcast_in_dim(
        x, shape, tuple(range(len(shape) - aval.ndim, len(shape)))
    )


def is_complex(x: Any) -> bool:
    """Whether the elements are complex numbers."""
    return bool(dtypes.kind(avals.aval_of(x).dtype) == "c")


def is_double(x: Any) -> bool:
    """Whether the elements have the precision of float64."""
    return bool(dtypes.finfo(avals.aval_of(x).dtype).bits == 64)


def epsilon(x: Any) -> float:
    """The rounding unit of the elements."""
    return float(dtypes.finfo(avals.aval_of(x).dtype).eps)


def wide(fun: F) -> F:
    """Makes a function of arrays compute short floats in float32."""

    @functools.wraps(fun)
    def run(*xs: Any) -> Any:
        dtype = avals.aval_of(xs[0]).dtype
        if dtypes.itemsize_bits(dtype) >= 32:
            return fun(*xs)
        out = fun(*[lax.convert(x, np.dtype(np.float32)) for x in xs])
        if isinstance(out, tuple):
            return tuple([lax.convert(y, dtype) for y in out])
        return lax.convert(out, dtype)

    return run  # type: ignore[return-value]


class custom_jvp_of_arrays(custom_jvp):
    """`custom_jvp` of a formula that operators write, which mean others of numbers.

    Numbers come from derivatives at them, `grad(f)(0.5)`, and are made arrays: `~` of a
    bool of Python is no bool, and a quotient by zero an error.
    """

    def __init__(self, fun: Any) -> None:
        super().__init__(_of_arrays(fun))

    def defjvps(self, *rules: Any) -> None:
        super().defjvps(*(rule and _of_arrays(rule) for rule in rules))


def _of_arrays(fun: F) -> F:
    @functools.wraps(fun)
    def run(*xs: Any) -> Any:
        return fun(*(creation.asarray(x) if type(x) in _NUMBERS else x for x in xs))

    return run  # type: ignore[return-value]


_NUMBERS = (bool, int, float, complex)


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial with these coefficients, highest power first, by Horner."""
    out = shaping.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        out = lax.add(lax.mul(out, x), families.scalar_like(x, c))
    return out


def ratio(x: Any, above: Sequence[float], below: Sequence[float]) -> Any:
    """A polynomial over another one; highest powers first."""
    return lax.div(polynomial(x, above), polynomial(x, below))
