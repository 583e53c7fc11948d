"""Arguments of functions on arrays: checked, and in one dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.compat.pages._src.dtypes import to_complex_dtype
from olympus._src.core import trace
from olympus._src.interpreters import concrete_arrays
from olympus._src.lax import shaping
from olympus._src.numpy import promotion
from olympus._src.numpy.promotion import check_arraylike as check_arraylike


def _arrays(values: Sequence[Any]) -> list[Any]:
    """The values as arrays; beside traced ones NumPy's numbers stay literals."""
    are_traced = any(isinstance(x, trace.Tracer) for x in values)
    return [
        x
        if are_traced and isinstance(x, np.generic)
        else concrete_arrays.as_array_or_tracer(x)
        for x in values
    ]


def promote_shapes(fun_name: str, *args: Any) -> list[Any]:
    """Arrays of one number of axes, of which those in front are of size 1.

    Scalars stay where the others' numbers are equal.

    Raises:
      ValueError: the shapes do not fit, and have different numbers of axes.
    """
    shapes = [promotion.aval_of(x).shape for x in args]
    ranks = {len(shape) for shape in shapes if shape}
    if len(ranks) < 2:
        return _arrays(args)
    promotion.result_shape(fun_name, shapes)
    return [shaping.broadcast_to_rank(x, max(ranks)) for x in _arrays(args)]


def promote_dtypes(*args: Any) -> list[Any]:
    """Arrays of the arguments' common dtype."""
    return _arrays(promotion.promote_dtypes(*args)) if args else []


def promote_dtypes_inexact(*args: Any) -> list[Any]:
    """Arrays of the arguments' common dtype, or of floats where it has integers."""
    return _arrays(promotion.promote_inexact(*args))


def promote_dtypes_numeric(*args: Any) -> list[Any]:
    """Arrays of the arguments' common dtype, or of integers where it is bool."""
    return _arrays(promotion.promote_numeric(*args))


def promote_dtypes_complex(*args: Any) -> list[Any]:
    """Arrays of the complex dtype that holds the arguments' common dtype."""
    arrays = promotion.promote_inexact(*args)
    dtype = to_complex_dtype(promotion.aval_of(arrays[0]).dtype)
    weak = all(promotion.aval_of(x).weak_type for x in arrays)
    return _arrays([promotion.cast(x, dtype, weak) for x in arrays])


def _promote(promote: Callable[..., list[Any]], fun_name: str, args: Any) -> list[Any]:
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promote(*args))


def promote_args(fun_name: str, *args: Any) -> list[Any]:
    """Checked arguments of one dtype and rank."""
    return _promote(promote_dtypes, fun_name, args)


def promote_args_inexact(fun_name: str, *args: Any) -> list[Any]:
    """Checked arguments of one dtype, no integers, and rank."""
    return _promote(promote_dtypes_inexact, fun_name, args)


def promote_args_numeric(fun_name: str, *args: Any) -> list[Any]:
    """Checked arguments of one dtype, not bool, and rank."""
    return _promote(promote_dtypes_numeric, fun_name, args)


def promote_args_complex(fun_name: str, *args: Any) -> list[Any]:
    """Checked arguments of one complex dtype and rank."""
    return _promote(promote_dtypes_complex, fun_name, args)


def check_arraylike_or_none(fun_name: str, *args: Any) -> None:
    """As `check_arraylike`, where None may stand for an argument."""
    check_arraylike(fun_name, *[x for x in args if x is not None])


def ensure_arraylike(fun_name: str, *args: Any) -> Any:
    """Checked arguments as arrays; one alone, several as a tuple."""
    check_arraylike(fun_name, *args)
    arrays = _arrays(args)
    return arrays[0] if len(arrays) == 1 else tuple(arrays)


def ensure_arraylike_tuple(fun_name: str, tup: Sequence[Any]) -> tuple[Any, ...]:
    """The checked elements of a tuple as arrays."""
    check_arraylike(fun_name, *tup)
    return tuple(_arrays(tup))


__all__ = [
    "check_arraylike",
    "check_arraylike_or_none",
    "ensure_arraylike",
    "ensure_arraylike_tuple",
    "promote_args",
    "promote_args_complex",
    "promote_args_inexact",
    "promote_args_numeric",
    "promote_dtypes",
    "promote_dtypes_complex",
    "promote_dtypes_inexact",
    "promote_dtypes_numeric",
    "promote_shapes",
]
