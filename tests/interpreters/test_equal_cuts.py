"""Parts of stacked weights are cut at positions that the compiler does not know."""

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus._src.core import ir
from olympus._src.interpreters import equal_cuts, inlining

RNG = np.random.default_rng(0)
N = 6
WEIGHTS = RNG.normal(size=(N, 24, 24)).astype("float32") * 0.2
BIASES = RNG.normal(size=(N, 24)).astype("float32")
X = RNG.normal(size=(3, 24)).astype("float32")


def apply(ws, bs, x):
    for i in range(len(ws)):
        x = jnp.tanh(x @ ws[i] + bs[i]) + x
    return x


def hide_positions(program):
    return inlining.splice(program, equal_cuts.find_changes(program))


def n_cuts(f, *args):
    program = olympus.make_olympuspr(f)(*args).olympuspr
    cut = hide_positions(program)
    n = ir.primitives_of(cut).get(lax.dynamic_slice_p, 0)
    assert (cut is program) == (n == 0)
    return n


def test_values_and_gradients():
    assert n_cuts(apply, WEIGHTS, BIASES, X) == 2 * N
    wanted = apply(list(WEIGHTS), list(BIASES), X)
    np.testing.assert_allclose(olympus.jit(apply)(WEIGHTS, BIASES, X), wanted, 1e-5)

    def loss(ws, bs, x):
        return jnp.sum(jnp.sin(apply(ws, bs, x)))

    parts = olympus.grad(loss, argnums=(0, 1))(list(WEIGHTS), list(BIASES), X)
    wholes = olympus.jit(olympus.grad(loss, argnums=(0, 1)))(WEIGHTS, BIASES, X)
    for part, whole in zip(parts, wholes, strict=True):
        np.testing.assert_allclose(whole, np.stack(part), rtol=1e-4, atol=1e-5)


def test_steps_in_time():
    """What products beside them make again and again is cut so too."""
    xs = RNG.normal(size=(N, 3, 24)).astype("float32")

    def f(w, xs):
        h = jnp.zeros((3, 24))
        for t in range(N):
            h = jnp.tanh(h @ w + xs[t])
        return h

    assert n_cuts(f, WEIGHTS[0], xs) == N
    wanted = f(WEIGHTS[0], list(xs))
    np.testing.assert_allclose(olympus.jit(f)(WEIGHTS[0], xs), wanted, 1e-5, 1e-6)


def test_gradients_of_convolutions():
    filters = RNG.normal(size=(N, 3, 3, 2, 2)).astype("float32")
    x = RNG.normal(size=(1, 6, 6, 2)).astype("float32")

    def loss(filters, x):
        for i in range(N):
            x = jnp.maximum(
                lax.conv_general_dilated(
                    x,
                    filters[i],
                    (1, 1),
                    "SAME",
                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                ),
                -0.1,
            )
        return x.sum()

    assert n_cuts(olympus.grad(loss), filters, x) == N
    wanted = olympus.grad(loss)(list(filters), x)
    out = olympus.jit(olympus.grad(loss))(filters, x)
    np.testing.assert_allclose(out, np.stack(wanted), rtol=1e-3, atol=1e-2)


def test_random_keys_stay_as_they_are():
    keys = random.split(random.key(3), N)

    def f(keys, w, x):
        for i in range(N):
            x = jnp.tanh(x @ w) + random.normal(keys[i], x.shape)
        return x

    assert n_cuts(f, keys, WEIGHTS[0], X) == 0
    out = olympus.jit(f)(keys, WEIGHTS[0], X)
    np.testing.assert_allclose(out, f(list(keys), WEIGHTS[0], X), rtol=1e-4, atol=1e-5)


def test_kernels_are_equal():
    compiled = olympus.jit(apply).lower(WEIGHTS, BIASES, X).compile()
    cut = re.findall(r" slice\(.*slice=\{\[(\d+):", compiled.as_text())
    assert not cut  # all begin at a position that is an operand


@pytest.mark.parametrize("axis", [0, 1])
def test_blocks_of_rows(axis):
    w = np.moveaxis(WEIGHTS, 0, axis).reshape(N * 24, 24) if axis == 0 else WEIGHTS[0]

    def f(w, x):
        rows = [w[i * 24 : (i + 1) * 24] for i in range(N)]
        if axis == 1:
            rows = [w[:, i * 4 : (i + 1) * 4] for i in range(N)]
        return [x @ row for row in rows]

    assert n_cuts(f, w, X) == (N if axis == 0 else 0)  # columns are not in one piece
    for out, wanted in zip(olympus.jit(f)(w, X), f(w, X), strict=True):
        np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda w, x: [x @ w[i] for i in range(3)],  # few
        lambda w, x: [x @ w[0] for i in range(N)],  # one, again and again
        lambda w, x: sum(w[i] * float(i) for i in range(N)),  # fused
        lambda w, x: [x @ (w * 2)[i] for i in range(N)],  # of no argument
        lambda w, x: lax.scan(lambda c, row: (c @ row, None), x, w)[0],
    ],
)
def test_others_stay_as_they_are(f):
    assert n_cuts(f, WEIGHTS, X) == 0


def test_functions_that_are_called():
    layer = olympus.jit(lambda w, b, x: jnp.tanh(x @ w + b) + x)

    def f(ws, bs, x):
        for i in range(N):
            x = layer(ws[i], bs[i], x)
        return x

    text = olympus.jit(f).lower(WEIGHTS, BIASES, X).as_text()
    assert text.count("stablehlo.dynamic_slice") == 2 * N
    wanted = apply(list(WEIGHTS), list(BIASES), X)
    np.testing.assert_allclose(olympus.jit(f)(WEIGHTS, BIASES, X), wanted, 1e-5)


def test_bodies_of_loops_stay_as_they_are():
    def f(ws, bs, x):
        return lax.fori_loop(0, 3, lambda _, x: apply(ws, bs, x) * 0.5, x)

    text = olympus.jit(f).lower(WEIGHTS, BIASES, X).as_text()
    assert "stablehlo.dynamic_slice" not in text
    wanted = X
    for _ in range(3):
        wanted = apply(list(WEIGHTS), list(BIASES), wanted) * 0.5
    np.testing.assert_allclose(olympus.jit(f)(WEIGHTS, BIASES, X), wanted, rtol=1e-4)


# -- positions that are computed -------------------------------------------------------

N_SLICES = 20


def move_along(x, i):
    """Parts at positions after one another, changed and put back."""
    for k in range(N_SLICES):
        part = lax.dynamic_slice(x, (i + k,), (3,))
        x = lax.dynamic_update_slice(x, part * 1.5, (i + k + 1,))
    return x


def test_numbers_that_positions_differ_by():
    x = np.arange(40, dtype="float32")
    program = olympus.make_olympuspr(move_along)(x, np.int32(2)).olympuspr
    hidden = hide_positions(program)
    barriers = ir.primitives_of(hidden).get(lax.optimization_barrier_p, 0)
    assert 0 < barriers <= N_SLICES + 1  # one for each number
    for i in (0, 2, 15, 30, -3, 100):
        wanted = x.copy()
        for k in range(N_SLICES):
            start, to = (
                np.clip(j + 40 if j < 0 else j, 0, 37) for j in (i + k, i + k + 1)
            )
            wanted[to : to + 3] = wanted[start : start + 3].copy() * np.float32(1.5)
        out = olympus.jit(move_along)(x, np.int32(i))
        np.testing.assert_allclose(out, wanted, rtol=1e-6)


def test_barriers_beside_those_that_keep_what_is_overwritten():
    x = np.arange(40, dtype="float32")
    lowered = olympus.jit(move_along).lower(x, np.int32(2))
    assert lowered._lowered.has_barriers  # else older compilers drop them early


def test_gradients_at_computed_positions():
    x = np.linspace(0.1, 0.9, 40, dtype="float32")

    def loss(x, i):
        return (move_along(x, i) ** 2).sum()

    grad = olympus.grad(loss)
    np.testing.assert_allclose(
        olympus.jit(grad)(x, np.int32(2)), grad(x, np.int32(2)), rtol=1e-4
    )


def test_few_positions_stay_as_they_are():
    def f(x, i):
        return [lax.dynamic_slice(x, (i + k,), (3,)) for k in range(5)]

    program = olympus.make_olympuspr(f)(np.arange(40.0), np.int32(2)).olympuspr
    assert hide_positions(program) is program
