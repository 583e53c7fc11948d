"""`jet`: derivatives of all orders along a curve, in one pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.api import parameters
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, trace
from olympus._src.core.array_type import Array, ArrayLike, PyTree
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import source_info, tracebacks
from olympus._src.interpreters import concrete_arrays, evaluate, taylor
from olympus._src.lax import elementwise, families, special


class ZeroTerm:
    """A coefficient that is zero, given without an array."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "zero_term"


class ZeroSeries:
    """A series of which all coefficients after the first are zero."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "zero_series"


zero_term = ZeroTerm()
zero_series = ZeroSeries()
for _kind in (ZeroTerm, ZeroSeries):
    _kind.__module__ = "olympus.experimental.jet"
del _kind


@tracebacks.api_boundary
def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Any],
    factorial_scaled: bool = True,
    **_: Any,
) -> tuple[PyTree, PyTree]:
    """The value and the higher derivatives of `fun` along a curve (Taylor mode).

    Each argument is a curve x(t), given by its value at 0 and its derivatives there.
    The result is the same for the curve fun(x(t)). For most operations the work grows
    as a low power of the order; that of nested `jvp`s is exponential in it.

    Args:
      fun: a function of arrays that returns an array or a tree of arrays.
      primals: tuple or list of the arguments at 0, each an array or a number.
      series: for each argument a tuple or list of its derivatives of order 1 to K,
        of the argument's shape or scalars; `zero_series` for an argument that is
        constant, and `zero_term` for a derivative that is zero.
      factorial_scaled: whether the terms are derivatives; if not, they are coefficients
        of powers of t, which are derivatives divided by the factorial of the order.

    Returns:
      A pair of `fun(*primals)` and, in its structure, a list of K terms for each array.

    Raises:
      TypeError: `primals` or `series` is not a tuple or list, or an argument is not an
        array.
      ValueError: the arguments have different numbers of terms, or terms of a wrong
        shape.

    Source: y(t) = f(x(t)) has y' = Df(x) x', whose right side is a series of one term
      less; see also Griewank and Walther, Evaluating Derivatives, chapter 13.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.experimental.jet import jet
      >>> value, (d1, d2, d3) = jet(onp.exp, (0.0,), ((1.0, 0.0, 0.0),))
      >>> float(d1), float(d2), float(d3)
      (1.0, 1.0, 1.0)
    """
    parameters.check_callable("jet", fun)
    _check_sequences(primals, series)
    for i, x in enumerate(primals):
        if not avals_.is_array_like(x):
            raise ValueError(
                f"jet: primal value at position {i} is not an array, got "
                f"{type(x).__name__}; give each array of a tree as a "
                "separate argument"
            )
    order = _order(series)
    columns = [
        _column(i, x, terms, order, factorial_scaled)
        for i, (x, terms) in enumerate(zip(primals, series, strict=True))
    ]
    structures: list[Any] = []

    def flat(*args: Any) -> list[Any]:
        result = fun(*args)
        leaves, structure = tree.tree_flatten(result)
        structures.append(structure)
        for path, leaf in tree.tree_flatten_with_path(result)[0]:
            if not avals_.is_array_like(leaf):
                raise TypeError(
                    f"jet: {source_info.function_name(fun)} must return arrays, got "
                    "a value "
                    f"of type {type(leaf).__name__} at result{tree.keystr(path)}"
                )
        return leaves

    out_series = taylor.jet(flat, columns, order)
    values = [_as_value(s[0]) for s in out_series]
    terms = [
        [
            _user_coefficient(c, s[0], k, factorial_scaled)
            for k, c in enumerate(s[1:], 1)
        ]
        for s in out_series
    ]
    return structures[0].unflatten(values), structures[0].unflatten(terms)


def jet2(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Any],
    *,
    factorial_scaled: bool = False,
    **options: Any,
) -> tuple[PyTree, PyTree]:
    """`jet` with coefficients of powers, unless `factorial_scaled` is set.

    Args:
      fun: a function of arrays that returns an array or a tree of arrays.
      primals: tuple or list of the arguments at 0.
      series: for each argument a tuple or list of its terms, as for `jet`.
      factorial_scaled: whether the terms are derivatives.

    Returns:
      A pair of `fun(*primals)` and, in its structure, a list of terms for each array.

    Example:
      >>> import olympus.numpy as onp
      >>> from olympus.experimental.jet import jet2
      >>> _, (c1, c2) = jet2(onp.exp, (0.0,), ((1.0, 0.0),))
      >>> float(c1), float(c2)
      (1.0, 0.5)
    """
    return jet(fun, primals, series, factorial_scaled=factorial_scaled, **options)


def fact(n: ArrayLike) -> Array:
    """The factorial of numbers that are not negative, elementwise.

    Args:
      n: array or number.

    Returns:
      Array of the shape of `n`, floating; computed by the gamma function.

    Example:
      >>> from olympus.experimental.jet import fact
      >>> fact(4).round()
      Array(24., dtype=float32, weak_type=True)
    """
    aval = avals_.aval_of(n)
    if not dtypes.issubdtype(aval.dtype, np.floating):
        dtype = dtypes.canonicalize_dtype(np.dtype(np.float64))
        n = elementwise.convert(n, dtype, weak_type=aval.weak_type)
    one = families.scalar_like(n, 1)
    factorial = elementwise.exp(special.lgamma(elementwise.add(n, one)))
    return elementwise.round(factorial)


# -- what goes in ----------------------------------------------------------------------


def _check_sequences(primals: Any, series: Any) -> None:
    for name, value in (("primals", primals), ("series", series)):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"jet: {name} must be a tuple or a list with an entry for each "
                f"argument, got {value!r}; write ({name},) for one argument"
            )
    if len(primals) != len(series):
        raise TypeError(
            "jet: primals and series must have an entry for each argument, got "
            f"{len(primals)} and {len(series)}; pass zero_series for a constant "
            "argument"
        )


def _order(series: Sequence[Any]) -> int:
    """How many terms there are."""
    lengths = set()
    for i, terms in enumerate(series):
        if isinstance(terms, ZeroSeries):
            continue
        if not isinstance(terms, (tuple, list)):
            raise TypeError(
                f"jet: series[{i}] must be a tuple or a list of terms, got {terms!r}"
            )
        lengths.add(len(terms))
    if len(lengths) > 1:
        raise ValueError(
            "jet: all of series must have one number of terms, got "
            f"{', '.join(map(str, sorted(lengths)))}: jet terms have inconsistent "
            "lengths for different arguments; pad with zero_term"
        )
    return lengths.pop() if lengths else 0


def _column(
    i: int, x: Any, terms: Any, order: int, factorial_scaled: bool
) -> taylor.Series:
    """The coefficients of one argument."""
    aval = avals_.aval_of(x)
    if isinstance(terms, ZeroSeries) or (
        not taylor.may_move(aval) and all(map(_is_known_zero, terms))
    ):
        return [x, *[Zero(aval.to_tangent())] * order]
    if not taylor.may_move(aval):  # a number that moves is not an integer
        float_ = dtypes.canonicalize_dtype(np.dtype(np.float64))
        x = elementwise.convert(x, float_, weak_type=aval.weak_type)
        aval = avals_.aval_of(x)
    zero = Zero(aval.to_tangent())
    column = [x]
    for k, c in enumerate(terms, 1):
        if isinstance(c, ZeroTerm) or (isinstance(c, (int, float)) and c == 0):
            column.append(zero)
            continue
        c = _term(c, aval, f"series[{i}][{k - 1}]")
        factor = math.factorial(k) if factorial_scaled else 1
        column.append(_times(elementwise.div, c, factor))
    return column


def _is_known_zero(c: Any) -> bool:
    return isinstance(c, ZeroTerm) or (
        not isinstance(c, trace.Tracer) and not np.any(np.asarray(c))
    )


def _term(c: Any, aval: Any, name: str) -> Any:
    """A coefficient in the type of its argument."""
    if not avals_.is_array_like(c):
        raise TypeError(f"jet: {name} must be an array, got {type(c).__name__}")
    own = avals_.aval_of(c)
    if own.shape not in ((), aval.shape):
        raise ValueError(
            f"jet: {name} must have the shape {aval.shape} of its argument, got "
            f"{own.short()}"
        )
    if not dtypes.issubdtype(own.dtype, np.number):
        raise TypeError(f"jet: {name} must be a number, got {own.short()}")
    c = elementwise.convert(c, aval.dtype, weak_type=aval.weak_type)
    if own.shape != aval.shape:
        c = families.broadcast_in_dim_p.bind(
            c, shape=aval.shape, broadcast_dimensions=(), sharding=None
        )
    return c


def _times(combine: Any, c: Any, factor: int) -> Any:
    """A coefficient with a factorial put in or taken out."""
    aval = avals_.aval_of(c)
    if factor == 1:
        return c
    if factor > float(dtypes.finfo(aval.dtype).max):
        raise ValueError(
            f"jet: the factorials of this order do not fit {aval.dtype}; use fewer "
            "terms, a wider dtype, or factorial_scaled=False"
        )
    return taylor.scale_coefficient(combine, c, factor)


# -- what comes out --------------------------------------------------------------------


def _as_value(x: Any) -> Any:
    return concrete_arrays.as_array(x) if evaluate.is_evaluating() else x


def _user_coefficient(c: Any, value: Any, k: int, factorial_scaled: bool) -> Any:
    """A coefficient as the user sees it."""
    if type(c) is Zero:
        return _as_value(families.full_like(value, 0))
    factor = math.factorial(k) if factorial_scaled else 1
    return _as_value(_times(elementwise.mul, c, factor))
