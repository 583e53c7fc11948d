"""`custom_vjp`: a function with a reverse-mode derivative that its user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from olympus._src import tree
from olympus._src.api import custom_calls
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.core.array_type import PyTree
from olympus._src.core.symbolic_values import SymbolicZero, Zero
from olympus._src.custom_rules.custom_vjp import custom_vjp_call_p
from olympus._src.foundation import config, tracebacks
from olympus._src.lax import elementwise
from olympus._src.programs import functions, inner_programs

tree_map = tree.tree_map
P = ParamSpec("P")
R = TypeVar("R")


class custom_vjp(custom_calls.Decorated, Generic[P, R]):
    """Gives a function a custom reverse-mode derivative.

    Write it as two functions and register them by `defvjp`: `fwd` returns the result
    and residuals, the values that `bwd` needs; `bwd` maps the cotangent of the result
    to those of the arguments. Forward mode (`jvp`) does not support it.

    Args:
      fun: a function of arrays and pytrees of them.
      nondiff_argnums: positions of arguments that have no cotangents and may be of any
        type, but no traced values; `bwd` gets them first.
      nondiff_argnames: the same by name.

    Returns:
      A function like `fun`, with the method `defvjp`.

    Raises:
      TypeError: `fun` is not a function, or arguments are not chosen by
        position or name.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> @olympus.custom_vjp
      ... def clip_gradient(low, high, x):
      ...     return x
      >>> def fwd(low, high, x):
      ...     return x, (low, high)
      >>> def bwd(residuals, ct):
      ...     return None, None, onp.clip(ct, *residuals)
      >>> clip_gradient.defvjp(fwd, bwd)
      >>> print(olympus.grad(lambda x: 5 * clip_gradient(-1.0, 1.0, x))(2.0))
      1.0
    """

    __name__: str

    def __init__(
        self,
        fun: Callable[P, R],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        custom_calls.check_rule("custom_vjp", "fun", fun)
        custom_calls.copy_names(self, fun)
        self.fun = fun
        self.nondiff_argnums = nondiff_argnums
        self.nondiff_argnames = nondiff_argnames
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.symbolic_zeros = False
        self.optimize_remat = False
        self._options = (False, False)
        self._nondiff = (nondiff_argnums, nondiff_argnames)
        self._arguments = custom_calls.Arguments(
            "custom_vjp", fun, nondiff_argnums, nondiff_argnames
        )

    def __repr__(self) -> str:
        return f"<custom_vjp of {inner_programs.fun_text(self.fun)}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def defvjp(
        self,
        fwd: Callable[..., tuple[R, Any]],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Registers the derivative.

        Args:
          fwd: called with the function's arguments, returns a pair of its result and
            residuals.
          bwd: called as `bwd(*nondiff, residuals, cotangent)`, returns a tuple with the
            cotangent of each argument that is differentiated, in its structure. None
            means zeros.
          symbolic_zeros: leaves of `fwd`'s arguments are `CustomVJPPrimal` objects,
            which tell whether they are differentiated; cotangents known to be zero are
            `SymbolicZero` objects in place of arrays of zeros.
          optimize_remat: where a program reads no residual, as when `checkpoint` makes
            them again later, it calls the function in place of `fwd`.

        Raises:
          TypeError: `fwd` or `bwd` is not a function.
        """
        custom_calls.check_rule("custom_vjp.defvjp", "fwd", fwd)
        custom_calls.check_rule("custom_vjp.defvjp", "bwd", bwd)
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = bool(symbolic_zeros)
        self.optimize_remat = bool(optimize_remat)
        self._options = (self.symbolic_zeros, self.optimize_remat)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return self._call(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _call(self, args: Any, kwargs: Any) -> Any:
        arguments = self._arguments
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"custom_vjp: no derivative is defined for {self.__name__}; register "
                f"one by {self.__name__}.defvjp"
            )
        args = arguments.positional(args, kwargs)
        static, dynamic, positions = arguments.split(args)
        if static:
            custom_calls.check_no_tracers(arguments, static)
        leaves, structure = arguments.flatten(dynamic, positions)
        results = custom_calls.Results()
        call = custom_calls.on_leaves(
            "custom_vjp", self.fun, static, structure, results
        )
        forward = _Forward(self, static, structure, results)
        outs = custom_vjp_call_p.bind(
            *leaves,
            call_jaxpr=functions.Function(call, self.fun),
            fwd=functions.Function(forward, self.fwd),
            bwd=functions.Function(self.bwd, self.bwd),
            num_consts=0,
            name=self.__name__,
            symbolic_zeros=self.symbolic_zeros,
            optimize_remat=self.optimize_remat,
        )
        return results.structure.unflatten(outs)


class CustomVJPPrimal:
    """A leaf of the arguments of `fwd`, where zeros are symbolic.

    Attributes:
      value: the argument.
      perturbed: whether the result is differentiated with respect to it.
    """

    __slots__ = ("perturbed", "value")

    def __init__(self, value: Any, perturbed: bool) -> None:
        self.value = value
        self.perturbed = perturbed

    def __repr__(self) -> str:
        return f"CustomVJPPrimal(value={self.value!r}, perturbed={self.perturbed})"


def custom_vjp_primal_tree_values(tree: PyTree) -> PyTree:
    """The values in a tree of `CustomVJPPrimal`s.

    Args:
      tree: arguments of a rule `fwd` that requested symbolic zeros.

    Returns:
      The same tree with each leaf's `value`.

    Example:
      >>> from olympus import custom_derivatives
      >>> leaf = custom_derivatives.CustomVJPPrimal(3.0, perturbed=True)
      >>> custom_derivatives.custom_vjp_primal_tree_values({'x': leaf})
      {'x': 3.0}
    """
    return tree_map(lambda leaf: leaf.value, tree)


class _Forward:
    """The rule `fwd` on flat values, for the primitive."""

    __slots__ = ("bwd", "fwd", "name", "results", "static", "structure", "symbolic")

    def __init__(self, owner: Any, static: Any, structure: Any, results: Any) -> None:
        self.fwd = owner.fwd
        self.bwd = owner.bwd
        self.name = owner.__name__
        self.symbolic = owner.symbolic_zeros
        self.static = static
        self.structure = structure
        self.results = results

    def __call__(self, consts: Any, primals: Any, perturbed: Any) -> Any:
        values = list(primals)
        if self.symbolic:
            values = [
                CustomVJPPrimal(x, p) for x, p in zip(values, perturbed, strict=True)
            ]
        args = self.structure.unflatten(values)
        pair = self.fwd(*custom_calls.whole(self.static, args))
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"custom_vjp: the rule {inner_programs.fun_text(self.fwd)} of "
                f"{self.name} "
                "must return a pair of results and residuals, got "
                f"{inner_programs.value_text(pair)}; return (result, residuals), where "
                "bwd gets the residuals first"
            )
        outs, structure = custom_calls.flatten_results("custom_vjp", self.fwd, pair[0])
        self.results.agree("custom_vjp", self.name, self.fwd, structure)
        leaves, residual_structure = tree.tree_flatten(pair[1])
        arrays = [avals_.is_array_like(x) for x in leaves]
        pullback = _Pullback(self, outs, structure, primals)
        pullback.residual_structure = residual_structure
        pullback.others = [
            _ARRAY if a else x for x, a in zip(leaves, arrays, strict=True)
        ]
        residuals = [x for x, a in zip(leaves, arrays, strict=True) if a]
        return outs, residuals, functions.Function(pullback, self.bwd)


_ARRAY: Any = object()  # stands for a residual that is an operand


class _Pullback:
    """The rule `bwd` on flat values, for the primitive."""

    __slots__ = (
        "bwd",
        "in_avals",
        "name",
        "others",
        "out_avals",
        "out_structure",
        "residual_structure",
        "static",
        "structure",
        "symbolic",
    )
    residual_structure: Any
    others: list[Any]

    def __init__(
        self, forward: _Forward, outs: Any, out_structure: Any, primals: Any
    ) -> None:
        self.bwd = forward.bwd
        self.name = forward.name
        self.symbolic = forward.symbolic
        self.static = forward.static
        self.structure = forward.structure
        self.out_structure = out_structure
        self.out_avals = [avals_.aval_of(x).to_tangent() for x in outs]
        self.in_avals = [avals_.aval_of(x).to_tangent() for x in primals]

    def __call__(self, residuals: Any, cts: Any) -> list[Any]:
        arrays = iter(residuals)
        leaves = [next(arrays) if x is _ARRAY else x for x in self.others]
        visible_cts = [
            custom_calls.as_seen(ct, aval, symbolic=self.symbolic)
            for ct, aval in zip(cts, self.out_avals, strict=True)
        ]
        arg_cts = self.bwd(
            *self.static.values(),
            self.residual_structure.unflatten(leaves),
            self.out_structure.unflatten(visible_cts),
        )
        flat = self._flatten(arg_cts)
        return [self._check_cotangent(i, ct) for i, ct in enumerate(flat)]

    def _flatten(self, arg_cts: Any) -> list[Any]:
        """A cotangent, or None for zeros, for each leaf of the arguments."""
        described = (
            f"custom_vjp: the rule {inner_programs.fun_text(self.bwd)} of {self.name}"
        )
        count = len(tree.treedef_children(self.structure))
        if not isinstance(arg_cts, (tuple, list)) or len(arg_cts) != count:
            got = (
                f"{len(arg_cts)} of them"
                if isinstance(arg_cts, (tuple, list))
                else (inner_programs.value_text(arg_cts))
            )
            raise TypeError(
                f"{described} must return a tuple with a cotangent for each of its "
                f"{count} arguments, got {got}; return None for those without a "
                "derivative, and one cotangent as (cotangent,)"
            )
        full = self.structure.unflatten(range(self.structure.num_leaves))
        try:
            marked = tree_map(_spread_none, tuple(arg_cts), full, is_leaf=_is_none)
            leaves, ct_structure = tree.tree_flatten(marked)
        except ValueError:
            leaves, ct_structure = tree.tree_flatten(tuple(arg_cts))
        if ct_structure != self.structure:
            where = inner_programs.structure_mismatch(
                ct_structure, self.structure, "cotangents", "args"
            )
            raise TypeError(
                f"{described} must return cotangents in the structure of the "
                f"arguments, got {where}"
            )
        return leaves

    def _check_cotangent(self, i: int, ct: Any) -> Any:
        expected = self.in_avals[i]
        if ct is _NONE or avals_.is_float0(expected):
            return Zero(expected)
        if not avals_.is_array_like(ct):
            raise TypeError(self._wrong(i, expected, inner_programs.value_text(ct)))
        aval = avals_.aval_of(ct)
        if config.disable_bwd_checks.value:
            return ct
        if aval.is_high or expected.is_high:
            if aval is expected:
                return ct
            raise ValueError(self._wrong(i, expected, aval.short()))
        if aval.shape != expected.shape:
            raise ValueError(self._wrong(i, expected, aval.short()))
        if custom_calls.known_zero(ct):
            return Zero(expected)
        if aval.dtype == expected.dtype:
            return ct
        if dtypes.kind(aval.dtype) == "c":
            raise TypeError(self._wrong(i, expected, aval.short()))
        return elementwise.convert(ct, expected.dtype)

    def _wrong(self, i: int, expected: Any, got: str) -> str:
        paths = tree.leaf_key_paths(self.structure)
        return (
            f"custom_vjp: the rule {inner_programs.fun_text(self.bwd)} of "
            f"{self.name} must "
            "return a cotangent of the type of each argument; at cotangents"
            f"{tree.keystr(paths[i])} expected {expected.short()}, got {got}"
        )


_NONE: Any = object()  # stands for the zero that None says, and is a leaf


def _is_none(x: Any) -> bool:
    return x is None


def _spread_none(ct: Any, part: Any) -> Any:
    return tree_map(lambda _: _NONE, part) if ct is None else ct


def zero_from_primal(val: PyTree, symbolic_zeros: bool = False) -> PyTree:
    """The zero tangent of a value.

    Args:
      val: an array, a number, or a tree of them.
      symbolic_zeros: give a `SymbolicZero`.

    Returns:
      Zeros of the value's shape and tangent dtype; float0 for integers.

    Example:
      >>> from olympus import custom_derivatives
      >>> print(custom_derivatives.zero_from_primal(3.0))
      0.0
    """

    def zero(x: Any) -> Any:
        aval = avals_.aval_of(x).to_tangent()
        if symbolic_zeros:
            return SymbolicZero(aval)
        return custom_calls.concrete_zero(aval)

    return tree_map(zero, val)
