"""Derivatives at Python numbers are weak, so that they do not widen what they meet."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax, nn

ZEROS = onp.zeros(3, "float32")
MASK = np.array([True, False, True])
# Functions of numbers whose results are not weak.
STRONG = {
    "at[mask].set": lambda x: ZEROS.at[MASK].set(x).sum(),
    "at[mask].add": lambda x: ZEROS.at[MASK].add(x).sum(),
    "at[mask].max": lambda x: ZEROS.at[MASK].max(x).sum(),
    "nan_to_num": onp.nan_to_num,
    "put": lambda x: onp.put(ZEROS, 1, x, inplace=False).sum(),
}
STRONG_SLOPES = {"at[mask].set": 2, "at[mask].add": 2, "at[mask].max": 2}
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


@pytest.mark.slow
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


@pytest.mark.parametrize("name", STRONG)
def test_gradients_of_strong_results_are_as_weak_as_the_argument(name):
    f = STRONG[name]
    for x, kind in ((0.5, onp.bfloat16), (np.float32(0.5), onp.float32)):
        for out in (olympus.grad(f)(x), olympus.jit(olympus.grad(f))(x)):
            assert out == STRONG_SLOPES.get(name, 1)
            assert (out * onp.ones(2, "bfloat16")).dtype == kind


def test_derivatives_of_a_weak_carry_that_becomes_strong_are_strong():
    factors = onp.arange(1.0, 4.0, dtype=onp.float32)

    def scanned(x):
        return lax.scan(lambda c, y: (c * y, None), x, factors)[0]

    def looped(x):
        return lax.fori_loop(0, 3, lambda i, c: c * factors[0], x)

    for f in (scanned, looped):
        for out in (
            olympus.grad(f)(2.0),
            olympus.jit(olympus.grad(f))(2.0),
            olympus.value_and_grad(f)(onp.asarray(2.0))[1],
            olympus.vjp(f, 2.0)[1](onp.float32(1))[0],
        ):
            assert not out.weak_type


def test_what_branches_keep_stays_weak():
    def branched(x):
        return lax.switch(1, [onp.sin, onp.cos, lambda x: x * x], x)

    for out in (
        olympus.hessian(branched)(2.0),
        olympus.linearize(branched, 2.0)[1](1.0),
        olympus.vjp(branched, 2.0)[1](1.0)[0],
        olympus.grad(olympus.checkpoint(branched))(2.0),
    ):
        assert out.weak_type


def test_derivatives_at_arrays_are_not():
    x = onp.asarray(0.5, onp.bfloat16)
    assert (olympus.grad(lax.sin)(x) * onp.float32(1)).dtype == onp.float32
