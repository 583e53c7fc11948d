"""Examples for the docstrings of functions that a file generates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_EXAMPLES = {
    "acos": (
        "jnp.acos(jnp.array([1.0, -1.0]))",
        "Array([0.       , 3.1415927], dtype=float32)",
    ),
    "acosh": ("jnp.acosh(jnp.array([1.0, 0.5]))", "Array([ 0., nan], dtype=float32)"),
    "arccos": (
        "jnp.arccos(jnp.array([1.0, -1.0]))",
        "Array([0.       , 3.1415927], dtype=float32)",
    ),
    "arccosh": (
        "jnp.arccosh(jnp.array([1.0, 0.5]))",
        "Array([ 0., nan], dtype=float32)",
    ),
    "arcsin": (
        "jnp.arcsin(jnp.array([0.0, 1.0]))",
        "Array([0.       , 1.5707964], dtype=float32)",
    ),
    "arcsinh": (
        "jnp.arcsinh(jnp.array([0.0, jnp.inf]))",
        "Array([ 0., inf], dtype=float32)",
    ),
    "arctan": (
        "jnp.arctan(jnp.array([0.0, jnp.inf]))",
        "Array([0.       , 1.5707964], dtype=float32)",
    ),
    "arctanh": (
        "jnp.arctanh(jnp.array([0.0, 1.0]))",
        "Array([ 0., inf], dtype=float32)",
    ),
    "argmax": (
        "jnp.argmax(jnp.array([[1, 5], [7, 2]]), axis=1)",
        "Array([1, 0], dtype=int32)",
    ),
    "argmin": (
        "jnp.argmin(jnp.array([[1, 5], [7, 2]]), axis=1)",
        "Array([0, 1], dtype=int32)",
    ),
    "asin": (
        "jnp.asin(jnp.array([0.0, 1.0]))",
        "Array([0.       , 1.5707964], dtype=float32)",
    ),
    "asinh": (
        "jnp.asinh(jnp.array([0.0, jnp.inf]))",
        "Array([ 0., inf], dtype=float32)",
    ),
    "atan": (
        "jnp.atan(jnp.array([0.0, jnp.inf]))",
        "Array([0.       , 1.5707964], dtype=float32)",
    ),
    "atanh": ("jnp.atanh(jnp.array([0.0, 1.0]))", "Array([ 0., inf], dtype=float32)"),
    "atleast_1d": ("jnp.atleast_1d(3)", "Array([3], dtype=int32, weak_type=True)"),
    "atleast_2d": ("jnp.atleast_2d(jnp.array([1, 2]))", "Array([[1, 2]], dtype=int32)"),
    "atleast_3d": ("jnp.atleast_3d(jnp.array([1, 2])).shape", "(1, 2, 1)"),
    "bartlett": ("jnp.bartlett(5)", "Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)"),
    "bitwise_and": (
        "jnp.bitwise_and(jnp.array([6, 5]), 3)",
        "Array([2, 1], dtype=int32)",
    ),
    "bitwise_invert": (
        "jnp.bitwise_invert(jnp.array([0, 7]))",
        "Array([-1, -8], dtype=int32)",
    ),
    "bitwise_left_shift": (
        "jnp.bitwise_left_shift(jnp.array([1, 3]), 2)",
        "Array([ 4, 12], dtype=int32)",
    ),
    "bitwise_not": (
        "jnp.bitwise_not(jnp.array([0, 7]))",
        "Array([-1, -8], dtype=int32)",
    ),
    "bitwise_or": (
        "jnp.bitwise_or(jnp.array([6, 5]), 3)",
        "Array([7, 7], dtype=int32)",
    ),
    "bitwise_right_shift": (
        "jnp.bitwise_right_shift(jnp.array([16, -16]), 2)",
        "Array([ 4, -4], dtype=int32)",
    ),
    "bitwise_xor": (
        "jnp.bitwise_xor(jnp.array([6, 5]), 3)",
        "Array([5, 6], dtype=int32)",
    ),
    "blackman": (
        "jnp.blackman(3)",
        "Array([-1.3877788e-17,  1.0000000e+00, -1.3877788e-17], dtype=float32)",
    ),
    "cbrt": ("jnp.cbrt(jnp.array([0.0, 1.0]))", "Array([0., 1.], dtype=float32)"),
    "ceil": ("jnp.ceil(jnp.array([-1.5, 1.2]))", "Array([-1.,  2.], dtype=float32)"),
    "convolve": (
        "jnp.convolve(jnp.array([1, 2, 3]), jnp.array([1, 1]))",
        "Array([1., 3., 5., 3.], dtype=float32)",
    ),
    "correlate": (
        'jnp.correlate(jnp.array([1, 2, 3]), jnp.array([0, 1]), mode="full")',
        "Array([1., 2., 3., 0.], dtype=float32)",
    ),
    "cos": ("jnp.cos(jnp.array([0.0, jnp.inf]))", "Array([ 1., nan], dtype=float32)"),
    "cosh": ("jnp.cosh(jnp.array([0.0, jnp.inf]))", "Array([ 1., inf], dtype=float32)"),
    "cumprod": (
        "jnp.cumprod(jnp.array([1, 2, 3, 4]))",
        "Array([ 1,  2,  6, 24], dtype=int32)",
    ),
    "cumsum": (
        "jnp.cumsum(jnp.array([[1, 2], [3, 4]]), axis=1)",
        "Array([[1, 3],\n       [3, 7]], dtype=int32)",
    ),
    "cumulative_prod": (
        "jnp.cumulative_prod(jnp.array([2, 3]), include_initial=True)",
        "Array([1, 2, 6], dtype=int32)",
    ),
    "cumulative_sum": (
        "jnp.cumulative_sum(jnp.array([2, 3]), include_initial=True)",
        "Array([0, 2, 5], dtype=int32)",
    ),
    "deg2rad": (
        "jnp.deg2rad(jnp.array([0.0, 180.0]))",
        "Array([0.       , 3.1415927], dtype=float32)",
    ),
    "degrees": (
        "jnp.degrees(jnp.array([0.0, jnp.pi]))",
        "Array([  0., 180.], dtype=float32)",
    ),
    "empty": ("jnp.empty((2, 3)).shape", "(2, 3)"),
    "equal": (
        "jnp.equal(jnp.array([1, 2]), jnp.array([1, 3]))",
        "Array([ True, False], dtype=bool)",
    ),
    "exp": ("jnp.exp(jnp.array([0.0, -jnp.inf]))", "Array([1., 0.], dtype=float32)"),
    "exp2": ("jnp.exp2(jnp.array([0.0, 3.0]))", "Array([1., 8.], dtype=float32)"),
    "expm1": (
        "jnp.expm1(jnp.array([0.0, -jnp.inf]))",
        "Array([ 0., -1.], dtype=float32)",
    ),
    "floor": ("jnp.floor(jnp.array([-1.5, 1.2]))", "Array([-2.,  1.], dtype=float32)"),
    "greater": (
        "jnp.greater(jnp.array([1, 2]), 1)",
        "Array([False,  True], dtype=bool)",
    ),
    "greater_equal": (
        "jnp.greater_equal(jnp.array([1, 2]), 2)",
        "Array([False,  True], dtype=bool)",
    ),
    "hamming": ("jnp.hamming(3).round(2)", "Array([0.08, 1.  , 0.08], dtype=float32)"),
    "hanning": ("jnp.hanning(3)", "Array([0., 1., 0.], dtype=float32)"),
    "invert": (
        "jnp.invert(jnp.array([True, False]))",
        "Array([False,  True], dtype=bool)",
    ),
    "isneginf": (
        "jnp.isneginf(jnp.array([jnp.inf, -jnp.inf]))",
        "Array([False,  True], dtype=bool)",
    ),
    "isposinf": (
        "jnp.isposinf(jnp.array([jnp.inf, -jnp.inf]))",
        "Array([ True, False], dtype=bool)",
    ),
    "left_shift": (
        "jnp.left_shift(jnp.array([1, 3]), 2)",
        "Array([ 4, 12], dtype=int32)",
    ),
    "less": ("jnp.less(jnp.array([1, 2]), 2)", "Array([ True, False], dtype=bool)"),
    "less_equal": (
        "jnp.less_equal(jnp.array([1, 2]), 1)",
        "Array([ True, False], dtype=bool)",
    ),
    "log": (
        "jnp.log(jnp.array([1.0, 0.0, -1.0]))",
        "Array([  0., -inf,  nan], dtype=float32)",
    ),
    "log10": ("jnp.log10(jnp.array([1.0, 0.0]))", "Array([  0., -inf], dtype=float32)"),
    "log1p": (
        "jnp.log1p(jnp.array([0.0, -1.0]))",
        "Array([  0., -inf], dtype=float32)",
    ),
    "log2": ("jnp.log2(jnp.array([1.0, 0.0]))", "Array([  0., -inf], dtype=float32)"),
    "logaddexp": (
        "jnp.logaddexp(jnp.array([0.0]), -jnp.inf)",
        "Array([0.], dtype=float32)",
    ),
    "logaddexp2": (
        "jnp.logaddexp2(jnp.array([0.0]), jnp.array([0.0]))",
        "Array([1.], dtype=float32)",
    ),
    "logical_and": (
        "jnp.logical_and(jnp.array([0, 3]), True)",
        "Array([False,  True], dtype=bool)",
    ),
    "logical_or": (
        "jnp.logical_or(jnp.array([0, 3]), False)",
        "Array([False,  True], dtype=bool)",
    ),
    "logical_xor": (
        "jnp.logical_xor(jnp.array([0, 3]), True)",
        "Array([ True, False], dtype=bool)",
    ),
    "nanargmax": (
        "jnp.nanargmax(jnp.array([1.0, jnp.nan, 0.5]))",
        "Array(0, dtype=int32)",
    ),
    "nanargmin": (
        "jnp.nanargmin(jnp.array([1.0, jnp.nan, 0.5]))",
        "Array(2, dtype=int32)",
    ),
    "nancumprod": (
        "jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0]))",
        "Array([2., 2., 6.], dtype=float32)",
    ),
    "nancumsum": (
        "jnp.nancumsum(jnp.array([2.0, jnp.nan, 3.0]))",
        "Array([2., 2., 5.], dtype=float32)",
    ),
    "nanmax": (
        "jnp.nanmax(jnp.array([2.0, jnp.nan, 3.0]))",
        "Array(3., dtype=float32)",
    ),
    "nanmin": (
        "jnp.nanmin(jnp.array([2.0, jnp.nan, 3.0]))",
        "Array(2., dtype=float32)",
    ),
    "nanpercentile": (
        "jnp.nanpercentile(jnp.array([2.0, jnp.nan, 4.0]), 25)",
        "Array(2.5, dtype=float32)",
    ),
    "nanprod": (
        "jnp.nanprod(jnp.array([2.0, jnp.nan, 4.0]))",
        "Array(8., dtype=float32)",
    ),
    "nanquantile": (
        "jnp.nanquantile(jnp.array([2.0, jnp.nan, 4.0]), 0.25)",
        "Array(2.5, dtype=float32)",
    ),
    "nanstd": (
        "jnp.nanstd(jnp.array([2.0, jnp.nan, 4.0]))",
        "Array(1., dtype=float32)",
    ),
    "nansum": (
        "jnp.nansum(jnp.array([2.0, jnp.nan, 4.0]))",
        "Array(6., dtype=float32)",
    ),
    "nanvar": (
        "jnp.nanvar(jnp.array([2.0, jnp.nan, 4.0]))",
        "Array(1., dtype=float32)",
    ),
    "not_equal": (
        "jnp.not_equal(jnp.array([1, 2]), jnp.array([1, 3]))",
        "Array([False,  True], dtype=bool)",
    ),
    "ones": (
        "jnp.ones((2, 2), dtype=int)",
        "Array([[1, 1],\n       [1, 1]], dtype=int32)",
    ),
    "ones_like": (
        "jnp.ones_like(jnp.array([1.5, 2.5]))",
        "Array([1., 1.], dtype=float32)",
    ),
    "quantile": (
        "jnp.quantile(jnp.array([0.0, 1.0, 2.0]), 0.25)",
        "Array(0.5, dtype=float32)",
    ),
    "rad2deg": (
        "jnp.rad2deg(jnp.array([0.0, jnp.pi]))",
        "Array([  0., 180.], dtype=float32)",
    ),
    "radians": (
        "jnp.radians(jnp.array([0.0, 180.0]))",
        "Array([0.       , 3.1415927], dtype=float32)",
    ),
    "right_shift": (
        "jnp.right_shift(jnp.array([16, -16]), 2)",
        "Array([ 4, -4], dtype=int32)",
    ),
    "sin": ("jnp.sin(jnp.array([0.0, jnp.inf]))", "Array([ 0., nan], dtype=float32)"),
    "sinh": (
        "jnp.sinh(jnp.array([0.0, -jnp.inf]))",
        "Array([  0., -inf], dtype=float32)",
    ),
    "sqrt": ("jnp.sqrt(jnp.array([4.0, -1.0]))", "Array([ 2., nan], dtype=float32)"),
    "tan": ("jnp.tan(jnp.array([0.0, jnp.inf]))", "Array([ 0., nan], dtype=float32)"),
    "tanh": ("jnp.tanh(jnp.array([0.0, jnp.inf]))", "Array([0., 1.], dtype=float32)"),
    "tril_indices": (
        "jnp.tril_indices(2)",
        "(Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))",
    ),
    "triu_indices": (
        "jnp.triu_indices(2)",
        "(Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))",
    ),
    "zeros": (
        "jnp.zeros((2, 2))",
        "Array([[0., 0.],\n       [0., 0.]], dtype=float32)",
    ),
    "zeros_like": (
        "jnp.zeros_like(jnp.array([1, 2]), shape=(2, 2))",
        "Array([[0, 0],\n       [0, 0]], dtype=int32)",
    ),
}


def describe(fun: Callable[..., Any], name: str, text: str) -> Any:
    """Gives a function its name and its docstring, with the example at the end."""
    fun.__name__ = fun.__qualname__ = name
    fun.__doc__ = f"{text}{of(name)}    "
    return fun


def of(name: str) -> str:
    """The section of the docstring of `numpy.name` that shows its use, if any."""
    if name not in _EXAMPLES:
        return ""
    code, result = _EXAMPLES[name]
    lines = result.replace("\n", "\n      ")
    return f"\n    Example:\n      >>> {code}\n      {lines}\n"
