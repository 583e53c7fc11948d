"""Reductions that leave NaN out, and the pair of both extremes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    Axis,
    DTypeLike,
    OptionalArray,
)
from olympus._src.interpreters import evaluate
from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families
from olympus._src.numpy import (
    arg_extremes,
    docstring_examples,
    logic,
    promotion,
    reductions,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike
from olympus._src.numpy.reductions import static_axis

if TYPE_CHECKING:
    from olympus._src.numpy import function_types


def _replace_nan(x: Any, value: float) -> Any:
    """The array with NaN replaced."""
    fill = promotion.full_shape(promotion.scalar(value, x), aval_of(x).shape)
    return lax.select(lax.ne(x, x), fill, x)


def _has_nan(x: Any) -> bool:
    return dtypes.kind(aval_of(x).dtype) in "fc"


# -- ignoring NaN ----------------------------------------------------------------------


def _without_nan(name: str, plain: Any, neutral: float, typed: bool) -> Any:
    """A fold where NaN counts as what changes nothing."""

    def folded(
        x: Any, *operands: Any, flags: Any = (False, False), **options: Any
    ) -> Any:
        where, initial = reductions.chosen(operands, flags)
        if _has_nan(x):
            empty = lax.ne(x, x)
            x = _replace_nan(x, neutral)
        else:
            empty = None
        out = plain(x, where=where, initial=initial, **options)
        if typed or empty is None:
            return out
        # Where every element is NaN, so is the extreme.
        counted = (
            empty
            if where is None
            else lax.bitwise_or(
                *promotion.broadcast(name, (empty, lax.bitwise_not(logic.truth(where))))
            )
        )
        nothing = reductions.all(
            counted, axis=options["axis"], keepdims=options["keepdims"]
        )
        if initial is not None:
            return out
        return lax.select(nothing, families.full_like(out, np.nan), out)

    folded.__name__ = name
    return functools.partial(reductions.run, evaluate.fuse(folded), name)


_ARGUMENTS = """
    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      {dtype}out: must be None.
      keepdims: keep the reduced axes, with size 1.
      initial: where the result starts from.
      where: mask of the elements that count.

    Source: NumPy, `numpy.{name}`.
"""


def _define_with_dtype(
    name: str, plain: Any, neutral: float, what: str
) -> function_types.NanFold:
    start = _without_nan(name, plain, neutral, True)

    def call(
        a: ArrayLike,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: OptionalArray = None,
        where: OptionalArray = None,
    ) -> Array:
        return start(a, out, where, initial, axis=axis, keepdims=keepdims, dtype=dtype)

    arguments = _ARGUMENTS.format(
        dtype="dtype: element type of the result.\n      ", name=name
    )
    summary = f"{what} of the elements that are not NaN.\n"
    start_early = direct(name, named="initial")
    return start_early(docstring_examples.describe(call, name, summary + arguments))


def _extreme(
    name: str, plain: Any, neutral: float, what: str
) -> function_types.NanExtreme:
    start = _without_nan(name, plain, neutral, False)

    def call(
        a: ArrayLike,
        axis: Axes = None,
        out: None = None,
        keepdims: bool = False,
        initial: OptionalArray = None,
        where: OptionalArray = None,
    ) -> Array:
        return start(a, out, where, initial, axis=axis, keepdims=keepdims)

    summary = f"{what} of the elements that are not NaN; NaN where all are.\n"
    arguments = _ARGUMENTS.format(dtype="", name=name)
    start_early = direct(name, named="initial")
    return start_early(docstring_examples.describe(call, name, summary + arguments))


nansum = _define_with_dtype("nansum", reductions.sum, 0, "The sum")
nanprod = _define_with_dtype("nanprod", reductions.prod, 1, "The product")
nanmax = _extreme("nanmax", reductions.max, -np.inf, "The largest")
nanmin = _extreme("nanmin", reductions.min, np.inf, "The smallest")


@direct("_nanmean")
def nanmean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    keepdims: bool = False,
    where: OptionalArray = None,
) -> Array:
    """The mean of the elements that are not NaN; NaN where all are.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the result.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.

    Source: NumPy, `numpy.nanmean`.

    Example:
      >>> jnp.nanmean(jnp.array([2.0, jnp.nan, 4.0]))
      Array(3., dtype=float32)
    """
    check_arraylike("nanmean", a)
    promotion.check_out("nanmean", out)
    masks = () if where is None else (where,)
    return _nanmean(a, *masks, axis=axis, dtype=dtype, keepdims=keepdims)


@evaluate.fuse
def _nanmean(a: Any, *where: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    mask = _mask_valid(a, *where)
    a = promotion.full_shape(a, promotion.aval_of(mask).shape)  # it may have more axes
    return reductions.mean(a, axis, dtype, None, keepdims, where=mask)


def _mask_valid(a: Any, where: Any = None) -> Any:
    """The mask of the elements that are not NaN and not masked."""
    mask = logic.logical_not(logic.isnan(a))
    return mask if where is None else logic.logical_and(mask, where)


def _nan_spread(name: str, plain: Any, what: str) -> function_types.NanSpread:
    def spread(a: Any, *operands: Any, masked: bool, **options: Any) -> Any:
        mean = operands[masked] if len(operands) > masked else None
        return plain(a, where=_mask_valid(a, *operands[:masked]), mean=mean, **options)

    spread.__name__ = name
    run = evaluate.fuse(spread)

    def call(
        a: ArrayLike,
        axis: Axes = None,
        dtype: DTypeLike | None = None,
        out: None = None,
        ddof: int = 0,
        keepdims: bool = False,
        where: OptionalArray = None,
        mean: OptionalArray = None,
    ) -> Array:
        check_arraylike(name, a)
        promotion.check_out(name, out)
        operands = [x for x in (where, mean) if x is not None]
        ddof = 0 if ddof is None else ddof
        options = {"axis": axis, "dtype": dtype, "ddof": ddof, "keepdims": keepdims}
        masked = where is not None
        return run(a, *operands, masked=masked, **options)

    described = docstring_examples.describe(
        call,
        name,
        f"""{what} of the elements that are not NaN.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      dtype: element type of the result.
      out: must be None.
      ddof: what is subtracted from the number of elements in the divisor.
      keepdims: keep the reduced axes, with size 1.
      where: mask of the elements that count.
      mean: the mean, where it is known.

    Source: NumPy, `numpy.{name}`.
""",
    )
    return direct(name)(described)


nanvar = _nan_spread("nanvar", reductions.var, "The variance")
nanstd = _nan_spread("nanstd", reductions.std, "The standard deviation")


def _nan_position(name: str, plain: Any, neutral: float) -> function_types.PositionOf:
    @promotion.program(1, name=name)
    def position(a: Any, *, axis: Any, keepdims: bool) -> Any:
        if not _has_nan(a):
            return plain(a, axis, keepdims=keepdims)
        positions = plain(_replace_nan(a, neutral), axis, keepdims=keepdims)
        nothing = reductions.all(lax.ne(a, a), axis=axis, keepdims=keepdims)
        never = families.full_like(positions, -1)
        return lax.select(nothing, never, positions)

    def call(
        a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False
    ) -> Array:
        check_arraylike(name, a)
        promotion.check_out(name, out)
        return position(a, axis=static_axis(axis), keepdims=bool(keepdims))

    which = "largest" if name.endswith("max") else "smallest"
    return docstring_examples.describe(
        call,
        name,
        f"""The position of the {which} element that is not NaN.

    Differs from NumPy: where all elements are NaN it is -1, not an error.

    Args:
      a: array or number.
      axis: the axis; None for the flattened array.
      out: must be None.
      keepdims: keep the reduced axis, with size 1.

    Returns:
      An integer array; -1 where all elements are NaN.

    Source: NumPy, `numpy.{name}`.
""",
    )


nanargmax = _nan_position("nanargmax", arg_extremes.argmax, -np.inf)
nanargmin = _nan_position("nanargmin", arg_extremes.argmin, np.inf)


def minmax(
    a: ArrayLike,
    axis: Axes = None,
    out: None = None,
    keepdims: bool = False,
    initial: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    where: OptionalArray = None,
) -> tuple[Array, Array]:
    """The pair of the smallest and the largest element.

    Args:
      a: array or number.
      axis: an axis, several, or None for all.
      out: must be None.
      keepdims: keep the reduced axes, with size 1.
      initial: the pair of values they start from.
      where: mask of the elements that count.

    Example:
      >>> jnp.minmax(jnp.array([[3, 1], [2, 9]]), axis=1)
      (Array([1, 2], dtype=int32), Array([3, 9], dtype=int32))
    """
    low, high = (None, None) if initial is None else initial
    return (
        reductions.min(a, axis, out, keepdims, low, where),
        reductions.max(a, axis, out, keepdims, high, where),
    )
