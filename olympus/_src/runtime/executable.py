"""Compiled programs: from StableHLO text to something that runs.

A call of a loaded program costs 4.4 us for one small result on the CPU, of which 3.7 us
are XLA's own: results are taken by handlers made once per program, and each becomes an
`ArrayImpl` with the aval that tracing found.

jaxlib notes the Python stack with each result, at 0.3 us in shallow stacks. The switch
for it is left alone: it is global to the process, shared with jax, and jaxlib refuses
to read arrays with it on that were made with it off.
"""

from __future__ import annotations

import collections
import functools
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import native
from olympus._src.foundation import compile_notes
from olympus._src.runtime import (
    absent_devices,
    client,
    compile_cache,
    compiling,
    cpu_kernels,
    forks,
    host_errors,
    host_kernels,
    mlir,
    partitioners,
    parts,
    transfer,
    versions,
    waiting,
)
from olympus._src.runtime.absent_devices import AbsentProgram
from olympus._src.runtime.array import ArrayImpl, deleted_array_error
from olympus._src.runtime.callback_program import CallbackProgram
from olympus._src.runtime.compiling import Options
from olympus._src.runtime.shardings import default_placement, placement_of
from olympus._src.runtime.stored_program import StoredProgram
from olympus._src.runtime.versions import Device, LoadedExecutable, XlaRuntimeError

Program = LoadedExecutable | CallbackProgram | StoredProgram | AbsentProgram

# -- compiling -------------------------------------------------------------------------


def compile(
    text: str | bytes,
    *,
    options: Options = (),
    devices: Sequence[Device] | None = None,
    host_callbacks: Sequence[Callable[..., Any]] = (),
    num_replicas: int = 1,
    num_partitions: int | None = None,
    has_dynamic_sizes: bool = False,
    may_keep: bool = True,
) -> Program:
    """Compiles StableHLO for devices and loads the program.

    Args:
      text: the module, as text or as bytecode.
      options: XLA's options by name.
      devices: where it runs; None for the default device.
      host_callbacks: Python functions that the module calls by their index.
      num_replicas: copies that run the whole program, each on its own data.
      num_partitions: parts that one program is split in; one for each device that
        replicas leave, if None.
      has_dynamic_sizes: the module has sizes that follow from its arguments' types.
      may_keep: whether it may be kept on disk; not if its text names functions by
        their address, where another may be another time.

    Raises:
      ValueError: an option is unknown or has a wrong value; or sizes do not follow.
      RuntimeError: XLA refuses the module.
    """
    chosen = list(devices) if devices else [client.default_device()]
    text = mlir.refine_shapes(text) if has_dynamic_sizes else text
    code = text.encode() if isinstance(text, str) else text
    if is_absent(chosen):
        return _compile_for_absent(code, chosen, options, host_callbacks)
    cpu_kernels.prepare_for(code)
    parts = len(chosen) // num_replicas if num_partitions is None else num_partitions
    built = compiling.compile_options(options, chosen, num_replicas, parts)
    place = placement_of(chosen[0])
    device_list = (
        place.device_list if len(chosen) == 1 else versions.DeviceList(tuple(chosen))
    )
    # A program that users divide calls functions of this process.
    is_kept = may_keep and partitioners.TARGET.encode() not in code
    load = compile_cache.load if is_kept else compile_cache.build
    if not host_callbacks:
        return load(code, device_list, built, options)
    if place.is_cpu:
        if len(chosen) > 1:
            compile_notes.add(_CALLS_PYTHON)
        return CallbackProgram(code, chosen, options, host_callbacks, load)
    compile_notes.add(_CALLS_PYTHON)
    return compile_cache.build(code, device_list, built, options, host_callbacks)


_CALLS_PYTHON = "never kept on disk: it calls Python functions of this process"


def is_absent(devices: Sequence[Device] | None) -> bool:
    """Whether devices are not here, but described, to compile for."""
    return devices is not None and any(map(versions.is_described, devices[:1]))


def _compile_for_absent(
    code: bytes, devices: list[Device], options: Options, callbacks: Sequence[Any]
) -> AbsentProgram:
    if callbacks:
        absent_devices.refuse_callbacks(devices)
    return absent_devices.compile_for(code, devices, options)


def is_stored(
    text: str, *, options: Options = (), devices: Sequence[Device] | None = None
) -> bool:
    """Whether `compile` would find the program on disk."""
    chosen = list(devices) if devices else [client.default_device()]
    if is_absent(chosen):
        return False
    built = compiling.compile_options(options, chosen, 1, len(chosen))
    return compile_cache.has(text, chosen[0], built, options)


# -- running ---------------------------------------------------------------------------

# So often a program may be running when its call returns before its arguments are no
# longer staged: then each of them loses its slot.
_MAX_UNENDED = 8


_UNKNOWN = object()


class Executable:
    """A loaded program with the avals of its results.

    Args:
      loaded: what `compile` or `deserialize` gave.
      out_avals: what each result is.
      device: where it runs, or None for the default device.
      committed: whether results stay there.
      donated: numbers of arguments whose memory the program may take.
      shardings: how each result lies on several devices; None for one device.
      in_shardings: the same for each argument.
      has_side_effects: whether it must be waited for at the end of the program.
    """

    __slots__ = (
        "_handlers",
        "_is_local",
        "_kernels",
        "_name",
        "_program",
        "committed",
        "devices",
        "donated",
        "execute",
        "execute_one",
        "in_shardings",
        "out_avals",
        "shardings",
    )

    execute: Callable[[list[Any]], list[ArrayImpl]]
    execute_one: Callable[[list[Any]], ArrayImpl]

    def __init__(
        self,
        loaded: Program,
        out_avals: Sequence[Any],
        device: Device | None = None,
        *,
        committed: bool = False,
        donated: Sequence[int] = (),
        shardings: Sequence[Any] | None = None,
        in_shardings: Sequence[Any] | None = None,
        has_side_effects: bool = False,
    ) -> None:
        self._program = loaded
        self.out_avals = list(out_avals)
        self.committed = committed
        self.donated = tuple(donated)
        if shardings is None:
            place = placement_of(device or client.default_device())
            self.shardings = [place.sharding] * len(self.out_avals)
            self.devices = place.devices
        else:
            self.shardings = list(shardings)
            if isinstance(loaded, CallbackProgram):  # which runs elsewhere
                self.devices = list(loaded.devices)
            else:
                self.devices = self.loaded.local_devices()
        self._handlers: list[Any] = []
        self._kernels: Any = _UNKNOWN
        self.in_shardings = in_shardings
        if isinstance(loaded, AbsentProgram):
            self._is_local, self._name = False, ""
            self.execute, self.execute_one = loaded.refuse, loaded.refuse
            return
        self._handlers = [
            versions.result_handler(aval.storage, sharding, committed)
            for aval, sharding in zip(self.out_avals, self.shardings, strict=True)
        ]
        self._is_local = all(s.is_fully_addressable for s in self.shardings) and all(
            s.is_fully_addressable for s in in_shardings or ()
        )
        self._name = "" if self._is_local else self.loaded.hlo_modules()[0].name
        self.execute = self._executor(has_side_effects)
        self.execute_one = self._single(has_side_effects)

    def place(self, buffers: list[Any]) -> list[Any]:
        """Buffers for the first arguments, put where the program takes them."""
        if self.in_shardings is None:
            return buffers
        rows = zip(buffers, self.in_shardings, strict=False)
        return [parts.place(buffer, sharding) for buffer, sharding in rows]

    def _execute_divided(self, buffers: list[Any]) -> list[ArrayImpl]:
        """Runs a program over a mesh, whose arguments are put in place first.

        It would read the wrong parts of an argument that is divided in another way, or
        memory that is not the argument's: so each one is looked at in every call. And
        arguments that jaxlib refuses with an error on one device end the process on
        several.
        """
        placed = self._put_in_place(buffers)
        if not self._is_local:
            waiting.start_step(self._name)
        if isinstance(self._program, CallbackProgram):
            return self._run_away(self._program, placed)
        outs, token = self._run_with_token(placed)
        in_flight.add(token, self._is_local)
        return outs

    def _put_in_place(self, buffers: list[Any]) -> list[Any]:
        """The arguments of a program over a mesh, divided as it takes them."""
        place = parts.place
        if any(map(_is_deleted, buffers)):
            raise _deleted_buffer_error(buffers)
        self._check_donated_once(buffers)
        placed = [
            b if b._sharding is s else place(b, s)
            for b, s in zip(buffers, self.in_shardings or (), strict=True)
        ]
        for number in self.donated:
            if placed[number] is not buffers[number]:
                transfer.delete_buffer(buffers[number])  # the program takes the copies
        return placed

    def _run_away(self, program: CallbackProgram, placed: list[Any]) -> list[ArrayImpl]:
        """Runs a program with callbacks over a mesh to the end."""
        avals = [aval.storage for aval in self.out_avals]
        raw = program.run_divided(placed, avals, self.shardings)
        for number in self.donated:
            transfer.delete_buffer(placed[number])
        rows = zip(raw, self.out_avals, strict=True)
        return [ArrayImpl(buffer, aval, self.committed) for buffer, aval in rows]

    def _check_donated_once(self, buffers: list[Any]) -> None:
        for number in self.donated:
            donated = buffers[number]
            same = [i for i, buffer in enumerate(buffers) if buffer is donated]
            if len(same) > 1:
                raise RuntimeError(
                    f"Array: a donated array must be one argument only, got arguments "
                    f"{' and '.join(map(str, same))} that are the same array of shape "
                    f"{donated.aval.shape}; pass a copy, or do not donate it"
                )

    def _first(self, buffers: list[Any]) -> ArrayImpl:
        return self.execute(buffers)[0]

    def _single(self, has_side_effects: bool) -> Callable[[list[Any]], ArrayImpl]:
        """As `execute` for one result, which comes without a list around it."""
        called = isinstance(self._program, CallbackProgram)
        if len(self.out_avals) != 1 or called:
            return self._first
        if self.in_shardings is not None:
            return self._native_divided(...) or self._first
        if has_side_effects:
            return self._first
        if native.calls is not None:
            return self._native_runner(...)
        if self.donated:
            return self._first
        return _single_executor(
            self.loaded, self._handlers, self.out_avals[0], self.committed
        )

    def _executor(self, has_side_effects: bool) -> Callable[..., list[ArrayImpl]]:
        program = self._program
        if isinstance(program, CallbackProgram) and len(program.devices) == 1:
            run = self._executor_at_home()
            return program.runner(self.out_avals, self.committed, self.donated, run)
        if self.in_shardings is not None:
            form = list, (...,) * len(self.out_avals)
            return self._native_divided(form) or self._execute_divided
        if has_side_effects or not self.out_avals:
            return self._execute_with_token
        return self._executor_at_home()

    def _executor_at_home(self) -> Callable[..., list[ArrayImpl]]:
        """What runs a program of one device that nobody else waits for."""
        if native.calls is not None:
            return self._native_runner((list, (...,) * len(self.out_avals)))
        if self.donated:
            return self._execute_donating
        return _executor(self.loaded, self._handlers, self.out_avals, self.committed)

    def _native_divided(self, form: Any) -> Any:
        """`_execute_divided` without Python frames; None where it must have them."""
        is_loaded = not isinstance(self._program, CallbackProgram)
        if native.calls is None or not self._is_local or not is_loaded:
            return None
        shardings = tuple(self.in_shardings or ())
        return self._native_runner(form, (shardings, self._put_in_place, in_flight.add))

    def _native_runner(self, form: Any, division: Any = None) -> Any:
        """What runs the program without Python's frames; `calls.c` says of forms."""
        run = self.loaded.execute_sharded if division is None else self._starter()
        runner = native.calls.Runner(
            run,
            self._handlers,
            tuple(self.out_avals),
            self.committed,
            self.donated,
            _raise_user_error,
            form,
            division,
        )
        runner.stages = self._may_stage() * _MAX_UNENDED
        if self._may_have_kernels():
            runner.find_kernels = self._find_kernels
        return runner

    def _may_have_kernels(self) -> bool:
        """Whether it runs on one CPU device, on its usual memory, without Python."""
        if self.in_shardings is not None or isinstance(self._program, CallbackProgram):
            return False
        if len(self.devices) != 1:
            return False
        place = placement_of(self.devices[0])
        return place.is_host and all(s is place.sharding for s in self.shardings)

    def _find_kernels(self) -> Any:
        """The kernels of a small program, to be called without XLA's runtime."""
        if self._kernels is _UNKNOWN and not self._is_small():
            self._kernels = None
        if self._kernels is _UNKNOWN:
            self._kernels = host_kernels.find(
                self.serialize(),
                self._run_raw,
                self.out_avals,
                placement_of(self.devices[0]),
            )
        return self._kernels

    def _is_small(self) -> bool:
        """Whether operands and results are, as they must be that kernels work on."""
        most = host_kernels.MAX_BYTES
        results = [aval.storage for aval in self.out_avals]
        if sum(each.size * each.dtype.itemsize for each in results) > most:
            return False
        stats = self.memory_analysis()  # which is told sooner than the whole program
        if stats is None:
            return True
        return stats.argument_size_in_bytes + stats.output_size_in_bytes <= most

    def _run_raw(self, buffers: list[Any]) -> list[Any]:
        results = self.loaded.execute_sharded(buffers)
        return results.consume_with_handlers(self._handlers)

    def _may_stage(self) -> bool:
        """Whether arguments may lie in memory that is used again after the program.

        Not where Python functions may keep a view of them, where the program takes
        them for its own, nor where it can run on another device than they are put on.
        """
        at_home = self.devices == default_placement().devices
        return at_home and not self.donated and self._may_have_kernels()

    def _execute_donating(self, buffers: list[Any]) -> list[ArrayImpl]:
        run = _executor(self.loaded, self._handlers, self.out_avals, self.committed)
        outs = run(buffers)
        for number in self.donated:
            # A view on the host keeps the memory, but the array is gone all the same.
            transfer.delete_buffer(buffers[number])
        return outs

    def _execute_with_token(self, buffers: list[Any]) -> list[ArrayImpl]:
        outs, token = self._run_with_token(buffers)
        side_effects.add(token)
        return outs

    def _run_with_token(self, buffers: list[Any]) -> tuple[list[ArrayImpl], Any]:
        """Results, and what becomes ready when the program has ended."""
        try:
            results = self._start(buffers)
        except XlaRuntimeError as error:
            raise _user_error(error, buffers)  # noqa: B904 - it has its cause
        token = results.consume_token()
        raw = results.consume_with_handlers(self._handlers)
        outs = [
            ArrayImpl(buffer, aval, self.committed)
            for buffer, aval in zip(raw, self.out_avals, strict=True)
        ]
        for number in self.donated:
            transfer.delete_buffer(buffers[number])
        return outs, token

    def _start(self, buffers: list[Any]) -> Any:
        run = functools.partial(self.loaded.execute_sharded, buffers, with_tokens=True)
        if not self._is_local:
            return waiting.start_program(run)
        return run() if self.in_shardings is None else self._starter()(buffers)

    def _starter(self) -> Callable[..., Any]:
        """What starts the program on all of its devices, or on none."""
        run, donated = self.loaded.execute_sharded, self.donated

        def start(buffers: list[Any], with_tokens: bool = True) -> Any:
            with transfer.starts:
                if any(map(_is_deleted, buffers)):
                    raise _deleted_buffer_error(buffers)
                results = run(buffers, with_tokens=with_tokens)
                for number in donated:  # where a part is viewed, its device copied it
                    transfer.delete_buffer(buffers[number])
                return results

        return start

    # -- what it is --

    @property
    def loaded(self) -> LoadedExecutable:
        """The executable of jaxlib."""
        return _loaded_executable(self._program)

    @property
    def whole(self) -> LoadedExecutable:
        """The executable of jaxlib that has all instructions, to look at."""
        return _whole_executable(self._program)

    @property
    def sharding(self) -> Any:
        """Where results go: the sharding of the first, or of its device."""
        if self.shardings:
            return self.shardings[0]
        return placement_of(self.devices[0]).sharding

    def input_shardings(self) -> list[Any] | None:
        """XLA's sharding of each argument; None where it chose none."""
        return self.loaded.get_parameter_shardings()

    def layouts(self) -> tuple[list[Any] | None, list[Any] | None]:
        """The layouts of arguments and results; None where the platform gives none."""
        try:
            ins = self.loaded.get_parameter_layouts()
            return list(ins), list(self.loaded.get_output_layouts())
        except XlaRuntimeError:
            return None, None

    def hlo_text(self) -> str:
        """The optimised program in XLA's HLO."""
        return optimized_text(self._program)

    def cost_analysis(self) -> dict[str, float] | None:
        """XLA's estimate of the cost, by name; None where the platform gives none."""
        try:
            return dict(self.whole.cost_analysis())
        except XlaRuntimeError:
            return None

    def memory_analysis(self) -> Any:
        """XLA's account of memory; None where the platform gives none."""
        try:
            return self.whole.get_compiled_memory_stats()
        except XlaRuntimeError:
            return None

    def serialize(self) -> bytes:
        """The compiled program as bytes, for `deserialize` on the same platform."""
        return serialize(self._program)


def _executor(
    loaded: LoadedExecutable,
    handlers: list[Any],
    out_avals: list[Any],
    committed: bool,
) -> Callable[[list[Any]], list[ArrayImpl]]:
    """The fastest function that runs a program: closed over all it needs."""
    run = loaded.execute_sharded

    def execute_many(buffers: list[Any]) -> list[ArrayImpl]:
        try:
            raw = run(buffers).consume_with_handlers(handlers)
        except XlaRuntimeError as error:
            raise _user_error(error, buffers)  # noqa: B904 - it has its cause
        # The lengths agree: jaxlib counts the handlers against the results.
        return [
            ArrayImpl(buffer, aval, committed)
            for buffer, aval in zip(raw, out_avals)  # noqa: B905
        ]

    if len(out_avals) != 1:
        return execute_many
    single = _single_executor(loaded, handlers, out_avals[0], committed)
    return lambda buffers: [single(buffers)]


def _single_executor(
    loaded: LoadedExecutable, handlers: list[Any], aval: Any, committed: bool
) -> Callable[[list[Any]], ArrayImpl]:
    """The same for a program of one result, which comes without a list around it."""
    run = loaded.execute_sharded

    def execute_one(buffers: list[Any]) -> ArrayImpl:
        try:
            raw = run(buffers).consume_with_handlers(handlers)
        except XlaRuntimeError as error:
            raise _user_error(error, buffers)  # noqa: B904 - it has its cause
        return ArrayImpl(raw[0], aval, committed)

    return execute_one


def _raise_user_error(error: Exception, buffers: list[Any]) -> None:
    """Raises the error a user should see for one that running on buffers raised."""
    try:
        raise error
    except XlaRuntimeError:
        raise _user_error(error, buffers)  # noqa: B904 - it has its cause


def _user_error(error: Exception, buffers: list[Any]) -> BaseException:
    """The error a user should see for one that running on buffers raised."""
    explained = host_errors.explain(error)
    if explained is error and any(map(_is_deleted, buffers)):
        return _deleted_buffer_error(buffers)
    return explained


_is_deleted = operator.methodcaller("is_deleted")


def _deleted_buffer_error(buffers: Sequence[Any]) -> RuntimeError:
    """The error for a run on buffers of which one is deleted."""
    deleted = next(filter(_is_deleted, buffers))
    return deleted_array_error(ArrayImpl(deleted, deleted.aval))


# -- side effects ----------------------------------------------------------------------


class SideEffects:
    """The running programs that no result represents."""

    def __init__(self) -> None:
        self._tokens: list[Any] = []

    def add(self, token: Any) -> None:
        """Notes a program by the token that ends with it."""
        self._tokens.append(token)
        if len(self._tokens) > _MAX_TOKENS:
            self.wait()

    def wait(self) -> None:
        """Waits for all of them.

        Raises:
          RuntimeError: one failed; the callback's own error is its cause.
        """
        failed = None
        # The list is taken whole: other threads may add to it meanwhile.
        pending, self._tokens = self._tokens, []
        if pending:
            forks.refuse_waiting()
        for token in pending:
            try:
                token.block_until_ready()
            except XlaRuntimeError as error:
                failed = failed or error
        if failed is not None:
            raise host_errors.explain(failed)

    def forget(self) -> None:
        """Drops the tokens, with the client that made them."""
        self._tokens.clear()


_MAX_TOKENS = 64
side_effects = SideEffects()
client.on_clear(side_effects.forget)


def wait_for_side_effects() -> None:
    """Waits for all programs that were started for their effects."""
    side_effects.wait()


# -- programs on several devices -------------------------------------------------------


class InFlight:
    """Bounds how many programs of several devices run at a time.

    Devices of the CPU share threads: of many programs that were started, some devices
    would run one and others another, and each would wait for the rest forever (60
    programs on 8 devices, jaxlib 0.10).
    """

    def __init__(self, limit: int) -> None:
        self._tokens: collections.deque[Any] = collections.deque()
        self._limit = limit

    def add(self, token: Any, is_local: bool = True) -> None:
        """Notes a program by the token that ends with it; waits for an earlier one.

        Args:
          token: it.
          is_local: whether the program runs in this process only.

        Raises:
          ProcessFailureError: another process that is needed has failed.
        """
        self._tokens.append((token, is_local))
        while len(self._tokens) > self._limit:
            self._wait_for_earliest()

    def wait(self) -> None:
        """Waits for all of them; raises as `add` does."""
        while self._tokens:
            self._wait_for_earliest()

    def _wait_for_earliest(self) -> None:
        try:
            token, is_local = self._tokens.popleft()
            if is_local:
                token.block_until_ready()
            else:
                waiting.wait_for_token(token)
        except IndexError:  # another thread took it
            return
        except XlaRuntimeError:  # raised where the program's results are read
            return

    def forget(self) -> None:
        """Drops the tokens, with the client that made them."""
        self._tokens.clear()


in_flight = InFlight(16)
client.on_clear(in_flight.forget)


def chosen_shardings(program: Program) -> tuple[list[Any] | None, list[Any] | None]:
    """XLA's shardings of the arguments and the results of a program.

    They are None for a program of one device, which divides nothing.
    """
    loaded = _loaded_executable(program)
    return loaded.get_parameter_shardings(), loaded.get_output_shardings()


# -- what a loaded program says of itself ----------------------------------------------


def optimized_text(program: Program) -> str:
    """The optimised program in XLA's HLO."""
    modules = _whole_executable(program).hlo_modules()
    return "\n\n".join([m.to_string() for m in modules])


# Not compiled at import, which few programs would use: it takes half a millisecond.
_ELEMENT = r"(\w+)\[([\d,]*)\]"


def result_types(program: Program) -> list[str]:
    """XLA's types of the results, as in 'f32[8,8]'."""
    head = _loaded_executable(program).hlo_modules()[0].to_string().partition("\n")[0]
    results = head.partition("entry_computation_layout=")[2].rpartition("->")[2]
    return [f"{name}[{sizes}]" for name, sizes in re.findall(_ELEMENT, results)]


def xla_type(aval: Any) -> str:
    """XLA's name of a type of stored elements, as in 'f32[8,8]'."""
    name = aval.dtype.name
    name = "pred" if name in ("bool", "int1") else name
    for word, letter in _LETTERS:
        name = name.replace(word, letter)
    return f"{name}[{','.join(map(str, aval.shape))}]"


_LETTERS = (
    ("uint", "u"),
    ("int", "s"),
    ("float", "f"),
    ("complex", "c"),
    ("_", ""),
)


# -- bytes -----------------------------------------------------------------------------


def serialize(program: Program) -> bytes:
    """A compiled program as bytes."""
    if isinstance(program, (CallbackProgram, StoredProgram)):
        return program.serialize()
    return compiling.serialize(_loaded_executable(program))


def deserialize(
    data: bytes,
    *,
    devices: Sequence[Device] | None = None,
    options: Options = (),
    host_callbacks: Sequence[Callable[..., Any]] = (),
) -> StoredProgram:
    """Loads what `serialize` wrote.

    Raises:
      RuntimeError: the bytes are damaged, or of another platform or version.
    """
    chosen = list(devices) if devices else [client.default_device()]
    cpu_kernels.prepare_for(data)
    device_list = versions.DeviceList(tuple(chosen))
    built = compiling.compile_options(options, chosen, 1, len(chosen))
    loaded = compiling.load_serialized(data, device_list, built, host_callbacks)
    return StoredProgram(loaded, lambda: data)


def _whole_executable(program: Program) -> LoadedExecutable:
    """The executable that has all instructions."""
    if isinstance(program, (CallbackProgram, StoredProgram)):
        return program.load_whole()
    return _loaded_executable(program)


def _loaded_executable(program: Program) -> LoadedExecutable:
    if isinstance(program, (CallbackProgram, StoredProgram)):
        return program.loaded
    return program
