"""`scaled_matmul`: products of rows whose blocks have scales.

NVIDIA's GPUs that have units for such products use them, by cuDNN; XLA chooses, and
multiplies by the scales first on others. For other platforms that is written out.

Parameter:
  preferred_element_type: dtype of the result, which operands are scaled in on GPUs.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.interpreters import ad
from olympus._src.lax import contraction, elementwise, families, shaping, sharding_rules
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import compiler_calls, partitioning
from olympus._src.numerics.scaled_dot import scale_blocks, scaled_dot

_ROWS = (((2,), (2,)), ((0,), (0,)))
_F32 = np.dtype(np.float32)
# What XLA calls the dtypes that it scales operands in.
SCALED_IN = {
    _F32: "F32",
    dtypes.as_dtype("bfloat16"): "BF16",
    dtypes.as_dtype("float16"): "F16",
}


def _abstract(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, *, preferred_element_type: Any
) -> Any:
    return ShapedArray((*lhs.shape[:2], rhs.shape[1]), preferred_element_type)


def _decompose(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, *, preferred_element_type: Any
) -> Any:
    out = contraction.dot_general(
        scale_blocks(lhs, lhs_scales, _F32), scale_blocks(rhs, rhs_scales, _F32), _ROWS
    )
    return elementwise.convert(out, preferred_element_type)


def _rewrite(platform: str, *operands: Any, **params: Any) -> Any:
    """What compilers for GPUs know, unless there is nothing to compute."""
    if not all(x.size for x in operands):
        return None
    instead = {"cuda": _call_p.bind, "rocm": _composite}.get(platform)
    return None if instead is None else functools.partial(instead, **params)


def _composite(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, **params: Any
) -> Any:
    return scaled_dot(
        lhs,
        rhs,
        lhs_scale=lhs_scales,
        rhs_scale=rhs_scales,
        dimension_numbers=_ROWS,
        **params,
    )


def _call_lower(ctx: Any, *operands: str, preferred_element_type: Any) -> str:
    config = {
        "lhs_batch_dimensions": [0],
        "rhs_batch_dimensions": [0],
        "dequantize_type": SCALED_IN[np.dtype(preferred_element_type)],
    }
    batches = ""
    if ctx.module.divided_over is not None:
        batches = partitioning.batch_rule([*ctx.avals_in, *ctx.avals_out], 4, 1)
    (out,) = compiler_calls.emit(
        ctx.block,
        "__op$block_scaled_dot",
        operands,
        ctx.avals_in,
        ctx.avals_out,
        {"scaled_dot_backend_config": config},
        attributes=batches,
    )
    return out


_call_p = Primitive(
    "block_scaled_dot",
    abstract=_abstract,
    lower=_call_lower,
    needs_full_build=True,
)


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    """Values of the operation, with tangents of the product that it stands for."""
    out = scaled_matmul_p.bind(*primals, **params)

    def product(*args: Any) -> list[Any]:
        return [_decompose(*args, **params)]

    _, (tangent,) = ad.jvp(product, primals, tangents)
    return out, tangent


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    """More rows on a side, where only that is mapped; else more products."""
    mapped = [dims[i] is not None or dims[i + 2] is not None for i in (0, 1)]
    side = None if all(mapped) else mapped.index(True)
    merged = [
        x if side is not None and i % 2 != side else _merge(axis, x, dim, side)
        for i, (x, dim) in enumerate(zip(args, dims, strict=True))
    ]
    out = scaled_matmul_p.bind(*merged, **params)
    place = 0 if side is None else side + 1
    own = [
        size
        for d, size in enumerate(avals.aval_of(args[side or 0]).shape)
        if d != dims[side or 0]
    ]
    shape = list(avals.aval_of(out).shape)
    shape[place : place + 1] = [axis.size, own[0 if side is None else 1]]
    return shaping.reshape(out, tuple(shape)), place


def _merge(axis: Any, x: Any, dim: int | None, side: int | None) -> Any:
    """An operand with the mapped axis in that of the rows, or of the products."""
    place = 0 if side is None else 1
    x = families.move_axis(families.at_front(axis, x, dim), 0, place)
    shape = list(avals.aval_of(x).shape)
    shape[place : place + 2] = [shape[place] * shape[place + 1]]
    return shaping.reshape(x, tuple(shape))


def _shard(out: Any, lhs: Any, rhs: Any, *scales: Any, **params: Any) -> Any:
    return sharding_rules.dot_general(
        out, lhs, rhs, dimension_numbers=_ROWS, out_sharding=None
    )


def _reference(
    lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, *, preferred_element_type: Any
) -> Any:
    wide = [
        x.astype(np.float32)
        * np.repeat(scales.astype(np.float32), x.shape[2] // scales.shape[2], 2)
        for x, scales in ((lhs, lhs_scales), (rhs, rhs_scales))
    ]
    product = wide[0] @ np.swapaxes(wide[1], 1, 2)
    return product.astype(preferred_element_type)


scaled_matmul_p: Primitive = Primitive(
    "scaled_matmul",
    abstract=_abstract,
    decompose=_decompose,
    rewrite=_rewrite,
    jvp=_jvp,
    batch=_batch,
    shard=_shard,
    reference=_reference,
    needs_full_build=True,
)
