"""Softmax and its logarithm over all axes, unless one is chosen."""

from __future__ import annotations

from typing import Any

from olympus._src.numpy import softmaxes
from olympus._src.scipy.special.arguments import check


def softmax(x: Any, /, *, axis: Any = None) -> Any:
    """Exponentials divided by their sum: positive numbers that add up to 1.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.

    Returns:
      A floating array of x's shape.

    Example:
      >>> import numpy as np
      >>> from olympus.scipy import special
      >>> print(special.softmax(np.float32([0, 0])))
      [0.5 0.5]
    """
    check("softmax", x)
    return softmaxes.softmax(x, axis)


def log_softmax(x: Any, /, *, axis: Any = None) -> Any:
    """Logarithm of `softmax`, exact where that is close to 0.

    Args:
      x: array or number.
      axis: the axis or axes summed over; None for all.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> special.log_softmax(jnp.array([0.0, -jnp.inf]))
      Array([  0., -inf], dtype=float32)
    """
    check("log_softmax", x)
    return softmaxes.log_softmax(x, axis)
