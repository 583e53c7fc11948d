"""Programs for CUDA call the kernels that JAX's call, with the same switches."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import olympus
from olympus import image, lax, nn, random, scipy
from olympus import numpy as jnp
from olympus.lax import linalg
from tests.gpu.calls import CALLS, DIFFERENT, SHAPES
from tests.gpu.targets import record

RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "gpu_targets.json").read_text()
)
NAMES = {
    "jnp": jnp,
    "lax": lax,
    "la": linalg,
    "nn": nn,
    "sp": scipy,
    "image": image,
    "random": random,
    "grad": olympus.grad,
    "vmap": olympus.vmap,
}


def _lower(platform: str) -> Any:
    def lower(function: Any, arguments: Any) -> str:
        traced = olympus.jit(function).trace(*arguments)
        return traced.lower(lowering_platforms=(platform,)).as_text()

    return lower


def _targets(platform: str, calls: list[str]) -> dict[str, Any]:
    with olympus.enable_x64(True):
        lower = _lower(platform)
        return dict(record(calls, NAMES, olympus.ShapeDtypeStruct, lower))


def test_all_calls_are_recorded() -> None:
    assert list(RECORDED) == CALLS
    assert set(DIFFERENT) <= set(CALLS)
    assert len(CALLS) >= 300


@pytest.mark.parametrize("part", range(4))
def test_targets_are_jax_s(part: int) -> None:
    calls = [c for c in CALLS[part::4] if c not in DIFFERENT]
    ours = _targets("cuda", calls)
    theirs = {c: RECORDED[c] for c in calls}
    refused = {c for c, t in theirs.items() if isinstance(t, str)}
    assert {c for c, t in ours.items() if isinstance(t, str)} == refused
    assert {c: t for c, t in ours.items() if c not in refused} == {
        c: t for c, t in theirs.items() if c not in refused
    }


def _with_rocm_names(target: str) -> str:
    return target.replace("cu", "hip", 1) if target.startswith("cu") else target


def test_targets_for_rocm_have_its_names() -> None:
    own = ("la.cholesky_update(A, v)", "DIVIDE_AND_CONQUER", "la.symmetric_product")
    calls = [c for c in CALLS if c.startswith("la.") and not any(o in c for o in own)]
    wanted = {
        c: t if isinstance(t, str) else sorted(map(_with_rocm_names, t))
        for c, t in _targets("cuda", calls).items()
    }
    assert _targets("rocm", calls) == wanted


def test_rocm_has_divide_and_conquer() -> None:
    call = "la.svd(B, algorithm=la.SvdAlgorithm.DIVIDE_AND_CONQUER)"
    (target,) = _targets("rocm", [call])[call]
    assert target.startswith("hipsolver_gesdd_ffi compute_uv = true, full_matrices")
    assert _targets("cuda", [call])[call] == "refused: NotImplementedError"


TPU = {
    "la.qr(A)": {"ProductOfElementaryHouseholderReflectors", "Qr"},
    "la.lu(A)": {"LuDecomposition"},
    "la.eigh(A)": {"Eigh"},
    "la.cholesky(A)": set(),
    "la.tridiagonal_solve(t, t, t, D)": set(),
}


@pytest.mark.parametrize("call", TPU)
def test_what_the_compiler_of_tpus_expands(call: str) -> None:
    assert {t.split()[0] for t in _targets("tpu", [call])[call]} == TPU[call]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("la.svd(A)", "svd"),
        ("la.eig(A)", "eig"),
        ("la.qr(A, pivoting=True)", "qr"),
        ("la.tridiagonal(A)", "tridiagonal"),
        ("la.ormqr(B, s, B)", "ormqr"),
        ("la.eigh(J @ J.T)", "eigh"),
        (
            "la.tridiagonal_solve(t, t, t, D, perturb_singular=True)",
            "tridiagonal_solve",
        ),
    ],
)
def test_what_tpus_lack_is_refused_by_name(call: str, name: str) -> None:
    function = eval("lambda A, B, D, J, s, t: " + call, dict(NAMES))
    arguments = [
        olympus.ShapeDtypeStruct(*SHAPES[n]) for n in ("A", "B", "D", "J", "s", "t")
    ]
    with (
        olympus.enable_x64(True),
        pytest.raises(NotImplementedError, match=f"lax.linalg.{name}.*platform tpu"),
    ):
        _lower("tpu")(function, arguments)


def test_export_for_two_platforms() -> None:
    def f(x: Any) -> Any:
        return linalg.svd(linalg.cholesky(x)), linalg.lu(x), linalg.eigh(x)

    argument = olympus.ShapeDtypeStruct((3, 8, 8), "float32")
    exported = olympus.export.export(olympus.jit(f), platforms=["cpu", "cuda"])(
        argument
    )
    text = exported.mlir_module()
    for target in ("lapack_spotrf_ffi", "cusolver_potrf_ffi", "cusolver_gesvdj_ffi"):
        assert target in text


def test_symbolic_sizes_choose_what_takes_any_size() -> None:
    (n,) = olympus.export.symbolic_shape("n")
    argument = olympus.ShapeDtypeStruct((n, n), "float32")
    exported = olympus.export.export(olympus.jit(linalg.svd), platforms=["cuda"])(
        argument
    )
    assert "cusolver_gesvd_ffi" in exported.mlir_module()


@pytest.mark.parametrize("call", [linalg.eigh, linalg.svd], ids=lambda f: f.__name__)
def test_results_that_are_nan_make_all_results_of_a_matrix_nan(call: Any) -> None:
    """The kernels for stacks of small matrices say that NaN went well."""
    x = olympus.ShapeDtypeStruct((5, 3, 3), "float32")
    lowered = olympus.jit(call).trace(x).lower(lowering_platforms=("cuda",))
    text = lowered.as_text()
    assert "compare  EQ" in text or "compare EQ" in text
    assert "stablehlo.and across dimensions = [1]" in text
