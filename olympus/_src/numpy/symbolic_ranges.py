"""Ranges whose ends or lengths are symbolic sizes: counted while the program runs."""

from __future__ import annotations

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


def shares(num: Any, parts: Any, dtype: Any) -> Any:
    """0 to num - 1 in parts."""
    if not is_symbolic(num):
        return np.asarray((np.arange(num) / parts).astype(dtype))
    whole = promotion.full_shape(elementwise.size_value(parts, np.dtype(dtype)), (num,))
    return elementwise.div(shaping.iota(dtype, num), whole)
