"""Gradients of `x.at[i].min` and `.max`: elements that are equal share a cotangent."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

pytestmark = pytest.mark.sampled(3)

ROWS, COLUMNS = 12, 9
X = np.float32(np.random.default_rng(0).integers(0, 4, (ROWS, COLUMNS)))
WEIGHTS = np.float32(np.random.default_rng(1).uniform(0.5, 1.5, X.shape))

# An index, whether its positions are distinct, and whether it may be traced.
PLACES = {
    "distinct": ((np.array([3, -1, 0, 7]), np.array([2, 2, 2, 8])), True, True),
    "repeated": ((np.array([3, -1, 3, 3, -1]), np.array([2, 2, 2, 8, 2])), False, True),
    "same counted from the end": ((np.array([3, 3]), np.array([8, -1])), False, True),
    "many repeated": ((np.arange(80) % 7, np.arange(80) % 5), False, True),
    "rows": (np.array([5, 2]), True, True),
    "repeated rows": (np.array([5, 2, 5]), False, True),
    "columns of a block": ((slice(2, 5), np.array([3, 3, 7])), False, False),
    "mask": (np.arange(ROWS) % 5 == 2, True, False),
    "one outside": ((np.array([3, 99, 5]), np.array([2, 2, 2])), False, True),
}


def _values(at):
    places = np.zeros(X.shape)[_inside(at)[0]].shape
    return np.float32(np.random.default_rng(2).integers(0, 4, places))


def _inside(at):
    """The index without what is outside, and which of the updates are left."""
    if type(at) is tuple and type(at[0]) is np.ndarray and (at[0] >= ROWS).any():
        kept = at[0] < ROWS
        return tuple([i[kept] for i in at]), kept
    return at, slice(None)


def _expected(at, v, how):
    """The cotangents of `X` and `v`, by a loop over positions."""
    fold = np.minimum if how == "min" else np.maximum
    places = np.arange(X.size).reshape(X.shape)[at]
    out, x = X.copy().reshape(-1), X.reshape(-1)
    v = np.broadcast_to(v, places.shape)
    fold.at(out, places.reshape(-1), v.reshape(-1))
    for_x, for_v = WEIGHTS.copy().reshape(-1), np.zeros_like(v)
    for p in np.unique(places):
        wins = (places == p) & (v == out[p])
        count = wins.sum() + (x[p] == out[p])
        for_v[wins] = for_x[p] / count
        for_x[p] *= (x[p] == out[p]) / count
    return for_x.reshape(X.shape), for_v


def _slow_unless(name, names):
    return () if name in names else pytest.mark.slow


@pytest.mark.parametrize("how", ["min", "max"])
@pytest.mark.parametrize(
    ("name", "traced"),
    [
        pytest.param(n, t, marks=_slow_unless((n, t), QUICK))
        for QUICK in [{("distinct", False), ("repeated", True)}]
        for n, (_, _, may_trace) in PLACES.items()
        for t in ((False, True) if may_trace else (False,))
    ],
)
def test_equal_elements_share(name, traced, how):
    at = PLACES[name][0]
    inside, kept = _inside(at)
    v = _values(at)
    if name == "one outside":
        v = np.insert(v, 1, 9)

    def f(x, v, *at_traced):
        index = at_traced[0] if traced else at
        return (getattr(x.at[index], how)(v) * WEIGHTS).sum()

    args = (at,) if traced else ()
    grads = olympus.jit(olympus.grad(f, argnums=(0, 1)))(X, v, *args)
    for_x, for_v = _expected(inside, v[kept], how)
    np.testing.assert_allclose(grads[0], for_x, 1e-6)
    np.testing.assert_allclose(np.asarray(grads[1])[kept], for_v, 1e-6)
    if name == "one outside":
        assert not np.asarray(grads[1])[~kept].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["distinct", "repeated", "mask"])
def test_forward_mode_and_mapped_gradients_agree(name):
    at, v = PLACES[name][0], _values(PLACES[name][0])

    def f(x, v):
        return (jnp.asarray(x).at[at].max(v) * WEIGHTS).sum()

    grad = olympus.grad(f, argnums=(0, 1))
    want = grad(X, v)
    mapped = olympus.vmap(grad)(np.stack([X, X + 1]), np.stack([v, v + 1]))
    for a, b in zip(want, mapped, strict=True):
        np.testing.assert_allclose(b, np.stack([a, a]), 1e-6)
    dx, dv = np.float32(np.random.default_rng(3).normal(size=X.shape)), v - 1
    for t in ((dx, dv), (dx, 0 * dv), (0 * dx, dv)):
        slope = olympus.jvp(f, (X, v), t)[1]
        wanted = sum((g * d).sum() for g, d in zip(want, t, strict=True))
        np.testing.assert_allclose(slope, wanted, 1e-4)
    slope = olympus.jvp(lambda v: f(X, v), (v,), (dv,))[1]
    np.testing.assert_allclose(slope, (want[1] * dv).sum(), 1e-4)


def test_nan_elsewhere_stays_out_of_the_gradient():
    x = X.copy()
    x[0, 0] = np.nan
    grad = olympus.grad(lambda x: x.at[np.array([3, 4])].max(9.0)[3:].sum())(x)
    want = np.zeros_like(X)
    want[5:] = 1
    np.testing.assert_array_equal(grad, want)


def _scatter(f, *args):
    eqns = olympus.make_olympuspr(f)(*args).olympuspr.eqns
    (eqn,) = [e for e in eqns if e.primitive.name.startswith("scatter")]
    return eqn


@pytest.mark.parametrize("name", [name for name in PLACES if name != "mask"])
def test_known_positions_are_compared_when_a_program_is_traced(name):
    at, distinct, may_trace = PLACES[name]
    known = _scatter(lambda x: jnp.asarray(x).at[at].add(1.0), X)
    assert known.params["unique_indices"] == distinct
    if may_trace:
        traced = _scatter(lambda x, at: x.at[at].add(1.0), X, at)
        assert not traced.params["unique_indices"]


def test_products_at_known_distinct_positions_have_a_derivative():
    at = PLACES["distinct"][0]
    v = _values(at) + 1
    grads = olympus.jit(
        olympus.grad(lambda x, v: (x.at[at].multiply(v) * WEIGHTS).sum(), (0, 1))
    )(X, v)
    for_x = WEIGHTS.copy()
    for_x[at] *= v
    np.testing.assert_allclose(grads[0], for_x, 1e-6)
    np.testing.assert_allclose(grads[1], (X * WEIGHTS)[at], 1e-6)
    repeated = PLACES["repeated"][0]
    product = olympus.grad(lambda v: jnp.asarray(X).at[repeated].multiply(v).sum())
    with pytest.raises(NotImplementedError, match="distinct positions"):
        product(np.float32(2))


@pytest.mark.parametrize("how", ["min", "max", "set", "multiply"])
def test_few_known_positions_leave_the_rest_alone(how):
    """No equation computes something for each element of the array."""
    x = np.linspace(0.5, 1.5, 6400, dtype=np.float32).reshape(80, 80)
    places = [np.array([3, 7]), np.arange(6400).reshape(80, 80) % 900 == 7]

    def f(x, v):
        for at in places if how != "multiply" else places[:1]:
            x = getattr(x.at[at], how)(v)
        return (x * x).sum()

    program = olympus.make_olympuspr(olympus.grad(f, (0, 1)))(x, np.float32(1))
    names = [
        eqn.primitive.name
        for eqn in program.olympuspr.eqns
        if eqn.outvars and eqn.outvars[0].aval.shape == x.shape
    ]
    scatters = [name for name in names if name.startswith("scatter")]
    assert len(scatters) == (2 if how == "multiply" else 4)
    assert set(names) - set(scatters) <= {"mul", "broadcast_in_dim", "add_any"}
