"""Matrices whose pattern is given by a vector: Toeplitz, Hankel, companion, others."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from olympus._src.core.array_type import Array, ArrayLike, OptionalArray
from olympus._src.lax import concatenation, shaping, sizes
from olympus._src.lax import elementwise as lax
from olympus._src.lax.linalg import matrices
from olympus._src.numpy import creation, index_routines, manipulation, promotion
from olympus._src.scipy.linalg import checks

aval_of = checks.aval_of


def _pick(x: Any, places: Any) -> Any:
    """Elements of vectors [..., n] at a matrix of places: [..., rows, columns]."""
    return index_routines.take(x, places.astype(np.int32), axis=-1)


def _grid(rows: Any, columns: Any) -> tuple[Any, Any]:
    return shaping.counting(rows)[:, None], shaping.counting(columns)[None, :]


def _join_vectors(*parts: Any) -> Any:
    """Vectors [..., n] end to end, their leading axes broadcast."""
    lead = sizes.broadcast_shapes(*[aval_of(x).shape[:-1] for x in parts])
    return concatenation.concatenate(
        [promotion.broadcast_to_shape(x, (*lead, aval_of(x).shape[-1])) for x in parts],
        len(lead),
    )


def _promote_to_1d(x: Any) -> Any:
    return manipulation.atleast_1d(x)


def block_diag(*arrs: ArrayLike) -> Array:
    """A matrix with the given ones along its diagonal, and zeros.

    Args:
      *arrs: matrices; a vector is a row, a number a matrix of one element.

    Returns:
      A matrix of as many rows and columns as all of them have, in their common dtype.

    Raises:
      ValueError: an array has more than two axes.
      TypeError: an argument is not an array.

    Source: SciPy, `scipy.linalg.block_diag`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.block_diag(np.ones((2, 2), int), 3))
      [[1 1 0]
       [1 1 0]
       [0 0 3]]
    """
    if not arrs:
        return creation.zeros((1, 0))
    blocks = checks.as_arrays("block_diag", *arrs)
    for i, x in enumerate(blocks):
        if aval_of(x).ndim > 2:
            raise ValueError(
                "scipy.linalg.block_diag: arguments must have at most 2 dimensions, "
                f"got {aval_of(x).short()} at argument {i}; use vmap for several"
            )
    return _block_diag(*blocks)


@promotion.evaluate.fuse
def _block_diag(*arrs: Any) -> Any:
    blocks = [manipulation.atleast_2d(x) for x in promotion.promote_dtypes(*arrs)]
    columns = sum(aval_of(x).shape[1] for x in blocks)
    before, rows = 0, []
    for x in blocks:
        width = aval_of(x).shape[1]
        zero = np.zeros((), aval_of(x).dtype)[()]
        widths = [(0, 0, 0), (before, columns - before - width, 0)]
        rows.append(concatenation.pad(x, zero, widths))
        before += width
    return concatenation.concatenate(rows, 0)


def circulant(c: ArrayLike) -> Array:
    """The matrix whose columns are all rotations of a vector.

    Args:
      c: the first column [..., n].

    Returns:
      Matrices [..., n, n] with `out[i, j] = c[(i - j) % n]`.

    Raises:
      TypeError: `c` is not an array.

    Source: SciPy, `scipy.linalg.circulant`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.circulant(np.arange(3)))
      [[0 2 1]
       [1 0 2]
       [2 1 0]]
    """
    (c,) = checks.as_arrays("circulant", c)
    return _circulant(c)


@promotion.program(1, name="circulant")
def _circulant(c: Any) -> Any:
    c = _promote_to_1d(c)
    n = aval_of(c).shape[-1]
    i, j = _grid(n, n)
    return _pick(c, (i - j) % max(n, 1))


def toeplitz(c: ArrayLike, r: OptionalArray = None) -> Array:
    """The matrix whose diagonals are constant.

    Args:
      c: the first column [..., m].
      r: the first row [..., n], whose first element is not read; default the conjugate
        of `c`.

    Returns:
      Matrices [..., m, n].

    Raises:
      TypeError: an argument is not an array.

    Source: SciPy, `scipy.linalg.toeplitz`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.toeplitz(np.array([1, 2]), np.array([0, 3, 4])))
      [[1 3 4]
       [2 1 3]]
    """
    if r is None:
        (c,) = checks.as_arrays("toeplitz", c)
        return _toeplitz_of_one(c)
    c, r = checks.as_arrays("toeplitz", c, r)
    return _toeplitz(c, r)


@promotion.program(1, name="toeplitz")
def _toeplitz_of_one(c: Any) -> Any:
    return _toeplitz(c, matrices.conjugate_if_complex(manipulation.as_is(c)))


@promotion.program(2, name="toeplitz")
def _toeplitz(c: Any, r: Any) -> Any:
    c, r = map(_promote_to_1d, promotion.promote_dtypes(c, r))
    m, n = aval_of(c).shape[-1], aval_of(r).shape[-1]
    line = _join_vectors(manipulation.flip(c, -1), r[..., 1:])
    i, j = _grid(m, n)
    return promotion.strong(_pick(line, m - 1 - i + j))


def hankel(c: ArrayLike, r: OptionalArray = None) -> Array:
    """The matrix whose diagonals from lower left to upper right are constant.

    Differs from SciPy: leading axes are a batch, where SciPy flattens the arguments.

    Args:
      c: the first column [..., m].
      r: the last row [..., n], whose first element is not read; default zeros like `c`.

    Returns:
      Matrices [..., m, n].

    Raises:
      ValueError: an argument is a scalar.
      TypeError: an argument is not an array.

    Source: SciPy, `scipy.linalg.hankel`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.hankel(np.array([1, 2]), np.array([2, 3, 4])))
      [[1 2 3]
       [2 3 4]]
    """
    (c,) = checks.as_arrays("hankel", c)
    if r is None:
        r = creation.zeros_like(c)
    c, r = checks.as_arrays("hankel", c, r)
    checks.check_vectors("hankel", "c", c)
    checks.check_vectors("hankel", "r", r)
    return _hankel(c, r)


@promotion.program(2, name="hankel")
def _hankel(c: Any, r: Any) -> Any:
    c, r = promotion.promote_dtypes(c, r)
    i, j = _grid(aval_of(c).shape[-1], aval_of(r).shape[-1])
    return promotion.strong(_pick(_join_vectors(c, r[..., 1:]), i + j))


def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """The matrix that convolves vectors of `n` elements with a vector.

    Args:
      a: vectors [..., m].
      n: size of the vectors that it is for.
      mode: "full", "same" or "valid", as in `numpy.convolve`.

    Returns:
      Matrices with n columns, and m + n - 1, max(m, n) or |m - n| + 1 rows.

    Raises:
      ValueError: `n` is not positive, `a` is a scalar or empty, or there is no such
        mode.
      TypeError: `a` is not an array.

    Source: SciPy, `scipy.linalg.convolution_matrix`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.convolution_matrix(np.array([1, 2]), 2))
      [[1 0]
       [2 1]
       [0 2]]
    """
    (a,) = checks.as_arrays("convolution_matrix", a)
    checks.check_vectors("convolution_matrix", "a", a)
    count = operator.index(n)
    if count <= 0:
        raise ValueError(
            f"scipy.linalg.convolution_matrix: n must be a positive integer; got {n}"
        )
    checks.one_of("convolution_matrix", "mode", mode, ("full", "valid", "same"))
    if not aval_of(a).shape[-1]:
        raise ValueError(
            "scipy.linalg.convolution_matrix: a must not be empty, got "
            f"{aval_of(a).short()}"
        )
    return _convolution_matrix(a, n=count, mode=mode)


@promotion.program(1, name="convolution_matrix")
def _convolution_matrix(a: Any, *, n: int, mode: str) -> Any:
    a = manipulation.as_is(a)
    m = aval_of(a).shape[-1]
    rows = {"full": m + n - 1, "same": max(m, n), "valid": abs(m - n) + 1}[mode]
    first = {"full": 0, "same": (min(m, n) - 1) // 2, "valid": min(m, n) - 1}[mode]
    i, j = _grid(rows, n)
    place = i + first - j
    inside = (place >= 0) & (place < m)
    entries = _pick(a, np.clip(place, 0, m - 1))
    return _mask_entries(entries, inside)


def _mask_entries(x: Any, mask: np.ndarray) -> Any:
    """`x` [..., rows, columns] where the mask is set, zero elsewhere."""
    shape = aval_of(x).shape
    zeros = np.zeros((), aval_of(x).dtype)[()]
    return lax.select(
        promotion.full_shape(mask, shape), x, promotion.full_shape(zeros, shape)
    )


def companion(a: ArrayLike) -> Array:
    """The matrix whose characteristic polynomial is a given one.

    Differs from SciPy: a leading coefficient of zero gives inf or NaN and no error.

    Args:
      a: coefficients [..., n], highest power first; n is at least 2.

    Returns:
      Floating matrices [..., n - 1, n - 1].

    Raises:
      ValueError: there are fewer than two coefficients.
      TypeError: `a` is not an array.

    Source: SciPy, `scipy.linalg.companion`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.companion(np.array([1, -3, 2])))
      [[ 3. -2.]
       [ 1.  0.]]
    """
    (a,) = checks.as_arrays("companion", a)
    checks.check_vectors("companion", "a", a)
    _check_length("companion", "a", a)
    return _companion(a)


def _check_length(name: str, what: str, x: Any) -> None:
    if aval_of(x).shape[-1] < 2:
        raise ValueError(
            f"scipy.linalg.{name}: The length of `{what}` along the last axis must be "
            f"at least 2; got shape {aval_of(x).shape}"
        )


def _monic(a: Any) -> Any:
    """The other coefficients, negated and divided by the first."""
    (a,) = promotion.promote_inexact(a)
    return -a[..., 1:] / a[..., :1]


@promotion.program(1, name="companion")
def _companion(a: Any) -> Any:
    return _put_under_row(_monic(a))


def _put_under_row(row: Any) -> Any:
    """Vectors as first rows, over matrices that shift by one."""
    n = aval_of(row).shape[-1]
    i, j = _grid(n, n)
    entries = _mask_entries(
        _pick(row, np.broadcast_to(j, (n, n))), np.broadcast_to(i == 0, (n, n))
    )
    return entries + np.asarray(i == j + 1).astype(aval_of(row).dtype)


def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """The matrix that maps a population, by ages, to the next generation.

    Args:
      f: how many children each age has, [..., n]; n is at least 2.
      s: what share of each age survives, [..., n - 1].

    Returns:
      Matrices [..., n, n]: `f` is the first row, `s` lies below the diagonal.

    Raises:
      ValueError: sizes do not agree, or there are fewer than two ages.
      TypeError: an argument is not an array.

    Source: SciPy, `scipy.linalg.leslie`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.leslie(np.array([0.5, 2.0]), np.array([0.25])))
      [[0.5  2.  ]
       [0.25 0.  ]]
    """
    f, s = checks.as_arrays("leslie", f, s)
    checks.check_vectors("leslie", "f", f)
    checks.check_vectors("leslie", "s", s)
    if aval_of(s).shape[-1] != aval_of(f).shape[-1] - 1:
        raise ValueError(
            "scipy.linalg.leslie: Incorrect lengths for f and s. The length of s along "
            "the last axis must be one less than the length of f; got "
            f"{aval_of(f).short()} and {aval_of(s).short()}"
        )
    _check_length("leslie", "f", f)
    return _leslie(f, s)


@promotion.program(2, name="leslie")
def _leslie(f: Any, s: Any) -> Any:
    f, s = promotion.promote_dtypes(f, s)
    n = aval_of(f).shape[-1]
    i, j = _grid(n, n)
    line = _join_vectors(f, s)
    place = np.where(i == 0, j, np.minimum(n + j, 2 * n - 2))
    return _mask_entries(_pick(line, place), (i == 0) | (i == j + 1))


def fiedler(a: ArrayLike) -> Array:
    """The matrix of distances between numbers.

    Args:
      a: numbers [..., n].

    Returns:
      Matrices [..., n, n] with `out[i, j] = abs(a[i] - a[j])`.

    Raises:
      TypeError: `a` is not an array.

    Source: SciPy, `scipy.linalg.fiedler`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.fiedler(np.array([1, 4])))
      [[0 3]
       [3 0]]
    """
    (a,) = checks.as_arrays("fiedler", a)
    return _fiedler(a)


@promotion.program(1, name="fiedler")
def _fiedler(a: Any) -> Any:
    a = _promote_to_1d(a)
    return abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a: ArrayLike) -> Array:
    """The pentadiagonal matrix whose characteristic polynomial is a given one.

    Differs from SciPy: a leading coefficient of zero gives inf or NaN and no error.

    Args:
      a: coefficients [..., n], highest power first.

    Returns:
      Floating matrices [..., n - 1, n - 1].

    Raises:
      ValueError: `a` is a scalar.
      TypeError: `a` is not an array.

    Source: Fiedler, A note on companion matrices, 2003; SciPy,
    `scipy.linalg.fiedler_companion`.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import linalg
      >>> print(linalg.fiedler_companion(np.array([1.0, -6.0, 11.0, -6.0])))
      [[  6. -11.   1.]
       [  1.   0.   0.]
       [  0.   6.   0.]]
    """
    (a,) = checks.as_arrays("fiedler_companion", a)
    checks.check_vectors("fiedler_companion", "a", a)
    if aval_of(a).shape[-1] < 2:
        (a,) = promotion.promote_inexact(a)
        return creation.zeros((*aval_of(a).shape[:-1], 0, 0), aval_of(a).dtype)
    return _fiedler_companion(a)


@promotion.program(1, name="fiedler_companion")
def _fiedler_companion(a: Any) -> Any:
    line = _monic(a)
    n = aval_of(line).shape[-1]
    place, ones = _fiedler_pattern(n)
    entries = _mask_entries(_pick(line, np.maximum(place, 0)), place >= 0)
    return entries + ones.astype(aval_of(line).dtype)


def _fiedler_pattern(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each coefficient goes, else -1; and where ones are."""
    place, ones = np.full((n, n), -1), np.zeros((n, n))
    for i in range(0, n, 2):
        place[i, max(i - 1, 0)] = i
        if i + 1 < n:
            place[i, i + 1] = i + 1
        if i + 2 < n:
            ones[i, i + 2] = 1
    for i in range(1, n, 2):
        ones[i, max(i - 2, 0)] = 1
    return place, ones
