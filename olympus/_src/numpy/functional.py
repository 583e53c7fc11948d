"""Functions of functions: vectorize, apply_along_axis, fromfunction."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from olympus._src.api.vmap import vmap
from olympus._src.lax import sizes as sizes_
from olympus._src.numpy import creation, manipulation, promotion
from olympus._src.numpy.promotion import aval_of, check_arraylike

_NAMES = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(rf"^{_NAMES}(?:,{_NAMES})*->{_NAMES}(?:,{_NAMES})*$")


def _parse(signature: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Names of the core axes of arguments and of results."""
    text = signature.replace(" ", "")
    if not _SIGNATURE.match(text):
        raise ValueError(
            f"not a valid gufunc signature: {signature}; numpy.vectorize takes one "
            "such as "
            "'(n,m),(m)->(n)'"
        )
    sides = []
    for side in text.split("->"):
        groups = re.findall(_NAMES, side)
        sides.append([tuple(n for n in g[1:-1].split(",") if n) for g in groups])
    return sides[0], sides[1]


def _core_sizes(args: Any, names: Any, sizes: dict[str, int]) -> None:
    for x, axes in zip(args, names, strict=True):
        shape = aval_of(x).shape
        if len(shape) < len(axes):
            raise ValueError(
                f"input with shape {shape} does not have enough dimensions for all "
                "core "
                f"dimensions {axes}; numpy.vectorize"
            )
        own = shape[len(shape) - len(axes) :]
        for name, size in zip(axes, own, strict=True):
            known = int(name) if name.isdigit() else sizes.setdefault(name, size)
            if known != size:
                raise ValueError(
                    f"inconsistent size for core dimension {name!r}: {size} vs "
                    f"{known}; "
                    "numpy.vectorize"
                )


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function of arrays from one of single elements, or of arrays of few axes.

    Args:
      pyfunc: function of arrays.
      excluded: positions and names of arguments that are passed on as they are.
      signature: the axes that `pyfunc` takes and returns, as in "(n,m),(m)->(n)"; None
        for scalars.

    Returns:
      A function that maps `pyfunc` over all other axes, which broadcast.

    Source: NumPy, `numpy.vectorize`.
    """
    if any(not isinstance(e, (int, str)) for e in excluded):
        raise TypeError(
            "jax.numpy.vectorize can only exclude integer or string arguments, but "
            f"excluded={excluded!r}".replace("jax.", "")
        )
    if any(isinstance(e, int) and e < 0 for e in excluded):
        raise ValueError(
            f"excluded={excluded!r} contains negative numbers; numpy.vectorize"
        )
    parsed = None if signature is None else _parse(signature)

    @functools.wraps(pyfunc)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        names = [k for k in kwargs if k not in excluded]
        places = [i for i in range(len(args)) if i not in excluded]
        arrays = [args[i] for i in places] + [kwargs[k] for k in names]
        check_arraylike("vectorize", *arrays)
        arrays = [creation.asarray(x) for x in arrays]

        def core(*parts: Any) -> Any:
            full = list(args)
            for i, x in zip(places, parts, strict=False):
                full[i] = x
            named = dict(zip(names, parts[len(places) :], strict=True))
            out = pyfunc(*full, **{**kwargs, **named})
            return _checked(out, parsed, sizes)

        sizes: dict[str, int] = {}
        axes = parsed[0] if parsed is not None else [()] * len(arrays)
        if len(axes) != len(arrays):
            raise TypeError(
                f"wrong number of positional arguments: expected {len(axes)}, got "
                f"{len(arrays)}; numpy.vectorize"
            )
        _core_sizes(arrays, axes, sizes)
        return _map_over_rest(core, arrays, axes)

    return mapped


def _checked(out: Any, parsed: Any, sizes: dict[str, int]) -> Any:
    """The results, once their shapes are those of the signature."""
    results = out if isinstance(out, tuple) else (out,)
    if parsed is None:
        if any(
            np.shape(r) if not hasattr(r, "aval") else aval_of(r).shape for r in results
        ):
            raise ValueError(
                "numpy.vectorize: the function must return scalars without a "
                "signature; "
                "give one, as '()->(n)'"
            )
        return out
    if len(results) != len(parsed[1]):
        raise TypeError(
            f"output must have {len(parsed[1])} elements, got {len(results)}; "
            "numpy.vectorize"
        )
    _core_results(results, parsed[1], sizes)
    return out


def _core_results(results: Any, names: Any, sizes: dict[str, int]) -> None:
    for r, axes in zip(results, names, strict=True):
        if aval_of(r).ndim != len(axes):
            raise ValueError(
                f"output shape {aval_of(r).shape} does not match core dimensions "
                f"{axes}; "
                "numpy.vectorize"
            )
    _core_sizes(results, names, sizes)


def _map_over_rest(core: Callable[..., Any], arrays: list[Any], axes: Any) -> Any:
    """Maps over the axes before the core ones, from the last to the first."""
    leads = [
        aval_of(x).shape[: aval_of(x).ndim - len(a)]
        for x, a in zip(arrays, axes, strict=True)
    ]
    whole = promotion.result_shape("vectorize", leads) if leads else ()
    squeezed = []
    mapped_axes: list[list[int]] = []
    for x, lead in zip(arrays, leads, strict=True):
        offset = len(whole) - len(lead)
        ones = tuple([i for i, d in enumerate(lead) if d == 1])
        squeezed.append(manipulation.squeeze(x, ones) if ones else x)
        mapped_axes.append([i + offset for i, d in enumerate(lead) if d != 1])
    fun = core
    kept = []
    for i in range(len(whole) - 1, -1, -1):
        in_axes = tuple([0 if i in own else None for own in mapped_axes])
        if any(a is not None for a in in_axes):
            fun = vmap(fun, in_axes=in_axes)
        else:
            kept.append(i)
    out = fun(*squeezed)
    if not kept:
        return out
    new = tuple(sorted(kept))
    if isinstance(out, tuple):
        return tuple([manipulation.expand_dims(o, new) for o in out])
    return manipulation.expand_dims(out, new)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """A function of vectors, applied to each line along an axis.

    Args:
      func1d: function of a vector.
      axis: the axis.
      arr: array.
      *args, **kwargs: passed on to the function.

    Source: NumPy, `numpy.apply_along_axis`.
    """
    check_arraylike("apply_along_axis", arr)
    rank = aval_of(arr).ndim
    axis = sizes_.canonicalize_axis(axis, rank, "numpy.apply_along_axis")

    def fun(line: Any) -> Any:
        return func1d(line, *args, **kwargs)

    for _ in range(rank - axis - 1):
        fun = vmap(fun, in_axes=1, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """A function of an array and an axis, applied over several axes in turn.

    Args:
      func: `(array, axis) -> array`, which keeps or drops the axis.
      a: array.
      axes: the axes.

    Source: NumPy, `numpy.apply_over_axes`.
    """
    check_arraylike("apply_over_axes", a)
    out = creation.asarray(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        b = func(out, axis)
        if aval_of(b).ndim == aval_of(out).ndim - 1:
            b = manipulation.expand_dims(b, axis)
        if aval_of(b).ndim != aval_of(out).ndim:
            raise ValueError("function is not returning an array of the correct shape")
        out = b
    return out


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """A function of positions, applied to each position of a grid.

    Args:
      function: of one number for each axis.
      shape: sizes of the axes.
      dtype: element type of the positions.
      **kwargs: passed on to the function.

    Source: NumPy, `numpy.fromfunction`.
    """
    sizes = sizes_.canonicalize_shape(shape)
    fun: Callable[..., Any] = functools.partial(function, **kwargs)
    for i in range(len(sizes)):
        in_axes: list[int | None] = [None] * len(sizes)
        in_axes[len(sizes) - 1 - i] = 0
        fun = vmap(fun, in_axes=tuple(in_axes))
    return fun(*[creation.arange(n, dtype=dtype) for n in sizes])
