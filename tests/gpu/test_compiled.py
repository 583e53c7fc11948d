"""Programs for CUDA, compiled for an H200 that is not here, beside those of JAX.

`tools/test gpu-compile` runs these, in an environment of their own.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import olympus
from olympus import lax
from olympus import numpy as jnp
from olympus._src.interpreters import concrete_arrays
from tests.gpu import library_calls
from tests.gpu.calls import CALLS
from tests.gpu.targets import REFUSED, record
from tests.gpu.test_targets import NAMES

pytestmark = pytest.mark.gpu_compile

RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "gpu_compiled.json").read_text()
)
# Calls whose kernels differ from JAX's, with why.
OTHER_KERNELS = {
    "sp.linalg.polar(A)": "the first two steps are written out, and one loop is left",
    "sp.linalg.rsf2csf(A, A)": "eigenvalues of 2 by 2 blocks have a closed form",
    "sp.stats.rankdata(v)": "no loop, whose results XLA would write into one buffer",
}
# Calls that may have more fused programs, or loops, than JAX's by more than two.
LONGER = {
    "la.tridiagonal_solve(q, q, q, q[..., None])": "two rows need no kernel",
    "jnp.roots(v, strip_zeros=False)": "leading zeros are shifted out",
    "jnp.linalg.pinv(A)": "singular values are looked through for NaN",
    "lax.betainc(x, x, y)": "a fraction, and for large numbers an integral",
    "sp.special.betainc(x, x, y)": "the same",
}


@pytest.fixture(scope="module")
def gpu() -> Any:
    """The GPU that is compiled for."""
    from tests.gpu.absent import Gpu

    return Gpu()


def _lower(function: Any, arguments: Any) -> str:
    traced = olympus.jit(function).trace(*arguments)
    return traced.lower(lowering_platforms=("cuda",)).as_text()


@pytest.fixture(scope="module")
def ours(gpu: Any) -> dict[str, Any]:
    """What each call's program runs."""
    with olympus.enable_x64(True):
        struct = olympus.ShapeDtypeStruct
        rows = dict(record(CALLS, NAMES, struct, _lower, gpu.summary))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concrete_arrays, "cudnn_version", lambda: 91800)
        rows |= library_calls.record(olympus, _lower, gpu.summary)
    return {c: r for c, r in rows.items() if not str(r).startswith(REFUSED)}


def _compiled(rows: dict[str, Any]) -> dict[str, Any]:
    return {call: row for call, row in rows.items() if isinstance(row, dict)}


def test_what_compiles_of_jax_s_compiles(ours: dict[str, Any]) -> None:
    assert len(_compiled(RECORDED)) >= 530
    assert set(_compiled(RECORDED)) <= set(_compiled(ours))


def test_kernels_are_jax_s(ours: dict[str, Any]) -> None:
    theirs = _compiled(RECORDED)
    different = {c for c in theirs if ours[c]["targets"] != theirs[c]["targets"]}
    assert different == set(OTHER_KERNELS)


def test_programs_are_as_short_as_jax_s(ours: dict[str, Any]) -> None:
    theirs = _compiled(RECORDED)
    compared = [c for c in theirs if c not in OTHER_KERNELS and c not in LONGER]
    more = {c: ours[c]["fusions"] - theirs[c]["fusions"] for c in compared}
    assert {c: n for c, n in more.items() if n > 2} == {}
    assert {c for c in compared if ours[c]["loops"] > theirs[c]["loops"]} == set()
    assert sum(more.values()) <= 0


SORTS = {
    "floats": jnp.sort,
    "positions": jnp.argsort,
    "a median": jnp.median,
    "integers": lambda x: jnp.sort(x.astype("int32")),
    "bfloat16": lambda x: jnp.sort(x.astype("bfloat16")),
    "downwards": lambda x: jnp.sort(x, descending=True),
    "few of many": lambda x: lax.top_k(x, 5),
    "few integers of many": lambda x: lax.top_k(x.astype("int32"), 500),
    "few of less": lambda x: lax.top_k(x[: 1 << 17], 5),
}


@pytest.mark.parametrize("what", SORTS)
def test_sorts_take_their_kernels(gpu: Any, what: str) -> None:
    """XLA knows the comparators. Sorts of pairs or rows have no kernel, as in JAX."""
    module = _lower(SORTS[what], [olympus.ShapeDtypeStruct((1 << 20,), "float32")])
    # Later passes ask the kernel for the memory it needs, which takes a GPU.
    text = gpu.text(module, xla_early_exit_with_layouts=True)
    kernel = "__gpu$TopK" if what == "few of less" else "xla.gpu.ext.cub_sort"
    assert f'custom_call_target="{kernel}' in text
    assert " sort(" not in text
