"""Axes of size 1 beside longer ones: operands of one rank are repeated along them."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax

FLOATS = "add sub mul div rem max min pow atan2 nextafter complex eq ne lt le gt ge"
SPECIAL = "igamma igammac zeta random_gamma_grad"
INTEGERS = "bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical"


def operands(name, shapes):
    dtype = np.int32 if name in INTEGERS.split() else np.float32
    numbers = np.random.RandomState(0)
    return [np.asarray(numbers.randint(1, 4, s), dtype) + i for i, s in shapes]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", f"{FLOATS} {SPECIAL} {INTEGERS}".split())
def test_operands_are_repeated(name):
    fun = getattr(lax, name)
    for shapes in (((3, 1), (1, 4)), ((3, 1), (3, 4)), ((1,), (4,))):
        x, y = operands(name, enumerate(shapes))
        wide = fun(*np.broadcast_arrays(x, y))
        np.testing.assert_array_equal(fun(x, y), wide)
        each = olympus.vmap(fun, (0, None))(np.stack([x, x]), y)
        np.testing.assert_array_equal(each, np.stack([wide, wide]))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "max", "pow", "atan2"])
def test_derivatives(name):
    fun = getattr(lax, name)
    x, y = operands(name, enumerate([(3, 1), (1, 4)]))
    wide = np.broadcast_arrays(x, y)
    narrow = olympus.grad(lambda x, y: onp.sum(fun(x, y)), (0, 1))(x, y)
    full = olympus.grad(lambda x, y: onp.sum(fun(x, y)), (0, 1))(*wide)
    np.testing.assert_allclose(narrow[0][:, 0], full[0].sum(1), rtol=1e-6)
    np.testing.assert_allclose(narrow[1][0], full[1].sum(0), rtol=1e-6)
    tangents = (np.ones_like(x), np.ones_like(y))
    moved = olympus.jvp(fun, (x, y), tangents)[1]
    np.testing.assert_allclose(moved, full[0] + full[1], rtol=1e-6)


@pytest.mark.slow
def test_three_operands():
    a, x = np.ones((3, 1), np.float32), np.full((1, 4), 0.3, np.float32)
    out = lax.betainc(a, a + 1, x)
    np.testing.assert_array_equal(out, lax.betainc(1.0, 2.0, np.tile(x, (3, 1))))


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((1, 3), (3,)), ((3,), (3, 1))])
def test_what_does_not_fit(shapes):
    x, y = operands("add", enumerate(shapes))
    with pytest.raises(TypeError, match=r"lax.add: operands must have equal shapes"):
        lax.add(x, y)
