"""Factors and solutions of many small matrices, element by element.

LAPACK takes one matrix after another, 0.1 microseconds or more each. Written out for
matrices of a few rows, with each element an array over all matrices, the same
eliminations with the same exchanges of rows run on whole vectors: 3 to 10 times faster.
From 4 x 4 on the written-out elimination grows too long to compile; `matrix_kernels`
takes those.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.core import avals
from olympus._src.core.sizes import at_least
from olympus._src.lax import concatenation, elementwise, families, shaping, stacking
from olympus._src.lax.linalg import matrices

Rows = list[list[Any]]
Replacement = Callable[..., Any] | None

FEWEST = 1000  # matrices, below which it is not worth compiling more
_MOST_ELIMINATED = 3
_MOST_SUBSTITUTED = 4
_MOST_UNKNOWNS = 9  # of one matrix


def _fits(platform: str, x: Any, most: int) -> bool:
    many = math.prod(x.shape[:-2])
    real = x.dtype.name in matrices.REAL
    return (
        platform == "cpu"
        and real
        and 0 < x.shape[-1] <= most
        and at_least(many, FEWEST)
    )


def _elements(x: Any) -> Rows:
    """Each element of the matrices, as an array over all of them."""
    shape = avals.aval_of(x).shape
    many, rank = shape[:-2], len(shape)

    def at(i: int, j: int) -> Any:
        one = concatenation.slice_(x, [0] * (rank - 2) + [i, j], [*many, i + 1, j + 1])
        return shaping.reshape(one, many)

    return [[at(i, j) for j in range(shape[-1])] for i in range(shape[-2])]


def _matrix(rows: Rows) -> Any:
    last = avals.aval_of(rows[0][0]).ndim
    return stacking.stack([stacking.stack(row, last) for row in rows], last)


def _constant_like(x: Any, value: Any, dtype: Any) -> Any:
    return shaping.full(avals.aval_of(x).shape, value, dtype)


# -- LU --------------------------------------------------------------------------------


def choose_lu(platform: str, x: Any) -> Replacement:
    """What to lower in place of `lu`, or None."""
    square = x.shape[-1] == x.shape[-2]
    return _lu if square and _fits(platform, x, _MOST_ELIMINATED) else None


def _lu(x: Any) -> list[Any]:
    """Elimination with the largest element of each column as its pivot."""
    rows = _elements(x)
    n = len(rows)
    order = [_constant_like(rows[0][0], i, np.int32) for i in range(n)]
    pivots = []
    for k in range(n):
        place = _place_of_pivot(rows, k)
        pivots.append(place)
        for i in range(k + 1, n):
            here = elementwise.eq(place, np.int32(i))
            rows[k], rows[i] = _exchange_rows(here, rows[k], rows[i])
            (order[k],), (order[i],) = _exchange_rows(here, [order[k]], [order[i]])
        _eliminate(rows, k)
    last = avals.aval_of(pivots[0]).ndim
    return [_matrix(rows), stacking.stack(pivots, last), stacking.stack(order, last)]


def _place_of_pivot(rows: Rows, k: int) -> Any:
    """The row of the first of the largest elements in column k, from row k on."""
    largest = elementwise.abs_(rows[k][k])
    place = _constant_like(largest, k, np.int32)
    for i in range(k + 1, len(rows)):
        size = elementwise.abs_(rows[i][k])
        larger = elementwise.gt(size, largest)
        largest = elementwise.select(larger, size, largest)
        here = _constant_like(largest, i, np.int32)
        place = elementwise.select(larger, here, place)
    return place


def _exchange_rows(flag: Any, first: list[Any], second: list[Any]) -> Any:
    """Two rows, exchanged in those matrices where the flag is set."""
    pairs = list(zip(first, second, strict=True))
    return (
        [elementwise.select(flag, y, x) for x, y in pairs],
        [elementwise.select(flag, x, y) for x, y in pairs],
    )


def _eliminate(rows: Rows, k: int) -> None:
    """Subtracts row k from those below; a column of zeros is left as it is."""
    pivot = rows[k][k]
    zero = elementwise.eq(pivot, families.full_like(pivot, 0))
    divisor = elementwise.select(zero, families.full_like(pivot, 1), pivot)
    for i in range(k + 1, len(rows)):
        factor = elementwise.div(rows[i][k], divisor)
        rows[i] = [
            *rows[i][:k],
            factor,
            *[
                elementwise.sub(x, elementwise.mul(factor, y))
                for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)
            ],
        ]


# -- triangular systems ----------------------------------------------------------------


def choose_triangular(
    platform: str, a: Any, b: Any, *, left_side: bool, **params: Any
) -> Replacement:
    """What to lower in place of `triangular_solve`, or None."""
    if not are_substituted(platform, a, b):
        return None
    return lambda a, b: _triangular(a, b, left_side=left_side, **params)


def are_substituted(platform: str, a: Any, b: Any) -> bool:
    """Whether triangular systems of such matrices and right-hand sides are written."""
    few = b.shape[-1] * b.shape[-2] <= _MOST_UNKNOWNS
    return few and _fits(platform, a, _MOST_SUBSTITUTED)


def _triangular(
    a: Any,
    b: Any,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Any:
    """Substitution; `X op(A) = B` is `op(A)^T X^T = B^T`."""
    factors, sides = _elements(a), _elements(b)
    if transpose_a == left_side:
        factors = _transpose_rows(factors)
        lower = not lower
    if not left_side:
        sides = _transpose_rows(sides)
    solution = solve_triangular_rows(
        factors, sides, lower=lower, unit_diagonal=unit_diagonal
    )
    return _matrix(solution if left_side else _transpose_rows(solution))


def _transpose_rows(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def solve_triangular_rows(
    factors: Rows, sides: Rows, *, lower: bool, unit_diagonal: bool
) -> Rows:
    """Rows x with `factors x = sides`, by forward or backward substitution."""
    n = len(factors)
    solution: Rows = [[] for _ in range(n)]
    places = range(n) if lower else range(n - 1, -1, -1)
    for i in places:
        known = range(i) if lower else range(n - 1, i, -1)
        row = sides[i]
        for j in known:
            row = [
                elementwise.sub(x, elementwise.mul(factors[i][j], y))
                for x, y in zip(row, solution[j], strict=True)
            ]
        if not unit_diagonal:
            row = [elementwise.div(x, factors[i][i]) for x in row]
        solution[i] = row
    return solution


def choose_solution(
    platform: str, a: Any, packed: Any, order: Any, b: Any, **params: Any
) -> Replacement:
    """What to lower in place of `lu_solve`, or None."""
    if params["transpose_a"] or not are_substituted(platform, packed, b):
        return None
    return _solution


def _solution(a: Any, packed: Any, order: Any, b: Any) -> Any:
    """P a = L U: the rows of b in that order, then both substitutions."""
    factors, sides = _elements(packed), _elements(b)
    n, last = len(factors), avals.aval_of(order).ndim - 1
    places = [
        shaping.squeeze(concatenation.slice_in_dim(order, i, i + 1, axis=last), (last,))
        for i in range(n)
    ]
    moved = []
    for place in places:
        row = sides[0]
        for i in range(1, n):
            here = elementwise.eq(place, np.int32(i))
            row = [
                elementwise.select(here, x, y)
                for x, y in zip(sides[i], row, strict=True)
            ]
        moved.append(row)
    half = solve_triangular_rows(factors, moved, lower=True, unit_diagonal=True)
    return _matrix(
        solve_triangular_rows(factors, half, lower=False, unit_diagonal=False)
    )


# -- Cholesky --------------------------------------------------------------------------


def choose_cholesky(platform: str, x: Any) -> Replacement:
    """What to lower in place of `cholesky`, or None."""
    return _cholesky if _fits(platform, x, _MOST_SUBSTITUTED) else None


def _cholesky(x: Any) -> Any:
    """Row after row; NaN in all of a matrix that is not positive definite."""
    rows = _elements(x)
    n = len(rows)
    zero = families.full_like(rows[0][0], 0)
    nan = families.full_like(zero, np.nan)
    factor: Rows = []
    failed: Any = None
    for i in range(n):
        row: list[Any] = []
        for j in range(i + 1):
            element = rows[i][j]
            other = row if i == j else factor[j]
            for k in range(j):
                element = elementwise.sub(element, elementwise.mul(row[k], other[k]))
            if j < i:
                row.append(elementwise.div(element, factor[j][j]))
                continue
            # NaN is not a failure, as in LAPACK: it propagates to what depends on it.
            bad = elementwise.le(element, zero)
            failed = bad if failed is None else elementwise.bitwise_or(failed, bad)
            row.append(elementwise.sqrt(element))
        factor.append(row)
    return _matrix(
        [
            [elementwise.select(failed, nan, x) for x in row] + [zero] * (n - i - 1)
            for i, row in enumerate(factor)
        ]
    )
