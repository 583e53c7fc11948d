"""Checks of `checkify` in programs over eight devices."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import checkify
from olympus.sharding import PartitionSpec as P
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
X = np.arange(16.0, dtype=np.float32).reshape(8, 2)
WHOLE, PARTS = P(), P("x", "y")


def small(a):
    checkify.check((a < 14).all(), "large: {s}", s=a.sum())
    return a * 2


def in_steps(a):
    def step(c, row):
        checkify.check((row < 14).all(), "large row")
        return c + row.sum(), None

    return a * 2 + 0 * lax.scan(step, 0.0, a)[0]


def in_a_branch(a):
    return lax.cond(lax.axis_index("x") == 3, small, lambda a: a * 2, a)


@pytest.mark.parametrize("jitted", [True, False])
@pytest.mark.parametrize("f", [small, in_steps, in_a_branch, olympus.jit(small)])
@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (PARTS, {}),
        (PARTS, {"check_vma": False}),
        (P("x"), {}),
        (WHOLE, {}),
        (P("x"), {"axis_names": {"x"}}),
    ],
)
def test_checks_of_each_device(f, spec, options, jitted):
    if f is in_a_branch and spec == WHOLE:
        pytest.skip("its result differs along x")
    mapped = olympus.shard_map(
        f, mesh=mesh(4, 2), in_specs=spec, out_specs=spec, **options
    )
    checked = checkify.checkify(mapped)
    checked = olympus.jit(checked) if jitted or "axis_names" in options else checked
    error, out = checked(X * 0.5)
    assert error.get() is None
    np.testing.assert_array_equal(out, X)
    error, out = checked(X)
    assert error.get().startswith("large")
    np.testing.assert_array_equal(out, X * 2)


def test_the_message_is_of_the_first_device_that_fails():
    f = olympus.shard_map(small, mesh=mesh(8), in_specs=P("x"), out_specs=P("x"))
    x = X.copy()
    x[2], x[6] = 100, 200
    error, _ = olympus.jit(checkify.checkify(f))(x)
    assert error.get().startswith("large: 200.0")


CASES = {
    "nan": (lambda a: lax.psum(jnp.log(a - 3), "x"), P(None, "y"), "nan"),
    "division": (lambda a: 1 / a, PARTS, "division by zero"),
    "index": (lambda a: a[lax.axis_index("x")], P(("x", "y")), "out-of-bounds"),
}


@pytest.mark.parametrize("name", CASES)
def test_automatic_checks(name):
    f, spec, message = CASES[name]
    f = olympus.shard_map(f, mesh=mesh(4, 2), in_specs=PARTS, out_specs=spec)
    error, _ = olympus.jit(checkify.checkify(f, errors=checkify.all_checks))(X)
    assert message in error.get()


def test_gradients_and_maps_of_checked_programs():
    f = olympus.shard_map(
        lambda a: lax.psum((small(a) ** 2).sum(), ("x", "y")),
        mesh=mesh(4, 2),
        in_specs=PARTS,
        out_specs=WHOLE,
    )
    error, slope = olympus.jit(checkify.checkify(olympus.grad(f)))(X)
    assert "large" in error.get()
    np.testing.assert_array_equal(slope, 8 * X)
    error, sums = olympus.jit(checkify.checkify(olympus.vmap(f)))(np.stack([X / 2, X]))
    assert "large" in error.get()
    np.testing.assert_allclose(sums, [(X**2).sum(), 4 * (X**2).sum()])


def test_checks_of_divided_programs():
    error, out = olympus.jit(checkify.checkify(small))(divide(X, "x", "y"))
    assert error.get().startswith("large: 120.0")
    np.testing.assert_array_equal(out, 2 * X)
