"""Attention: weighted means of values, by how well queries meet keys."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.interpreters import evaluate
from olympus._src.lax import contraction, shaping
from olympus._src.lax import elementwise as lax
from olympus._src.nn import cudnn_attention
from olympus._src.numpy import creation
from olympus._src.numpy.softmax_functions import check_arrays, logsumexp, softmax

_F32 = dtypes.as_dtype("float32")
_F64 = dtypes.as_dtype("float64")


# fmt: off
@overload
def dot_product_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike,
    bias: OptionalArray = ..., mask: OptionalArray = ...,
    *,
    return_residual: Literal[False] = ...,
    implementation: str | None = ...,
    scale: float | None = ...,
    is_causal: bool = ...,
    query_seq_lengths: OptionalArray = ...,
    key_value_seq_lengths: OptionalArray = ...,
    local_window_size: int | tuple[int, int] | None = ...,
) -> Array: ...
@overload
def dot_product_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike,
    bias: OptionalArray = ..., mask: OptionalArray = ...,
    *,
    return_residual: Literal[True],
    implementation: str | None = ...,
    scale: float | None = ...,
    is_causal: bool = ...,
    query_seq_lengths: OptionalArray = ...,
    key_value_seq_lengths: OptionalArray = ...,
    local_window_size: int | tuple[int, int] | None = ...,
) -> tuple[Array, Array]: ...
@overload
def dot_product_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike,
    bias: OptionalArray = ..., mask: OptionalArray = ...,
    *,
    return_residual: bool = ...,
    implementation: str | None = ...,
    scale: float | None = ...,
    is_causal: bool = ...,
    query_seq_lengths: OptionalArray = ...,
    key_value_seq_lengths: OptionalArray = ...,
    local_window_size: int | tuple[int, int] | None = ...,
) -> Array | tuple[Array, Array]: ...
# fmt: on
def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: OptionalArray = None,
    mask: OptionalArray = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: OptionalArray = None,
    key_value_seq_lengths: OptionalArray = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Array | tuple[Array, Array]:
    """Scaled dot-product attention, `softmax(scale query key^T + bias) value`.

    Axes are B (batch; may be left out of all of query, key and value), T and S
    (positions of queries and of keys), N and K (heads of queries and of keys; K divides
    N, and each head of keys serves N/K heads of queries) and H (features).

    Args:
      query: floats [B, T, N, H].
      key: floats [B, S, K, H].
      value: floats [B, S, K, H].
      bias: added to the scores; broadcasts to [B, N, T, S].
      mask: which scores count; broadcasts to [B, N, T, S].
      scale: factor of the scores; default `1 / sqrt(H)`.
      is_causal: whether a query sees only keys at its own position and before.
      query_seq_lengths: integers [B]; positions from there on give zeros.
      key_value_seq_lengths: integers [B]; keys from there on do not count.
      local_window_size: how far a query sees to the left and right: a pair, or one
        number for both.
      implementation: None or 'xla'; or 'cudnn' for cuDNN's fused kernels, on NVIDIA's
        GPUs, which keep no matrix of scores. They take float16 and bfloat16, a multiple
        of 8 features, windows to the left, and have first derivatives only.
      return_residual: also return the logarithms of the sums of the exponentials,
        [B, T, N].

    Returns:
      Floats of query's shape, or the pair.

    Raises:
      ValueError: shapes do not fit, or the implementation is unknown.
      RuntimeError: there is no cuDNN for 'cudnn'.
      NotImplementedError: cuDNN has no kernel for such operands.

    Source: Vaswani and others, "Attention is all you need" (2017), equation 1.

    Example:
      >>> from olympus import nn
      >>> nn.dot_product_attention(
      ...     jnp.ones((1, 4, 2, 8)), jnp.ones((1, 6, 2, 8)), jnp.ones((1, 6, 2, 8))
      ... ).shape
      (1, 4, 2, 8)
    """
    _check_implementation(implementation)
    if isinstance(local_window_size, int):
        local_window_size = (local_window_size, local_window_size)
    query, key, value = (
        creation.asarray(x) if isinstance(x, (list, tuple)) else x
        for x in (query, key, value)
    )
    arrays = [query, key, value, bias, mask, query_seq_lengths, key_value_seq_lengths]
    present = [x for x in arrays if x is not None]
    check_arrays("dot_product_attention", *arrays)
    _check_shapes(*arrays)
    _check_dtypes(*arrays)
    features = avals.aval_of(query).shape[-1]
    window = None if local_window_size is None else tuple(local_window_size)
    if implementation == "cudnn":
        cudnn_attention.check_cudnn(query, key, window, is_causal)
        if 0 in (*avals.aval_of(query).shape, *avals.aval_of(key).shape):
            implementation = None  # there is nothing to compute
    return _attention(
        *present,
        flags=tuple([x is not None for x in arrays]),
        scale=1 / math.sqrt(features) if scale is None else float(scale),
        is_causal=bool(is_causal),
        window=window,
        with_sums=bool(return_residual),
        by_cudnn=implementation == "cudnn",
    )


def _check_implementation(implementation: str | None) -> None:
    if implementation not in (None, "xla", "cudnn"):
        raise ValueError(
            "nn.dot_product_attention: implementation must be None, 'xla' or 'cudnn', "
            f"got {implementation!r}; leave it out"
        )


def _check_shapes(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, *lengths: Any
) -> None:
    q, k, v = (avals.aval_of(x) for x in (query, key, value))
    listed = f"query {q.short()}, key {k.short()} and value {v.short()}"
    if not (q.ndim == k.ndim == v.ndim and q.ndim in (3, 4)):
        raise ValueError(
            "nn.dot_product_attention: query, key and value must have 4 axes each, or "
            f"3 without a batch, got {listed}; add or remove the batch axis"
        )
    n, heads = q.shape[-2], k.shape[-2]
    fits = (
        k.shape == v.shape
        and q.shape[-1] == k.shape[-1]
        and q.shape[:-3] == k.shape[:-3]
    )
    if not fits:
        raise ValueError(
            "nn.dot_product_attention: key and value must have one shape, batch and "
            f"features those of query, got {listed}; reshape to "
            "[batch, positions, heads, features]"
        )
    if not heads or n % heads:
        raise ValueError(
            "nn.dot_product_attention: the number of query's heads must be a multiple "
            f"of that of key and value, got {n} and {heads}; repeat heads of query, or "
            "leave out some of key and value"
        )
    batch = q.shape[0] if q.ndim == 4 else 1
    scores = (batch, n, q.shape[-3], k.shape[-3])
    _check_broadcasts("bias", bias, scores)
    _check_broadcasts("mask", mask, scores)
    for x in lengths:
        if x is not None and avals.aval_of(x).shape != (batch,):
            raise ValueError(
                "nn.dot_product_attention: sequence lengths must be one integer for "
                f"each batch, {(batch,)}, got {avals.aval_of(x).short()}; reshape them"
            )


def _check_broadcasts(name: str, x: Any, scores: tuple[int, ...]) -> None:
    """Raises ValueError where an argument does not broadcast to the scores."""
    if x is None:
        return
    own = avals.aval_of(x).shape
    shape = (1,) * (4 - len(own)) + own
    if len(shape) != 4 or any(
        d not in (1, s) for d, s in zip(shape, scores, strict=True)
    ):
        raise ValueError(
            f"nn.dot_product_attention: {name} must broadcast to [batch, heads, "
            f"query positions, key positions] = {scores}, got shape {own}; add axes of "
            "size 1"
        )


def _check_dtypes(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, *lengths: Any
) -> None:
    q, k, v = (avals.aval_of(x) for x in (query, key, value))
    if not q.dtype == k.dtype == v.dtype:
        raise ValueError(
            "nn.dot_product_attention: query, key and value must have one dtype, got "
            f"{q.dtype}, {k.dtype} and {v.dtype}; convert them with astype"
        )
    if mask is not None and dtypes.kind(avals.aval_of(mask).dtype) != "b":
        raise ValueError(
            "nn.dot_product_attention: mask dtype should be bool, got "
            f"{avals.aval_of(mask).short()}; compare it, or pass numbers as bias"
        )
    for x in lengths:
        if x is not None and dtypes.kind(avals.aval_of(x).dtype) not in "ui":
            raise ValueError(
                "nn.dot_product_attention: sequence lengths must be integers, got "
                f"{avals.aval_of(x).short()}; convert them with astype"
            )


@evaluate.fuse
def _attention(
    *operands: Any,
    flags: Any,
    scale: float,
    is_causal: bool,
    window: Any,
    with_sums: bool,
    by_cudnn: bool,
) -> Any:
    remaining = iter(operands)
    inputs: list[Any] = [next(remaining) if there else None for there in flags]
    single = avals.aval_of(inputs[0]).ndim == 3
    if single:
        inputs[:3] = [shaping.expand_dims(x, (0,)) for x in inputs[:3]]
    attend = cudnn_attention.attend if by_cudnn else _attend
    out, sums = attend(
        *inputs, scale=scale, is_causal=is_causal, window=window, with_sums=with_sums
    )
    if single:
        out = shaping.squeeze(out, (0,))
        sums = None if sums is None else shaping.squeeze(sums, (0,))
    return (out, sums) if with_sums else out


def _attend(
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
    window: Any,
    with_sums: bool,
) -> tuple[Any, Any]:
    """Weighted means of values, and logarithms of sums or None, of a batch."""
    seen = _seen(query, key, mask, q_lengths, kv_lengths, is_causal, window)
    scores = _scores(query, key, bias, seen, scale)
    out, sums = _weighted_means(scores, value, avals.aval_of(query).dtype, with_sums)
    if q_lengths is not None:
        shape = avals.aval_of(out).shape
        is_valid = lax.lt(_positions(shape, 1), _lengths(q_lengths, shape))
        out = lax.select(is_valid, out, shaping.full_like(out, 0))
    return out, sums


def _positions(shape: Any, axis: int) -> Any:
    return shaping.broadcasted_iota("int32", shape, axis)


def _lengths(lengths: Any, shape: Any) -> Any:
    lengths = lax.convert(lengths, dtypes.as_dtype("int32"))
    return shaping.broadcast_in_dim(lengths, shape, (0,))


def _scores_shape(query: Any, key: Any) -> tuple[int, ...]:
    """[B, N, T, S]."""
    b, t, n, _ = avals.aval_of(query).shape
    return b, n, t, avals.aval_of(key).shape[1]


def _seen(
    query: Any,
    key: Any,
    mask: Any,
    q_lengths: Any,
    kv_lengths: Any,
    is_causal: bool,
    window: Any,
) -> Any:
    """Which keys each query sees, bool [B, N, T, S]; None where all."""
    shape = _scores_shape(query, key)
    t, s = (_positions(shape, axis) for axis in (2, 3))
    parts = []
    if mask is not None:
        mask = lax.convert(mask, dtypes.as_dtype("bool"))
        parts.append(_spread(mask, shape))
    if is_causal:
        parts.append(lax.ge(t, s))
    if window is not None:
        left, right = (dtypes.as_dtype("int32").type(w) for w in window)
        parts.append(lax.le(lax.sub(t, s), left))
        parts.append(lax.le(lax.sub(s, t), right))
    if q_lengths is not None:
        parts.append(lax.lt(t, _lengths(q_lengths, shape)))
    if kv_lengths is not None:
        parts.append(lax.lt(s, _lengths(kv_lengths, shape)))
    if not parts:
        return None
    seen = parts[0]
    for part in parts[1:]:
        seen = lax.bitwise_and(seen, part)
    return seen


def _spread(x: Any, shape: Any) -> Any:
    rank = avals.aval_of(x).ndim
    return shaping.broadcast_in_dim(x, shape, tuple(range(4 - rank, 4)))


def _scores(query: Any, key: Any, bias: Any, seen: Any, scale: float) -> Any:
    """Scores [B, N, T, S], at least in float32."""
    b, t, n, h = avals.aval_of(query).shape
    s, heads = avals.aval_of(key).shape[1:3]
    wide = _accumulator(avals.aval_of(query).dtype)
    grouped = shaping.reshape(query, (b, t, heads, n // heads, h))
    # [B, K, T, G, S]: queries of one group meet their head of keys.
    out = contraction.dot_general(
        grouped,
        key,
        (((4,), (3,)), ((0, 2), (0, 2))),
        preferred_element_type=wide,
    )
    out = shaping.transpose(out, (0, 1, 3, 2, 4))
    out = lax.mul(shaping.reshape(out, (b, n, t, s)), wide.type(scale))
    if bias is not None:
        out = lax.add(out, _spread(lax.convert(bias, wide), (b, n, t, s)))
    if seen is None:
        return out
    # Finite, so that a row that sees nothing gives no NaN.
    unseen = wide.type(-0.7 * float(dtypes.finfo(wide).max))
    return lax.select(seen, out, shaping.full_like(out, unseen))


def _accumulator(dtype: Any) -> Any:
    if dtypes.itemsize_bits(dtype) <= 32:
        return _F32
    return dtype if dtypes.kind(dtype) in "fc" else _F64


def _weighted_means(scores: Any, value: Any, dtype: Any, with_sums: bool) -> Any:
    b, n, t, s = avals.aval_of(scores).shape
    heads, h = avals.aval_of(value).shape[2:]
    weights = lax.convert(softmax(scores), avals.aval_of(value).dtype)
    grouped = shaping.reshape(weights, (b, heads, n // heads, t, s))
    # [B, K, G, T, H]
    out = contraction.dot_general(
        grouped,
        value,
        (((4,), (1,)), ((0, 1), (0, 2))),
        preferred_element_type=_accumulator(dtype),
    )
    out = shaping.transpose(out, (0, 3, 1, 2, 4))
    out = lax.convert(shaping.reshape(out, (b, t, n, h)), dtype)
    if not with_sums:
        return out, None
    sums = logsumexp(scores, -1)
    return out, shaping.transpose(sums, (0, 2, 1))
