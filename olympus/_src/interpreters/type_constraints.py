"""Types that say how explicit axes of a mesh divide values, as constraints on them.

Only the program that is traced has such types. What is lowered has none: each value
that they divide is constrained instead, and the compiler divides what is between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import partial_eval
from olympus._src.lax.contraction import dot_general_p
from olympus._src.lax.sharding_constraints import (
    mesh_cast_p,
    reshard_p,
    sharding_constraint_p,
)
from olympus._src.sharding.meshes import AxisType, Mesh
from olympus._src.sharding.named import NamedSharding
from olympus._src.sharding.specs import UNCONSTRAINED, PartitionSpec


def constrain(program: ir.Olympuspr) -> ir.Olympuspr:
    """The same program, whose values are constrained as their types say."""
    if not program.derived("is divided", _is_divided):
        return program
    return program.derived("constrained", _constrain)


def mesh_of(program: ir.Olympuspr) -> Any:
    """The first abstract mesh that types in a program name, or None."""
    return program.derived("mesh of types", _find_mesh)


def _find_mesh(program: ir.Olympuspr) -> Any:
    for v in _variables(program):
        explicit = getattr(v.aval, "explicit", None)
        if explicit is not None:
            return explicit.mesh
    for eqn in program.eqns:
        for inner in ir.subprograms(eqn.params):
            mesh = mesh_of(inner)
            if mesh is not None:
                return mesh
    return None


def _variables(program: ir.Olympuspr) -> Any:
    yield from program.constvars
    yield from program.invars
    for eqn in program.eqns:
        yield from eqn.outvars


def _is_divided(program: ir.Olympuspr) -> bool:
    return _find_mesh(program) is not None


def _constrain(program: ir.Olympuspr) -> ir.Olympuspr:
    return _Constraints().rewrite(program)


class _Constraints:
    """A program being rewritten.

    Attributes:
      values: the variable that stands for each one of the program.
      eqns: the equations so far.
    """

    def __init__(self) -> None:
        self.values: dict[Any, Any] = {}
        self.eqns: list[ir.Eqn] = []

    def rewrite(self, program: ir.Olympuspr) -> ir.Olympuspr:
        constvars = list(map(self._rename, program.constvars))
        invars = list(map(self._rename, program.invars))
        for eqn in program.eqns:
            self._add(eqn)
        return program.replace(
            constvars=constvars,
            invars=invars,
            outvars=list(map(self._value, program.outvars)),
            eqns=self.eqns,
            effects=program.effects,
        )

    def _value(self, v: Any) -> Any:
        return v if type(v) is ir.Literal else self.values[v]

    def _rename(self, v: ir.Var) -> ir.Var:
        new = type(v)(_plain(v.aval))
        self.values[v] = new
        return new

    def _add(self, eqn: ir.Eqn) -> None:
        invars = list(map(self._value, eqn.invars))
        if eqn.primitive is mesh_cast_p:
            self.values[eqn.outvars[0]] = invars[0]
            return
        outvars = list(map(self._rename, eqn.outvars))
        if eqn.primitive is reshard_p:
            sharding = _open(eqn.params["sharding"])
            x = self._sum_first(eqn, invars[0], sharding)
            self._constrain(eqn, x, outvars[0], sharding)
            return
        params = partial_eval.map_programs(constrain, eqn.params)
        mesh = params.get("mesh")
        if isinstance(mesh, Mesh):  # of `shard_map`, whose results would have types
            params["mesh"] = mesh.update(axis_types=AxisType.Auto)
        if eqn.primitive is not sharding_constraint_p:
            for name in ("sharding", "out_sharding"):
                if params.get(name) is not None:
                    params[name] = None
        self.eqns.append(eqn.replace(invars=invars, outvars=outvars, params=params))
        mesh = _whole_mesh(eqn.invars)
        for old, new in zip(eqn.outvars, outvars, strict=True):
            sharding = _sharding_of(old, mesh)
            if sharding is not None:
                constrained = self._rename(old)
                if eqn.primitive is not dot_general_p:
                    new = self._sum_first(eqn, new, sharding)
                self._constrain(eqn, new, constrained, sharding)

    def _sum_first(self, eqn: ir.Eqn, x: Any, sharding: NamedSharding) -> Any:
        """A value that becomes one still to be summed, first as one that is not.

        The partitioner ends the process where an operation is to leave a sum to be
        taken along axes that do not divide what it adds up.
        """
        operands = [getattr(v.aval, "explicit", None) for v in eqn.invars]
        summed = [e for e in operands if e is not None and e.spec.unreduced]
        if summed or not sharding.spec.unreduced:
            return x
        out = ir.Var(x.aval)
        whole = sharding.update(spec=sharding.spec.update(unreduced=frozenset()))
        self._constrain(eqn, x, out, whole)
        return out

    def _constrain(self, eqn: ir.Eqn, x: Any, out: Any, sharding: Any) -> None:
        self.eqns.append(
            ir.Eqn(
                sharding_constraint_p,
                [x],
                [out],
                {"sharding": sharding},
                source=eqn.source,
                scope=eqn.scope,
            )
        )


def _plain(aval: Any) -> Any:
    """The type, which does not say how values are divided."""
    if getattr(aval, "explicit", None) is None:
        return aval
    return aval.update(sharding=None)


def _whole_mesh(operands: Sequence[Any]) -> Any:
    """The mesh that divides operands, where all of its axes are explicit; or None."""
    for v in operands:
        explicit = getattr(v.aval, "explicit", None)
        if explicit is not None and explicit.mesh.are_all_axes_explicit:
            return explicit.mesh
    return None


def _sharding_of(v: Any, mesh: Any) -> NamedSharding | None:
    """How a result is divided; None where the compiler chooses.

    What no axis divides is whole on each device, if operands are divided explicitly.
    """
    if type(v) is ir.DropVar or not hasattr(v.aval, "explicit"):
        return None
    if v.aval.explicit is not None:
        return _open(v.aval.explicit)
    return None if mesh is None else NamedSharding(mesh, PartitionSpec())


def _open(sharding: NamedSharding) -> NamedSharding:
    """The sharding; where the mesh has automatic axes, other axes are left open."""
    if AxisType.Auto not in sharding.mesh.axis_types:
        return sharding
    entries = [UNCONSTRAINED if e is None else e for e in sharding.spec.partitions]
    return sharding.update(spec=sharding.spec.update(partitions=entries))
