"""The array API standard, 2025.12: names, signatures, dtypes.

Source: data-apis.org/array-api/2025.12, the pages of its functions and of the array
object. Only facts are here, and in the fields `standard` of `tests/public_functions`:
how each function is called, and which dtypes it maps to which.
"""

from __future__ import annotations

import inspect
from typing import NamedTuple

from tests.public_functions import table
from tests.public_functions.entries import Entry


def words(text: str) -> list[str]:
    return text.split()


CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]

DTYPES = [
    "bool",
    *("int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
]

# Of the array object; `self` is left out.
METHODS = """
__array_namespace__(*, api_version=None)
__bool__()
__complex__()
__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)
__dlpack_device__()
__float__()
__getitem__(key, /)
__index__()
__int__()
__setitem__(key, value, /)
to_device(device, /, *, stream=None)
"""
OPERATORS = words(
    """abs add and eq floordiv ge gt invert le lshift lt matmul mod mul ne neg or pos
    pow rshift sub truediv xor radd rand rfloordiv rlshift rmatmul rmod rmul ror rpow
    rrshift rsub rtruediv rxor"""
)
ATTRIBUTES = ["dtype", "device", "mT", "ndim", "shape", "size", "T"]


def signature(parameters: str) -> inspect.Signature:
    return inspect.signature(eval(f"lambda {parameters}: None"))


METHOD_SIGNATURES = {
    name: signature(parameters.removesuffix(")"))
    for name, _, parameters in (
        line.partition("(") for line in METHODS.strip().split("\n")
    )
}

# -- dtypes ----------------------------------------------------------------------------

BOOL, REAL_FLOATS, COMPLEX = DTYPES[:1], DTYPES[9:11], DTYPES[11:]
SIGNED, UNSIGNED = DTYPES[1:5], DTYPES[5:9]
INTEGERS = SIGNED + UNSIGNED
FLOATS = REAL_FLOATS + COMPLEX
REAL = INTEGERS + REAL_FLOATS
NUMERIC = REAL + COMPLEX
KINDS = {
    "bool": BOOL,
    "integer": INTEGERS,
    "real": REAL,
    "real_float": REAL_FLOATS,
    "float": FLOATS,
    "complex": COMPLEX,
    "numeric": NUMERIC,
}

# -- functions -------------------------------------------------------------------------


class Function(NamedTuple):
    """A function of the standard.

    Attributes:
      name: `linalg.cross`, with its extension.
      signature: how it is called.
      takes: the dtypes it takes, where the standard fixes those of its result.
      gives: the dtype of the result: "same" or "bool"; "real" for the dtype of a
        complex number's parts; "wide" for the default integer of the same sign for
        integers of fewer bits; "index" for the dtype of positions.
    """

    name: str
    signature: inspect.Signature
    takes: list[str]
    gives: str

    @property
    def arity(self) -> int | None:
        """The number of arrays of an elementwise function; None for other ones."""
        return {("x",): 1, ("x1", "x2"): 2}.get(tuple(self.signature.parameters))

    @property
    def is_elementwise(self) -> bool:
        return bool(self.takes) and self.arity is not None


def function(entry: Entry) -> Function:
    """The function of an entry of the table, of its field `standard`."""
    parameters, _, rule = entry.standard.partition(": ")
    kinds, _, gives = rule.partition(" -> ")
    name = f"{entry.page}.{entry.name}".removeprefix("numpy.")
    takes = [dtype for kind in kinds.split() for dtype in KINDS[kind]]
    return Function(name, signature(parameters), takes, gives)


FUNCTION_COUNT = 175  # functions have a page in the standard
FUNCTIONS = [function(e) for e in table.ENTRIES if e.standard is not None]
ELEMENTWISE = [f for f in FUNCTIONS if f.is_elementwise]
REDUCTIONS = [f for f in FUNCTIONS if f.takes and not f.is_elementwise]
