"""Derivatives at Python numbers are weak, so that they do not widen what they meet."""

from __future__ import annotations

import pytest

import olympus
import olympus.numpy as onp
from olympus import lax, nn

FUNCTIONS = {
    "x * x": lambda x: x * x,
    "x ** 2": lambda x: x**2,
    "x ** -1": lambda x: x**-1,
    "3 / x": lambda x: 3 / x,
    "arctan2": lambda x: onp.arctan2(x, 1.0),
    "asin": lax.asin,
    "bessel_i0e": lax.bessel_i0e,
    "clamp": lambda x: lax.clamp(0.0, x, 1.0),
    "constant": lambda x: 2.0,
    "digamma": lax.digamma,
    "erf": lax.erf,
    "logistic": lax.logistic,
    "maximum": lambda x: onp.maximum(x, 0.0),
    "pow": lambda x: lax.pow(x, 2.0),
    "sin": lax.sin,
    "softplus": nn.softplus,
    "sqrt": onp.sqrt,
    "tanh": onp.tanh,
    "where": lambda x: onp.where(x > 0, x, 0.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_at_python_numbers_are_weak(name):
    f = FUNCTIONS[name]
    for out in (
        olympus.jvp(f, (0.5,), (1.0,))[1],
        olympus.grad(f)(0.5),
        olympus.jit(olympus.grad(f))(0.5),
        olympus.linearize(f, 0.5)[1](1.0),
    ):
        assert (out * onp.ones(2, "bfloat16")).dtype == onp.bfloat16


def test_derivatives_at_arrays_are_not():
    x = onp.asarray(0.5, onp.bfloat16)
    assert (olympus.grad(lax.sin)(x) * onp.float32(1)).dtype == onp.float32
