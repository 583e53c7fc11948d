"""NumPy's ufuncs: functions with `reduce`, `accumulate`, `outer` and `at`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    Axes,
    DTypeLike,
    Indices,
    OptionalArray,
)
from olympus._src.foundation import source_info, tracebacks
from olympus._src.interpreters import concrete_arrays
from olympus._src.numpy import (
    arithmetic,
    at,
    creation,
    cumulative_sums,
    elementary,
    functional,
    logic,
    promotion,
    reductions,
    ufunc_methods,
)
from olympus._src.numpy.promotion import check_arraylike

_refuse_out = tracebacks.api_boundary(promotion.check_out)

Rule = Callable[..., Any] | None


class ufunc:
    """An elementwise function of arrays, with methods such as `reduce` and `outer`.

    Args:
      func: the function of arrays.
      nin, nout: numbers of its arguments and results.
      name: what it is called.
      nargs: how many of its arguments are arrays; None for all.
      identity: the identity element; None where there is none.
      call: the function in place of `func`, for its calls.
      reduce, accumulate: `(array, axis, ...)` for `ufunc.reduce`, `ufunc.accumulate`;
        None to fold the function element after element.
      at: the name of the update of `Array.at` it stands for; None to update one
        position after another.
      reduceat: `(array, indices, axis, dtype)` for `ufunc.reduceat`; None to fold.

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
        at: str | None = None,
        call: Rule = None,
        reduce: Rule = None,
        reduceat: Rule = None,
        accumulate: Rule = None,
    ) -> None:
        self._nin, self._nout, self._identity = nin, nout, identity
        self._nargs = nin if nargs is None else nargs
        self.__name__ = self.__qualname__ = name or func.__name__
        self.__doc__ = func.__doc__
        self._func = func
        self._call = call or func
        self._reduce, self._reduceat = reduce, reduceat
        self._accumulate, self._at = accumulate, at

    @property
    def nin(self) -> int:
        """Number of arguments."""
        return self._nin

    @property
    def nout(self) -> int:
        """Number of results."""
        return self._nout

    @property
    def nargs(self) -> int:
        """How many of the arguments are arrays."""
        return self._nargs

    @property
    def identity(self) -> Any:
        """What changes nothing; None where there is none."""
        return self._identity

    @property
    def func(self) -> Callable[..., Any]:
        """The function of arrays."""
        return self._func

    def __repr__(self) -> str:
        return f"<jnp.ufunc '{self.__name__}'>"

    def __call__(
        self, *args: ArrayLike, out: None = None, where: None = None
    ) -> Array | tuple[Array, ...]:
        if out is not None:
            _refuse_out(self.__name__, out)
        if where is not None:
            raise NotImplementedError(
                f"numpy.{self.__name__}: `where` requires `out`, which is not "
                "supported; write numpy.where(mask, result, rest)"
            )
        if len(args) != self.nin:
            raise TypeError(
                f"{self.__name__}() takes {self.nin} positional arguments but "
                f"{len(args)} were given"
            )
        return self._call(*args)

    def _check_binary(self, what: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise ValueError(
                f"{what} only supported for binary ufuncs with one result, got {self!r}"
            )

    def reduce(
        self,
        a: ArrayLike,
        axis: Axes = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: OptionalArray = None,
        where: OptionalArray = None,
    ) -> Array:
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
        self._check_binary("reduce")
        if self._reduce is None:
            run = ufunc_methods.program_of(
                ufunc_methods.reduce, self.__name__, self._call
            )
            return run(
                a,
                axis=reductions.static_axis(axis),
                dtype=dtype,
                keepdims=keepdims,
                initial=initial,
                where=where,
                identity=self.identity,
            )
        options: dict[str, Any] = {"initial": initial, "where": where}
        if dtype is not None:
            options["dtype"] = dtype
        options = {k: v for k, v in options.items() if v is not None}
        return self._reduce(a, axis=axis, keepdims=keepdims, **options)

    def accumulate(
        self,
        a: ArrayLike,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array:
        """The function folded over the elements up to each one of an axis.

        Args:
          a: array.
          axis: the axis.
          dtype: element type of the result.
          out: must be None.
        """
        check_arraylike(f"{self.__name__}.accumulate", a)
        promotion.check_out(f"{self.__name__}.accumulate", out)
        self._check_binary("accumulate")
        if self._accumulate is None:
            run = ufunc_methods.program_of(
                ufunc_methods.accumulate, self.__name__, self._call
            )
            return run(a, axis=axis, dtype=dtype)
        return self._accumulate(a, axis=axis, dtype=dtype)

    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """The function of each element of `A` with each of `B`."""
        check_arraylike(f"{self.__name__}.outer", A, B)
        if self.nin != 2:
            raise ValueError(f"outer only supported for binary ufuncs, got {self!r}")
        first: Any = concrete_arrays.as_array_or_tracer(A)
        run = ufunc_methods.program_of(ufunc_methods.outer, self.__name__, self._call)
        return run(first, B)

    def at(
        self,
        a: ArrayLike,
        indices: Any,
        b: OptionalArray = None,
        /,
        *,
        inplace: bool = True,
    ) -> Array:
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
        check_arraylike(f"{self.__name__}.at", a)
        if self._at is None:
            operands = () if b is None else (b,)
            return ufunc_methods.update_at(self._call, a, indices, *operands)
        x = concrete_arrays.as_array_or_tracer(a)
        return getattr(at.IndexUpdateHelper(x)[indices], self._at)(b)

    def reduceat(
        self,
        a: ArrayLike,
        indices: Indices,
        axis: int = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
    ) -> Array:
        """The function folded over slices of an axis.

        Args:
          a: array.
          indices: where the slices start [n]; each ends where the next one starts, and
            is one element where that is not greater.
          axis: the axis.
          dtype: element type of the result.
          out: must be None.
        """
        check_arraylike(f"{self.__name__}.reduceat", a, indices)
        promotion.check_out(f"{self.__name__}.reduceat", out)
        self._check_binary("reduceat")
        if self._reduceat is not None:
            return self._reduceat(a, indices, axis=axis, dtype=dtype)
        run = ufunc_methods.program_of(
            ufunc_methods.reduce_segments, self.__name__, self._call
        )
        return run(a, indices, axis=axis, dtype=dtype)


def frompyfunc(
    func: Callable[..., Any],
    /,
    nin: int,
    nout: int,
    *,
    identity: OptionalArray = None,
) -> ufunc:
    """A ufunc from a function of scalars.

    Differs from NumPy: the function is traced and batched, so it computes with arrays
    and not with Python objects.

    Args:
      func: takes `nin` scalars, returns `nout`, as a tuple if there are several.
      nin: the number of its arguments.
      nout: the number of its results.
      identity: the identity element, where folds start.

    Returns:
      A function of arrays, which broadcast, with `reduce`, `accumulate`, `outer`, `at`
      and `reduceat`.

    Raises:
      TypeError: `func` is not callable, or the numbers are not ints.

    Source: NumPy, `numpy.frompyfunc`.

    Example:
      >>> import olympus.numpy as onp
      >>> hypot = onp.frompyfunc(lambda x, y: (x * x + y * y) ** 0.5, 2, 1, identity=0)
      >>> hypot.reduce(onp.array([2.0, 3.0, 6.0]))
      Array(7., dtype=float32)
    """
    if not callable(func):
        raise TypeError(
            f"numpy.frompyfunc: func must be callable, got {func!r}; pass a function "
            "of scalars"
        )
    for name, count in (("nin", nin), ("nout", nout)):
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 0:
            raise TypeError(
                f"numpy.frompyfunc: {name} must be a number of arrays, got {count!r}"
            )
    name = source_info.function_name(func)
    call = functional.vectorize(func)

    def checked(*args: Any) -> Any:
        out = call(*args)
        count = len(out) if isinstance(out, tuple) else 1
        if count != nout:
            raise ValueError(
                f"numpy.frompyfunc: {name} must return {nout} results, got {count}; "
                "give their number as nout"
            )
        return out

    return ufunc(func, int(nin), int(nout), name=name, identity=identity, call=checked)


if TYPE_CHECKING:

    class _OneResult(ufunc):
        """A ufunc with one result."""

        def __call__(
            self, *args: ArrayLike, out: None = None, where: None = None
        ) -> Array: ...


def _of(fun: Any, nin: int, **rules: Any) -> _OneResult:
    ufunc_methods.keep_steps_of(rules.get("call") or fun)
    out: Any = ufunc(fun, nin, 1, **rules)
    return out


def _with_options(reduction: Any, join: Any = None) -> Any:
    """A reduction that lacks `dtype`, or `initial`, as one that has them.

    `join` puts the start of the fold to its result.
    """

    def reduce(a: Any, dtype: Any = None, initial: Any = None, **options: Any) -> Any:
        if initial is not None and join is None:
            options["initial"] = initial
        out = reduction(a, **options)
        if initial is not None and join is not None:
            out = join(out, initial)
        return out if dtype is None else creation.astype(out, dtype)

    return reduce


add = _of(
    arithmetic.add,
    2,
    identity=0,
    reduce=reductions.sum,
    accumulate=cumulative_sums.cumsum,
    at="add",
)
subtract = _of(arithmetic.subtract, 2, at="subtract")
multiply = _of(
    arithmetic.multiply,
    2,
    identity=1,
    reduce=reductions.prod,
    accumulate=cumulative_sums.cumprod,
    at="multiply",
)
maximum = _of(arithmetic.maximum, 2, reduce=_with_options(reductions.max), at="max")
minimum = _of(arithmetic.minimum, 2, reduce=_with_options(reductions.min), at="min")
negative = _of(arithmetic.negative, 1)
logical_and = _of(
    logic.logical_and,
    2,
    identity=True,
    reduce=_with_options(reductions.all, logic.logical_and),
)
logical_or = _of(
    logic.logical_or,
    2,
    identity=False,
    reduce=_with_options(reductions.any, logic.logical_or),
)
logical_xor = _of(logic.logical_xor, 2, identity=False)
bitwise_and = _of(logic.bitwise_and, 2, identity=-1)
bitwise_or = _of(logic.bitwise_or, 2, identity=0)
bitwise_xor = _of(logic.bitwise_xor, 2, identity=0)
logaddexp = _of(elementary.logaddexp, 2, identity=-np.inf)
logaddexp2 = _of(elementary.logaddexp2, 2, identity=-np.inf)
