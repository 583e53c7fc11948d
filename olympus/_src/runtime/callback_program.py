"""Programs that call Python, run where they cannot deadlock.

A CPU client runs at most 32 programs at a time, on as many threads as there are cores.
Programs that wait for a callback hold places and threads, and a callback that computes
needs one more: enough of them wait for each other forever. So a program with callbacks
runs on another client of the CPU, to the end, on the caller's thread; nothing queues up
behind it, and what its callbacks compute finds the usual client free. Programs with
callbacks that callbacks run have a client of their own for each level of nesting.
Memory passes between the clients without a copy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.runtime import (
    client,
    compiling,
    forks,
    host_errors,
    mlir,
    transfer,
    versions,
)
from olympus._src.runtime.array import ArrayImpl, deleted_array_error
from olympus._src.runtime.compiling import Options
from olympus._src.runtime.shardings import Placement, placement_of
from olympus._src.runtime.versions import (
    Device,
    LoadedExecutable,
    XlaRuntimeError,
)


class _Level(threading.local):
    """The number of callbacks that the running thread is inside."""

    depth = 0


_level = _Level()


class CallbackProgram:
    """A program with callbacks, compiled for each level of nesting where it runs.

    Args:
      code: the module.
      device: where its arguments and results live.
      options: what the user gave, for the message of an error.
      callbacks: functions that the module calls by their index.
    """

    __slots__ = (
        "_by_depth",
        "_callbacks",
        "_code",
        "_lock",
        "_options",
        "device",
    )

    def __init__(
        self,
        code: bytes,
        device: Device,
        options: Options,
        callbacks: Sequence[Callable[..., Any]],
    ) -> None:
        self._code = code
        self._options = options
        self._callbacks = callbacks
        self._by_depth: dict[int, LoadedExecutable] = {}
        self._lock = threading.Lock()
        self.device = device
        self.at(_level.depth)

    @property
    def loaded(self) -> LoadedExecutable:
        """The executable of jaxlib, of the first level it was compiled for."""
        return next(iter(self._by_depth.values()))

    def at(self, depth: int) -> LoadedExecutable:
        """The executable for a level of nesting."""
        executable = self._by_depth.get(depth)
        if executable is None:
            with self._lock:
                executable = self._by_depth.get(depth) or self._compile(depth)
                self._by_depth[depth] = executable
        return executable

    def _compile(self, depth: int) -> LoadedExecutable:
        place = placement_of(client.callback_device(self.device, depth))
        callbacks = [_one_deeper(f, depth) for f in self._callbacks]
        # jaxlib takes callbacks with a parsed module only.
        module = mlir.parse(self._code)
        built = compiling.compile_options(self._options, place.devices, 1, 1)
        return compiling.load(
            module, place.device_list, built, self._options, callbacks
        )

    def runner(
        self, out_avals: Sequence[Any], committed: bool, donated: Sequence[int]
    ) -> Callable[[list[Any]], list[ArrayImpl]]:
        """A function that runs it on buffers to the end."""
        home = placement_of(self.device)
        handlers: dict[int, list[Any]] = {}

        def run(buffers: list[Any]) -> list[ArrayImpl]:
            depth = _level.depth
            away = placement_of(client.callback_device(self.device, depth))
            if depth not in handlers:
                handlers[depth] = [
                    versions.result_handler(aval.storage, away.sharding, True)
                    for aval in out_avals
                ]
            raw = _run(self.at(depth), buffers, away, handlers[depth])
            for number in donated:
                buffers[number].delete()
            return [
                ArrayImpl(_lent(buffer, aval.storage, home), aval, committed)
                for buffer, aval in zip(raw, out_avals, strict=True)
            ]

        return run


def _run(
    loaded: LoadedExecutable, buffers: list[Any], away: Placement, handlers: list[Any]
) -> list[Any]:
    for buffer in buffers:
        if buffer.is_deleted():
            raise deleted_array_error(ArrayImpl(buffer, buffer.aval))
    forks.refuse_waiting()
    lent = [_lent(buffer, buffer.aval, away) for buffer in buffers]
    try:
        results = loaded.execute_sharded(lent, with_tokens=True)
        results.consume_token().block_until_ready()
        return results.consume_with_handlers(handlers)
    except XlaRuntimeError as error:
        raise host_errors.explain(error)  # noqa: B904 - it has its cause


def _lent(buffer: Any, aval: Any, place: Placement) -> Any:
    """A buffer over the same memory on another client of the CPU."""
    return transfer.lend_to_device(
        transfer.to_host(buffer, aval.dtype), aval, place, True
    )


def _one_deeper(fun: Callable[..., Any], depth: int) -> Callable[..., Any]:
    """The function, noting the level of nesting for what it runs."""

    def call(*operands: Any) -> Any:
        outside = _level.depth
        _level.depth = depth + 1
        try:
            return fun(*operands)
        finally:
            _level.depth = outside

    return call
