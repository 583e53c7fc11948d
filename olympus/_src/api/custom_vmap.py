"""`custom_vmap`: a function that its user batches; `sequential_vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from olympus._src import tree
from olympus._src.api import custom_calls
from olympus._src.control_flow import loops
from olympus._src.core import avals as avals_
from olympus._src.custom_rules.custom_vmap import custom_vmap_call_p
from olympus._src.foundation import tracebacks
from olympus._src.programs import functions, inner_programs

P = ParamSpec("P")
R = TypeVar("R")


class custom_vmap(custom_calls.Decorated, Generic[P, R]):
    """Gives a function a custom batching rule for `vmap`.

    The rule is used whenever an argument is mapped, and is itself batched where several
    vmaps are nested. Forward mode differentiates the function and the rule; for a
    custom derivative in reverse mode, wrap the result in `custom_vjp`.

    Args:
      fun: a function of arrays and pytrees of them.

    Returns:
      A function like `fun`, with the method `def_vmap`.

    Raises:
      TypeError: `fun` is not a function.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> @olympus.custom_batching.custom_vmap
      ... def solve(a, b):
      ...     return onp.linalg.solve(a, b)
      >>> @solve.def_vmap
      ... def solve_vmap(axis_size, in_batched, a, b):
      ...     a_batched, b_batched = in_batched
      ...     if b_batched and not a_batched:  # one matrix: one system, many sides
      ...         return solve(a, b.T).T, True
      ...     a = a if a_batched else onp.stack([a] * axis_size)
      ...     b = b if b_batched else onp.stack([b] * axis_size)
      ...     return onp.linalg.solve(a, b[..., None])[..., 0], True
      >>> sides = onp.arange(6.0).reshape(3, 2)
      >>> print(olympus.vmap(solve, (None, 0))(2 * onp.eye(2), sides))
      [[0.  0.5]
       [1.  1.5]
       [2.  2.5]]
    """

    __name__: str

    def __init__(self, fun: Callable[P, R]) -> None:
        custom_calls.check_rule("custom_vmap", "fun", fun)
        custom_calls.copy_names(self, fun)
        self.fun = fun
        self.vmap_rule: Callable[..., Any] | None = None
        self._arguments = custom_calls.Arguments("custom_vmap", fun, (), ())

    def __repr__(self) -> str:
        return f"<custom_vmap of {inner_programs.fun_text(self.fun)}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Registers the rule.

        Args:
          vmap_rule: called as `vmap_rule(axis_size, in_batched, *args)`, with a tree of
            bools for each argument in the list `in_batched`; a leaf that is mapped has
            the axis in front. Returns a pair of the results and of a tree of bools in
            their structure, which says for each whether it has the axis in front.

        Returns:
          `vmap_rule`, so that this serves as a decorator.

        Raises:
          TypeError: `vmap_rule` is not a function.
        """
        custom_calls.check_rule("custom_vmap.def_vmap", "vmap_rule", vmap_rule)
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return self._call(args, kwargs)
        except Exception as error:
            tracebacks.hide(error)
            raise

    def _call(self, args: Any, kwargs: Any) -> Any:
        fun: Callable[..., Any] = self.fun
        if self.vmap_rule is None:
            raise AttributeError(
                f"custom_vmap: no rule is defined for {self.__name__}; register one by "
                f"{self.__name__}.def_vmap"
            )
        args = self._arguments.positional(args, kwargs)
        leaves, structure = self._arguments.flatten(args, range(len(args)))
        results = custom_calls.Results()

        def call(*flat: Any) -> list[Any]:
            out = fun(*structure.unflatten(flat))
            outs, out_structure = custom_calls.flatten_results("custom_vmap", fun, out)
            results.structure = out_structure
            return outs

        rule = _Rule(self, structure, results)
        outs = custom_vmap_call_p.bind(
            *leaves,
            call_jaxpr=functions.Function(call, fun),
            rule=functions.Function(rule, self.vmap_rule),
            num_consts=0,
            name=self.__name__,
        )
        return results.structure.unflatten(outs)


class _Rule:
    """The user's rule on flat values, for the primitive."""

    __slots__ = ("name", "results", "rule", "structure")

    def __init__(self, owner: Any, structure: Any, results: Any) -> None:
        self.name = owner.__name__
        self.rule = owner.vmap_rule
        self.structure = structure
        self.results = results

    def __call__(
        self, size: int, mapped: Sequence[bool], args: Sequence[Any]
    ) -> tuple[list[Any], list[bool]]:
        flags = list(self.structure.unflatten(mapped))
        pair = self.rule(size, flags, *self.structure.unflatten(args))
        rule = inner_programs.fun_text(self.rule)
        described = f"custom_vmap: the rule {rule} of {self.name}"
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"{described} must return a pair of results and of bools that say "
                f"which are batched, got {inner_programs.value_text(pair)}"
            )
        outs, structure = custom_calls.flatten_results(
            "custom_vmap", self.rule, pair[0]
        )
        self.results.agree("custom_vmap", self.name, self.rule, structure)
        out_flags, flag_structure = tree.tree_flatten(pair[1])
        if flag_structure != structure:
            where = inner_programs.structure_mismatch(
                flag_structure, structure, "out_batched", "the result"
            )
            raise ValueError(
                f"{described} must say of each result whether it is batched, got "
                f"{where}"
            )
        for x, m, path in zip(outs, out_flags, _paths(structure), strict=True):
            _check_result(described, x, m, path, size)
        return outs, [bool(m) for m in out_flags]


def _paths(structure: Any) -> list[str]:
    return [tree.keystr(path) for path in tree.leaf_key_paths(structure)]


def _check_result(described: str, x: Any, mapped: Any, path: str, size: int) -> None:
    if not isinstance(mapped, (bool, int)):
        raise TypeError(
            f"{described} must return bools with its results, got "
            f"{inner_programs.value_text(mapped)} at out_batched{path}"
        )
    shape = avals_.aval_of(x).shape
    if mapped and (not shape or shape[0] != size):
        raise ValueError(
            f"{described} must return batched results with a leading axis of size "
            f"{size}, got {avals_.aval_of(x).short()} at result{path}; move the axis, "
            "or say that the result is not batched"
        )


def sequential_vmap(f: Callable[P, R]) -> custom_vmap[P, R]:
    """A function that vmap maps by a loop, one call after the other.

    For functions that have no batching rule, or whose batched form takes too much
    memory.

    Args:
      f: a function of arrays and pytrees of them.

    Returns:
      A function like `f`.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> from olympus.custom_batching import sequential_vmap
      >>> program = olympus.make_olympuspr(olympus.vmap(sequential_vmap(onp.sin)))
      >>> print(program(onp.ones(3)).eqns[0].primitive)
      scan
    """
    mapped = custom_vmap(f)
    call: Callable[..., Any] = mapped

    def one_by_one(axis_size: int, in_batched: Any, *args: Any) -> Any:
        leaves, structure = tree.tree_flatten(args)
        flags = tree.tree_leaves(tuple(in_batched))
        chosen = [i for i, m in enumerate(flags) if m]

        def step(some: Any) -> Any:
            arguments = list(leaves)
            for i, x in zip(chosen, some, strict=True):
                arguments[i] = x
            return call(*structure.unflatten(arguments))

        out = loops.map_(step, [leaves[i] for i in chosen])
        return out, tree.tree_map(lambda _: True, out)

    mapped.def_vmap(one_by_one)
    return mapped
