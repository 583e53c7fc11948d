"""The targets of custom calls with a compatibility guarantee.

A table of facts, in the words that artifacts carry. Recorded by asking jax 0.10.2 to
export a call of each of 336 names (those that jaxlib registers, and those of XLA): it
refuses the others. Its documentation describes the promise:
https://docs.jax.dev/en/latest/export/export.html#compatibility-guarantees-for-custom-calls
"""

from __future__ import annotations

_XLA = """
    ApproxTopK Eigh LuDecomposition ProductOfElementaryHouseholderReflectors Qr
    SPMDFullToShardShape SPMDShardToFullShape Sharding annotate_device_placement
    shape_assertion stablehlo.dynamic_approx_top_k stablehlo.dynamic_reduce_window
    stablehlo.dynamic_rng_bit_generator stablehlo.dynamic_top_k tpu_custom_call
"""
_REAL = "gees geev gehrd geqrf gesdd getrf gtsv orgqr potrf syevd sytrd trsm"
_COMPLEX = "gees geev gehrd geqrf gesdd getrf gtsv ungqr potrf heevd hetrd trsm"
_SOLVERS = "geqrf gesvd gesvdj getrf orgqr potrf syevd sytrd"


def _targets() -> frozenset[str]:
    targets = {*_XLA.split(), "cusparse_gtsv2_ffi"}
    for letters, names in (("sd", _REAL), ("cz", _COMPLEX)):
        targets |= {f"lapack_{c}{name}_ffi" for c in letters for name in names.split()}
    for maker in ("cu", "hip"):
        targets |= {f"{maker}solver_{name}_ffi" for name in _SOLVERS.split()}
        targets |= {f"{maker}_lu_pivots_to_permutation", f"{maker}_threefry2x32_ffi"}
    return frozenset(targets)


TARGETS = _targets()
