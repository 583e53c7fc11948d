"""Operations as MLIR prints them: short forms in place of generic ones.

Names of values stay as they are; `modules` renames them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from olympus._src.foundation import caching
from olympus._src.lowering.canonical import attributes, numbers
from olympus._src.lowering.canonical.errors import UnknownForm


def _forms(names: str, is_function: bool) -> set[tuple[str, bool]]:
    return {(f"stablehlo.{name}", is_function) for name in names.split()}


# Operations that are printed as they are written: their names, and whether their types
# are those of a function, as in `: (tensor<f32>) -> tensor<i32>`.
SAME = (
    _forms(
        "abs add after_all and atan2 cbrt ceil clamp complex cosine count_leading_zeros "
        "create_token divide exponential exponential_minus_one floor iota log "
        "log_plus_one logistic maximum minimum multiply negate not optimization_barrier "
        "or popcnt power reduce_precision remainder reverse round_nearest_afz "
        "round_nearest_even rsqrt select shift_left shift_right_arithmetic "
        "shift_right_logical sign sine sqrt subtract tan tanh xor",
        False,
    )
    | _forms(
        "abs bitcast_convert broadcast_in_dim compare concatenate convert dot_general "
        "dynamic_update_slice fft get_dimension_size imag is_finite pad real reduce "
        "reshape slice transpose",
        True,
    )
    | {
        (f"chlo.{name}", False)
        for name in (
            "acos acosh asin asinh atan atanh cosh digamma erf erf_inv erfc lgamma "
            "next_after polygamma sinh zeta"
        ).split()
    }
)


class Generic(NamedTuple):
    """The parts of an operation in generic form.

    Attributes:
      result: what is before the operation, as in `%3 = `, or nothing.
      name: of the operation.
      operands: as written, with commas between.
      attributes: text between the braces, or nothing.
      ins, outs: types of the operands, and of the results as written.
    """

    result: str
    name: str
    operands: str
    attributes: str
    ins: str
    outs: str


_RESULT = r"((?:%\w+(?::\d+)? = )?)"
_GENERIC = re.compile(
    _RESULT + r'"([\w.]+)"\(([^()]*)\)(?: \{(.*)\})? : \(([^{}()]*)\) -> ([^{}]*)'
)
_REDUCTION = re.compile(
    r"%\w+ = stablehlo\.reduce\(%[\w#]+ init: %[\w#]+\) applies stablehlo\.\w+ across "
    r"dimensions = \[[\d, ]*\] : [^{}\"]*"
)
_CONSTANT = re.compile(r"(.* = stablehlo\.constant )(dense<.*)")
_TAGGED = re.compile(
    _RESULT + r"([\w.]+)( [^\"{}]*| ?\([^\"{}]*) \{(.*)\} (: \(|: )([^{}\"]*)"
)
_BARRIER = re.compile(_RESULT + r"(stablehlo\.optimization_barrier) \{(.*)\} (.*)")
_CALL = re.compile(
    _RESULT + r"func\.call @([\w.$]+)\(([^()]*)\)(?: \{(.*)\})? : (\([^{}()]*\)) -> (.*)"
)
_PAIR_OF_PARTS = re.compile(r"(.* = stablehlo\.complex [^:]*: )\(.*\) -> (.*)")


def line(text: str, in_function: bool) -> str:
    """An operation of one line that is not printed as it is written.

    Args:
      text: the operation.
      in_function: whether it is in a function and not in a region of an operation.
    """
    if _REDUCTION.fullmatch(text) is not None:
        return text
    generic = _GENERIC.fullmatch(text)
    if generic is not None:
        op = Generic(*[part or "" for part in generic.groups()])
        how = _SHORT.get(op.name)
        if how is None:
            raise UnknownForm(text)
        return how(op)
    if text.startswith("func.return"):
        return text.removeprefix("func.")
    call = _CALL.fullmatch(text)
    if call is not None:
        result, name, operands, own, ins, outs = call.groups()
        dialect = "" if in_function else "func."
        outs = results(outs)
        return (
            f"{result}{dialect}call {attributes.symbol(name)}({operands})"
            f"{braces(own or '')} : {ins} -> {outs}"
        )
    return _tagged(text)


def _tagged(text: str) -> str:
    """An operation in short form with attributes, or a form that two types share."""
    parts = _PAIR_OF_PARTS.fullmatch(text)
    if parts is not None:
        text = parts[1] + parts[2]
    barrier = _BARRIER.fullmatch(text)
    if barrier is not None:
        result, name, own, rest = barrier.groups()
        return f"{result}{name}{braces(own)} {rest}"
    tagged = _TAGGED.fullmatch(text)
    if tagged is not None:
        result, name, rest, own, colon, kinds = tagged.groups()
        if (name, colon == ": (") in SAME:
            return f"{result}{name}{rest}{braces(own)} {colon}{kinds}"
    if parts is not None and tagged is None and '"' not in text and "{" not in text:
        return text
    raise UnknownForm(text)


def constant(text: str) -> tuple[str, str]:
    """A constant as printed, and how its value is called."""
    match = _CONSTANT.fullmatch(text)
    if match is None:
        raise UnknownForm(text)
    dense, name = _dense(match[2])
    return match[1] + dense, name


_dense = caching.bounded_cache(4096, "printed constants")(numbers.constant)


def results(outs: str) -> str:
    """Types of results, without parentheses around one."""
    if outs.startswith("(") and outs != "()" and ", " not in outs:
        return outs[1:-1]
    return outs


def braces(text: str) -> str:
    """A dictionary of attributes, or nothing."""
    own = _sorted(text) if text else ""
    return f" {{{own}}}" if own else ""


@caching.bounded_cache(4096, "printed attributes")
def _sorted(text: str) -> str:
    return attributes.write(attributes.read(text))


# -- generic forms, shortened ----------------------------------------------------------


def _comma(op: Generic) -> str:
    return f"{op.result}{op.name} {op.operands}"


def _types(op: Generic) -> str:
    return f" : ({op.ins}) -> {op.outs}"


def _plain(op: Generic) -> str:
    """Operands only."""
    return f"{_comma(op)}{braces(op.attributes)}{_types(op)}"


def _number(op: Generic, name: str, label: str) -> str:
    """Operands and an integer."""
    found, rest = _taken(op.attributes, name)
    number = found.removesuffix(" : i64")
    return f"{_comma(op)}, {label} = {number}{rest}{_types(op)}"


def _list(op: Generic, name: str, label: str) -> str:
    """Operands and a list of integers."""
    found, rest = _taken(op.attributes, name)
    items = found.removeprefix("array<i64").removesuffix(">").removeprefix(": ")
    return f"{_comma(op)}, {label} = [{items}]{rest}{_types(op)}"


@caching.bounded_cache(4096, "printed attributes")
def _taken(text: str, name: str) -> tuple[str, str]:
    """An entry of a dictionary, and the others in braces."""
    entries = attributes.read(text)
    if name not in entries:
        raise UnknownForm(text)
    found = entries.pop(name)
    own = attributes.write(entries)
    return found, f" {{{own}}}" if own else ""


def _iota(op: Generic) -> str:
    return _number(op, "iota_dimension", "dim")


def _custom_call(op: Generic) -> str:
    name, rest = _target(op.attributes)
    return f"{op.result}{op.name} {name}({op.operands}){rest}{_types(op)}"


_UNSAID = {
    "api_version": "1 : i32",
    "called_computations": "[]",
    "has_side_effect": "false",
    "output_operand_aliases": "[]",
}


@caching.bounded_cache(4096, "printed attributes")
def _target(text: str) -> tuple[str, str]:
    """What a custom call calls, and its attributes but those that are usual."""
    entries = attributes.read(text)
    target = entries.pop("call_target_name", "")
    if not target:
        raise UnknownForm(text)
    kept = {k: v for k, v in entries.items() if _UNSAID.get(k) != v}
    own = f" {{{attributes.write(kept)}}}" if kept else ""
    return attributes.symbol(target[1:-1]), own


_CONV = re.compile(r"#stablehlo\.conv<(.*)>")
_WINDOW = (
    ("window_strides", "stride"),
    ("padding", "pad"),
    ("lhs_dilation", "lhs_dilate"),
    ("rhs_dilation", "rhs_dilate"),
    ("window_reversal", "reverse"),
)


def _convolution(op: Generic) -> str:
    return f"{op.result}{op.name}({op.operands}) {_window(op.attributes)}{_types(op)}"


@caching.bounded_cache(4096, "printed attributes")
def _window(text: str) -> str:
    """The attributes of a convolution."""
    entries = {}
    for part in attributes.split(text):
        name, _, content = part.partition(" = ")
        entries[name] = content
    dims = _CONV.fullmatch(entries.pop("dimension_numbers", ""))
    if dims is None:
        raise UnknownForm(text)
    rows = [
        f"{label} = {_window_list(name, entries.pop(name))}"
        for name, label in _WINDOW
        if name in entries
    ]
    rest = {name: attributes.value(content) for name, content in entries.items()}
    own = attributes.write(dict(sorted(rest.items())))
    return (
        f"dim_numbers = {dims[1]}, window = {{{', '.join(rows)}}}"
        f"{f' {{{own}}}' if own else ''}"
    )


_ARRAY = re.compile(r"array<i(?:64|1): (.*)>")
_PADDING = re.compile(r"dense<(\[.*\]|-?\d+)> : tensor<(\d+)x2xi64>")


def _window_list(name: str, text: str) -> str:
    if name != "padding":
        match = _ARRAY.fullmatch(text)
        if match is None:
            raise UnknownForm(text)
        return f"[{match[1]}]"
    match = _PADDING.fullmatch(text)
    if match is None:
        raise UnknownForm(text)
    if match[1].startswith("["):
        return match[1]
    return f"[{', '.join([f'[{match[1]}, {match[1]}]'] * int(match[2]))}]"


def _returned(op: Generic) -> str:
    if not op.operands:
        return f"{op.name} "
    return f"{op.name} {op.operands} : {op.ins}"


# Attributes that belong to operations which are printed in generic form.
PROPERTIES = {
    "stablehlo.gather": "dimension_numbers slice_sizes indices_are_sorted",
    "stablehlo.scatter": "scatter_dimension_numbers indices_are_sorted unique_indices",
    "stablehlo.sort": "dimension is_stable",
    "stablehlo.reduce_window": "window_dimensions window_strides base_dilations "
    "window_dilations padding",
    "stablehlo.select_and_scatter": "window_dimensions window_strides padding",
    "stablehlo.case": "",
    "stablehlo.if": "",
    "stablehlo.triangular_solve": "left_side lower unit_diagonal transpose_a",
    "stablehlo.dynamic_gather": "dimension_numbers indices_are_sorted",
    "stablehlo.all_gather": "all_gather_dim replica_groups channel_handle "
    "use_global_device_ids",
    "stablehlo.all_reduce": "replica_groups channel_handle use_global_device_ids",
    "stablehlo.reduce_scatter": "scatter_dimension replica_groups channel_handle "
    "use_global_device_ids",
    "stablehlo.all_to_all": "split_dimension concat_dimension split_count "
    "replica_groups channel_handle",
    "stablehlo.collective_permute": "source_target_pairs channel_handle",
}


@caching.bounded_cache(4096, "printed attributes")
def properties(name: str, text: str) -> tuple[str, str]:
    """What is printed before the regions of an operation in generic form, and after."""
    known = PROPERTIES.get(name)
    if known is None:
        raise UnknownForm(name)
    entries = attributes.read(text)
    own = {k: v for k, v in entries.items() if k in known.split()}
    other = {k: v for k, v in entries.items() if k not in own}
    before = f" <{{{attributes.write(own)}}}>" if own else ""
    return before, f" {{{attributes.write(other)}}}" if other else ""


def _with_properties(op: Generic) -> str:
    before, after = properties(op.name, op.attributes)
    return f'{op.result}"{op.name}"({op.operands}){before}{after}{_types(op)}'


_SHORT: dict[str, Callable[[Generic], str]] = {
    "stablehlo.return": _returned,
    "stablehlo.concatenate": lambda op: _number(op, "dimension", "dim"),
    "stablehlo.dynamic_slice": lambda op: _list(op, "slice_sizes", "sizes"),
    "stablehlo.dynamic_broadcast_in_dim": lambda op: _list(
        op, "broadcast_dimensions", "dims"
    ),
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.convolution": _convolution,
    **dict.fromkeys(
        [
            "stablehlo.bitcast_convert",
            "stablehlo.dynamic_update_slice",
            "stablehlo.dynamic_reshape",
            "stablehlo.dynamic_pad",
            "stablehlo.real_dynamic_slice",
        ],
        _plain,
    ),
    **dict.fromkeys(
        [
            f"stablehlo.{name}"
            for name in (
                "gather triangular_solve dynamic_gather all_gather all_to_all "
                "collective_permute"
            ).split()
        ],
        _with_properties,
    ),
}


def reduced_dimensions(text: str) -> tuple[str, str]:
    """The dimensions of a reduction as printed, and its other attributes in braces."""
    found, rest = _taken(text, "dimensions")
    items = found.removeprefix("array<i64").removesuffix(">").removeprefix(": ")
    return f"[{items}]", rest
