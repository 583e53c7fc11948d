"""When a result agrees with the oracle's."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.public_functions.drawing import kind


class Disagreement(AssertionError):
    """A result that is not the oracle's."""


def leaves(out: Any) -> list[Any]:
    """The arrays of a result: of a tuple, a list, or a result with names."""
    if isinstance(out, (tuple, list)):
        return [leaf for x in out for leaf in leaves(x)]
    if isinstance(out, dict):
        return [leaf for key in sorted(out) for leaf in leaves(out[key])]
    return [out]


def agree(
    got: Any,
    want: Any,
    ulps: float = 4,
    scale: float = 0.0,
    kinds: bool = True,
    signs: bool = False,
) -> None:
    """Raises Disagreement unless all arrays of two results agree.

    Args:
      got: what olympus gave.
      want: what the oracle gave, in double precision.
      ulps: the allowed difference, in units of the last place of the result's dtype.
      scale: numbers of this size entered, so that differences of so many units of
        *its* last place are rounding.
      kinds: whether the kinds of dtypes must be equal.
      signs: whether zeros must have equal signs.
    """
    got, want = leaves(got), leaves(want)
    if len(got) != len(want):
        raise Disagreement(f"{len(got)} results, not {len(want)}")
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        try:
            _agree(a, b, ulps, scale, kinds, signs)
        except Disagreement as e:
            raise Disagreement(f"result {i}: {e}" if len(got) > 1 else str(e)) from None


def _agree(
    got: Any, want: Any, ulps: float, scale: float, kinds: bool, signs: bool
) -> None:
    if want is None or isinstance(want, (str, np.dtype)):
        if got != want:
            raise Disagreement(f"got {got!r}, expected {want!r}")
        return
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        raise Disagreement(f"shape {got.shape}, expected {want.shape}")
    alike = {"u": "i"}
    ours, theirs = kind(got.dtype), kind(want.dtype)
    if kinds and alike.get(ours, ours) != alike.get(theirs, theirs):
        raise Disagreement(f"dtype {got.dtype}, expected one like {want.dtype}")
    with np.errstate(all="ignore"):
        want = want.astype(got.dtype)
    wrong = ~close(got, want, ulps, scale)
    if signs and kind(got.dtype) == "f":
        wrong |= (got == 0) & (np.signbit(got) != np.signbit(want)) & (want == 0)
    if np.any(wrong):
        where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
        a, b = np.atleast_1d(got)[where], np.atleast_1d(want)[where]
        raise Disagreement(
            f"{a} at {where if got.ndim else ()}, expected {b} "
            f"({int(np.sum(wrong))} of {got.size} differ, {got.dtype}{list(got.shape)})"
        )


def close(got: Any, want: Any, ulps: float, scale: float) -> Any:
    """Elementwise, of two arrays of one dtype."""
    if kind(got.dtype) == "c":
        size = max(scale, 0.0)
        if ulps:  # rounding of a complex number is relative to the whole of it
            size = np.where(np.isfinite(want), np.abs(want), 0.0) + scale
        return close(got.real, want.real, ulps, size) & close(
            got.imag, want.imag, ulps, size
        )
    if kind(got.dtype) != "f":
        return got == want
    limits = ml_dtypes.finfo(got.dtype)
    a, b = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        # Numbers below the smallest normal one may be flushed to zero.
        room = ulps * float(limits.eps) * (np.abs(b) + scale) + float(limits.tiny)
        near = np.abs(a - b) <= (room if ulps else 0.0)
    return np.where(np.isfinite(a) & np.isfinite(b), near, False) | (
        (a == b) | (np.isnan(a) & np.isnan(b))
    )
