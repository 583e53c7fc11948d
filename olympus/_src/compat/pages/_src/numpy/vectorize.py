"""The parts of `vectorize`: core axes of arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from olympus._src.core import avals
from olympus._src.numpy import promotion
from olympus._src.numpy.functional import Signature
from olympus._src.numpy.functional import vectorize as vectorize

_Axes = list[tuple[str, ...]]


def _parse_gufunc_signature(signature: str) -> tuple[_Axes, _Axes]:
    """The names of the core axes of arguments, and of results.

    Raises:
      ValueError: the text is no signature.
    """
    parsed = Signature.parse(signature)
    return parsed.inputs, parsed.outputs


def _parse_input_dimensions(
    args: Sequence[Any], input_core_dims: _Axes, error_context: str = ""
) -> tuple[tuple[int, ...], dict[str, int]]:
    """The shape of all axes but the core ones, and the sizes of these by name.

    Raises:
      TypeError: the number of arguments differs.
      ValueError: shapes do not fit.
    """
    sizes: dict[str, int] = {}
    signature = Signature(str(input_core_dims), input_core_dims, [])
    signature.check_arguments(args, sizes)
    leads = [
        shape[: len(shape) - len(axes)]
        for shape, axes in zip(map(_shape, args), input_core_dims, strict=True)
    ]
    return promotion.result_shape("vectorize", leads), sizes


def _shape(x: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = avals.aval_of(x).shape
    return shape


def _apply_excluded(
    func: Callable[..., Any],
    excluded: Collection[int | str],
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]:
    """A function of the arguments that are not excluded, and these arguments."""
    if not excluded:
        return func, args, kwargs
    places = [i for i in range(len(args)) if i not in excluded]
    fixed = {k: x for k, x in kwargs.items() if k in excluded}

    def of_others(*others: Any, **named: Any) -> Any:
        full = list(args)
        for i, x in zip(places, others, strict=True):
            full[i] = x
        return func(*full, **fixed, **named)

    others = {k: x for k, x in kwargs.items() if k not in excluded}
    return of_others, [args[i] for i in places], others


def _check_output_dims(
    func: Callable[..., Any],
    dim_sizes: dict[str, int],
    expected_output_core_dims: _Axes,
    error_context: str = "",
) -> Callable[..., Any]:
    """A function that raises where the results' core axes differ from the names."""
    text = str(expected_output_core_dims)
    signature = Signature(text, [], expected_output_core_dims)

    def call_checked(*args: Any) -> Any:
        out = func(*args)
        signature.check_results(out, dict(dim_sizes))
        return out

    return call_checked


__all__ = [
    "_apply_excluded",
    "_check_output_dims",
    "_parse_gufunc_signature",
    "_parse_input_dimensions",
    "vectorize",
]
