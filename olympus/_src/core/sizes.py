"""Sizes of axes: plain integers, or symbolic ones of programs for many shapes.

Symbolic sizes are values of `core.symbolic.Dim`. Most programs have none, so the
functions of sizes that all files use are here, and need no more than the size itself.
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


# XLA counts bytes in 63 bits, also of elements that it widens to 16 bytes, and ends the
# process where they overflow. It multiplies all sizes before it sees that one is zero.
_MAX_ELEMENTS = 1 << 58


def check_elements(where: str, shape: Iterable[Any]) -> None:
    """Raises ValueError for an array larger than the compiler can count.

    Args:
      where: the function that was called.
      shape: sizes; symbolic ones count as one.
    """
    count = 1
    for d in shape:
        if not is_symbolic(d):
            count *= max(d, 1)
    if count > _MAX_ELEMENTS:
        raise ValueError(
            f"{where}: an array must have no more than 2**58 elements, got one of "
            f"shape {tuple(shape)}; choose smaller sizes"
        )


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
    return maximum(0, d)


def at_least(a: Any, b: Any) -> bool:
    """Whether `a >= b` is known to hold; False where that depends on unknown sizes."""
    if type(a) is int and type(b) is int:
        return a >= b
    difference = a - b
    if not is_symbolic(difference):
        return bool(difference >= 0)
    return bool(difference.is_never_negative())


def upper_bound(d: Any) -> int | None:
    """The largest value that a size can have; None where none is known."""
    if not is_symbolic(d):
        return int(d)
    most: int | None = d.upper_bound()
    return most


def typical(d: Any) -> int:
    """A number in place of a size, to weigh costs by."""
    if not is_symbolic(d):
        return int(d)
    number: int = d.typical()
    return number


def slice_positions(item: slice, size: Any) -> tuple[Any, Any, int]:
    """First position, number of positions and step of a slice of an axis.

    Args:
      item: bounds are integers, sizes or None; the step an integer or None.
      size: the axis's.
    """
    start, stop, step = item.start, item.stop, item.step
    if not (is_symbolic(size) or is_symbolic(start) or is_symbolic(stop)):
        start, stop, step = slice(*map(_plain, (start, stop, step))).indices(size)
        return start, len(range(start, stop, step)), step
    step = 1 if step is None else operator.index(step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step > 0:
        first = 0 if start is None else _clamp_slice_bound(start, size, 0, size)
        last = size if stop is None else _clamp_slice_bound(stop, size, 0, size)
        return first, non_negative(last - first + step - 1) // step, step
    first = size - 1 if start is None else _clamp_slice_bound(start, size, -1, size - 1)
    last = -1 if stop is None else _clamp_slice_bound(stop, size, -1, size - 1)
    return first, non_negative(first - last - step - 1) // -step, step


def _plain(bound: Any) -> int | None:
    return None if bound is None else operator.index(bound)


def _clamp_slice_bound(bound: Any, size: Any, low: int, high: Any) -> Any:
    """A bound of a slice, counted from the start and moved into the axis."""
    bound = as_size(bound)
    if bound < 0:
        return maximum(low, size + bound)
    return minimum(high, bound)


def product(shape: Sequence[Any]) -> Any:
    """The number of elements of a shape."""
    result: Any = 1
    for d in shape:
        result = result * d
    return result
