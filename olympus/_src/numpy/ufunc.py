"""The face of NumPy's ufuncs: a function with `reduce`, `accumulate`, `outer`, `at`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.lax import shaping
from olympus._src.numpy import (
    arithmetic,
    at,
    elementary,
    logic,
    promotion,
    reductions,
    scans,
)
from olympus._src.numpy.promotion import aval_of, check_arraylike


class ufunc:
    """An elementwise function of one or two arrays, and what can be built of it.

    Args:
      func: the function of arrays.
      nin, nout: numbers of its arguments and results.
      name: what it is called.
      identity: what changes nothing; None where there is none.
      reduce, accumulate: `(array, axis, ...)` for `ufunc.reduce`, `ufunc.accumulate`.
      at: the name of the update of `Array.at` it stands for.

    Source: NumPy, `numpy.ufunc`.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        reduce: Callable[..., Any] | None = None,
        accumulate: Callable[..., Any] | None = None,
        at: str | None = None,
    ) -> None:
        self.nin, self.nout, self.identity = nin, nout, identity
        self.nargs = nin + nout if nargs is None else nargs
        self.__name__ = self.__qualname__ = name or func.__name__
        self.__doc__ = func.__doc__
        self.__wrapped__ = func
        self._reduce, self._accumulate, self._at = reduce, accumulate, at

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __call__(self, *args: Any, out: None = None, where: None = None) -> Any:
        promotion.check_out(self.__name__, out)
        if where is not None:
            raise NotImplementedError(
                f"numpy.{self.__name__}: `where` needs `out` to keep, which cannot be; "
                "write numpy.where(mask, result, rest)"
            )
        if len(args) != self.nin:
            raise TypeError(
                f"{self.__name__}() takes {self.nin} positional arguments but "
                f"{len(args)} were given"
            )
        return self.__wrapped__(*args)

    def _lacks(self, what: str) -> NotImplementedError:
        return NotImplementedError(
            f"numpy.{self.__name__}.{what} is not written; call lax.reduce or a loop "
            "of lax.scan over the function"
        )

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """The function folded over an axis.

        Args:
          a: array.
          axis: the axis, or None for all.
          dtype: element type of the result.
          out: must be None.
          keepdims: keep the axis, with size 1.
          initial: where the fold starts.
          where: mask of the elements that count.
        """
        check_arraylike(f"{self.__name__}.reduce", a)
        promotion.check_out(f"{self.__name__}.reduce", out)
        if self.nin != 2 or self.nout != 1:
            raise ValueError(f"reduce only supported for binary ufuncs, got {self!r}")
        if self._reduce is None:
            raise self._lacks("reduce")
        options = {"initial": initial, "where": where}
        if dtype is not None:
            options["dtype"] = dtype
        options = {k: v for k, v in options.items() if v is not None}
        return self._reduce(a, axis=axis, keepdims=keepdims, **options)

    def accumulate(
        self, a: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Any:
        """The function folded over the elements up to each one of an axis.

        Args:
          a: array.
          axis: the axis.
          dtype: element type of the result.
          out: must be None.
        """
        check_arraylike(f"{self.__name__}.accumulate", a)
        promotion.check_out(f"{self.__name__}.accumulate", out)
        if self._accumulate is None:
            raise self._lacks("accumulate")
        return self._accumulate(a, axis=axis, dtype=dtype)

    def outer(self, A: Any, B: Any, /) -> Any:
        """The function of each element of `A` with each of `B`."""
        check_arraylike(f"{self.__name__}.outer", A, B)
        if self.nin != 2:
            raise ValueError(f"outer only supported for binary ufuncs, got {self!r}")
        rank = aval_of(B).ndim
        first = A if hasattr(A, "aval") else promotion.evaluate.as_array(A)
        shape = aval_of(first).shape
        return self(shaping.reshape(first, (*shape, *[1] * rank)), B)

    def at(
        self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True
    ) -> Any:
        """The array with the function applied at some positions.

        Args:
          a: array.
          indices: an index.
          b: the second arguments.
          inplace: must be False.
        """
        if inplace:
            raise NotImplementedError(
                f"numpy.{self.__name__}.at: inplace must be False, since arrays are "
                "never changed in place; use the returned array"
            )
        if self._at is None:
            raise self._lacks("at")
        x = a if hasattr(a, "aval") else promotion.evaluate.as_array(a)
        return getattr(at.IndexUpdateHelper(x)[indices], self._at)(b)


def _of(fun: Any, nin: int, **rules: Any) -> ufunc:
    return ufunc(fun, nin, 1, **rules)


add = _of(
    arithmetic.add,
    2,
    identity=0,
    reduce=reductions.sum,
    accumulate=scans.cumsum,
    at="add",
)
subtract = _of(arithmetic.subtract, 2, at="subtract")
multiply = _of(
    arithmetic.multiply,
    2,
    identity=1,
    reduce=reductions.prod,
    accumulate=scans.cumprod,
    at="multiply",
)
maximum = _of(arithmetic.maximum, 2, reduce=reductions.max, at="max")
minimum = _of(arithmetic.minimum, 2, reduce=reductions.min, at="min")
negative = _of(arithmetic.negative, 1)
logical_and = _of(logic.logical_and, 2, identity=True, reduce=reductions.all)
logical_or = _of(logic.logical_or, 2, identity=False, reduce=reductions.any)
logical_xor = _of(logic.logical_xor, 2, identity=False)
bitwise_and = _of(logic.bitwise_and, 2, identity=-1)
bitwise_or = _of(logic.bitwise_or, 2, identity=0)
bitwise_xor = _of(logic.bitwise_xor, 2, identity=0)
logaddexp = _of(elementary.logaddexp, 2)
logaddexp2 = _of(elementary.logaddexp2, 2)
