"""The stable code of each kind of error, by which users find what is said of it.

`python -m olympus explain CODE` prints the section of the page on errors that has the
code, from the copy of the page that is installed with the package.
"""

from __future__ import annotations

# By class. The first digit groups them as the page does; a code is never used again.
CODES: dict[str, str] = {
    "ConcretizationTypeError": "OLY101",
    "TracerBoolConversionError": "OLY102",
    "TracerArrayConversionError": "OLY103",
    "TracerIntegerConversionError": "OLY104",
    "NonConcreteBooleanIndexError": "OLY105",
    "UnexpectedTracerError": "OLY201",
    "LeakError": "OLY202",
    "OlympusTypeError": "OLY301",
    "OlympusIndexError": "OLY302",
    "TypePromotionError": "OLY303",
    "KeyReuseError": "OLY304",
    "InconclusiveDimensionOperation": "OLY305",
    "ShardingTypeError": "OLY306",
    "OlympusRuntimeError": "OLY401",
    "ProcessFailureError": "OLY402",
    "BadNumberError": "OLY403",
    "OlympusprTypeError": "OLY404",
    "InternalError": "OLY405",
}

# Frequent errors of Python's own classes: the class, words of the message, the code.
FREQUENT: tuple[tuple[type[Exception], tuple[str, ...], str], ...] = (
    (TypeError, ("must be arrays or numbers", "as an abstract array"), "OLY501"),
    (TypeError, ("arrays cannot be changed in place",), "OLY502"),
    (TypeError, ("only defined for scalar-output functions",), "OLY503"),
    (ValueError, ("incompatible shapes for broadcasting",), "OLY504"),
    (TypeError, ("requires real- or complex-valued inputs",), "OLY505"),
)
# The engine's own class has other names in other releases.
_ENGINE = frozenset(("JaxRuntimeError", "XlaRuntimeError"))


def code_of(error: BaseException) -> str | None:
    """The code of an error, or None for those that no page explains."""
    for kind in type(error).__mro__:
        code = CODES.get(kind.__name__)
        if code is not None and kind.__module__.startswith("olympus"):
            return code
        if kind.__name__ in _ENGINE:
            return CODES["OlympusRuntimeError"]
    if not isinstance(error, (TypeError, ValueError)):
        return None
    text = str(error)
    for kind, words, code in FREQUENT:
        if isinstance(error, kind) and any(w in text for w in words):
            return code
    return None
