"""Products of matrices in the order of operands that their readers want.

`vmap` of the product of a matrix and a vector, and gradients of products, transpose
what they compute, or what is made of it element by element. XLA exchanges the operands
instead, but late: by then what follows is apart from the product, and is computed again
in each product with a vector that reads it, in loops that are not vectorized.
Exchanged before, the product ends in what follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from olympus._src.core import ir
from olympus._src.interpreters import rewriting
from olympus._src.lax.contraction import dot_general_p
from olympus._src.lax.families import transpose_p


def exchange(program: ir.Olympuspr) -> ir.Olympuspr:
    """The program, with operands exchanged where only the transposed result is read.

    Args:
      program: any program; those within it are changed, too.

    Returns:
      The same object where there is no such product.
    """
    return rewriting.rewrite(program, "transposed products", _has_both, _exchange)


def _has_both(program: ir.Olympuspr) -> bool:
    counts = ir.primitives_of(program)
    return transpose_p in counts and dot_general_p in counts


def _exchange(program: ir.Olympuspr) -> ir.Olympuspr:
    changes: dict[ir.Eqn, ir.Eqn | None] = {}
    for chain in _find_chains(program):
        _write(chain, changes)
    if not changes:
        return program
    eqns = [changes.get(eqn, eqn) for eqn in program.eqns]
    return program.replace(
        eqns=[eqn for eqn in eqns if eqn is not None], effects=program.effects
    )


def _find_chains(program: ir.Olympuspr) -> list[list[ir.Eqn]]:
    """Products, each with the only equation that reads it and so on up to a transpose.

    No equation between the two combines what it reads with other arrays.
    """
    # By the values in them, and by the products' operands; empty ones are given up.
    chains: dict[Any, list[ir.Eqn]] = {}
    products: dict[Any, list[ir.Eqn]] = {}
    reads_none_of = chains.keys().isdisjoint
    for eqn in program.eqns:
        if not reads_none_of(eqn.invars):
            _continue_chains(eqn, chains)
        if eqn.primitive is dot_general_p:
            chains[eqn.outvars[0]] = chain = [eqn] if _is_plain(eqn.params) else []
            equal = products.setdefault(tuple(map(id, eqn.invars)), chain)
            if equal is not chain:  # computed once, unless operands of one change
                equal.clear()
                chain.clear()
    for v in program.outvars:
        if v in chains:
            chains[v].clear()
    return [c for c in products.values() if c and c[-1].primitive is transpose_p]


def _is_plain(params: Mapping[str, Any]) -> bool:
    """Whether a product has no parameters that name its first operand or its axes."""
    is_algorithm = type(params["precision"]) not in (tuple, type(None))
    return params["out_sharding"] is None and not is_algorithm


def _continue_chains(eqn: ir.Eqn, chains: dict[Any, list[ir.Eqn]]) -> None:
    """Puts an equation at the end of the chain that it reads, or gives that up."""
    for v in eqn.invars:
        chain = chains.get(v)
        if not chain or chain[-1] is eqn:  # which reads it twice
            continue
        if v is not chain[-1].outvars[0]:
            chain.clear()
        elif eqn.primitive is transpose_p:
            is_exchanging = list(eqn.params["permutation"]) == _exchanging(chain[0])
            chain[:] = [*chain, eqn] if is_exchanging else []
        elif _is_of_one_array(eqn, v):
            chain.append(eqn)
            chains[eqn.outvars[0]] = chain
        else:
            chain.clear()


def _is_of_one_array(eqn: ir.Eqn, v: Any) -> bool:
    """Whether an equation makes its one result of a value's elements and of scalars."""
    if len(eqn.outvars) > 1 or not rewriting.is_elementwise(eqn, v.aval.shape):
        return False
    return all(a is v or not a.aval.shape for a in eqn.invars)


def _exchanging(product: ir.Eqn) -> list[int]:
    """The permutation that puts the axes of the second operand before the first's."""
    (contracted, _), (batch, _) = product.params["dimension_numbers"]
    n_batch, n_first = len(batch), product.invars[0].aval.ndim - len(contracted)
    rank = product.outvars[0].aval.ndim
    return [*range(n_batch), *range(n_first, rank), *range(n_batch, n_first)]


def _write(chain: Sequence[ir.Eqn], changes: dict[ir.Eqn, ir.Eqn | None]) -> None:
    """Adds what stands for a product and for each equation up to the transpose."""
    *steps, transposing = chain
    (last,) = transposing.outvars
    replaced: dict[Any, Any] = {}
    for step in steps:
        (v,) = step.outvars
        replaced[v] = last
        if step is not steps[-1]:
            replaced[v] = ir.Var(v.aval.update(shape=last.aval.shape))
        if step is chain[0]:
            step_again = _with_exchanged_operands(step)
        else:
            step_again = step.replace(invars=[replaced.get(a, a) for a in step.invars])
        changes[step] = step_again.replace(outvars=[replaced[v]])
    changes[transposing] = None


def _with_exchanged_operands(product: ir.Eqn) -> ir.Eqn:
    first, second = product.invars
    (cx, cy), (bx, by) = product.params["dimension_numbers"]
    precision = product.params["precision"]
    params = {
        **product.params,
        "dimension_numbers": ((cy, cx), (by, bx)),
        "precision": None if precision is None else precision[::-1],
    }
    return product.replace(invars=[second, first], params=params)
