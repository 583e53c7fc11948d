"""Choosing among cases, limiting to a range, changing the element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.core import avals as avals_
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike
from olympus._src.core.primitive import Cost, Exact, Remade
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.lax import elementwise_rules, families, sharding_rules
from olympus._src.lax.bitwise import and_
from olympus._src.lax.comparison import comparison_kind, gt, lt
from olympus._src.lax.families import ShapedArray, elementwise
from olympus._src.lowering import types


def _is_finite_lower(ctx: Any, x: str) -> str:
    t = types.tensor_type
    return ctx.block.emit(
        f"stablehlo.is_finite {x} : ({t(ctx.avals_in[0])}) -> {t(ctx.avals_out[0])}"
    )


is_finite_p = elementwise(
    "is_finite",
    accepts=families.FLOAT,
    lower=_is_finite_lower,
    out_dtype=lambda x: np.dtype(np.bool_),
    reference=np.isfinite,
    jvp=lambda primals, tangents: (
        is_finite(*primals),
        Zero(avals.aval_of(is_finite(*primals)).to_tangent()),
    ),
    cost=Cost.CHEAP,
    may_make_nan=False,
    exact=Exact.NUMBERS,
)


def _select_n_abstract(which: Any, *cases: Any) -> Any:
    if not cases:
        raise TypeError("lax.select_n: needs at least one case, got none")
    if which.dtype not in (np.bool_, np.int32):
        raise TypeError(
            "lax.select_n: `which` must be of dtype bool or int32, got "
            f"{which.short()}; compare it first, or convert it"
        )
    if which.dtype == np.bool_ and len(cases) > 2:
        raise TypeError(
            f"lax.select_n: a bool `which` selects among at most 2 cases, got "
            f"{len(cases)}; use an int32 `which`"
        )
    shape = families.common_shape("select_n", cases)
    if which.shape not in (shape, ()) and shape:
        raise TypeError(
            "lax.select_n: `which` must be a scalar or have the cases' shape, got "
            f"{which.short()} and {cases[0].short()}"
        )
    dtype = families.common_dtype("select_n", cases)
    return ShapedArray(shape or which.shape, dtype, all(c.weak_type for c in cases))


def _select_n_lower(ctx: Any, which: str, *cases: str) -> str:
    flag, out = ctx.avals_in[0], ctx.avals_out[0]
    wide = families.spread_to(ctx, cases, ctx.avals_in[1:], out)
    if len(wide) == 1:
        return wide[0]
    if flag.dtype == np.bool_:
        return elementwise_rules.emit_select(ctx, which, wide[1], wide[0], flag, out)
    return _select_tree(ctx, which, wide, 0)


def _select_tree(ctx: Any, which: str, cases: Any, offset: int) -> str:
    """Selects among cases offset.. by halving; out-of-range indices clamp."""
    if len(cases) == 1:
        return cases[0]
    flag_in, out = ctx.avals_in[0], ctx.avals_out[0]
    middle = len(cases) // 2
    bound = ctx.block.splat(offset + middle, flag_in)
    flag = ShapedArray(flag_in.shape, np.bool_)
    below = ctx.block.compare("LT", which, bound, flag_in, "SIGNED", flag)
    low = _select_tree(ctx, which, cases[:middle], offset)
    high = _select_tree(ctx, which, cases[middle:], offset + middle)
    return elementwise_rules.emit_select(ctx, below, low, high, flag, out)


def _select_n_jvp(primals: Any, tangents: Any) -> Any:
    which, *cases = primals
    out = select_n_p.bind(which, *cases)
    case_tangents = tangents[1:]
    if all(type(t) is Zero for t in case_tangents):
        return out, Zero(avals.aval_of(out).to_tangent())
    aval = avals.aval_of(out)
    parts = [families.instantiate(t, aval.shape) for t in case_tangents]
    tangent = select_n_p.bind(which, *parts)
    # All parts are scalars where the tangents of the cases with the shape are zero.
    return out, families.broadcast_to_shape(tangent, aval.shape, aval.explicit)


def _select_n_transpose(cts: Any, which: Any, *cases: Any) -> Any:
    (ct,) = cts
    out: list[Any] = [None]
    for i, case in enumerate(cases):
        if type(case) is not Linear:
            out.append(None)
        elif type(ct) is Zero:
            out.append(Zero(case.aval))
        else:
            zero = families.scalar_like(ct, 0)
            case_ct = select_n_p.bind(
                which, *[ct if j == i else zero for j in range(len(cases))]
            )
            out.append(elementwise_rules.unspread(case_ct, case.aval))
    return out


def _select_n_batch(axis: Any, args: Any, dims: Any) -> Any:
    which, *cases = args
    if dims[0] is None and not avals.aval_of(which).shape:
        ranks = [
            avals.aval_of(c).ndim - (d is not None)
            for c, d in zip(cases, dims[1:], strict=True)
        ]
        if any(ranks) or len(set(dims[1:])) == 1:
            cases = [
                families.at_front(axis, c, d)
                for c, d in zip(cases, dims[1:], strict=True)
            ]
            if len({avals.aval_of(c).ndim for c in cases}) == 1:
                return select_n_p.bind(which, *cases), 0
    args = [families.at_front(axis, x, d) for x, d in zip(args, dims, strict=True)]
    rank = max(avals.aval_of(x).ndim for x in args)
    args = [_grow_to(x, rank, args) for x in args]
    return select_n_p.bind(*args), 0


def _select_n_reference(which: Any, *cases: Any) -> Any:
    index = np.clip(which.astype(np.int32), 0, len(cases) - 1)
    return np.choose(index, cases) if len(cases) > 1 else np.asarray(cases[0])


select_n_p = families.Primitive(
    "select_n",
    key_reuse=lambda uses, eqn, operands: [uses.join(operands[1:])],
    shard=sharding_rules.select_linear,
    abstract=_select_n_abstract,
    lower=_select_n_lower,
    jvp=_select_n_jvp,
    transpose=_select_n_transpose,
    batch=_select_n_batch,
    reference=_select_n_reference,
    cost=Cost.BITS,
    remade=Remade.OF_RESIDUALS,
    may_make_nan=False,
    taylor=families.linear_series(),
    exact=Exact.MOVES,
)


def _clamp_abstract(low: Any, x: Any, high: Any) -> Any:
    families.common_dtype("clamp", (low, x, high))
    families.check_dtype("clamp", x, families.ORDERED)
    for name, bound in (("min", low), ("max", high)):
        if bound.shape not in ((), x.shape):
            raise TypeError(
                f"lax.clamp: `{name}` must be a scalar or have x's shape, got "
                f"{bound.short()} and {x.short()}"
            )
    weak = low.weak_type and x.weak_type and high.weak_type
    return ShapedArray(x.shape, x.dtype, weak)


def _clamp_derivative(t: Any, out: Any, low: Any, x: Any, high: Any) -> Any:
    zero = families.scalar_like(t, 0)
    inside = and_(gt(x, low), lt(x, high))
    return select_n(inside, zero, t)


def _clamp_lower(ctx: Any, low: str, x: str, high: str) -> str:
    out = ctx.avals_out[0]
    if out.dtype == np.bool_:  # the greater of two is either, the lesser is both
        above = ctx.block.elementwise("stablehlo.or", (low, x), out)
        return ctx.block.elementwise("stablehlo.and", (above, high), out)
    return ctx.block.elementwise("stablehlo.clamp", (low, x, high), out)


clamp_p = elementwise(
    "clamp",
    lower=_clamp_lower,
    reference=lambda low, x, high: np.minimum(np.maximum(x, low), high),
    derivatives=(
        lambda t, out, low, x, high: select_n(
            and_(gt(low, x), lt(low, high)), families.scalar_like(t, 0), t
        ),
        _clamp_derivative,
        lambda t, out, low, x, high: select_n(
            lt(high, x), families.scalar_like(t, 0), t
        ),
    ),
    cost=Cost.CHEAP,
    may_make_nan=False,
    abstract=_clamp_abstract,
    exact=Exact.ORDERED,
)


def _convert_abstract(x: Any, *, new_dtype: Any, weak_type: bool, sharding: Any) -> Any:
    if x.dtype != new_dtype and not _may_convert(x.dtype, new_dtype):
        raise TypeError(
            f"lax.convert_element_type: cannot convert {x.short()} to {new_dtype}; "
            "keys hold no numbers, use random.key_data or random.wrap_key_data"
        )
    return ShapedArray(x.shape, new_dtype, weak_type)


def _may_convert(dtype: Any, new_dtype: Any) -> bool:
    for opaque, other in ((dtype, new_dtype), (new_dtype, dtype)):
        if isinstance(opaque, dtypes.ExtendedDType):
            return not dtypes.is_extended(other) and opaque.converts(other)
    return True


def _convert_lower(
    ctx: Any, x: str, *, new_dtype: Any, weak_type: bool, sharding: Any
) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if dtypes.is_extended(aval.dtype) or dtypes.is_extended(new_dtype):
        return x  # what holds an element is the number
    is_complex = dtypes.issubdtype(aval.dtype, np.complexfloating)
    if is_complex and not dtypes.issubdtype(new_dtype, np.complexfloating):
        part = ShapedArray(aval.shape, dtypes.real_dtype(aval.dtype))
        t = types.tensor_type
        x = ctx.block.emit(f"stablehlo.real {x} : ({t(aval)}) -> {t(part)}")
        aval = part
    if new_dtype == np.bool_:
        return _nonzero(ctx, x, aval, out)
    return ctx.block.convert(x, aval, out)


def _nonzero(ctx: Any, x: str, aval: Any, out: Any) -> str:
    if aval.dtype == np.bool_:
        return x
    zero = ctx.block.splat(0, aval)
    kind = comparison_kind(aval.dtype, False)
    return ctx.block.compare("NE", x, zero, aval, kind, out)


def _convert_jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    out = convert_element_type_p.bind(*primals, **params)
    tangent_aval = avals.aval_of(out).to_tangent()
    (t,) = tangents
    if type(t) is Zero or tangent_aval.dtype == dtypes.float0:
        return out, Zero(tangent_aval)
    return out, convert_element_type_p.bind(t, **params)


def _convert_transpose(cts: Any, x: Any, **params: Any) -> Any:
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    return [
        convert_element_type_p.bind(
            ct, new_dtype=x.aval.dtype, weak_type=x.aval.weak_type, sharding=None
        )
    ]


def _print_convert(eqn: Any) -> Any:
    return [(k, eqn.params[k]) for k in ("new_dtype", "weak_type")]


def _convert_reference(x: Any, *, new_dtype: Any, **_: Any) -> Any:
    drops = x.dtype.kind == "c" and not dtypes.issubdtype(new_dtype, np.complexfloating)
    return (x.real if drops else x).astype(new_dtype)


convert_element_type_p = elementwise(
    "convert_element_type",
    shard=sharding_rules.conversion,
    lower=_convert_lower,
    jvp=_convert_jvp,
    transpose=_convert_transpose,
    print=_print_convert,
    reference=_convert_reference,
    cost=Cost.BITS,
    remade=Remade.OF_OPERAND,
    may_make_nan=False,
    taylor=families.linear_series(),
    abstract=_convert_abstract,
    exact=Exact.CONVERTED,
)


def is_finite(x: ArrayLike) -> Array:
    """Whether each element is neither infinite nor NaN.

    Args:
      x: array or scalar, floating.

    Returns:
      Bool array of the shape of `x`.

    Source: `stablehlo.is_finite`.

    Example:
      >>> from olympus import lax
      >>> lax.is_finite(float("inf"))
      Array(False, dtype=bool, weak_type=True)
    """
    return is_finite_p.bind(x)


def select_n(which: ArrayLike, *cases: ArrayLike) -> Array:
    """Picks each element from one of several cases.

    Args:
      which: bool or int32, of the cases' shape or a scalar; False picks the first case.
      *cases: arrays of one shape and dtype.

    Returns:
      Array of the cases' shape and dtype.

    Source: `stablehlo.select`.

    Example:
      >>> from olympus import lax
      >>> lax.select_n(True, 1, 2)
      Array(2, dtype=int32, weak_type=True)
    """
    aval = avals.aval_of(which)
    if dtypes.kind(aval.dtype) in "iu" and aval.dtype != np.int32:
        if dtypes.itemsize_bits(aval.dtype) >= 32:  # stays where it is in 32 bits
            ends = [families.scalar_like(which, n) for n in (0, len(cases) - 1)]
            which = clamp_p.bind(ends[0], which, ends[1])
        which = convert(which, np.dtype(np.int32))
    return select_n_p.bind(which, *cases)


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """Elements of `on_true` where `pred` holds, of `on_false` elsewhere.

    Args:
      pred: bool, of the cases' shape or a scalar.
      on_true, on_false: arrays of one shape and dtype.

    Returns:
      Array of the cases' shape and dtype.

    Source: `stablehlo.select`.

    Example:
      >>> from olympus import lax
      >>> lax.select(True, 1, 2)
      Array(1, dtype=int32, weak_type=True)
    """
    return select_n_p.bind(pred, on_false, on_true)


def convert_element_type(operand: ArrayLike, new_dtype: DTypeLike) -> Array:
    """The operand with another element type.

    Args:
      operand: array or scalar.
      new_dtype: a dtype; Python's `int`, `float`, ... give the default width.

    Returns:
      Array of the operand's shape, of the new dtype.

    Source: `stablehlo.convert`.

    Example:
      >>> from olympus import lax
      >>> lax.convert_element_type(2.7, "int32")
      Array(2, dtype=int32)
    """
    if new_dtype is None:
        raise ValueError(
            "lax.convert_element_type: new_dtype must be specified, got None; pass a "
            "dtype, such as the operand's"
        )
    out = as_element_type(operand, new_dtype)
    on_host = isinstance(out, (np.ndarray, np.generic))
    if not on_host or trace.current.trace is not trace.base():
        return out  # in traces a literal
    return convert_element_type_p.bind(
        out, new_dtype=out.dtype, weak_type=False, sharding=None
    )


def unchanged(x: Any) -> Any:
    """What an operation gives that has nothing to do to its operand: an array."""
    on_host = isinstance(x, (np.ndarray, np.generic, bool, int, float, complex))
    if not on_host or trace.current.trace is not trace.base():
        return x  # in traces a literal
    aval = avals.aval_of(x)
    return convert_element_type_p.bind(
        x, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None
    )


def as_element_type(operand: Any, new_dtype: Any) -> Any:
    """`convert_element_type`; what is known on the host may stay there."""
    dtype = dtypes.canonicalize_dtype(dtypes.as_dtype(new_dtype), True)
    if dtypes.is_extended(dtype):
        return convert_element_type_p.bind(
            operand, new_dtype=dtype, weak_type=False, sharding=None
        )
    if type(operand) is int:  # of any size that the new dtype holds
        return integer_as(operand, dtype)
    if _is_whole_on_host(operand) and dtypes.kind(dtype) in "fc":
        avals.aval_of(operand)  # refuses what arrays cannot hold
        # Before its 64 bits are cut to those of a default dtype.
        return convert_element_type_p.bind(
            np.asarray(operand).astype(dtype),
            new_dtype=dtype,
            weak_type=False,
            sharding=None,
        )
    if type(operand) is complex and dtypes.kind(dtype) not in "bc":
        raise TypeError(
            "lax.convert_element_type: a Python complex number must become complex or "
            f"bool, got {operand!r} and {dtype}; take its real part"
        )
    return convert(operand, dtype)


def _is_whole_on_host(x: Any) -> bool:
    """Whether `x` holds NumPy's integers."""
    return isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iu"


def _number_as(x: Any, dtype: Any) -> Any:
    """A number in a dtype, as the compiler converts."""
    return families.number_of(cast_on_host(np.asarray(x), dtype), dtype)


def cast_on_host(values: np.ndarray, dtype: Any) -> np.ndarray:
    """A NumPy array in a dtype, as the compiler converts.

    A float becomes the nearest integer that the dtype has, and NaN zero.
    """
    is_rounded = dtypes.kind(values.dtype) == "f" and dtypes.kind(dtype) in "iu"
    if not is_rounded:
        return values.astype(dtype)
    info = dtypes.iinfo(dtype)
    wide = values.astype(np.float64)
    # The largest integer of 64 bits is no float: the least one above it is.
    over, under = wide >= float(info.max), wide <= float(info.min)
    within = np.where(over | under | np.isnan(wide), 0, wide).astype(dtype)
    ends = (np.asarray(int(end)).astype(dtype) for end in (info.max, info.min))
    return np.select([over, under], list(ends), within)


def integer_as(x: int, dtype: Any) -> Any:
    """A Python integer in a dtype that was requested; it need not be a default one.

    Raises:
      OverflowError: it is neither of that dtype nor of the default one.
    """
    if dtypes.kind(dtype) in "iu" and not _holds(dtype, x):
        avals.aval_of(x)
    return _number_as(x, dtype)


def _holds(dtype: Any, x: int) -> bool:
    info = dtypes.iinfo(dtype)
    return int(info.min) <= x <= int(info.max)


def size_value(size: Any, dtype: Any) -> Any:
    """The size of an axis as a scalar of a dtype, known or not."""
    if type(size) is int:
        return families.number_of(size, dtype)
    return convert(size.dimension_as_value(), dtype)


def convert(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """`x` in a canonical dtype; nothing where it is of that type already."""
    aval = avals.aval_of(x)
    if aval.dtype == dtype and aval.weak_type == weak_type:
        if isinstance(x, (bool, int, float, complex)):
            return np.asarray(x, dtype)[()] if not weak_type else x
        if type(x) is np.ndarray and x.dtype != dtype:  # of 64 bits, where they are off
            return x.astype(dtype)
        return x
    if dtype == dtypes.float0:
        return np.zeros(aval.shape, dtype)
    if isinstance(x, (bool, int, float, complex)) and not weak_type:
        return _number_as(x, dtype)
    return convert_element_type_p.bind(
        x, new_dtype=dtype, weak_type=weak_type, sharding=None
    )


def _grow_to(x: Any, rank: int, others: Any) -> Any:
    """A batched scalar stretched along the other operands' axes."""
    aval = avals_.aval_of(x)
    if aval.ndim == rank:
        return x
    shape = next(s for s in (avals_.aval_of(b).shape for b in others) if len(s) == rank)
    return families.broadcast_in_dim_p.bind(
        x, shape=shape, broadcast_dimensions=tuple(range(aval.ndim)), sharding=None
    )
