"""Values that rules exchange: symbolic zeros and linear placeholders."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from olympus._src.core.primitive import LateRule


class Zero:
    """A tangent or cotangent that is zero, known without computing it."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def instantiate(self) -> Any:
        """The zero as a value."""
        return _instantiate(self)

    def __repr__(self) -> str:
        return f"Zero({self.aval.str_short()})"


_instantiate = LateRule("lax.families", "instantiate")


class SymbolicZero:
    """A tangent or cotangent that is known to be zero, as custom rules see it.

    Custom rules that request symbolic zeros get this object in place of an array of
    zeros, and may return it.

    Args:
      aval: the type of the tangent.

    Example:
      >>> import numpy
      >>> from olympus.core import ShapedArray
      >>> from olympus.custom_derivatives import SymbolicZero
      >>> zero = SymbolicZero(ShapedArray((3,), numpy.dtype('float32')))
      >>> zero, zero.shape
      (SymbolicZero(f32[3]), (3,))
    """

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Element type of the tangent."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """Whether the dtype is weak in promotion."""
        return self.aval.weak_type

    def __olympus_array__(self) -> Any:
        return np.zeros(self.aval.shape, self.aval.dtype)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.short()})"


class Linear:
    """Marks, in a transposition, an argument the operation is linear in."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Linear({self.aval.short()})"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Where a rule takes it for a value: the operation is not linear in it."""
        raise TypeError(
            "linear_transpose: the function must be linear in its arguments, got one "
            f"that multiplies values of type {self.aval.short()} that depend on them, "
            "chooses by them, or takes them for positions; differentiate it by vjp"
        )

    __array__ = __bool__ = __complex__ = __float__ = __index__ = __int__ = _refuse


class Reads(NamedTuple):
    """How much of a variable the operations of a program read that read a part of it.

    Args:
      n: how many operations.
      n_elements: of all the parts that they read.
      is_repeated: whether the program is the body of a loop.
    """

    n: int
    n_elements: Any
    is_repeated: bool

    def add(self, n_elements: Any) -> Reads:
        """With one more part, of so many elements."""
        return Reads(self.n + 1, self.n_elements + n_elements, self.is_repeated)


def is_linear(x: Any) -> bool:
    """Whether `x` stands for an unknown that is transposed."""
    return type(x) is Linear
