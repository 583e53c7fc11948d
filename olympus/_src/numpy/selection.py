"""Choosing elements: where, select, triangles, diagonals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, ArrayLike, Arrays, OptionalArray
from olympus._src.core.sizes import is_symbolic
from olympus._src.interpreters import concrete_arrays
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import concatenation, families, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import (
    arithmetic,
    diagonals,
    indexing,
    logic,
    promotion,
    searching,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike, program


@program(3, name="where")
def _where(condition: Any, x: Any, y: Any) -> Any:
    mask = logic.truth(condition)
    x, y = promotion.promote_dtypes(x, y)
    shape = promotion.result_shape("where", [aval_of(v).shape for v in (mask, x, y)])
    if aval_of(mask).ndim:
        mask = promotion.full_shape(mask, shape)
    x, y = (promotion.full_shape(v, shape) if aval_of(v).ndim else v for v in (x, y))
    out = lax.select_n(mask, y, x)
    return promotion.full_shape(out, shape)


@overload
def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> Array: ...
@overload
def where(
    condition: ArrayLike,
    x: None = ...,
    y: None = ...,
    /,
    *,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
) -> tuple[Array, ...]: ...
@overload
def where(
    condition: ArrayLike,
    x: OptionalArray = ...,
    y: OptionalArray = ...,
    /,
    *,
    size: int | None = ...,
    fill_value: OptionalArray = ...,
) -> Array | tuple[Array, ...]: ...
def where(
    condition: ArrayLike,
    x: OptionalArray = None,
    y: OptionalArray = None,
    /,
    *,
    size: int | None = None,
    fill_value: OptionalArray = None,
) -> Array | tuple[Array, ...]:
    """Elements of `x` where the condition holds, of `y` elsewhere.

    Differs from NumPy: with one argument, the number of results must be known under
    `jit`: pass `size`.

    Args:
      condition: array of booleans.
      x, y: arrays or numbers that broadcast against it. Without them the result is
        `nonzero(condition, size=size, fill_value=fill_value)`.
      size, fill_value: see `nonzero`.

    Returns:
      An array of the dtype that x and y promote to.

    Raises:
      ValueError: only one of x and y is given, or `size` with them.

    Source: NumPy, `numpy.where`.

    Example:
      >>> import olympus.numpy as onp
      >>> x = onp.arange(4)
      >>> onp.where(x > 1, x, 0)
      Array([0, 0, 2, 3], dtype=int32)
    """
    if x is None and y is None:
        check_arraylike("where", condition)
        return searching.nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        here, missing = ("y", "x") if x is None else ("x", "y")
        raise TypeError(
            f"numpy.where: arguments must be arrays or numbers, got {here} and no "
            f"{missing}; give both, or the condition alone for its positions"
        )
    check_arraylike("where", condition, x, y)
    if size is not None or fill_value is not None:
        raise ValueError(
            "numpy.where: size and fill_value belong to the call with one argument, "
            "got them with three"
        )
    return _where(condition, x, y)


def select(
    condlist: Arrays,
    choicelist: Arrays,
    default: ArrayLike = 0,
) -> Array:
    """For each element the first choice whose condition holds.

    Args:
      condlist: sequence of boolean arrays.
      choicelist: sequence of arrays, one for each condition.
      default: what elements get where no condition holds.

    Raises:
      ValueError: the sequences differ in length, or are empty.

    Source: NumPy, `numpy.select`.

    Example:
      >>> jnp.select([jnp.array([True, False])], [jnp.array([1, 2])], default=9)
      Array([1, 9], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(
            "numpy.select: condlist must have as many entries as choicelist and at "
            f"least one, got {len(condlist)} and {len(choicelist)}"
        )
    check_arraylike("select", *condlist, *choicelist, default)
    return _select(*condlist, *choicelist, default, count=len(condlist))


@promotion.evaluate.fuse
def _select(*args: Any, count: int) -> Any:
    conditions = args[:count]
    *choices, out = promotion.promote_dtypes(*args[count:])
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        out = _where(condition, choice, out)
    return out


def piecewise(
    x: ArrayLike,
    condlist: Arrays,
    funclist: Sequence[ArrayLike | Callable[..., Any]],
    *args: Any,
    **kw: Any,
) -> Array:
    """For each element the function (or number) of the last condition that holds.

    Differs from NumPy: each function is computed for all elements, and one result is
    selected.

    Args:
      x: array.
      condlist: boolean arrays of x's shape, or one array of them.
      funclist: a function or number for each condition; one more is the default.
      *args, **kw: passed on to the functions.

    Raises:
      ValueError: the numbers of conditions and functions do not fit.

    Source: NumPy, `numpy.piecewise`.

    Example:
      >>> jnp.piecewise(
      ...     jnp.array([-1.0, 2.0]),
      ...     [jnp.array([True, False])],
      ...     [0.0, lambda x: x * x],
      ... )
      Array([0., 4.], dtype=float32)
    """
    check_arraylike("piecewise", x)
    x = promotion.resolve(x)
    conditions = _conditions(x, condlist, len(funclist))
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"numpy.piecewise: with {len(conditions)} condition(s), either "
            f"{len(conditions)} or {len(conditions) + 1} functions are expected, got "
            f"{len(funclist)}"
        )
    functions = list(funclist)
    default = functions.pop() if len(functions) > len(conditions) else 0
    dtype = aval_of(x).dtype

    def value(f: Any) -> Any:
        out = f(x, *args, **kw) if callable(f) else f
        return promotion.cast(out, dtype, False)

    out = value(default)
    for condition, f in zip(conditions, functions, strict=True):
        out = _where(condition, value(f), out)
    shape = promotion.result_shape("piecewise", [aval_of(v).shape for v in (x, out)])
    return promotion.full_shape(out, shape)


def _conditions(x: Any, condlist: Any, n_functions: int) -> list[Any]:
    if isinstance(condlist, (list, tuple)):
        return [np.asarray(c) if isinstance(c, (list, tuple)) else c for c in condlist]
    shape = aval_of(condlist).shape
    if len(shape) > aval_of(x).ndim:
        return list(condlist)
    # An array as wide as x is one condition; JAX takes it for several numbers.
    is_one = n_functions < 3 and sizes_.fits_shape(shape, aval_of(x).shape)
    return [condlist] if is_one or len(shape) != 1 else list(condlist)


# -- triangles and diagonals -----------------------------------------------------------


@program(1, name="triangle")
def _triangle(m: Any, *, k: int, lower: bool) -> Any:
    sizes = aval_of(m).shape
    if len(sizes) < 2:
        raise ValueError(
            f"numpy.{'tril' if lower else 'triu'}: m must have at least two axes, got "
            f"{aval_of(m).short()}"
        )
    rows = shaping.broadcasted_iota(np.int32, sizes[-2:], 0)
    columns = shaping.broadcasted_iota(np.int32, sizes[-2:], 1)
    offset = np.int32(k if lower else k - 1)
    inside = lax.ge(lax.add(rows, offset), columns)
    inside = promotion.full_shape(inside if lower else lax.bitwise_not(inside), sizes)
    return lax.select(inside, m, families.full_like(m, 0))


@direct("triangle")
def tril(m: ArrayLike, k: int = 0) -> Array:
    """The array with zeros above a diagonal of its last two axes.

    Args:
      m: array [..., rows, columns].
      k: which diagonal; positive ones lie above the main one.

    Source: NumPy, `numpy.tril`.

    Example:
      >>> jnp.tril(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 0],
             [3, 4]], dtype=int32)
    """
    check_arraylike("tril", m)
    return _triangle(m, k=operator.index(k), lower=True)


@direct("triangle")
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The array with zeros below a diagonal of its last two axes.

    Args:
      m: array [..., rows, columns].
      k: which diagonal; positive ones lie above the main one.

    Source: NumPy, `numpy.triu`.

    Example:
      >>> jnp.triu(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 2],
             [0, 4]], dtype=int32)
    """
    check_arraylike("triu", m)
    return _triangle(m, k=operator.index(k), lower=False)


@program(1, name="diagonal")
def _diagonal(a: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    rank = aval_of(a).ndim
    i = sizes_.canonicalize_axis(axis1, rank, "numpy.diagonal")
    j = sizes_.canonicalize_axis(axis2, rank, "numpy.diagonal")
    if i == j:
        raise ValueError("numpy.diagonal: axis1 and axis2 must differ")
    order = [d for d in range(rank) if d not in (i, j)]
    x = shaping.transpose(a, (*order, i, j))
    *_, rows, columns = aval_of(x).shape
    if is_symbolic(columns):
        *starts, length = diagonals.find_start(rows, columns, offset)
        places = shaping.counting(length)
        at = [arithmetic.add(places, first) for first in starts]
        return indexing.getitem(x, (..., *at))
    return diagonals.take(x, offset)


@direct("diagonal")
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of two axes, along a new last axis.

    Args:
      a: array of at least two axes.
      offset: which diagonal; positive ones lie above the main one.
      axis1, axis2: the rows' and columns' axes.

    Source: NumPy, `numpy.diagonal`.

    Example:
      >>> jnp.diagonal(jnp.arange(9).reshape(3, 3), offset=1)
      Array([1, 5], dtype=int32)
    """
    check_arraylike("diagonal", a)
    out = _diagonal(a, offset=operator.index(offset), axis1=axis1, axis2=axis2)
    shape = aval_of(a).shape
    is_main = len(shape) == 2 and shape[0] == shape[1] and not offset
    return promotion.strong(out) if is_main else out  # as JAX, which sums it


def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with a vector on a diagonal; or the diagonal of a matrix.

    Args:
      v: array of one or two axes.
      k: which diagonal; positive ones lie above the main one.

    Raises:
      ValueError: `v` has another number of axes.

    Source: NumPy, `numpy.diag`.

    Example:
      >>> jnp.diag(jnp.array([1, 2]))
      Array([[1, 0],
             [0, 2]], dtype=int32)
    """
    check_arraylike("diag", v)
    if aval_of(v).ndim == 2:
        return diagonal(v, k)
    if aval_of(v).ndim != 1:
        raise ValueError(
            f"numpy.diag: v must have one or two axes, got {aval_of(v).short()}"
        )
    if aval_of(v).explicit is not None:  # its entry goes to the rows, as in JAX
        return families.transpose_p.bind(
            _diag(v, k=-operator.index(k)), permutation=(1, 0)
        )
    return _diag(v, k=operator.index(k))


@program(1, name="diag")
def _diag(v: Any, *, k: int) -> Any:
    n = aval_of(v).shape[0] + abs(k)
    padded = concatenation.pad(v, promotion.scalar(0, v), [(max(k, 0), max(-k, 0), 0)])
    rows = shaping.broadcasted_iota(np.int32, (n, n), 0)
    columns = shaping.broadcasted_iota(np.int32, (n, n), 1)
    on = lax.eq(lax.add(rows, np.int32(k)), columns)
    wide = shaping.broadcast_in_dim(padded, (n, n), (1,))
    return lax.select(on, wide, families.full_like(wide, 0))


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the flattened array on a diagonal.

    Args:
      v: array.
      k: which diagonal; positive ones lie above the main one.

    Source: NumPy, `numpy.diagflat`.

    Example:
      >>> jnp.diagflat(jnp.array([1, 2]), 1)
      Array([[0, 1, 0],
             [0, 0, 2],
             [0, 0, 0]], dtype=int32)
    """
    check_arraylike("diagflat", v)
    return _diagflat(v, k=operator.index(k))


@program(1, name="diagflat")
def _diagflat(v: Any, *, k: int) -> Any:
    return promotion.strong(_diag(shaping.reshape(v, (aval_of(v).size,)), k=k))


def extract(
    condition: ArrayLike,
    arr: ArrayLike,
    *,
    size: int | None = None,
    fill_value: ArrayLike = 0,
) -> Array:
    """The elements where a condition holds, along one axis.

    Differs from NumPy: under `jit` the number of results must be known: pass `size`,
    and `fill_value` for the places left over.

    Args:
      condition: array of booleans.
      arr: array of as many elements.
      size: length of the result; needed while tracing.
      fill_value: what fills the result where fewer elements are found.

    Source: NumPy, `numpy.extract`.

    Example:
      >>> jnp.extract(jnp.array([True, False, True]), jnp.array([1, 2, 3]))
      Array([1, 3], dtype=int32)
    """
    return searching.compress(
        _ravel_operand(condition), _ravel_operand(arr), size=size, fill_value=fill_value
    )


def _ravel_operand(x: Any) -> Any:
    check_arraylike("extract", x)
    array: Any = concrete_arrays.as_array_or_tracer(x)
    return shaping.reshape(array, (aval_of(x).size,))


def choose(
    a: ArrayLike,
    choices: Arrays,
    out: None = None,
    mode: str = "raise",
) -> Array:
    """For each element the choice that its index names.

    Differs from NumPy: `mode="raise"` needs known positions, so it does not work under
    `jit`.

    Args:
      a: integer array.
      choices: sequence of arrays that broadcast against it.
      out: must be None.
      mode: "wrap" or "clip" for indices out of range; "raise" needs known indices.

    Source: NumPy, `numpy.choose`.

    Example:
      >>> jnp.choose(
      ...     jnp.array([0, 1, 0]), [jnp.array([1, 2, 3]), jnp.array([10, 20, 30])]
      ... )
      Array([ 1, 20,  3], dtype=int32)
    """
    promotion.check_out("choose", out)
    check_arraylike("choose", a, *choices)
    if dtypes.kind(aval_of(a).dtype) not in "iu":
        raise ValueError(
            f"numpy.choose: a must hold integers, got {aval_of(a).short()}"
        )
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(
            f"numpy.choose: mode must be 'raise', 'wrap' or 'clip', got {mode!r}"
        )
    if not len(choices):
        raise ValueError(
            "numpy.choose: choices must hold at least one array, got none; give one "
            "for each number in a"
        )
    if mode == "raise":
        known = searching.known_positions("choose", a)
        if known.size and (known.min() < 0 or known.max() >= len(choices)):
            raise ValueError(
                f"numpy.choose: indices must be within 0 and {len(choices) - 1}; pass "
                "mode='wrap' or mode='clip'"
            )
    return _choose(a, *choices, mode=mode)


@promotion.evaluate.fuse
def _choose(a: Any, *choices: Any, mode: str) -> Any:
    n = len(choices)
    a = lax.convert(a, np.dtype(np.int32), False)
    if mode == "wrap":
        remainder = lax.rem(a, np.int32(n))
        a = lax.select(
            lax.lt(remainder, np.int32(0)), lax.add(remainder, np.int32(n)), remainder
        )
    else:
        a = lax.min_(lax.max_(a, np.int32(0)), np.int32(n - 1))
    dtype = dtypes.result_type(*choices)
    values = [promotion.cast(x, dtype, False) for x in choices]
    shape = promotion.result_shape("choose", [aval_of(x).shape for x in (a, *values)])
    a, *values = [promotion.full_shape(x, shape) for x in (a, *values)]
    return promotion.strong(lax.select_n(a, *values))
