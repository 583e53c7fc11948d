"""Constants of programs, written where they are read: numbers and small arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.core import array_type, avals, dtypes, ir


def embed_scalars(
    program: ir.Olympuspr, consts: Sequence[Any]
) -> tuple[ir.Olympuspr, list[Any]]:
    """The program with single numbers among its constants where it reads them.

    The compiler folds what it knows.

    Returns:
      The program, and the constants that are left.
    """
    pairs = list(zip(program.constvars, consts, strict=True))
    is_scalar = [_is_scalar(v.aval) and _is_concrete(x) for v, x in pairs]
    if not any(is_scalar):
        return program, list(consts)
    flags = list(zip(pairs, is_scalar, strict=True))
    scalars = [pair for pair, flag in flags if flag]
    others = [pair for pair, flag in flags if not flag]
    embedded = write_in_place(
        program.replace(constvars=[v for v, _ in scalars]), [x for _, x in scalars]
    )
    return embedded.replace(constvars=[v for v, _ in others]), [x for _, x in others]


def embed_arrays(
    program: ir.Olympuspr, consts: Sequence[Any]
) -> tuple[ir.Olympuspr, list[Any]]:
    """The program with small arrays among its first inputs where it reads them.

    The compiler computes ahead what follows from them alone.

    Args:
      program: its first inputs are constants.
      consts: their values, on one device.

    Returns:
      The program, and the constants that are left as its first inputs.
    """
    n = len(consts)
    pairs = list(zip(program.invars[:n], consts, strict=True))
    small = [v for v, x in pairs if _is_small(v.aval) and _is_concrete(x)]
    if not small or sum(_bytes_of(v.aval) for v in small) > _MOST_EMBEDDED:
        return program, list(consts)
    embedded = write_in_place(
        program.replace(constvars=small), [x for v, x in pairs if v in small]
    )
    left = [(v, x) for v, x in pairs if v not in small]
    invars = [*[v for v, _ in left], *program.invars[n:]]
    embedded = embedded.replace(invars=invars, debug_info=None)
    return embedded, [x for _, x in left]


# Text of so many bytes is quickly written and read. Larger arrays stay arguments:
# programs that differ in nothing else then share an executable.
_SMALL_BYTES = 1 << 12
_MOST_EMBEDDED = 1 << 16


def _is_small(aval: Any) -> bool:
    if type(aval) is not avals.ShapedArray or not _is_number(aval):
        return False
    return _bytes_of(aval) <= _SMALL_BYTES


def _bytes_of(aval: Any) -> int:
    size: int = aval.size * aval.dtype.itemsize
    return size


def _is_scalar(aval: Any) -> bool:
    return type(aval) is avals.ShapedArray and not aval.shape and _is_number(aval)


def _is_number(aval: Any) -> bool:
    return dtypes.has_numbers(aval.dtype) and aval.explicit is None and not aval.vma


def _is_concrete(x: Any) -> bool:
    return type(x) in array_type.concrete_types() and not x.is_deleted()


def write_in_place(program: ir.Olympuspr, consts: Sequence[Any]) -> ir.Olympuspr:
    """The program with constants in place: arrays that a rule closes over."""
    literals: dict[Any, Any] = {
        v: ir.Literal(np.asarray(x), v.aval)
        for v, x in zip(program.constvars, consts, strict=True)
    }
    eqns = [
        eqn.replace(invars=[literals.get(v, v) for v in eqn.invars])
        for eqn in program.eqns
    ]
    outvars = [literals.get(v, v) for v in program.outvars]
    return program.replace(constvars=(), eqns=eqns, outvars=outvars)
