"""Discharge: programs that read and write refs, as programs of arrays.

The result takes the array that each ref holds, and returns, after its own results, what
the written ones hold in the end. It is what is lowered: XLA changes such arrays in
place. It is also what is differentiated and mapped where an operation holds a program
that uses refs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from olympus._src.core import avals as avals_
from olympus._src.core import ir, refs, trace
from olympus._src.interpreters import partial_eval

current = trace.current


class Context(NamedTuple):
    """What a rule `discharge` is told about the operands.

    Attributes:
      primitive: the operation.
      refs: for each operand the ref that it is, or None; one ref has one object.
      keeps_rules: whether the program may still be differentiated, so that a custom
        rule that works on refs cannot be dropped.
    """

    primitive: Any
    refs: Sequence[Any]
    keeps_rules: bool

    def with_consts(self, consts: Sequence[Any]) -> Context:
        """The context where constants come before the operands."""
        return self._replace(refs=[*[None] * len(consts), *self.refs])

    def check_distinct(self, what: str, program: ir.Olympuspr) -> None:
        """Raises ValueError where one ref is two of the operands."""
        seen: dict[Any, int] = {}
        for i, ref in enumerate(self.refs):
            if ref is not None and id(ref) in seen:
                raise given_twice(what, ref.aval, program, seen[id(ref)], i)
            seen[id(ref)] = i


class Discharged(NamedTuple):
    """A program without refs.

    Attributes:
      closed: takes values in place of refs; returns the results, then the last values
        of the refs that it writes. Its constants come first among its inputs.
      consts: their values.
      written: which inputs are refs that it writes, by number.
    """

    closed: ir.ClosedOlympuspr
    consts: list[Any]
    written: tuple[int, ...]

    def split(self, outs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The program's own results, and the last values of the written refs."""
        n = len(outs) - len(self.written)
        return list(outs[:n]), list(outs[n:])

    def last_of(self, values: Sequence[Any], n: int) -> list[Any]:
        """The last values in the places of the `n` inputs beside the constants."""
        last: list[Any] = [None] * n
        for i, value in zip(self.written, values, strict=True):
            last[i - len(self.consts)] = value
        return last


class CustomRuleOnRefs(NotImplementedError):
    """A function with a custom rule works on refs, where the rule would be lost."""


def uses_refs(program: ir.Olympuspr) -> bool:
    """Whether refs are among the values of a program, or of one in it."""
    return refs.are_in_use() and program.derived("uses refs", _uses_refs)


def _uses_refs(program: ir.Olympuspr) -> bool:
    if any(refs.is_ref_type(v.aval) for v in (*program.constvars, *program.invars)):
        return True
    return any(
        any(refs.is_ref_type(v.aval) for v in eqn.outvars)
        or any(map(uses_refs, ir.subprograms(eqn.params)))
        for eqn in program.eqns
    )


def discharge(program: ir.Olympuspr, keeps_rules: bool = True) -> Discharged:
    """The program without refs; constants are its first inputs.

    Args:
      program: any program.
      keeps_rules: whether the result may still be differentiated.

    Raises:
      CustomRuleOnRefs: it may, and a custom rule in it works on refs.
    """
    key = ("discharged", keeps_rules)
    return program.derived(key, lambda p: _discharge(p, keeps_rules))


def _discharge(program: ir.Olympuspr, keeps_rules: bool) -> Discharged:
    whole = ir.hoist_consts(program)
    written: list[int] = []

    def run(*args: Any) -> list[Any]:
        values: dict[Any, Any] = dict(zip(whole.invars, args, strict=True))
        outs = _run(whole, values, keeps_rules)
        for i, (v, first) in enumerate(zip(whole.invars, args, strict=True)):
            if refs.is_ref_type(v.aval) and values[v] is not first:
                written.append(i)
        return outs + [values[whole.invars[i]] for i in written]

    in_avals = [value_type(v.aval) for v in whole.invars]
    info = program.debug_info or ir.DebugInfo("discharge", "program")
    result, consts = partial_eval.trace_to_olympuspr(run, in_avals, info)
    n = len(consts)
    closed = ir.ClosedOlympuspr(ir.hoist_consts(result))
    return Discharged(closed, consts, tuple([i + n for i in written]))


def value_type(aval: Any) -> Any:
    """The type of what a ref holds, or of a value that is none."""
    return aval.inner_aval if refs.is_ref_type(aval) else aval


def _run(program: ir.Olympuspr, values: dict[Any, Any], keeps_rules: bool) -> list[Any]:
    """Runs a program on values in place of refs, which are changed in the table."""
    outer = current.position, current.scope
    try:
        for eqn in program.eqns:
            current.position = eqn.source
            current.scope = outer[1] + eqn.scope
            args = [v.val if type(v) is ir.Literal else values[v] for v in eqn.invars]
            outs = _apply(eqn, args, values, keeps_rules)
            values.update(zip(eqn.outvars, outs, strict=True))
    finally:
        current.position, current.scope = outer
    return [v.val if type(v) is ir.Literal else values[v] for v in program.outvars]


def _apply(
    eqn: ir.Eqn, args: list[Any], values: dict[Any, Any], keeps_rules: bool
) -> Sequence[Any]:
    p, params = eqn.primitive, eqn.params
    names = [v if refs.is_ref_type(v.aval) else None for v in eqn.invars]
    on_refs = any(v is not None for v in names)
    on_refs = on_refs or any(refs.is_ref_type(v.aval) for v in eqn.outvars)
    if on_refs or (p.discharge is not None and _holds_refs(params)):
        if p.discharge is None:
            raise refuse(p, [v.aval for v in eqn.invars])
        context = Context(p, names, keeps_rules)
        outs, last = p.discharge(context, args, **params)
        pairs = zip(names, last, strict=True)
        values.update({v: x for v, x in pairs if v is not None and x is not None})
        return outs
    if _holds_refs(params):
        params = _without_refs(p, params, keeps_rules)
    out = p.bind(*args, **params)
    return out if p.multiple_results else [out]


def _holds_refs(params: dict[str, Any]) -> bool:
    return any(map(uses_refs, ir.subprograms(params)))


def _without_refs(p: Any, params: dict[str, Any], keeps_rules: bool) -> dict[str, Any]:
    """Parameters whose programs have no refs; none of them is given any."""

    def convert(program: ir.Olympuspr) -> ir.Olympuspr:
        if not uses_refs(program):
            return program
        result = discharge(program, keeps_rules)
        if result.consts:
            raise NotImplementedError(
                f"{p.name}: refs indexed by constant arrays are not supported in its "
                "function; pass the positions as an argument"
            )
        n = len(program.constvars)
        own = result.closed.olympuspr
        return own.replace(constvars=own.invars[:n], invars=own.invars[n:])

    return partial_eval.map_programs(convert, params)


def given_twice(
    what: str, aval: Any, program: ir.Olympuspr, first: int, second: int
) -> ValueError:
    """The error for one ref at two places among a program's inputs."""
    info = program.debug_info
    names = list(info.arg_names or ()) if info is not None else []
    places = [names[i] if i < len(names) else "" for i in (first, second)]
    listed = " and ".join(
        [p or "a value that the function closes over" for p in places]
    )
    function = f" {info.func_name}" if info is not None else ""
    position = current.position
    at = "" if position is None else f" at {position}"
    return ValueError(
        f"{what}: a function may be given a ref once, got one of type {aval.short()} "
        f"as {listed} of{function}{at}; use one of the two"
    )


def refuse(p: Any, avals: Sequence[Any]) -> TypeError:
    """The error for an operation that takes no refs."""
    aval = next((a for a in avals if refs.is_ref_type(a)), None)
    if aval is None:
        return TypeError(f"{p.name}: a function that it applies must not use refs")
    return refs.not_an_array(aval, p.name)


def of_arrays(
    what: str, program: ir.Olympuspr, consts: Sequence[Any], keeps_rules: bool = False
) -> tuple[ir.Olympuspr, list[Any]]:
    """A program that uses refs of its own only, and its constants, without them.

    Raises:
      ValueError: it is given refs.
    """
    if not uses_refs(program):
        return program, list(consts)
    for v in (*program.constvars, *program.invars):
        if refs.is_ref_type(v.aval):
            raise ValueError(
                f"{what}: the program must not use refs from outside, got one of type "
                f"{v.aval.short()}; pass what it holds, and return what it becomes"
            )
    without = discharge(program, keeps_rules)
    own, n = without.closed.olympuspr, len(without.consts) + len(consts)
    arrays = own.replace(constvars=own.invars[:n], invars=own.invars[n:])
    return arrays, [*without.consts, *consts]


# -- operations that hold programs, under a transformation -----------------------------


def is_needed(p: Any, params: dict[str, Any]) -> bool:
    """Whether a transformation applies an operation in its discharged form."""
    return p.stage is None and refs.are_in_use() and _holds_refs(params)


def apply(p: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Applies an operation that holds programs with refs, in the current interpreter.

    It reads the refs that it is given whole, applies the discharged operation, and
    writes them whole. A function that only wraps a program runs equation by equation
    where a custom rule in it works on refs.

    Args:
      p, args, params: the application.
    """
    is_ref = [refs.is_ref_type(avals_.aval_of(x)) for x in args]
    names = [x if r else None for x, r in zip(args, is_ref, strict=True)]
    values = [refs.read_all(x) if r else x for x, r in zip(args, is_ref, strict=True)]
    try:
        outs, last = p.discharge(Context(p, names, True), values, **params)
    except CustomRuleOnRefs:
        if not p.is_call:
            raise
        closed = params["jaxpr"]
        return ir.eval_olympuspr(closed.olympuspr, closed.consts, *args)
    for x, value in zip(names, last, strict=True):
        if x is not None and value is not None:
            refs.write_all(x, value)
    return outs
