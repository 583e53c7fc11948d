"""Numbers and constants as MLIR prints them.

Source: `printFloatValue` of MLIR's printer and `APFloat::toString` of LLVM, whose
rounding this repeats with integers of any length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from olympus._src.foundation import caching
from olympus._src.lowering.canonical.errors import UnknownForm


class _Format(NamedTuple):
    """A binary format: bits of the significand, smallest and largest exponent of 2."""

    precision: int
    lowest: int
    highest: int


_FORMATS = {
    "bf16": _Format(8, -126, 127),
    "f16": _Format(11, -14, 15),
    "f32": _Format(24, -126, 127),
    "f64": _Format(53, -1022, 1023),
}
_DIGITS = 6  # that MLIR tries first
_PADDING = 3  # zeros that a number without exponent may have

# -- floats ----------------------------------------------------------------------------


@caching.bounded_cache(4096, "printed floats")
def float_text(text: str, kind: str) -> str:
    """A float as MLIR prints it.

    Args:
      text: the number as `types.scalar` writes it, which is exact.
      kind: its type, as in 'f32'.
    """
    form = _FORMATS.get(kind)
    if form is None:
        raise UnknownForm(kind)
    if text.startswith("0x"):
        return _not_finite(text, form)
    sign = "-" if text.startswith("-") else ""
    value = _round(Fraction(text.removeprefix("-")), form)
    if not value:
        return f"{sign}0.000000e+00"
    short = _scientific(*_decimal(value, form, _DIGITS), pad=True)
    if _round(Fraction(short), form) == value:
        return sign + short
    wanted = 2 + form.precision * 59 // 196
    full = _plain(*_decimal(value, form, wanted), wanted)
    if "." in full:
        return sign + full
    return _bits(sign, value, form)


def _not_finite(text: str, form: _Format) -> str:
    """The bits of an infinity or NaN; other numbers have other forms."""
    fraction = form.precision - 1
    width = fraction + (form.highest + 1).bit_length() + 1
    bits = int(text, 16) >> fraction
    exponents = (1 << (width - 1 - fraction)) - 1
    if len(text) != 2 + width // 4 or bits & exponents != exponents:
        raise UnknownForm(text)
    return text


def _exponent(value: Fraction) -> int:
    """The largest power of two that is not above a positive number."""
    n = value.numerator.bit_length() - value.denominator.bit_length()
    return n if Fraction(2) ** n <= value else n - 1


def _round(value: Fraction, form: _Format) -> Fraction:
    """The nearest number of a format, ties to even."""
    if not value:
        return value
    unit = max(_exponent(value), form.lowest) - form.precision + 1
    return round(value / Fraction(2) ** unit) * Fraction(2) ** unit


def _bits(sign: str, value: Fraction, form: _Format) -> str:
    """A number as the bits that hold it."""
    exponent = max(_exponent(value), form.lowest)
    whole = value / Fraction(2) ** (exponent - form.precision + 1)
    digits = int(whole)
    hidden = 1 << (form.precision - 1)
    if digits >= hidden:
        digits += (exponent - form.lowest) * hidden
    width = form.precision + (form.highest + 1).bit_length()
    if sign:
        digits |= 1 << (width - 1)
    return f"0x{digits:0{width // 4}X}"


def _decimal(value: Fraction, form: _Format, wanted: int) -> tuple[str, int]:
    """Digits without zeros at the end, and the power of ten of the last.

    As LLVM rounds: what is certainly too long is cut off first, and then
    halves are rounded up.
    """
    digits, exponent = value.numerator, 0
    if value.denominator > 1:  # a power of two
        n = value.denominator.bit_length() - 1
        digits, exponent = digits * 5**n, -n
    spare = digits.bit_length() - (wanted * 196 + 58) // 59
    cut = spare * 59 // 196 if spare > 0 else 0
    digits, exponent = digits // 10**cut, exponent + cut
    remaining = len(str(digits)) - wanted
    if remaining > 0:
        digits = (digits // 10 ** (remaining - 1) + 5) // 10
        exponent += remaining
    text = str(digits)
    short = text.rstrip("0")
    return short, exponent + len(text) - len(short)


def _scientific(digits: str, exponent: int, pad: bool) -> str:
    power = exponent + len(digits) - 1
    sign = "-" if power < 0 else "+"
    if pad:
        return f"{digits[0]}.{digits[1:]:0<{_DIGITS}}e{sign}{abs(power):02}"
    return f"{digits[0]}.{digits[1:] or '0'}E{sign}{abs(power)}"


def _plain(digits: str, exponent: int, wanted: int) -> str:
    """A number without exponent where it is short enough, else with one."""
    if exponent >= 0:
        if exponent > _PADDING or len(digits) + exponent > wanted:
            return _scientific(digits, exponent, pad=False)
        return digits + "0" * exponent
    whole = len(digits) + exponent
    if whole > 0:
        return f"{digits[:whole]}.{digits[whole:]}"
    if 1 - whole > _PADDING:
        return _scientific(digits, exponent, pad=False)
    return f"0.{'0' * -whole}{digits}"


# -- constants -------------------------------------------------------------------------

_CONSTANT = re.compile(r"dense<([^<>]*)> : tensor<((?:\d+x)*)([\w<>]+)>", re.ASCII)
_HEX = re.compile(r'"0x[0-9A-F]+"')
_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)
MOST_LISTED = 100  # elements; longer constants are printed as bytes
_INTEGER = re.compile(r"u?i(?:2|4|8|16|32|64)")


def constant(text: str) -> tuple[str, str]:
    """A `dense` attribute as MLIR prints it, and how its value is called: c or cst."""
    match = _CONSTANT.fullmatch(text)
    if match is None:
        raise UnknownForm(text)
    elements, shape, kind = match.groups()
    name = "c" if kind == "i1" or _INTEGER.fullmatch(kind) else "cst"
    if elements.startswith('"0x'):
        if _HEX.fullmatch(elements) is None:
            raise UnknownForm(elements)
        listed = _listed(bytes.fromhex(elements[3:-1]), shape, kind)
        return f"dense<{listed or elements}> : tensor<{shape}{kind}>", name
    return f"dense<{_scalar(elements, kind)}> : tensor<{shape}{kind}>", name


def _scalar(text: str, kind: str) -> str:
    """One element, or nothing."""
    if text.startswith("["):
        raise UnknownForm(text)
    if not text or (text in ("true", "false") and kind == "i1"):
        return text
    if _INTEGER.fullmatch(kind):
        check_integer(text, kind)
        return text
    if not kind.startswith("complex<"):
        return float_text(text, kind)
    real, _, imaginary = text[1:-1].partition(", ")
    part = kind[8:-1]
    return f"({float_text(real, part)},{float_text(imaginary, part)})"


def check_integer(text: str, kind: str) -> None:
    """Refuses integers beyond their type, and those of one bit."""
    bits = 64 if kind == "index" else int(kind.lstrip("ui"))
    least, end = (0, 1 << bits) if kind[0] == "u" else (-1 << bits - 1, 1 << bits - 1)
    if bits == 1 or _WHOLE.fullmatch(text) is None or not least <= int(text) < end:
        raise UnknownForm(text)


def _listed(data: bytes, shape: str, kind: str) -> str:
    """The elements of a constant as lists, or '' where they are too many."""
    sizes = [int(n) for n in shape.split("x")[:-1]]
    count = math.prod(sizes)
    size = len(data) // max(count, 1)
    if len(data) != count * size or data == data[:size] * count:
        raise UnknownForm(kind)  # one element for all
    if count > MOST_LISTED:
        return ""
    texts = _texts(data, kind)
    if len(texts) != count:
        raise UnknownForm(kind)
    return _lists(texts, sizes)


def _texts(data: bytes, kind: str) -> list[str]:
    if kind.startswith("complex<"):
        parts = _texts(data, kind[8:-1])
        return [f"({a},{b})" for a, b in zip(parts[::2], parts[1::2], strict=True)]
    if _INTEGER.fullmatch(kind):
        bits = int(kind.lstrip("ui"))
        if bits < 8:
            raise UnknownForm(kind)
        code = f"<{'u' if kind.startswith('u') else 'i'}{bits // 8}"
        return [str(n) for n in np.frombuffer(data, code).tolist()]
    if kind == "i1":
        return ["true" if byte else "false" for byte in data]
    return [float_text(text, kind) for text in _floats(data, kind)]


def _floats(data: bytes, kind: str) -> list[str]:
    """Floats as `types.scalar` writes them."""
    if kind == "bf16":  # the upper halves of single precision
        bits = np.frombuffer(data, "<u2")
        values = (bits.astype("<u4") << 16).view("<f4")
    elif kind in _FORMATS:
        size = int(kind[1:]) // 8
        values, bits = (
            np.frombuffer(data, f"<f{size}"),
            np.frombuffer(data, f"<u{size}"),
        )
    else:
        raise UnknownForm(kind)
    width = 2 * bits.itemsize
    return [
        repr(float(value)) if np.isfinite(value) else f"0x{own:0{width}X}"
        for value, own in zip(values, bits.tolist(), strict=True)
    ]


def _lists(texts: Sequence[str], sizes: Sequence[int]) -> str:
    for size in reversed(sizes):
        rows = range(0, len(texts), size)
        texts = [f"[{', '.join(texts[i : i + size])}]" for i in rows]
    return texts[0]
