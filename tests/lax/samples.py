"""Samples of every first-order primitive, and inputs they refuse."""

from __future__ import annotations

from tests.lax import (
    samples_convolution,
    samples_elementwise,
    samples_fourier,
    samples_linalg,
    samples_ragged,
    samples_reductions,
    samples_shaping,
    samples_slicing,
    samples_sorting,
    samples_special,
    samples_windows,
)

_FAMILIES = (
    samples_elementwise,
    samples_shaping,
    samples_reductions,
    samples_slicing,
    samples_sorting,
    samples_convolution,
    samples_special,
    samples_windows,
    samples_linalg,
    samples_fourier,
    samples_ragged,
)

SAMPLES = [s for family in _FAMILIES for s in family.SAMPLES]
ERRORS = [e for family in _FAMILIES for e in family.ERRORS]

WITHOUT_SAMPLE = dict.fromkeys(
    (
        "all_gather",
        "all_gather_invariant",
        "all_to_all",
        "axis_index",
        "pbroadcast",
        "pmax",
        "pmin",
        "ppermute",
        "psum",
        "psum_invariant",
        "pvary",
        "reduce_scatter",
    ),
    "it needs a mapped axis; test_parallel and tests/sharding have the cases",
)
WITHOUT_SAMPLE["rng_uniform"] = "its numbers differ at each run; test_unrepeated has it"
WITHOUT_SAMPLE |= {
    f"{name}_{how}": "written where programs are lowered; test_prefix_kernels"
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
    for how in ("kernel", "in_xla")
}
WITHOUT_SAMPLE |= dict.fromkeys(
    ("lu_in_lapack", "small_lu", "small_lu_solve"),
    "written where programs are lowered; test_matrix_kernels",
)
WITHOUT_SAMPLE["separate_call"] = (
    "written where programs are lowered; test_cipher_limits"
)
WITHOUT_SAMPLE["kept"] = "written where programs are lowered; test_window_kernels"
WITHOUT_SAMPLE["syrk"] = "only GPUs have that kernel; tests/gpu has its calls"
WITHOUT_REFERENCE = {
    "bessel_i0": "NumPy has only this order, as a function of float64 alone",
    "bessel_i1": "NumPy has none; scipy is the oracle in test_functions",
    "bessel_i0e": "NumPy has none; scipy is the oracle in test_functions",
    "bessel_i1e": "NumPy has none; scipy is the oracle in test_functions",
    "polygamma": "NumPy has none; scipy is the oracle in test_functions",
    "eig": "signs are LAPACK's choice; test_linalg multiplies the factors",
    "eigh": "signs are LAPACK's choice; test_linalg multiplies the factors",
    "geqp3": "reflections are LAPACK's choice; test_linalg multiplies the factors",
    "geqrf": "reflections are LAPACK's choice; test_linalg multiplies the factors",
    "hessenberg": "NumPy has none; test_linalg multiplies the factors",
    "qr": "signs are LAPACK's choice; test_linalg multiplies the factors",
    "svd": "signs are LAPACK's choice; test_linalg multiplies the factors",
    "schur": "NumPy has none; test_linalg multiplies the factors",
    "rng_bit_generator": "its bits are the platform's own",
    "tridiagonal": "NumPy has none; test_linalg multiplies the factors",
    "zeta": "NumPy has none; scipy is the oracle in test_functions",
    "clz": "NumPy does not count leading zeros",
    "eq_to": "NumPy has no total order of floats",
    "le_to": "NumPy has no total order of floats",
    "lt_to": "NumPy has no total order of floats",
}
