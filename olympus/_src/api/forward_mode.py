"""`jvp` and `linearize`: derivatives that push tangents forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import derivative_checks, parameters
from olympus._src.api import differentiation as common
from olympus._src.core import avals as avals_
from olympus._src.core import ir, trace
from olympus._src.core.array_type import PyTree
from olympus._src.core.symbolic_values import Zero
from olympus._src.foundation import tracebacks
from olympus._src.interpreters import ad


@tracebacks.api_boundary
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[PyTree, ...]:
    """The value of a function and its derivative in the direction of tangents.

    Args:
      fun: a function of arrays and pytrees of them.
      primals: a tuple or list of its arguments.
      tangents: a direction for each, of the same structure, shapes and dtypes; where an
        argument is an integer or a boolean, zeros of dtype `float0`.
      has_aux: `fun` returns a pair, of which the second is passed through.

    Returns:
      A pair of the result and its tangent; with `has_aux` also the auxiliary value.

    Raises:
      TypeError: structures or dtypes of primals and tangents differ.
      ValueError: their shapes differ.

    Source: Griewank and Walther, Evaluating Derivatives, chapter 3.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> value, slope = olympus.jvp(onp.square, (3.0,), (1.0,))
      >>> print(value, slope)
      9.0 6.0
    """
    parameters.check_callable("jvp", fun)
    if not isinstance(primals, (tuple, list)) or not isinstance(
        tangents, (tuple, list)
    ):
        raise TypeError(
            "jvp: primals and tangents must be tuples or lists with an entry for each "
            f"argument, got {type(primals).__name__} and {type(tangents).__name__}"
        )
    leaves, structure = tree.tree_flatten(tuple(primals))
    directions, tangent_structure = tree.tree_flatten(tuple(tangents))
    if structure != tangent_structure:
        raise TypeError(
            derivative_checks.mismatch(
                "jvp", "primals", "tangents", structure, tuple(tangents)
            )
        )
    for i, (x, t) in enumerate(zip(leaves, directions, strict=True)):
        aval = avals_.aval_of(x)
        tangent_aval = aval.to_tangent()
        _check_tangent(fun, structure, i, aval, avals_.aval_of(t))
        if (
            tangent_aval is not aval and not aval.is_high
        ):  # integers have no tangent that moves
            leaves[i], directions[i] = common.as_array(x), Zero(tangent_aval)
    flat, out_info = common.on_leaves("jvp", fun, fun, structure, has_aux)
    info = ir.DebugInfo.of("jvp", fun)
    outs, out_tangents = ad.jvp(flat, leaves, directions, info)
    value = out_info.structure.unflatten(map(common.as_result, outs))
    tangent = out_info.structure.unflatten(map(common.as_result, out_tangents))
    return (value, tangent, out_info.aux) if has_aux else (value, tangent)


def _check_tangent(fun: Any, structure: Any, i: int, aval: Any, actual: Any) -> None:
    expected = aval.to_tangent()
    if expected is actual:
        return
    if expected.is_high or actual.is_high:
        raise TypeError(
            f"jvp: the tangent of {parameters.argument_path(fun, structure, i)} must "
            f"be {expected.short()}, as its primal is {aval.short()}, got "
            f"{actual.short()}"
        )
    if expected.shape == actual.shape and expected.dtype == actual.dtype:
        return
    kind = ValueError if expected.shape != actual.shape else TypeError
    cure = "; give zeros of dtype olympus.float0" if expected is not aval else ""
    raise kind(
        f"jvp: the tangent of {parameters.argument_path(fun, structure, i)} must be "
        f"{expected.short()}, as its primal is {aval.short()}, got "
        f"{actual.short()}{cure}"
    )


@tracebacks.api_boundary
def linearize(
    fun: Callable[..., Any], *primals: PyTree, has_aux: bool = False, in_nzs: Any = None
) -> tuple[PyTree, ...]:
    """The value of a function and its derivative at that point, as a linear function.

    Where many tangents are pushed forward from one point, this saves evaluating `fun`
    for each; what the derivative needs is kept, so memory grows with the computation.

    Args:
      fun: a function of arrays and pytrees of them.
      *primals: its arguments.
      has_aux: `fun` returns a pair, of which the second is passed through.
      in_nzs: a bool for each argument, or nested tuples of bools: whether its tangent
        can be other than zero. All can if None; integers cannot.

    Returns:
      A pair of the result and a function from tangents to the result's tangent, which
      is a `tree_util.Partial` and may be passed to other transformations; with
      `has_aux` also the auxiliary value.

    Raises:
      TypeError: `fun` is not callable, or returns what is not an array.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> value, derivative = olympus.linearize(onp.square, 3.0)
      >>> print(value, derivative(1.0), derivative(2.0))
      9.0 6.0 12.0
    """
    parameters.check_callable("linearize", fun)
    leaves, structure = tree.tree_flatten(primals)
    nonzero = flags("linearize", "in_nzs", in_nzs, primals, structure)
    outer, trace.current.pushes_forward = trace.current.pushes_forward, True
    try:
        _, outs, linear, out_info = common.linearize_leaves(
            "linearize", fun, leaves, structure, has_aux, nonzero
        )
    finally:
        trace.current.pushes_forward = outer
    value = out_info.structure.unflatten(map(common.as_result, outs))
    derivative: Any = tree.Partial(
        _Pushforward(fun, linear, structure, out_info.structure), linear.consts
    )
    derivative.out_nzs = tuple([o is None for o in linear.outs])
    return (value, derivative, out_info.aux) if has_aux else (value, derivative)


def flags(api: str, name: str, value: Any, primals: Any, structure: Any) -> Any:
    """A bool for each leaf, from nested tuples of bools that are a prefix of it."""
    if value is None:
        return None
    if isinstance(value, (bool, int)):
        return [bool(value)] * structure.num_leaves
    leaf_flags = tree.broadcast_prefix(
        tuple(value), primals, what=f"{api} {name}", full_name="the arguments"
    )
    if not all(isinstance(f, (bool, int)) for f in leaf_flags):
        raise TypeError(f"{api}: {name} must hold bools, got {value!r}")
    return [bool(f) for f in leaf_flags]


class _Pushforward:
    """A linear function of its constants and tangents."""

    __slots__ = ("fun", "in_structure", "out_structure", "outs", "program")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Pushforward):
            return NotImplemented
        return (
            self.in_structure == other.in_structure
            and self.out_structure == other.out_structure
            and common.linear_alike(self, other)
        )

    def __hash__(self) -> int:
        return hash((self.in_structure, self.out_structure, len(self.program.eqns)))

    def __init__(
        self, fun: Any, linear: ad.LinearProgram, in_structure: Any, out_structure: Any
    ) -> None:
        self.fun = fun
        self.program = linear.program
        self.outs = linear.outs
        self.in_structure = in_structure
        self.out_structure = out_structure

    def __call__(self, consts: Any, *tangents: Any) -> Any:
        try:
            return self._apply(consts, tangents)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _apply(self, consts: Any, tangents: Any) -> Any:
        flat, tangent_structure = tree.tree_flatten(tangents)
        if tangent_structure != self.in_structure:
            text = derivative_checks.mismatch(
                "linearize", "primals", "tangents", self.in_structure, tangents
            )
            raise TypeError(text)
        derivative_checks.check_types(flat, self.program.in_avals, self._complain)
        out_tangents = ad.LinearProgram(self.program, consts, self.outs).apply(flat)
        return self.out_structure.unflatten(map(common.as_result, out_tangents))

    def _complain(self, i: int, expected: Any, actual: Any) -> Exception:
        return ValueError(
            "linearize: the tangent of "
            f"{parameters.argument_path(self.fun, self.in_structure, i)} must be "
            f"{expected.short()}, as its primal is, got {actual.short()}"
        )

    def __repr__(self) -> str:
        name = getattr(self.fun, "__name__", type(self.fun).__name__)
        return f"<derivative of {name}>"
