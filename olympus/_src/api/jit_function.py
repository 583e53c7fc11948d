"""Jitted functions: looking up a call's program, and tracing and compiling new ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import (
    arguments,
    call_placement,
    native_calls,
    retraces,
    signatures,
    stages,
)
from olympus._src.api.jit_cache import (
    CacheInfo,
    Entry,
    State,
    find_state,
    forget_heavy,
)
from olympus._src.api.tracing import TracedProgram, trace_call
from olympus._src.calls import pjit as jit_
from olympus._src.core import avals as avals_
from olympus._src.core import trace
from olympus._src.explanations import operations
from olympus._src.foundation import (
    compile_notes,
    config,
    logs,
    source_info,
    tracebacks,
    vocabulary,
)
from olympus._src.interpreters import (
    concrete_arrays,
    evaluate,
    lowered_programs,
    partial_eval,
    portable,
    tiers,
)
from olympus._src.runtime import array as array_
from olympus._src.runtime import client, guards
from olympus._src.sharding.division import Division

ArrayImpl = array_.ArrayImpl
current = trace.current
_eval = evaluate.eval_trace()


_POSITIONS_AND_NAMES = frozenset(
    ("donate_argnames", "donate_argnums", "static_argnames", "static_argnums")
)


class Options:
    """The options of `jit`, without the function; hashable."""

    __slots__ = (
        "_key",
        "compiler_options",
        "device",
        "donate_argnames",
        "donate_argnums",
        "in_shardings",
        "inline",
        "keep_unused",
        "out_shardings",
        "static_argnames",
        "static_argnums",
        "written",
    )
    compiler_options: tuple[tuple[str, Any], ...]
    device: Any
    donate_argnames: Any
    donate_argnums: Any
    in_shardings: call_placement.Shardings
    inline: bool
    keep_unused: bool
    out_shardings: call_placement.Shardings
    static_argnames: Any
    static_argnums: Any

    # Those of positions and names that the user wrote; the others were inferred.
    written: frozenset[str]

    def __init__(self, written: frozenset[str], **fields: Any) -> None:
        self.written = written
        names = _NAMES
        for name in names:
            setattr(self, name, fields[name])
        self._key = tuple([fields[name] for name in names])

    @property
    def inferred(self) -> frozenset[str]:
        """Those of positions and names that the user did not write."""
        return _POSITIONS_AND_NAMES - self.written

    @staticmethod
    def names() -> tuple[str, ...]:
        """The options by name."""
        return _NAMES

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return type(other) is Options and self._key == other._key


_NAMES = Options.__slots__[1:-1]


class JitFunction(native_calls.Caller):
    """A function that compiles itself for each signature it is called with."""

    # Parameters of the equation that it is in other programs, besides those of `jit`.
    marks: Mapping[str, Any] = {}
    derived_fields = frozenset(
        ("_flat_entries", "_options", "_params", "_placed_entries", "_tree_entries")
    )

    def __init__(self, fun: Callable[..., Any], options: Options) -> None:
        _copy_names(self, fun)
        self.__wrapped__ = fun
        self._fun = fun
        self._options = options
        self._state: State | None = None
        self._flat_entries: dict[Any, Entry] = {}  # the state's, once it is known
        self._tree_entries: dict[Any, Entry] = {}
        self._placed_entries: dict[Any, Entry] = {}
        self._params: signatures.Parameters | None = None
        self._plain = not options.static_argnums and not options.static_argnames
        self._plain = self._plain and options.device is None
        self._divides = bool(options.in_shardings) or bool(options.out_shardings)
        self._plain = self._plain and not self._divides

    def __getstate__(self) -> dict[str, Any]:
        # A copy of the same function finds what is compiled, by the function.
        own = dict(self.__dict__, _state=None, _params=None)
        return own | {"_flat_entries": {}, "_tree_entries": {}, "_placed_entries": {}}

    def __repr__(self) -> str:
        kind = "PjitFunction" if vocabulary.is_jax() else "jit"
        return f"<{kind} of {self._fun!r}>"

    @property
    def __signature__(self) -> inspect.Signature:
        # `inspect` takes an object with `__get__` for one of C, without parameters.
        try:
            return inspect.signature(self._fun)
        except (TypeError, ValueError) as error:
            raise AttributeError("__signature__") from error

    # -- calls ---------------------------------------------------------------------

    def _call_slowly(self, /, *args: Any, **kwargs: Any) -> Any:
        """A call without the part in C, or one that it does not know yet."""
        # Arrays by position need no parsing. One array, the commonest call, is looked
        # up without even a list: of six microseconds XLA itself takes five.
        if current.trace is _eval and not kwargs:
            if len(args) == 1 and type(args[0]) is ArrayImpl:
                key: Any = (config.trace_context(), args[0].aval)
                entry = self._flat_entries.get(key)
                buffers = [args[0]]
            else:
                entry, buffers = self._find_flat(args)
            if entry is not None:
                return self._run(entry, buffers, args)
            if self._placed_entries:
                entry, buffers = self._find_placed(args)
                if entry is not None:
                    return self._run(entry, buffers, args)
        try:
            if self._plain and current.trace is _eval and not guards.are_on():
                return self._call_tree(args, kwargs)
            return self._dispatch(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _find_flat(self, args: tuple[Any, ...]) -> tuple[Entry | None, list[Any]]:
        """The entry for positional arrays, and their buffers."""
        key: list[Any] = [config.trace_context()]
        buffers: list[Any] = []
        for x in args:
            if type(x) is not ArrayImpl:
                return None, buffers
            key.append(x.aval)
            buffers.append(x)
        return self._flat_entries.get(tuple(key)), buffers

    def _find_placed(self, args: tuple[Any, ...]) -> tuple[Entry | None, list[Any]]:
        """The entry for positional arrays in the places where they are."""
        key: list[Any] = [config.trace_context()]
        buffers: list[Any] = []
        for x in args:
            if type(x) is not ArrayImpl:
                return None, buffers
            key += (x.aval, x.sharding, x._committed)
            buffers.append(x)
        return self._placed_entries.get(tuple(key)), buffers

    def _run(self, entry: Entry, buffers: list[Any], args: Sequence[Any]) -> Any:
        try:
            return entry.call(buffers)
        except Exception as error:
            _explain_deleted(error, entry, args)
            raise

    def _run_followed(self, entry: Entry, buffers: list[Any], leaves: Any) -> Any:
        """`_run`, which marks the random keys that the program consumes."""
        arrays = [*entry.followed, *leaves]  # type: ignore[misc]
        try:
            outs = evaluate.follow_run(entry.compiled, arrays, buffers)
        except RuntimeError as error:
            _explain_deleted(error, entry, leaves)
            raise
        return entry.out_tree.unflatten(outs)

    def _call_tree(self, args: Any, kwargs: Any) -> Any:
        """A call of arguments in containers; none is static."""
        try:
            leaves, structure = tree.flatten((args, kwargs))
        except ValueError:
            return self._dispatch(args, kwargs)  # which says what is wrong
        key: list[Any] = [config.trace_context(), structure]
        buffers = []
        for x in leaves:
            if type(x) is not ArrayImpl:
                if not avals_.is_array_like(x):
                    return self._dispatch(args, kwargs)  # which says what is wrong
                x = concrete_arrays.as_operand(x)
            key.append(x.aval)
            buffers.append(x)
        entry = self._tree_entries.get(tuple(key))
        if entry is None:
            return self._dispatch(args, kwargs)
        return self._run(entry, buffers, leaves)

    def _dispatch(self, args: Any, kwargs: Any) -> Any:
        if config.jit_disabled():
            return self._fun(*args, **kwargs)
        call = self._parameters().bind(args, kwargs)
        if current.trace is not _eval:
            return self._stage(call)
        device = self._options.device
        operands = arguments.as_arguments(call, call.leaves)
        call.avals = [x.aval for x in operands]
        if self._divides:
            call.avals = call_placement.argument_avals(self._options, call, call.avals)
        lookup = self._find_trace(call)
        traced = lookup[0]
        arrays = operands
        if client.several_devices():
            used = self._used_arguments(traced, operands)
            device = call_placement.of_call(self._options, call, operands, used)
            arrays = concrete_arrays.on_device(operands, device, used)
        state = self._current_state()
        entry = state.entries.get((traced.program, device))
        if entry is None:
            entry = self._compile_entry(call, lookup, device)
        if guards.are_on():
            taken = entry.compiled.taken_arguments()
            arguments.check_transfers(call.leaves, taken)
        buffers = list(arrays)
        if entry.followed is not None:
            return self._run_followed(entry, buffers, call.leaves)
        # Values of the host are put beside committed arrays there.
        rows = zip(call.leaves, arrays, operands, strict=True)
        moved = any(a is not o for x, a, o in rows if type(x) is ArrayImpl)
        if not moved and self._keep_natively(entry, device, call, args, kwargs):
            return self._run(entry, buffers, call.leaves)
        if self._plain:
            self._keep_by_cheaper_key(entry, call, arrays, args, kwargs)
        return self._run(entry, buffers, call.leaves)

    def _explain_failure(
        self, error: Exception, entry: Entry, /, *args: Any, **kwargs: Any
    ) -> None:
        """Raises a better error than the one of a call, where there is one."""
        try:
            call = self._parameters().bind(args, kwargs)
            _explain_deleted(error, entry, call.leaves)
        except Exception as better:
            tracebacks.hide(better)
            raise
        tracebacks.hide(error)

    def _keep_natively(
        self, entry: Entry, device: Any, call: signatures.Call, args: Any, kwargs: Any
    ) -> bool:
        """Whether calls like this one will be found by the part in C."""
        if not native_calls.IS_NATIVE:
            return False
        known, order = native_calls.leaf_order(
            call.leaves, *self._parameters().dynamic(args, kwargs)
        )
        if not known:
            return False
        evaluate.make_room(self._current_state().native_entries)
        place = native_calls.place_of_hosts(device)
        return self.keep(entry, order, place, *args, **kwargs)

    def _keep_by_cheaper_key(
        self, entry: Entry, call: signatures.Call, arrays: Any, args: Any, kwargs: Any
    ) -> None:
        context = config.trace_context()
        flat = not kwargs and all(type(x) is ArrayImpl for x in args)
        if not client.several_devices():
            if flat:
                self._flat_entries[(context, *call.avals)] = entry
            else:
                self._tree_entries[(context, call.structure, *call.avals)] = entry
        elif flat and all(a is x for a, x in zip(arrays, args, strict=True)):
            key: list[Any] = [context]
            for x in arrays:
                key += (x.aval, x._buffer._sharding, x._committed)
            evaluate.make_room(self._placed_entries)
            self._placed_entries[tuple(key)] = entry

    def _compile_entry(
        self,
        call: signatures.Call,
        lookup: tuple[TracedProgram, retraces.Retrace | None, bool],
        device: Any,
    ) -> Entry:
        traced, record, is_new = lookup
        state = self._current_state()
        key = (traced.program, device)
        with state.lock:
            entry = state.entries.get(key)
            if entry is not None:
                return entry
            if record is None or (not is_new and record.compile_s):
                record, is_new = self._note(call, traced), True
            with compile_notes.Recorded() as disk_notes:
                lowered = self._lower(traced, device)
                compiled, upgrade = tiers.compile(
                    lowered, self._options.compiler_options
                )
            _log_compile(traced, lowered, compiled)
            retraces.add_cost(record, lowered, compiled, disk_notes)
            if is_new:
                retraces.report(record)
            entry = Entry(traced, compiled)
            if len(state.entries) >= evaluate.MAX_PROGRAMS:
                state.clear()
            state.entries[key] = entry
            if upgrade is not None:
                upgrade.start(entry.adopt)
            return entry

    def _used_arguments(
        self, traced: TracedProgram, values: Sequence[Any]
    ) -> Sequence[bool] | None:
        """Which leaves of a call its program takes; None for all.

        The others may be anywhere, and deleted. Where no leaf says where it is, nothing
        depends on that, and no rule for dead code is asked.
        """
        if self._options.keep_unused:
            return None
        places = concrete_arrays.committed_places(values)
        if not self._divides and all(place is None for place in places):
            return None
        return partial_eval.used_inputs(traced.program)

    def _stage(self, call: signatures.Call) -> Any:
        """Applies the function as one equation of the program being traced."""
        call.avals = [
            arguments.argument_aval(x, call, i) for i, x in enumerate(call.leaves)
        ]
        if self._divides:
            call.avals = call_placement.argument_avals(self._options, call, call.avals)
        traced, record, is_new = self._find_trace(call)
        if is_new and record is not None:
            retraces.report(record)
        if not evaluate.is_staging():
            operations.expect_compilations(record if is_new else None)
        leaves = call.leaves
        if self._divides:
            leaves = call_placement.constrain_arguments(self._options, call)
        outs = jit_.bind_program(
            traced.program,
            traced.consts,
            leaves,
            name=traced.name,
            donated=tuple(traced.donated),
            keep_unused=self._options.keep_unused,
            inline=self._options.inline,
            compiler_options=self.compiler_options,
            **self.marks,
        )
        if self._divides:
            outs = call_placement.constrain_results(self._options, traced, outs)
        return traced.out_tree.unflatten(outs)

    # -- tracing -------------------------------------------------------------------

    def _trace(
        self, call: signatures.Call
    ) -> tuple[TracedProgram, retraces.Retrace | None]:
        """The program of a call, and the note of it.

        The function runs if it did not for this signature.
        """
        traced, record, is_new = self._find_trace(call)
        if is_new and record is not None:
            retraces.report(record)
        return traced, record

    def _find_trace(
        self, call: signatures.Call
    ) -> tuple[TracedProgram, retraces.Retrace | None, bool]:
        """`_trace`, the note of it, and whether the function ran."""
        key = (config.trace_context(), current.axis_context(), call.key())
        state = self._current_state()
        traced = state.traced.get(key)
        if traced is not None and traced.alive():
            return traced, state.notes.get(key), False
        with state.lock:
            traced = state.traced.get(key)
            if traced is not None and traced.alive():
                return traced, state.notes.get(key), False
            traced = self._trace_uncached(call)
            record = state.notes[key] = self._note(call, traced)
            record.trace_s = traced.duration_s
            state.traced[key] = traced
            forget_heavy(self._fun, traced)
        return traced, record, True

    def _note(self, call: signatures.Call, traced: TracedProgram) -> retraces.Retrace:
        """Notes that a program was made."""
        return retraces.note(
            call, traced.debug_info, self._current_state(), self._fun, self._options
        )

    def _lower(
        self, traced: TracedProgram, device: Any, platform: str | None = None
    ) -> lowered_programs.LoweredProgram:
        if client.several_devices():
            device = call_placement.of_program(self._options, traced, device)
        return lowered_programs.lower(
            traced.program,
            traced.consts,
            name=traced.name,
            device=device,
            platform=platform,
            donated=traced.donated,
            keep_unused=self._options.keep_unused,
            result_names=traced.debug_info.result_paths,
        )

    def _parameters(self) -> signatures.Parameters:
        if self._params is None:
            self._params = signatures.Parameters(self._fun, self._options)
        return self._params

    def _current_state(self) -> State:
        state = self._state
        if state is None:
            state = find_state(self._fun, self._options)
            self._use(state)
        return state

    def _use(self, state: State) -> None:
        self._state = state
        self._flat_entries = state.flat_entries
        self._tree_entries = state.tree_entries
        self._placed_entries = state.placed_entries
        options = self._options
        static_names = frozenset(options.static_argnames)
        self.look_up(state.native_entries, tuple(options.static_argnums), static_names)

    # -- stages --------------------------------------------------------------------

    def trace(self, *args: Any, **kwargs: Any) -> stages.Traced:
        """Traces for these arguments, which may be `ShapeDtypeStruct`s.

        Returns:
          A `stages.Traced` with the olympuspr.
        """
        try:
            return self._traced_stage(self._trace, args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def trace_afresh(self, *args: Any, **kwargs: Any) -> stages.Traced:
        """`trace`, without looking in the cache: the function runs again."""
        untold = lambda call: (self._trace_uncached(call), None)  # noqa: E731
        return self._traced_stage(untold, args, kwargs)

    def eval_shape_afresh(self, *args: Any, **kwargs: Any) -> Any:
        """`eval_shape`, without looking in the cache."""
        untold = lambda call: (self._trace_uncached(call, False), None)  # noqa: E731
        return self._traced_stage(untold, args, kwargs).out_info

    def _traced_stage(self, tracing: Any, args: Any, kwargs: Any) -> stages.Traced:
        call = self._parameters().bind(args, kwargs)
        call.avals = [
            arguments.abstract_argument(x, call, i) for i, x in enumerate(call.leaves)
        ]
        call.avals = call_placement.argument_avals(self._options, call, call.avals)
        traced, note = tracing(call)
        used = None
        if client.several_devices():
            used = self._used_arguments(traced, call.leaves)
        place = call_placement.of_call(self._options, call, call.leaves, used)
        return stages.Traced(traced, call, self, place, note)

    def _trace_uncached(
        self, call: signatures.Call, names_results: bool = True
    ) -> TracedProgram:
        donated = call.donated(self._options)
        return trace_call(self._fun, call, donated, names_results)

    @property
    def compiler_options(self) -> tuple[tuple[str, Any], ...]:
        """XLA's options, by name."""
        return tiers.split_tier(self._options.compiler_options)[1]

    @property
    def keep_unused(self) -> bool:
        """Whether programs take unused arguments."""
        return self._options.keep_unused

    def lower(self, *args: Any, **kwargs: Any) -> stages.Lowered:
        """Traces and lowers for these arguments; `trace(...).lower()`."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The `ShapeDtypeStruct`s of the results, without computing them."""
        return self.trace(*args, **kwargs).out_info

    def lower_traced(
        self, traced: TracedProgram, place: Any, platforms: Sequence[str] = ()
    ) -> lowered_programs.LoweredProgram | portable.PortableProgram:
        """Lowers for where a call runs, or for other platforms."""
        if len(platforms) > 1:
            return portable.lower(
                traced.program,
                traced.consts,
                name=traced.name,
                platforms=platforms,
                donated=traced.donated,
                keep_unused=self.keep_unused,
                result_names=traced.debug_info.result_paths,
                division=self.division_of_traced(traced, place),
            )
        platform = platforms[0] if platforms else None
        return self._lower(traced, place, platform)

    def division_of_traced(self, traced: TracedProgram, place: Any) -> Division | None:
        """How a call is divided over several devices; None if it is not.

        Args:
          traced: the program.
          place: where the arguments are.
        """
        if not client.several_devices():
            return None
        place = call_placement.of_program(self._options, traced, place)
        is_divided = isinstance(place, Division) and place.mesh.size > 1
        return place if is_divided else None

    # -- the cache -----------------------------------------------------------------

    def cache_info(self) -> CacheInfo:
        """How many signatures are compiled, and why the function was traced."""
        state = self._current_state()
        return CacheInfo(len(state.entries), state.records)

    def cache_state(self) -> State:
        """What is kept of this function."""
        return self._current_state()

    def clear_cache(self) -> None:
        """Forgets all traced and compiled signatures of this function."""
        self._current_state().clear()

    def _cache_size(self) -> int:
        return len(self._current_state().entries)


if not native_calls.IS_NATIVE:
    JitFunction.__call__ = JitFunction._call_slowly


# Functions of the library have stages too, which are not those of the wrapper.
_OWN_NAMES = frozenset(("_fun", "trace", "lower", "eval_shape"))


def _copy_names(wrapper: Any, fun: Any) -> None:
    for name in (
        "__module__",
        "__name__",
        "__qualname__",
        "__annotations__",
    ):
        value = getattr(fun, name, None)
        if value is not None:
            setattr(wrapper, name, value)
    text = getattr(fun, "__doc__", None)  # where it has none: not the class's own
    wrapper.__doc__ = text if isinstance(text, str) else None
    if not hasattr(fun, "__name__"):
        wrapper.__name__ = source_info.function_name(fun)
    wrapper.__dict__.update(
        {k: v for k, v in getattr(fun, "__dict__", {}).items() if k not in _OWN_NAMES}
        if inspect.isfunction(fun)
        else {}
    )


def _log_compile(traced: TracedProgram, lowered: Any, compiled: Any) -> None:
    if config.log_compiles.value:
        shapes = ", ".join(a.short() for a in traced.program.in_avals)
        done = "Traced again, program reused:" if compiled.reused else "Compiled"
        logs.warning(
            f"{done} {traced.name} for arguments ({shapes}): trace "
            f"{traced.duration_s:.4f} s, lower {lowered.duration_s:.4f} s, compile "
            f"{compiled.duration_s:.4f} s"
        )


def _explain_deleted(error: Exception, entry: Entry, args: Sequence[Any]) -> None:
    """Raises a specific error where an argument or a constant was deleted."""
    if isinstance(error, FloatingPointError) or error.__cause__ is not None:
        return  # a bad number, or a callback's error: this call itself took the arrays
    for i, x in enumerate(args):
        if type(x) is ArrayImpl and x.is_deleted():
            raise RuntimeError(
                f"{entry.name}: argument {i} of type {x.aval.short()} has been deleted "
                "or donated to an earlier call; keep a copy, or do not donate it"
            ) from None
    for x in entry.compiled.lowered.consts:
        if x.is_deleted():
            raise RuntimeError(
                f"{entry.name}: an array of type {x.aval.short()} that the function "
                "captured has been deleted or donated to an earlier call; pass it as "
                "an argument, or do not donate it"
            ) from None
