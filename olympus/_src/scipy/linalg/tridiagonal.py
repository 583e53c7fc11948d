"""Eigenvalues of tridiagonal matrices, by bisection.

The signs of the pivots of T - x say how many eigenvalues are below x (Sturm sequences).
All eigenvalues are bracketed at once, in one loop over the rows in a loop of halvings.
For n rows that is n^2 operations, where a dense matrix takes n^3.

Source: W. Barth, R. S. Martin, J. H. Wilkinson, "Calculation of the eigenvalues of a
symmetric tridiagonal matrix by the method of bisection", Numer. Math. 9 (1967),
386-393; E. Anderson et al., "LAPACK Users' Guide", routine `dstebz`, for the guard of
small pivots.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from olympus._src.api import forward_mode
from olympus._src.api.custom_jvp import custom_jvp
from olympus._src.control_flow import loops, platform_dependent
from olympus._src.core import avals, dtypes
from olympus._src.lax.linalg import hermitian_eigenvectors, matrices
from olympus._src.numpy import (
    arithmetic,
    padding,
    ranges,
    reductions,
    selection,
)

# Types in which the count of negative pivots is right to the last bits.
_WIDE = (np.dtype("float32"), np.dtype("float64"))


def eigensystem(d: Any, e: Any) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors in columns, as of a dense matrix.

    Args:
      d: the diagonal [n].
      e: the diagonal above it [n - 1].
    """
    off_diagonal = selection.diag(e, 1)
    whole = selection.diag(d) + off_diagonal + matrices.adjoint(off_diagonal)
    vectors, values = hermitian_eigenvectors.eigh(whole)
    return values, vectors


@partial(custom_jvp, nondiff_argnums=(2, 3))
def eigenvalues(d: Any, e: Any, first: int, last: int) -> Any:
    """The eigenvalues from the first to before the last, ascending.

    Args:
      d: the diagonal [n]; its real part is used.
      e: the diagonal above it [n - 1].
      first, last: positions, counted from the smallest eigenvalue.
    """

    def of_dense(d: Any, e: Any) -> Any:
        return eigensystem(d, e)[0][first:last]

    aval = avals.aval_of(d)
    if aval.size < 2 or dtypes.real_dtype(aval.dtype) not in _WIDE:
        return of_dense(d, e)
    # Elsewhere each row would be a kernel that is started for itself.
    return platform_dependent.platform_dependent(
        d, e, cpu=lambda d, e: _bisect(d, e, first, last), default=of_dense
    )


@eigenvalues.defjvp
def _eigenvalues_jvp(first: int, last: int, primals: Any, tangents: Any) -> Any:
    return forward_mode.jvp(
        lambda d, e: eigensystem(d, e)[0][first:last], primals, tangents
    )


def _bisect(d: Any, e: Any, first: int, last: int) -> Any:
    d, e = arithmetic.real(d), arithmetic.absolute(e)
    dtype = avals.aval_of(d).dtype
    info = dtypes.finfo(dtype)
    rows = padding.pad(e, (0, 1)) + padding.pad(e, (1, 0))
    # Gershgorin's bound, by which all is divided so that squares do not overflow.
    bound = reductions.max(arithmetic.absolute(d) + rows)
    scale = selection.where(bound == 0, np.ones((), dtype), bound)
    d, squares = d / scale, arithmetic.square(e / scale)
    numbers = ranges.arange(first, last)
    least = np.asarray(4 * info.tiny, dtype)

    def guard(pivot: Any) -> Any:
        """A pivot by which to divide; of none that is small the sign is known."""
        return selection.where(arithmetic.absolute(pivot) < least, -least, pivot)

    def is_below(pivot: Any) -> Any:
        return (pivot < 0).astype(numbers.dtype)

    def count_below(x: Any) -> Any:
        pivot = guard(d[0] - x)

        def next_row(i: Any, state: Any) -> Any:
            pivot, count = state
            pivot = guard(d[i + 1] - x - squares[i] / pivot)
            return pivot, count + is_below(pivot)

        start = pivot, is_below(pivot)
        return loops.fori_loop(0, squares.size, next_row, start)[1]

    def halve(_: Any, ends: Any) -> Any:
        low, high = ends
        middle = (low + high) / 2
        is_low = count_below(middle) <= numbers
        low = selection.where(is_low, middle, low)
        return low, selection.where(is_low, high, middle)

    end = np.full(last - first, 1 + 8 * info.eps, dtype)
    low, high = loops.fori_loop(0, info.nmant + 4, halve, (-end, end))
    # Where not all numbers are finite, neither is the bound.
    return (low + high) / 2 * selection.where(bound < np.inf, bound, np.nan)
