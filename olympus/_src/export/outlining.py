"""Functions for operations that a module would write at length several times.

Random bits, and functions such as the inverse of `erf`, are tens of operations of
StableHLO. A program that applies one to values of one type again and again calls a
function instead, which the module holds once; the compiler puts it back in its places.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from olympus._src.calls.call import closed_call_p
from olympus._src.core import ir, sizes
from olympus._src.foundation import caching
from olympus._src.interpreters import partial_eval
from olympus._src.lowering import module

# Lines that an operation takes, from which on a function for it makes a module shorter.
_LONG_LINES = 16

_lines = caching.Bounded(1024, "lengths of operations")


def outline(program: ir.Olympuspr, platform: str) -> ir.Olympuspr:
    """The program with calls in place of long operations that it repeats.

    Args:
      program: what is lowered.
      platform: one of those it is lowered for.
    """
    keys = [_key(eqn) for eqn in program.eqns]
    counts = Counter(key for key in keys if key is not None)
    inner: dict[Any, ir.ClosedOlympuspr | None] = {}
    eqns = []
    for eqn, key in zip(program.eqns, keys, strict=True):
        if key is None or counts[key] < 2:
            eqns.append(eqn)
            continue
        if key not in inner:
            inner[key] = _function(eqn, (*key, platform), platform)
        function = inner[key]
        eqns.append(eqn if function is None else _call(eqn, function))
    if not any(inner.values()):
        return program
    return program.replace(eqns=eqns)


def _key(eqn: ir.Eqn) -> Any:
    """Equal for equations that one function can stand for; None where none can."""
    values = [*eqn.invars, *eqn.outvars]
    if eqn.effects or not all(hasattr(v.aval, "shape") for v in values):
        return None
    if not all(sizes.is_constant_shape(v.aval.shape) for v in values):
        return None
    if next(iter(ir.subprograms(eqn.params)), None) is not None:
        return None
    if any(map(_has_symbols, eqn.params.values())):  # sizes of the program around it
        return None
    params = caching.exact(tuple(sorted(eqn.params.items())))
    key = (eqn.primitive, params, tuple([v.aval for v in eqn.invars]))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _has_symbols(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_symbols, value))
    return sizes.is_symbolic(value)


def _function(eqn: ir.Eqn, key: Any, platform: str) -> ir.ClosedOlympuspr | None:
    """The equation as a program, where its text is long; else None."""
    ins = [ir.Var(v.aval) for v in eqn.invars]
    outs = [ir.Var(v.aval) for v in eqn.outvars]
    alone = eqn.replace(invars=ins, outvars=outs, scope=())
    program = ir.Olympuspr([], ins, outs, [alone])
    lines = _lines.get(key)
    if lines is None:
        expanded = partial_eval.expand(program, platform, divisible=True)
        text = module.lower_module(expanded, name="f", platform=platform).text()
        # Operations of CHLO are written as such, and expanded when the text is stored.
        lines = _lines[key] = text.count("\n") + _LONG_LINES * text.count(" chlo.")
    return ir.ClosedOlympuspr(program) if lines >= _LONG_LINES else None


def _call(eqn: ir.Eqn, function: ir.ClosedOlympuspr) -> ir.Eqn:
    params = {"call_jaxpr": function, "name": str(eqn.primitive.name)}
    return eqn.replace(primitive=closed_call_p, params=params)
