"""What samplers are given, checked and brought to one form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes
from olympus._src.core.sizes import is_symbolic
from olympus._src.interpreters import evaluate
from olympus._src.lax import elementwise, families, sizes
from olympus._src.random import keys


def one_program(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a sampler run as one compiled program, compiled as jit would.

    A key gives the same numbers however few are drawn, so no program is compiled by
    the quick build, which may round differently.
    """
    return evaluate.fuse(fun, quick=False)


def float_dtype(name: str, dtype: Any) -> Any:
    """A user's dtype, which must be of floats; None is the default float.

    Raises:
      ValueError: it is of the wrong kind.
    """
    canonical = dtypes.check_user_dtype(float if dtype is None else dtype, name)
    if dtypes.kind(canonical) != "f":
        raise ValueError(
            f"random.{name}: dtype must be a float dtype, got {canonical}; for example "
            "dtype='float32'"
        )
    return canonical


def integer_dtype(name: str, dtype: Any, error: Any = TypeError) -> Any:
    """A user's dtype, which must be of integers; None is the default integer.

    Raises:
      TypeError: it is of the wrong kind, or the `error` that is given.
    """
    canonical = dtypes.check_user_dtype(int if dtype is None else dtype, name)
    if dtypes.kind(canonical) not in "ui":
        raise error(
            f"random.{name}: only accepts integer dtypes, got {canonical}; for example "
            "dtype='int32'"
        )
    return canonical


def inexact_dtype(name: str, dtype: Any) -> Any:
    """The floating or complex dtype of a result; by default that of floats.

    Raises:
      ValueError: the dtype is of the wrong kind.
    """
    dtype = dtypes.check_user_dtype(float if dtype is None else dtype, name)
    if dtypes.kind(dtype) not in "fc":
        raise ValueError(
            f"random.{name}: dtype must be a float or complex dtype, got {dtype}; for "
            "example dtype='float32'"
        )
    return dtype


def shape_of(name: str, shape: Any) -> tuple[int, ...]:
    """A user's shape as a tuple."""
    return sizes.canonicalize_shape(shape, f"random.{name}")


def result_shape(name: str, shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The shape of a result; by default that of the parameters, broadcast.

    Raises:
      ValueError: the parameters do not broadcast to it.
    """
    common = sizes.broadcast_shapes(*[avals.aval_of(x).shape for x in parameters])
    if shape is None:
        return common
    shape = shape_of(name, shape)
    check_broadcast(name, shape, common)
    return shape


def check_broadcast(name: str, shape: Any, common: Any) -> None:
    """Raises ValueError unless arrays of shape `common` broadcast to `shape`."""
    if not sizes.fits_shape(common, shape):
        raise ValueError(
            f"random.{name}: shape must be what the parameters broadcast to, got "
            f"shape={tuple(shape)} with parameters of shape {tuple(common)}; add their "
            "axes at the end of shape"
        )


def as_dtype(x: Any, dtype: Any) -> Any:
    """A number or array in a dtype."""
    return elementwise.convert(x, dtype)


def floats(name: str, *values: Any, mixed: bool = False) -> list[Any]:
    """Parameters in the float dtype that they promote to.

    Args:
      name: the function's name.
      values: the parameters.
      mixed: they may differ in dtype even where dtypes must agree.

    Raises:
      TypeError: one has no numbers.
    """
    join = dtypes.standard_result if mixed else dtypes.lattice_result
    dtype, _ = join(*[dtypes.dtype_and_weak(x, f"random.{name}") for x in values])
    dtype = dtypes.to_inexact_dtype(dtype)
    return [elementwise.convert(x, dtype) for x in values]


def spread(x: Any, shape: tuple[int, ...]) -> Any:
    """A parameter for samples of `shape`: broadcast, or left a scalar."""
    own_shape = avals.aval_of(x).shape
    return families.broadcast_to_shape(x, shape) if own_shape else x


def broadcast_parameter(x: Any, shape: tuple[int, ...]) -> Any:
    """A parameter broadcast to `shape`, scalars too."""
    return families.broadcast_to_shape(x, shape)


def number(value: Any, dtype: Any) -> Any:
    """A host number of a dtype, which traces to a literal."""
    if is_symbolic(value):
        return elementwise.size_value(value, np.dtype(dtype))
    return families.number_of(value, dtype)


single_key = keys.single_key
