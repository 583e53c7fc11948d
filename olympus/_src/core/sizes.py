"""Sizes of axes: plain integers, or symbolic ones of programs for many shapes.

Symbolic sizes are values of `core.symbolic.Dim`. Most programs have none, so what every
file asks of a size is here, and needs no more than the size itself.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any


def is_symbolic(d: Any) -> bool:
    """Whether a size is known by an expression only."""
    return type(d) is not int and hasattr(d, "is_symbolic_dim")


def is_constant_shape(shape: Iterable[Any]) -> bool:
    """Whether all sizes of a shape are integers."""
    for d in shape:
        if type(d) is not int and hasattr(d, "is_symbolic_dim"):
            return False
    return True


def as_size(d: Any) -> Any:
    """A size as an integer or as the symbolic size that it is.

    Raises:
      TypeError: it is neither.
    """
    return d if is_symbolic(d) else operator.index(d)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two sizes; where that is unknown, a symbolic size that says so."""
    if type(a) is int and type(b) is int:
        return a if a >= b else b
    if is_symbolic(a):
        return a.maximum(b)
    return b.maximum(a, reflected=True) if is_symbolic(b) else max(a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two sizes; where that is unknown, a symbolic size that says so."""
    if type(a) is int and type(b) is int:
        return a if a <= b else b
    if is_symbolic(a):
        return a.minimum(b)
    return b.minimum(a, reflected=True) if is_symbolic(b) else min(a, b)


def non_negative(d: Any) -> Any:
    """The size, or zero where it would be negative."""
    return maximum(d, 0)


def definitely(answer: Any) -> bool:
    """Whether a comparison holds for all sizes; False where that depends on them.

    Args:
      answer: a function of no arguments that compares.
    """
    # The class of the error is a ValueError, as are no others that comparisons raise.
    try:
        return bool(answer())
    except ValueError:
        return False


def product(shape: Sequence[Any]) -> Any:
    """The number of elements of a shape."""
    result: Any = 1
    for d in shape:
        result = result * d
    return result
