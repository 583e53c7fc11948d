"""Tracing of a call's function to a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.api import signatures
from olympus._src.core import avals as avals_
from olympus._src.core import ir, primitive, trace
from olympus._src.foundation import config, events
from olympus._src.interpreters import partial_eval, progress

_HEAVY_BYTES = 1 << 20
_check_keys = primitive.LateRule("interpreters.key_reuse", "check_program")


class TracedProgram(NamedTuple):
    """A function traced for one signature.

    Attributes:
      program: what it does, of flat arguments.
      consts: values of the program's constants.
      has_tracers: whether some of these are tracers of enclosing traces.
      out_tree: the structure of the function's result.
      debug_info: names for messages about it.
      donated: for each argument whether a result may overwrite it.
      duration_s: how long it took.
    """

    program: ir.Olympuspr
    consts: list[Any]
    has_tracers: bool
    out_tree: Any
    debug_info: ir.DebugInfo
    donated: Sequence[bool]
    duration_s: float

    @property
    def name(self) -> str:
        """The function's name."""
        return self.debug_info.func_name

    def is_heavy(self) -> bool:
        """Whether its constants take much memory."""
        avals = map(avals_.aval_of, self.consts)
        return sum(map(_bytes, avals)) > _HEAVY_BYTES

    @property
    def out_avals(self) -> list[Any]:
        """Types of the results."""
        return self.program.out_avals

    def alive(self) -> bool:
        """Whether constants that are tracers still belong to open traces."""
        return not self.has_tracers or all(
            not isinstance(c, trace.Tracer) or not c._trace.ended for c in self.consts
        )


def _bytes(aval: Any) -> Any:
    if aval.is_high:
        return avals_.count_bytes(aval)
    return aval.size * aval.dtype.itemsize


class Results:
    """What a traced function returned, in addition to flat values."""

    __slots__ = ("paths", "tree")
    paths: list[str] | None
    tree: Any


def flat_function(
    fun: Callable[..., Any],
    call: signatures.Call,
    info: ir.DebugInfo,
    names_results: bool = True,
) -> tuple[Callable[..., list[Any]], Results]:
    """The function of a call's leaves, and the record of its result's structure.

    It raises TypeError where a result is not an array.
    """
    results = Results()
    results.paths = None

    def run(*tracers: Any) -> list[Any]:
        args, kwargs = call.arguments(tracers)
        result = fun(*args, **kwargs)
        outs, results.tree = tree.tree_flatten(result)
        if names_results or not all(map(avals_.is_array_like, outs)):
            results.paths = result_paths(result, results.tree)
            check_results(outs, results.paths, info)
        return outs

    return run, results


def result_paths(result: Any, structure: Any) -> list[str]:
    """A path for each output, as in `result[0]['w']`."""
    if tree.is_one_leaf(structure):
        return ["result"]
    pairs = tree.tree_flatten_with_path(result)[0]
    return [f"result{tree.keystr(path)}" for path, _ in pairs]


def check_results(
    outs: Sequence[Any], paths: Sequence[str], info: ir.DebugInfo
) -> None:
    """Raises TypeError where an output is not an array."""
    for x, path in zip(outs, paths, strict=True):
        if not avals_.is_array_like(x):
            where = f" at {info.func_location}" if info.func_location else ""
            raise TypeError(
                f"function {info.func_name}{where} traced for {info.traced_for} "
                f"returned a value of type {type(x)} at output component {path}, "
                "which is not a valid olympus type; return arrays and numbers only"
            )


def trace_call(
    fun: Callable[..., Any],
    call: signatures.Call,
    donated: Sequence[bool],
    names_results: bool = True,
) -> TracedProgram:
    """Runs a function on tracers of a call's types.

    Args:
      fun: the user's function.
      call: its `avals` are the types.
      donated: for each leaf whether a result may overwrite it.
      names_results: note a path for each result.
    """
    start = time.perf_counter()
    info = call.debug_info()
    run, results = flat_function(fun, call, info, names_results)
    if progress.is_on():  # a `with` costs more than to ask
        with progress.watch_trace(info):
            program, consts = partial_eval.trace_to_olympuspr(run, call.avals, info)
    else:
        program, consts = partial_eval.trace_to_olympuspr(run, call.avals, info)
    info.result_paths = results.paths
    if config.debug_key_reuse.value:
        _check_keys(program)
    duration_s = time.perf_counter() - start
    events.record_event_duration_secs(
        "/olympus/core/compile/trace_duration", duration_s, fun_name=info.func_name
    )
    return TracedProgram(
        program=program,
        consts=consts,
        has_tracers=any(isinstance(c, trace.Tracer) for c in consts),
        out_tree=results.tree,
        debug_info=info,
        donated=donated,
        duration_s=duration_s,
    )
