"""What functions of distributions share: arguments, documentation, pieces of formulas.

`functions_of(...)` makes the decorator that turns a formula, written for arguments of
one floating dtype and shape, into a public function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np

from olympus._src.core import avals, dtypes, trace
from olympus._src.interpreters import concrete_arrays, evaluate
from olympus._src.lax import elementwise as lax
from olympus._src.lax import sizes
from olympus._src.numpy import promotion, selection
from olympus._src.scipy.stats import docstring_examples

F = TypeVar("F", bound=Callable[..., Any])
where = selection.where
INFINITY = float("inf")
NAN = float("nan")

_WHAT = {
    "logpdf": "Logarithm of the density",
    "pdf": "Density",
    "logpmf": "Logarithm of the probability of each value",
    "pmf": "Probability of each value",
    "cdf": "Distribution function, the probability of values up to the argument,",
    "logcdf": "Logarithm of the distribution function",
    "sf": "Survival function, the probability of values above the argument,",
    "logsf": "Logarithm of the survival function",
    "ppf": "Quantile function, the inverse of `cdf`,",
    "isf": "Inverse of the survival function",
    "entropy": "Entropy in nats",
}
_COMMON = {
    "x": "where to evaluate; array or number.",
    "k": "counts; array or number.",
    "q": "probabilities; array or number.",
    "p": "probabilities; array or number.",
    "loc": "shift of the distribution.",
    "scale": "factor by which it is stretched, positive.",
}
# Functions whose results are weak only where the first argument is a number, and those
# that are as weak as the promoted arguments, as JAX has it; the others as they come.
_OF_NUMBERS = {
    "bernoulli": ("logpmf", "pmf", "cdf", "ppf"),
    "beta": ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"),
    "betabinom": ("logpmf", "pmf"),
    "cauchy": ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"),
    "chi2": ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf"),
    "gamma": ("logpdf", "pdf", "cdf", "logcdf"),
    "geom": ("logpmf", "pmf"),
    "gumbel_r": ("sf",),
    "laplace": ("logpdf", "pdf", "cdf"),
    "logistic": ("logpdf", "pdf", "ppf", "isf"),
    "nbinom": ("logpmf", "pmf"),
    "norm": ("logpdf", "pdf"),
    "pareto": ("logpdf", "pdf", "cdf", "sf", "logsf", "ppf"),
    "poisson": ("cdf",),
    "t": ("logpdf", "pdf"),
}
_AS_WEAK = {"gamma": ("sf", "logsf"), "pareto": ("logcdf",)}


def functions_of(name: str, what: str, /, **parameters: str) -> Callable[[F], F]:
    """A decorator for the functions of a distribution.

    The formula gets arrays of one floating dtype whose shapes broadcast; the function
    made of it takes anything like an array and runs as one program.

    Args:
      name: the distribution's public name.
      what: the distribution in words, for the documentation.
      parameters: what each parameter of its own means.
    """

    def define(formula: F) -> F:
        code = formula.__code__
        names = code.co_varnames[: code.co_argcount]
        full_name = f"scipy.stats.{name}.{formula.__name__}"
        of_numbers = formula.__name__ in _OF_NUMBERS.get(name, ())
        is_as_weak = formula.__name__ in _AS_WEAK.get(name, ())

        def run(*operands: Any) -> Any:
            promoted = floating(full_name, names, operands)
            out = _compute_short_floats_wide(formula, promoted)
            if not (of_numbers or is_as_weak):
                return out
            first = avals.aval_of(promoted[0])  # all are of one dtype
            weak = first.weak_type and (is_as_weak or not first.shape)
            return lax.convert(out, avals.aval_of(out).dtype, weak)

        run.__name__ = run.__qualname__ = f"{name}_{formula.__name__}"
        function = public(formula, evaluate.fuse(run))
        function.__doc__ = _document(name, what, formula.__name__, names, parameters)
        return function

    return define


def _compute_short_floats_wide(formula: Any, operands: list[Any]) -> Any:
    """The formula's result; of floats of two bytes by float32, and rounded once."""
    first = avals.aval_of(operands[0])
    if dtypes.itemsize_bits(first.dtype) >= 32:
        return formula(*operands)
    wide = [
        lax.convert(x, np.dtype(np.float32), avals.aval_of(x).weak_type)
        for x in operands
    ]
    return lax.convert(formula(*wide), first.dtype, first.weak_type)


def public(signature: F, run: Callable[..., Any]) -> F:
    """`run`, which takes all by position, with the signature of another function."""
    code = signature.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = signature.__defaults__ or ()
    values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))

    @functools.wraps(signature)
    def call(*args: Any, **kwargs: Any) -> Any:
        count = len(args)
        if count == len(names) and not kwargs:
            return run(*args)
        remaining = names[count:]
        arguments = values | kwargs
        if count > len(names) or not (
            kwargs.keys() <= set(remaining) <= arguments.keys()
        ):
            return signature(*args, **kwargs)  # Python says what is wrong
        return run(*args, *[arguments[key] for key in remaining])

    return cast("F", call)


def _document(
    name: str, what: str, kind: str, names: Any, parameters: Mapping[str, str]
) -> str:
    said = {**_COMMON, **parameters}
    lines = "\n".join(f"      {key}: {said[key]}" for key in names)
    return f"""{_WHAT[kind]} of {what}, elementwise.

    Args:
{lines}

    Returns:
      A floating array of the common shape of the arguments.

    Raises:
      TypeError: an argument is neither an array nor a number, or is complex.
      TypeError, ValueError: shapes do not broadcast.

    Source: SciPy, `scipy.stats.{name}`.
{docstring_examples.of(name, kind)}    """


def check(name: str, names: Any, operands: Any) -> None:
    """Raises TypeError unless all are real arrays or numbers; lists are not."""
    for key, x in zip(names, operands, strict=True):
        if not avals.is_array_like(x):
            raise TypeError(
                f"{name}: {key} must be an array or a number, got {type(x).__name__}; "
                "convert it with numpy.asarray"
            )
        aval = avals.aval_of(x)
        if dtypes.kind(aval.dtype) not in "fiub":
            raise TypeError(
                f"{name}: {key} must be real, got {aval.short()}; take its real part"
            )


def floating(name: str, names: Any, operands: Any) -> list[Any]:
    """Arguments as arrays of one floating dtype and shape; scalars stay scalars."""
    check(name, names, operands)
    out = same_dtype(*operands)
    shapes = [avals.aval_of(x).shape for x in out]
    if len({s for s in shapes if s}) < 2:
        return out
    try:
        shape = sizes.broadcast_shapes(*shapes)
    except ValueError:
        said = ", ".join(f"{k} {s}" for k, s in zip(names, shapes, strict=True))
        # Equal ranks are a type error and others a value error, as in the field.
        kind = TypeError if len({len(s) for s in shapes if s}) == 1 else ValueError
        raise kind(
            f"{name}: shapes must broadcast, got {said}; sizes must be equal or 1, "
            "counted from the last axis"
        ) from None
    return [promotion.broadcast_to_shape(x, shape) for x in out]


def same_dtype(*operands: Any) -> list[Any]:
    """Arguments as arrays of one floating dtype."""
    return _as_arrays(promotion.promote_inexact(*operands))


def mixed_dtype(*operands: Any) -> list[Any]:
    """As `same_dtype`, for counts and probabilities, whose dtypes always differ."""
    return _as_arrays(promotion.promote_mixed(*operands))


def _as_arrays(values: list[Any]) -> list[Any]:
    return [
        x if isinstance(x, trace.Tracer) else concrete_arrays.as_array(x)
        for x in values
    ]
