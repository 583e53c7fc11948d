"""The usual cures of NaNs and infinities, by operation and operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Facts(NamedTuple):
    """What is known of an operation that made a bad number.

    Attributes:
      name: the operation's.
      direction: 'backward', 'forward' within a derivative, or ''.
      there: for each operand its value at the bad element, or None.
      operands: the operands, or None.
      value: the bad number.
      dtype: of the result.
      params: the operation's.
      source: the user's line.
    """

    name: str
    direction: str
    there: list[Any]
    operands: list[Any]
    value: Any
    dtype: Any
    params: Any
    source: str


_DOUBLE_WHERE = (
    "a derivative that is infinite at this point: guard the operand, not only the "
    "result (double where): safe = where(ok, x, 1.0); y = where(ok, f(safe), 0.0)"
)
_EXPONENTIAL = (
    "exp overflows above 88 in float32 (11 in float16): subtract the maximum first, or "
    "use logsumexp, log_softmax, softplus or expm1, which do"
)


def cure(facts: Facts) -> str:
    """What usually helps; '' where nothing is known."""
    for x, operand in zip(facts.there, facts.operands, strict=True):
        value = x if x is not None else operand
        if value is not None and _is_inexact(value) and np.isnan(value).any():
            return (
                "the operand is NaN already, a constant or a value that the program "
                "was given: look for where it is made"
            )
    special = _BY_NAME.get(facts.name)
    text = special(facts) if special else ""
    if facts.direction and not _is_domain(facts, text):
        text = _in_a_derivative(facts) or text
    return text or _overflow(facts) or _infinite_operand(facts)


def _is_domain(facts: Facts, text: str) -> bool:
    """Whether the operation is the user's own, in the forward pass."""
    own = facts.name not in ("mul", "div", "add", "sub", "neg", "integer_pow", "rsqrt")
    return bool(text) and own


def _is_inexact(value: Any) -> bool:
    return np.asarray(value).dtype.kind not in "biuSUOV"


def _has(facts: Facts, test: Callable[[Any], Any]) -> bool:
    return any(
        x is not None and _is_inexact(x) and bool(np.any(test(np.asarray(x))))
        for x in facts.there
    )


def _in_a_derivative(facts: Facts) -> str:
    infinite = _has(facts, np.isinf)
    is_masked = "where" in facts.source
    if infinite and "exp(" in facts.source and not is_masked:  # exp is what overflowed
        return _EXPONENTIAL
    by_zero = facts.name == "div" and _is_zero(_at(facts, 1))
    by_zero = by_zero or facts.name in ("integer_pow", "rsqrt", "pow")
    return _DOUBLE_WHERE if infinite or by_zero else ""


def _at(facts: Facts, i: int) -> Any:
    if i >= len(facts.there) or facts.there[i] is None:
        return None
    value = np.asarray(facts.there[i])
    if value.dtype.kind == "c":
        return complex(value)
    return float(value)


def _is_zero(value: Any) -> bool:
    return value is not None and value == 0


def _log(facts: Facts) -> str:
    x = _at(facts, 0)
    shift = 1.0 if facts.name == "log1p" else 0.0
    if x is None or isinstance(x, complex):
        return ""
    name, edge = facts.name, 0.0 - shift
    if x == edge:
        return (
            f"{name} of {edge:g} is -inf: add a small number, as in log(x + 1e-6), or "
            "use xlogy, log_softmax or logsumexp, which know this case"
        )
    if x < edge:
        return (
            f"{name} needs an operand of at least {edge:g}: clip it, as in "
            "log(maximum(x, 1e-6)), or use abs"
        )
    return ""


def _root(facts: Facts) -> str:
    x = _at(facts, 0)
    if x is None or isinstance(x, complex):
        return ""
    if x < 0:
        return (
            f"{facts.name} of a negative number: clip it, as in sqrt(maximum(x, 0)); "
            "a variance or distance is often below 0 by rounding"
        )
    return f"{facts.name} of 0 is infinite: add a small number, as in rsqrt(x + 1e-6)"


def _div(facts: Facts) -> str:
    x, y = _at(facts, 0), _at(facts, 1)
    if _is_zero(y):
        what = "0/0" if _is_zero(x) else "division by zero"
        return (
            f"{what}: replace the divisor first, as in x / where(y == 0, 1, y), or add "
            "a small number; a mean of nothing (of no element, or all masked) does this"
        )
    if x is not None and y is not None and np.isinf(x) and np.isinf(y):
        return f"inf/inf: both overflowed before; {_EXPONENTIAL}"
    return ""


def _rem(facts: Facts) -> str:
    if _is_zero(_at(facts, 1)):
        return (
            "remainder of a division by zero: use where(y == 0, 1, y) for the divisor"
        )
    return "the remainder of an infinite number is not defined"


def _exp(facts: Facts) -> str:
    return _EXPONENTIAL


def _pow(facts: Facts) -> str:
    x, y = _at(facts, 0), _at(facts, 1)
    if facts.name == "integer_pow":
        y = float(facts.params.get("y", 1))
    if _is_zero(x) and y is not None and y < 0:
        return (
            "a negative power of 0 is infinite: guard the base, as in "
            "where(x == 0, 1, x)"
        )
    if x is not None and not isinstance(x, complex) and x < 0 and np.isnan(facts.value):
        return (
            "a power of a negative base with an exponent that is not an integer: use "
            "abs(x) ** y, sign(x) * abs(x) ** y, or an integer exponent"
        )
    return "the power overflows: take logarithms, or a wider dtype"


def _arc(facts: Facts) -> str:
    x = _at(facts, 0)
    return (
        f"{facts.name} is defined from -1 to 1, got {x}: clip(x, -1, 1); cosines of "
        "angles are often beyond by rounding"
    )


def _acosh(facts: Facts) -> str:
    return "acosh is defined from 1: use maximum(x, 1)"


def _atanh(facts: Facts) -> str:
    return (
        f"{facts.name} is infinite at -1 and 1 and not defined beyond: clip(x, -1 + "
        "1e-6, 1 - 1e-6)"
    )


def _sub(facts: Facts) -> str:
    if _has(facts, np.isinf) and np.isnan(facts.value):
        return (
            "inf - inf: an infinity was made before (by exp, log of 0 or an overflow), "
            "or masks of -inf fill a whole row; debug_infs finds the former, a large "
            "finite number in place of -inf mends the latter"
        )
    return ""


def _mul(facts: Facts) -> str:
    if _has(facts, np.isinf) and np.isnan(facts.value):
        return (
            "0 * inf: a mask by multiplication keeps infinities; use where(mask, x, 0) "
            "and keep the infinity from being made"
        )
    return ""


def _factor(facts: Facts) -> str:
    return (
        "the matrix is singular, or not positive definite, by rounding: add a small "
        "multiple of the identity, as in a + 1e-6 * eye(n), or use float64"
    )


def _wave(facts: Facts) -> str:
    return f"{facts.name} of an infinite number: it overflowed; see debug_infs"


def _cast(facts: Facts) -> str:
    return _overflow(facts) or ""


def _gamma(facts: Facts) -> str:
    return f"{facts.name} is infinite at 0 and at negative integers: keep x above 0"


def _sum(facts: Facts) -> str:
    operand = facts.operands[0] if facts.operands else None
    if operand is not None and np.isinf(operand).any():
        return (
            "the operand holds infinities, whose sum is inf or (inf - inf) nan: "
            "debug_infs finds where they are made"
        )
    return ""


def _overflow(facts: Facts) -> str:
    """A finite operand, an infinite result."""
    if not np.isinf(facts.value):
        return ""
    known = [x for x in facts.operands if x is not None and _is_inexact(x)]
    if not all(np.isfinite(x).all() for x in known):
        return ""
    if facts.dtype.itemsize < 4:
        top = {"float16": "65504", "bfloat16": "3.4e38"}.get(facts.dtype.name, "a few")
        return (
            f"the result overflows {facts.dtype.name}, whose largest number is {top}: "
            "scale the values (loss scaling), use bfloat16 or float32, or "
            "preferred_element_type=float32 for products and dtype=float32 for sums"
        )
    return (
        f"the result overflows {facts.dtype.name}: scale the values, or use logarithms"
    )


def _infinite_operand(facts: Facts) -> str:
    for x in facts.operands:
        if x is not None and _is_inexact(x) and np.isinf(x).any():
            return "an operand is infinite already; debug_infs finds where it is made"
    return ""


_BY_NAME: dict[str, Callable[[Facts], str]] = {
    "log": _log,
    "log1p": _log,
    "sqrt": _root,
    "rsqrt": _root,
    "div": _div,
    "rem": _rem,
    "exp": _exp,
    "exp2": _exp,
    "expm1": _exp,
    "sinh": _exp,
    "cosh": _exp,
    "pow": _pow,
    "integer_pow": _pow,
    "acos": _arc,
    "asin": _arc,
    "acosh": _acosh,
    "atanh": _atanh,
    "erf_inv": _atanh,
    "sub": _sub,
    "add": _sub,
    "mul": _mul,
    "cholesky": _factor,
    "triangular_solve": _factor,
    "lu": _factor,
    "small_lu": _factor,
    "small_lu_solve": _factor,
    "eigh": _factor,
    "sin": _wave,
    "cos": _wave,
    "tan": _wave,
    "convert_element_type": _cast,
    "lgamma": _gamma,
    "digamma": _gamma,
    "reduce_sum": _sum,
    "cumsum": _sum,
    "cumsum_kernel": _sum,
    "dot_general": _sum,
}
