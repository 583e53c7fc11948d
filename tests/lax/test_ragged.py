"""Ragged contractions by the loop over blocks of rows, and by zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
from olympus import lax
from olympus._src.lax import ragged_lowering
from tests.lax import samples_ragged
from tests.lax.sampling import Sample


def text(f: Any, *args: Any) -> str:
    return olympus.jit(f).lower(*args).as_text()


def product(x: Any, y: Any, sizes: Any) -> np.ndarray:
    """Row by row, with the matrix of the row's group."""
    out = np.zeros((x.shape[0], y.shape[2]))
    end = 0
    for g, size in enumerate(np.maximum(sizes, 0)):
        start, end = end, end + size
        out[start:end] = x[start:end].astype(np.float64) @ y[g]
    return out


@pytest.fixture
def looped(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Small contractions go by the loop, too."""
    monkeypatch.setattr(ragged_lowering, "_SMALL", -1)
    olympus.clear_caches()
    yield
    olympus.clear_caches()


@pytest.mark.slow
@pytest.mark.parametrize("s", samples_ragged.SAMPLES, ids=repr)
def test_the_loop_agrees_with_the_meaning(looped: Any, s: Sample) -> None:
    got = np.asarray(s.p.bind(*s.args, **s.params))
    want = s.p.reference(*s.args, **s.params)
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=1e-4, atol=1e-4
    )


SIZES = {
    "all": [3, 0, 30, 4, 27],
    "some": [0, 0, 40, 0, 1],
    "none": [0, 0, 0, 0, 0],
    "too many": [50, 50, 50, 1, 1],
    "negative": [5, -7, 20, 0, 3],
    "one row each": [1, 1, 1, 1, 1],
}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_blocks_keep_to_their_groups(sizes: list[int]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 48)).astype(np.float32)
    y = rng.normal(size=(5, 48, 40)).astype(np.float32)
    f = olympus.jit(lax.ragged_dot)
    assert "stablehlo.while" in text(lax.ragged_dot, x, y, np.array(sizes))
    got = f(x, y, np.array(sizes, np.int32))
    np.testing.assert_allclose(got, product(x, y, sizes), rtol=1e-3, atol=1e-4)

    def energy(x: Any, y: Any) -> Any:
        return (lax.ragged_dot(x, y, np.array(sizes)) ** 2).sum() / 2

    dx, dy = olympus.jit(olympus.grad(energy, (0, 1)))(x, y)
    out = product(x, y, sizes)
    np.testing.assert_allclose(
        dx, product(out, y.transpose(0, 2, 1), sizes), rtol=1e-3, atol=1e-3
    )
    # Along a direction the energy of the linear map changes by <out, map(direction)>.
    v = rng.normal(size=y.shape)
    np.testing.assert_allclose(
        (dy * v).sum(), (out * product(x, v, sizes)).sum(), rtol=1e-2, atol=1e-2
    )


@pytest.mark.slow
def test_what_is_no_number_stays_in_its_group(looped: Any) -> None:
    x = np.ones((6, 2), np.float32)
    x[2] = np.nan
    y = np.ones((2, 2, 3), np.float32)
    sizes = np.array([2, 4])
    rows = np.isnan(lax.ragged_dot(x, y, sizes)).any(1)
    np.testing.assert_array_equal(rows, [False, False, True, False, False, False])
    numbers = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    parts = np.isnan(lax.ragged_dot_general(x, x, sizes, numbers)).any((1, 2))
    np.testing.assert_array_equal(parts, [False, True])


def test_other_platforms_are_lowered_without_a_loop() -> None:
    x, y = np.ones((64, 48), np.float32), np.ones((5, 48, 40), np.float32)
    traced = olympus.jit(lax.ragged_dot).trace(x, y, np.array([1, 2, 3, 4, 5]))
    for platform, loop in (("cpu", True), ("cuda", False)):
        lowered = traced.lower(lowering_platforms=(platform,)).as_text()
        assert ("stablehlo.while" in lowered) == loop


def test_an_offset_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="group_offset must be None"):
        lax.ragged_dot(
            np.ones((2, 2)), np.ones((1, 2, 2)), np.array([2]), group_offset=[0]
        )


def test_numbers_are_compared_by_value() -> None:
    same = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    assert samples_ragged.ROWS == same != samples_ragged.PARTS
    assert len({samples_ragged.ROWS, same}) == 1


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize(
    "dtypes", ["i4 u4", "u4 i1", "u1 i1", "i4 f2", "f2 f4", "f4 c8"]
)
def test_two_dtypes_meet_as_in_the_plain_contraction(dtypes: str, x64: bool) -> None:
    lhs, rhs = (np.ones((3, 3), dtype) for dtype in dtypes.split())
    with olympus.enable_x64(x64):
        out = olympus.eval_shape(lax.ragged_dot, lhs, rhs[None], np.array([3]))
        assert out.dtype == olympus.eval_shape(lax.dot, lhs, rhs).dtype
