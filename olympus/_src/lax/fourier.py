"""Discrete Fourier transforms."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.array_type import Array, ArrayLike
from olympus._src.core.primitive import Primitive
from olympus._src.core.symbolic_values import Zero
from olympus._src.lax import (
    concatenation,
    elementwise,
    families,
    layout_constraints,
    shaping,
    sharding_rules,
    sizes,
)
from olympus._src.lax.families import ShapedArray
from olympus._src.lowering import dynamic_shapes, partitioning, types
from olympus._src.sharding import layouts

_MOST_AXES = 3  # of one operation of StableHLO


class FftType(enum.IntEnum):
    """The kind of transform: forward or inverse, of complex or real numbers."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def _halve_last(lengths: Sequence[int]) -> tuple[int, ...]:
    """How many frequencies of real numbers are not the conjugates of others."""
    return (*lengths[:-1], lengths[-1] // 2 + 1)


def _abstract(x: Any, *, fft_type: FftType, fft_lengths: Any) -> Any:
    if not isinstance(fft_type, FftType):
        raise TypeError(
            f"lax.fft: fft_type must be an FftType, got {fft_type!r}; write FftType.FFT"
        )
    lengths = tuple(fft_lengths)
    if not 1 <= len(lengths) <= _MOST_AXES or len(lengths) > x.ndim:
        raise ValueError(
            "lax.fft: fft_lengths must name one to three of the last axes, got "
            f"{lengths} for {x.short()}; transform other axes by further calls"
        )
    actual = x.shape[x.ndim - len(lengths) :]
    back_to_real = fft_type == FftType.IRFFT
    expected = lengths
    if back_to_real:  # no numbers may come of no frequencies, or of one
        expected = _halve_last(lengths) if lengths[-1] else (*lengths[:-1], actual[-1])
    if actual != expected:
        raise ValueError(
            f"lax.fft: the last axes of the operand must have sizes {expected} for "
            f"{fft_type.name} with fft_lengths {lengths}, got {x.short()}; slice or "
            "pad it"
        )
    takes = ("float32", "float64") if fft_type == FftType.RFFT else ()
    takes = takes or ("complex64", "complex128")
    if x.dtype.name not in takes:
        raise ValueError(
            f"lax.fft: {fft_type.name} does not accept dtype {x.dtype}: the operand "
            f"must be {' or '.join(takes)}, got {x.short()}; convert it with astype"
        )
    many = x.shape[: x.ndim - len(lengths)]
    if fft_type == FftType.RFFT:
        dtype = np.result_type(x.dtype, np.complex64)
        return ShapedArray((*many, *_halve_last(lengths)), dtype)
    dtype = np.zeros((), x.dtype).real.dtype if back_to_real else x.dtype
    return ShapedArray((*many, *lengths), dtype)


def _lower(ctx: Any, x: str, *, fft_type: FftType, fft_lengths: Any) -> str:
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if dynamic_shapes.any_symbolic(fft_lengths):
        raise NotImplementedError(
            "lax.fft: the lengths of transformed axes must be known when a program is "
            f"lowered, got {tuple(fft_lengths)}; give these axes a fixed size, or pad "
            "them to one"
        )
    if not types.has_symbolic_size(aval) and not (out.size and aval.size):
        return ctx.block.splat(0, out)
    if all(length == 1 for length in fft_lengths):
        return _emit_single_elements(ctx, x, fft_type)
    # XLA stops where it divided a transformed axis (jaxlib 0.10.2).
    axes = range(aval.ndim - len(fft_lengths), aval.ndim)
    x = _keep_in_order(ctx, x, aval, axes)
    result = ctx.block.emit(
        f"stablehlo.fft {x}, type = {fft_type.name}, length = "
        f"{types.int_list(fft_lengths)} : ({types.tensor_type(aval)}) -> "
        f"{types.tensor_type(out)}"
    )
    return _keep_in_order(ctx, result, out, axes)


def _keep_in_order(ctx: Any, x: str, aval: Any, axes: Sequence[int]) -> str:
    """An operand or a result as XLA's transforms need it, whatever moves the parts."""
    x = partitioning.keep_whole(ctx, x, aval, axes)
    if ctx.module.divided_over is None or not layouts.divided_where_constrained:
        return x
    # XLA stops where the exchange of parts has chosen another order of the elements.
    return layout_constraints.emit_row_major(ctx, x, aval)


def _emit_single_elements(ctx: Any, x: str, fft_type: FftType) -> str:
    """Transforms of single elements, which are these.

    XLA's own may have a layout that its kernel refuses, in divided programs.
    """
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    if fft_type == FftType.RFFT:
        parts = ShapedArray(aval.shape, aval.dtype)
        zero, t = ctx.block.splat(0, parts), types.tensor_type
        kinds = f"({t(parts)}, {t(parts)}) -> {t(out)}"
        return ctx.block.emit(f"stablehlo.complex {x}, {zero} : {kinds}")
    if fft_type == FftType.IRFFT:
        kinds = f"({types.tensor_type(aval)}) -> {types.tensor_type(out)}"
        return ctx.block.emit(f"stablehlo.real {x} : {kinds}")
    return x


def _transpose(cts: Any, x: Any, *, fft_type: FftType, fft_lengths: Any) -> Any:
    """The matrix of a transform is symmetric; only halves need care."""
    (ct,) = cts
    if type(ct) is Zero:
        return [Zero(x.aval)]
    if fft_type == FftType.RFFT:
        return [_transpose_of_rfft(ct, fft_lengths)]
    if fft_type == FftType.IRFFT:
        return [_transpose_of_irfft(ct, x.aval, fft_lengths)]
    return [fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)]


def _transpose_of_rfft(ct: Any, lengths: Any) -> Any:
    aval = avals.aval_of(ct)
    if len(lengths) == 1:
        # The way back reads each frequency between the ends twice, and divides by n.
        n = float(lengths[0])
        weighted = _weight_frequencies(elementwise.conj(ct), lengths, n / 2, n)
        return fft_p.bind(weighted, fft_type=FftType.IRFFT, fft_lengths=lengths)
    # Of all frequencies those beyond the half were dropped: they get zeros. With more
    # axes the ends are not real numbers, and platforms differ in what they read there.
    config = [(0, 0, 0)] * (aval.ndim - 1) + [(0, lengths[-1] - aval.shape[-1], 0)]
    full = concatenation.pad(ct, np.zeros((), aval.dtype)[()], config)
    out = fft_p.bind(full, fft_type=FftType.FFT, fft_lengths=lengths)
    return elementwise.real(out)


def _transpose_of_irfft(ct: Any, aval: Any, lengths: Any) -> Any:
    """Each frequency between the ends was read twice: itself, and as a conjugate."""
    if not lengths[-1]:
        return shaping.full(aval.shape, 0, aval.dtype)
    frequencies = fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=lengths)
    count = math.prod(lengths)
    return _weight_frequencies(
        elementwise.conj(frequencies), lengths, 2.0 / count, 1.0 / count
    )


def _weight_frequencies(x: Any, lengths: Any, inner: float, ends: float) -> Any:
    """Frequencies times one number; times another at the ends of the half."""
    aval = avals.aval_of(x)
    weights = np.full(aval.shape[-1], inner)
    weights[0] = ends
    if lengths[-1] % 2 == 0:
        weights[-1] = ends
    scale = shaping.broadcast_in_dim(
        weights.astype(aval.dtype), aval.shape, (aval.ndim - 1,)
    )
    return elementwise.mul(x, scale)


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    return fft_p.bind(families.move_axis(args[0], dims[0], 0), **params), 0


def _reference(x: np.ndarray, *, fft_type: FftType, fft_lengths: Any) -> np.ndarray:
    axes = range(x.ndim - len(fft_lengths), x.ndim)
    by_type: dict[FftType, Callable[..., np.ndarray]] = {
        FftType.FFT: np.fft.fftn,
        FftType.IFFT: np.fft.ifftn,
        FftType.RFFT: np.fft.rfftn,
        FftType.IRFFT: np.fft.irfftn,
    }
    return by_type[fft_type](x, fft_lengths, axes)


fft_p: Primitive = Primitive(
    "fft",
    shard=sharding_rules.fft,
    abstract=_abstract,
    lower=_lower,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    jvp=families.linear_jvp,
)


def fft(
    x: ArrayLike, fft_type: FftType | str | int, fft_lengths: Sequence[int]
) -> Array:
    """The discrete Fourier transform along the last axes.

    Args:
      x: array; its last axes have the sizes of `fft_lengths`, the last one n // 2 + 1
        for IRFFT.
      fft_type: an `FftType` or its name: FFT and IFFT of complex numbers, RFFT of real
        ones, IRFFT back to real ones.
      fft_lengths: the sizes of one to three axes; where it is empty nothing is done.

    Returns:
      An array: complex, but real for IRFFT; RFFT leaves n // 2 + 1 elements along the
      last axis.

    Raises:
      ValueError: sizes do not agree, there is no such transform, or RFFT is given
        complex numbers.
      TypeError: `fft_type` is not a name or number of a transform.

    Source: `stablehlo.fft`.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> print(lax.fft(np.ones(4, "complex64"), "fft", (4,)))
      [4.+0.j 0.+0.j 0.+0.j 0.+0.j]
    """
    kind = _type_of(fft_type)
    lengths = sizes.canonicalize_shape(fft_lengths, "lax.fft")
    dtype = avals.aval_of(x).dtype
    if kind == FftType.RFFT:
        if dtypes.kind(dtype) == "c":
            raise ValueError(
                "lax.fft: only real valued inputs supported for rfft, got "
                f"{avals.aval_of(x).short()}; use FFT, or take the real part"
            )
        x = elementwise.convert(x, dtypes.to_inexact_dtype(dtype))
    elif dtypes.kind(dtype) != "c":
        double = dtypes.to_inexact_dtype(dtype) == np.float64
        x = elementwise.convert(x, np.dtype(np.complex128 if double else np.complex64))
    if not lengths:
        return elementwise.unchanged(x)
    return fft_p.bind(x, fft_type=kind, fft_lengths=lengths)


def _type_of(kind: Any) -> FftType:
    if isinstance(kind, FftType):
        return kind
    if isinstance(kind, str):
        if kind.upper() in FftType.__members__:
            return FftType[kind.upper()]
        raise ValueError(
            f"lax.fft: Unknown FFT type {kind!r}; take one of "
            f"{', '.join(FftType.__members__)}"
        )
    raise TypeError(f"lax.fft: Unknown FFT type value {kind!r}; pass an FftType")
