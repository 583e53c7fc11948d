"""Types and constants as StableHLO text."""

from __future__ import annotations

from typing import Any

import numpy as np

from olympus._src.core import dtypes, sizes
from olympus._src.foundation import caching

_ELEMENTS = {
    "bool": "i1",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3b11fnuz": "f8E4M3B11FNUZ",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float4_e2m1fn": "f4E2M1FN",
}


def element_type(dtype: np.dtype) -> str:
    """The StableHLO name of an element type."""
    element = _known_elements.get(dtype)
    if element is None:
        element = _known_elements[dtype] = _element_name(dtype)
    return element


# NumPy makes the name of a dtype whenever it is read.
_known_elements: dict[np.dtype, str] = {}
caching.register(
    _known_elements.clear, "element types by dtype", _known_elements.__len__
)


def _element_name(dtype: np.dtype) -> str:
    name = dtype.name
    element = _ELEMENTS.get(name)
    if element is not None:
        return element
    if name.startswith("uint"):
        return "ui" + name[4:]
    if name.startswith("int"):
        return "i" + name[3:]
    raise TypeError(f"lowering: dtype {name} has no StableHLO element type")


def tensor_type(aval: Any) -> str:
    """The StableHLO type of an aval, as in `tensor<2x3xf32>`."""
    text = aval._mlir  # noqa: SLF001 - a cache slot for this function
    if text is None:
        shape, dtype = physical(aval)
        sizes.check_elements("lowering", shape)
        listed = "".join(["?x" if sizes.is_symbolic(d) else f"{d}x" for d in shape])
        text = aval._mlir = f"tensor<{listed}{element_type(dtype)}>"  # noqa: SLF001
    return text


def has_symbolic_size(aval: Any) -> bool:
    """Whether a size of the aval is symbolic."""
    return "?" in tensor_type(aval)


def physical(aval: Any) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and dtype of the buffer that holds values of `aval`."""
    storage = aval.storage
    return storage.shape, storage.dtype


def token_type() -> str:
    """The type of tokens."""
    return "!stablehlo.token"


def dense(value: Any, aval: Any) -> str:
    """A `dense<...> : type` attribute for a host value of type `aval`."""
    array = np.asarray(value)
    if aval.dtype == dtypes.float0:
        array = np.zeros(aval.shape, np.bool_)
    array = array.astype(aval.storage.dtype, copy=False)
    return f"dense<{_elements(array)}> : {tensor_type(aval)}"


def _elements(array: np.ndarray) -> str:
    if array.size == 0:
        return ""
    flat = array.reshape(-1)
    if array.size == 1 or (flat.tobytes() == flat[:1].tobytes() * array.size):
        return scalar(flat[0])
    return f'"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"'


def scalar(value: Any) -> str:
    """One element, as StableHLO writes it; exact for every float."""
    kind = value.dtype.kind
    if kind == "b":
        return "true" if value else "false"
    if kind == "c":
        return f"({scalar(value.real)}, {scalar(value.imag)})"
    if dtypes.issubdtype(value.dtype, np.integer):
        return str(int(value))
    return _float(value)


def _float(value: Any) -> str:
    number = float(value)
    if np.isfinite(number) and value.dtype.itemsize >= 4:
        text = np.format_float_scientific(value, unique=True, trim="0")
        return text.replace("e", "E") if "e" in text else text
    if np.isfinite(number):
        return f"{number:.17E}"
    bits = np.asarray(value).view(f"u{value.dtype.itemsize}").item()
    return f"0x{bits:0{value.dtype.itemsize * 2}X}"


def int_list(values: Any) -> str:
    """`[1, 2]`."""
    return f"[{_integers(values)}]"


def i64_array(values: Any) -> str:
    """`array<i64: 1, 2>`."""
    items = _integers(values)
    return f"array<i64: {items}>" if items else "array<i64>"


_SHORT = len(str(1 << 63))


def _integers(values: Any) -> str:
    text = ", ".join(map(str, values))
    if len(text) >= _SHORT:  # in fewer characters each of them fits
        for value in values:
            if type(value) is int and not -(1 << 63) <= value < 1 << 63:
                raise OverflowError(
                    f"lowering: sizes and offsets must fit 64 bits, got {value}; "
                    "choose a smaller one"
                )
    return text


def string(text: str) -> str:
    """A quoted MLIR string."""
    out = []
    for byte in text.encode():
        plain = 32 <= byte < 127 and byte not in (34, 92)
        out.append(chr(byte) if plain else f"\\{byte:02X}")
    return '"' + "".join(out) + '"'
