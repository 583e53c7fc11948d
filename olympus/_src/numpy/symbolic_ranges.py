"""Ranges whose ends or lengths are symbolic sizes: counted while the program runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.sizes import as_size, at_least, is_symbolic, non_negative
from olympus._src.lax import elementwise, shaping
from olympus._src.numpy import promotion


def symbolic_range(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """A range between symbolic sizes, counted while the program runs."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    for x in (start, stop, step):
        if not (is_symbolic(x) or isinstance(x, (int, np.integer))):
            raise TypeError(
                "numpy.arange: with symbolic sizes all arguments must be integers or "
                f"sizes, got {x!r}; convert the result with astype"
            )
    start, stop, step = as_size(start), as_size(stop), as_size(step)
    kind = dtypes.canonicalize_dtype(int if dtype is None else dtype)
    if at_least(step, 1):
        length = non_negative(stop - start + step - 1) // step
    elif at_least(-1, step):
        length = non_negative(start - stop - step - 1) // -step
    else:
        raise ValueError(
            f"numpy.arange: the sign of the step must be known, got the symbolic {step}"
        )
    whole = dtypes.canonicalize_dtype(int)
    counted = shaping.iota(kind if (start, step) == (0, 1) else whole, length)
    if step != 1:
        counted = elementwise.mul(
            counted,
            promotion.full_shape(elementwise.size_value(step, whole), (length,)),
        )
    if start != 0:
        first = elementwise.size_value(start, whole)
        counted = elementwise.add(counted, promotion.full_shape(first, (length,)))
    return elementwise.convert(counted, kind)


def weights(num: Any, parts: Any, dtype: Any) -> tuple[Any, Any, Any, Any]:
    """What both ends of a range count for, at each of `num` steps of one of `parts`.

    Returns:
      The numbers of the steps, `parts` as often, and the weights of the first and of
      the last end: floats that are not above one, exact unless `parts` is symbolic.
    """
    whole = dtypes.canonicalize_dtype(int)
    steps = shaping.iota(whole, num)
    last = promotion.full_shape(elementwise.size_value(parts, whole), (num,))
    if is_symbolic(parts):
        scale = elementwise.convert(last, dtype)
    else:
        scale = np.asarray(2.0 ** math.frexp(parts)[1], dtype)[()]
    counts = elementwise.sub(last, steps), steps
    first, second = (
        elementwise.div(elementwise.convert(x, dtype), scale) for x in counts
    )
    return steps, last, first, second
