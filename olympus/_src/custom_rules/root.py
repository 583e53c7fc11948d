"""`custom_root`: a root of a function by a user's method.

Its derivative does not go through the method. Where f(x, a) = 0 holds for all a, so
does f_x dx + f_a da = 0: one linear solve gives dx.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.checkify import control_flow
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, ir
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import LateRule, Primitive, as_abstract_says
from olympus._src.core.symbolic_values import Zero
from olympus._src.interpreters import ad, batching
from olympus._src.lax import elementwise, families
from olympus._src.programs import inner_programs


class _RootTuple(NamedTuple):
    """A value for each of the functions of one root.

    `f` takes x; `solve` takes the first guess; `tangent_solve` takes x and the right
    side of the linear problem there.
    """

    f: Any
    solve: Any
    tangent_solve: Any


class Parts:
    """The operands of one application, by what they are for."""

    __slots__ = ("f", "guess", "solve", "tangent_solve")

    def __init__(self, items: Sequence[Any], const_lengths: Any) -> None:
        ends = np.cumsum(const_lengths)
        self.f = list(items[: ends[0]])
        self.solve = list(items[ends[0] : ends[1]])
        self.tangent_solve = list(items[ends[1] : ends[2]])
        self.guess = list(items[ends[2] :])


# -- rules -----------------------------------------------------------------------------


def _abstract(*args: Any, jaxprs: Any, **params: Any) -> Any:
    return jaxprs.solve.out_avals


def _effects(*args: Any, jaxprs: Any, **params: Any) -> Any:
    return inner_programs.join_effects("custom_root", jaxprs.solve)


def _check(*args: Any, const_lengths: Any, jaxprs: Any) -> None:
    parts = Parts(args, const_lengths)
    operands = parts.solve + parts.guess
    inner_programs.check_operand_types("custom_root", operands, jaxprs.solve.in_avals)


def _decompose(*args: Any, const_lengths: Any, jaxprs: Any) -> Any:
    parts = Parts(args, const_lengths)
    return ir.program_as_function(jaxprs.solve)(*parts.solve, *parts.guess)


def _jvp(primals: Any, tangents: Any, *, const_lengths: Any, jaxprs: Any) -> Any:
    params = {"const_lengths": const_lengths, "jaxprs": jaxprs}
    parts, slopes = Parts(primals, const_lengths), Parts(tangents, const_lengths)
    n = len(parts.guess)
    outs = custom_root_p.bind(*primals, **params)
    out_tangents: list[Any] = [Zero(avals_.aval_of(v).to_tangent()) for v in outs]
    x = outs[:n]
    f = ir.program_as_function(jaxprs.f)
    _, f_slopes = ad.jvp(f, parts.f + x, slopes.f + out_tangents[:n])
    if all(type(t) is Zero for t in f_slopes):
        return outs, out_tangents
    right = [families.instantiate(t) for t in f_slopes]
    linear = ir.program_as_function(jaxprs.tangent_solve)
    corrections = linear(*parts.tangent_solve, *x, *right)
    out_tangents[:n] = [elementwise.neg_p.bind(t) for t in corrections]
    return outs, out_tangents


def _batch(axis: Any, args: Any, dims: Any, *, const_lengths: Any, jaxprs: Any) -> Any:
    """Maps all of the functions, each from mapped roots to such."""
    parts, dims_of = Parts(args, const_lengths), Parts(dims, const_lengths)
    n = len(parts.guess)

    def mapped(
        closed: Any, consts: list[Any], const_dims: list[Any], inputs: int
    ) -> Any:
        in_dims = (*const_dims, *[0] * inputs)
        force = [True] * n + [False] * (len(closed.out_avals) - n)
        new, out_dims = batching.batch_olympuspr(closed, axis, in_dims, force)
        new, more = inner_programs.absorb(new)
        return new, more + consts, out_dims

    f, f_consts, _ = mapped(jaxprs.f, parts.f, dims_of.f, n)
    solve, solve_consts, out_dims = mapped(jaxprs.solve, parts.solve, dims_of.solve, n)
    linear, linear_consts, _ = mapped(
        jaxprs.tangent_solve, parts.tangent_solve, dims_of.tangent_solve, 2 * n
    )
    guess = [
        families.at_front(axis, x, d)
        for x, d in zip(parts.guess, dims_of.guess, strict=True)
    ]
    consts = (f_consts, solve_consts, linear_consts)
    outs = custom_root_p.bind(
        *[x for group in consts for x in group],
        *guess,
        const_lengths=_RootTuple(*map(len, consts)),
        jaxprs=_RootTuple(f, solve, linear),
    )
    return outs, out_dims


custom_root_p = Primitive(
    "custom_root",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("custom_rules.key_reuse", "solver"),
    effects=_effects,
    check=_check,
    decompose=_decompose,
    jvp=_jvp,
    batch=_batch,
    checkify=control_flow.solver,
    impl=inner_programs.compiled_impl(),
)


# -- what users call -------------------------------------------------------------------


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: PyTree,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> PyTree:
    """A root of `f` by a custom method, differentiable whatever the method is.

    Derivatives follow from f(x) = 0 by the implicit function theorem. What `f` closes
    over gets gradients; the first guess has none, as the root does not depend on it.

    Args:
      f: a function from an array or a tree of arrays to one of the same type.
      initial_guess: where to start, of floats or complex numbers.
      solve: `solve(f, initial_guess)` returns the root.
      tangent_solve: `tangent_solve(g, y)` returns the x for which g(x) is y; `g` is `f`
        linearised at the root.
      has_aux: `solve` returns a pair of the root and auxiliary values, without
        derivative.

    Returns:
      The root, or the pair of the root and the auxiliary values of `solve`.

    Raises:
      TypeError: a function returns another structure or dtype than the guess has, or
        the guess is not of floats or complex numbers.
      ValueError: a function returns another shape than the guess has.

    Source: the implicit function theorem.

    Example:
      >>> import olympus
      >>> from olympus import lax
      >>> def square_root(a):
      ...     def newton(f, x):
      ...         return lax.fori_loop(0, 9, lambda i, x: 0.5 * (x + a / x), x)
      ...     return lax.custom_root(
      ...         lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0)
      ...     )
      >>> olympus.grad(square_root)(4.0)
      Array(0.25, dtype=float32, weak_type=True)
    """
    inner_programs.check_callable(
        "custom_root", f=f, solve=solve, tangent_solve=tangent_solve
    )
    leaves, structure = inner_programs.flatten_operands(
        "custom_root", "initial_guess", initial_guess
    )
    in_avals = [avals_.aval_of(x) for x in leaves]
    _check_guess(structure, in_avals)

    def like_guess(name: str, fun: Any, out_tree: Any, avals: Any) -> None:
        model = ("initial_guess", initial_guess, in_avals)
        inner_programs.check_like("custom_root", name, fun, out_tree, avals, *model)

    in_tree = tree.tree_structure((initial_guess,))
    function = inner_programs.trace_body(f, "custom_root", in_tree, in_avals)
    like_guess("f", f, function.trees[0], function.out_avals)
    split = (
        inner_programs.pair_splitter("custom_root", "solve", solve) if has_aux else None
    )
    solved = inner_programs.trace_body(
        lambda guess: solve(f, guess), "custom_root", in_tree, in_avals, split
    )
    outs = solved.out_avals[: solved.trees[0].num_leaves]
    like_guess("solve", solve, solved.trees[0], outs)
    linear = _trace_tangent_solve(function, tangent_solve, structure, in_avals)
    like_guess("tangent_solve", tangent_solve, linear.trees[0], linear.out_avals)
    bodies = (function, solved, linear)
    results = custom_root_p.bind(
        *[x for body in bodies for x in body.consts],
        *leaves,
        const_lengths=_RootTuple(*[len(body.consts) for body in bodies]),
        jaxprs=_RootTuple(*[body.close() for body in bodies]),
    )
    return inner_programs.unflatten_solution(
        results, solved, leaves, structure, has_aux
    )


def _check_guess(structure: Any, avals: Sequence[Any]) -> None:
    for path, aval in zip(tree.leaf_key_paths(structure), avals, strict=True):
        if not dtypes.issubdtype(aval.dtype, np.inexact):
            raise TypeError(
                f"custom_root: initial_guess{tree.keystr(path)} must be of floats or "
                f"complex numbers, got {aval.short()}; convert it, as with astype"
            )


def _trace_tangent_solve(
    function: inner_programs.Body,
    tangent_solve: Any,
    structure: Any,
    in_avals: list[Any],
) -> inner_programs.Body:
    """The linear solve as a program of x and of the right side."""

    def run(x: Any, y: Any) -> Any:
        def f(*leaves: Any) -> list[Any]:
            return ir.eval_olympuspr(function.program, function.consts, *leaves)

        info = inner_programs.forget_argument_names(function.program.debug_info)
        leaves = tree.tree_flatten(x)[0]
        _, linear = ad.linearize(f, leaves, info, [True] * len(leaves))
        return tangent_solve(_as_user_function(linear, structure, in_avals), y)

    run.__wrapped__ = tangent_solve  # type: ignore[attr-defined]
    in_tree = tree.treedef_tuple((structure, structure))
    return inner_programs.trace_body(run, "custom_root", in_tree, in_avals * 2)


def _as_user_function(
    linear: ad.LinearProgram, structure: Any, expected: Sequence[Any]
) -> Callable[[Any], Any]:
    """The linearised function as one of trees."""

    def g(x: Any) -> Any:
        leaves, arg_structure = inner_programs.flatten_operands(
            "custom_root", "g's argument", x
        )
        avals = [avals_.aval_of(leaf) for leaf in leaves]
        places = "; ".join(
            [
                inner_programs.structure_mismatch(
                    structure, arg_structure, "the root", "the argument"
                )
            ]
            if arg_structure != structure
            else inner_programs.type_mismatches(structure, avals, expected, "argument")
        )
        if places:
            raise TypeError(
                "custom_root: the linear function for tangent_solve takes values "
                f"with the structure and types of the root, got {places}"
            )
        return structure.unflatten(map(families.instantiate, linear.apply(leaves)))

    return g
