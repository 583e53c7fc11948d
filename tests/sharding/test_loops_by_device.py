"""Loops in `shard_map` that take other numbers of steps on other devices."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus.scipy import special
from olympus.sharding import PartitionSpec as P
from tests.sharding.meshes import mesh

pytestmark = pytest.mark.eight_devices
X = np.linspace(1.0, 9.0, 8, dtype=np.float32)


def over_parts(f, **options):
    options = {"in_specs": P("x"), "out_specs": P("x")} | options
    return olympus.shard_map(f, mesh=mesh(4), **options)


def grow(start):
    return lambda t: lax.while_loop(lambda c: c[0] < 30, lambda c: c + t, start(t))


def grow_by_parts(start):
    rows = [np.asarray(grow(start)(jnp.asarray(row))) for row in X.reshape(4, 2)]
    return np.concatenate(rows)


STARTS = {
    "what varies": lambda t: t,
    "what does not": lambda t: jnp.zeros(2),
    "cast": lambda t: lax.pcast(jnp.zeros(2), "x", to="varying"),
}


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("options", [{}, {"check_vma": False}], ids=["checked", "not"])
def test_each_device_stops_by_itself(name, options):
    if options and name == "cast":
        pytest.skip("casts are for types that say what varies")
    f = over_parts(grow(STARTS[name]), **options)
    for call in (f, olympus.jit(f)):
        start = STARTS["what does not" if name == "cast" else name]
        np.testing.assert_array_equal(call(X), grow_by_parts(start))


def test_carries_that_no_step_reads_vary_too():
    """The number of steps is another on each device, though its type said nothing."""

    def count(t):
        steps, _ = lax.while_loop(
            lambda c: c[1][0] < 30, lambda c: (c[0] + 1, c[1] + t), (0, t)
        )
        return steps[None]

    expected = [int(np.ceil((30 - t) / t)) for t in X[::2]]
    np.testing.assert_array_equal(over_parts(count)(X), expected)
    with pytest.raises(ValueError, match=r"may differ along 'x'"):
        over_parts(lambda t: count(t)[0], out_specs=P())(X)


def test_fori_loop_with_own_bounds():
    f = over_parts(lambda t: lax.fori_loop(0, t[0].astype(int), lambda i, c: c + i, t))
    rows = [row + sum(range(int(row[0]))) for row in X.reshape(4, 2)]
    np.testing.assert_allclose(f(X), np.concatenate(rows))


def test_forward_derivatives():
    f = over_parts(grow(lambda t: t))
    tangent = olympus.jvp(f, (X,), (np.ones_like(X),))[1]
    np.testing.assert_allclose(tangent, grow_by_parts(lambda t: t) / X, rtol=1e-6)
    jacobian = olympus.jit(olympus.jacfwd(f))(X)
    np.testing.assert_allclose(jacobian, np.diag(np.asarray(tangent)), rtol=1e-6)


def test_reverse_derivatives_with_a_bound():
    def grow_within_bound(t):
        return lax.while_loop(
            lambda c: c[0] < 30, lambda c: c + jnp.sin(t), t * 20, max_steps=40
        )

    def one(row):
        return olympus.grad(lambda t: grow_within_bound(t).sum())(row)

    f = over_parts(grow_within_bound)
    actual = olympus.jit(olympus.grad(lambda x: f(x).sum()))(X)
    expected = np.concatenate([one(jnp.asarray(row)) for row in X.reshape(4, 2)])
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_vmap():
    f = over_parts(grow(lambda t: t))
    rows = np.stack([X, X[::-1]])
    actual = olympus.vmap(f)(rows)
    np.testing.assert_array_equal(actual, np.stack([np.asarray(f(r)) for r in rows]))
    inside = over_parts(
        olympus.vmap(grow(lambda t: t)), in_specs=P(None, "x"), out_specs=P(None, "x")
    )
    np.testing.assert_array_equal(inside(rows), actual)


@pytest.mark.parametrize("where", ["body", "condition"])
def test_collectives_are_refused_where_devices_would_wait(where):
    def body(c):
        return c + lax.psum(c, "x") if where == "body" else c * 2

    def holds(c):
        total = lax.psum(c[0], "x") if where == "condition" else 0.0
        return c[0] + 0 * total < 30

    f = over_parts(lambda t: lax.while_loop(holds, body, t))
    with pytest.raises(
        ValueError, match="while_loop: a loop whose condition devices f"
    ):
        f(X)


def test_collectives_where_all_devices_agree():
    def f(t):
        return lax.while_loop(
            lambda c: lax.pmax(c[0], "x") < 30, lambda c: c + lax.psum(c, "x"), t
        )

    rows = X.reshape(4, 2)
    while rows[:, 0].max() < 30:
        rows = rows + rows.sum(0)
    np.testing.assert_allclose(over_parts(f)(X), rows.reshape(-1), rtol=1e-6)


def draw(sample):
    def f(seeds):
        return olympus.vmap(lambda s: sample(random.key(s), (3,)))(seeds)

    return f


LOOPING = {
    "gammainc": lambda x: special.gammainc(x, x + 0.5),
    "betainc": lambda x: special.betainc(x, x + 1, x / 20),
    "zeta": lambda x: special.zeta(x + 1, x),
    "poisson": lambda x: draw(lambda k, s: random.poisson(k, 40.0, s))(x.astype(int)),
    "gamma": lambda x: draw(lambda k, s: random.gamma(k, 2.0, s))(x.astype(int)),
    "binomial": lambda x: draw(lambda k, s: random.binomial(k, 30, 0.3, s))(
        x.astype(int)
    ),
    "searchsorted": lambda x: jnp.searchsorted(jnp.arange(10.0), x),
    "expm": lambda x: olympus.scipy.linalg.expm(jnp.eye(2) * x[:, None, None]),
    "expn": lambda x: special.expn(2, x),
    "eigh": lambda x: jnp.linalg.eigvalsh(jnp.eye(2) * x[:, None, None]),
    "sort": lambda x: jnp.sort(jnp.outer(x, jnp.arange(4.0)), axis=1),
    "permutation": lambda x: random.permutation(random.key(0), 4)[None] * x[:, None],
}


@pytest.mark.parametrize("name", sorted(LOOPING))
def test_functions_with_loops_inside(name):
    """The same on parts as on the whole, where parts do not depend on each other."""
    f = LOOPING[name]
    rows = [np.asarray(f(jnp.asarray(row))) for row in X.reshape(4, 2)]
    actual = olympus.jit(over_parts(f))(X)
    np.testing.assert_allclose(actual, np.concatenate(rows), rtol=1e-5)
