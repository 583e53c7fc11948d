"""The logarithm of the gamma function, exact to the last digits around its zeros too.

By size: Taylor's series about 1 and 2 (Abramowitz, Stegun 6.1.33), the recurrence
(6.1.15) down to those, Stirling's series (6.1.41), and reflection (6.1.17).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from olympus._src.core import avals, dtypes, ir
from olympus._src.foundation import caching
from olympus._src.interpreters import partial_eval
from olympus._src.lax import elementwise as e
from olympus._src.lax import half_turns
from olympus._src.numerics import gamma_terms as terms

_number, _filled = terms.number, terms.like

# (-1)^n (zeta(n) - 1) / n for n = 2, 3, ...; zeta by mpmath with 40 digits.
_SERIES = (
    0.3224670334241132, -0.0673523010531981, 0.020580808427784546,
    -0.007385551028673986, 0.0028905103307415234, -0.001192753911703261,
    0.0005096695247430425, -0.00022315475845357939, 9.945751278180853e-05,
    -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06,
    4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07,
    -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07,
    4.7698101693639804e-08, -2.2711094608943164e-08, 1.0838659214896955e-08,
    -5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09,
    5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10,
)  # fmt: skip
_FIRST = 0.42278433509846713  # 1 - Euler's constant


def lower(ctx: Any, x: str) -> str:
    """A call of the function, which a module has once for each shape and dtype."""
    aval = ctx.avals_out[0]
    program = _program(avals.ShapedArray(aval.shape, aval.dtype), ctx.platform)
    (out,) = ctx.module.call(ctx, program, "lgamma", [x])
    return out


@caching.bounded_cache(256, "logarithms of the gamma function")
def _program(aval: Any, platform: str) -> ir.Olympuspr:
    info = ir.DebugInfo("lowering", "lgamma")
    program, _ = partial_eval.trace_to_olympuspr(lambda x: [log_gamma(x)], [aval], info)
    return partial_eval.expand(program, platform)


@terms.wide
def log_gamma(x: Any) -> Any:
    """`log(abs(gamma(x)))` of an array of floats."""
    size = e.abs_(x)
    is_small = e.lt(size, _number(x, 0.5))
    # Around 0 the series is that of x + 1, whose sign it needs.
    out = _positive(e.select(is_small, x, size), size, is_small)
    is_turned = e.le(x, _number(x, -0.5))
    out = e.select(is_turned, _reflect(size, out), out)
    endless = _number(x, np.inf)
    return e.select(e.eq(size, endless), _filled(x, np.inf), out)


def lgamma1p(z: Any) -> Any:
    """`log(gamma(1 + z))` of an array of at most 1/2 in size, of which 1 + z rounds."""
    return e.sub(_series(z, 27 if terms.is_double(z) else 12), e.log1p(z))


def _positive(x: Any, size: Any, is_small: Any) -> Any:
    """The function from -0.5 on; `size` is `abs(x)`, and below 0.5 where `is_small`."""
    is_double = dtypes.itemsize_bits(avals.aval_of(x).dtype) == 64
    steps = 6 if is_double else 2
    near_one = e.lt(x, _number(x, 1.5))
    is_large = e.ge(x, _number(x, 2.5 + steps))
    lowered, product = _take_down(x, steps)
    offset = e.select(is_small, x, e.sub(x, _number(x, 1)))
    z = e.select(near_one, offset, e.sub(lowered, _number(x, 2)))
    z = e.select(is_large, _filled(x, 0), z)
    log = e.log(e.select(is_large, x, e.select(is_small, size, product)))
    near = _series(z, 27 if is_double else 12)
    # Below 1.5 gamma(x) is gamma(x + 1) / x, and so around 0 twice.
    low = e.sub(near, e.log1p(e.select(near_one, z, _filled(x, 0))))
    low = e.select(is_small, e.sub(low, log), low)
    safe = e.select(is_large, x, _filled(x, 2.5 + steps))
    large = _stirling(safe, log, 9 if is_double else 5)
    middle = e.add(near, log)
    return e.select(is_large, large, e.select(near_one, low, middle))


def _take_down(x: Any, steps: int) -> tuple[Any, Any]:
    """Values below 2.5, in steps of 1, and the product of those that were passed."""
    lowered, product = x, _filled(x, 1)
    for _ in range(steps):
        is_above = e.ge(lowered, _number(x, 2.5))
        next_ = e.sub(lowered, _number(x, 1))
        product = e.select(is_above, e.mul(product, next_), product)
        lowered = e.select(is_above, next_, lowered)
    return lowered, product


def _series(z: Any, last: int) -> Any:
    """The logarithm of gamma(2 + z) for small z."""
    total = _filled(z, 0)
    for c in reversed((_FIRST, *_SERIES[: last - 1])):
        total = e.mul(e.add(total, _number(z, c)), z)
    return total


def _stirling(x: Any, log: Any, count: int) -> Any:
    """`(x - 1/2)(log(x) - 1)` and what is small beside it: x itself does not cancel."""
    constant = _number(x, 0.5 * math.log(2 * math.pi) - 0.5)
    small = e.add(terms.stirling(x, count), constant)
    one, half = _number(x, 1), _number(x, 0.5)
    return e.add(e.mul(e.sub(x, half), e.sub(log, one)), small)


def _reflect(size: Any, out: Any) -> Any:
    """The function at `-size`, from that at `size`; infinite at integers."""
    sine = e.abs_(half_turns.sine_of_pi(size))
    is_whole = e.eq(sine, _number(size, 0))
    # Where `size` is large, what is added is infinite too, of the other sign.
    log = e.log(e.mul(size, e.select(is_whole, _filled(size, 1), sine)))
    reflected = e.sub(_number(size, math.log(math.pi)), e.add(log, out))
    return e.select(is_whole, _filled(size, np.inf), reflected)
