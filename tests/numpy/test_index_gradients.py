"""Gradients of many small writes and reads of a large array copy it in no step."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

pytestmark = pytest.mark.sampled(3)

X = np.linspace(0.5, 1.5, 6400, dtype=np.float32).reshape(80, 80)
FEW = np.arange(6400).reshape(80, 80) % 100 == 7
STEPS = 3

# An index for each step, and what is done there.
PLACES = {
    "number": lambda i: i,
    "from the end": lambda i: -1 - i,
    "numbers": lambda i: (i, i + 1),
    "rows": lambda i: slice(i, i + 5),
    "block": lambda i: (slice(i, i + 5), slice(2, 9)),
    "column": lambda i: (..., i),
    "new axis": lambda i: (None, i),
    "reversed": lambda i: slice(None, None, -1),
    "reversed part": lambda i: (slice(9 + i, 3 + i, -1), slice(4, None)),
    "reversed, new": lambda i: (slice(9, 3, -1), None, slice(None, None, -1)),
    "few": lambda i: np.roll(FEW, i, 1),
    "computed": lambda i: jnp.asarray(i) + 1,
    "array": lambda i: np.array([3, -7, 11]) + i,
    "array and block": lambda i: (np.array([3, 7]) + i, slice(2, 9)),
    "block and array": lambda i: (slice(-9, -2), np.array([3, -7]) + i),
    "block between": lambda i: (None, slice(2, 9), np.array([[3], [7]]) + i),
    "block and strides": lambda i: (slice(1, 9, 3), slice(2 + i, 9)),
}
WRITES = {
    "add": lambda x, at, v: x.at[at].add(v),
    "subtract": lambda x, at, v: x.at[at].subtract(v),
    "set": lambda x, at, v: x.at[at].set(v),
    "clipped": lambda x, at, v: x.at[at].add(v, mode="clip"),
}


def _write_many(place, write):
    def f(x, v):
        for i in range(STEPS):
            x = write(x, place(i), v * (i + 1.0))
        return x

    return f


def _write_by_numpy(place, sign, v):
    out = X.copy()
    for i in range(STEPS):
        at = place(i)
        at = int(at) if hasattr(at, "shape") and not at.shape else at
        new = v * np.float32(i + 1)
        out[at] = new if sign is None else out[at] + sign * new
    return out


_SIGNS = {"add": 1, "subtract": -1, "set": None, "clipped": 1}


def _sample(cases, quick):
    """All cases, those not named marked as slow."""
    slow = pytest.mark.slow
    return [pytest.param(*c, marks=() if c in quick else slow) for c in cases]


@pytest.mark.parametrize(
    ("place", "write"),
    _sample(
        [(p, w) for p in PLACES for w in WRITES],
        [
            ("reversed part", "add"),
            ("few", "set"),
            ("block", "subtract"),
            ("array and block", "add"),
            ("block and array", "set"),
        ],
    ),
)
def test_values_are_those_of_numpy(place, write):
    at, v = PLACES[place], np.float32(0.75)
    f = olympus.jit(_write_many(at, WRITES[write]))
    np.testing.assert_allclose(f(X, v), _write_by_numpy(at, _SIGNS[write], v), 1e-6)


@pytest.mark.parametrize(
    "place",
    _sample([(p,) for p in PLACES], [("reversed, new",), ("few",), ("block between",)]),
)
def test_writes_and_gradients_by_rows_of_values(place):
    """Values that are arrays keep their places where slices are reversed."""
    at = PLACES[place](0)
    at = int(at) if hasattr(at, "shape") and not at.shape else at
    v = np.arange(np.zeros_like(X)[at].size, dtype=np.float32).reshape(X[at].shape)
    want = X.copy()
    want[at] += v

    def f(v):
        out = jnp.asarray(X).at[at].add(v)
        return (out * out).sum(), out

    grad, out = olympus.jit(olympus.grad(f, has_aux=True))(v)
    np.testing.assert_allclose(out, want)
    np.testing.assert_allclose(grad, 2 * want[at], 1e-5)


def _large_operations(program):
    """Names of the equations that make an array as large as `X`."""
    return [
        eqn.primitive.name
        for eqn in program.eqns
        for v in eqn.outvars
        if v.aval.shape == X.shape
    ]


@pytest.mark.parametrize(
    "place",
    ["number", "from the end", "numbers", "rows", "block", "column", "computed"],
)
def test_added_windows_pass_cotangents_on(place):
    """Backwards nothing is made of the array's size, however many steps there are."""
    f = _write_many(PLACES[place], WRITES["add"])
    grad = olympus.grad(lambda x, v: (f(x, v) * X).sum(), argnums=(0, 1))
    names = _large_operations(olympus.make_olympuspr(grad)(X, np.float32(1)).olympuspr)
    assert names.count("scatter-add") == STEPS
    assert set(names) <= {"scatter-add", "mul", "broadcast_in_dim"}
    assert len(names) <= STEPS + 4


@pytest.mark.parametrize(
    "place",
    ["number", "numbers", "rows", "column", "computed", "array", "block and array"],
)
def test_reads_add_to_one_cotangent(place):
    def f(x):
        return sum(jnp.sin(x[PLACES[place](i)]).sum() for i in range(STEPS))

    names = _large_operations(olympus.make_olympuspr(olympus.grad(f))(X).olympuspr)
    # The first window is padded with zeros; the first of a gather is added to them.
    gathers = "array" in place
    assert names.count("scatter-add") == STEPS - (0 if gathers else 1)
    assert "add_any" not in names
    want = np.zeros_like(X)
    for i in range(STEPS):
        at = PLACES[place](i)
        at = int(at) if hasattr(at, "shape") and not at.shape else at
        want[at] += np.cos(X[at])
    grad = olympus.vmap(olympus.grad(f)) if place == "rows" else olympus.grad(f)
    out = olympus.jit(grad)(np.stack([X, X]) if place == "rows" else X)
    np.testing.assert_allclose(out[1] if place == "rows" else out, want, 1e-5)


def test_cotangents_of_parts_that_make_up_the_whole_are_one_sum():
    def f(x):  # each shift reads one row, or column, and the rest
        shifted = [jnp.roll(x, by, axis) for by in (-1, 1) for axis in (0, 1)]
        return (sum(shifted) * jnp.sin(x)).sum()

    names = _large_operations(olympus.make_olympuspr(olympus.grad(f))(X).olympuspr)
    assert "scatter-add" not in names
    want = sum(np.roll(np.sin(X), by, axis) for by in (-1, 1) for axis in (0, 1))
    rolled = sum(np.roll(X, by, axis) for by in (-1, 1) for axis in (0, 1))
    np.testing.assert_allclose(olympus.grad(f)(X), want + rolled * np.cos(X), 1e-5)


def _equation(program, name):
    (eqn,) = [e for e in program.eqns if e.primitive.name == name]
    return eqn


@pytest.mark.parametrize(
    ("at", "inside"),
    [
        ((np.array([3, -7]), slice(2, 9)), True),
        ((slice(2, 9), np.array([3, 79])), True),
        ((np.array([3, 80]), slice(2, 9)), False),
        (np.array([-81]), False),
    ],
)
def test_arrays_beside_blocks_are_windows(at, inside):
    """One window for each position, and no question where the answer is known."""
    write = olympus.make_olympuspr(lambda x: x.at[at].add(1.0))(X)
    eqn = _equation(write.olympuspr, "scatter-add")
    count = at[0].size if isinstance(at[0], np.ndarray) else np.size(at[-1])
    assert eqn.invars[1].aval.shape[:-1] == (count,)
    assert (eqn.params["mode"] is lax.GatherScatterMode.PROMISE_IN_BOUNDS) == inside
    if inside:
        read = olympus.make_olympuspr(lambda x: x[at])(X).olympuspr
        assert _equation(read, "gather").invars[1].aval.shape[:-1] == (count,)
        np.testing.assert_array_equal(olympus.jit(lambda x: x[at])(X), X[at])
    else:
        outside = olympus.jit(lambda x: x.at[at].add(1.0))(X) - X
        assert np.count_nonzero(outside) == (7 if isinstance(at, tuple) else 0)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["multiply", "min", "max", "set", "add"])
def test_gradients_beside_blocks_are_differences(how):
    at = (slice(2, 5), np.array([3, 3, 7]))
    if how in ("multiply", "set"):  # which take each position once
        at = (slice(2, 5), np.array([3, 5, 7]))
    x = X[:10, :10]

    def f(x, v):
        y = getattr(jnp.asarray(x).at[at], how)(v, unique_indices=how == "multiply")
        return (y * y).sum() + jnp.sin(x[at]).sum()

    v = np.linspace(0.41, 1.61, 9, dtype=np.float32).reshape(3, 3)
    olympus.test_util.check_grads(f, (x, v), 1, ["rev"], 2e-2, 2e-2)


@pytest.mark.slow
def test_positions_may_be_mapped_and_differentiated_twice():
    def f(x, i):
        y = x.at[i].add(jnp.sin(x[i + 1])).at[2].add(x[i] ** 2)
        return (y * y).sum()

    grad = olympus.grad(f)
    both = olympus.vmap(grad, (None, 0))(X, np.array([3, 7]))
    for k, i in enumerate((3, 7)):
        np.testing.assert_allclose(both[k], grad(X, i), 1e-5)
    d = np.ones_like(X)
    step = 1e-2
    numeric = (grad(X + step * d, 3) - grad(X - step * d, 3)) / (2 * step)
    exact = olympus.jvp(lambda x: grad(x, 3), (X,), (d,))[1]
    np.testing.assert_allclose(exact, numeric, 1e-2, 2e-2)
