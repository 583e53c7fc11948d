"""Contractions: `dot_general` and what is written with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, explicit_shardings
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Placement
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.foundation import caching
from olympus._src.lax import (
    elementwise,
    families,
    separate_calls,
    sharding_constraints,
    sharding_rules,
    small_integers,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lax.kernels import contraction
from olympus._src.lax.precision import (
    DotDimensionNumbers,
    PrecisionLike,
    algorithm_dtypes,
    canonical_precision,
    precision_text,
)
from olympus._src.lowering import types


def check_dimensions(name: str, x: Any, y: Any, dimension_numbers: Any) -> None:
    """Raises TypeError unless axes of two operands can be contracted and batched."""
    (cx, cy), (bx, by) = dimension_numbers
    if len(cx) != len(cy) or len(bx) != len(by):
        raise TypeError(
            f"{name}: each operand must contract and batch as many axes as the "
            f"other, got {dimension_numbers}"
        )
    for aval, dims, which in ((x, (*cx, *bx), "first"), (y, (*cy, *by), "second")):
        if len(set(dims)) != len(dims) or any(not 0 <= d < aval.ndim for d in dims):
            raise TypeError(
                f"{name}: axes of the {which} operand must be distinct and "
                f"within {aval.short()}, got contracting and batch axes {dims}"
            )
    for kind, xs, ys in (("contracting", cx, cy), ("batch", bx, by)):
        x_sizes = tuple([x.shape[d] for d in xs])
        y_sizes = tuple([y.shape[d] for d in ys])
        if x_sizes != y_sizes:
            raise TypeError(
                f"{name}: {kind} axes must have equal sizes, got {x_sizes} of "
                f"{x.short()} and {y_sizes} of {y.short()}"
            )


def _abstract(
    x: Any,
    y: Any,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
    out_sharding: Any,
) -> Any:
    check_dimensions("lax.dot_general", x, y, dimension_numbers)
    (cx, cy), (bx, by) = dimension_numbers
    shape = [x.shape[d] for d in bx]
    shape += [s for d, s in enumerate(x.shape) if d not in cx and d not in bx]
    shape += [s for d, s in enumerate(y.shape) if d not in cy and d not in by]
    dtype = common_dtype(x, y)
    if preferred_element_type is not None:
        check_preferred("lax.dot_general", dtype, preferred_element_type)
        dtype = preferred_element_type
    return ShapedArray(tuple(shape), dtype, x.weak_type and y.weak_type)


_KINDS = "buifc"


def common_dtype(x: Any, y: Any) -> Any:
    """One of the operands' dtypes, in which products are added up.

    It is the one whose kind comes later, or the wider one; of equally wide ones the
    signed integer, and the float of the wider range, such as bfloat16.
    """
    if x.dtype == y.dtype:
        return x.dtype
    places = [_place(a.dtype) for a in (x, y)]
    if None in places or places[0] == places[1]:
        return families.common_dtype("dot_general", (x, y))
    return (x if places[0] > places[1] else y).dtype


def _place(dtype: Any) -> Any:
    if isinstance(dtype, dtypes.ExtendedDType):
        return None
    kind = dtypes.kind(dtype)
    bits = dtypes.itemsize_bits(dtype)
    group = _KINDS.index("i" if kind == "u" else kind)
    if kind == "f":
        return (group, bits, float(dtypes.finfo(dtype).max))
    return (group, bits, kind == "i")


def check_preferred(name: str, dtype: Any, preferred: Any) -> None:
    """Raises TypeError if sums of integers or complex numbers would narrow."""
    if dtype == preferred or dtypes.kind(dtype) == "f":
        return
    if _part_bits(preferred) < _part_bits(dtype):
        raise TypeError(
            f"{name}: preferred_element_type must not be narrower than the operands' "
            f"{dtype}, got {preferred}; convert the operands or the result with astype"
        )


def _part_bits(dtype: Any) -> int:
    """The width of a number, or of one part of a complex one."""
    if dtype == np.bool_:
        return 1
    return int(dtypes.itemsize_bits(dtypes.real_dtype(dtype)))


def _lower(
    ctx: Any,
    x: str,
    y: str,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
    out_sharding: Any,
) -> str:
    (ax, ay), (out,) = ctx.avals_in, ctx.avals_out
    if ax.dtype != ay.dtype and preferred_element_type is None:
        both = [ShapedArray(a.shape, out.dtype) for a in (ax, ay)]
        x, y = ctx.block.convert(x, ax, both[0]), ctx.block.convert(y, ay, both[1])
        ax, ay = both
    sums = out
    if ctx.platform == "cpu":
        sums = ShapedArray(out.shape, _sum_dtype(ax, ay, out, dimension_numbers))
        # Bytes that are added in 32 bits have a kernel of their own.
        if not (ax.dtype == ay.dtype == np.int8 and sums.dtype == np.int32):
            x, ax = _widen(ctx, x, ax, sums)
            y, ay = _widen(ctx, y, ay, sums)
    elif dtypes.issubdtype(out.dtype, np.inexact):
        # XLA's loops of GPUs multiply integers as floats, which LLVM refuses.
        x, ax = _as_float(ctx, x, ax, out)
        y, ay = _as_float(ctx, y, ay, out)
    named = algorithm_dtypes(precision, ctx.platform, ax.dtype, ay.dtype, sums.dtype)
    wanted = [
        a if a.dtype == dtype else ShapedArray(a.shape, dtype)
        for a, dtype in zip((ax, ay, sums), named, strict=True)
    ]
    x, y = ctx.block.convert(x, ax, wanted[0]), ctx.block.convert(y, ay, wanted[1])
    ax, ay, sums = wanted
    (cx, cy), (bx, by) = dimension_numbers
    lists = types.int_list
    batching = f" batching_dims = {lists(bx)} x {lists(by)}," if bx else ""
    exact = precision_text(precision, ctx.platform, *ctx.avals_in)
    t = types.tensor_type
    product = ctx.block.emit(
        f"stablehlo.dot_general {x}, {y},{batching} contracting_dims = "
        f"{lists(cx)} x {lists(cy)}{exact} : ({t(ax)}, {t(ay)}) -> {t(sums)}"
    )
    return ctx.block.convert(product, sums, out)


_INT32 = np.dtype(np.int32)
_LARGE = 2**17  # multiplications from which on a product of integers is converted


def _sum_dtype(ax: Any, ay: Any, out: Any, dimension_numbers: Any) -> Any:
    """In which dtype the CPU adds up: of integers it has a fast product of int32 only.

    Sums of narrower integers are those of int32 modulo a power of two, and of bools
    those that are not zero. 512 x 512: 4-8 ms, where int8 took 74 and uint32 311.
    """
    (cx, _), _ = dimension_numbers
    kinds = {a.dtype.kind for a in (ax, ay, out)}
    narrow = kinds <= set("iu") or kinds == {"b"}
    if any(small_integers.whole_bytes(a) is not a for a in (ax, ay, out)):
        return _INT32  # the compiler has no product of int2
    if not narrow or out.dtype.itemsize > 4:
        return out.dtype
    if types.has_symbolic_size(ax) or types.has_symbolic_size(ay):
        return _INT32
    work = out.size * math.prod([ax.shape[d] for d in cx])
    return _INT32 if work >= _LARGE else out.dtype


def _widen(ctx: Any, x: str, aval: Any, out: Any) -> Any:
    """CPU contracts 8-bit floats and small integers in the result's type."""
    if aval.dtype == out.dtype:
        return x, aval
    small_float = (
        dtypes.issubdtype(aval.dtype, np.floating) and aval.dtype.itemsize == 1
    )
    whole = dtypes.issubdtype(aval.dtype, np.integer) or aval.dtype == np.bool_
    if small_float or whole:
        wide = ShapedArray(aval.shape, out.dtype)
        return ctx.block.convert(x, aval, wide), wide
    return x, aval


def _as_float(ctx: Any, x: str, aval: Any, out: Any) -> Any:
    """An integer operand in the dtype of a result that is inexact."""
    if dtypes.issubdtype(aval.dtype, np.inexact):
        return x, aval
    floating = ShapedArray(aval.shape, out.dtype)
    return ctx.block.convert(x, aval, floating), floating


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    x, y = primals
    tx, ty = tangents
    out = dot_general_p.bind(x, y, **params)
    total = Zero(avals.aval_of(out).to_tangent())
    if type(tx) is not Zero:
        total = families.add_tangents(total, dot_general_p.bind(tx, y, **params))
    if type(ty) is not Zero:
        total = families.add_tangents(total, dot_general_p.bind(x, ty, **params))
    return out, total


def _free(rank: int, *taken: Sequence[int]) -> list[int]:
    used = {d for dims in taken for d in dims}
    return [d for d in range(rank) if d not in used]


_Axes = tuple[int, ...]


@caching.bounded_cache(1024, "transposed products")
def _plan_transposed(
    cx: _Axes, cy: _Axes, bx: _Axes, by: _Axes, x_rank: int, y_rank: int, swap: bool
) -> tuple[bool, Any, Sequence[int], _Axes | None]:
    """How the cotangent of one operand of a product is computed from the other.

    Args:
      cx, bx: axes of the operand that are contracted, and of the batch.
      cy, by: those of the other one.
      x_rank, y_rank: of both.
      swap: whether it is the second in the product.

    Returns:
      Whether the other operand comes before the cotangent in a product; the dimension
      numbers of this; which axes of the operand its axes are; and what permutes them to
      their order there, or None.
    """
    x_free, y_free = _free(x_rank, cx, bx), _free(y_rank, cy, by)
    n = len(bx)
    start = n if swap else n + len(x_free)
    ct_y = range(start, start + len(y_free))
    contract, batch = (tuple(ct_y), tuple(y_free)), (tuple(range(n)), by)
    # The axes come out as: batch, free axes of x, contracted axes in the order of y;
    # with the operands exchanged, the latter two are.
    contracted = [c for _, c in sorted(zip(cy, cx, strict=True))]
    order = [*bx, *x_free, *contracted]
    exchanged = [*bx, *contracted, *x_free]
    if order == sorted(order):
        return False, (contract, batch), order, None
    if exchanged == sorted(order):
        return True, (contract[::-1], batch[::-1]), exchanged, None
    return False, (contract, batch), order, families.inverse(order)


def _transpose_first(
    ct: Any, y: Any, x_aval: Any, dimension_numbers: Any, swap: bool, params: Any
) -> Any:
    """The cotangent of the first operand, given the second."""
    (cx, cy), (bx, by) = dimension_numbers
    y_aval = avals.aval_of(y)
    axes = tuple(cx), tuple(cy), tuple(bx), tuple(by)
    plan = _plan_transposed(*axes, x_aval.ndim, y_aval.ndim, swap)
    is_exchanged, out_numbers, out_axes, permutation = plan
    mesh = sharding_rules.mesh_of(x_aval, y_aval, avals.aval_of(ct))
    params["out_sharding"] = None
    if mesh is not None:
        params["out_sharding"] = sharding_rules.pick(mesh, x_aval, out_axes)
    operands = (y, ct) if is_exchanged else (ct, y)
    out = dot_general_p.bind(*operands, dimension_numbers=out_numbers, **params)
    if permutation is not None:
        out = families.transpose_p.bind(out, permutation=permutation)
    return elementwise.convert(out, x_aval.dtype)


def _transpose(cts: Any, x: Any, y: Any, **params: Any) -> Any:
    (ct,) = cts
    unknown = x if type(x) is Linear else y
    if type(ct) is Zero:
        zero = Zero(unknown.aval)
        return [zero, None] if unknown is x else [None, zero]
    dimension_numbers = params.pop("dimension_numbers")
    if unknown is x:
        out = _transpose_first(ct, y, x.aval, dimension_numbers, False, params)
        return [out, None]
    (cx, cy), (bx, by) = dimension_numbers
    flipped = ((cy, cx), (by, bx))
    out = _transpose_first(ct, x, y.aval, flipped, True, params)
    return [None, out]


def _batch(
    axis: Any, args: Any, dims: Any, *, dimension_numbers: Any, **params: Any
) -> Any:
    (cx, cy), (bx, by) = dimension_numbers
    x, y = args
    dx, dy = dims

    def shift(axes: Any, dim: int | None) -> tuple[int, ...]:
        return tuple([a if dim is None else a + (a >= dim) for a in axes])

    contract = (shift(cx, dx), shift(cy, dy))
    batch = (shift(bx, dx), shift(by, dy))
    if dx is not None and dy is not None:
        batch = ((dx, *batch[0]), (dy, *batch[1]))
        out_dim = 0
    elif dx is not None:
        free = _free(avals.aval_of(x).ndim, *(contract[0], batch[0]))
        out_dim = len(bx) + free.index(dx)
    else:
        x_free = _free(avals.aval_of(x).ndim, cx, bx)
        free = _free(avals.aval_of(y).ndim, *(contract[1], batch[1]))
        out_dim = len(bx) + len(x_free) + free.index(dy)
    if params["out_sharding"] is not None:
        rows = [
            explicit_shardings.entries_of(avals.aval_of(a))[d]
            for a, d in zip(args, dims, strict=True)
            if d is not None
        ]
        (entry,) = sharding_rules.join(*[(row,) for row in rows])
        params["out_sharding"] = explicit_shardings.with_mapped_axis(
            params["out_sharding"], out_dim, entry
        )
    out = dot_general_p.bind(x, y, dimension_numbers=(contract, batch), **params)
    return out, out_dim


def _print(eqn: Any) -> Any:
    params = eqn.params
    (cx, cy), (bx, by) = params["dimension_numbers"]
    dims = ((list(cx), list(cy)), (list(bx), list(by)))
    pairs = [("dimension_numbers", dims)]
    if params["precision"] is not None:
        pairs.append(("precision", params["precision"]))
    pairs.append(("preferred_element_type", params["preferred_element_type"]))
    return [(k, v) for k, v in pairs if v is not None]


def _reference(
    x: Any, y: Any, *, dimension_numbers: Any, preferred_element_type: Any, **_: Any
) -> Any:
    (cx, cy), (bx, by) = dimension_numbers
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    xs = [next(letters) for _ in x.shape]
    ys = [next(letters) for _ in y.shape]
    for i, j in (*zip(cx, cy, strict=True), *zip(bx, by, strict=True)):
        ys[j] = xs[i]
    out = [xs[d] for d in bx] + [xs[d] for d in _free(x.ndim, cx, bx)]
    out += [ys[d] for d in _free(y.ndim, cy, by)]
    dtype = preferred_element_type or common_dtype(x, y)
    expr = f"{''.join(xs)},{''.join(ys)}->{''.join(out)}"
    return np.einsum(expr, x.astype(dtype), y.astype(dtype)).astype(dtype)


def _rewrite(
    platform: str,
    x: Any,
    y: Any,
    *,
    dimension_numbers: Any,
    precision: Any,
    **params: Any,
) -> Any:
    both = {"dimension_numbers": dimension_numbers, "precision": precision}
    if not dimension_numbers[1][0]:
        return None
    out, _ = dot_general_p.results((x, y), {**both, **params})
    written = contraction.choose(platform, x, y, out, **both)
    if written is not None:
        return written
    order = contraction.order_for_library(platform, x, y, out, **both)
    if order is None:
        return None
    return lambda x, y: _contract_reordered(x, y, order, **both, **params)


def _contract_reordered(
    x: Any, y: Any, order: Sequence[int], *, dimension_numbers: Any, **params: Any
) -> Any:
    """The same product, of a first operand whose axes are put in an order in memory."""
    (cx, cy), (bx, by) = dimension_numbers
    moved = families.transpose_p.bind(x, permutation=tuple(order))
    moved = separate_calls.kept_p.bind(moved)
    numbers = (
        (tuple(map(order.index, cx)), cy),
        (tuple(map(order.index, bx)), by),
    )
    return dot_general_p.bind(moved, y, dimension_numbers=numbers, **params)


dot_general_p = Primitive(
    "dot_general",
    shard=sharding_rules.dot_general,
    abstract=_abstract,
    lower=_lower,
    rewrite=_rewrite,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    print=_print,
    reference=_reference,
    needs_full_build=True,
    taylor=families.bilinear_series,
)


def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Contracts axes of two arrays, over shared batch axes.

    Args:
      lhs, rhs: arrays; of two dtypes the wider one is used, and floats over integers.
      dimension_numbers: `((lhs contracting, rhs contracting), (lhs batch, rhs batch))`,
        each a sequence of axes.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sum and the result; default the operands'.

    Returns:
      An array whose axes are: batch, then lhs's remaining, then rhs's remaining.

    Raises:
      TypeError: axes do not exist, repeat, or differ in size.

    Source: `stablehlo.dot_general`.

    Example:
      >>> lax.dot_general(
      ...     jnp.ones((4, 2, 3)), jnp.ones((4, 3)), (((2,), (1,)), ((0,), (0,)))
      ... ).shape
      (4, 2)
    """
    (cx, cy), (bx, by) = dimension_numbers
    numbers = (
        (_axes(lhs, cx), _axes(rhs, cy)),
        (_axes(lhs, bx), _axes(rhs, by)),
    )
    preferred = None
    if preferred_element_type is not None:
        preferred = dtypes.canonicalize_dtype(dtypes.as_dtype(preferred_element_type))
    params = {
        "dimension_numbers": numbers,
        "precision": canonical_precision(precision),
        "preferred_element_type": preferred,
    }
    if out_sharding is None:
        return dot_general_p.bind(lhs, rhs, **params, out_sharding=None)
    sharding = sharding_constraints.resolve(
        out_sharding, "lax.dot_general out_sharding", lhs, rhs
    )
    in_type = sharding_constraints.of_types(sharding)
    out: Array = dot_general_p.bind(lhs, rhs, **params, out_sharding=in_type)
    return sharding_constraints.finish(out, sharding)


def _axes(x: Any, axes: Any) -> tuple[int, ...]:
    rank = avals.aval_of(x).ndim
    return tuple([int(a) + rank if a < 0 else int(a) for a in axes])


def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Placement = None,
) -> Array:
    """Vector or matrix product; with `dimension_numbers`, any contraction.

    Args:
      lhs: array, of one or two axes where `dimension_numbers` are not given.
      rhs: array, likewise.
      dimension_numbers: see `dot_general`.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.
      preferred_element_type: dtype of the sum and the result; default the operands'.
      out_sharding: where the result lives.

    Raises:
      TypeError: other numbers of axes, or sizes that do not agree.

    Source: `stablehlo.dot_general`.

    Example:
      >>> lax.dot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10]))
      Array([21, 43], dtype=int32)
    """
    x, y = avals.aval_of(lhs), avals.aval_of(rhs)
    if dimension_numbers is None:
        ranks_fit = 1 <= x.ndim <= 2 and 1 <= y.ndim <= 2
        if not ranks_fit or x.shape[-1] != y.shape[0]:
            raise TypeError(
                "lax.dot: operands must be vectors or matrices of agreeing sizes, got "
                f"{x.short()} and {y.short()}; use numpy.matmul for stacks of matrices"
            )
        dimension_numbers = (((x.ndim - 1,), (0,)), ((), ()))
    return dot_general(
        lhs,
        rhs,
        dimension_numbers,
        precision,
        preferred_element_type,
        out_sharding=out_sharding,
    )


def batch_matmul(
    lhs: ArrayLike, rhs: ArrayLike, precision: PrecisionLike = None
) -> Array:
    """Products of stacks of matrices.

    Args:
      lhs: array [..., n, k].
      rhs: array [..., k, m], with the same leading axes.
      precision: None, a `Precision`, its name, a pair of them, or a `DotAlgorithm`.

    Raises:
      ValueError: numbers of axes differ or are below 2.

    Example:
      >>> lax.batch_matmul(jnp.ones((4, 2, 3)), jnp.ones((4, 3, 5))).shape
      (4, 2, 5)
    """
    rank = avals.aval_of(lhs).ndim
    if rank < 2 or rank != avals.aval_of(rhs).ndim:
        raise ValueError(
            "lax.batch_matmul: operands must have equal ranks, two or more, got "
            f"{avals.aval_of(lhs).short()} and {avals.aval_of(rhs).short()}"
        )
    batch = tuple(range(rank - 2))
    numbers = (((rank - 1,), (rank - 2,)), (batch, batch))
    return dot_general(lhs, rhs, numbers, precision)
