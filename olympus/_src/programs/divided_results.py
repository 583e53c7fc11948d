"""Results of loops and branches that axes of a mesh divide in some places only.

Where no mesh is set, a type that says nothing of axes is that of a value from anywhere,
of NumPy or of one device. Such a carry may become one that explicit axes divide, and a
branch may return one where another returns what is divided. Under a set mesh it says
that the value is whole, and the difference is a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir, trace
from olympus._src.lax import sharding_constraints
from olympus._src.programs import inner_programs


def leave_undivided(
    body: inner_programs.Body, required: Sequence[Any]
) -> tuple[inner_programs.Body, list[Any]]:
    """A loop's body that returns carries of types that do not tell of axes.

    Args:
      body: its first results are the carries.
      required: types of the carries it takes.

    Returns:
      The body, and of each carry how the last one is divided, None where its type is
      that of the first one anyway.
    """
    pairs = list(zip(body.out_avals, required, strict=False))
    divisions = [_division(got, want) for got, want in pairs]
    if not any(divisions) or not _tells_nothing():
        return body, [None] * len(divisions)
    program = body.program.derived(
        ("undivided", tuple(divisions)),
        lambda p: _with_moves(p, _casts(divisions)),
    )
    undivided = inner_programs.Body(body.fun, program, body.consts, body.trees)
    return undivided, divisions


def divide(values: list[Any], divisions: Sequence[Any]) -> list[Any]:
    """Values whose first ones get the divisions that `leave_undivided` returned."""
    new = list(values)
    for i, division in enumerate(divisions):
        if division is not None:
            new[i] = sharding_constraints.reshard(new[i], division)
    return new


def divide_alike(bodies: list[inner_programs.Body]) -> list[inner_programs.Body]:
    """Branches whose results are divided as those of the branches that tell of axes.

    Where the numbers of results differ, which is an error, the further ones are left.
    """
    rows = zip(*[b.out_avals for b in bodies], strict=False)
    joined = [_joined_division(row) for row in rows]
    if not any(joined) or not _tells_nothing():
        return bodies
    return [_divide_body(b, joined) for b in bodies]


def _divide_body(
    body: inner_programs.Body, joined: Sequence[Any]
) -> inner_programs.Body:
    missing = [
        None if j is None or a.explicit is not None else j
        for j, a in zip(joined, body.out_avals, strict=False)
    ]
    if not any(missing):
        return body
    program = body.program.derived(
        ("divided", tuple(missing)),
        lambda p: _with_moves(p, _reshards(missing)),
    )
    return inner_programs.Body(body.fun, program, body.consts, body.trees)


def _tells_nothing() -> bool:
    """Whether types without axes are of values from anywhere: no mesh is set."""
    return trace.current.manual is None and sharding_constraints.current_mesh().empty


def _division(actual: Any, required: Any) -> Any:
    """The sharding that a type tells of, and the required one does not, or None."""
    explicit = getattr(actual, "explicit", None)
    if explicit is None or getattr(required, "explicit", None) is not None:
        return None
    return None if explicit.spec.unreduced else explicit


def _joined_division(row: Sequence[Any]) -> Any:
    """The one sharding that types of a row tell of, where some do not; else None."""
    told = {getattr(a, "explicit", None) for a in row}
    if len(told) != 2 or None not in told or len({a.shape for a in row}) > 1:
        return None
    division: Any = next(t for t in told if t is not None)
    return None if division.spec.unreduced else division


def _casts(divisions: Sequence[Any]) -> list[Any]:
    cast = sharding_constraints.mesh_cast_p, None, {"target": None}
    return [None if d is None else cast for d in divisions]


def _reshards(divisions: Sequence[Any]) -> list[Any]:
    move = sharding_constraints.reshard_p
    return [None if d is None else (move, d, {"sharding": d}) for d in divisions]


def _with_moves(program: ir.Olympuspr, moves: Sequence[Any]) -> ir.Olympuspr:
    """A program whose first results are moved to other types.

    Args:
      program: the program.
      moves: of each of them the primitive, what its result's type tells of axes, and
        its parameters; or None.
    """
    outvars, eqns = list(program.outvars), list(program.eqns)
    for i, move in enumerate(moves):
        if move is not None:
            primitive, explicit, params = move
            new = ir.Var(outvars[i].aval.update(sharding=explicit))
            eqns.append(ir.Eqn(primitive, [outvars[i]], [new], params))
            outvars[i] = new
    return program.replace(eqns=eqns, outvars=outvars)
