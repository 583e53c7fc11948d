"""`custom_jvp`: a function with a derivative that its user writes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from olympus._src import tree
from olympus._src.api import custom_calls
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.core.symbolic_values import SymbolicZero, Zero
from olympus._src.custom_rules.custom_jvp import custom_jvp_call_p
from olympus._src.foundation import tracebacks
from olympus._src.interpreters import ad
from olympus._src.lax import elementwise, families
from olympus._src.programs import functions, inner_programs

P = ParamSpec("P")
R = TypeVar("R")


class custom_jvp(custom_calls.Decorated, Generic[P, R]):
    """Gives a function a custom derivative, for both modes.

    Write the derivative as a function of the arguments and their tangents, linear in
    the tangents, and register it by `defjvp`. Reverse mode transposes it. The rule is
    itself differentiated where derivatives of higher order are requested.

    Args:
      fun: a function of arrays and pytrees of them.
      nondiff_argnums: positions of arguments that have no tangents and may be of any
        type; the rule gets them first.
      nondiff_argnames: the same by name.

    Returns:
      A function like `fun`, with the methods `defjvp` and `defjvps`.

    Raises:
      TypeError: `fun` is not a function, or arguments are not chosen by
        position or name.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> @olympus.custom_jvp
      ... def log1pexp(x):
      ...     return onp.log1p(onp.exp(x))
      >>> @log1pexp.defjvp
      ... def log1pexp_jvp(primals, tangents):
      ...     (x,), (x_dot,) = primals, tangents
      ...     return log1pexp(x), x_dot * (1 - 1 / (1 + onp.exp(x)))
      >>> print(olympus.grad(log1pexp)(100.0))
      1.0
    """

    __name__: str

    def __init__(
        self,
        fun: Callable[P, R],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        custom_calls.check_rule("custom_jvp", "fun", fun)
        custom_calls.copy_names(self, fun)
        self.fun = fun
        self.nondiff_argnums = nondiff_argnums
        self.nondiff_argnames = nondiff_argnames
        self.jvp: Callable[..., Any] | None = None
        self.symbolic_zeros = False
        self._nondiff = (nondiff_argnums, nondiff_argnames)
        self._arguments = custom_calls.Arguments(
            "custom_jvp", fun, nondiff_argnums, nondiff_argnames
        )

    def __repr__(self) -> str:
        return f"<custom_jvp of {inner_programs.fun_text(self.fun)}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def defjvp(
        self, jvp: Callable[..., Any], symbolic_zeros: bool = False
    ) -> Callable[..., Any]:
        """Registers the derivative.

        Args:
          jvp: called as `jvp(*nondiff, primals, tangents)`, where `primals` and
            `tangents` are tuples with an entry for each argument that is not static.
            Returns a pair of the function's result and its tangent. The tangent of an
            integer is an array of dtype float0.
          symbolic_zeros: tangents that are known to be zero are `SymbolicZero` objects,
            in place of arrays of zeros.

        Returns:
          `jvp`, so that this serves as a decorator.

        Raises:
          TypeError: `jvp` is not a function.
        """
        custom_calls.check_rule("custom_jvp.defjvp", "jvp", jvp)
        self.jvp = jvp
        self.symbolic_zeros = bool(symbolic_zeros)
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Registers the derivative as a sum of terms, one for each argument.

        Args:
          *jvps: called as `jvp(tangent, result, *args)` with the tangent of its
            argument; None for a term that is zero.

        Raises:
          TypeError: a term is not a function.
          ValueError: the function has arguments that are not differentiated.

        Example:
          >>> import olympus
          >>> product = olympus.custom_jvp(lambda x, y: x * y)
          >>> product.defjvps(lambda t, out, x, y: t * y, lambda t, out, x, y: x * t)
          >>> print(olympus.grad(product, 1)(3.0, 2.0))
          3.0
        """
        if self.nondiff_argnums or self.nondiff_argnames:
            raise ValueError(
                "custom_jvp.defjvps: all arguments must be differentiated, got "
                "nondiff_argnums; use defjvp"
            )
        for i, term in enumerate(jvps):
            if term is not None:
                custom_calls.check_rule("custom_jvp.defjvps", f"jvps[{i}]", term)
        self.defjvp(_sum_of_terms(self, jvps))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return self._call(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _call(self, args: Any, kwargs: Any) -> Any:
        arguments = self._arguments
        if self.jvp is None:
            raise AttributeError(
                f"custom_jvp: no derivative is defined for {self.__name__}; register "
                f"one by {self.__name__}.defjvp"
            )
        args = arguments.positional(args, kwargs)
        static, dynamic, positions = arguments.split(args)
        leaves, structure = arguments.flatten(dynamic, positions)
        results = custom_calls.Results()
        call = custom_calls.on_leaves(
            "custom_jvp", self.fun, static, structure, results
        )
        rule = _Rule(self, static, structure, results)
        outs = custom_jvp_call_p.bind(
            *leaves,
            call_jaxpr=functions.Function(call, self.fun),
            jvp=functions.Function(rule, self.jvp),
            num_consts=0,
            name=self.__name__,
            symbolic_zeros=self.symbolic_zeros,
        )
        return results.structure.unflatten(outs)


def _sum_of_terms(fun: Any, terms: Sequence[Any]) -> Callable[..., Any]:
    def jvp(primals: Any, tangents: Any) -> Any:
        if len(terms) != len(primals):
            raise TypeError(
                f"custom_jvp.defjvps: {fun.__name__} needs a term (or None) for each "
                f"of its {len(primals)} arguments, got {len(terms)}"
            )
        out = fun(*primals)
        tangent = tree.tree_map(ad.zero_tangent, out)
        for term, t in zip(terms, tangents, strict=True):
            if term is not None:
                summand = term(t, out, *primals)
                tangent = tree.tree_map(_add_tangent, tangent, summand)
        return out, tree.tree_map(_value_of, tangent)

    jvp.__name__ = f"jvps of {fun.__name__}"
    return jvp


def _add_tangent(x: Any, y: Any) -> Any:
    if type(x) is Zero:
        return y
    return x if custom_calls.known_zero(y) else families.add_tangents(x, y)


def _value_of(t: Any) -> Any:
    return custom_calls.concrete_zero(t.aval) if type(t) is Zero else t


class _Rule:
    """The user's rule on flat values, for the primitive."""

    __slots__ = ("jvp", "owner", "results", "static", "structure", "symbolic")

    def __init__(self, owner: Any, static: Any, structure: Any, results: Any) -> None:
        self.owner = owner
        self.jvp = owner.jvp
        self.symbolic = owner.symbolic_zeros
        self.static = static
        self.structure = structure
        self.results = results

    def __call__(self, consts: Any, primals: Any, tangents: Any) -> Any:
        visible_tangents = [
            custom_calls.as_seen(t, avals_.aval_of(x), symbolic=self.symbolic)
            for x, t in zip(primals, tangents, strict=True)
        ]
        pair = self.jvp(
            *self.static.values(),
            self.structure.unflatten(primals),
            self.structure.unflatten(visible_tangents),
        )
        return self._flatten(pair)

    def _flatten(self, pair: Any) -> tuple[list[Any], list[Any]]:
        name = self.owner.__name__
        described = inner_programs.fun_text(self.jvp)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"custom_jvp: the rule {described} of {name} must return a pair of "
                f"results and tangents, got {inner_programs.value_text(pair)}; return "
                "(result, tangent)"
            )
        outs, structure = custom_calls.flatten_results("custom_jvp", self.jvp, pair[0])
        self.results.agree("custom_jvp", name, self.jvp, structure)
        tangents, tangent_structure = tree.tree_flatten(pair[1])
        if tangent_structure != structure:
            where = inner_programs.structure_mismatch(
                tangent_structure, structure, "the tangent", "the result"
            )
            raise TypeError(
                f"custom_jvp: the rule {described} of {name} must return tangents in "
                f"the structure of the results, got {where}"
            )
        return outs, self._check_tangents(outs, tangents, structure)

    def _check_tangents(self, outs: Any, tangents: Any, structure: Any) -> list[Any]:
        """The tangents, with a Zero for those that are zero by their type."""
        out_tangents = []
        for i, (x, t) in enumerate(zip(outs, tangents, strict=True)):
            expected = avals_.aval_of(x).to_tangent()
            if not avals_.is_array_like(t) and type(t) is not SymbolicZero:
                raise self._wrong(i, structure, expected, inner_programs.value_text(t))
            aval = t.aval if type(t) is SymbolicZero else avals_.aval_of(t)
            if aval.weak_type and dtypes.kind(aval.dtype) == dtypes.kind(
                expected.dtype
            ):
                # A Python number, perhaps; of a weak result the tangent is weak.
                t = elementwise.convert(t, expected.dtype, expected.weak_type)
            elif aval.dtype != expected.dtype:
                raise self._wrong(i, structure, expected, aval.short())
            if aval.shape != expected.shape:
                raise self._wrong(i, structure, expected, aval.short())
            out_tangents.append(Zero(expected) if custom_calls.known_zero(t) else t)
        return out_tangents

    def _wrong(self, i: int, structure: Any, expected: Any, got: str) -> TypeError:
        paths = tree.leaf_key_paths(structure)
        return TypeError(
            f"custom_jvp: the rule {inner_programs.fun_text(self.jvp)} of "
            f"{self.owner.__name__} must return a tangent of the tangent type of each "
            f"result; at tangent{tree.keystr(paths[i])} expected "
            f"{expected.short()}, got {got}"
        )
