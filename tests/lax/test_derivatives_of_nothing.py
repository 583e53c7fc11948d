"""Derivatives of functions of arrays without elements."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax

FUNCTIONS = {
    "concatenate": lambda x: onp.concatenate([x, 2 * x]),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x),
    "cummax": lambda x: lax.cummax(x),
    "cumprod": lambda x: lax.cumprod(x),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, [0] * x.ndim, x.shape),
    "matmul": lambda x: x @ onp.swapaxes(x, -1, -2) if x.ndim > 1 else x @ x,
    "prod": lambda x: onp.prod(x),
    "sort": lambda x: lax.sort(x),
    "take": lambda x: onp.take_along_axis(x, onp.argsort(x, axis=0), axis=0),
    "top_k": lambda x: lax.top_k(x, 0)[0],
    "var": lambda x: onp.sum(x**2) - onp.sum(x) ** 2,
    "where": lambda x: onp.where(x > 0, x, x**2),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name, shape):
    x = onp.ones(shape)
    if name == "top_k" and shape[-1]:
        x = x.T

    def total(x):
        return onp.sum(FUNCTIONS[name](x))

    for gradient in (olympus.grad(total), olympus.jit(olympus.grad(total))):
        found = gradient(x)
        assert (found.shape, found.dtype) == (x.shape, np.float32)
    out, slope = olympus.jvp(FUNCTIONS[name], (x,), (x,))
    assert (out.shape, out.dtype) == (slope.shape, slope.dtype)
