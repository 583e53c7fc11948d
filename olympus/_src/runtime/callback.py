"""Python functions that compiled programs call.

On the CPU a program reaches Python by a typed custom call whose attribute `index` picks
one of the functions it was compiled with. Operands arrive as read-only NumPy copies.
Programs with callbacks run in a special way, see `callback_program`.

Which functions those are is not part of the program: it is compiled with functions that
look them up, by their index and by the number of a `Table`, the last operand of each
call. So programs that differ in nothing but their callbacks share an executable, and
each calls its own.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from olympus._src.foundation import errors
from olympus._src.runtime import host_errors

_BUFFER_TARGETS = {
    "cpu": "xla_buffer_python_cpu_callback",
    "cuda": "xla_buffer_python_gpu_callback",
    "rocm": "xla_buffer_python_gpu_callback",
}
_TARGETS = {
    "cpu": "xla_ffi_python_cpu_callback",
    "cuda": "xla_ffi_python_gpu_callback",
    "rocm": "xla_ffi_python_gpu_callback",
}
_TARGETS_OF_PARTS = {
    "cpu": "xla_ffi_partitioned_python_cpu_callback",
    "cuda": "xla_ffi_partitioned_python_gpu_callback",
    "rocm": "xla_ffi_partitioned_python_gpu_callback",
}

Result = tuple[tuple[int, ...], Any]


def target(platform: str) -> str:
    """The name of the custom call by which programs of a platform reach Python.

    Raises:
      NotImplementedError: the platform has none.
    """
    return _target_among(_TARGETS, platform)


def target_of_buffers(platform: str) -> str:
    """`target`, of functions that work on the memory of operands and results."""
    return _target_among(_BUFFER_TARGETS, platform)


def target_of_parts(platform: str) -> str:
    """`target`, which each device of a divided program calls, with its parts."""
    return _target_among(_TARGETS_OF_PARTS, platform)


def _target_among(targets: dict[str, str], platform: str) -> str:
    call_name = targets.get(platform)
    if call_name is None:
        raise NotImplementedError(
            f"callback: the platform must be one of {', '.join(_TARGETS)}, got "
            f"{platform!r}; run the callback outside of the compiled function"
        )
    return call_name


def attributes(index: int, *, has_side_effect: bool = False) -> str:
    """The attributes of that custom call, as text of StableHLO.

    Args:
      index: the function's number among those the program is compiled with.
      has_side_effect: whether it must run even where its results are unused.
    """
    effect = "has_side_effect = true, " if has_side_effect else ""
    return f"{effect}api_version = 4 : i32, backend_config = {{index = {index} : ui64}}"


class Table:
    """The functions that one program calls.

    Args:
      functions: `HostCall`s and `BufferCall`s, by the index of the custom call.

    Attributes:
      number: what the program is given to find them by.
    """

    __slots__ = ("__weakref__", "functions", "number")

    def __init__(self, functions: Sequence[HostCall | BufferCall]) -> None:
        self.functions = tuple(functions)
        self.number = np.int32(next(_numbers))
        _tables[int(self.number)] = self

    def bound(self) -> list[Callable[..., Any]]:
        """Functions to compile with that call these, whatever the number says."""
        return list(map(Bound, self.functions))


_numbers = itertools.count(1)
_tables: weakref.WeakValueDictionary[int, Table] = weakref.WeakValueDictionary()


def routes(count: int) -> list[Callable[..., Any]]:
    """Functions to compile a program with: each finds the callback of its index."""
    return [_route(index) for index in range(count)]


def _route(index: int) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        number, others = _split(operands)
        table = _tables.get(number)
        if table is None:  # whoever runs a program holds its table
            raise errors.InternalError("the callbacks of a running program are gone")
        return table.functions[index](*others)

    return call


def _split(operands: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]]:
    """The number of the table, and the operands of the function itself.

    Results follow operands where a function works on memory, so there the number is the
    first operand, after the context.
    """
    if hasattr(operands[0], "stage"):
        return int(np.asarray(operands[1])), (operands[0], *operands[2:])
    return int(operands[-1]), operands[:-1]


class Bound:
    """A function to compile a program with that always calls the same one.

    Args:
      fun: the function.
    """

    __slots__ = ("fun",)

    def __init__(self, fun: HostCall | BufferCall) -> None:
        self.fun = fun

    def __call__(self, *operands: Any) -> Any:
        return self.fun(*_split(operands)[1])

    def collecting(self, failures: list[Exception]) -> Callable[..., Any]:
        """The same, but failures go to a list: the call then returns zeros.

        Later calls return zeros too, as long as the list is not empty.
        """

        def call(*operands: Any) -> Any:
            if not failures:
                try:
                    return self(*operands)
                except host_errors.CallbackFailed as error:
                    failures.append(error)
            return self.fun.zeros()

        return call


class HostCall:
    """The function to compile a program with, for a user's function.

    Args:
      fun: takes NumPy arrays, returns a sequence of arrays (or one array, for one
        result; anything, for none).
      results: shape and dtype of each result.
      tokens: how many leading operands only order the calls; they are returned as they
        came, before the results.

    It never lets a wrong result through, and keeps exceptions for the thread that waits
    for the program.
    """

    __slots__ = ("_fun", "_shapes", "_tokens")

    def __init__(
        self, fun: Callable[..., Any], results: Sequence[Result], *, tokens: int = 0
    ) -> None:
        self._fun = fun
        self._shapes = [(tuple(shape), np.dtype(dtype)) for shape, dtype in results]
        self._tokens = tokens

    def __call__(self, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
        tokens = operands[: self._tokens]
        try:
            outs = self._fun(*operands[self._tokens :])
            return (*tokens, *_check_outputs(outs, self._shapes, self._fun))
        except BaseException as error:
            raise host_errors.keep(error) from None

    def zeros(self) -> tuple[np.ndarray, ...]:
        """Results in place of those of a call that failed."""
        return tuple([np.zeros(shape, dtype) for shape, dtype in self._shapes])


class BufferCall:
    """The function to compile a program with, for one that works on memory.

    Args:
      fun: takes the context, the operands and the results, as buffers; it writes into
        those of the results.
    """

    __slots__ = ("_fun",)

    def __init__(self, fun: Callable[..., Any]) -> None:
        self._fun = fun

    def __call__(self, context: Any, *buffers: Any) -> None:
        try:
            self._fun(context, *buffers)
        except BaseException as error:
            raise host_errors.keep(error) from None

    def zeros(self) -> None:
        """Nothing: the memory stays as it is."""


def _check_outputs(outs: Any, shapes: list[Any], fun: Any) -> list[np.ndarray]:
    if not shapes:
        return []
    if not isinstance(outs, (tuple, list)):
        outs = (outs,)
    if len(outs) != len(shapes):
        raise TypeError(
            f"callback: {_name(fun)} must return {len(shapes)} arrays, got {len(outs)}"
        )
    return [_as_result(x, i, shapes[i], fun) for i, x in enumerate(outs)]


def _as_result(x: Any, i: int, declared: Any, fun: Any) -> np.ndarray:
    shape, dtype = declared
    array = np.asarray(x)
    if array.shape != shape:
        raise TypeError(
            f"callback: result {i} of {_name(fun)} must have shape {shape}, got "
            f"{array.shape}; declare the shape it returns"
        )
    if array.dtype != dtype:
        # A Python number takes the declared dtype; an array must agree with it.
        if isinstance(x, (np.ndarray, np.generic)) or hasattr(x, "dtype"):
            raise TypeError(
                f"callback: result {i} of {_name(fun)} must have dtype {dtype}, got "
                f"{array.dtype}; convert it by .astype or declare that dtype"
            )
        array = array.astype(dtype)
    return np.ascontiguousarray(array).reshape(shape)


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", None) or repr(fun)
