"""Modified Bessel functions of orders 0 and 1."""

from __future__ import annotations

from typing import Any

from olympus._src.lax import bessel
from olympus._src.numpy.promotion import program
from olympus._src.scipy.special.arguments import floats


@program(1)
def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 0.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.

    Example:
      >>> from olympus.scipy import special
      >>> print(special.i0(0.0))
      1.0
    """
    return bessel.bessel_i0_p.bind(*floats("i0", x))


@program(1)
def i0e(x: Any) -> Any:
    """`exp(-|x|) i0(x)`, which does not overflow.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.
    """
    return bessel.bessel_i0e(*floats("i0e", x))


@program(1)
def i1(x: Any) -> Any:
    """Modified Bessel function of the first kind, of order 1.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.
    """
    return bessel.bessel_i1_p.bind(*floats("i1", x))


@program(1)
def i1e(x: Any) -> Any:
    """`exp(-|x|) i1(x)`, which does not overflow.

    Args:
      x: real array or number.

    Returns:
      A floating array of x's shape.
    """
    return bessel.bessel_i1e(*floats("i1e", x))
