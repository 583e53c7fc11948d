"""Operations in generic form, and the shorter forms that MLIR prints of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from olympus._src.foundation import caching
from olympus._src.lowering.canonical import attributes
from olympus._src.lowering.canonical.errors import UnknownForm


class Generic(NamedTuple):
    """The parts of an operation in generic form.

    Attributes:
      name: of the operation.
      operands: as written, with commas between.
      attributes: text between the braces, or nothing.
      ins, outs: types of the operands, and of the results as written.
    """

    name: str
    operands: str
    attributes: str
    ins: str
    outs: str


def short(text: str) -> str:
    """An operation in generic form without regions, as printed.

    Args:
      text: the operation; values keep their names.
    """
    result, _, remaining = text.partition('"')
    name, opened, remaining = remaining.partition('"(')
    operands, closed, tail = remaining.partition(")")
    if not opened or not closed:
        raise UnknownForm(text)
    before, after = _around(name, tail, bool(operands))
    return f"{result}{before}{operands}{after}"


_OPERANDS = "\0"


@caching.bounded_cache(4096, "printed operations")
def _around(name: str, tail: str, has_operands: bool) -> tuple[str, str]:
    """What is printed of an operation before its operands and after them.

    Args:
      name: of the operation.
      tail: the text behind its operands: attributes and types.
      has_operands: whether there are some.
    """
    own, colon, kinds = tail.rpartition(" : (")
    ins, arrow, outs = kinds.partition(") -> ")
    whole = colon and arrow and "{" not in kinds
    if not whole or (own and not (own.startswith(" {") and own.endswith("}"))):
        raise UnknownForm(tail)
    how = _SHORT.get(name)
    if how is None:
        raise UnknownForm(name)
    operands = _OPERANDS if has_operands else ""
    printed = how(Generic(name, operands, own[2:-1], ins, outs))
    before, _, after = printed.partition(_OPERANDS)
    return before, after


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


# -- forms -----------------------------------------------------------------------------


def _comma(op: Generic) -> str:
    return f"{op.name} {op.operands}"


def _types(op: Generic) -> str:
    return f" : ({op.ins}) -> {results(op.outs)}"


def _plain(op: Generic) -> str:
    """Operands only."""
    return f"{_comma(op)}{braces(op.attributes)}{_types(op)}"


def _number(op: Generic, name: str, label: str) -> str:
    """Operands and an integer."""
    entry, remaining = _taken(op.attributes, name)
    number = entry.removesuffix(" : i64")
    return f"{_comma(op)}, {label} = {number}{remaining}{_types(op)}"


def _list(op: Generic, name: str, label: str) -> str:
    """Operands and a list of integers."""
    entry, remaining = _taken(op.attributes, name)
    items = entry.removeprefix("array<i64").removesuffix(">").removeprefix(": ")
    return f"{_comma(op)}, {label} = [{items}]{remaining}{_types(op)}"


@caching.bounded_cache(4096, "printed attributes")
def _taken(text: str, name: str) -> tuple[str, str]:
    """An entry of a dictionary, and the others in braces."""
    entries = attributes.read(text)
    if name not in entries:
        raise UnknownForm(text)
    entry = entries.pop(name)
    own = attributes.write(entries)
    return entry, f" {{{own}}}" if own else ""


def _iota(op: Generic) -> str:
    return _number(op, "iota_dimension", "dim")


def _generated(op: Generic) -> str:
    entry, remaining = _taken(op.attributes, "rng_algorithm")
    algorithm = entry.removeprefix("#stablehlo<rng_algorithm ").removesuffix(">")
    return f"{_comma(op)}, algorithm = {algorithm}{remaining}{_types(op)}"


def _custom_call(op: Generic) -> str:
    name, remaining = _target(op.attributes)
    return f"{op.name} {name}({op.operands}){remaining}{_types(op)}"


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
    return f"{op.name}({op.operands}) {_window(op.attributes)}{_types(op)}"


@caching.bounded_cache(4096, "printed attributes")
def _window(text: str) -> str:
    """The attributes of a convolution."""
    if "%" in text:  # in a string: it could be taken for the name of a value
        raise UnknownForm(text)
    entries = {}
    for part in attributes.split(text):
        name, equals, content = attributes.key(part)
        if not equals or name in entries:
            raise UnknownForm(part)
        entries[name] = content
    dims = _CONV.fullmatch(entries.pop("dimension_numbers", ""))
    if dims is None:
        raise UnknownForm(text)
    rows = [
        f"{label} = {_window_list(name, entries.pop(name))}"
        for name, label in _WINDOW
        if name in entries
    ]
    remaining = {name: attributes.value(content) for name, content in entries.items()}
    own = attributes.write(dict(sorted(remaining.items())))
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
    return f'"{op.name}"({op.operands}){before}{after}{_types(op)}'


_SHORT: dict[str, Callable[[Generic], str]] = {
    "stablehlo.return": _returned,
    "sdy.return": _returned,
    "stablehlo.rng_bit_generator": _generated,
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
            "stablehlo.gather",
            "stablehlo.triangular_solve",
            "stablehlo.dynamic_gather",
            "stablehlo.all_gather",
            "stablehlo.all_to_all",
            "stablehlo.collective_permute",
        ],
        _with_properties,
    ),
}


def reduced_dimensions(text: str) -> tuple[str, str]:
    """The dimensions of a reduction as printed, and its other attributes in braces."""
    entry, remaining = _taken(text, "dimensions")
    items = entry.removeprefix("array<i64").removesuffix(">").removeprefix(": ")
    return f"[{items}]", remaining
