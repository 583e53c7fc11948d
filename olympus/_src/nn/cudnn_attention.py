"""Attention by cuDNN's fused kernels on NVIDIA's GPUs, which keep no matrix of scores.

Operands of both operations: query, key, value; for the derivative the logarithms of the
sums, the cotangent of the result, and the result; then the bias and the lengths, where
there are any.

Parameters:
  scale: factor of the scores.
  mask: what XLA calls the kind of mask: 'NO_MASK', 'CAUSAL', 'PADDING' (lengths) or
    'PADDING_CAUSAL'.
  window: of how many keys to the left of its own position a query sees the last, and
    its own; 0 where all.
  with_sums: whether logarithms of sums are a result; the derivative needs them.
  with_bias: whether a bias is an operand.
  with_bias_slope: whether the derivative has a result for it; a mask needs none.

Source: cuDNN's scaled dot-product attention (T. Dao, FlashAttention-2, 2023), by the
calls that XLA knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.api.custom_vjp import custom_vjp
from olympus._src.core import avals, dtypes
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import SymbolicZero
from olympus._src.interpreters import concrete_arrays
from olympus._src.lax import elementwise as lax
from olympus._src.lax import families, shaping
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import compiler_calls

_NAME = "nn.dot_product_attention: implementation='cudnn'"
_REMEDY = "leave `implementation` out, or pass 'xla'"
_TYPES = {dtypes.as_dtype("bfloat16"): "BF16", dtypes.as_dtype("float16"): "F16"}
# What is added to scores that do not count: far below others, and not infinite.
_UNSEEN = {"BF16": -(2.0**41), "F16": -(2.0**15)}
_F32 = np.dtype(np.float32)
_I32 = np.dtype(np.int32)


# -- what cuDNN takes ------------------------------------------------------------------


def check_cudnn(query: Any, key: Any, window: Any, is_causal: bool) -> None:
    """Raises an error where cuDNN has no kernel for operands, or is not there."""
    version = concrete_arrays.cudnn_version()
    if version is None:
        raise RuntimeError(
            f"{_NAME} needs an NVIDIA GPU with cuDNN, and cuDNN is not detected here; "
            f"{_REMEDY}, or `pip install olympus[cuda13]` on a machine with such a GPU"
        )
    capability = concrete_arrays.compute_capability()
    if capability == (10, 3) and version < 91100:
        raise NotImplementedError(
            f"{_NAME} needs cuDNN 9.11 or later on GPUs of compute capability 10.3, "
            f"got {version}; install a later nvidia-cudnn, or {_REMEDY}"
        )
    q = avals.aval_of(query)
    if q.dtype not in _TYPES:
        raise NotImplementedError(
            f"{_NAME} takes float16 and bfloat16 only, got query {q.short()}; convert "
            f"query, key and value with astype, or {_REMEDY}"
        )
    most = 256 if capability is not None and capability >= (9, 0) else 128
    if q.shape[-1] > most or q.shape[-1] % 8:
        raise NotImplementedError(
            f"{_NAME} takes a multiple of 8 features, {most} at most on this machine's "
            f"GPU, got query {q.short()}; pad features with zeros, or {_REMEDY}"
        )
    if not all(type(s) is int for s in (*q.shape, *avals.aval_of(key).shape)):
        raise NotImplementedError(
            f"{_NAME} takes no symbolic sizes, got query {q.short()}; {_REMEDY}"
        )
    if window is not None and window[1] and not is_causal:
        raise ValueError(
            f"{_NAME} has windows to the left only, unless is_causal is set, got "
            f"local_window_size {window}; pass ({window[0]}, 0), or {_REMEDY}"
        )


def _check_training(query: Any, key: Any) -> None:
    t, s = (avals.aval_of(x).shape[1] for x in (query, key))
    if t % 2 or s % 2:
        raise NotImplementedError(
            f"{_NAME} has derivatives for even numbers of positions only, got {t} of "
            f"queries and {s} of keys; pad them, with key_value_seq_lengths and "
            f"query_seq_lengths, or {_REMEDY}"
        )


# -- the two operations ----------------------------------------------------------------


def _heads_first(aval: Any) -> Any:
    b, t, n, h = aval.shape
    return ShapedArray((b, n, t, h), aval.dtype)


def _sums_aval(query: Any) -> Any:
    b, t, n, _ = query.shape
    return ShapedArray((b, n, t), _F32)


def _forward_abstract(query: Any, *others: Any, with_sums: bool, **params: Any) -> Any:
    out = ShapedArray(query.shape, query.dtype)
    return [out, _sums_aval(query)] if with_sums else [out]


def _dots(**pairs: tuple[int, int, int]) -> Any:
    """Axes of products, of [B, N, T, S] or [B, T, N, H] with [B, S, K, H]."""
    return {
        f"{name}_dot_dimension_numbers": {
            "lhs_contracting_dimensions": [str(left)],
            "rhs_contracting_dimensions": [str(right)],
            "lhs_batch_dimensions": ["0", str(heads)],
            "rhs_batch_dimensions": ["0", "2"],
        }
        for name, (left, right, heads) in pairs.items()
    }


_FORWARD_DOTS = _dots(bmm1=(3, 3, 2), bmm2=(3, 1, 1))
_BACKWARD_DOTS = _dots(
    bmm1_grad_gemm1=(2, 1, 1),
    bmm1_grad_gemm2=(3, 1, 1),
    bmm2_grad_gemm1=(2, 1, 1),
    bmm2_grad_gemm2=(3, 3, 2),
)


# Fields that are the same in all calls: no dropout, and no sequences that share rows.
_FIXED: dict[str, Any] = {
    "is_flash_attention": True,
    "is_paged_attention": False,
    "max_seg_per_batch": 1,
    "dropout_rate": 0.0,
    "seed": 42,
    "algorithm": {
        "is_cudnn_frontend": True,
        "math_type": "TENSOR_OP_MATH",
        "tuning_knobs": {"17": "1", "24": "0"},
        **dict.fromkeys(("algo_id", "workspace_size"), "0"),
    },
}
_EMPTY_FIELDS = ("dim_level_types", "dim_unique", "dim_ordered", "tiles")
_ZERO_FIELDS = (
    "element_size_in_bits",
    "memory_space",
    "dynamic_shape_metadata_prefix_bytes",
)
_TYPELESS_FIELDS = ("index_primitive_type", "pointer_primitive_type")


def _array(kind: str, sizes: list[str]) -> dict[str, Any]:
    """An array's type, as XLA's message `ShapeProto`, in rows."""
    layout: dict[str, Any] = {name: [] for name in _EMPTY_FIELDS}
    layout |= dict.fromkeys(_ZERO_FIELDS, "0")
    layout |= dict.fromkeys(_TYPELESS_FIELDS, "PRIMITIVE_TYPE_INVALID")
    layout["minor_to_major"] = [str(i) for i in range(len(sizes))][::-1]
    return {
        "dimensions": sizes,
        "element_type": kind,
        "is_dynamic_dimension": [False] * len(sizes),
        "layout": layout,
        "tuple_shapes": [],
    }


def _config(
    query: Any, key: Any, dots: Any, *, scale: float, mask: str, window: int, **_: Any
) -> dict[str, Any]:
    """What XLA is told of a call."""
    b, t, n, _h = query.shape
    sizes = [str(size) for size in (b, n, t, key.shape[1])]
    attention = {
        **dots,
        **_FIXED,
        "fmha_scale": scale,
        "mask_type": mask,
        "sliding_window_length": window,
        "intermediate_tensor_shape": _array(_TYPES[query.dtype], sizes),
    }
    return {"operation_queue_id": "0", "cudnn_fmha_backend_config": attention}


# The memory that cuDNN works in, whose size XLA finds out.
_WORKSPACE = ShapedArray((0,), np.dtype(np.uint8))
_POSITIONS_FIRST = (3, 1, 2, 0)


def _emit(
    ctx: Any, operands: Any, in_avals: Any, outs: Any, dots: Any, what: str, params: Any
) -> list[str]:
    """Writes a call; results with heads have them first, in memory as operands."""
    if ctx.platform != "cuda":
        raise NotImplementedError(
            f"{_NAME} runs on NVIDIA's GPUs only, got the platform {ctx.platform}; "
            f"{_REMEDY}"
        )
    name = "__cudnn$fmhaScaleBias" if params["with_bias"] else "__cudnn$fmha"
    with_heads = [i for i, out in enumerate(outs) if out[1]]
    kinds = [_heads_first(aval) if heads else aval for aval, heads in outs]
    names = compiler_calls.emit(
        ctx.block,
        f"{name}Softmax{what}",
        operands,
        in_avals,
        [*kinds, _WORKSPACE],
        _config(in_avals[0], in_avals[1], dots, **params),
        orders=dict.fromkeys(with_heads, _POSITIONS_FIRST),
    )[:-1]
    return [
        families.emit_transpose(ctx, x, kind, aval, (0, 2, 1, 3)) if heads else x
        for x, kind, (aval, heads) in zip(names, kinds, outs, strict=True)
    ]


def _forward_lower(ctx: Any, *operands: str, **params: Any) -> list[str]:
    outs = [(aval, aval.ndim == 4) for aval in ctx.avals_out]
    return _emit(ctx, operands, ctx.avals_in, outs, _FORWARD_DOTS, "", params)


def _backward_lower(ctx: Any, *operands: str, **params: Any) -> list[str]:
    # The call takes the bias before the result.
    order = list(range(len(operands)))
    if params["with_bias"]:
        order[5:7] = [6, 5]
    outs = [(aval, i < 3) for i, aval in enumerate(ctx.avals_out)]
    return _emit(
        ctx,
        [operands[i] for i in order],
        [ctx.avals_in[i] for i in order],
        outs,
        _BACKWARD_DOTS,
        "Backward",
        params,
    )


def _backward_abstract(*operands: Any, with_bias_slope: bool, **params: Any) -> Any:
    followed = [*operands[:3], operands[6]] if with_bias_slope else operands[:3]
    return [ShapedArray(a.shape, a.dtype) for a in followed]


def _merge(axis: Any, x: Any, dim: int | None, n_batch: int) -> Any:
    """An operand with the mapped axis joined with that of the batch."""
    x = families.at_front(axis, x, dim)
    shape = avals.aval_of(x).shape
    if shape[1] != n_batch:  # a bias of all the batch
        shape = (shape[0], n_batch, *shape[2:])
        x = shaping.broadcast_in_dim(x, shape, tuple(range(len(shape))))
    return shaping.reshape(x, (shape[0] * shape[1], *shape[2:]))


def _split(axis: Any, x: Any, n_batch: int) -> Any:
    return shaping.reshape(x, (axis.size, n_batch, *avals.aval_of(x).shape[1:]))


def _unmapped_batch(x: Any, dim: int | None) -> int:
    shape = list(avals.aval_of(x).shape)
    if dim is not None:
        del shape[dim]
    return int(shape[0])


def _forward_batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    n = _unmapped_batch(args[0], dims[0])
    merged = [_merge(axis, x, d, n) for x, d in zip(args[:3], dims, strict=False)]
    for i, (x, dim) in enumerate(zip(args[3:], dims[3:], strict=True)):
        is_shared = not i and params["with_bias"] and dim is None
        if is_shared and avals.aval_of(x).shape[0] == 1:
            merged.append(x)
        else:
            merged.append(_merge(axis, x, dim, n))
    outs = forward_p.bind(*merged, **params)
    return [_split(axis, x, n) for x in outs], [0] * len(outs)


def _backward_batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    n = _unmapped_batch(args[0], dims[0])
    merged = [_merge(axis, x, d, n) for x, d in zip(args, dims, strict=True)]
    outs = [_split(axis, x, n) for x in backward_p.bind(*merged, **params)]
    if params["with_bias_slope"] and _unmapped_batch(args[6], dims[6]) != n:
        outs[3] = _sum_of_batch(outs[3])
    return outs, [0] * len(outs)


def _sum_of_batch(x: Any) -> Any:
    """Cotangents of a bias that all the batch shares."""
    shape = list(avals.aval_of(x).shape)
    shape[1] = 1
    return shaping.reshape(families.reduce_sum_p.bind(x, axes=(1,)), tuple(shape))


def _no_slope(primals: Any, tangents: Any, **params: Any) -> Any:
    raise NotImplementedError(
        f"{_NAME} has first derivatives only, and in reverse mode; {_REMEDY}"
    )


forward_p: Primitive = Primitive(
    "dot_product_attention_fwd",
    multiple_results=True,
    abstract=_forward_abstract,
    lower=_forward_lower,
    jvp=_no_slope,
    batch=_forward_batch,
    needs_full_build=True,
)
backward_p: Primitive = Primitive(
    "dot_product_attention_bwd",
    multiple_results=True,
    abstract=_backward_abstract,
    lower=_backward_lower,
    jvp=_no_slope,
    batch=_backward_batch,
    needs_full_build=True,
)


# -- the function ----------------------------------------------------------------------


def attend(
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    mask: Any,
    q_lengths: Any,
    kv_lengths: Any,
    *,
    scale: float,
    is_causal: bool,
    window: tuple[int, int] | None,
    with_sums: bool,
) -> tuple[Any, Any]:
    """Weighted means of values [B, T, N, H], and logarithms of sums [B, T, N] or None.

    Operands have been checked; query, key and value have a batch. None stands for what
    is left out.
    """
    batch, t = avals.aval_of(query).shape[:2]
    s = avals.aval_of(key).shape[1]
    is_causal = is_causal or (window is not None and not window[1])
    kind = "CAUSAL" if is_causal else "NO_MASK"
    others = []
    with_bias_slope = bias is not None
    bias = _join_masks(bias, mask, query, key)
    if bias is not None:
        others.append(bias)
    if q_lengths is not None or kv_lengths is not None:
        kind = "PADDING_CAUSAL" if is_causal else "PADDING"
        others += [
            _lengths(x, batch, size) for x, size in ((q_lengths, t), (kv_lengths, s))
        ]
    out, sums = _differentiable(
        {
            "scale": scale,
            "mask": kind,
            "window": 0 if window is None else window[0] + 1,
            "with_bias": bias is not None,
            "with_bias_slope": with_bias_slope,
        },
        with_sums,
    )(query, key, value, *others)
    if not with_sums:
        return out, None
    sums = shaping.transpose(sums, (0, 2, 1))
    return out, lax.convert(sums, avals.aval_of(query).dtype)


def _lengths(x: Any, batch: int, size: int) -> Any:
    if x is None:
        return shaping.full((batch,), size, _I32)
    return lax.convert(x, _I32)


def _join_masks(bias: Any, mask: Any, query: Any, key: Any) -> Any:
    """One bias for a bias and a mask, with whole axes of positions."""
    dtype = avals.aval_of(query).dtype
    positions = avals.aval_of(query).shape[1], avals.aval_of(key).shape[1]
    if mask is not None:
        unseen = dtype.type(_UNSEEN[_TYPES[dtype]])
        mask = _spread(mask, positions)
        zero = shaping.full(avals.aval_of(mask).shape, 0, dtype)
        unseen = shaping.full(avals.aval_of(mask).shape, unseen, dtype)
        mask = lax.select(mask, zero, unseen)
    if bias is None or mask is None:
        return mask if bias is None else _spread(bias, positions)
    bias = _spread(bias, positions)
    wide = avals.aval_of(bias).dtype
    shape = tuple(map(max, avals.aval_of(bias).shape, avals.aval_of(mask).shape))
    both = [
        shaping.broadcast_in_dim(lax.convert(x, wide), shape, (0, 1, 2, 3))
        for x in (bias, mask)
    ]
    return lax.add(*both)


def _spread(x: Any, positions: tuple[int, int]) -> Any:
    """Four axes, of which the last two are whole; others may stay 1."""
    own = avals.aval_of(x).shape
    shape = ((1,) * 4 + own)[-4:-2] + positions
    if own == shape:
        return x
    return shaping.broadcast_in_dim(x, shape, tuple(range(4 - len(own), 4)))


def _differentiable(params: dict[str, Any], with_sums: bool) -> Any:
    n_followed = 4 if params["with_bias_slope"] else 3

    @custom_vjp
    def attention(*operands: Any) -> Any:
        outs = forward_p.bind(*operands, with_sums=with_sums, **params)
        return outs[0], outs[1] if with_sums else None

    def forward(*primals: Any) -> Any:
        operands = [x.value for x in primals]
        _check_training(operands[0], operands[1])
        out, sums = forward_p.bind(*operands, with_sums=True, **params)
        return (out, sums if with_sums else None), (operands, out, sums)

    def back(saved: Any, cts: Any) -> Any:
        operands, out, sums = saved
        ct, sums_ct = cts
        if sums_ct is not None and type(sums_ct) is not SymbolicZero:
            raise NotImplementedError(
                f"{_NAME} has no derivatives of what return_residual adds; stop them "
                f"with lax.stop_gradient, or {_REMEDY}"
            )
        if type(ct) is SymbolicZero:
            return (None,) * len(operands)
        slopes = backward_p.bind(*operands[:3], sums, ct, out, *operands[3:], **params)
        return (*slopes, *[None] * (len(operands) - n_followed))

    attention.defvjp(forward, back, symbolic_zeros=True)
    return attention
