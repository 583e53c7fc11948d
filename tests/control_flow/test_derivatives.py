"""Derivatives of control flow: against differences, loops written out, and laws."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import checker

pytestmark = pytest.mark.sampled(4)

X = np.array([0.5, -0.3, 0.8], np.float32)
W = np.array([[0.2, 0.1, 0.0], [0.3, -0.2, 0.1], [0.1, 0.4, 0.2]], np.float32)


def differences(f, x, step=1e-2):
    """The gradient by central differences."""
    grad = np.zeros(np.shape(x))
    for i in np.ndindex(grad.shape):
        d = np.zeros_like(grad)
        d[i] = step
        high, low = (float(f(np.asarray(x + s * d, np.float32))) for s in (1, -1))
        grad[i] = (high - low) / (2 * step)
    return grad


def check(f, *args, atol=5e-3):
    """All ways to a derivative agree with differences, and with each other."""
    for k, x in enumerate(args):
        if not np.issubdtype(np.asarray(x).dtype, np.floating):
            continue
        one = lambda v, k=k: f(*args[:k], v, *args[k + 1 :])  # noqa: E731
        want = differences(one, x)
        grad = olympus.grad(one)
        exact = np.asarray(grad(x))
        np.testing.assert_allclose(exact, want, rtol=2e-2, atol=atol)
        for other in (olympus.jit(grad), olympus.grad(olympus.jit(one))):
            np.testing.assert_allclose(other(x), exact, rtol=1e-4, atol=1e-5)
        direction = np.cos(np.arange(np.size(x), dtype=np.float32)).reshape(np.shape(x))
        slope = (exact * direction).sum()
        for way in (one, olympus.jit(one)):
            _, tangent = olympus.jvp(way, (x,), (direction,))
            np.testing.assert_allclose(tangent, slope, rtol=1e-4, atol=1e-5)
        _, linear = olympus.linearize(one, x)
        np.testing.assert_allclose(linear(direction), slope, rtol=1e-4, atol=1e-5)
        checker.check_olympuspr(olympus.make_olympuspr(grad)(x))


def gradient_sum(f):
    """A function of the gradient, for second derivatives."""
    return lambda *args: jnp.sum(jnp.sin(olympus.grad(f)(*args)))


# -- scan ------------------------------------------------------------------------------


def recurrent(c, xs, w, **options):
    def step(h, x):
        h = jnp.tanh(w @ h + x)
        return h, jnp.sum(h * x)

    c, ys = lax.scan(step, c, xs, **options)
    return jnp.sum(c * c) + jnp.sum(ys**2)


def written_out(c, xs, w, reverse=False):
    total = 0.0
    for x in xs[::-1] if reverse else xs:
        c = jnp.tanh(w @ c + x)
        total = total + jnp.sum(c * x) ** 2
    return jnp.sum(c * c) + total


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, True])
def test_scan_has_the_gradient_of_the_loop_written_out(reverse, unroll, rng):
    xs = (0.3 * rng.normal(size=(5, 3))).astype(np.float32)
    f = lambda *args: recurrent(*args, reverse=reverse, unroll=unroll)  # noqa: E731
    got = olympus.grad(f, (0, 1, 2))(X, xs, W)
    want = olympus.grad(lambda *a: written_out(*a, reverse=reverse), (0, 1, 2))(
        X, xs, W
    )
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-6)


SCANS = {
    "recurrent": (lambda c, w: recurrent(c, np.stack([X, -X]), w), (X, W)),
    "fori_loop": (
        lambda x: jnp.sum(lax.fori_loop(0, 4, lambda i, c: jnp.sin(c) * (i + 1.0), x)),
        (X,),
    ),
    "map": (lambda x: jnp.sum(lax.map(jnp.sin, x) * X), (X,)),
    "a carry that moves from the second step on": (
        lambda x, y: jnp.sum(
            lax.scan(
                lambda c, _: ((c[1], c[0] * y), c[0]), (x, jnp.ones(3)), None, length=4
            )[1]
        ),
        (X, np.float32(0.7)),
    ),
    "a carry that is replaced by a constant": (
        lambda x, y: jnp.sum(
            lax.scan(
                lambda c, _: ((jnp.ones(3), c[0] * y), c[0] * c[1]),
                (x, x),
                None,
                length=3,
            )[1]
        ),
        (X, X + 1),
    ),
    "an integer carry beside": (
        lambda x: jnp.sum(
            lax.scan(lambda c, v: ((c[0] + 1, c[1] * v + c[0]), None), (0, x), X)[0][1]
        ),
        (X,),
    ),
    "what is the same in all steps": (
        lambda w: jnp.sum(lax.scan(lambda c, x: (jnp.sin(w) @ c, c @ x), X, W)[1]),
        (W,),
    ),
    "outputs only": (
        lambda x: jnp.sum(lax.scan(lambda c, v: (c, v * c), 2.0, x)[1]),
        (X,),
    ),
    "no steps": (
        lambda x: jnp.sum(lax.scan(lambda c, v: (c * c, v), x, jnp.zeros((0, 3)))[0]),
        (X,),
    ),
    "loops in loops": (
        lambda x: jnp.sum(
            lax.fori_loop(
                0,
                3,
                lambda i, c: lax.fori_loop(0, 2, lambda j, d: jnp.sin(d), c) * x,
                x,
            )
        ),
        (X,),
    ),
}


@pytest.mark.parametrize("bound", [int, np.int32, np.array, jnp.asarray])
def test_fori_loop_with_any_known_bounds_has_reverse_mode(bound):
    turn = lambda i, c: c * 2.0 + i  # noqa: E731
    f = lambda x: lax.fori_loop(bound(0), bound(3), turn, x)  # noqa: E731
    assert float(olympus.grad(f)(1.5)) == 8.0
    if bound is int:
        assert float(olympus.jit(olympus.grad(f))(1.5)) == 8.0


@pytest.mark.slow
@pytest.mark.parametrize("unroll", [1, 2, True])
def test_options_of_scan_change_no_derivative(unroll):
    def f(x, **options):
        return jnp.sum(lax.scan(lambda c, v: (c * v, jnp.sin(c)), 1.0, x, **options)[1])

    for reverse in (False, True):
        want = olympus.grad(lambda x: f(x, reverse=reverse))(X)  # noqa: B023
        for split in (False, True):
            options = {"unroll": unroll, "reverse": reverse, "_split_transpose": split}
            grad = olympus.grad(lambda x: f(x, **options))  # noqa: B023
            np.testing.assert_allclose(grad(X), want, rtol=1e-6)
    if unroll == 2:
        text = str(olympus.make_olympuspr(grad)(X))
        assert text.count("unroll=2") == 2  # of the loop and of the one that goes back


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.slow
def test_scan(name):
    f, args = SCANS[name]
    check(f, *args)


@pytest.mark.slow
def test_second_derivatives_of_scan():
    check(gradient_sum(SCANS["recurrent"][0]), X, W)


@pytest.mark.slow
def test_mapped_gradients_of_scan(rng):
    xs = rng.normal(size=(4, 3)).astype(np.float32)
    starts = np.stack([X, X + 1])
    f = lambda c: recurrent(c, xs, W)  # noqa: E731
    got = olympus.jit(olympus.vmap(olympus.grad(f)))(starts)
    want = [np.asarray(olympus.grad(f)(c)) for c in starts]
    np.testing.assert_allclose(got, want, rtol=1e-5)
    total = olympus.grad(lambda c: jnp.sum(olympus.vmap(f)(c)))(starts)
    np.testing.assert_allclose(total, want, rtol=1e-5)


LOOPS_OVER_PARTS = {
    "a constant": lambda x: lax.fori_loop(
        0, 300, lambda i, c: c + jnp.sin(x[i]) * x[(7 * i) % 200], 0.0
    ),
    "rows of a constant": lambda x: (
        lambda rows: lax.fori_loop(
            0, 30, lambda i, c: c + rows[i % 3] @ rows[i % 7], 0.0
        )
    )(x.reshape(60, 10)),
    "slices of a constant": lambda x: lax.scan(
        lambda c, i: (
            c
            + (
                lax.dynamic_slice(x, (i,), (3,)) * lax.dynamic_slice(x, (i + 1,), (3,))
            ).sum(),
            None,
        ),
        0.0,
        np.arange(300),
    )[0],
    "a carry": lambda x: lax.fori_loop(
        0,
        300,
        lambda i, c: (
            c[0].at[i].set(jnp.sin(c[0][i]) * c[1]),
            c[1] + 0.1 * c[0][i + 1],
        ),
        (x, 1.0),
    )[1],
    "a carry, from positions outside": lambda x: lax.fori_loop(
        0,
        30,
        lambda i, c: (
            c[0].at[90 + 30 * i].set(c[1], mode="drop"),
            c[1] + 0.1 * c[0].at[60 + 30 * i].get(mode="fill", fill_value=2.0),
        ),
        (x, 1.0),
    )[1],
}


@pytest.mark.parametrize("name", LOOPS_OVER_PARTS)
def test_steps_that_read_parts_add_to_parts_of_the_gradient(name, rng):
    f = LOOPS_OVER_PARTS[name]
    x = rng.standard_normal(600).astype("float32") * np.float32(0.5)
    gradient = olympus.jit(olympus.grad(f))
    text = gradient.lower(x).as_text()
    steps = text[text.index("stablehlo.while") :]
    for line in steps.splitlines():  # none that adds whole arrays
        assert not re.search(r"stablehlo.add .*tensor<(600|60x10)xf32>", line), line
    got = np.asarray(gradient(x), np.float64)
    d = rng.standard_normal(600).astype("float32")
    exact = olympus.jvp(f, (x,), (d,))[1]
    np.testing.assert_allclose(got @ d, exact, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(
        np.asarray(olympus.vmap(gradient)(x[None]))[0], got, rtol=1e-5, atol=1e-6
    )


def test_steps_hand_on_a_position_once():
    def f(x):
        def step(i, c):
            x, total = c
            x = x.at[i - 1].set(jnp.sin(x[i - 1]) * total)
            return x, total + x[i - 1] * x[i - 1]

        return lax.fori_loop(0, 10, step, (x, 1.0))[1]

    program = olympus.make_olympuspr(olympus.grad(f))(np.ones(100, np.float32))
    loop = next(e for e in program.eqns if e.primitive.name == "scan")
    stacks = [v.aval for v in loop.outvars if v.aval.shape[:1] == (10,)]
    assert sum(a.dtype == np.int32 and a.shape == (10,) for a in stacks) <= 1
    check(f, np.linspace(0.1, 0.9, 12, dtype=np.float32))


def test_what_all_steps_share_is_not_stacked():
    f = lambda w: jnp.sum(lax.scan(lambda c, x: (jnp.sin(w) @ c, None), X, W)[0])  # noqa: E731
    text = str(olympus.make_olympuspr(olympus.grad(f))(W))
    assert "f32[3,3,3]" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        lambda w, c, flag: olympus.jit(lambda w, c: jnp.tanh(w @ c))(w, c),
        lambda w, c, flag: lax.cond(
            flag, lambda c: jnp.tanh(w @ c), lambda c: 2.0 * (w @ c), c
        ),
    ],
    ids=["jit", "cond"],
)
def test_what_programs_inside_a_step_share_is_not_stacked(step):
    flags = np.array([True, False, True, False])

    def f(w):
        return jnp.sum(lax.scan(lambda c, flag: (step(w, c, flag), None), X, flags)[0])

    def same(w):
        c = X
        for flag in flags:
            c = step(w, c, bool(flag))
        return jnp.sum(c)

    text = str(olympus.make_olympuspr(olympus.grad(f))(W))
    assert "f32[4,3]" in text
    assert "f32[4,3,3]" not in text
    np.testing.assert_allclose(olympus.grad(f)(W), olympus.grad(same)(W), rtol=1e-5)


# -- cond ------------------------------------------------------------------------------


@pytest.mark.parametrize("pred", [True, False])
@pytest.mark.parametrize(
    "f",
    [
        lambda p, x, y: lax.cond(p, lambda a, b: jnp.sin(a) * b, lambda a, b: a, x, y),
        lambda p, x, y: lax.cond(
            p, lambda a: jnp.exp(a) * y, lambda a: jnp.zeros(3), x
        ),
        lambda p, x, y: lax.cond(p, lambda: jnp.sin(x) * y, lambda: jnp.exp(x) * y * y),
        lambda p, x, y: lax.cond(
            p,
            lambda a: lax.cond(a[0] > 0, jnp.sin, jnp.cos, a * y),
            lambda a: lax.fori_loop(0, 3, lambda i, c: c * a, y),
            x,
        ),
    ],
    ids=["operands", "one side", "closed over", "nested"],
)
@pytest.mark.slow
def test_cond(f, pred):
    check(lambda x, y: jnp.sum(f(pred, x, y)), X, X + 1)


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.slow
def test_switch(index):
    branches = [lambda a, b: jnp.sin(a) * b, lambda a, b: a, lambda a, b: a @ b + b]
    check(lambda x, y: jnp.sum(lax.switch(index, branches, x, y)), X, X + 1)


@pytest.mark.slow
def test_cond_in_a_loop_with_second_derivatives():
    def f(x):
        step = lambda i, c: lax.cond(i % 2 == 0, jnp.sin, lambda d: d * d, c)  # noqa: E731
        return jnp.sum(lax.fori_loop(0, 4, step, x))

    check(f, X)
    check(gradient_sum(f), X)


def test_mapped_cond_keeps_infinite_slopes_of_the_other_branch_out():
    x = np.array([1.0, 0.0, 2.0], np.float32)
    f = lambda v: lax.cond(v > 0, jnp.log, lambda u: 3.0 * u, v)  # noqa: E731
    total = lambda x: jnp.sum(olympus.vmap(f)(x))  # noqa: E731
    np.testing.assert_allclose(olympus.grad(total)(x), [1.0, 3.0, 0.5])
    np.testing.assert_allclose(olympus.vmap(olympus.grad(f))(x), [1.0, 3.0, 0.5])


# -- while -----------------------------------------------------------------------------


def power(x, n):
    """X ** (n + 1), n times around a loop of unknown length."""
    return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_while_has_forward_mode(n):
    want = (n + 1) * X**n * 2.0
    two = np.full(3, 2.0, np.float32)
    for f in (power, olympus.jit(power)):
        _, tangent = olympus.jvp(lambda x, f=f: f(x, n), (X,), (two,))
        np.testing.assert_allclose(tangent, want, rtol=1e-5)
    out, linear = olympus.linearize(lambda x: power(x, n), X)
    np.testing.assert_allclose(out, X ** (n + 1), rtol=1e-5)
    np.testing.assert_allclose(linear(two), want, rtol=1e-5)


def test_mapped_forward_mode_of_while():
    n = np.arange(4, dtype=np.int32)
    x = np.full(4, 1.5, np.float32)
    slope = lambda v, k: olympus.jvp(lambda u: power(u, k), (v,), (1.0,))[1]  # noqa: E731
    got = olympus.vmap(slope)(x, n)
    np.testing.assert_allclose(got, (n + 1) * x**n, rtol=1e-5)


def test_while_that_carries_no_tangent_is_no_obstacle():
    def f(x):
        n = lax.while_loop(lambda c: c < 5, lambda c: c + 1, 0)
        return jnp.sum(x * n)

    np.testing.assert_array_equal(olympus.grad(f)(X), [5.0, 5.0, 5.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: jnp.sum(power(x, n)),
        lambda x, n: jnp.sum(lax.fori_loop(0, n, lambda i, c: c * x, x)),
    ],
    ids=["while_loop", "fori_loop"],
)
def test_reverse_mode_of_while_says_what_to_use(f):
    with pytest.raises(ValueError, match="use scan, or fori_loop with bounds that are"):
        olympus.jit(olympus.grad(f))(X, 3)
