"""The olympuspr: a typed program as data.

A program binds variables once, in order. `Olympuspr` is open: its `constvars` are bound
by whoever holds it. `ClosedOlympuspr` carries their values.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from olympus._src.core import (
    effects,
    high_values,
    printer,
    provenance,
    scopes,
    trace,
)
from olympus._src.foundation import errors, source_info


class Var:
    """A variable; two are the same only if they are one object."""

    __slots__ = ("__weakref__", "aval")

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var:{self.aval.short()}"


class DropVar(Var):
    """A result that is not used."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "_"


class Literal:
    """A constant scalar, written in place."""

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: Any) -> None:
        self.val = val
        self.aval = aval

    @property
    def hash(self) -> int | None:
        """The hash of the value; None if it has none.

        Programs that compare literals read it: a literal itself is told by identity.
        """
        try:
            return hash(self.val)
        except TypeError:
            if getattr(self.val, "ndim", None) == 0:
                return hash((self.val.item(), self.val.dtype))
            return None

    def __repr__(self) -> str:
        return printer.literal(self)


Atom = Var | Literal


class Eqn:
    """One application of a primitive.

    Attributes:
      primitive, invars, outvars, params, effects: what is applied to what.
      source: the user's position, or None.
      scope: names of the `named_scope`s that were open, and attributes for the
        compiler; see `core.scopes`.
    """

    __slots__ = (
        "effects",
        "invars",
        "outvars",
        "params",
        "primitive",
        "scope",
        "source",
    )

    def __init__(
        self,
        primitive: Any,
        invars: list[Any],
        outvars: list[Any],
        params: dict[str, Any],
        effects: frozenset[Any] = effects.no_effects,
        source: Any = None,
        scope: scopes.Scope = (),
    ) -> None:
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.params = params
        self.effects = effects
        self.source = source
        self.scope = scope

    @property
    def source_info(self) -> provenance.SourceInfo:
        """Where it comes from: the user's position and the scopes."""
        stack = provenance.NameStack(scopes.names(self.scope))
        return provenance.SourceInfo(self.source, stack)

    @property
    def ctx(self) -> provenance.EquationContext:
        """The settings that it was recorded under."""
        avals = tuple([v.aval for v in (*self.invars, *self.outvars)])
        return provenance.EquationContext(self.scope, avals)

    def replace(self, **changes: Any) -> Eqn:
        """This equation with some fields replaced; `ctx` is not one, it follows.

        `source_info`, another equation's, gives the source.
        """
        changes.pop("ctx", None)
        if "source_info" in changes:
            info = changes.pop("source_info")
            changes["source"] = getattr(info, "traceback", info)
        changes.setdefault("primitive", self.primitive)
        changes.setdefault("invars", self.invars)
        changes.setdefault("outvars", self.outvars)
        changes.setdefault("params", self.params)
        changes.setdefault("effects", self.effects)
        changes.setdefault("source", self.source)
        changes.setdefault("scope", self.scope)
        return Eqn(**changes)

    def __repr__(self) -> str:
        return printer.equation_text(self)


class DebugInfo:
    """Where a program comes from, for messages and names.

    Attributes:
      traced_for: the transformation that traced it, as in 'jit'.
      func_src_info: the user's function, and 'file:line' of it where that is known, as
        in 'f at train.py:3'.
      arg_names: a path for each input, as in `x` or `params['w']`.
      result_paths: a path for each output, as in `result[0]`; None before tracing.
    """

    __slots__ = ("arg_names", "func_src_info", "result_paths", "traced_for")

    def __init__(
        self,
        traced_for: str,
        func_src_info: str,
        arg_names: Sequence[str] | None = None,
        result_paths: Sequence[str] | None = None,
    ) -> None:
        self.traced_for = traced_for
        self.func_src_info = func_src_info
        self.arg_names = arg_names
        self.result_paths = result_paths

    @classmethod
    def of(
        cls, traced_for: str, fun: Any, arg_names: Sequence[str] | None = None
    ) -> DebugInfo:
        """That of a user's function which a transformation traces."""
        return cls(traced_for, source_info.describe_function(fun), arg_names)

    @property
    def func_name(self) -> str:
        """The user's function."""
        return self.func_src_info.partition(" at ")[0]

    @property
    def func_location(self) -> str:
        """'file:line' of the function, or ''."""
        return self.func_src_info.partition(" at ")[2]

    def with_names(
        self,
        arg_names: Sequence[str] | None = None,
        result_paths: Sequence[str] | None = None,
    ) -> DebugInfo:
        """The same function, with these names of inputs and outputs."""
        return DebugInfo(self.traced_for, self.func_src_info, arg_names, result_paths)

    def with_unknown_names(self) -> DebugInfo:
        """The same function, of a program with other inputs and outputs."""
        return self.with_names()


_ABSENT = object()
_ITSELF = object()


class Olympuspr:
    """A program: inputs, equations in order, outputs.

    Example:
      >>> import olympus
      >>> olympus.make_olympuspr(lambda x: 2 * x)(3.0).olympuspr
      { lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
    """

    __slots__ = (
        "__weakref__",
        "_cache",
        "constvars",
        "debug_info",
        "effects",
        "eqns",
        "invars",
        "outvars",
    )

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[Eqn],
        effects: frozenset[Any] | None = None,
        debug_info: DebugInfo | None = None,
    ) -> None:
        self.constvars = list(constvars)
        self.invars = list(invars)
        self.outvars = list(outvars)
        self.eqns = list(eqns)
        if effects is None:
            effects = join_effects(self.eqns)
        if effects:
            effects = _outside(effects, (*self.constvars, *self.invars))
        self.effects = effects
        self.debug_info = debug_info
        self._cache: dict[Any, Any] | None = None

    @property
    def jaxpr(self) -> Olympuspr:
        """This program: what a closed one has under this name."""
        return self

    @property
    def consts(self) -> list[Any]:
        """No values: they are with whoever holds this program."""
        return []

    literals = consts

    @property
    def in_avals(self) -> list[Any]:
        """Types of the inputs."""
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[Any]:
        """Types of the outputs."""
        return [v.aval for v in self.outvars]

    def replace(self, **changes: Any) -> Olympuspr:
        """This program with some fields replaced."""
        fields = ("constvars", "invars", "outvars", "eqns", "effects", "debug_info")
        values = {name: getattr(self, name) for name in fields}
        if "eqns" in changes and "effects" not in changes:
            values["effects"] = None
        values.update(changes)
        return Olympuspr(**values)

    def derived(self, key: Any, make: Any) -> Any:
        """What `make(self)` gives, kept with the program under `key`."""
        if self._cache is None:
            self._cache = {}
        value = self._cache.get(key, _ABSENT)
        if value is _ABSENT:  # made outside of any `except`, whose error it would show
            value = scopes.derive(make, self)
            # A program that held itself would be freed by the collector only.
            self._cache[key] = _ITSELF if value is self else value
        return self if value is _ITSELF else value

    def pretty_print(self, **options: Any) -> str:
        """The program as text; `source_info=True` adds the user's lines."""
        return printer.program_text(self, **options)

    def __str__(self) -> str:
        return printer.program_text(self)

    __repr__ = __str__


class ClosedOlympuspr:
    """A program with the values of its constants."""

    __slots__ = ("__weakref__", "consts", "olympuspr")

    def __init__(self, olympuspr: Olympuspr, consts: Sequence[Any] = ()) -> None:
        if len(consts) != len(olympuspr.constvars):
            raise errors.InternalError(
                f"a program of {len(olympuspr.constvars)} constants got {len(consts)}"
            )
        self.olympuspr = olympuspr
        self.consts = list(consts)

    @property
    def jaxpr(self) -> Olympuspr:
        """The open program, under the name that JAX gives it."""
        return self.olympuspr

    @property
    def constvars(self) -> list[Var]:
        """The variables of the constants."""
        return self.olympuspr.constvars

    @property
    def invars(self) -> list[Var]:
        """The inputs."""
        return self.olympuspr.invars

    @property
    def outvars(self) -> list[Any]:
        """The outputs."""
        return self.olympuspr.outvars

    @property
    def debug_info(self) -> DebugInfo | None:
        """Where the program comes from."""
        return self.olympuspr.debug_info

    @property
    def in_avals(self) -> list[Any]:
        """Types of the inputs."""
        return self.olympuspr.in_avals

    @property
    def out_avals(self) -> list[Any]:
        """Types of the outputs."""
        return self.olympuspr.out_avals

    @property
    def eqns(self) -> list[Eqn]:
        """The equations."""
        return self.olympuspr.eqns

    @property
    def effects(self) -> frozenset[Any]:
        """The effects of running the program."""
        return self.olympuspr.effects

    @property
    def literals(self) -> list[Any]:
        """The constants, under their older name."""
        return self.consts

    def replace(self, **changes: Any) -> ClosedOlympuspr:
        """This program with `olympuspr` or `consts` replaced.

        `jaxpr` is another word for `olympuspr`.
        """
        program = changes.get("olympuspr", changes.get("jaxpr", self.olympuspr))
        return ClosedOlympuspr(program, changes.get("consts", self.consts))

    def pretty_print(self, **options: Any) -> str:
        """The program as text; `source_info=True` adds the user's lines."""
        return printer.program_text(self.olympuspr, **options)

    def __str__(self) -> str:
        return printer.program_text(self.olympuspr)

    __repr__ = __str__


def join_effects(eqns: Iterable[Eqn]) -> frozenset[Any]:
    """The effects of running `eqns`."""
    union: set[Any] = set()
    for eqn in eqns:
        if eqn.effects:
            union |= eqn.effects
    return frozenset(union) if union else effects.no_effects


def _outside(effects: frozenset[Any], inputs: Sequence[Var]) -> frozenset[Any]:
    """The effects of a program that are seen outside of it."""
    if not any(e.needs_refs for e in effects):
        return effects
    if any(hasattr(v.aval, "inner_aval") or v.aval.is_high for v in inputs):
        return effects
    return frozenset([e for e in effects if not e.needs_refs])


def is_high(program: Olympuspr) -> bool:
    """Whether a program has high types, or operations that are lowered away."""
    return high_values.are_in_use() and program.derived("is high", _is_high)


def _is_high(program: Olympuspr) -> bool:
    if any(v.aval.is_high for v in (*program.constvars, *program.invars)):
        return True
    return any(
        eqn.primitive.is_high
        or any(v.aval.is_high for v in eqn.outvars)
        or any(map(is_high, subprograms(eqn.params)))
        for eqn in program.eqns
    )


def subprograms(params: dict[str, Any]) -> Iterator[Olympuspr]:
    """The programs among an equation's parameters."""
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if type(item) is ClosedOlympuspr:
                yield item.olympuspr
            elif type(item) is Olympuspr:
                yield item


def inner_programs(program: Olympuspr) -> tuple[Olympuspr, ...]:
    """The programs of a program's equations, each once; most have none."""
    programs: tuple[Olympuspr, ...] = program.derived("inner programs", _find_programs)
    return programs


def _find_programs(program: Olympuspr) -> tuple[Olympuspr, ...]:
    holders = equations_with_programs(program)
    inner = [p for e in holders.values() for p in subprograms(e.params)]
    return tuple(dict.fromkeys(inner))  # many calls may be of one


def equations_with_programs(program: Olympuspr) -> Mapping[int, Eqn]:
    """A program's equations that have programs among their parameters, by position."""
    holders: Mapping[int, Eqn] = program.derived("with programs", _find_holders)
    return holders


def inherit_programs(program: Olympuspr, source: Olympuspr) -> Olympuspr:
    """The program, made of another one without new equations that have programs.

    Where the other one is known to have none, this one need not be searched.
    """
    known = source._cache  # noqa: SLF001 - a cache of this file
    if known is not None and known.get("with programs") == {}:
        program.derived("with programs", lambda _: {})
    return program


def _find_holders(program: Olympuspr) -> dict[int, Eqn]:
    # One loop over local names: each program that is lowered comes through here.
    holders: dict[int, Eqn] = {}
    closed, open_ = ClosedOlympuspr, Olympuspr
    for i, eqn in enumerate(program.eqns):
        for value in eqn.params.values():
            kind = type(value)
            if kind is tuple or kind is list:  # of programs only, or of none
                if not value:
                    continue
                kind = type(value[0])
            if kind is closed or kind is open_:
                holders[i] = eqn
                break
    return holders


def primitives_of(program: Olympuspr) -> Mapping[Any, int]:
    """How many equations of each primitive a program has, without those within."""
    counts: Mapping[Any, int] = program.derived("primitives", _count_primitives)
    return counts


def count_readers(program: Olympuspr) -> Mapping[Any, int]:
    """How often each value is read, by results too; literals are among them."""
    counts: Mapping[Any, int] = program.derived("reads", _count_reads)
    return counts


def _count_reads(program: Olympuspr) -> Mapping[Any, int]:
    counts = collections.Counter(operands(program))
    counts.update(program.outvars)
    return counts


def inherit_primitives(
    program: Olympuspr,
    source: Olympuspr,
    removed: Iterable[Eqn] = (),
    added: Iterable[Eqn] = (),
) -> None:
    """Counts the primitives of a program by those of one that it was made of.

    Args:
      program: has the equations of the other one, of the same primitives, except for
        some.
      source: the other one.
      removed, added: the equations that only one of them has.
    """
    counts = collections.Counter(primitives_of(source))
    counts.subtract(map(_primitive, removed))
    counts.update(map(_primitive, added))
    program.derived("primitives", lambda _: +counts)  # those that are there


def has_operation(program: Olympuspr, *names: str) -> bool:
    """Whether a program, or one within it, has an operation of one of some names."""
    return any(p.name in names for p in _primitives_within(program))


def _primitives_within(program: Olympuspr) -> frozenset[Any]:
    """The primitives of a program, and of those within it."""
    primitives: frozenset[Any] = program.derived("within", _find_within)
    return primitives


def _find_within(program: Olympuspr) -> frozenset[Any]:
    inner = map(_primitives_within, inner_programs(program))
    return frozenset(primitives_of(program)).union(*inner)


def result_types(program: Olympuspr) -> frozenset[Any]:
    """The types of the results of a program's equations, without those within."""
    types: frozenset[Any] = program.derived("result types", _find_types)
    return types


def inherit_result_types(program: Olympuspr, source: Olympuspr) -> None:
    """Says that the results in a program have the types of those in another one."""
    program.derived("result types", lambda _: result_types(source))


def _find_types(program: Olympuspr) -> frozenset[Any]:
    return frozenset(map(_aval, results(program)))


def operands(program: Olympuspr) -> Iterator[Atom]:
    """The operands of all of a program's equations, without those within."""
    return itertools.chain.from_iterable(map(_invars, program.eqns))


def results(program: Olympuspr) -> Iterator[Var]:
    """The results of all of a program's equations, without those within."""
    return itertools.chain.from_iterable(map(_outvars, program.eqns))


# Of large programs these are read often, and fastest without a loop in Python.
_aval = operator.attrgetter("aval")
_invars, _outvars = operator.attrgetter("invars"), operator.attrgetter("outvars")
_primitive = operator.attrgetter("primitive")


def _count_primitives(program: Olympuspr) -> Mapping[Any, int]:
    return collections.Counter(map(_primitive, program.eqns))


def map_subprograms(
    program: Olympuspr, change: Callable[[Olympuspr], Olympuspr]
) -> Olympuspr:
    """The program, with the programs of its equations changed.

    The same object where all of them are given back as they are.
    """
    holders = equations_with_programs(program)
    if not holders:
        return program
    eqns = list(program.eqns)
    for i, eqn in holders.items():
        eqns[i] = _with_changed_programs(eqn, change)
    if all(eqns[i] is eqn for i, eqn in holders.items()):
        return program
    return program.replace(eqns=eqns)


def _with_changed_programs(eqn: Eqn, change: Callable[[Olympuspr], Olympuspr]) -> Eqn:
    changed = {}
    for name, value in eqn.params.items():
        kind = type(value)
        new: Any = value
        if kind is ClosedOlympuspr or kind is Olympuspr:
            new = _change(value, change)
        elif (kind is tuple or kind is list) and value and type(value[0]) in _PROGRAMS:
            items = [_change(item, change) for item in value]
            if any(a is not b for a, b in zip(items, value, strict=True)):
                new = kind(items)
        if new is not value:
            changed[name] = new
    return eqn.replace(params={**eqn.params, **changed}) if changed else eqn


def _change(value: Any, change: Callable[[Olympuspr], Olympuspr]) -> Any:
    if type(value) is Olympuspr:
        return change(value)
    if type(value) is ClosedOlympuspr:
        inner = change(value.olympuspr)
        if inner is not value.olympuspr:
            return ClosedOlympuspr(inner, value.consts)
    return value


_PROGRAMS = (Olympuspr, ClosedOlympuspr)


def refers_to(primitive: Any, params: dict[str, Any], name: Any) -> bool:
    """Whether an operation uses the mapped axis of a name, in a program it holds too.

    The batching rule of one that does is called even if no operand is mapped.
    """
    if primitive.axes is not None:
        return name in primitive.axes(**params)
    return any(name in axis_names(p) for p in subprograms(params))


def axis_names(program: Olympuspr) -> frozenset[Any]:
    """The names of mapped axes that a program refers to but does not bind."""
    return program.derived("axis names", _find_axis_names)


def _find_axis_names(program: Olympuspr) -> frozenset[Any]:
    names: set[Any] = set()
    for eqn in program.eqns:
        if eqn.primitive.axes is not None:
            names.update(eqn.primitive.axes(**eqn.params))
        else:
            for inner in subprograms(eqn.params):
                names |= axis_names(inner)
    return frozenset(names)


def _bind(eqn: Eqn, inputs: Sequence[Any]) -> Any:
    return eqn.primitive.bind(*inputs, **eqn.params)


def eval_olympuspr(
    olympuspr: Olympuspr,
    consts: Sequence[Any],
    *args: Any,
    propagate_source_info: bool = True,
) -> list[Any]:
    """Runs a program in the current interpreter.

    Args:
      olympuspr: the program.
      consts: a value for each of its `constvars`.
      *args: a value for each of its `invars`.
      propagate_source_info: whether operations keep the places where the program has
        them, in place of that of this call.

    Returns:
      A list with a value for each output.
    """
    if len(args) != len(olympuspr.invars):
        raise TypeError(
            f"eval_olympuspr: the program has {len(olympuspr.invars)} inputs, got "
            f"{len(args)} arguments; pass one value for each"
        )
    env: dict[Any, Any] = dict(zip(olympuspr.constvars, consts, strict=True))
    env.update(zip(olympuspr.invars, args, strict=True))
    current = trace.current
    outer_position, outer_scope = current.position, current.scope
    scope: scopes.Scope = ()  # that of the last equation; neighbours share it
    is_marked = False
    try:
        for eqn in olympuspr.eqns:
            inputs = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
            if propagate_source_info:
                current.position = eqn.source
            if eqn.scope is not scope:
                scope = eqn.scope
                current.scope = outer_scope + scope
                is_marked = scopes.has_metadata(scope)
            if is_marked:
                out = scopes.call_within(scope, _bind, eqn, inputs)
            else:
                out = eqn.primitive.bind(*inputs, **eqn.params)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out, strict=True))
            else:
                env[eqn.outvars[0]] = out
    finally:
        current.position, current.scope = outer_position, outer_scope
    return [v.val if type(v) is Literal else env[v] for v in olympuspr.outvars]


def program_as_function(
    closed_olympuspr: ClosedOlympuspr, *args: Any
) -> Callable[..., Any]:
    """A Python function that runs the program and returns a list.

    Args:
      closed_olympuspr: the program.
      *args: its first arguments; the function takes the others.
    """
    program, consts = closed_olympuspr.olympuspr, closed_olympuspr.consts
    return lambda *others: eval_olympuspr(program, consts, *args, *others)


def hoist_consts(olympuspr: Olympuspr) -> Olympuspr:
    """The same program with its constants as first inputs."""
    if not olympuspr.constvars:
        return olympuspr
    debug = olympuspr.debug_info
    if debug is not None and debug.arg_names is not None:
        names = [""] * len(olympuspr.constvars) + list(debug.arg_names)
        debug = debug.with_names(names, debug.result_paths)
    return olympuspr.replace(
        constvars=(), invars=olympuspr.constvars + olympuspr.invars, debug_info=debug
    )
