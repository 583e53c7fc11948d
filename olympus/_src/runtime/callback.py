"""Python functions that compiled programs call.

On the CPU a program reaches Python by a typed custom call whose attribute `index` picks
one of the functions it was compiled with. Operands arrive as read-only NumPy copies.
Programs with callbacks run by rules of their own, see `callback_program`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.runtime import host_errors

_TARGETS = {
    "cpu": "xla_ffi_python_cpu_callback",
    "cuda": "xla_ffi_python_gpu_callback",
    "rocm": "xla_ffi_python_gpu_callback",
}

Result = tuple[tuple[int, ...], Any]


def target(platform: str) -> str:
    """The name of the custom call by which programs of a platform reach Python.

    Raises:
      NotImplementedError: the platform has none.
    """
    found = _TARGETS.get(platform)
    if found is None:
        raise NotImplementedError(
            f"callback: the platform must be one of {', '.join(_TARGETS)}, got "
            f"{platform!r}; run the callback outside of the compiled function"
        )
    return found


def attributes(index: int, *, has_side_effect: bool = False) -> str:
    """The attributes of that custom call, as text of StableHLO.

    Args:
      index: the function's number among those the program is compiled with.
      has_side_effect: whether it must run even where its results are unused.
    """
    effect = "has_side_effect = true, " if has_side_effect else ""
    return f"{effect}api_version = 4 : i32, backend_config = {{index = {index} : ui64}}"


def wrap(
    fun: Callable[..., Any], results: Sequence[Result], *, tokens: int = 0
) -> Callable[..., tuple[np.ndarray, ...]]:
    """The function to compile a program with, for a user's function.

    Args:
      fun: takes NumPy arrays, returns a sequence of arrays (or one array, for one
        result; anything, for none).
      results: shape and dtype of each result.
      tokens: how many leading operands only order the calls; they are returned as they
        came, before the results.

    Returns:
      A function that never lets a wrong result through, and keeps exceptions for the
      thread that waits for the program.
    """
    shapes = [(tuple(shape), np.dtype(dtype)) for shape, dtype in results]

    def call(*operands: np.ndarray) -> tuple[np.ndarray, ...]:
        try:
            outs = fun(*operands[tokens:])
            return (*operands[:tokens], *_checked(outs, shapes, fun))
        except BaseException as error:
            raise host_errors.keep(error) from None

    return call


def _checked(outs: Any, shapes: list[Any], fun: Any) -> list[np.ndarray]:
    if not shapes:
        return []
    if not isinstance(outs, (tuple, list)):
        outs = (outs,)
    if len(outs) != len(shapes):
        raise TypeError(
            f"callback: {_name(fun)} must return {len(shapes)} arrays, got {len(outs)}"
        )
    return [_as_result(x, i, shapes[i], fun) for i, x in enumerate(outs)]


def _as_result(x: Any, i: int, wanted: Any, fun: Any) -> np.ndarray:
    shape, dtype = wanted
    found = np.asarray(x)
    if found.shape != shape:
        raise TypeError(
            f"callback: result {i} of {_name(fun)} must have shape {shape}, got "
            f"{found.shape}; declare the shape it returns"
        )
    if found.dtype != dtype:
        # A Python number takes the declared dtype; an array must agree with it.
        if isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "dtype"):
            raise TypeError(
                f"callback: result {i} of {_name(fun)} must have dtype {dtype}, got "
                f"{found.dtype}; convert it by .astype or declare that dtype"
            )
        found = found.astype(dtype)
    return np.ascontiguousarray(found).reshape(shape)


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", None) or repr(fun)
