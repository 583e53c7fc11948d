"""Batching: applies a function to slices along an axis by rules, without a loop."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src.core import avals as avals_
from olympus._src.core import (
    explicit_shardings,
    high_values,
    ir,
    primitive,
    scopes,
    trace,
)
from olympus._src.foundation import source_info
from olympus._src.interpreters import discharge, partial_eval
from olympus._src.lax import families, manual_axes, sharding_constraints
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import PartitionSpec

not_mapped = None


class AxisData:
    """The axis that is mapped.

    Attributes:
      name: what collectives call it, or None.
      size: how many elements it has.
      spmd_name: the mesh axes its elements are spread over, or None.
      active: array [size] of bool, the elements that debugging looks at; None for all.
      explicit: how explicit axes of a mesh divide it, as an array of one axis; None
        where they do not.
      manual: the manual axes of a mesh along which types say that its elements vary: in
        the program of one device, which has some of them.
    """

    __slots__ = (
        "__weakref__",
        "active",
        "explicit",
        "manual",
        "name",
        "size",
        "spmd_name",
    )

    def __init__(
        self,
        name: Any,
        size: int,
        spmd_name: Any = None,
        active: Any = None,
        explicit: Any = None,
        manual: tuple[Any, ...] = (),
    ) -> None:
        self.name = name
        self.size = size
        self.spmd_name = spmd_name
        self.active = active
        self.explicit = explicit
        self.manual = manual

    @property
    def entry(self) -> Any:
        """The explicit mesh axes that divide it, as in a spec."""
        return None if self.explicit is None else self.explicit.spec[0]

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is AxisData
            and other.size == self.size
            and other.name == self.name
            and other.spmd_name == self.spmd_name
            and other.active is self.active
            and other.explicit is self.explicit
            and other.manual == self.manual
        )

    def __hash__(self) -> int:
        return hash((self.name, self.size, self.spmd_name))

    def where(self, active: Any) -> AxisData:
        """The same axis, where debugging looks at some elements only."""
        return AxisData(
            self.name, self.size, self.spmd_name, active, self.explicit, self.manual
        )

    def __repr__(self) -> str:
        return f"AxisData(name={self.name!r}, size={self.size})"


class BatchTracer(trace.Tracer):
    """A value with a mapped axis that the traced function does not see."""

    __slots__ = ("batch_dim", "val")

    def __init__(self, trace_: BatchTrace, val: Any, dim: int) -> None:
        self._trace = trace_
        self.val = val
        self.batch_dim = dim
        aval = avals_.aval_of(val)
        key = aval, dim
        inner = trace_.inner.get(key)
        if inner is None:
            if aval.is_high:
                inner = aval.without_axis(dim, trace_.axis.size)
            else:
                inner = aval.without_axis(dim)
            trace_.inner[key] = inner
        self.aval = inner


class BatchTrace(trace.Trace):
    """Applies batching rules in the interpreter that was current before."""

    __slots__ = ("axis", "ended", "inner")
    is_adopted = False

    def __init__(self, parent: trace.Trace, axis: AxisData) -> None:
        super().__init__(parent)
        self.axis = axis
        self.ended = False
        # Types without the mapped axis, by type and axis: few, and requested often.
        self.inner: dict[tuple[Any, int], Any] = {}

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        vals: list[Any] = []
        dims: list[int | None] = []
        plain = True
        for x in args:
            dim = None
            if type(x) is BatchTracer:
                x, dim = self.split(x)
                if dim is not None:
                    plain = False
            vals.append(x)
            dims.append(dim)
        if p.discharge is not None and discharge.is_needed(p, params):
            return discharge.apply(p, args, params)
        current = trace.current
        outer = current.position
        if outer is None:  # one look at the stack serves all that the rule applies
            current.position = source_info.capture()
        parent: Any = self.parent
        current.trace = parent
        try:
            if plain and not self._is_followed(p, params):
                return parent.process(p, tuple(vals), params)
            if p.batch is None:
                raise primitive.missing_rule(p, "batch")
            out, out_dims = p.batch(self.axis, vals, dims, **params)
        finally:
            current.trace = self
            current.position = outer
        if not p.multiple_results:
            return self.wrap(out, out_dims)
        return [self.wrap(x, d) for x, d in zip(out, out_dims, strict=True)]

    def _is_followed(self, p: Any, params: Any) -> bool:
        """Whether an operation without mapped operands is batched nevertheless."""
        if p.stage is not None:  # it holds functions, which may close over anything
            return True
        if p.is_always_followed:
            return True
        name = self.axis.name
        return name is not None and ir.refers_to(p, params, name)

    def split(self, x: Any) -> tuple[Any, int | None]:
        """A value and its mapped axis, or None where it has none."""
        if type(x) is BatchTracer:
            owner = x._trace
            if owner is self or owner.axis is self.axis:  # type: ignore[attr-defined]
                return x.val, x.batch_dim
        return x, None

    def takes(self, other: trace.Trace) -> bool:
        """Whether values of another interpreter are values of this one.

        Rules may run a user's function in a trace of their own over the same axis
        (there is one AxisData for each call of vmap): what the function closes over is
        of the trace that it was made in.
        """
        return other is self or (type(other) is BatchTrace and other.axis is self.axis)

    def wrap(self, x: Any, dim: int | None) -> Any:
        """The tracer of a value with a mapped axis; the value itself without."""
        if dim is None:
            return x
        if self.axis.explicit is not None or self.axis.manual:
            outer, trace.current.trace = trace.current.trace, self.parent
            try:
                x = divide_axis(x, dim, self.axis)
                x = manual_axes.vary(x, self.axis.manual)
            finally:
                trace.current.trace = outer
        return BatchTracer(self, x, dim)

    def origin(self, tracer: trace.Tracer) -> str:
        inner = tracer.val  # type: ignore[attr-defined]
        return inner._trace.origin(inner) if isinstance(inner, trace.Tracer) else ""

    def explain(self, tracer: trace.Tracer) -> str:
        inner = tracer.val  # type: ignore[attr-defined]
        if isinstance(inner, trace.Tracer):
            return inner._trace.explain(inner)
        return (
            "The value is mapped by vmap over an axis of size "
            f"{self.axis.size}, so it has no single number; use lax.cond, "
            "numpy.where or move the code out of the mapped function."
        )


def divide_axis(x: Any, dim: int, axis: AxisData) -> Any:
    """A value whose mapped axis is divided as that of the arguments."""
    aval = avals_.aval_of(x)
    entries, entry = explicit_shardings.entries_of(aval), axis.entry
    if axis.explicit is None or entries[dim] == entry:
        return x
    mesh = aval.explicit.mesh if aval.explicit else axis.explicit.mesh
    spec = PartitionSpec(*entries[:dim], entry, *entries[dim + 1 :])
    return sharding_constraints.reshard(x, NamedSharding(mesh, spec))


def batch(
    fun: Callable[..., Sequence[Any]],
    axis: AxisData,
    args: Sequence[Any],
    in_dims: Sequence[int | None],
    info: ir.DebugInfo | None = None,
) -> tuple[list[Any], list[int | None]]:
    """Runs a function of flat arguments with some of their axes mapped.

    Args:
      fun: a function of flat arguments.
      axis: the mapped axis.
      args: the arguments.
      in_dims: for each where its mapped axis is, or None.
      info: names the user's function, where leaks of it are looked for.

    Returns:
      Its results with their mapped axes still in them, and where those are.
    """
    current = trace.current
    t = BatchTrace(current.trace, axis)
    inputs = [t.wrap(x, d) for x, d in zip(args, in_dims, strict=True)]
    outer_env, outer_scope = current.axis_env, current.scope
    current.trace, current.scope = t, outer_scope + scopes.VMAP
    if axis.name is not None:
        current.axis_env = (*outer_env, (axis.name, axis.size))
    try:
        outs = fun(*inputs)
        pairs = [t.split(x) for x in outs]
    finally:
        current.trace, current.scope = t.parent, outer_scope
        current.axis_env = outer_env
        t.ended = True
    trace_ref = weakref.ref(t) if info is not None else None
    del t, inputs, outs
    if trace_ref is not None:
        partial_eval.check_leaks(trace_ref, BatchTracer, info)
    return [x for x, _ in pairs], [d for _, d in pairs]


def batch_olympuspr(
    closed: ir.ClosedOlympuspr,
    axis: AxisData,
    in_dims: tuple[int | None, ...],
    force: Sequence[bool] | bool = False,
) -> tuple[ir.ClosedOlympuspr, list[int | None]]:
    """The program that computes a batch of `closed`'s results.

    Args:
      closed: a program.
      axis: the mapped axis.
      in_dims: for each input where its mapped axis is, or None.
      force: results that must have a mapped axis (at the front), even if constant.

    Returns:
      The batched program, and where each result has its mapped axis.
    """
    if isinstance(force, bool):
        force = (force,) * len(closed.out_avals)
    key = ("batched", axis, in_dims, tuple(force))

    def make(_: Any) -> Any:
        return _batch_olympuspr(closed, axis, in_dims, force)

    if closed.consts or axis.active is not None:  # values are not kept
        return make(closed)
    return closed.olympuspr.derived(key, make)


def _batch_olympuspr(
    closed: ir.ClosedOlympuspr, axis: AxisData, in_dims: Any, force: Sequence[bool]
) -> tuple[ir.ClosedOlympuspr, list[int | None]]:
    in_dims = [
        high_values.front_of(a) if d == 0 else d
        for a, d in zip(closed.in_avals, in_dims, strict=True)
    ]
    in_avals = [
        a if d is None else _insert(a, d, axis)
        for a, d in zip(closed.in_avals, in_dims, strict=True)
    ]
    out_dims: list[int | None] = []

    def run(*args: Any) -> list[Any]:
        evaluate = ir.program_as_function(closed)
        outs, dims = batch(evaluate, axis, args, in_dims)
        for i, forced in enumerate(force):
            if forced:
                outs[i] = families.at_front(axis, outs[i], dims[i])
                dims[i] = high_values.front_of(avals_.aval_of(outs[i]))
        out_dims.extend(dims)
        return outs

    info = closed.olympuspr.debug_info or ir.DebugInfo("vmap", "program")
    program, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    return ir.ClosedOlympuspr(program, consts), out_dims


def _insert(aval: Any, dim: int, axis: AxisData) -> Any:
    aval = aval.with_axis(dim, axis.size, axis.entry)
    return aval.update(vma=aval.vma.union(axis.manual)) if axis.manual else aval
