"""Checks of what is differentiated: types of arguments, results, and tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, refs

float0 = dtypes.float0


def check_input(x: Any, api: str, where: Any, holomorphic: bool, accepts: str) -> None:
    """Raises TypeError where an argument cannot be differentiated.

    Args:
      x: a leaf of an argument.
      api: the public function.
      where: called for the argument's path, for the message.
      holomorphic: it must be complex.
      accepts: 'real', 'inexact' (also complex) or 'any'.
    """
    if not avals_.is_array_like(x):
        raise TypeError(
            f"{api}: {where()} must be an array, got {x!r} of type {type(x)}; pass "
            "other values in arguments that are not differentiated"
        )
    aval = avals_.aval_of(x)
    if refs.is_ref_type(aval):
        raise TypeError(
            f"{api} requires real- or complex-valued inputs (of floating dtype), but "
            f"got {aval.short()} for {where()}; differentiate with respect to what it "
            "holds, ref[...], and make a ref of that inside"
        )
    if aval.is_high:
        aval.to_tangent()  # which raises an error where it has none
        return
    dtype = aval.dtype
    if holomorphic:
        if not dtypes.issubdtype(dtype, np.complexfloating):
            raise TypeError(
                f"{api} with holomorphic=True requires inputs with complex dtype, but "
                f"got {aval.short()} for {where()}; convert it to complex"
            )
        return
    if accepts == "any" or dtypes.issubdtype(dtype, np.floating):
        return
    if accepts == "inexact" and dtypes.issubdtype(dtype, np.complexfloating):
        return
    raise TypeError(_refusal_message(api, aval, where(), accepts))


def _refusal_message(api: str, aval: Any, where: str, accepts: str) -> str:
    dtype = aval.dtype
    if accepts == "inexact":
        cure = "convert it to float, or set allow_int=True for a gradient of float0"
        if isinstance(dtype, dtypes.ExtendedDType):
            cure = "differentiate with respect to the other arguments"
        text = f"{api} requires real- or complex-valued inputs"
    else:
        cure = "convert it to float, or push a tangent through with jvp"
        if dtypes.issubdtype(dtype, np.complexfloating):
            cure = "set holomorphic=True if the function is complex differentiable"
        text = f"{api} requires real-valued inputs"
    return f"{text} (of floating dtype), but got {aval.short()} for {where}; {cure}"


def check_output(x: Any, api: str, where: Any, holomorphic: bool) -> None:
    """Raises TypeError where a result has no gradient.

    Args:
      x: a leaf of the result.
      api: the public function.
      where: called for the result's name, for the message.
      holomorphic: it must be complex, else real.
    """
    aval = avals_.aval_of(x)
    if holomorphic:
        if not dtypes.issubdtype(aval.dtype, np.complexfloating):
            raise TypeError(
                f"{api} with holomorphic=True requires outputs with complex dtype, but "
                f"{where()} is {aval.short()}; leave holomorphic out"
            )
        return
    if dtypes.issubdtype(aval.dtype, np.floating):
        return
    cure = "its derivative is zero; return a float, or use vjp"
    if dtypes.issubdtype(aval.dtype, np.complexfloating):
        cure = (
            "take its real part, set holomorphic=True if the function is complex "
            "differentiable, or use vjp"
        )
    raise TypeError(
        f"{api} requires real-valued outputs (of floating dtype), but {where()} is "
        f"{aval.short()}; {cure}"
    )


def check_types(
    values: Sequence[Any],
    expected: Sequence[Any],
    complain: Callable[[int, Any, Any], Exception],
    any_for_float0: bool = False,
) -> None:
    """Compares the types of tangents or cotangents with those they must have.

    Args:
      values: the values.
      expected: their avals; weakness does not matter.
      complain: makes the error from the position, the expected aval and the actual one.
      any_for_float0: accept anything where there is no tangent.
    """
    for i, (x, want) in enumerate(zip(values, expected, strict=True)):
        aval = avals_.aval_of(x)
        if aval is want:
            continue
        if aval.is_high or want.is_high:
            raise complain(i, want, aval)
        if any_for_float0 and want.dtype == float0:
            continue
        if aval.shape != want.shape or aval.dtype != want.dtype:
            raise complain(i, want, aval)


def mismatch(api: str, first: str, second: str, expected: Any, value: Any) -> str:
    """Where a tree differs from a structure, in words.

    Args:
      api: the public function.
      first, second: names of what has the structure, and of the tree.
      expected: the structure.
      value: the tree.
    """
    try:
        mismatches = tree.equality_errors(tree.skeleton(expected), value)
    except Exception:  # a class of a user's refuses to hold what stands for leaves
        mismatches = []
    places = " and ".join([m.describe(first, second) for m in mismatches[:4]])
    text = f"{api}: {second} must have the structure of {first}, {expected}, got "
    got = str(tree.tree_structure(value))
    return text + (f"{places} ({got})" if places else got)


def check_reduce_axes(api: str, reduce_axes: Any) -> None:
    """Raises NotImplementedError for an argument that only older programs pass."""
    if reduce_axes:
        raise NotImplementedError(
            f"{api}: reduce_axes is no longer supported, got {reduce_axes!r}; leave it "
            "out, and sum over the mapped axis where you need that"
        )
