"""`custom_linear_solve`: the solution of A x = b by a user's method.

Its derivative does not go through the method. From A dx = db - dA x follow tangents, by
one more solve; cotangents solve with the transpose of A.
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
from olympus._src.core.symbolic_values import Linear, Zero
from olympus._src.interpreters import ad, batching, partial_eval
from olympus._src.lax import elementwise, families
from olympus._src.programs import inner_programs


class _LinearSolveTuple(NamedTuple):
    """A value for each of the functions of one solve."""

    matvec: Any
    vecmat: Any
    solve: Any
    transpose_solve: Any

    def transposed(self) -> _LinearSolveTuple:
        """The same for the transposed problem."""
        return _LinearSolveTuple(
            self.vecmat, self.matvec, self.transpose_solve, self.solve
        )


def _divide(items: Sequence[Any], sizes: Sequence[int]) -> list[list[Any]]:
    """Items in groups of given sizes, and those that are left."""
    left = len(items) - sum(sizes)
    return inner_programs.split_by_sizes(items, [*sizes, left])


# -- rules -----------------------------------------------------------------------------


def _abstract(*args: Any, jaxprs: Any, **params: Any) -> Any:
    return jaxprs.solve.out_avals


def _effects(*args: Any, jaxprs: Any, **params: Any) -> Any:
    return inner_programs.join_effects("custom_linear_solve", jaxprs.solve)


def _check(*args: Any, const_lengths: Any, jaxprs: Any) -> None:
    _, _, consts, _, b = _divide(args, const_lengths)
    inner_programs.check_operand_types(
        "custom_linear_solve", consts + b, jaxprs.solve.in_avals
    )


def _decompose(*args: Any, const_lengths: Any, jaxprs: Any) -> Any:
    _, _, consts, _, b = _divide(args, const_lengths)
    return ir.program_as_function(jaxprs.solve)(*consts, *b)


def _jvp(primals: Any, tangents: Any, *, const_lengths: Any, jaxprs: Any) -> Any:
    params = {"const_lengths": const_lengths, "jaxprs": jaxprs}
    groups, slopes = _divide(primals, const_lengths), _divide(tangents, const_lengths)
    n = len(groups[-1])
    outs = custom_linear_solve_p.bind(*primals, **params)
    right = slopes[-1]
    if any(type(t) is not Zero for t in slopes[0]):
        # Of A x as a function of what A is made of, at x.
        x = outs[:n]
        zeros = [Zero(avals_.aval_of(v).to_tangent()) for v in x]
        matvec = ir.program_as_function(jaxprs.matvec)
        _, product_slopes = ad.jvp(matvec, groups[0] + x, slopes[0] + zeros)
        right = [_minus(t, m) for t, m in zip(right, product_slopes, strict=True)]
    out_tangents: list[Any] = [Zero(avals_.aval_of(v).to_tangent()) for v in outs]
    if any(type(t) is not Zero for t in right):
        rhs = [families.instantiate(t) for t in right]
        operands = [x for group in groups[:-1] for x in group]
        solution = custom_linear_solve_p.bind(*operands, *rhs, **params)
        out_tangents[:n] = solution[:n]
    return outs, out_tangents


def _minus(x: Any, y: Any) -> Any:
    return x if type(y) is Zero else families.add_tangents(x, elementwise.neg_p.bind(y))


def _transpose(cts: Any, *args: Any, const_lengths: Any, jaxprs: Any) -> Any:
    if jaxprs.transpose_solve is None:
        raise TypeError(
            "custom_linear_solve: reverse-mode differentiation (grad, vjp) needs a "
            "solve of the transposed problem, got none; pass transpose_solve, or "
            "symmetric=True if the matrix is symmetric"
        )
    *groups, b = _divide(args, const_lengths)
    n_consts = len(args) - len(b)
    if any(type(x) is Linear for group in groups for x in group):
        raise TypeError(
            "custom_linear_solve: it can be transposed with respect to b only, got a "
            "function that is linear in the values of the matrix; differentiate it "
            "instead"
        )
    if all(type(ct) is Zero for ct in cts[: len(b)]):
        return [None] * n_consts + [Zero(x.aval) for x in b]
    operands = [
        x for i in (1, 0, 3, 2) for x in groups[i]
    ]  # in the order of the transposed problem
    solution = custom_linear_solve_p.bind(
        *operands,
        *[families.instantiate(ct) for ct in cts[: len(b)]],
        const_lengths=const_lengths.transposed(),
        jaxprs=jaxprs.transposed(),
    )
    return [None] * n_consts + solution[: len(b)]


def _batch(axis: Any, args: Any, dims: Any, *, const_lengths: Any, jaxprs: Any) -> Any:
    """Maps all of the functions, each from mapped vectors to such."""
    *consts, b = _divide(args, const_lengths)
    *const_dims, b_dims = _divide(dims, const_lengths)
    n = len(b)
    new: list[Any] = []
    new_consts: list[list[Any]] = []
    for closed, own, own_dims in zip(jaxprs, consts, const_dims, strict=True):
        if closed is None:
            new.append(None)
            new_consts.append(own)
            continue
        in_dims = (*own_dims, *[0] * n)
        force = [True] * n + [False] * (len(closed.out_avals) - n)
        batched, out_dims = batching.batch_olympuspr(closed, axis, in_dims, force)
        batched, more = inner_programs.absorb(batched)
        if closed is jaxprs.solve:
            results = out_dims
        new.append(batched)
        new_consts.append(more + own)
    outs = custom_linear_solve_p.bind(
        *[x for group in new_consts for x in group],
        *[families.at_front(axis, x, d) for x, d in zip(b, b_dims, strict=True)],
        const_lengths=_LinearSolveTuple(*map(len, new_consts)),
        jaxprs=_LinearSolveTuple(*new),
    )
    return outs, results


custom_linear_solve_p = Primitive(
    "custom_linear_solve",
    vary=as_abstract_says,
    multiple_results=True,
    abstract=_abstract,
    key_reuse=LateRule("custom_rules.key_reuse", "solver"),
    effects=_effects,
    check=_check,
    decompose=_decompose,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    checkify=control_flow.solver,
    impl=inner_programs.compiled_impl(),
)


# -- what users call -------------------------------------------------------------------


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: PyTree,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> PyTree:
    """Solves A x = b by a custom method, differentiable whatever the method is.

    Derivatives follow from the equation: they need A, its transpose, and solves with
    them, but not the derivative of `solve`. What `matvec` closes over gets gradients.

    Args:
      matvec: A as a linear function of vectors of the type of `b`.
      b: the right side, an array or a tree of arrays.
      solve: `solve(matvec, b)` returns x, of the type of `b`.
      transpose_solve: `transpose_solve(vecmat, b)` solves with the transpose of A, for
        which it gets `vecmat`; needed for reverse mode unless `symmetric`.
      symmetric: A is its own transpose, and `solve` serves for both.
      has_aux: the solves return a pair of x and auxiliary values, which have no
        derivative.

    Returns:
      x, or the pair of x and the auxiliary values of `solve`.

    Raises:
      TypeError: a function returns another structure or dtype than `b` has, `matvec` is
        not linear, or reverse mode has no `transpose_solve`.
      ValueError: a function returns another shape than `b` has.

    Example:
      >>> import numpy as np
      >>> import olympus
      >>> from olympus import lax
      >>> def solve_2x(a, b):
      ...     def by_division(matvec, b):
      ...         return b / (2.0 * a)
      ...     return lax.custom_linear_solve(
      ...         lambda x: 2.0 * a * x, b, by_division, symmetric=True
      ...     )
      >>> for slope in olympus.grad(solve_2x, (0, 1))(2.0, 8.0):
      ...     print(slope)
      -1.0
      0.25
    """
    inner_programs.check_callable("custom_linear_solve", matvec=matvec, solve=solve)
    if transpose_solve is not None:
        inner_programs.check_callable(
            "custom_linear_solve", transpose_solve=transpose_solve
        )
    elif symmetric:
        transpose_solve = solve
    leaves, structure = inner_programs.flatten_operands("custom_linear_solve", "b", b)
    in_avals = [avals_.aval_of(x) for x in leaves]
    in_tree = tree.tree_structure((b,))
    traced = inner_programs.trace_body(matvec, "custom_linear_solve", in_tree, in_avals)
    _check_vector("matvec", matvec, traced.trees[0], traced.out_avals, b, in_avals)

    def by(method: Any, product: Any, name: str) -> inner_programs.Body:
        def solving(b: Any) -> Any:
            return method(product, b)

        split = None
        if has_aux:
            split = inner_programs.pair_splitter("custom_linear_solve", name, method)
        body = inner_programs.trace_body(
            solving, "custom_linear_solve", in_tree, in_avals, split
        )
        outs = body.out_avals[: body.trees[0].num_leaves]
        _check_vector(name, method, body.trees[0], outs, b, in_avals)
        return body

    solved = by(solve, matvec, "solve")
    bodies = [traced, None, solved, None]
    if transpose_solve is not None:
        bodies[1] = traced if symmetric else _transpose_matvec(traced, matvec, in_avals)
        vecmat = matvec if symmetric else _as_user_function(bodies[1], structure)
        bodies[3] = by(transpose_solve, vecmat, "transpose_solve")
    consts = [[] if body is None else body.consts for body in bodies]
    outs = custom_linear_solve_p.bind(
        *[x for group in consts for x in group],
        *leaves,
        const_lengths=_LinearSolveTuple(*map(len, consts)),
        jaxprs=_LinearSolveTuple(*[b if b is None else b.close() for b in bodies]),
    )
    return inner_programs.unflatten_solution(outs, solved, leaves, structure, has_aux)


def _check_vector(
    name: str, fun: Any, structure: Any, avals: Any, b: Any, expected: Any
) -> None:
    inner_programs.check_like(
        "custom_linear_solve", name, fun, structure, avals, "b", b, expected
    )


def _transpose_matvec(
    body: inner_programs.Body, matvec: Any, in_avals: Sequence[Any]
) -> inner_programs.Body:
    """The transpose of A as a program, whose constants are those of A."""
    closed = body.close()
    n_consts, n = len(body.consts), len(in_avals)
    nonzero = [False] * n_consts + [True] * n
    if not all(dtypes.issubdtype(a.dtype, np.inexact) for a in in_avals):
        # Integers have no derivative to transpose in place of the program.
        back, _ = ad.transpose_olympuspr(
            closed.olympuspr, nonzero, [True] * n, [True] * n
        )
        return _as_body(matvec, back, body, n_consts)
    forward, linear, zeros = ad.linearize_olympuspr(closed.olympuspr, nonzero)
    n_residuals = len(forward.olympuspr.outvars) - n
    residual_program = _program_of_residuals(matvec, forward.olympuspr, n_consts, n)
    flows = [z is None for z in zeros]
    back, _ = ad.transpose_olympuspr(
        linear.olympuspr,
        [False] * n_residuals + [True] * n,
        [True] * sum(flows),
        [True] * n,
    )

    def run(*args: Any) -> list[Any]:
        consts, cts = args[:n_consts], args[n_consts:]
        residuals = ir.eval_olympuspr(residual_program, forward.consts, *consts)
        nonzero_cts = [ct for ct, f in zip(cts, flows, strict=True) if f]
        return ir.program_as_function(back)(*residuals, *nonzero_cts)

    const_avals = closed.in_avals[:n_consts]
    info = inner_programs.forget_argument_names(body.program.debug_info)
    program, more = partial_eval.trace_to_olympuspr(
        run, [*const_avals, *in_avals], info or ir.DebugInfo("transpose", "matvec")
    )
    return _as_body(matvec, ir.ClosedOlympuspr(program, more), body, n_consts)


def _program_of_residuals(
    matvec: Any, forward: ir.Olympuspr, n_consts: int, n: int
) -> ir.Olympuspr:
    """What the derivative of A keeps, from what A is made of.

    Raises:
      TypeError: it depends on the vector.
    """
    used = [False] * n + [True] * (len(forward.outvars) - n)
    program, needed = partial_eval.dce_olympuspr(
        forward, used, [True] * n_consts + [False] * n
    )
    if any(needed[n_consts:]):
        raise TypeError(
            f"custom_linear_solve: matvec {inner_programs.fun_text(matvec)} must be "
            "linear, got a function whose derivative depends on its argument; leave "
            "out products of the argument with itself, and functions like sin"
        )
    return program


def _as_body(
    matvec: Any, closed: ir.ClosedOlympuspr, body: inner_programs.Body, n_consts: int
) -> inner_programs.Body:
    """A program whose first inputs are the constants of another body."""
    program = closed.olympuspr
    open_ = program.replace(
        constvars=program.constvars + program.invars[:n_consts],
        invars=program.invars[n_consts:],
    )
    return inner_programs.Body(matvec, open_, closed.consts + body.consts, body.trees)


def _as_user_function(body: Any, structure: Any) -> Any:
    """A program as a function of trees."""

    def vecmat(x: Any) -> Any:
        leaves, arg_structure = tree.tree_flatten(x)
        if arg_structure != structure:
            places = inner_programs.structure_mismatch(
                structure, arg_structure, "b", "the argument"
            )
            raise TypeError(
                f"custom_linear_solve: vecmat takes the structure of b, got {places}"
            )
        outs = ir.eval_olympuspr(body.program, body.consts, *leaves)
        return structure.unflatten(outs)

    return vecmat
