"""Convolutions with a kernel for each place, and shapes of transposed ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
from olympus import lax

rng = np.random.default_rng(0)


def test_one_kernel_everywhere_is_a_convolution() -> None:
    x = rng.normal(size=(2, 5, 6, 3)).astype(np.float32)
    layout = ("NHWC", "HWIO", "NHWC")
    kernel = rng.normal(size=(2, 3, 3, 4)).astype(np.float32)
    options: dict[str, Any] = {"rhs_dilation": (2, 1), "dimension_numbers": layout}
    want = lax.conv_general_dilated(x, kernel, (1, 2), "SAME", **options)
    # Windows are counted features first, then rows, then columns.
    flat = kernel.transpose(2, 0, 1, 3).reshape(18, 4)
    local = np.broadcast_to(flat, (*want.shape[1:3], 18, 4))
    got = lax.conv_general_dilated_local(
        x, local, (1, 2), "SAME", (2, 3), precision="highest", **options
    )
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_kernels_of_their_own() -> None:
    x = rng.normal(size=(2, 1, 5)).astype(np.float32)
    kernels = rng.normal(size=(3, 2, 4)).astype(np.float32)
    got = lax.conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
    windows = np.stack([x[:, 0, :-1], x[:, 0, 1:]], 1)
    want = np.einsum("bkp,okp->bop", windows, kernels)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    for wrong in (kernels[:, :1], kernels[:, :, :2]):
        with pytest.raises(TypeError, match="must have equal sizes"):
            lax.conv_general_dilated_local(x, wrong, (1,), "VALID", (2,))


@pytest.mark.parametrize("padding", ["SAME", "VALID", ((1, 1), (0, 2))])
def test_shapes_of_transposed_convolutions(padding: Any) -> None:
    layout = ("NHWC", "HWIO", "NHWC")
    x, kernel = np.zeros((1, 8, 7, 3)), np.zeros((3, 2, 3, 4))
    out = olympus.eval_shape(
        lambda a, b: lax.conv_transpose(
            a, b, (2, 3), padding, dimension_numbers=layout
        ),
        x,
        kernel,
    )
    found = lax.conv_transpose_shape_tuple(
        x.shape, kernel.shape, (2, 3), padding, layout
    )
    assert found == out.shape


def test_an_unknown_padding_is_refused() -> None:
    with pytest.raises(ValueError, match="padding must be 'SAME'"):
        lax.conv_transpose_shape_tuple(
            (1, 8, 3), (3, 3, 4), (2,), "HALF", ("NWC", "WIO", "NWC")
        )
