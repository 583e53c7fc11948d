"""From sizes of arguments to values of the variables in their symbolic shapes.

A variable can be computed from a size whose expression is linear in it, with other
variables known by then: `b` of `2*b + 1`, and `a` of `a*b` once `b` is known. `plan`
finds the order; `solve` computes with integers, and whoever writes a program for all
sizes can follow the same plan there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from olympus._src.core.sizes import is_symbolic
from olympus._src.core.symbolic import dim_scope, dimensions
from olympus._src.core.symbolic.monomials import divide_monomials


class Step(NamedTuple):
    """`variable = (size of an axis of an argument - rest) // factor`, exactly.

    `factor` and `offset` are integers or sizes in variables of steps before.
    """

    variable: str
    argument: int
    axis: int
    factor: Any
    offset: Any
    size: Any  # the whole expression


class Check(NamedTuple):
    """A size of an argument that must equal an expression of known variables."""

    argument: int
    axis: int
    size: Any


class Constraint(NamedTuple):
    """`left` compares with `right` by `sign`, as the text says, in known variables."""

    text: str
    left: Any
    sign: str
    right: Any


class Plan(NamedTuple):
    """How variables are computed, and what must hold then; each at least 1."""

    shapes: tuple[tuple[Any, ...], ...]
    paths: tuple[str, ...]
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]  # sizes that steps did not use; integers too
    constraints: tuple[Constraint, ...]


def plan(shapes: Sequence[Sequence[Any]], paths: Sequence[str] | None = None) -> Plan:
    """The order in which variables can be computed from sizes of arguments.

    Args:
      shapes: of the arguments, all symbolic sizes of one scope.
      paths: names of the arguments, for messages; by default `args[0]`, ...

    Raises:
      ValueError: a variable has no size that is linear in it alone, or scopes differ.
    """
    names = tuple(paths or [f"args[{i}]" for i in range(len(shapes))])
    scope = _scope_of(shapes, names)
    equations = [
        (i, j, d)
        for i, shape in enumerate(shapes)
        for j, d in enumerate(shape)
        if is_symbolic(d)
    ]
    # Plain variables first: their steps divide nothing.
    equations.sort(key=lambda e: not _is_variable(e[2]))
    steps: list[Step] = []
    known: set[str] = set()
    missing = set(dimensions.shape_variables(shapes))
    while missing:
        step = next((s for e in equations if (s := _step(*e, known))), None)
        if step is None:
            raise _unsolvable(sorted(missing), shapes, names)
        steps.append(step)
        known.add(step.variable)
        missing.discard(step.variable)
    used = {(s.argument, s.axis) for s in steps}
    checks = [
        Check(i, j, d)
        for i, shape in enumerate(shapes)
        for j, d in enumerate(shape)
        if (i, j) not in used
    ]
    constraints = () if scope is None else _constraints(scope, sorted(known))
    shape_tuples = tuple([tuple(shape) for shape in shapes])
    return Plan(shape_tuples, names, tuple(steps), tuple(checks), constraints)


def _is_variable(d: Any) -> bool:
    return dimensions.variables(d) == [str(d)]


def _scope_of(shapes: Sequence[Sequence[Any]], names: Sequence[str]) -> Any:
    scope_and_name: Any = None
    for shape, name in zip(shapes, names, strict=True):
        for d in shape:
            if not is_symbolic(d):
                continue
            if scope_and_name is None:
                scope_and_name = d.scope, name
            elif scope_and_name[0] is not d.scope:
                raise ValueError(
                    f"symbolic sizes: the shapes of {scope_and_name[1]} and {name} "
                    f"belong to different scopes: {scope_and_name[0]}, and {d.scope}; "
                    "create all of them with one call of symbolic_args_specs, or "
                    "pass the same `scope` to symbolic_shape"
                )
    return None if scope_and_name is None else scope_and_name[0]


def _step(argument: int, axis: int, size: Any, known: set[str]) -> Step | None:
    """The step that a size makes possible, if it is linear in one unknown."""
    unknown = [v for v in dimensions.variables(size) if v not in known]
    if len(unknown) != 1:
        return None
    name = unknown[0]
    factor: Any = 0
    offset: Any = 0
    for m, c in size.terms:
        atom = next((a for a, _ in m if a.operation == "var" and a.name == name), None)
        if atom is None:
            part = dimensions.make({m: c}, size.scope)
            offset = offset + part
        else:
            part = dimensions.make(
                {divide_monomials(m, ((atom, 1),)) or (): c}, size.scope
            )
            factor = factor + part
        if name in dimensions.variables(part):
            return None
    if type(factor) is int and not factor:
        return None
    return Step(name, argument, axis, factor, offset, size)


def _unsolvable(
    missing: Sequence[str], shapes: Sequence[Sequence[Any]], names: Sequence[str]
) -> ValueError:
    listed = ", ".join(repr(name) for name in missing)
    return ValueError(
        f"Cannot solve for values of dimension variables {listed}: the shapes of the "
        f"arguments are {_specifications(shapes, names)}, and a variable is computed "
        "from a size that is linear in it, with all other variables known (`2*b + 1` "
        "gives b, `a*b` gives a where b is known); pass an argument that has such a "
        "size"
    )


def _specifications(shapes: Sequence[Sequence[Any]], names: Sequence[str]) -> str:
    texts = [
        f"{name}.shape = {tuple(shape)}"
        for shape, name in zip(shapes, names, strict=True)
        if any(map(is_symbolic, shape))
    ]
    return ", ".join(texts)


def _constraints(scope: Any, known: Sequence[str]) -> tuple[Constraint, ...]:
    """The constraints of a scope as conditions on known variables.

    They are read again in a scope that knows nothing, where none is already used to
    simplify itself away. Variables that an equality defines are replaced.
    """
    plain = dim_scope.SymbolicScope()
    env = {name: dimensions.variable(name, plain) for name in known}
    constraints = []
    for text, left, sign, right in dim_scope.read(scope.constraints_str, plain):
        names = {*dimensions.variables(left), *dimensions.variables(right)}
        for name in names:
            if name not in env:
                value = dimensions.variable(name, scope)
                if all(v in env for v in dimensions.variables(value)):
                    env[name] = dimensions.evaluate(value, env, dimensions.Sizes)
        if not all(name in env for name in names):
            continue  # of a variable that no argument has
        sides = [dimensions.evaluate(x, env, dimensions.Sizes) for x in (left, right)]
        constraints.append(Constraint(text, sides[0], sign, sides[1]))
    return tuple(constraints)


# -- solving with integers -------------------------------------------------------------


def solve(
    shapes: Sequence[Sequence[Any]] | Plan,
    actual: Sequence[Sequence[int]],
    paths: Sequence[str] | None = None,
) -> dict[str, int]:
    """The values of all variables for arguments of given shapes, checked.

    Args:
      shapes: symbolic shapes of the arguments, or the plan made of them.
      actual: their shapes.
      paths: names of the arguments, for messages.

    Raises:
      ValueError: ranks or sizes do not fit, or a constraint does not hold; the message
        names the argument, the axis, the expression and the size that was given.
    """
    arguments_plan = shapes if isinstance(shapes, Plan) else plan(shapes, paths)
    for expected, got, name in zip(
        arguments_plan.shapes, actual, arguments_plan.paths, strict=True
    ):
        if len(expected) != len(got):
            raise ValueError(
                f"Rank mismatch for {name}: expected {tuple(expected)}, of "
                f"{len(expected)} axes, got {tuple(got)}, of {len(got)}"
            )
    env: dict[str, int] = {}
    for step in arguments_plan.steps:
        env[step.variable] = _value(
            arguments_plan, step, actual[step.argument][step.axis], env
        )
    for check in arguments_plan.checks:
        _check(arguments_plan, check, actual[check.argument][check.axis], env)
    for constraint in arguments_plan.constraints:
        _check_constraint(arguments_plan, constraint, env)
    return env


def _value(arguments_plan: Plan, step: Step, got: int, env: Mapping[str, int]) -> int:
    factor = dimensions.evaluate(step.factor, env)
    offset = dimensions.evaluate(step.offset, env)
    value, remainder = divmod(got - offset, factor) if factor else (0, 1)
    if remainder or value < 1:
        why = (
            f"no integer '{step.variable}' gives that"
            if remainder
            else f"'{step.variable}' would be {value}, and must be at least 1"
        )
        raise _mismatch(
            arguments_plan, step.argument, step.axis, step.size, got, why, env
        )
    return value


def _check(
    arguments_plan: Plan, check: Check, got: int, env: Mapping[str, int]
) -> None:
    expected = dimensions.evaluate(check.size, env)
    if expected == got:
        return
    why = f"it must be {expected}"
    raise _mismatch(
        arguments_plan, check.argument, check.axis, check.size, got, why, env
    )


def _check_constraint(
    arguments_plan: Plan, c: Constraint, env: Mapping[str, int]
) -> None:
    left, right = dimensions.evaluate(c.left, env), dimensions.evaluate(c.right, env)
    holds = {">=": left >= right, "<=": left <= right, "==": left == right}[c.sign]
    if not holds:
        raise ValueError(
            f"Input shapes do not match the symbolic shape constraint '{c.text}': "
            f"the left side is {left}, the right one {right}."
            f"{_context(arguments_plan, env)}"
        )


def _mismatch(
    arguments_plan: Plan,
    argument: int,
    axis: int,
    size: Any,
    got: int,
    why: str,
    env: Mapping[str, int],
) -> ValueError:
    return ValueError(
        "Input shapes do not match the symbolic shapes: "
        f"{arguments_plan.paths[argument]}.shape[{axis}] is '{size}', got {got}; "
        f"{why}.{_context(arguments_plan, env)}"
    )


def _context(arguments_plan: Plan, env: Mapping[str, int]) -> str:
    """Where the values of the variables come from."""
    lines = [
        "\nSymbolic shapes: "
        f"{_specifications(arguments_plan.shapes, arguments_plan.paths)}."
    ]
    sources = {step.variable: step for step in arguments_plan.steps}
    for name, value in env.items():
        step = sources[name]
        lines.append(
            f"\n'{name}' = {value} from '{step.size}' at "
            f"{arguments_plan.paths[step.argument]}.shape[{step.axis}]"
        )
    return "".join(lines)
