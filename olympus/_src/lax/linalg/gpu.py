"""Calls of the kernels that the plug-ins of CUDA and ROCm bring for matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from olympus._src.lax.linalg import custom_calls

# How the names of kernels begin, by the library: the vendor's dense and sparse ones;
# those that share work with the host; and the plug-in's own.
_PREFIXES = {
    "cuda": {
        "solver": "cusolver_",
        "sparse": "cusparse_",
        "hybrid": "cuhybrid_",
        "plugin": "cu_",
    },
    "rocm": {
        "solver": "hipsolver_",
        "sparse": "hipsparse_",
        "hybrid": "hiphybrid_",
        "plugin": "hip_",
    },
}
PLATFORMS = frozenset(_PREFIXES)


def call(
    ctx: Any,
    library: str,
    kernel: str,
    operands: Sequence[str],
    in_avals: Sequence[Any],
    out_avals: Sequence[Any],
    *,
    rank: int,
    reused: Mapping[int, int],
    attributes: custom_calls.Attributes = None,
    by_rows: bool = False,
) -> list[str]:
    """Writes a call of a kernel on a GPU; it takes all dtypes by one name.

    Args:
      ctx: what the lowering rule was given, for a platform of `PLATFORMS`.
      library: "solver", "sparse", "hybrid" or "plugin".
      kernel: the kernel's name in it, as in "potrf_ffi".
      operands: names of the operands.
      in_avals: their types.
      out_avals: the types of the results.
      rank: the number of axes of a stack of matrices.
      reused: for each result that the kernel writes in the place of an operand, which.
      attributes: the kernel's switches.
      by_rows: the kernel takes matrices row by row.
    """
    return custom_calls.emit(
        ctx,
        _PREFIXES[ctx.platform][library] + kernel,
        operands,
        in_avals,
        out_avals,
        rank=rank,
        reused=reused,
        attributes=attributes,
        by_rows=by_rows,
    )


def magma(use: bool | None) -> str:
    """How a hybrid kernel is told whether to use the library MAGMA."""
    return "auto" if use is None else "on" if use else "off"
