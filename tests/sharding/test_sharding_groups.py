"""`shard_alike`: values that the compiler divides in one way."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental.shard_alike import shard_alike
from tests.sharding.meshes import divide, entries

pytestmark = pytest.mark.eight_devices
X = np.arange(16.0, dtype=np.float32).reshape(8, 2)


def test_what_is_known_of_one_holds_for_the_other():
    x = divide(X, "x", "y")
    f = olympus.jit(lambda x: shard_alike(x, jnp.zeros((8, 2), jnp.int32))[1])
    assert entries(f(x)) == ("x", "y")
    assert f(x).dtype == np.int32
    text = f.lower(x).as_text()
    assert text.count("sdy.sharding_group") == 2
    assert text.count("group_id=0") == 2
    one = olympus.jit(shard_alike)(X, X + 1)
    np.testing.assert_array_equal(one[1], X + 1)


def test_each_pair_is_a_group():
    def f(tree):
        zeros = {"a": jnp.zeros((8, 2)), "b": jnp.zeros((8, 2))}
        return shard_alike(tree, zeros)[1]

    out = olympus.jit(f)({"a": divide(X, "x"), "b": divide(X, None, "y")})
    assert entries(out["a"])[0] == "x"
    assert entries(out["b"])[-1] == "y"


def test_eager_loops_and_branches():
    x = divide(X, "x", "y")
    for got, want in zip(shard_alike(x, X + 1), (X, X + 1), strict=True):
        np.testing.assert_array_equal(got, want)

    def step(carry, row):
        a, b = shard_alike(carry, row)
        return lax.cond(a[0] > 0, lambda: a + b, lambda: b), a

    last, _ = olympus.jit(lambda x: lax.scan(step, x[0] * 0, x))(x)
    want, _ = lax.scan(step, jnp.zeros(2), X)
    np.testing.assert_array_equal(last, want)


def test_derivatives_and_maps():
    def product(x, y):
        a, b = shard_alike(x, y)
        return (jnp.sin(a) * b).sum()

    x, y = divide(X, "x"), divide(X + 1, None, "y")
    slopes = olympus.jit(olympus.grad(product, (0, 1)))(x, y)
    np.testing.assert_allclose(slopes[0], np.cos(X) * (X + 1), rtol=1e-5)
    np.testing.assert_allclose(slopes[1], np.sin(X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(olympus.grad(product)(x, 1 + X), slopes[0], rtol=1e-5)
    rows = X.T.copy()
    for axes, first, second in [
        ((0, 0), rows, rows + 1),
        ((1, 0), X, rows),
        ((None, 0), X[:, 0], rows),
    ]:
        pair = olympus.vmap(shard_alike, axes)(first, second)
        for got, value, axis in zip(pair, (first, second), axes, strict=True):
            want = (
                np.stack([value] * 2) if axis is None else np.moveaxis(value, axis, 0)
            )
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X, X[:4], r"one shape, got \(8, 2\) and \(4, 2\)"),
        ({"a": X}, [X], "of one structure"),
    ],
)
def test_refusals(x, y, message):
    with pytest.raises(ValueError, match=message):
        shard_alike(x, y)
