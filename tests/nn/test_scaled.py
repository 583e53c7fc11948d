"""Contractions of blocks with scales, and of numbers in few bits."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax, nn
from olympus import numpy as jnp

F8, E8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
F32 = np.float32
rng = np.random.default_rng(0)
A = rng.normal(size=(4, 64)).astype(F8)
B = rng.normal(size=(64, 3)).astype(F8)
SA = (2.0 ** rng.integers(-3, 3, (4, 2))).astype(E8)
SB = (2.0 ** rng.integers(-3, 3, (2, 3))).astype(E8)
WIDE_A = A.astype(F32) * np.repeat(SA.astype(F32), 32, 1)
WIDE_B = B.astype(F32) * np.repeat(SB.astype(F32), 32, 0)


@pytest.mark.slow
def test_scaled_dot_is_the_product_of_scaled_operands() -> None:
    got = lax.scaled_dot(A, B, lhs_scale=SA, rhs_scale=SB, preferred_element_type=F32)
    np.testing.assert_allclose(got, WIDE_A @ WIDE_B, rtol=1e-5, atol=1e-5)
    plain = lax.scaled_dot(A, B)
    assert plain.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(
        plain.astype(F32), A.astype(F32) @ B.astype(F32), rtol=3e-2, atol=0.2
    )


@pytest.mark.slow
def test_scaled_dot_over_batches_and_under_transformations() -> None:
    def f(a: Any, sa: Any) -> Any:
        return lax.scaled_dot(a, WIDE_B, lhs_scale=sa, preferred_element_type=F32)

    stacked = np.stack([A, A]).astype(F32)
    scales = np.stack([SA, SA * 2]).astype(F32)
    got = olympus.vmap(f)(stacked, scales)
    want = np.stack([WIDE_A @ WIDE_B, 2 * WIDE_A @ WIDE_B])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)
    both = lax.scaled_dot(
        stacked,
        np.stack([WIDE_B, WIDE_B]),
        lhs_scale=scales,
        preferred_element_type=F32,
    )
    np.testing.assert_allclose(both, want, rtol=1e-5, atol=1e-4)
    slope = olympus.grad(lambda a: f(a, SA).sum())(A.astype(F32))
    np.testing.assert_allclose(
        slope, np.repeat(SA.astype(F32), 32, 1) * WIDE_B.sum(1), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    "scale", [np.ones((4, 3), E8), np.ones((3, 2), E8), np.ones((4,), E8)]
)
def test_scaled_dot_refuses_scales_of_other_sizes(scale: Any) -> None:
    with pytest.raises(TypeError, match="lhs_scale must have the sizes"):
        lax.scaled_dot(A, B, lhs_scale=scale)


def test_scaled_dot_refuses_vectors() -> None:
    with pytest.raises(TypeError, match="as many axes, two or more"):
        lax.scaled_dot(A[0], B[:, 0])


def test_scaled_matmul() -> None:
    sizes = (A[None], B.T[None], SA[None], SB.T[None])
    got = nn.scaled_matmul(*sizes)
    assert got.dtype == F32
    np.testing.assert_allclose(got[0], WIDE_A @ WIDE_B, rtol=1e-5, atol=1e-5)
    assert (
        nn.scaled_matmul(*sizes, preferred_element_type=np.float16).dtype == np.float16
    )
    for bad in (
        (A, B, SA, SB),
        (A[None], B.T[None, :, :32], SA[None], SB.T[None]),
        (A[None], B.T[None], SA[None, :2], SB.T[None]),
        (A[None], B.T[None], np.ones((1, 4, 3), E8), SB.T[None]),
    ):
        with pytest.raises(ValueError, match=r"nn\.scaled_matmul: "):
            nn.scaled_matmul(*bad)


def test_scaled_matmul_takes_real_numbers() -> None:
    x, scale = np.ones((1, 2, 4), np.complex64), np.ones((1, 2, 1), F32)
    with pytest.raises(TypeError, match=r"nn\.scaled_matmul: .*real numbers, got c64"):
        nn.scaled_matmul(x, x, scale, scale)


def _rows(*shape: int) -> Any:
    return rng.normal(size=shape).astype(F32)


@pytest.mark.slow
def test_scaled_matmul_under_transformations() -> None:
    """Derivatives are those of the product written out; mapped axes go to any side."""
    x, y, sx, sy = _rows(2, 3, 8), _rows(2, 5, 8), _rows(2, 3, 2), _rows(2, 5, 4)

    def written(x: Any, y: Any, sx: Any, sy: Any) -> Any:
        wide = [
            a * jnp.repeat(s, a.shape[2] // s.shape[2], 2)
            for a, s in ((x, sx), (y, sy))
        ]
        return jnp.einsum("bmk,bnk->bmn", *wide)

    ct = _rows(2, 3, 5)

    def slopes(f: Any) -> Any:
        total = olympus.grad(lambda *args: (f(*args) * ct).sum(), (0, 1, 2, 3))
        return total(x, y, sx, sy)

    got, want = slopes(nn.scaled_matmul), slopes(written)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    operands = (x, y, sx, sy)
    many = [np.stack([a, 2 * a, a - 1]) for a in operands]
    for axes in (
        (0, 0, 0, 0),
        (1, None, None, 2),
        (None, 0, None, None),
        (0, None, 3, 1),
    ):
        args = [
            a if d is None else np.moveaxis(m, 0, d)
            for a, m, d in zip(operands, many, axes, strict=True)
        ]
        np.testing.assert_allclose(
            olympus.vmap(nn.scaled_matmul, axes)(*args),
            olympus.vmap(written, axes)(*args),
            rtol=1e-4,
            atol=1e-4,
        )
    empty = olympus.vmap(nn.scaled_matmul)(*[m[:0] for m in many])
    assert empty.shape == (0, 2, 3, 5)


X = rng.normal(size=(3, 64)).astype(F32)
Y = rng.normal(size=(5, 64)).astype(F32)
ROWS = (((1,), (1,)), ((), ()))
# The size of blocks, and the numbers in them.
BLOCKS = {
    "mxfp8": (32, ml_dtypes.float8_e4m3fn),
    "mxfp4": (32, ml_dtypes.float4_e2m1fn),
    "nvfp4": (16, ml_dtypes.float4_e2m1fn),
}


def round_rows(x: Any, mode: str) -> Any:
    """Rows as they are after their blocks were written in few bits."""
    size, kind = BLOCKS[mode]
    padded = np.pad(x, ((0, 0), (0, -x.shape[1] % size)))
    blocks = padded.reshape(len(x), -1, size)
    top = np.float32(ml_dtypes.finfo(kind).max)
    scale = np.abs(blocks).max(2, keepdims=True) / top
    if mode == "nvfp4":
        scale = scale.astype(F8).astype(F32)
    else:
        scale = (2 ** np.ceil(np.log2(scale))).astype(F32)
    numbers = np.clip(blocks / scale, -top, top).astype(kind).astype(F32)
    return (numbers * scale).reshape(len(x), -1)[:, : x.shape[1]]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", BLOCKS)
def test_products_in_few_bits_are_those_of_rounded_rows(mode: str) -> None:
    configs = [nn.get_scaled_dot_general_config(mode)] * 3

    def f(x: Any, y: Any) -> Any:
        return nn.scaled_dot_general(x, y, ROWS, configs=configs)

    def multiply(x: Any, y: Any) -> Any:
        return round_rows(x, mode) @ round_rows(y, mode).T

    near = {"rtol": 1e-5, "atol": 1e-4}
    np.testing.assert_allclose(olympus.jit(f)(X, Y), multiply(X, Y), **near)
    ct = rng.normal(size=(3, 5)).astype(F32)
    dx, dy = olympus.grad(lambda x, y: (f(x, y) * ct).sum(), (0, 1))(X, Y)
    exact = mode == "nvfp4"  # whose cotangents stay exact
    np.testing.assert_allclose(dx, ct @ Y if exact else multiply(ct, Y.T), **near)
    np.testing.assert_allclose(dy, ct.T @ X if exact else multiply(ct.T, X.T), **near)


@pytest.mark.slow
def test_numbers_that_fit_are_exact() -> None:
    """Small integers times a power of two for each block."""
    x = rng.integers(-8, 9, (2, 3, 40)).astype(F32)
    y = rng.integers(-8, 9, (2, 40, 2)).astype(F32) * 2.0**-20
    configs = [nn.get_scaled_dot_general_config("mxfp8")] * 3
    numbers = (((2,), (1,)), ((0,), (0,)))
    got = nn.scaled_dot_general(x, y, numbers, configs=configs)
    np.testing.assert_array_equal(got, x @ y)
    zeros = nn.scaled_dot_general(0 * x, y, numbers, configs=configs)
    np.testing.assert_array_equal(zeros, 0 * got)


def test_cotangents_in_four_bits_stay_exact() -> None:
    """As in JAX: products of exact numbers, zero beyond the largest number."""
    configs = [nn.get_scaled_dot_general_config("nvfp4", np.full(1, 2.0, F32))] * 3
    x = X.copy()
    x[0, 0] = 6 * 448 * 2 + 1

    def f(x: Any, y: Any) -> Any:
        return nn.scaled_dot_general(x, y, ROWS, configs=configs)

    ct = rng.normal(size=(3, 5)).astype(F32)
    dx, dy = olympus.grad(lambda x, y: (f(x, y) * ct).sum(), (0, 1))(x, Y)
    want = ct @ Y
    want[0, 0] = 0
    np.testing.assert_allclose(dx, want, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(dy, ct.T @ x, rtol=1e-5, atol=1e-4)


def test_configs_and_their_absence() -> None:
    plain = nn.scaled_dot_general(X, Y, ROWS)
    np.testing.assert_allclose(plain, X @ Y.T, rtol=1e-5, atol=1e-5)
    config = nn.get_scaled_dot_general_config("nvfp4", np.ones(1, F32))
    assert (config.mode, config.block_size) == ("nvfp4", 16)
    with pytest.raises(ValueError, match="mode must be 'mxfp8', 'mxfp4' or 'nvfp4'"):
        nn.get_scaled_dot_general_config("int8")
    with pytest.raises(ValueError, match="configs must be three"):
        nn.scaled_dot_general(X, Y, ROWS, configs=[config])
