"""Programs that call Python, run where they cannot deadlock.

A CPU client runs at most 32 programs at a time, on as many threads as there are cores.
Programs that wait for a callback hold places and threads, and a callback that computes
needs one more: enough of them wait for each other forever. One such program at a time
may run on the usual client, if it leaves a thread free however many of its callbacks it
calls at once. The others run on another client of the CPU, which nothing queues up
behind, so that what their callbacks compute finds the usual client free; those that
callbacks run have a client of their own for each level of nesting. Memory passes
between the clients without a copy; of arrays on several devices part by part. All run
to the end, for the thread that calls them.

Programs over several processes run on the usual client, the only one that knows the
other processes. Their callbacks should not compute on arrays: that could wait for
threads that these programs hold.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from olympus._src import native
from olympus._src.runtime import (
    client,
    compiling,
    forks,
    host_errors,
    parts,
    python_calls,
    transfer,
    versions,
    waiting,
)
from olympus._src.runtime.array import ArrayImpl, deleted_array_error
from olympus._src.runtime.compiling import Options
from olympus._src.runtime.shardings import Placement, Sharding, placement_of
from olympus._src.runtime.stored_program import StoredProgram
from olympus._src.runtime.versions import (
    Device,
    LoadedExecutable,
    XlaRuntimeError,
)


class _Level(threading.local):
    """The number of callbacks that the running thread is inside."""

    depth = 0


_level = _Level()


# Held by the one program with callbacks that runs on the usual client, where the part
# in C is not built, which has such a flag of its own.
_turn_at_home = threading.Lock()


class CallbackProgram:
    """A program with callbacks, loaded for each client where it runs.

    Args:
      code: the module.
      devices: where its arguments and results live.
      options: what the user gave, for the message of an error.
      callbacks: functions that the module calls by their index; `callback.Bound` ones
        where there are several devices.
      load: compiles the module for devices, or finds it on disk.
    """

    __slots__ = (
        "_by_depth",
        "_callbacks",
        "_code",
        "_copies",
        "_first",
        "_is_over_processes",
        "_lock",
        "_options",
        "_runs_at_home",
        "devices",
    )

    def __init__(
        self,
        code: bytes,
        devices: Sequence[Device],
        options: Options,
        callbacks: Sequence[Any],
        load: Callable[..., LoadedExecutable | StoredProgram],
    ) -> None:
        self._code = code
        self._options = options
        self._callbacks = callbacks
        self._by_depth: dict[int, LoadedExecutable] = {}
        self._lock = threading.Lock()
        self.devices = tuple(devices)
        self._first: Any = None
        self._copies: dict[tuple[int, int], _Copy] = {}
        self._runs_at_home = False
        self._is_over_processes = len({d.process_index for d in devices}) > 1
        if len(self.devices) == 1:
            self._load_at_home(load)
        else:
            self._copy_for(_level.depth, 0)

    @property
    def loaded(self) -> LoadedExecutable:
        """The executable of jaxlib, of the first place it was compiled for."""
        first = self._first
        return first.loaded if isinstance(first, StoredProgram) else first

    def load_whole(self) -> LoadedExecutable:
        """The same with all instructions, to look at."""
        first = self._first
        return first.load_whole() if isinstance(first, StoredProgram) else first

    def serialize(self) -> bytes:
        """The compiled program as bytes."""
        first = self._first
        if isinstance(first, StoredProgram):
            return first.serialize()
        return compiling.serialize(first)

    def _load_at_home(self, load: Callable[..., Any]) -> None:
        (device,) = self.devices
        place = placement_of(device)
        built = compiling.compile_options(self._options, self.devices)
        functions = [_one_deeper(f, 0) for f in self._callbacks]
        self._first = load(
            self._code, place.device_list, built, self._options, functions
        )
        capacity = client.callback_capacity(device)
        if capacity:
            (module,) = self.loaded.hlo_modules()
            self._runs_at_home = (
                python_calls.count_at_once(module.to_string()) <= capacity
            )

    def at(self, depth: int) -> LoadedExecutable:
        """The executable for a level of nesting, on the client of that level."""
        executable = self._by_depth.get(depth)
        if executable is None:
            with self._lock:
                executable = self._by_depth.get(depth) or self._load_away(depth)
                self._by_depth[depth] = executable
        return executable

    def _load_away(self, depth: int) -> LoadedExecutable:
        devices = self._devices_away(depth)
        return compiling.load_serialized(
            self.serialize(),
            versions.DeviceList(devices),
            compiling.compile_options(self._options, devices),
            [_one_deeper(f, depth) for f in self._callbacks],
        )

    def _compile_divided(
        self, depth: int, functions: Sequence[Callable[..., Any]], level: Hashable
    ) -> LoadedExecutable:
        devices = self._devices_away(level)
        built = compiling.compile_options(self._options, devices, 1, len(devices))
        callbacks = [_one_deeper(f, depth) for f in functions]
        device_list = versions.DeviceList(devices)
        loaded = compiling.load(
            self._code, device_list, built, self._options, callbacks
        )
        self._first = self._first or loaded
        return loaded

    def _devices_away(self, level: Hashable) -> tuple[Device, ...]:
        if self._is_over_processes:
            return self.devices
        return tuple([client.callback_device(d, level) for d in self.devices])

    def runner(
        self,
        out_avals: Sequence[Any],
        committed: bool,
        donated: Sequence[int],
        run: Any,
    ) -> Callable[[list[Any]], list[ArrayImpl]]:
        """A function that runs it on buffers to the end.

        Args:
          out_avals: types of the results.
          committed: whether results stay on their device.
          donated: numbers of arguments whose memory the program may take.
          run: starts it at home, on buffers.
        """
        run_away = self._runner_away(out_avals, donated)

        def run_there(buffers: list[Any]) -> list[ArrayImpl]:
            rows = zip(run_away(buffers), out_avals, strict=True)
            return [ArrayImpl(buffer, aval, committed) for buffer, aval in rows]

        if not self._runs_at_home or not out_avals:
            return run_there
        if native.calls is not None:
            turn: Callable[[list[Any]], list[ArrayImpl]]
            turn = run.in_turn((_level, run_away, _wait_for))
            return turn

        def run_to_end(buffers: list[Any]) -> list[ArrayImpl]:
            if _level.depth or not _turn_at_home.acquire(blocking=False):
                return run_there(buffers)
            try:
                outs = run(buffers)
                _wait_for(outs[0]._buffer)
                return outs
            finally:
                _turn_at_home.release()

        return run_to_end

    def _runner_away(
        self, out_avals: Sequence[Any], donated: Sequence[int]
    ) -> Callable[[list[Any]], list[Any]]:
        """A function that runs it on the client of the level, on lent memory."""
        (device,) = self.devices
        home = placement_of(device)
        handlers: dict[int, list[Any]] = {}

        def run(buffers: list[Any]) -> list[Any]:
            for buffer in buffers:
                if buffer.is_deleted():
                    raise deleted_array_error(ArrayImpl(buffer, buffer.aval))
            forks.refuse_waiting()
            depth = _level.depth
            away = placement_of(client.callback_device(device, depth))
            if depth not in handlers:
                handlers[depth] = [
                    versions.result_handler(aval.storage, away.sharding, True)
                    for aval in out_avals
                ]
            lent = [_lent(buffer, buffer.aval, away) for buffer in buffers]
            raw = _run_to_end(self.at(depth), lent, handlers[depth])
            for number in donated:
                transfer.delete_buffer(buffers[number])
            rows = zip(raw, out_avals, strict=True)
            return [_lent(buffer, aval.storage, home) for buffer, aval in rows]

        return run

    def run_divided(
        self, buffers: list[Any], avals: Sequence[Any], shardings: Sequence[Any]
    ) -> list[Any]:
        """Runs it to the end on buffers over its devices; returns such.

        Args:
          buffers: the arguments, divided as it takes them.
          avals: types of the stored elements of the results.
          shardings: how they are divided.
        """
        forks.refuse_waiting()
        if self._is_over_processes:
            return self._run_over_processes(buffers, avals, shardings)
        depth = _level.depth
        slot = _take_slot(depth)
        try:
            away = _Away(versions.DeviceList(self._devices_away((depth, slot))))
            lent = [_share_parts(b, b.aval, b._sharding, away) for b in buffers]
            handlers = [versions.result_handler(aval, away, True) for aval in avals]
            copy = self._copy_for(depth, slot)
            raw = copy.run(lent, handlers)
        finally:
            _return_slot(depth, slot)
        rows = zip(raw, avals, shardings, strict=True)
        return [_share_parts(x, aval, home, home) for x, aval, home in rows]

    def _run_over_processes(
        self, buffers: list[Any], avals: Sequence[Any], shardings: Sequence[Any]
    ) -> list[Any]:
        """Runs it to the end; all processes learn of a callback that failed in one."""
        if _level.depth:
            raise RuntimeError(
                "callback: a program over several processes that has callbacks must "
                "not be started by a callback; start it after this program"
            )
        rows = zip(avals, shardings, strict=True)
        handlers = [versions.result_handler(*row, True) for row in rows]
        with _over_processes_lock:
            copy = self._copy_for(0, 0)
            outs = _run_with_others(copy.loaded, buffers, handlers)
            failures = list(map(host_errors.explain, copy.failures[:1]))
            copy.failures.clear()
            texts = waiting.exchange(
                f"callbacks {next(_runs)}", str(failures[0]) if failures else ""
            )
        if failures:
            raise failures[0]
        for process, text in enumerate(texts):
            if text:
                raise XlaRuntimeError(f"in process {process} {text}")
        return outs

    def _copy_for(self, depth: int, slot: int) -> _Copy:
        """The program for a client, of several devices, whose callbacks do not fail.

        Where one did, the other devices would wait for its results forever.
        """
        copy = self._copies.get((depth, slot))
        if copy is None:
            failures: list[Exception] = []
            functions = [f.collecting(failures) for f in self._callbacks]
            loaded = self._compile_divided(depth, functions, (depth, slot))
            copy = self._copies[depth, slot] = _Copy(loaded, failures)
        return copy


# Programs of several devices that run at a time in one client wait for each other's
# threads. So each has a client of its own while it runs: those of a level are numbered.
_slots: dict[int, list[int]] = {}  # by depth, the numbers in use
_slots_lock = threading.Lock()


# Programs over several processes run one at a time, in one order in all of them.
_over_processes_lock = threading.Lock()
_runs = itertools.count()


def _take_slot(depth: int) -> int:
    """The number of a client that nobody uses."""
    with _slots_lock:
        used = _slots.setdefault(depth, [])
        number = min(set(range(len(used) + 1)) - set(used))
        used.append(number)
        return number


def _return_slot(depth: int, number: int) -> None:
    with _slots_lock:
        _slots[depth].remove(number)


class _Copy(NamedTuple):
    """A program that one thread runs at a time, and what its callbacks raised."""

    loaded: LoadedExecutable
    failures: list[Exception]

    def run(self, lent: list[Any], handlers: list[Any]) -> list[Any]:
        """Runs it to the end; raises what a callback raised."""
        try:
            raw = _run_to_end(self.loaded, lent, handlers)
            if self.failures:
                raise host_errors.explain(self.failures[0])
            return raw
        finally:
            self.failures.clear()


class _Away(Sharding):
    """Parts on devices of another client, in the order of those at home."""

    __slots__ = ("_internal_device_list", "_memory_kind")

    def __init__(self, devices: versions.DeviceList) -> None:
        self._internal_device_list = devices
        self._memory_kind = None

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return versions.HloSharding.replicate()  # parts stay as they are


def _share_parts(buffer: Any, aval: Any, division: Any, target: Any) -> Any:
    """A buffer on other devices, over the memory of the parts of one.

    Args:
      buffer: the one.
      aval: the type of its stored elements.
      division: the sharding that says what its parts are.
      target: the sharding of the other one, with as many devices.
    """
    part_aval = aval.update(shape=tuple(division.shard_shape(aval.shape)))
    devices = target._internal_device_list
    mine = parts.LocalParts(buffer, part_aval)
    lent = [
        transfer.lend_to_device(mine.to_host(i), part_aval, placement_of(d), True)
        for i, d in enumerate(devices)
    ]
    return versions.result_handler(aval, target, True)(lent)


def _run_to_end(
    loaded: LoadedExecutable, lent: list[Any], handlers: list[Any]
) -> list[Any]:
    try:
        results = loaded.execute_sharded(lent, with_tokens=True)
        results.consume_token().block_until_ready()
        return results.consume_with_handlers(handlers)
    except XlaRuntimeError as error:
        raise host_errors.explain(error)  # noqa: B904 - it has its cause


def _run_with_others(
    loaded: LoadedExecutable, buffers: list[Any], handlers: list[Any]
) -> list[Any]:
    """`_run_to_end` of a program over several processes, which are monitored."""
    results = waiting.start_program(
        lambda: loaded.execute_sharded(buffers, with_tokens=True)
    )
    waiting.wait_for_token(results.consume_token())
    return results.consume_with_handlers(handlers)


def _wait_for(buffer: Any) -> None:
    """Waits for a result of a program."""
    try:
        if not buffer.is_ready():
            forks.refuse_waiting()
        buffer.block_until_ready()
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
