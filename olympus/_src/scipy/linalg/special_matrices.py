"""Matrices of a size alone: Hadamard, Hilbert, Pascal and others, computed exactly."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.array_type import Array, DTypeLike
from olympus._src.numpy import creation
from olympus._src.scipy.linalg import checks


def _size(name: str, n: Any, least: int = 0) -> int:
    try:
        count = operator.index(n)
    except TypeError:
        raise TypeError(
            f"scipy.linalg.{name}: n must be an integer, got {n!r}; convert it with int"
        ) from None
    if count < least:
        requirement = "a positive integer" if least else "an integer of at least 0"
        raise ValueError(f"scipy.linalg.{name}: n must be {requirement}; got {n}")
    return count


def _floats(values: Any, shape: tuple[int, int]) -> Any:
    dtype = dtypes.canonicalize_dtype(float)
    return creation.asarray(np.array(values, np.float64).reshape(shape).astype(dtype))


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """The matrix of the discrete Fourier transform.

    Differs from SciPy: the dtype can be chosen; by default it is complex64 unless
    64-bit dtypes are switched on.

    Args:
      n: how many rows and columns.
      scale: None; "sqrtn", which makes it unitary; or "n".
      dtype: complex dtype; by default the default one.

    Returns:
      A matrix [n, n].

    Raises:
      ValueError: the scale is something else, or the dtype is not complex.

    Source: SciPy, `scipy.linalg.dft`.

    Example:
      >>> from olympus.scipy import linalg
      >>> print(linalg.dft(2).real)
      [[ 1.  1.]
       [ 1. -1.]]
    """
    count = _size("dft", n)
    checks.one_of("dft", "scale", scale, (None, "sqrtn", "n"))
    kind = dtypes.check_user_dtype(complex if dtype is None else dtype, "dft")
    if dtypes.kind(kind) != "c":
        raise ValueError(
            "scipy.linalg.dft: dtype must be a complex floating-point type; got "
            f"{np.dtype(kind)}"
        )
    steps = np.arange(count)
    # Turns below one keep their digits; products of places may be large.
    turns = (steps[:, None] * steps[None, :]) % max(count, 1) / max(count, 1)
    factor = {None: 1.0, "sqrtn": math.sqrt(max(count, 1)), "n": max(count, 1)}[scale]
    return creation.asarray((np.exp(-2j * np.pi * turns) / factor).astype(kind))


def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """Sylvester's matrix of 1 and -1 with orthogonal rows.

    Args:
      n: how many rows and columns, a power of 2.
      dtype: of the result.

    Returns:
      A matrix [n, n].

    Raises:
      ValueError: `n` is not a power of 2.

    Source: SciPy, `scipy.linalg.hadamard`.

    Example:
      >>> from olympus.scipy import linalg
      >>> print(linalg.hadamard(2))
      [[ 1  1]
       [ 1 -1]]
    """
    count = _size("hadamard", n)
    if count < 1 or count & (count - 1):
        raise ValueError(
            f"scipy.linalg.hadamard: n must be a positive power of 2; got {n}"
        )
    places = np.arange(count, dtype=np.int64)
    odd = np.bitwise_count(places[:, None] & places[None, :]) % 2
    kind = dtypes.check_user_dtype(dtype, "hadamard")
    return creation.asarray(np.where(odd, -1, 1).astype(kind))


def helmert(n: int, full: bool = False) -> Array:
    """Orthonormal rows, each the contrast of a number and the mean of those before.

    Differs from SciPy: the result is float32 unless 64-bit dtypes are switched on.

    Args:
      n: how many columns.
      full: add the constant row, which comes first.

    Returns:
      A matrix [n - 1, n], or [n, n].

    Raises:
      ValueError: `n` is not positive.

    Source: SciPy, `scipy.linalg.helmert`.

    Example:
      >>> from olympus.scipy import linalg
      >>> linalg.helmert(3).shape
      (2, 3)
    """
    count = _size("helmert", n, 1)
    rows = np.tril(np.ones((count, count)), -1)
    place = np.arange(count)
    rows[place, place] = -place
    rows[0] = 1
    lengths = np.sqrt(np.maximum(place * (place + 1.0), 1))
    lengths[0] = math.sqrt(count)
    rows = rows / lengths[:, None]
    matrix = rows if full else rows[1:]
    return _floats(matrix, matrix.shape)


def hilbert(n: int) -> Array:
    """Hilbert's matrix, `1 / (i + j + 1)`.

    Differs from SciPy: the result is float32 unless 64-bit dtypes are switched on.

    Args:
      n: how many rows and columns.

    Returns:
      A matrix [n, n].

    Raises:
      ValueError: `n` is negative.

    Source: SciPy, `scipy.linalg.hilbert`.

    Example:
      >>> from olympus.scipy import linalg
      >>> print(linalg.hilbert(2)[1, 0])
      0.5
    """
    count = _size("hilbert", n)
    place = np.arange(count)
    return _floats(1 / (place[:, None] + place[None, :] + 1.0), (count, count))


def invhilbert(n: int) -> Array:
    """The inverse of Hilbert's matrix, whose elements are integers.

    Differs from SciPy: the result is floating, and float32 unless 64-bit dtypes are
    switched on; there is no `exact`, which asks for integers.

    Args:
      n: how many rows and columns.

    Returns:
      A matrix [n, n], floating; infinite where a number is too large for the dtype.

    Raises:
      ValueError: `n` is negative.

    Source: Choi, Tricks or treats with the Hilbert matrix, 1983; SciPy,
    `scipy.linalg.invhilbert`.

    Example:
      >>> from olympus.scipy import linalg
      >>> print(linalg.invhilbert(2))
      [[ 4. -6.]
       [-6. 12.]]
    """
    count = _size("invhilbert", n)
    comb = math.comb

    def element(i: int, j: int) -> int:
        size = (
            (i + j + 1)
            * comb(count + i, count - j - 1)
            * comb(count + j, count - i - 1)
        )
        return (-1) ** (i + j) * size * comb(i + j, i) ** 2

    return _of_integers(count, element)


def _of_integers(count: int, element: Any) -> Any:
    values = [_as_float(element(i, j)) for i in range(count) for j in range(count)]
    with np.errstate(over="ignore"):
        return _floats(values, (count, count))


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _kind(name: str, kind: Any) -> str:
    kind = "symmetric" if kind is None else kind
    checks.one_of(name, "kind", kind, ("symmetric", "lower", "upper"))
    return kind


def pascal(n: int, kind: str | None = None) -> Array:
    """Pascal's triangle as a matrix.

    Differs from SciPy: the result is floating, where SciPy gives integers; there is no
    `exact`.

    Args:
      n: how many rows and columns.
      kind: "symmetric", the default: `comb(i + j, i)`; "lower": `comb(i, j)`; "upper":
        the transpose of that.

    Returns:
      A matrix [n, n], floating.

    Raises:
      ValueError: there is no such kind, or `n` is negative.

    Source: SciPy, `scipy.linalg.pascal`.

    Example:
      >>> from olympus.scipy import linalg
      >>> print(linalg.pascal(3))
      [[1. 1. 1.]
       [1. 2. 3.]
       [1. 3. 6.]]
    """
    count, chosen = _size("pascal", n), _kind("pascal", kind)
    elements = {
        "symmetric": lambda i, j: math.comb(i + j, i),
        "lower": math.comb,
        "upper": lambda i, j: math.comb(j, i),
    }
    return _of_integers(count, elements[chosen])


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of `pascal`.

    Differs from SciPy: the result is floating, where SciPy gives integers; there is no
    `exact`.

    Args:
      n: how many rows and columns.
      kind: as in `pascal`.

    Returns:
      A matrix [n, n], floating.

    Raises:
      ValueError: there is no such kind, or `n` is negative.

    Source: SciPy, `scipy.linalg.invpascal`.

    Example:
      >>> from olympus.scipy import linalg
      >>> print(linalg.invpascal(2))
      [[ 2. -1.]
       [-1.  1.]]
    """
    count, chosen = _size("invpascal", n), _kind("invpascal", kind)

    def lower(i: int, j: int) -> int:
        return (-1) ** (i + j) * math.comb(i, j)

    def symmetric(i: int, j: int) -> int:  # the inverses of upper and lower, multiplied
        return sum(lower(k, i) * lower(k, j) for k in range(count))

    elements = {
        "symmetric": symmetric,
        "lower": lower,
        "upper": lambda i, j: lower(j, i),
    }
    return _of_integers(count, elements[chosen])
