"""`grad` and `value_and_grad`: derivatives of functions that return a scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from olympus._src import tree
from olympus._src.api import derivative_checks
from olympus._src.api import differentiation as common
from olympus._src.core import avals as avals_
from olympus._src.core import ir
from olympus._src.foundation import tracebacks
from olympus._src.interpreters import ad

P = ParamSpec("P")
R = TypeVar("R")


class _Gradient:
    """How a function is differentiated, and the call that does it."""

    __slots__ = ("info", "name", "plan")

    def __init__(
        self,
        api: str,
        fun: Any,
        argnums: Any,
        has_aux: bool,
        holomorphic: bool,
        allow_int: bool,
        reduce_axes: Any,
    ) -> None:
        accepts = "any" if allow_int else "inexact"
        self.plan = common.Plan(
            api, fun, argnums, has_aux, holomorphic, accepts, too_few=TypeError
        )
        derivative_checks.check_reduce_axes(api, reduce_axes)
        self.name = self.plan.name
        self.info = ir.DebugInfo.of(api, fun)

    def __call__(self, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
        """The value, the auxiliary value, and the gradients."""
        plan = self.plan
        call, leaves, structure = plan.arguments(args, kwargs)
        flat, out_info = common.on_leaves(
            plan.api, plan.fun, call, structure, plan.has_aux
        )
        leaves = common.with_still_arrays(leaves, None)
        outs, linear = ad.linearize(flat, leaves, self.info)
        value = out_info.structure.unflatten(outs)
        self._check_output(value)
        seed = common.seed_like(value)
        # A number of a rule stays one; the seed is not a number of the user's.
        grads = [
            common.as_array(g) if g is seed else common.as_result(g)
            for g in linear.transpose([seed])
        ]
        return common.as_result(value), out_info.aux, plan.inputs(structure, grads)

    def _check_output(self, value: Any) -> None:
        api, name = self.plan.api, self.name
        if not avals_.is_array_like(value):
            got = f"{tree.tree_structure(value)}; return one number, and other results "
            got += "with has_aux=True"
            if value is None:
                got = "None; end it with `return` and one number"
            raise TypeError(
                f"Gradient only defined for scalar-output functions. {api}: {name} "
                f"returned {got}"
            )
        aval = avals_.aval_of(value)
        if aval.shape:
            raise TypeError(
                "Gradient only defined for scalar-output functions. "
                f"{api}: {name} returned {aval.short()}; reduce it to one number, as "
                "by its sum or mean, or use jacrev or vjp"
            )

        def where() -> str:
            return f"the result of {name}"

        derivative_checks.check_output(value, api, where, self.plan.holomorphic)


def value_and_grad(
    fun: Callable[P, R],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[P, tuple[R, Any]]:
    """A function that returns both the value and the gradient of `fun`.

    Args:
      fun: returns a real scalar (a complex one with `holomorphic`).
      argnums: the positional argument or arguments to differentiate with respect to;
        negative ones count from the last.
      has_aux: `fun` returns a pair of the scalar and an auxiliary value.
      holomorphic: `fun` is complex differentiable.
      allow_int: accept integer arguments; their gradients have dtype `float0`.
      reduce_axes: no longer supported.

    Returns:
      A function of `fun`'s arguments that returns a pair of the value and the gradient;
      with `has_aux` the value is a pair too.

    Raises:
      TypeError: when called: the result is not a scalar, or arguments are not floating.

    Example:
      >>> import olympus
      >>> value, slope = olympus.value_and_grad(lambda x: x * x)(3.0)
      >>> print(value, slope)
      9.0 6.0
    """
    api = "value_and_grad"
    both = _Gradient(api, fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    def value_and_gradient(*args: P.args, **kwargs: P.kwargs) -> tuple[Any, Any]:
        try:
            value, aux, grads = both(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise
        return ((value, aux) if has_aux else value), grads

    doc = (
        f"Value of {both.name}, and its gradient by positional argument "
        f"{argnums}; takes the arguments of {both.name}."
    )
    return common.named(value_and_gradient, fun, doc)


def grad(
    fun: Callable[P, Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[P, Any]:
    """The gradient of a scalar function, as a function.

    Args:
      fun: returns a real scalar (a complex one with `holomorphic`).
      argnums: the positional argument or arguments to differentiate with respect to;
        negative ones count from the last.
      has_aux: `fun` returns a pair of the scalar and an auxiliary value.
      holomorphic: `fun` is complex differentiable.
      allow_int: accept integer arguments; their gradients have dtype `float0`.
      reduce_axes: no longer supported.

    Returns:
      A function of `fun`'s arguments that returns the gradient, in the structure of the
      chosen argument (a tuple of them for several); with `has_aux` a pair of it and the
      auxiliary value.

    Raises:
      TypeError: when called: the result is not a scalar, or arguments are not floating.

    Source: Griewank and Walther, Evaluating Derivatives, chapter 3.

    Example:
      >>> import olympus
      >>> olympus.grad(lambda x: x * x)(3.0)
      Array(6., dtype=float32, weak_type=True)
    """
    both = _Gradient("grad", fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            _, aux, grads = both(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise
        return (grads, aux) if has_aux else grads

    doc = (
        f"Gradient of {both.name} by positional argument {argnums}; takes the "
        f"arguments of {both.name}."
    )
    return common.named(gradient, fun, doc)
