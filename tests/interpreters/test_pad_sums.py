"""Derivatives of arrays read part by part are put together from their parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.interpreters import pad_sums

X = np.linspace(-1, 1, 48, dtype=np.float32).reshape(8, 6)


def sum_weighted(parts):
    return sum(jnp.sin(part).sum() * (i + 1) for i, part in enumerate(parts))


def gradient_by_parts(x, indices):
    """The same derivative by NumPy."""
    total = np.zeros_like(x)
    for i, index in enumerate(indices):
        total[index] += np.cos(x[index]) * (i + 1)
    return total


CASES = {  # what is read; how many arrays are put together in the derivative
    "rows": (range(8), 1),
    "columns": ([np.s_[:, j] for j in range(6)], 1),
    "some rows": ([1, 2, 4, 6], 1),
    "pieces": ([np.s_[:2], np.s_[2:3], np.s_[3:7], np.s_[7:]], 1),
    "alternating": ([np.s_[i::4] for i in range(4)], 1),
    "some alternating": ([np.s_[:, i::6] for i in (0, 2, 3, 5)], 1),
    "twice": ([*range(8), *range(8)], 2),
    "overlapping": ([np.s_[i : i + 3] for i in range(6)], 0),
    "elements": ([(0, j) for j in range(6)], 0),
    "few": (range(3), 0),
    "halves": ([np.s_[:4], np.s_[4:]], 1),
    "thirds, out of order": ([np.s_[:, 4:], np.s_[:, :2], np.s_[:, 2:4]], 1),
    "halves with a gap": ([np.s_[:3], np.s_[4:]], 0),
    "even and odd": ([np.s_[::2], np.s_[1::2]], 0),
    "halves twice": ([np.s_[:4], np.s_[4:], np.s_[4:], np.s_[:4]], 2),
}


@pytest.mark.parametrize("case", CASES)
def test_derivatives(case):
    indices, n = CASES[case]
    grad = olympus.grad(lambda x: sum_weighted([x[i] for i in indices]))
    expected = gradient_by_parts(X, indices)
    np.testing.assert_allclose(olympus.jit(grad)(X), expected, rtol=2e-5, atol=1e-6)
    merged = pad_sums.merge(olympus.make_olympuspr(grad)(X).olympuspr)
    assert [eqn.primitive for eqn in merged.eqns].count(lax.concatenate_p) == n


@st.composite
def indices(draw):
    def index(size):
        kind = draw(st.sampled_from(("all", "one", "piece", "step")))
        if kind == "one":
            return draw(st.integers(0, size - 1))
        if kind == "all":
            return slice(None)
        start = draw(st.integers(0, size - 1))
        if kind == "piece":
            return slice(start, draw(st.integers(start, size)))
        return slice(start, None, draw(st.integers(1, 4)))

    return index(8), index(6)


@settings(max_examples=25, deadline=None)
@given(st.lists(indices(), min_size=3, max_size=14))
def test_any_parts(parts):
    grad = olympus.jit(olympus.grad(lambda x: sum_weighted([x[i] for i in parts])))
    expected = gradient_by_parts(X, parts)
    np.testing.assert_allclose(grad(X), expected, rtol=1e-4, atol=1e-5)


def test_padded_values_that_are_read_elsewhere():
    def f(x):
        padded = [jnp.pad(x[i : i + 1], ((i, 7 - i), (0, 0))) for i in range(8)]
        total, pull = olympus.vjp(lambda *xs: tuple([x] * 8 for x in xs), *padded)
        return pull(total)

    outs = olympus.jit(f)(X)
    for i, out in enumerate(outs):
        expected = np.zeros_like(X)
        expected[i] = 8 * X[i]
        np.testing.assert_allclose(out, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64", "float64"])
def test_dtypes(dtype):
    with olympus.enable_x64(dtype == "float64"):
        x = jnp.asarray(X, dtype)
        _, pull = olympus.vjp(lambda x: [x[i] for i in range(8)], x)
        out = olympus.jit(pull)([row * 2 for row in x])[0]
        assert out.dtype == x.dtype
        np.testing.assert_array_equal(out, x * 2)


def test_within_loops_and_maps():
    def f(x):
        return lax.scan(
            lambda c, _: (c + sum_weighted([x[i] * c for i in range(8)]), None),
            1.0,
            None,
            length=3,
        )[0]

    def compute_whole(x):
        scales = jnp.arange(1.0, 9.0)[:, None]
        return lax.scan(
            lambda c, _: (c + (jnp.sin(x * c) * scales).sum(), None),
            1.0,
            None,
            length=3,
        )[0]

    x = X[None] * np.array([0.1, 0.2], np.float32)[:, None, None]
    got = olympus.jit(olympus.vmap(olympus.grad(f)))(x)
    np.testing.assert_allclose(
        got, olympus.vmap(olympus.grad(compute_whole))(x), rtol=1e-3
    )


# -- windows that are added in turn ----------------------------------------------------

LARGE = np.linspace(-1, 1, 8 * 6 * 128, dtype=np.float32).reshape(8, 6, 128)
WINDOWS = {  # what is read; how many additions are left, or None for all
    "rows": (range(8), 0),
    "columns": ([np.s_[:, j] for j in range(6)], 0),
    "pairs, out of order": ([np.s_[4:6], np.s_[:2], np.s_[6:], np.s_[2:4]], 0),
    "half of the rows": ([1, 2, 4, 7], 0),
    "few of the rows": ([1, 2, 4], None),
    "a row twice": ([*range(8), 3], 4),
    "overlapping": ([np.s_[i : i + 2] for i in range(7)], None),
    "parts of two axes": ([np.s_[i, :3] for i in range(8)], None),
}


@pytest.mark.parametrize("jitted", [True, False])
@pytest.mark.parametrize("case", WINDOWS)
def test_windows_that_are_added_in_turn(case, jitted):
    indices, n_left = WINDOWS[case]
    grad = olympus.grad(lambda x: sum_weighted([x[i] for i in indices]))
    program = olympus.make_olympuspr(grad)(LARGE).olympuspr
    joined = pad_sums.join_windows(program)
    assert (joined is program) == (n_left is None)
    if n_left is not None:
        added = [eqn.primitive for eqn in joined.eqns].count(lax.scatter_add_p)
        assert added == n_left
    out = (olympus.jit(grad) if jitted else grad)(LARGE)
    expected = gradient_by_parts(LARGE, indices)
    np.testing.assert_allclose(out, expected, rtol=2e-5, atol=1e-6)


def test_windows_whose_sums_are_read_on_the_way():
    """What reads an array before the last addition sees it as it is then."""

    def f(x):
        total = jnp.zeros_like(x)
        states = []
        for i in range(8):
            total = total.at[i].add(x[i] * 2)
            states.append(total.sum())
        return total, jnp.stack(states)

    total, states = olympus.jit(f)(LARGE)
    np.testing.assert_allclose(total, LARGE * 2, rtol=1e-6)
    sums = np.cumsum(2 * LARGE.sum((1, 2)))
    np.testing.assert_allclose(states, sums, rtol=1e-4, atol=1e-2)


def test_layers_of_stacked_weights():
    ws, x = LARGE.reshape(8, 768)[:, : 24 * 24].reshape(8, 24, 24), LARGE[0, :2, :24]

    def loss(ws, x):
        for i in range(8):
            x = jnp.tanh(x @ ws[i])
        return x.sum()

    text = olympus.jit(olympus.grad(loss)).lower(ws, x).as_text()
    assert "dynamic_update_slice" not in text
    one_by_one = olympus.grad(lambda ws: loss(ws, x))(list(ws))
    np.testing.assert_allclose(
        olympus.jit(olympus.grad(loss))(ws, x), one_by_one, rtol=1e-4, atol=1e-6
    )


def _roll_both(x, w):
    return jnp.roll(x, 1, 0) * w + jnp.roll(x, -2, 1) * x


ROLLED = {  # a function; how many parts are padded, and not joined, in its derivative
    "cheap": (_roll_both, 4),
    "beside what costs more": (lambda x, w: jnp.roll(x, 3, 0) + jnp.sin(x), 2),
    "costs more itself": (lambda x, w: jnp.sin(jnp.roll(x, 3, 0)) + x, 0),
    "along both axes": (lambda x, w: jnp.roll(x, (1, 2), (0, 1)) * w + x, 0),
    "of a known number": (lambda x, w: jnp.roll(x, 1, 0), 0),
}


@pytest.mark.parametrize("case", ROLLED)
@pytest.mark.parametrize("steps", [0, 3])
def test_arrays_that_are_rolled(case, steps):
    f, _ = ROLLED[case]

    def loss(x):
        if steps:
            x = lax.fori_loop(0, steps, lambda _, x: f(x, x) * 0.5, x)
        return (f(x, X) * X).sum()

    x = jnp.asarray(X + 0.3)
    tangent = jnp.cos(x)
    _, forward = olympus.jvp(loss, (x,), (tangent,))
    backward = (olympus.jit(olympus.grad(loss))(x) * tangent).sum()
    np.testing.assert_allclose(backward, forward, rtol=2e-5)


@pytest.mark.parametrize("case", ROLLED)
def test_what_is_padded_of_arrays_that_are_rolled(case):
    f, n = ROLLED[case]
    known = case == "of a known number"

    def pull_back(x):
        return olympus.vjp(lambda x: f(x, X), x)[1](jnp.ones((8, 6)) if known else x)

    merged = pad_sums.merge(olympus.make_olympuspr(pull_back)(X).olympuspr)
    assert [eqn.primitive for eqn in merged.eqns].count(lax.pad_p) == n


def test_rolled_infinities_and_nan_stay_where_they_are():
    ct = np.ones((8, 6), np.float32)
    ct[0, 1], ct[7, 2], ct[3, 3] = np.inf, np.nan, -np.inf
    grad = olympus.grad(lambda x, ct: (jnp.roll(x, 1, 0) * (ct * 2)).sum())
    out = olympus.jit(grad)(X, ct)
    np.testing.assert_array_equal(out, np.roll(ct * 2, -1, 0))


def test_a_loop_that_rolls_adds_no_rows_in_place():
    def f(x):
        return lax.fori_loop(0, 5, lambda _, x: x + 0.1 * jnp.roll(x, 1, 0), x).sum()

    program = str(olympus.make_olympuspr(olympus.grad(f))(jnp.ones((64, 64))))
    assert "scatter" not in program


@pytest.mark.parametrize("n", [2, 3, 8, 9])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
def test_single_columns_are_turned_rows(n, dtype):
    x = jnp.asarray(np.linspace(-1, 1, 40 * n).reshape(20, 2, n), dtype)

    def read(x):
        return [x[..., i] * (i + 1) * x[..., 0] for i in range(n)]

    cts = [jnp.full((20, 2), i - 2.0, dtype).at[3, 1].set(-np.inf) for i in range(n)]
    out = olympus.jit(lambda x, cts: olympus.vjp(read, x)[1](cts)[0])(x, cts)
    expected = olympus.vjp(lambda x: list(jnp.moveaxis(x, -1, 0)), x)[1]
    scaled = [ct * (i + 1) * x[..., 0] for i, ct in enumerate(cts)]
    scaled[0] = sum(ct * (i + 1) * x[..., i] for i, ct in enumerate(cts)) + scaled[0]
    rtol = 0.02 if dtype == "bfloat16" else 1e-5
    want, got = (np.asarray(y).astype(np.complex64) for y in (expected(scaled)[0], out))
    np.testing.assert_allclose(got, want, rtol=rtol)


def test_columns_are_joined_by_one_concatenation():
    def f(x):
        a, b, c = x[:, 0], x[:, 1], x[:, 2]
        return (a * b * jnp.sin(c)).sum()

    program = olympus.make_olympuspr(olympus.grad(f))(jnp.ones((200, 3))).olympuspr
    merged = pad_sums.merge(program)
    joined = [e for e in merged.eqns if e.primitive is lax.concatenate_p]
    assert [eqn.outvars[0].aval.shape for eqn in joined] == [(3, 200)]
