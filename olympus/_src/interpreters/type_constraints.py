"""Types that say how explicit axes of a mesh divide values, as constraints on them.

Only the program that is traced has such types. What is lowered has none: each value
that they divide is constrained instead, and the compiler divides what is between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import partial_eval
from olympus._src.lax import families
from olympus._src.lax.arithmetic import add_p, neg_p
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
    return _Constraints(keeps_sums=True).rewrite(program)


def _constrain_inner(program: ir.Olympuspr) -> ir.Olympuspr:
    """A program in another, whose inputs and results are plain values."""
    if not program.derived("is divided", _is_divided):
        return program
    return program.derived(
        "constrained inner", lambda p: _Constraints(keeps_sums=False).rewrite(p)
    )


# Of these XLA's partitioner leaves sums to be taken. In others, as broadcasts and
# loops, it takes such an operand for a whole value: results are wrong (jaxlib 0.10).
_KEEP_SUMS = frozenset((add_p, families.add_any_p, neg_p, families.transpose_p))


class _Constraints:
    """A program being rewritten.

    Attributes:
      values: the variable that stands for each one of the program: a whole value.
      sums: the variable of a value that is still to be summed, as its type says; only
        few operations pass on such. The whole value is made when it is needed.
      eqns: the equations so far.
    """

    def __init__(self, keeps_sums: bool) -> None:
        self.values: dict[Any, Any] = {}
        self.sums: dict[Any, Any] = {}
        self.eqns: list[ir.Eqn] = []
        self.keeps_sums = keeps_sums

    def rewrite(self, program: ir.Olympuspr) -> ir.Olympuspr:
        constvars = list(map(self._add_input, program.constvars))
        invars = list(map(self._add_input, program.invars))
        for eqn in program.eqns:
            self._add(eqn)
        outvars = list(map(self._result, program.outvars))
        return program.replace(
            constvars=constvars,
            invars=invars,
            outvars=outvars,
            eqns=self.eqns,
            effects=program.effects,
        )

    def _add_input(self, v: ir.Var) -> ir.Var:
        new = _undivided(v)
        table = self.sums if self.keeps_sums and _is_sum(v) else self.values
        table[v] = new
        return new

    def _value(self, v: Any) -> Any:
        """The whole value of a variable."""
        if type(v) is ir.Literal:
            return v
        if v not in self.values:
            self.values[v] = self._constrain(self.sums[v], _of_value(v))
        return self.values[v]

    def _result(self, v: Any) -> Any:
        if type(v) is ir.Literal or not (self.keeps_sums and _is_sum(v)):
            return self._value(v)
        if v not in self.sums:
            self.sums[v] = self._constrain(self.values[v], _open(v.aval.explicit))
        return self.sums[v]

    def _add(self, eqn: ir.Eqn) -> None:
        if eqn.primitive is mesh_cast_p:
            self.values[eqn.outvars[0]] = self._value(eqn.invars[0])
        elif eqn.primitive is reshard_p:
            self._add_reshard(eqn)
        elif self.keeps_sums and self._passes_sums(eqn):
            operands = [self.sums.get(v) or self._value(v) for v in eqn.invars]
            (out,) = self._apply(eqn, operands)
            v = eqn.outvars[0]
            self.sums[v] = self._constrain(out, _open(v.aval.explicit), eqn)
        else:
            outs = self._apply(eqn, list(map(self._value, eqn.invars)))
            mesh = _whole_mesh(eqn.invars)
            for v, out in zip(eqn.outvars, outs, strict=True):
                sharding = _sharding_of(v, mesh)
                if sharding is not None:
                    out = self._constrain(out, sharding, eqn)
                self.values[v] = out

    def _add_reshard(self, eqn: ir.Eqn) -> None:
        ((x,), (out,)), sharding = (eqn.invars, eqn.outvars), eqn.params["sharding"]
        is_sum = type(x) is not ir.Literal and x in self.sums
        if is_sum and not sharding.spec.unreduced:
            self.values[out] = self._constrain(self.sums[x], _open(sharding), eqn)
            return
        # The partitioner ends the process where an operation is to leave a sum to be
        # taken along axes that do not divide what it adds up. So results alone may be.
        whole = sharding.update(spec=sharding.spec.update(unreduced=frozenset()))
        self.values[out] = self._constrain(self._value(x), _open(whole), eqn)

    def _passes_sums(self, eqn: ir.Eqn) -> bool:
        """Whether an operation has a result that remains still to be summed."""
        if len(eqn.outvars) != 1 or not _is_sum(eqn.outvars[0]):
            return False
        if eqn.primitive is dot_general_p:
            return True
        if eqn.primitive not in _KEEP_SUMS:
            return False
        return all(type(v) is not ir.Literal and v in self.sums for v in eqn.invars)

    def _apply(self, eqn: ir.Eqn, operands: list[Any]) -> list[Any]:
        """The equation without types; its results."""
        outvars = list(map(_undivided, eqn.outvars))
        params = partial_eval.map_programs(_constrain_inner, eqn.params)
        mesh = params.get("mesh")
        if isinstance(mesh, Mesh):  # of `shard_map`, whose results would have types
            params["mesh"] = mesh.update(axis_types=AxisType.Auto)
        if eqn.primitive is not sharding_constraint_p:
            for name in ("sharding", "out_sharding"):
                if params.get(name) is not None:
                    params[name] = None
        self.eqns.append(eqn.replace(invars=operands, outvars=outvars, params=params))
        return outvars

    def _constrain(self, x: Any, sharding: NamedSharding, eqn: Any = None) -> Any:
        out = ir.Var(x.aval)
        place = {} if eqn is None else {"source": eqn.source, "scope": eqn.scope}
        params = {"sharding": sharding}
        self.eqns.append(ir.Eqn(sharding_constraint_p, [x], [out], params, **place))
        return out


def _undivided(v: ir.Var) -> ir.Var:
    return type(v)(_plain(v.aval))


def _is_sum(v: ir.Var) -> bool:
    """Whether the type says that a value is still to be summed."""
    explicit = getattr(v.aval, "explicit", None)
    return explicit is not None and bool(explicit.spec.unreduced)


def _of_value(v: ir.Var) -> NamedSharding:
    """How the whole value of a variable is divided."""
    explicit = v.aval.explicit
    return _open(explicit.update(spec=explicit.spec.update(unreduced=frozenset())))


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
        return _of_value(v)
    return None if mesh is None else NamedSharding(mesh, PartitionSpec())


def _open(sharding: NamedSharding) -> NamedSharding:
    """The sharding; where the mesh has automatic axes, other axes are left open."""
    if AxisType.Auto not in sharding.mesh.axis_types:
        return sharding
    entries = [UNCONSTRAINED if e is None else e for e in sharding.spec.partitions]
    return sharding.update(spec=sharding.spec.update(partitions=entries))
