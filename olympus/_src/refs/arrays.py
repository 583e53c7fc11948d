"""Refs outside of programs: reading, and writing into the memory they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir, trace
from olympus._src.core.refs import Ref
from olympus._src.foundation import caching, config
from olympus._src.interpreters import (
    compiled_programs,
    concrete_arrays,
    evaluate,
    lowered_programs,
    partial_eval,
)
from olympus._src.numpy import indexing
from olympus._src.numpy.index_parsing import Plan
from olympus._src.refs import positions


def new(x: Any) -> Ref:
    """A ref that holds an array, which keeps its own value."""
    array = concrete_arrays.copy(concrete_arrays.as_array(x))
    return Ref(concrete_arrays.with_aval(array, array.aval.strip_weak_type()))


def freeze(ref: Ref) -> Any:
    """The array that a ref holds, whose life ends."""
    return _as_ref("freeze", ref).release("frozen")


def free(ref: Ref) -> list[Any]:
    """Ends a ref's life."""
    _as_ref("free_ref", ref).release("freed")
    return []


def _as_ref(what: str, x: Any) -> Ref:
    if isinstance(x, trace.Tracer):
        raise trace.leak_error(x, what)
    if type(x) is not Ref:
        raise TypeError(
            f"{what}: a ref is required, got a value of type {type(x).__name__}; make "
            "one with olympus.new_ref(x)"
        )
    return x


def get(ref: Ref, *operands: Any, plan: Plan) -> Any:
    """The part of a ref that a plan names."""
    ref = _as_ref("ref.get", ref)
    with ref.lock:
        array = ref.held()
        if positions.is_everything(plan, ref.shape):
            return concrete_arrays.copy(array)
        return indexing.read(array, operands, plan)


def getitem(ref: Ref, index: Any) -> Any:
    """`ref[index]`; small parts are read by way of the host."""
    with ref.lock:
        array = ref.held()
        with config.check_static_indices(True):
            part = indexing.getitem(array, index)
        return concrete_arrays.copy(part) if part is array else part


def swap(ref: Ref, values: Any, *operands: Any, plan: Plan) -> Any:
    """Writes a part of a ref; returns what stood there."""
    if positions.is_everything(plan, ref.shape):
        return _replace(ref, values)
    return _write(ref, values, operands, plan, "set", returns_old=True)[0]


def put(ref: Ref, values: Any, operands: Sequence[Any], plan: Plan) -> None:
    """`swap` without a look at what stood there."""
    if positions.is_everything(plan, ref.shape):
        _replace(ref, values)
    else:
        _write(ref, values, operands, plan, "set", returns_old=False)


def add(ref: Ref, values: Any, *operands: Any, plan: Plan) -> list[Any]:
    """Adds to a part of a ref."""
    return _write(ref, values, operands, plan, "add", returns_old=False)


def _replace(ref: Ref, values: Any) -> Any:
    """Holds another array; returns the one before."""
    ref = _as_ref("ref.set", ref)
    with ref.lock:
        old = ref.held()
        ref.hold(concrete_arrays.copy(concrete_arrays.placed_like(values, old)))
        return old


def _write(
    ref: Ref,
    values: Any,
    operands: Sequence[Any],
    plan: Plan,
    op: str,
    *,
    returns_old: bool,
) -> list[Any]:
    """Runs a program that takes the ref's memory and gives it back."""
    ref = _as_ref("ref.set", ref)
    args = [concrete_arrays.as_array(x) for x in (values, *operands)]
    with ref.lock:
        array = ref.held()
        device = concrete_arrays.common_device([array, *args])
        avals = tuple([x.aval for x in (array, *args)])
        key = (avals, plan, op, returns_old, device, config.trace_context())
        program = _programs.get(key)
        if program is None:
            evaluate.make_room(_programs)
            program = _programs[key] = _compile(avals, plan, op, returns_old, device)
        *outs, new_array = program.call([array, *args])
        ref.hold(new_array)
    return outs


_programs: dict[Any, compiled_programs.CompiledProgram] = {}
caching.register(_programs.clear, "writes to refs")


def _compile(
    avals: Sequence[Any], plan: Plan, op: str, returns_old: bool, device: Any
) -> compiled_programs.CompiledProgram:
    def run(x: Any, values: Any, *operands: Any) -> list[Any]:
        new_value = positions.write(x, values, operands, plan, op)
        if not returns_old:
            return [new_value]
        return [positions.read(x, operands, plan), new_value]

    name = "ref_set" if op == "set" else "ref_add"
    info = ir.DebugInfo("evaluation", name)
    program, consts = partial_eval.trace_to_olympuspr(run, avals, info)
    lowered = lowered_programs.lower(
        program,
        consts,
        name=name,
        device=device,
        donated=[True, *[False] * (len(avals) - 1)],
    )
    return compiled_programs.build(lowered, tuple(evaluate.eager_options(lowered)))
