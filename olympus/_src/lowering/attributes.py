"""Values of Python and NumPy as attributes of MLIR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from olympus._src.core import dtypes
from olympus._src.core.avals import ShapedArray
from olympus._src.lowering import types


class Written(str):
    """The text of an attribute."""

    __slots__ = ()


def attribute(what: str, value: Any) -> str:
    """The text of an attribute.

    Python's integers have 64 bits, its floats are of double precision, NumPy's numbers
    and arrays are of their dtype. Sequences of numbers of one kind are arrays, others
    are lists, and mappings dictionaries.

    Args:
      what: the function and the attribute's name, for messages.
      value: the value.

    Raises:
      TypeError: it has no form as an attribute.
      OverflowError: an integer does not fit 64 bits.
    """
    if isinstance(value, Written):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{types.int_list([value])[1:-1]} : i64"
    if isinstance(value, np.generic) and not isinstance(value, (np.str_, np.bytes_)):
        return _number(what, value)
    if isinstance(value, float):
        return f"{types.scalar(np.float64(value))} : f64"
    if isinstance(value, str):
        return types.string(value)
    if isinstance(value, bytes):
        return types.string(value.decode("latin-1"))
    if isinstance(value, np.ndarray) and dtypes.is_supported(value.dtype):
        return types.dense(value, _type_of(value))
    if isinstance(value, np.dtype):
        return types.element_type(value)
    if isinstance(value, (list, tuple)):
        kinds = {type(item) for item in value}
        if len(kinds) == 1 and kinds <= _NUMBERS:
            return types.dense(np.asarray(value), _type_of(np.asarray(value)))
        return f"[{', '.join([attribute(what, item) for item in value])}]"
    if isinstance(value, Mapping):
        return dictionary(what, value)
    raise TypeError(
        f"{what}: an attribute must be a number, a string, a NumPy array, a dtype, "
        f"or a sequence or mapping of those, got {value!r} of type "
        f"{type(value).__name__}; "
        "pass arrays that are computed as operands"
    )


_NUMBERS = {bool, int, float}


def _number(what: str, value: np.generic) -> str:
    if not dtypes.is_supported(value.dtype) or value.dtype.kind == "c":
        raise TypeError(
            f"{what}: an attribute must be a real number, got {value!r} of dtype "
            f"{value.dtype}; pass its parts"
        )
    kind = types.element_type(value.dtype)
    return f"{types.scalar(value)} : {kind}"


def _type_of(array: np.ndarray) -> Any:
    return ShapedArray(array.shape, array.dtype)


def dictionary(what: str, values: Mapping[str, Any]) -> str:
    """The text of a dictionary of attributes."""
    items = []
    for name, value in sorted(values.items()):
        if not isinstance(name, str):
            raise TypeError(
                f"{what}: names of attributes must be strings, got {name!r}"
            )
        items.append(f"{types.string(name)} = {attribute(f'{what} {name}', value)}")
    return "{" + ", ".join(items) + "}"


def output_aliases(pairs: Iterable[tuple[int, int]], count: int) -> str:
    """The attribute that says which operands lend their memory to results.

    Args:
      pairs: numbers of an operand and of a result.
      count: how many results there are.
    """
    items = [
        f"#stablehlo.output_operand_alias<output_tuple_indices = "
        f"{[result] if count > 1 else []}, operand_index = {operand}, "
        "operand_tuple_indices = []>"
        for operand, result in pairs
    ]
    return f"output_operand_aliases = [{', '.join(items)}]"
