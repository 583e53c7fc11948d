"""Functions of `lax` that are several operations: outside of traces, one program each.

They move data, so that the program gives the bits that the operations give.
"""

from __future__ import annotations

from typing import TypeVar

from olympus._src.interpreters.direct_calls import direct
from olympus._src.lax import fourier, slicing

F = TypeVar("F")


def _single_program(fun: F, operands: int) -> F:
    """The function as one program; numbers among its first operands are arrays."""
    name: str = fun.__name__  # type: ignore[attr-defined]
    single = direct(name, operands, moves_data=True)(fun)  # type: ignore[type-var]
    if single is not fun:
        single.__module__ = __name__
    return single


dynamic_slice = _single_program(slicing.dynamic_slice, 2)
dynamic_slice_in_dim = _single_program(slicing.dynamic_slice_in_dim, 2)
dynamic_index_in_dim = _single_program(slicing.dynamic_index_in_dim, 2)
dynamic_update_slice = _single_program(slicing.dynamic_update_slice, 3)
dynamic_update_slice_in_dim = _single_program(slicing.dynamic_update_slice_in_dim, 3)
dynamic_update_index_in_dim = _single_program(slicing.dynamic_update_index_in_dim, 3)
fft = _single_program(fourier.fft, 1)
