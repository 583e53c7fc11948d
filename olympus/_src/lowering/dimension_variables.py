"""How a function finds its dimension variables: from the sizes of its arguments.

An argument of shape (b, 2*c + 1) determines b and c. `core.symbolic_solve` finds the
order in which variables are computed, and the checks; both are written here.
The checks are calls of `shape_assertion`, which compilers that refine shapes evaluate
and take out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from olympus._src.core import avals as avals_
from olympus._src.core import sizes
from olympus._src.core.symbolic import dim_solver, dimensions
from olympus._src.lowering import dynamic_shapes, types

_FLAG = avals_.ShapedArray((), np.dtype(np.bool_))
_SIGNS = {">=": "GE", "<=": "LE", "==": "EQ"}
_WRONG = "Input shapes do not match the symbolic shapes:"


class Arguments:
    """The dynamic sizes of a function's arguments.

    Args:
      in_avals: types of the arguments.
      paths: how users write the arguments, for messages.

    Attributes:
      names: of the dimension variables, in the order in which functions take them.

    Raises:
      ValueError: a variable is not determined by the sizes.
    """

    __slots__ = ("_avals", "_plan", "names")

    def __init__(
        self, in_avals: Sequence[Any], paths: Sequence[str] | None = None
    ) -> None:
        self._avals = list(in_avals)
        self._plan: Any = None
        self.names: tuple[str, ...] = ()
        shapes = [getattr(a, "shape", ()) for a in in_avals]
        if not all(map(sizes.is_constant_shape, shapes)):
            self._plan = dim_solver.plan(shapes, paths)
            self.names = tuple(sorted(s.variable for s in self._plan.steps))

    def write(self, block: Any, names: Sequence[str]) -> None:
        """Writes the variables' values, and the checks, at a function's beginning.

        Args:
          block: of the function; gets the scalars in `sizes`.
          names: of the arguments.
        """
        if self._plan is None:
            return
        env: dict[str, Any] = {}
        for step in self._plan.steps:
            actual = self._measure_axis(block, names, step)
            env[step.variable] = self._solve(block, step, actual, env)
            block.sizes[step.variable] = dynamic_shapes.scalar(
                block, env[step.variable]
            )
        for check in self._plan.checks:
            if sizes.is_symbolic(check.size):
                self._check(block, check, self._measure_axis(block, names, check), env)
        for c in self._plan.constraints:
            left, right = _value(c.left, env), _value(c.right, env)
            holds = dynamic_shapes.emit_size_comparison(
                block, _SIGNS[c.sign], left, right
            )
            message = (
                f"Input shapes do not match the symbolic shape constraint '{c.text}': "
                "the left side is {0}, the right one {1}."
            )
            _assert(block, holds, message, [left, right])

    def _measure_axis(
        self, block: Any, names: Sequence[str], at: Any
    ) -> dynamic_shapes.Size:
        """The actual size of an axis of an argument."""
        t = types.tensor_type
        name = block.emit(
            f"stablehlo.get_dimension_size {names[at.argument]}, dim = {at.axis} : "
            f"({t(self._avals[at.argument])}) -> {t(dynamic_shapes.SIZE)}"
        )
        return dynamic_shapes.Size(block, name)

    def _solve(self, block: Any, step: Any, actual: Any, env: Any) -> Any:
        factor, offset = _value(step.factor, env), _value(step.offset, env)
        value = actual - offset
        where = f"{_WRONG} {self._place(step)} is '{step.size}', got {{0}};"
        if not (type(factor) is int and factor == 1):
            whole = dynamic_shapes.emit_size_comparison(block, "EQ", value % factor, 0)
            _assert(
                block,
                whole,
                f"{where} no integer '{step.variable}' gives that.",
                [actual],
            )
            value = value // factor
        message = f"{where} '{step.variable}' would be {{1}}, and must be at least 1."
        positive = dynamic_shapes.emit_size_comparison(block, "GE", value, 1)
        _assert(block, positive, message, [actual, value])
        return value

    def _check(self, block: Any, check: Any, actual: Any, env: Any) -> None:
        expected = _value(check.size, env)
        message = (
            f"{_WRONG} {self._place(check)} is '{check.size}', got {{0}}; it must be "
            "{1}."
        )
        holds = dynamic_shapes.emit_size_comparison(block, "EQ", actual, expected)
        _assert(block, holds, message, [actual, expected])

    def _place(self, at: Any) -> str:
        return f"{self._plan.paths[at.argument]}.shape[{at.axis}]"


def _value(size: Any, env: Mapping[str, Any]) -> Any:
    return dimensions.evaluate(size, env, dynamic_shapes.Arithmetic)


def _assert(block: Any, holds: str, message: str, values: Sequence[Any]) -> None:
    """Writes a check that is evaluated when shapes are refined.

    Args:
      block: where to write.
      holds: name of a boolean.
      message: the error if it is false; `{0}` stands for the first value.
      values: sizes, computed or known.
    """
    dynamic_shapes.custom_call(
        block,
        "shape_assertion",
        [holds, *[dynamic_shapes.scalar(block, v) for v in values]],
        [_FLAG, *[dynamic_shapes.SIZE] * len(values)],
        [],
        f"api_version = 2 : i32, error_message = {types.string(message)}, "
        "has_side_effect = true",
    )
