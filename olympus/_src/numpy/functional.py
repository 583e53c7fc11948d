"""Functions of functions: vectorize, apply_along_axis, fromfunction."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.api.vmap import vmap
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Shape
from olympus._src.foundation import source_info
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import creation, manipulation, promotion, ranges
from olympus._src.numpy.promotion import aval_of, check_arraylike

_NAMES = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(rf"^{_NAMES}(?:,{_NAMES})*->{_NAMES}(?:,{_NAMES})*$")


_CoreAxes = list[tuple[str, ...]]


class Signature(NamedTuple):
    """The core axes of a function's arguments and results, by name."""

    text: str
    inputs: _CoreAxes
    outputs: _CoreAxes

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that a text as '(n,m),(m)->(n)' says."""
        plain = re.sub(r"\s+", "", text)
        if not _SIGNATURE.match(plain):
            raise ValueError(
                f"numpy.vectorize: not a valid gufunc signature: {text}; write the "
                "axes of arguments and results as in '(n,m),(m)->(n)'"
            )
        return cls(text, *map(cls._side, plain.split("->")))

    @staticmethod
    def _side(text: str) -> _CoreAxes:
        groups = re.findall(_NAMES, text)
        return [tuple(n for n in g[1:-1].split(",") if n) for g in groups]

    def check_arguments(self, args: Sequence[Any], sizes: dict[str, int]) -> None:
        """Raises unless arguments have the core axes; notes their sizes."""
        if len(args) != len(self.inputs):
            raise TypeError(
                "numpy.vectorize: wrong number of positional arguments: expected "
                f"{len(self.inputs)}, got {len(args)} for signature {self.text!r}; "
                "name arguments that are not arrays in `excluded`"
            )
        for x, axes in zip(args, self.inputs, strict=True):
            shape = aval_of(x).shape
            if len(shape) < len(axes):
                raise ValueError(
                    f"numpy.vectorize: input with shape {shape} does not have enough "
                    f"dimensions for all core dimensions {axes} of signature "
                    f"{self.text!r}"
                )
            self._note(shape[len(shape) - len(axes) :], axes, sizes)

    def check_results(self, out: Any, sizes: dict[str, int]) -> None:
        """Raises unless the function's results have the core axes."""
        count = len(self.outputs)
        if count > 1 and not isinstance(out, tuple):
            raise TypeError(
                "numpy.vectorize: output must be a tuple when multiple outputs are "
                f"expected, got {out!r} for signature {self.text!r}"
            )
        results = out if isinstance(out, tuple) else (out,)
        if len(results) != count:
            raise TypeError(
                f"numpy.vectorize: wrong number of output arguments: expected {count}, "
                f"got {len(results)} for signature {self.text!r}"
            )
        for r, axes in zip(results, self.outputs, strict=True):
            shape = aval_of(creation.asarray(r)).shape
            if len(shape) != len(axes):
                raise ValueError(
                    f"numpy.vectorize: output shape {shape} does not match core "
                    f"dimensions {axes} of signature {self.text!r}"
                )
            self._note(shape, axes, sizes)

    def _note(self, shape: Any, axes: Any, sizes: dict[str, int]) -> None:
        for name, size in zip(axes, shape, strict=True):
            known = int(name) if name.isdigit() else sizes.setdefault(name, size)
            if known != size:
                raise ValueError(
                    f"numpy.vectorize: inconsistent size for core dimension {name!r}: "
                    f"{size} vs {known} for signature {self.text!r}"
                )


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function of arrays from one of single elements, or of arrays of few axes.

    Differs from NumPy: the function is batched, not called in a loop, so it must be one
    that can be traced.

    Args:
      pyfunc: function of arrays.
      excluded: positions and names of arguments that are passed on as they are, as
        arguments that are None always are.
      signature: the axes that `pyfunc` takes and returns, as in "(n,m),(m)->(n)"; None
        for scalar arguments, where it may return arrays.

    Returns:
      A function that maps `pyfunc` over all other axes, which broadcast.

    Raises:
      TypeError: `excluded` holds other things; the number of arguments or results
        differs from the signature.
      ValueError: the signature cannot be read, or shapes do not fit it.

    Source: NumPy, `numpy.vectorize`.

    Example:
      >>> import olympus.numpy as onp
      >>> dot = onp.vectorize(lambda x, y: x @ y, signature='(n),(n)->()')
      >>> dot(onp.zeros((2, 1, 3)), onp.ones((4, 3))).shape
      (2, 4)
    """
    if any(not isinstance(e, (int, str)) for e in excluded):
        raise TypeError(
            "numpy.vectorize: can only exclude integer or string arguments, but "
            f"excluded={excluded!r}"
        )
    if any(isinstance(e, int) and e < 0 for e in excluded):
        raise ValueError(
            f"numpy.vectorize: excluded={excluded!r} contains negative numbers; count "
            "arguments from the first"
        )
    parsed = None if signature is None else Signature.parse(signature)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        names = [k for k, x in kwargs.items() if k not in excluded and x is not None]
        places = [i for i, x in enumerate(args) if i not in excluded and x is not None]
        arrays = [args[i] for i in places] + [kwargs[k] for k in names]
        arrays = [creation.asarray(x) for x in arrays]
        sizes: dict[str, int] = {}

        def core(*parts: Any) -> Any:
            full = list(args)
            for i, x in zip(places, parts, strict=False):
                full[i] = x
            named = dict(zip(names, parts[len(places) :], strict=True))
            out = pyfunc(*full, **{**kwargs, **named})
            if parsed is not None:
                parsed.check_results(out, sizes)
            return out

        axes: list[tuple[str, ...]] = [()] * len(arrays)
        if parsed is not None:
            parsed.check_arguments(arrays, sizes)
            axes = parsed.inputs
        return _map_over_leading_axes(core, arrays, axes)

    source_info.update_wrapper(mapped, pyfunc)
    return mapped


def _map_over_leading_axes(
    core: Callable[..., Any], arrays: list[Any], axes: Any
) -> Any:
    """Maps over the axes before the core ones, from the last to the first."""
    leads = [
        aval_of(x).shape[: aval_of(x).ndim - len(a)]
        for x, a in zip(arrays, axes, strict=True)
    ]
    whole = promotion.result_shape("vectorize", leads) if leads else ()
    promotion.watch_ranks(
        "vectorize",
        {lead for x, lead in zip(arrays, leads, strict=True) if aval_of(x).ndim},
    )
    squeezed = []
    mapped_axes: list[list[int]] = []
    for x, lead in zip(arrays, leads, strict=True):
        offset = len(whole) - len(lead)
        ones = tuple([i for i, d in enumerate(lead) if d == 1])
        squeezed.append(manipulation.squeeze(x, ones) if ones else x)
        mapped_axes.append([i + offset for i, d in enumerate(lead) if d != 1])
    fun = core
    single_axes = []
    for i in range(len(whole) - 1, -1, -1):
        in_axes = tuple([0 if i in own else None for own in mapped_axes])
        if any(a is not None for a in in_axes):
            fun = vmap(fun, in_axes=in_axes)
        else:
            single_axes.append(i)
    out = fun(*squeezed)
    if fun is core:
        out = tree.tree_map(creation.asarray, out)
    if not single_axes:
        return out
    new = tuple(sorted(single_axes))
    return tree.tree_map(lambda o: manipulation.expand_dims(o, new), out)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Array:
    """A function of vectors, applied to each line along an axis.

    Differs from NumPy: the function is batched, not called in a loop, so it must be one
    that can be traced.

    Args:
      func1d: function of a vector.
      axis: the axis.
      arr: array.
      *args, **kwargs: passed on to the function.

    Source: NumPy, `numpy.apply_along_axis`.

    Example:
      >>> jnp.apply_along_axis(
      ...     lambda row: row.max() - row.min(), 1, jnp.array([[1, 5], [2, 2]])
      ... )
      Array([4, 0], dtype=int32)
    """
    check_arraylike("apply_along_axis", arr)
    rank = aval_of(arr).ndim
    axis = sizes_.canonicalize_axis(axis, rank, "numpy.apply_along_axis")

    def fun(line: Any) -> Any:
        return func1d(line, *args, **kwargs)

    for i in range(1, rank - axis):  # the outermost map takes the last axis
        fun = vmap(fun, in_axes=i, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | Shape) -> Array:
    """A function of an array and an axis, applied over several axes in turn.

    Args:
      func: `(array, axis) -> array`, which keeps or drops the axis.
      a: array.
      axes: the axes.

    Source: NumPy, `numpy.apply_over_axes`.

    Example:
      >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3, 4)), [0, 2])
      Array([[[8.],
              [8.],
              [8.]]], dtype=float32)
    """
    check_arraylike("apply_over_axes", a)
    out = creation.asarray(a)
    for axis in sizes_.as_axes(axes):
        b = func(out, axis)
        if aval_of(b).ndim == aval_of(out).ndim - 1:
            b = manipulation.expand_dims(b, axis)
        if aval_of(b).ndim != aval_of(out).ndim:
            raise ValueError("function is not returning an array of the correct shape")
        out = b
    return out


def fromfunction(
    function: Callable[..., Any],
    shape: int | Shape,
    *,
    dtype: DTypeLike = float,
    **kwargs: Any,
) -> Any:
    """A function of positions, applied to each position of a grid.

    Differs from NumPy: the function is batched over the positions, so it must be one
    that can be traced.

    Args:
      function: of one number for each axis.
      shape: sizes of the axes.
      dtype: element type of the positions.
      **kwargs: passed on to the function.

    Source: NumPy, `numpy.fromfunction`.

    Example:
      >>> jnp.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int)
      Array([[ 0,  1,  2],
             [10, 11, 12]], dtype=int32)
    """
    sizes = sizes_.canonicalize_shape(shape)
    fun: Callable[..., Any] = functools.partial(function, **kwargs)
    for i in range(len(sizes)):
        in_axes: list[int | None] = [None] * len(sizes)
        in_axes[len(sizes) - 1 - i] = 0
        fun = vmap(fun, in_axes=tuple(in_axes))
    return fun(*[ranges.arange(n, dtype=dtype) for n in sizes])
