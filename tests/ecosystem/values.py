"""Values of checks as JSON, and their comparison.

Numbers, arrays, texts, and lists, tuples and dictionaries of them are kept. Integers,
booleans and texts must be equal; floats may differ by rounding, or by as much as the
workload says of a check.
"""

import json

import numpy as np

# Relative to the largest element, by the bytes of a real number.
ROUNDING = {1: 1e-1, 2: 2e-2, 4: 1e-4, 8: 1e-8}

# Decimal digits that are kept of a real number, by its bytes.
_DIGITS = {1: 3, 2: 5, 4: 8, 8: 14}

_LARGEST = 256


def encode(value):
    """A value as JSON's types."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {"items": {str(k): encode(v) for k, v in sorted(value.items(), key=str)}}
    if isinstance(value, list | tuple):
        return {"list": [encode(v) for v in value]}
    array = np.asarray(value)
    if array.size > _LARGEST:
        raise ValueError(
            f"encode: a value must have at most {_LARGEST} elements, got shape "
            f"{array.shape}; check a part or a sum of it"
        )
    dtype = type(value).__name__ if type(value) in (bool, int, float) else array.dtype
    return {
        "dtype": str(dtype),
        "shape": list(array.shape),
        "values": _elements(array),
    }


def _elements(array):
    array = array.ravel()
    if array.dtype.kind in "biu":
        return array.tolist()
    if array.dtype.kind == "U":
        return [str(x) for x in array]
    if array.dtype.kind == "c":
        return [_elements(array.real), _elements(array.imag)]
    digits = _DIGITS[array.dtype.itemsize]
    return [float(f"{float(x):.{digits}g}") for x in array]


def write(entries):
    """A table of checks as a text, a check a line."""
    lines = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def difference(recorded, value, tolerance=None):
    """What is wrong with a value, as a text; None where it agrees.

    Args:
      recorded, value: as `encode` gives them.
      tolerance: relative to the largest element; None: rounding.
    """
    if not isinstance(recorded, dict) or not isinstance(value, dict):
        return None if recorded == value else f"{value!r} instead of {recorded!r}"
    if recorded.keys() != value.keys():
        return f"another kind of value: {sorted(value)} instead of {sorted(recorded)}"
    if "values" in recorded:
        return _array_difference(recorded, value, tolerance)
    key = "items" if "items" in recorded else "list"
    parts = [_pairs(entry[key]) for entry in (recorded, value)]
    if parts[0].keys() != parts[1].keys():
        return f"parts {list(parts[1])} instead of {list(parts[0])}"
    for name, part in parts[0].items():
        wrong = difference(part, parts[1][name], tolerance)
        if wrong is not None:
            return f"at {name}: {wrong}"
    return None


def _pairs(parts):
    return parts if isinstance(parts, dict) else dict(enumerate(parts))


def _array_difference(recorded, value, tolerance):
    for field in ("dtype", "shape"):
        if recorded[field] != value[field]:
            return f"{field} {value[field]} instead of {recorded[field]}"
    dtype = recorded["dtype"]
    if "float" not in dtype and "complex" not in dtype:
        if recorded["values"] == value["values"]:
            return None
        return f"{_short(value['values'])} instead of {_short(recorded['values'])}"
    if tolerance is None:
        tolerance = ROUNDING[_bytes_of_reals(dtype)]
    want, got = (np.asarray(entry["values"], float) for entry in (recorded, value))
    finite = want[np.isfinite(want)]
    scale = np.max(np.abs(finite), initial=0.0)
    # A residual of a converged solution is nothing but rounding.
    close = np.isclose(got, want, rtol=tolerance, atol=tolerance * max(scale, 1e-3))
    close |= np.isnan(want) & np.isnan(got)
    if close.all():
        return None
    return f"{_short(got.tolist())} instead of {_short(want.tolist())}"


def _bytes_of_reals(dtype):
    if dtype == "float":
        return 4
    bits = int(dtype.removeprefix("b").removeprefix("float").removeprefix("complex"))
    return bits // (16 if dtype.startswith("complex") else 8)


def _short(values):
    text = json.dumps(values)
    return text if len(text) < 100 else text[:97] + "..."
