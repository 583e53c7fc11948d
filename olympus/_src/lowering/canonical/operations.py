"""Operations as MLIR prints them: short forms in place of generic ones.

Names of values stay as they are; `modules` renames them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from olympus._src.foundation import caching
from olympus._src.lowering.canonical import attributes, generic_forms, numbers, plain
from olympus._src.lowering.canonical.errors import UnknownForm

_RESULT = r"((?:%\w+(?::\d+|#0, %\w+#1)? = )?)"
_AS_WRITTEN = re.compile(
    r"%\w+ = (?:stablehlo\.abs %[\w#]+ : [^{}\"()]*"
    r"|sdy\.sharding_constraint %[\w#]+ <@\w+, \[[^%\\]*> : [^{}\"]*)"
    r"|%\w+#0, %\w+#1 = chlo\.top_k\(%[\w#]+, k = \d+\) : [^{}\"]*"
)
# These have another form where both types are the same.
_TO_OTHER_TYPE = re.compile(
    _RESULT + r"(stablehlo\.(?:abs|convert|imag|real) %[\w#]+)(?: \{(.*)\})?"
    r"( : \((tensor<[^{}()\"]*>)\) -> (?!\5$)tensor<[^{}()\"]*>)"
)
_TAGGED = re.compile(
    _RESULT + r"([\w.]+)( [^\"{}]*| ?\([^\"{}]*) \{(.*)\} (: \(|: )([^{}\"]*)"
)
_BARRIER = re.compile(_RESULT + r"(stablehlo\.optimization_barrier) \{(.*)\} (.*)")
_NAMED = re.compile(r"%\w+:2 = \"?(chlo\.top_k|stablehlo\.rng_bit_generator)\b")
_RESULTS = {
    "chlo.top_k": ("values", "indices"),
    "stablehlo.rng_bit_generator": ("output_state", "output"),
}


def named_results(text: str) -> Sequence[str]:
    """What the results of an operation are called, if not by a number."""
    match = _NAMED.match(text)
    return () if match is None else _RESULTS[match[1]]


_CONVERSION = re.compile(
    r"%\w+ = stablehlo\.convert %[\w#]+ : \((tensor<[\w<>?]*>)\) -> (tensor<[\w<>?]*>)"
)
_CALL = re.compile(
    _RESULT
    + r"func\.call @([\w.$]+)\(([^()]*)\)(?: \{(.*)\})? : (\([^{}()]*\)) -> (.*)"
)
_PAIR_OF_PARTS = re.compile(r"(.* = stablehlo\.complex [^:]*: )\(.*\) -> (.*)")


def line(text: str, in_function: bool) -> str:
    """An operation of one line that is not printed as it is written.

    Args:
      text: the operation.
      in_function: whether it is in a function and not in a region of an operation.
    """
    if " = stablehlo.convert %" in text:
        other = _CONVERSION.fullmatch(text)
        if other is not None and other[1] != other[2]:
            return text
    if text.startswith('"', text.find("=") + 2 if text.startswith("%") else 0):
        return generic_forms.short(text)
    if text.startswith("func.return"):
        return text.removeprefix("func.")
    call = _CALL.fullmatch(text)
    if call is not None:
        result, name, operands, own, ins, outs = call.groups()
        dialect = "" if in_function else "func."
        outs = generic_forms.results(outs)
        return (
            f"{result}{dialect}call {attributes.symbol(name)}({operands})"
            f"{generic_forms.braces(own or '')} : {ins} -> {outs}"
        )
    return _tagged(text)


def _tagged(text: str) -> str:
    """An operation in short form with attributes, or with types in one of two forms."""
    if _AS_WRITTEN.fullmatch(text) is not None:
        return text
    other = _TO_OTHER_TYPE.fullmatch(text)
    if other is not None:
        result, name, own, kinds, _ = other.groups()
        return f"{result}{name}{generic_forms.braces(own or '')}{kinds}"
    parts = _PAIR_OF_PARTS.fullmatch(text)
    if parts is not None:
        text = parts[1] + parts[2]
    barrier = _BARRIER.fullmatch(text)
    if barrier is not None:
        result, name, own, remaining = barrier.groups()
        return f"{result}{name}{generic_forms.braces(own)} {remaining}"
    tagged = _TAGGED.fullmatch(text)
    if tagged is not None:
        result, name, remaining, own, colon, kinds = tagged.groups()
        if (
            plain.SAME.get(name) is (colon == ": (")
            or name == "chlo.top_k"
            or (name == "stablehlo.abs" and colon == ": ")
        ):
            return (
                f"{result}{name}{remaining}{generic_forms.braces(own)} {colon}{kinds}"
            )
    if parts is not None and tagged is None and '"' not in text and "{" not in text:
        return text
    raise UnknownForm(text)


constant = caching.bounded_cache(4096, "printed constants")(numbers.constant)
