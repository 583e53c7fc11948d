"""LU factors of small matrices, by the kernels in C that olympus brings, where built.

LAPACK takes one matrix after another, and the order of rows takes a loop of XLA behind
it: the two run for 5 microseconds more for one matrix, and compile for 100 ms more. A
kernel eliminates in eight matrices at once, and gives the order (decision 50).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from olympus._src import native
from olympus._src.core.primitive import Primitive
from olympus._src.core.sizes import at_least
from olympus._src.lax.linalg import custom_calls

_DTYPES = frozenset(["float32", "float64"])
MOST = 16  # rows and columns; `small_matrices.h` has the same
# Below so many matrices LAPACK takes those of more than eight rows as fast.
_FEWEST_LARGE, _SMALL = 4, 8


def suits(platform: str, x: Any, columns: int = 0) -> bool:
    """Whether there is a kernel for a stack of matrices.

    Args:
      platform: for which is lowered.
      x: the type of the matrices.
      columns: of the right-hand sides.
    """
    rows = x.shape[-1]
    return (
        platform == "cpu"
        and x.dtype.name in _DTYPES
        and x.shape[-2] == rows
        and 0 < rows <= MOST
        and columns <= MOST
        and at_least(math.prod(x.shape[:-2]), 1 if rows <= _SMALL else _FEWEST_LARGE)
        and native.load_products() is not None
    )


def factors_by_kernel(name: str, plain: Primitive) -> Primitive:
    """LU factors by the kernel.

    Args:
      name: of the operation.
      plain: the same by LAPACK, for other processes and divided programs.
    """

    def lower(ctx: Any, x: str) -> list[str]:
        return _emit(ctx, native.SMALL_LU, (x,), {0: 0})

    return Primitive(
        name,
        multiple_results=True,
        abstract=plain.abstract,
        lower=lower,
        decompose=plain.bind,
        needs_full_build=True,
    )


def solutions_by_kernel(
    name: str, abstract: Callable[..., Any], plain: Callable[..., Any]
) -> Primitive:
    """Solutions with LU factors, by the kernel.

    Args:
      name: of the operation.
      abstract: gives the type of the solution.
      plain: the same by other operations, for other processes and divided programs.
    """

    def lower(ctx: Any, packed: str, order: str, b: str, *, transpose_a: bool) -> str:
        suffix = native.TRANSPOSED if transpose_a else ""
        target = f"{native.SMALL_LU_SOLVE}{suffix}"
        (out,) = _emit(ctx, target, (packed, order, b), {})
        return out

    return Primitive(
        name,
        abstract=abstract,
        lower=lower,
        decompose=plain,
        needs_full_build=True,
    )


def _emit(ctx: Any, name: str, operands: Any, reused: Any) -> list[str]:
    return custom_calls.emit(
        ctx,
        name,
        operands,
        ctx.avals_in,
        ctx.avals_out,
        rank=ctx.avals_in[0].ndim,
        reused=reused,
        by_rows=True,
    )
