"""Whether two programs are equal except for their objects: names, order, parameters."""

from __future__ import annotations

from typing import Any

from olympus._src.core import ir


def alike(x: ir.Olympuspr, y: ir.Olympuspr) -> bool:
    """Whether two programs have equal equations, in order, on values of equal types.

    Source positions and names for messages may differ. Parameters are compared by `==`,
    programs among them as programs, constants by identity.
    """
    if x is y:
        return True
    counts = [
        (len(p.constvars), len(p.invars), len(p.outvars), len(p.eqns)) for p in (x, y)
    ]
    if counts[0] != counts[1]:
        return False
    same: dict[Any, Any] = {}  # variables of x to those of y

    def bind(ours: Any, theirs: Any) -> bool:
        same.update(zip(ours, theirs, strict=True))
        pairs = zip(ours, theirs, strict=True)
        return all(v.aval is w.aval for v, w in pairs)

    def equal(ours: Any, theirs: Any) -> bool:
        if len(ours) != len(theirs):
            return False
        return all(_atoms_equal(v, w, same) for v, w in zip(ours, theirs, strict=True))

    if not bind(x.constvars + x.invars, y.constvars + y.invars):
        return False
    for ours, theirs in zip(x.eqns, y.eqns, strict=True):
        if ours.primitive is not theirs.primitive:
            return False
        if len(ours.outvars) != len(theirs.outvars):
            return False
        if not equal(ours.invars, theirs.invars):
            return False
        if not _parameters_equal(ours.params, theirs.params):
            return False
        if not bind(ours.outvars, theirs.outvars):
            return False
    return equal(x.outvars, y.outvars)


def _atoms_equal(v: Any, w: Any, same: dict[Any, Any]) -> bool:
    if type(v) is not ir.Literal or type(w) is not ir.Literal:
        return same.get(v) is w
    if v.aval is not w.aval or type(v.val) is not type(w.val):
        return False
    # By the digits, since 0.0 == -0.0 and nan != nan.
    return repr(v.val) == repr(w.val)


def _parameters_equal(x: dict[str, Any], y: dict[str, Any]) -> bool:
    return x.keys() == y.keys() and all(_values_equal(x[k], y[k]) for k in x)


def _values_equal(x: Any, y: Any) -> bool:
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) is ir.Olympuspr:
        return alike(x, y)
    if type(x) is ir.ClosedOlympuspr:
        consts = zip(x.consts, y.consts, strict=False)
        same = len(x.consts) == len(y.consts) and all(a is b for a, b in consts)
        return same and alike(x.olympuspr, y.olympuspr)
    if isinstance(x, (tuple, list)):
        if len(x) != len(y):
            return False
        return all(_values_equal(a, b) for a, b in zip(x, y, strict=True))
    try:
        return bool(x == y)
    except (TypeError, ValueError):  # arrays, which have no one truth
        return False
