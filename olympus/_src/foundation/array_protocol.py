"""The method by which objects of other libraries say which array they stand for.

`__olympus_array__`, and `__jax_array__`, which libraries for JAX define. Where it is
None, the object stands for no array.
"""

from __future__ import annotations

from typing import Any

OWN = "__olympus_array__"
_METHODS = (OWN, "__jax_array__")


def is_array(x: Any) -> bool:
    """Whether the object stands for an array."""
    return any(getattr(x, name, None) is not None for name in _METHODS)


def array_of(x: Any) -> Any:
    """The array that the object stands for."""
    for name in _METHODS:
        method = getattr(x, name, None)
        if method is not None:
            return method()
    raise TypeError(f"an object with {OWN} is required, got {type(x).__name__}")
