"""Functions that XLA calls while it divides a program over devices.

A custom call of the target `TARGET` names one by its key, in `backend_config`. XLA asks
it for the program of one device, as MLIR's bytes, and for the shardings that the
program expects of its operands and gives to its results.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from olympus._src.runtime import versions

TARGET = "OlympusSPMDPartitioning"


class Partitioner(Protocol):
    """What a key stands for."""

    def partition(
        self, in_shardings: Sequence[Any], out_shardings: Sequence[Any]
    ) -> tuple[bytes, Sequence[Any], Sequence[Any]]:
        """The program of one device, and shardings of its operands and results.

        Args:
          in_shardings, out_shardings: what the compiler chose.
        """


_by_key: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_lock = threading.Lock()
_errors: list[BaseException] = []
_registered = False


def register(key: str, partitioner: Partitioner) -> None:
    """Has XLA ask `partitioner`, as long as it lives, for calls that name the key."""
    global _registered
    with _lock:
        _by_key[key] = partitioner
        if not _registered:
            versions.register_partitioner(TARGET, _partition)
            _registered = True


def take_error() -> BaseException | None:
    """The first error of a partitioner since the last look, which XLA only quotes."""
    with _lock:
        error = _errors[0] if _errors else None
        _errors.clear()
    return error


def _partition(
    arg_shapes: Any, arg_shardings: Any, result_shape: Any, result_sharding: Any,
    key: bytes,
) -> Any:  # fmt: skip
    try:
        is_tuple = result_shape.is_tuple()
        outs = result_sharding.tuple_elements() if is_tuple else [result_sharding]
        code, ins, outs = _by_key[key.decode()].partition(arg_shardings, outs)
        out = outs[0]
        if is_tuple:
            out = versions.HloSharding.tuple_sharding(result_shape, list(outs))
        return code, list(ins), out
    except BaseException as error:
        with _lock:
            _errors.append(error)
        raise
