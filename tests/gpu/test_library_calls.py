"""Calls that XLA gives to cuDNN or expands are JAX's, in all that they say."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import olympus
from olympus._src.interpreters import concrete_arrays
from tests.gpu import library_calls
from tests.gpu.library_calls import CALLS, DIFFERENT, REFUSED, WIDER

RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "gpu_library_calls.json").read_text()
)


@pytest.fixture
def cudnn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version of cuDNN that JAX was told when the table was recorded."""
    monkeypatch.setattr(concrete_arrays, "cudnn_version", lambda: 91800)


def lower(function: Any, arguments: Any) -> str:
    traced = olympus.jit(function).trace(*arguments)
    return traced.lower(lowering_platforms=("cuda",)).as_text()


def _is_refused(row: Any) -> bool:
    return str(row).startswith(REFUSED)


def test_all_calls_are_recorded() -> None:
    assert list(RECORDED) == CALLS
    assert {*DIFFERENT, *WIDER} <= set(CALLS)
    assert not {*DIFFERENT} & {*WIDER}


@pytest.mark.usefixtures("cudnn")
def test_calls_are_jax_s() -> None:
    ours = library_calls.record(olympus, lower)
    assert {c for c in CALLS if _is_refused(ours[c]) != _is_refused(RECORDED[c])} == (
        set(WIDER)
    )
    same = [c for c in CALLS if c not in DIFFERENT and not _is_refused(RECORDED[c])]
    assert {c: ours[c] for c in same} == {c: RECORDED[c] for c in same}
    for call in DIFFERENT:
        assert ours[call] != RECORDED[call]


ATT = library_calls.names_for(olympus)["att"]
Q = olympus.ShapeDtypeStruct((2, 64, 4, 32), "bfloat16")


def test_cudnn_must_be_there() -> None:
    with pytest.raises(RuntimeError, match=r"cuDNN is not detected here; leave `impl"):
        olympus.jit(ATT).trace(Q, Q, Q)


@pytest.mark.usefixtures("cudnn")
@pytest.mark.parametrize("platforms", [["cpu"], ["rocm"], ["cpu", "cuda"]])
def test_other_platforms_have_no_cudnn(platforms: list[str]) -> None:
    with pytest.raises(NotImplementedError, match=r"NVIDIA's GPUs only.*or pass 'xla'"):
        olympus.export.export(olympus.jit(ATT), platforms=platforms)(Q, Q, Q)


@pytest.mark.usefixtures("cudnn")
def test_gpus_take_as_many_features_as_they_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = olympus.ShapeDtypeStruct((2, 64, 4, 256), "float16")
    with pytest.raises(NotImplementedError, match="a multiple of 8 features, 128 at"):
        lower(ATT, [wide] * 3)
    monkeypatch.setattr(concrete_arrays, "compute_capability", lambda: (9, 0))
    assert "fmhaSoftmax" in lower(ATT, [wide] * 3)
    monkeypatch.setattr(concrete_arrays, "compute_capability", lambda: (10, 3))
    monkeypatch.setattr(concrete_arrays, "cudnn_version", lambda: 91002)
    with pytest.raises(NotImplementedError, match=r"cuDNN 9\.11 or later.*got 91002"):
        lower(lambda q: ATT(q, q, q), [wide])


@pytest.mark.usefixtures("cudnn")
def test_masks_become_numbers_far_below_scores() -> None:
    for dtype, unseen in (("bfloat16", -(2.0**41)), ("float16", -(2.0**15))):
        q = olympus.ShapeDtypeStruct((2, 64, 4, 32), dtype)
        mask = olympus.ShapeDtypeStruct((2, 1, 64, 64), "bool")
        text = lower(lambda q, m: ATT(q, q, q, mask=m), [q, mask])
        numbers = re.findall(r"constant dense<(-\d\.\d+[eE][+-]\d+)>", text)
        assert np.allclose(list(map(float, numbers)), [unseen], rtol=1e-5)


@pytest.mark.usefixtures("cudnn")
def test_derivatives_that_kernels_lack_are_refused() -> None:
    def total(q: Any) -> Any:
        return ATT(q, q, q).astype("float32").sum()

    def of_sums(q: Any) -> Any:
        return ATT(q, q, q, return_residual=True)[1].astype("float32").sum()

    with pytest.raises(
        NotImplementedError, match="derivatives of what return_residual"
    ):
        lower(olympus.grad(of_sums), [Q])
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        lower(olympus.grad(lambda q: olympus.grad(total)(q)[0, 0, 0, 0]), [Q])
    with pytest.raises(TypeError, match="forward-mode"):
        lower(lambda q: olympus.jvp(total, (q,), (q,)), [Q])


@pytest.mark.usefixtures("cudnn")
def test_attention_inside_of_programs() -> None:
    def step(q: Any, _: Any) -> Any:
        return olympus.checkpoint(lambda q: ATT(q, q, q))(q), None

    def total(q: Any) -> Any:
        return olympus.lax.scan(step, q, None, length=3)[0].astype("float32").sum()

    calls = library_calls.library_calls(lower(olympus.grad(total), [Q]))
    names = [call["target"] for call in calls]
    assert names.count("__cudnn$fmhaSoftmaxBackward") == 1
    assert 1 <= names.count("__cudnn$fmhaSoftmax") <= 2


@pytest.mark.usefixtures("cudnn")
def test_nothing_is_called_where_nothing_is_computed() -> None:
    for t, s in ((0, 64), (64, 0)):
        q = olympus.numpy.ones((2, t, 4, 32), "bfloat16")
        k = olympus.numpy.ones((2, s, 4, 32), "bfloat16")
        out = ATT(q, k, k)
        assert out.shape == q.shape
        assert not out.astype("float32").any()


@pytest.mark.usefixtures("cudnn")
def test_sizes_must_be_known_to_cudnn() -> None:
    (n,) = olympus.export.symbolic_shape("n")
    q = olympus.ShapeDtypeStruct((n, 64, 4, 32), "bfloat16")
    with pytest.raises(NotImplementedError, match="takes no symbolic sizes"):
        olympus.export.export(olympus.jit(ATT), platforms=["cuda"])(q, q, q)


BLOCKS = [
    olympus.ShapeDtypeStruct(*library_calls.SHAPES[name])
    for name in ("a", "b", "c", "d")
]
NO_CHECK = [olympus.export.DisabledSafetyCheck.custom_call("__op$block_scaled_dot")]


def test_blocks_with_scales_for_several_platforms() -> None:
    platforms = ["cpu", "cuda", "rocm", "tpu"]
    scaled = olympus.jit(olympus.nn.scaled_matmul)
    exported = olympus.export.export(
        scaled, platforms=platforms, disabled_checks=NO_CHECK
    )(*BLOCKS)
    text = exported.mlir_module()
    assert text.count("@__op$block_scaled_dot") == 1
    assert text.count('composite "xla.scaled_dot"') == 1
    rng = np.random.default_rng(0)
    values = [rng.normal(size=x.shape).astype(x.dtype) for x in BLOCKS[:2]]
    values += [
        (2.0 ** rng.integers(-3, 3, x.shape)).astype(x.dtype) for x in BLOCKS[2:]
    ]
    np.testing.assert_array_equal(
        exported.call(*values), olympus.nn.scaled_matmul(*values)
    )


def test_blocks_of_symbolic_sizes_are_written_out() -> None:
    b, m = olympus.export.symbolic_shape("b, m")
    operands = [
        olympus.ShapeDtypeStruct((b, m, x.shape[2]), x.dtype)
        for x in (BLOCKS[0], BLOCKS[0], BLOCKS[2], BLOCKS[2])
    ]
    scaled = olympus.jit(olympus.nn.scaled_matmul)
    exported = olympus.export.export(scaled, platforms=["cpu", "cuda"])(*operands)
    values = [np.full((2, 3, x.shape[2]), 0.5, x.dtype) for x in operands]
    assert (np.asarray(exported.call(*values)) == 64 * 0.5**4).all()
