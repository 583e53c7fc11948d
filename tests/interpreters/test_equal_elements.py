"""Cumulative sums of equal elements are products."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import ir
from olympus._src.interpreters import equal_elements


def sums_left(f, *args):
    program = equal_elements.multiply(olympus.make_olympuspr(f)(*args).olympuspr)
    return ir.primitives_of(program).get(lax.cumsum_p, 0)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_values(dtype, reverse):
    def f(x):
        wide = jnp.broadcast_to(x[:, None, :], (3, 5, 4))
        return lax.cumsum(wide, axis=1, reverse=reverse)

    x = np.array([[1, -2, 0, 7], [3, 5, -9, 2], [1, 1, 2, 3]]).astype(dtype)
    assert sums_left(f, x) == 0
    wide = np.broadcast_to(x[:, None, :], (3, 5, 4))[:, :: -1 if reverse else 1]
    wanted = np.cumsum(wide, axis=1)[:, :: -1 if reverse else 1]
    np.testing.assert_array_equal(olympus.jit(f)(x), wanted)


def test_axes_of_one_element_that_are_spread():
    def f(x):
        return lax.cumsum(jnp.broadcast_to(x, (3, 4)), axis=0)

    x = np.arange(4.0, dtype="float32")[None]
    assert sums_left(f, x) == 0
    np.testing.assert_array_equal(olympus.jit(f)(x), x * np.arange(1, 4)[:, None])


def test_special_numbers():
    x = np.array([np.inf, -np.inf, np.nan, 0, 3e38], "float32")

    def f(x):
        return lax.cumsum(jnp.broadcast_to(x, (4, 5)), axis=0)

    with np.errstate(over="ignore"):
        wanted = np.cumsum(np.broadcast_to(x, (4, 5)), axis=0)
    np.testing.assert_array_equal(olympus.jit(f)(x), wanted)


def test_gradients_of_sums_and_means():
    x = np.ones(3000, "float32")
    gradient = olympus.grad(lambda x: lax.cumsum(x).sum())
    assert sums_left(gradient, x) == 0
    np.testing.assert_array_equal(olympus.jit(gradient)(x), np.arange(3000, 0, -1))
    gradient = olympus.grad(lambda x: lax.cumsum(x).mean())
    wanted = np.arange(3000, 0, -1) / 3000
    np.testing.assert_allclose(olympus.jit(gradient)(x), wanted, rtol=3e-7)


def test_in_loops():
    def step(c, _):
        return c + lax.cumsum(jnp.broadcast_to(c[0], c.shape)), None

    def f(x):
        return lax.scan(step, x, None, 3)[0]

    text = olympus.jit(f).lower(np.ones(3000, "float32")).as_text()
    assert "olympus_cum" not in text
    np.testing.assert_array_equal(
        olympus.jit(f)(np.ones(4, "float32")), [8, 15, 22, 29]
    )


@pytest.mark.parametrize(
    "f",
    [
        lambda x: lax.cumsum(jnp.broadcast_to(x, (3, 4)), axis=1),
        lambda x: lax.cumsum(x),
        lambda x: lax.cumsum(jnp.broadcast_to(x.astype("float16"), (3, 4)), axis=0),
        lambda x: lax.cumsum(jnp.broadcast_to(x.astype("int8"), (3, 4)), axis=0),
    ],
)
def test_others_are_left(f):
    assert sums_left(f, np.arange(4.0, dtype="float32")) == 1
