"""Arrays that explicit axes of a mesh divide.

`tests/data/explicit_types.json` has expressions over them, each with the types of its
results in JAX, or the class of the error (`tests/data/record_explicit_types.py`).
`explicit_differences.json` has those where ours differ: types where JAX refuses
operands that tell how the result is divided, and other differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Name: shape, dtype, and what divides each axis, over a mesh of 4 by 2 devices.
OPERANDS: dict[str, tuple[tuple[int, ...], str, tuple[Any, ...]]] = {
    "a": ((8, 4), "f4", ("x", "y")),
    "b": ((8, 4), "f4", ("x", None)),
    "c": ((8, 4), "f4", (None, "y")),
    "r": ((8, 4), "f4", ()),
    "t": ((4, 8), "f4", ("y", "x")),
    "u": ((4, 8), "f4", ("x", "y")),
    "m": ((4, 8), "f4", ("x", None)),
    "mm": ((4, 8), "f4", (None, "x")),
    "my": ((4, 8), "f4", (None, "y")),
    "mr": ((4, 8), "f4", ()),
    "yx": ((8, 4), "f4", ("y", "x")),
    "b1": ((8, 1), "f4", ("x", None)),
    "v": ((8,), "f4", ("x",)),
    "w": ((4,), "f4", ("y",)),
    "vy": ((8,), "f4", ("y",)),
    "vr": ((8,), "f4", ()),
    "s": ((), "f4", ()),
    "ax": ((8, 4), "f4", (("x", "y"), None)),
    "cube": ((4, 8, 2), "f4", ("x", None, "y")),
    "cube2": ((4, 2, 8), "f4", ("x", "y", None)),
    "cr": ((4, 8, 2), "f4", ()),
    "bc": ((4, 6, 8), "f4", ("x", None, None)),
    "bcy": ((4, 6, 8), "f4", (None, "y", None)),
    "i": ((8,), "i4", ("x",)),
    "ir": ((3,), "i4", ()),
    "i2": ((2,), "i4", ("y",)),
    "q": ((8, 4), "?", ("x", "y")),
    "z": ((8, 4), "c8", ("x", None)),
    "sq": ((8, 8), "f4", ("x", "y")),
    "sqx": ((8, 8), "f4", ("x", None)),
    "bsq": ((4, 3, 3), "f4", ("x", None, None)),
    "sqr": ((8, 8), "f4", ()),
    "img": ((8, 3, 16, 16), "f4", ("x", None, None, None)),
    "ker": ((6, 3, 3, 3), "f4", ()),
    "kery": ((6, 3, 3, 3), "f4", ("y", None, None, None)),
    "imgs": ((8, 3, 16, 16), "f4", ("x", None, "y", None)),
}


def value(name: str) -> np.ndarray:
    """The value of an operand; of those in stacks of matrices, they are definite."""
    shape, dtype, _ = OPERANDS[name]
    rng = np.random.RandomState(sum(map(ord, name)))
    if dtype == "?":
        return rng.randint(0, 2, shape) > 0
    if dtype == "i4":
        return rng.randint(0, 3, shape).astype(dtype)
    x = rng.uniform(0.5, 1.5, shape)
    if "sq" in name:
        x = x @ np.swapaxes(x, -1, -2) + 9 * np.eye(shape[-1])
    return x.astype(dtype)
