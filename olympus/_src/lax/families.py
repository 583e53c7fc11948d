"""Families of primitives: each function fills the fields its family shares.

An elementwise operation takes operands of one shape, and scalars. All rules
that follow from that (types, batching, lowering, tangents) are written here once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, explicit_shardings, high_values, sizes
from olympus._src.core import primitive as primitive_
from olympus._src.core.primitive import Cost, Exact, Primitive, Remade, takes_primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.core.trace import current
from olympus._src.foundation import config
from olympus._src.lax import sharding_rules
from olympus._src.lax.power_series import linear_series
from olympus._src.lax.precision import accuracy_text
from olympus._src.lowering import types

ShapedArray = avals.ShapedArray

# -- kinds of dtypes -------------------------------------------------------------------

BOOL = np.bool_
INTEGER = np.integer
FLOATING = np.floating
COMPLEX = np.complexfloating
INEXACT = np.inexact
NUMBER = np.number
SIGNED = np.signedinteger
KEY = dtypes.prng_key

INT = (INTEGER,)
FLOAT = (FLOATING,)
FLOAT_COMPLEX = (INEXACT,)
REAL = (INTEGER, FLOATING)
ORDERED = (BOOL, INTEGER, FLOATING)
NUMERIC = (NUMBER,)
BOOL_INT = (BOOL, INTEGER)
ANY = (BOOL, NUMBER)

_NAMES = {
    BOOL: "bool",
    INTEGER: "integer",
    FLOATING: "floating",
    COMPLEX: "complex",
    INEXACT: "floating or complex",
    NUMBER: "number",
    SIGNED: "signed integer",
    KEY: "key",
}


def check_dtype(
    name: str, aval: Any, accepts: Sequence[Any], operand: str = ""
) -> None:
    """Raises TypeError unless the dtype is of one of the kinds `accepts`."""
    if _is_accepted(aval.dtype, accepts):
        return
    kinds = " or ".join(_NAMES[k] for k in accepts)
    raise TypeError(
        f"{name} does not accept dtype {aval.dtype}: {operand or 'its operand'} must "
        f"be of {kinds} dtype, got {aval.short()}; convert it with "
        "lax.convert_element_type"
    )


def _is_accepted(dtype: Any, accepts: Sequence[Any]) -> bool:
    if isinstance(dtype, dtypes.ExtendedDType):
        return KEY in accepts
    return any(dtypes.issubdtype(dtype, kind) for kind in accepts)


# -- elementwise -----------------------------------------------------------------------


def common_shape(name: str, operands: Sequence[Any]) -> tuple[int, ...]:
    """The one shape of operands; scalars are broadcast."""
    shape = operands[0].shape
    for aval in operands[1:]:
        if aval.shape == shape or not aval.shape:
            continue
        if shape:
            listed = " and ".join([a.short() for a in operands])
            raise TypeError(
                f"lax.{name}: operands must have equal shapes, got {listed}; use "
                f"olympus.numpy to broadcast, or lax.broadcast_in_dim"
            )
        shape = aval.shape
    return shape


def common_dtype(name: str, operands: Sequence[Any]) -> Any:
    """The one dtype of operands."""
    dtype = operands[0].dtype
    for aval in operands[1:]:
        if aval.dtype != dtype:
            listed = ", ".join([str(a.dtype) for a in operands])
            raise TypeError(
                f"lax.{name} requires arguments to have the same dtypes, got {listed}; "
                "use olympus.numpy to promote, or lax.convert_element_type"
            )
    return dtype


class _Elementwise(Primitive):
    """An operation on operands of one shape, to which axes of size 1 are repeated."""

    def bind(self, *args: Any, **params: Any) -> Any:
        # Most have one operand, or two of one shape, or with a scalar; this is part of
        # every dispatch.
        if len(args) == 2:
            shape, other = getattr(args[0], "shape", ()), getattr(args[1], "shape", ())
            if shape and other and shape != other:
                args = repeat_ones(args)
        elif len(args) > 2:
            args = repeat_ones(args)
        if current.join is not None and self.vary is None:
            args = current.join(args)
        return current.trace.process(self, args, params)


def repeat_ones(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of equal ranks, repeated along axes of size 1 to those of another.

    Scalars stay; so do operands that do not fit, which the abstract rule refuses.
    """
    shapes = {shape for x in args if (shape := getattr(x, "shape", ()))}
    if len(shapes) < 2 or len({len(shape) for shape in shapes}) > 1:
        return args
    common_shape = []
    for column in zip(*shapes, strict=True):
        longer = {d for d in column if not (type(d) is int and d == 1)}
        if len(longer) > 1:
            return args
        common_shape.append(longer.pop() if longer else 1)
    return tuple([_repeat(x, tuple(common_shape)) for x in args])


def _repeat(x: Any, shape: tuple[Any, ...]) -> Any:
    own = getattr(x, "shape", ())
    if not own or own == shape:
        return x
    return broadcast_in_dim_p.bind(
        x, shape=shape, broadcast_dimensions=tuple(range(len(shape))), sharding=None
    )


def elementwise(
    name: str,
    *,
    accepts: Sequence[Any] = ANY,
    hlo: str | None = None,
    lower: Callable[..., Any] | None = None,
    decompose: Callable[..., Any] | None = None,
    out_dtype: Callable[..., Any] | None = None,
    abstract: Callable[..., Any] | None = None,
    reference: Callable[..., Any] | None = None,
    derivatives: Sequence[Callable[..., Any] | None] | None = None,
    jvp: Callable[..., Any] | None = None,
    transpose: Callable[..., Any] | None = None,
    **rules: Any,
) -> Primitive:
    """An operation applied element by element to operands of one dtype.

    Args:
      name: the primitive's name.
      accepts: kinds of dtypes its operands may have; those of one rank are repeated
        along axes of size 1.
      hlo: the StableHLO operation, as in `stablehlo.add`; or `lower`.
      lower: `(ctx, *operands, **params)`; operands already share one shape.
      decompose: in other operations, instead of both.
      out_dtype: `(*avals, **params) -> dtype` where it is not the operands' own.
      abstract: the whole rule, where operands may differ in dtype.
      reference: the meaning in NumPy.
      derivatives: for each operand `(tangent, out, *operands, **params) -> tangent`, or
        None where the derivative is zero.
      jvp: the whole rule, instead of `derivatives`.
      transpose: the rule, where the operation is linear in some operand.
    """

    def infer(*operands: Any, **params: Any) -> Any:
        for aval in operands:
            check_dtype(name, aval, accepts)
        shape = common_shape(name, operands)
        dtype = common_dtype(name, operands)
        if out_dtype is not None:
            dtype = out_dtype(*operands, **params)
        return ShapedArray(shape, dtype, all(a.weak_type for a in operands))

    def lower_rule(ctx: Any, *operands: str, **params: Any) -> Any:
        wide = spread(ctx, operands)
        if lower is not None:
            return lower(ctx, *wide, **params)
        accuracy = accuracy_text(params.get("accuracy")) if params else ""
        return ctx.block.elementwise(hlo, wide, ctx.avals_out[0], accuracy)

    if jvp is None and derivatives is not None:
        jvp = derivatives_rule(derivatives)
    rules.setdefault("shard", sharding_rules.elementwise)
    return _Elementwise(
        name,
        abstract=abstract or infer,
        lower=lower_rule if decompose is None else None,
        decompose=decompose,
        reference=reference,
        jvp=jvp,
        transpose=transpose,
        batch=elementwise_batch,
        **rules,
    )


def spread(ctx: Any, operands: Sequence[str]) -> list[str]:
    """Operands broadcast to the result's shape where they are scalars.

    Also narrows `ctx.avals_in` to the types after that.
    """
    shape = ctx.avals_out[0].shape
    if not shape:
        return list(operands)
    spread_operands = []
    for i, (x, aval) in enumerate(zip(operands, ctx.avals_in, strict=True)):
        if not aval.shape:
            wide = ShapedArray(shape, aval.dtype)
            ctx.avals_in[i] = wide
            x = ctx.block.spread(x, aval, wide)
        spread_operands.append(x)
    return spread_operands


def derivatives_rule(
    derivatives: Sequence[Callable[..., Any] | None],
) -> Callable[..., Any]:
    """The jvp rule of a one-result operation from a derivative for each operand."""

    @takes_primitive
    def jvp(p: Primitive, primals: Any, tangents: Any, /, **params: Any) -> Any:
        out = p.bind(*primals, **params)
        total = None
        for t, rule in zip(tangents, derivatives, strict=True):
            if rule is None or type(t) is Zero:
                continue
            term = rule(t, out, *primals, **params)
            if total is None:
                total = term
            elif avals.aval_of(total).shape == avals.aval_of(term).shape:
                total = add_tangents(total, term)
            else:  # a scalar was combined with an array
                total = add_tangents(
                    spread_tangent(total, out), spread_tangent(term, out)
                )
        if total is None:
            return out, Zero(avals.aval_of(out).to_tangent())
        return out, spread_tangent(total, out)

    return jvp


def spread_tangent(tangent: Any, out: Any) -> Any:
    """A tangent in the shape of its value, where scalars were broadcast."""
    have, want = avals.aval_of(tangent), avals.aval_of(out)
    if have.shape == want.shape:
        return tangent
    return broadcast_in_dim_p.bind(
        tangent, shape=want.shape, broadcast_dimensions=(), sharding=want.explicit
    )


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents, either of which may be a Zero."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    aval = avals.aval_of(x)
    if aval.is_high:
        return aval.vspace_add(x, y)
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return aval.dtype.add(x, y)
    return add_any_p.bind(x, y)


# -- batching --------------------------------------------------------------------------


@takes_primitive
def elementwise_batch(
    p: Primitive, axis: Any, args: Sequence[Any], dims: Any, /, **params: Any
) -> Any:
    """The batching rule of an elementwise operation."""
    if len(args) == 1 or _alike(args, dims):
        dim = next(d for d in dims if d is not None)
        return p.bind(*args, **params), dim
    own = [
        s if d is None else s[:d] + s[d + 1 :]
        for s, d in [
            (avals.aval_of(x).shape, d) for x, d in zip(args, dims, strict=True)
        ]
    ]
    shape = max(own, key=len)
    args = [_front(x, d, shape, axis.size) for x, d in zip(args, dims, strict=True)]
    return p.bind(*args, **params), 0


def _alike(args: Sequence[Any], dims: Sequence[int | None]) -> bool:
    """Whether mapped operands agree in shape and axis, and the others are scalars."""
    first = None
    for x, d in zip(args, dims, strict=True):
        shape = avals.aval_of(x).shape
        if d is None:
            if shape:
                return False
        elif (shape, d) != (first := first or (shape, d)):
            return False
    return True


def _front(x: Any, dim: int | None, shape: Any, size: int) -> Any:
    """An operand with the mapped axis in front; a mapped scalar fills `shape` too.

    Scalars that are not mapped stay scalars.
    """
    aval = avals.aval_of(x)
    if dim is None:
        return x if not aval.shape else insert_axis(x, 0, size)
    if aval.ndim > 1 or not shape:
        return move_axis(x, dim, 0)
    return broadcast_in_dim_p.bind(
        x, shape=(size, *shape), broadcast_dimensions=(0,), sharding=None
    )


def move_axis(x: Any, source: Any, destination: Any) -> Any:
    """`x` with one axis moved; `x` itself where it is in place already."""
    if source == destination:
        return x
    high_values.check_axes(avals.aval_of(x), "moved")
    order = [i for i in range(avals.aval_of(x).ndim) if i != source]
    order.insert(destination, source)
    return transpose_p.bind(x, permutation=tuple(order))


def insert_axis(x: Any, position: int, size: int) -> Any:
    """`x` repeated along a new axis."""
    aval = avals.aval_of(x)
    high_values.check_axes(aval, "repeated")
    shape = list(aval.shape)
    old_axes = [i for i in range(len(shape) + 1) if i != position]
    shape.insert(position, size)
    if aval.dtype == dtypes.float0:  # tangents of integers, which hold nothing
        return no_values(shape)
    return broadcast_in_dim_p.bind(
        x, shape=tuple(shape), broadcast_dimensions=tuple(old_axes), sharding=None
    )


def no_values(shape: Any) -> Any:
    """An array of float0, which holds nothing: a tangent of integers."""
    if sizes.is_constant_shape(shape):
        return np.zeros(shape, dtypes.float0)
    return broadcast_in_dim_p.bind(
        np.zeros((), dtypes.float0),
        shape=tuple(shape),
        broadcast_dimensions=(),
        sharding=None,
    )


def at_front(axis: Any, x: Any, dim: Any) -> Any:
    """`x` with its mapped axis in front, made by repetition where it has none."""
    if high_values.are_in_use() and avals.aval_of(x).is_high:
        return _rows_at_front(axis, x, dim)
    if dim is None:
        return _vary(insert_axis(x, 0, axis.size), axis.manual)
    return move_axis(x, dim, 0)


_rows_at_front = primitive_.LateRule("custom_rules.hi_rows", "at_front")
_vary = primitive_.LateRule("lax.manual_axes", "vary")


# -- the two shape operations that the families need -----------------------------------


def _broadcast_in_dim_abstract(
    operand: Any, *, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> Any:
    dims = broadcast_dimensions
    if len(dims) != operand.ndim:
        raise TypeError(
            "lax.broadcast_in_dim: broadcast_dimensions must name an axis for each of "
            f"the operand's {operand.ndim}, got {tuple(dims)} for {operand.short()}"
        )
    if any(not 0 <= d < len(shape) for d in dims) or list(dims) != sorted(set(dims)):
        raise ValueError(
            "lax.broadcast_in_dim: broadcast_dimensions must be strictly increasing "
            f"and within the result's {len(shape)} axes, got {tuple(dims)}"
        )
    for i, d in enumerate(dims):
        if operand.shape[i] not in (1, shape[d]):
            raise TypeError(
                f"lax.broadcast_in_dim: axis {i} of size {operand.shape[i]} cannot be "
                f"broadcast to axis {d} of size {shape[d]}; got {operand.short()} and "
                f"shape {tuple(shape)}"
            )
    if any(isinstance(s, int) and s < 0 for s in shape):
        raise TypeError(
            f"lax.broadcast_in_dim: sizes must not be negative, got {tuple(shape)}"
        )
    return ShapedArray(tuple(shape), operand.dtype, operand.weak_type)


def _broadcast_in_dim_lower(
    ctx: Any, x: str, *, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    dims = broadcast_dimensions
    if not aval.shape:
        return ctx.block.spread(x, aval, out)
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        extra = range(len(shape), len(types.physical(out)[0]))
        dims = (*dims, *extra)
    return ctx.block.broadcast(x, aval, out, dims)


def _broadcast_in_dim_transpose(
    cts: Any, x: Any, *, shape: Any, broadcast_dimensions: Any, sharding: Any
) -> Any:
    ct = cts[0]
    if type(ct) is Zero:
        return [Zero(x.aval)]
    dims = broadcast_dimensions
    grown = [d for i, d in enumerate(dims) if x.aval.shape[i] != shape[d]]
    summed = tuple(d for d in range(len(shape)) if d not in dims or d in grown)
    total = reduce_sum_p.bind(ct, axes=summed) if summed else ct
    if grown:
        kept_dims = tuple(i for i, d in enumerate(dims) if d not in grown)
        total = broadcast_in_dim_p.bind(
            total,
            shape=x.aval.shape,
            broadcast_dimensions=kept_dims,
            sharding=x.aval.to_cotangent().explicit,
        )
    return [total]


def _broadcast_in_dim_batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    shape: Any,
    broadcast_dimensions: Any,
    sharding: Any,
) -> Any:
    x = move_axis(args[0], dims[0], 0)
    if sharding is not None:
        entry = explicit_shardings.entries_of(avals.aval_of(x))[0]
        sharding = explicit_shardings.with_mapped_axis(sharding, 0, entry)
    out = broadcast_in_dim_p.bind(
        x,
        shape=(axis.size, *shape),
        broadcast_dimensions=(0, *(d + 1 for d in broadcast_dimensions)),
        sharding=sharding,
    )
    return out, 0


@takes_primitive
def linear_jvp(p: Primitive, primals: Any, tangents: Any, /, **params: Any) -> Any:
    """The jvp rule of an operation that is linear in its first operand alone."""
    out = p.bind(*primals, **params)
    if type(tangents[0]) is Zero:
        return out, Zero(avals.aval_of(out).to_tangent())
    return out, p.bind(tangents[0], *primals[1:], **params)


# -- power series ----------------------------------------------------------------------


@takes_primitive
def bilinear_series(
    p: Primitive, series: Sequence[Sequence[Any]], /, **params: Any
) -> Any:
    """The Taylor rule of an operation that is linear in each of two operands."""
    x, y = series
    out = p.bind(x[0], y[0], **params)
    total = [out]
    for k in range(1, len(x)):
        term: Any = Zero(avals.aval_of(out).to_tangent())
        for i in range(k + 1):
            a, b = x[i], y[k - i]
            if type(a) is not Zero and type(b) is not Zero:
                term = add_tangents(term, p.bind(a, b, **params))
        total.append(term)
    return total


def apply_linear(p: Primitive, primals: Any, tangents: Any, **params: Any) -> Any:
    """The derivative of an operation that is linear in all its operands at once."""
    out = p.bind(*primals, **params)
    if all(type(t) is Zero for t in tangents):
        return out, Zero(avals.aval_of(out).to_tangent())
    return out, p.bind(*[instantiate(t) for t in tangents], **params)


# The derivatives of an operation that is linear in its first operand.
LINEAR: dict[str, Any] = {"jvp": linear_jvp, "taylor": linear_series(0)}


def _print_broadcast(eqn: Any) -> Any:
    """The result's type already shows its shape."""
    params = eqn.params
    if not params["broadcast_dimensions"]:
        return []
    return [("broadcast_dimensions", params["broadcast_dimensions"])]


def _broadcast_reference(
    x: Any, *, shape: Any, broadcast_dimensions: Any, **_: Any
) -> Any:
    new_axes = [d for d in range(len(shape)) if d not in broadcast_dimensions]
    return np.broadcast_to(np.expand_dims(x, tuple(new_axes)), shape)


broadcast_in_dim_p = Primitive(
    "broadcast_in_dim",
    shard=sharding_rules.linear_in(sharding_rules.broadcast_in_dim),
    abstract=_broadcast_in_dim_abstract,
    lower=_broadcast_in_dim_lower,
    transpose=_broadcast_in_dim_transpose,
    batch=_broadcast_in_dim_batch,
    print=_print_broadcast,
    reference=_broadcast_reference,
    cost=Cost.SPREAD,
    remade=Remade.OF_OPERAND,
    may_make_nan=False,
    exact=Exact.MOVES,
    **LINEAR,
)


def _transpose_abstract(operand: Any, *, permutation: Any) -> Any:
    if sorted(permutation) != list(range(operand.ndim)):
        raise TypeError(
            "lax.transpose: permutation must be a permutation of the operand's "
            f"{operand.ndim} axes, got {tuple(permutation)} for {operand.short()}"
        )
    shape = tuple([operand.shape[i] for i in permutation])
    return ShapedArray(shape, operand.dtype, operand.weak_type)


def _transpose_lower(ctx: Any, x: str, *, permutation: Any) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    physical = len(types.physical(aval)[0])
    order = (*permutation, *range(aval.ndim, physical))
    return emit_transpose(ctx, x, aval, out, order)


def emit_transpose(ctx: Any, x: str, aval: Any, out: Any, order: Any) -> str:
    """Writes `stablehlo.transpose`."""
    return ctx.block.emit(
        f"stablehlo.transpose {x}, dims = {types.int_list(order)} : "
        f"({types.tensor_type(aval)}) -> {types.tensor_type(out)}"
    )


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def _transpose_transpose(cts: Any, x: Any, *, permutation: Any) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    return [transpose_p.bind(cts[0], permutation=inverse(permutation))]


def _transpose_batch(axis: Any, args: Any, dims: Any, *, permutation: Any) -> Any:
    (dim,) = dims
    order = (dim, *(i + (i >= dim) for i in permutation))
    return transpose_p.bind(args[0], permutation=order), 0


transpose_p = Primitive(
    "transpose",
    shard=sharding_rules.linear_in(sharding_rules.transpose),
    abstract=_transpose_abstract,
    lower=_transpose_lower,
    transpose=_transpose_transpose,
    batch=_transpose_batch,
    reference=lambda x, *, permutation: np.transpose(x, permutation),
    cost=Cost.MOVE,
    may_make_nan=False,
    exact=Exact.MOVES,
    **LINEAR,
)


def storage(aval: Any) -> Any:
    """The type of the buffer of a value: its own, or for keys that of their words."""
    return aval.storage


# -- reductions ------------------------------------------------------------------------


def reduction(
    name: str,
    *,
    hlo: str,
    identity: Callable[[Any], Any],
    accepts: Sequence[Any] = ANY,
    reference: Callable[..., Any] | None = None,
    lower: Callable[..., Any] | None = None,
    shard: Callable[..., Any] = sharding_rules.reduction,
    **rules: Any,
) -> Primitive:
    """An operation that folds some axes with an associative operation.

    Args:
      name: the primitive's name.
      hlo: the StableHLO operation of two scalars.
      identity: for a dtype, the value that changes nothing.
      accepts: kinds of dtypes.
      reference: the meaning in NumPy, taking `axes`.
      lower: the whole rule, in place of `hlo` and `identity`.
      shard: how the result is divided.
    """

    def abstract(operand: Any, *, axes: Any, **params: Any) -> Any:
        check_dtype(name, operand, accepts)
        check_axes(name, operand, axes)
        shape = tuple([d for i, d in enumerate(operand.shape) if i not in axes])
        return ShapedArray(shape, operand.dtype, operand.weak_type)

    def fold(ctx: Any, x: str, *, axes: Any, **params: Any) -> str:
        return emit_reduction(ctx, x, hlo, identity, axes)

    return Primitive(
        name,
        abstract=abstract,
        shard=shard,
        lower=lower or fold,
        batch=reduction_batch,
        reference=reference,
        fuses_operands=True,
        **rules,
    )


def emit_reduction(
    ctx: Any, x: str, hlo: str, identity: Callable[[Any], Any], axes: Any
) -> str:
    """Writes `stablehlo.reduce` with an operation of two scalars."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    scalar = ShapedArray((), aval.dtype)
    start = ctx.block.constant(identity(aval.dtype), scalar)
    text = types.tensor_type
    return ctx.block.emit(
        f"stablehlo.reduce({x} init: {start}) applies {hlo} across dimensions = "
        f"{types.int_list(axes)} : ({text(aval)}, {text(scalar)}) -> {text(out)}"
    )


def lowest(dtype: Any) -> Any:
    """The value below all others of a dtype: -inf, the least integer, or False."""
    return _end(dtype, -np.inf, "min")


def highest(dtype: Any) -> Any:
    """The value above all others of a dtype: inf, the largest integer, or True."""
    return _end(dtype, np.inf, "max")


def all_bits(dtype: Any) -> Any:
    """The value of a bool or integer dtype with every bit set."""
    return np.bool_(True) if dtype == np.bool_ else np.array(-1).astype(dtype)[()]


def _end(dtype: Any, infinity: float, field: str) -> Any:
    if dtype == np.bool_:
        return np.bool_(infinity > 0)
    if dtypes.issubdtype(dtype, np.integer):
        return getattr(dtypes.iinfo(dtype), field)
    if dtypes.issubdtype(dtype, np.complexfloating):
        return np.dtype(dtype).type(complex(infinity, infinity))
    value = np.asarray(infinity).astype(dtype)
    return value[()] if np.isinf(value) else getattr(dtypes.finfo(dtype), field)


@takes_primitive
def no_tangent(p: Primitive, primals: Any, tangents: Any, /, **params: Any) -> Any:
    """The jvp rule of an operation of one result that does not vary."""
    out = p.bind(*primals, **params)
    return out, Zero(avals.aval_of(out).to_tangent())


def check_axes(name: str, operand: Any, axes: Any) -> None:
    """Raises ValueError unless `axes` are distinct axes of the operand."""
    if any(not 0 <= a < operand.ndim for a in axes) or len(set(axes)) != len(axes):
        raise ValueError(
            f"lax.{name}: axes must be distinct and within the operand's "
            f"{operand.ndim} axes, got {tuple(axes)} for {operand.short()}"
        )


@takes_primitive
def reduction_batch(
    p: Primitive, axis: Any, args: Any, dims: Any, /, *, axes: Any, **params: Any
) -> Any:
    """The batching rule of an operation that removes `axes`."""
    (dim,) = dims
    shifted = tuple(a + (a >= dim) for a in axes)
    out_dim = dim - sum(a < dim for a in shifted)
    return p.bind(*args, axes=shifted, **params), out_dim


def _reduce_sum_transpose(cts: Any, x: Any, *, axes: Any) -> Any:
    if type(cts[0]) is Zero:
        return [Zero(x.aval)]
    kept_axes = tuple(i for i in range(x.aval.ndim) if i not in axes)
    sharding = x.aval.to_cotangent().explicit
    out = broadcast_in_dim_p.bind(
        cts[0], shape=x.aval.shape, broadcast_dimensions=kept_axes, sharding=sharding
    )
    return [out]


reduce_sum_p = reduction(
    "reduce_sum",
    shard=sharding_rules.linear_in(sharding_rules.reduction),
    hlo="stablehlo.add",
    identity=lambda dtype: 0,
    accepts=NUMERIC,
    reference=lambda x, *, axes: np.sum(x, axis=axes, dtype=x.dtype),
    transpose=_reduce_sum_transpose,
    **LINEAR,
)


add_any_p = elementwise(
    "add_any",
    shard=sharding_rules.linear_elementwise,
    hlo="stablehlo.add",
    reference=np.add,
    cost=Cost.CHEAP,
    jvp=derivatives_rule((lambda t, out, x, y: t, lambda t, out, x, y: t)),
    taylor=linear_series(),
    transpose=lambda ct, x, y: [ct[0] if type(v) is Linear else None for v in (x, y)],
    exact=Exact.NUMBERS,
)


# -- zeros and shapes of tangents ------------------------------------------------------


def insert_zero(t: Any) -> Any:
    """A zero with the type of the tangent `t`, as a value."""
    aval = avals.aval_of(t)
    return broadcast_to_shape(np.zeros((), aval.dtype)[()], aval.shape, aval.explicit)


def instantiate(t: Any, shape: Any = None) -> Any:
    """A tangent as a value: a Zero becomes zeros (a scalar where that serves)."""
    if type(t) is not Zero:
        return t
    if t.aval.is_high:
        return t.aval.vspace_zero()
    is_opaque = isinstance(t.aval.dtype, dtypes.ExtendedDType)
    zero = t.aval.dtype.zero() if is_opaque else scalar_of(t.aval, 0)
    if shape is not None:
        return zero
    return broadcast_to_shape(zero, t.aval.shape, t.aval.explicit)


def spread_to(ctx: Any, operands: Any, in_avals: Any, out: Any) -> list[str]:
    """Scalars among `operands` broadcast to the shape of `out`."""
    wide = []
    for x, aval in zip(operands, in_avals, strict=True):
        if not aval.shape and out.shape:
            x = ctx.block.spread(x, aval, ShapedArray(out.shape, aval.dtype))
        wide.append(x)
    return wide


_NUMBERS = {"b": bool, "i": int, "f": float, "c": complex}


def scalar_of(aval: Any, value: Any) -> Any:
    """A scalar as a literal: of the aval's dtype, and weak where the aval is."""
    if aval.weak_type:
        number = _NUMBERS[dtypes.kind(aval.dtype)](value)
        if avals.aval_of(number).dtype == aval.dtype:
            return number
    return number_of(value, aval.dtype)


def number_of(value: Any, dtype: Any) -> Any:
    """A number of a dtype, never weak, which traces to a literal."""
    number = np.asarray(value, dtype)[()]
    if number.itemsize < 8 or dtypes.canonicalize_dtype(number.dtype) == number.dtype:
        return number
    # Beside arrays that were made with 64 bits, though numbers have 32 at most now.
    with config.enable_x64(True):
        return broadcast_in_dim_p.bind(
            number, shape=(), broadcast_dimensions=(), sharding=None
        )


def scalar_like(x: Any, value: Any) -> Any:
    """A scalar of x's type, as a literal of the program."""
    return scalar_of(avals.aval_of(x), value)


def full_like(x: Any, value: Any) -> Any:
    """An array of x's type filled with a number."""
    aval = avals.aval_of(x)
    return broadcast_to_shape(scalar_of(aval, value), aval.shape, aval.explicit)


def fill_shape(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    """An array of a dtype filled with a number; 64 bits are kept where they are off."""
    return broadcast_to_shape(number_of(value, dtype), shape)


def broadcast_to_shape(x: Any, shape: tuple[int, ...], explicit: Any = None) -> Any:
    """`x` repeated to `shape`, which its own shape is known to fit.

    Args:
      x: array or number.
      shape: of the result.
      explicit: what the type of the result says of its division.
    """
    own = avals.aval_of(x).shape
    if own == shape:
        return x
    dims = tuple(range(len(shape) - len(own), len(shape)))
    return broadcast_in_dim_p.bind(
        x, shape=shape, broadcast_dimensions=dims, sharding=explicit
    )


def ones_like(x: Any) -> Any:
    """Ones of x's type."""
    return full_like(x, 1)
