"""Loops with a bound on their steps: values, stopping, derivatives in every mode."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.control_flow import bounded_while
from olympus._src.core import checker
from olympus.experimental import checkify
from tests.comparing import assert_close

pytestmark = pytest.mark.sampled(4)

X = np.array([0.5, -0.3, 0.8], np.float32)
W = np.array([[0.2, 0.1, 0.0], [0.3, -0.2, 0.1], [0.1, 0.4, 0.2]], np.float32)
ROWS = np.stack([X, 5 * X, 0.1 * X, 100 * X])  # take 6, 1, 12 and 0 steps
MODES = ["all", "sqrt", 13]  # one loop, two and three nested ones


def step(c, w):
    return c + jnp.sin(w @ c) + 0.1 * c


def growing(x, w, **options):
    """Steps from `x` until the square passes a limit."""
    options.setdefault("max_steps", 60)
    return lax.while_loop(lambda c: c @ c < 30.0, lambda c: step(c, w), x, **options)


def steps_from(x):
    x, n = np.asarray(x), 0
    while x @ x < 30.0:
        x, n = np.asarray(step(x, W)), n + 1
    return n


def loss(x, w, **options):
    return jnp.sum(growing(x, w, **options) ** 2)


def written_out(n):
    """The loss of a loop of `n` steps, in Python."""

    def f(x, w):
        for _ in range(n):
            x = step(x, w)
        return jnp.sum(x**2)

    return f


close = functools.partial(assert_close, rtol=3e-4, atol=1e-4)


# -- values and stopping ---------------------------------------------------------------


@pytest.mark.parametrize("checkpoints", [*MODES, "log"])
def test_values_are_those_of_the_plain_loop(checkpoints):
    plain = growing(X, W, max_steps=None)
    for f in (growing, olympus.jit(growing, static_argnames="checkpoints")):
        np.testing.assert_array_equal(f(X, W, checkpoints=checkpoints), plain)


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", MODES)
@pytest.mark.parametrize("bound", [0, 1, 5, 6, 7])
def test_it_stops_at_the_bound(checkpoints, bound):
    turn = lambda c: (c[0] + 1, c[1] * 1.5)  # noqa: E731
    loop = lambda x: lax.while_loop(  # noqa: E731
        lambda c: c[0] < 6, turn, (0, x), max_steps=bound, checkpoints=checkpoints
    )
    taken, last = loop(2.0)
    assert int(taken) == min(bound, 6)
    np.testing.assert_allclose(last, 2.0 * 1.5 ** min(bound, 6))
    slope = olympus.grad(lambda x: loop(x)[1])(2.0)
    np.testing.assert_allclose(slope, 1.5 ** min(bound, 6))
    with olympus.disable_jit():
        assert int(loop(2.0)[0]) == min(bound, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checkpoints", "runs"), [("all", 4), ("sqrt", 8), ("log", 12)]
)
def test_only_the_steps_that_are_taken_run(checkpoints, runs):
    seen = []

    def body(c):
        olympus.debug.callback(lambda: seen.append(1))
        return c * c

    def f(x):
        return lax.while_loop(
            lambda c: c < 100.0, body, x, max_steps=1000, checkpoints=checkpoints
        )

    olympus.jit(f)(1.5)
    olympus.effects_barrier()
    assert len(seen) == 4
    seen.clear()
    np.testing.assert_allclose(olympus.jit(olympus.grad(f))(1.5), 16 * 1.5**15)
    olympus.effects_barrier()
    assert len(seen) == runs


def test_rows_are_as_many_as_the_bound_and_carries_as_few_as_said():
    def kept(checkpoints):
        text = str(
            olympus.make_olympuspr(
                olympus.grad(
                    lambda x: loss(x, W, max_steps=900, checkpoints=checkpoints)
                )
            )(X)
        )
        rows = [int(n) for n in re.findall(r"f32\[(\d+),3\] = bounded_while", text)]
        rows += [int(n) for n in re.findall(r"f32\[(\d+),3\]", text)]
        return max(rows)

    assert kept("all") == 900
    assert kept("sqrt") == 30
    assert kept("log") == 10


@pytest.mark.parametrize(
    ("max_steps", "checkpoints", "sizes"),
    [
        (0, "sqrt", [1, 0]),
        (1, "log", [1]),
        (100_000, "all", [100_000]),
        (100_000, "sqrt", [316, 317]),
        (100_000, "log", [10, 10, 10, 10, 10]),
        (1000, 1000, [1000]),
        (1000, 64, [32, 32]),
        (1000, 40, [10, 10, 10]),
        (1000, 1, [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
    ],
)
def test_levels(max_steps, checkpoints, sizes):
    got = bounded_while.levels(max_steps, checkpoints)
    assert np.prod(got) >= max_steps
    if checkpoints == 1:
        assert sum(got) <= 24
    else:
        assert got == sizes


# -- derivatives -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "checkpoints", ["all", "sqrt", pytest.param(13, marks=pytest.mark.slow)]
)
def test_first_derivatives(checkpoints):
    f = lambda x, w: loss(x, w, checkpoints=checkpoints)  # noqa: E731
    same = written_out(steps_from(X))
    want = olympus.grad(same, (0, 1))(X, W)
    grad = olympus.grad(f, (0, 1))
    close(grad(X, W), want)
    close(olympus.jit(grad)(X, W), want)
    _, slope = olympus.jvp(f, (X, W), (X, W))
    close([slope], [olympus.jvp(same, (X, W), (X, W))[1]])
    close([olympus.linearize(f, X, W)[1](X, W)], [slope])
    checker.check_olympuspr(olympus.make_olympuspr(grad)(X, W))


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", MODES)
def test_second_derivatives(checkpoints):
    def second(f):
        curved = lambda x, w: jnp.sum(jnp.sin(olympus.grad(f)(x, w)))  # noqa: E731
        yield from olympus.grad(curved, (0, 1))(X, W)
        yield from olympus.jvp(lambda x: olympus.grad(f)(x, W), (X,), (X,))
        slope = lambda x: olympus.jvp(lambda y: f(y, W), (x,), (X,))[1]  # noqa: E731
        yield olympus.grad(slope)(X)

    f = lambda x, w: loss(x, w, checkpoints=checkpoints)  # noqa: E731
    close(list(second(f)), list(second(written_out(steps_from(X)))))


@pytest.mark.slow
def test_checkpoints_hold_for_second_derivatives_too():
    def temporary(checkpoints):
        f = lambda x: loss(x, W, max_steps=10_000, checkpoints=checkpoints)  # noqa: E731
        curved = lambda x: jnp.sum(olympus.grad(f)(x) ** 2)  # noqa: E731
        compiled = olympus.jit(olympus.grad(curved)).lower(X).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    assert temporary("sqrt") < temporary("all") / 10


@pytest.mark.parametrize(
    "checkpoints", ["all", pytest.param(13, marks=pytest.mark.slow)]
)
def test_a_bound_and_a_condition_for_each_element(checkpoints):
    f = lambda x, w: loss(x, w, checkpoints=checkpoints)  # noqa: E731
    own = [olympus.grad(written_out(steps_from(x)), (0, 1))(x, W) for x in ROWS]
    each = [np.stack([np.asarray(g[k]) for g in own]) for k in (0, 1)]
    close(olympus.vmap(olympus.grad(f, (0, 1)), (0, None))(ROWS, W), each)
    total = lambda x, w: jnp.sum(olympus.vmap(f, (0, None))(x, w))  # noqa: E731
    want = [each[0], each[1].sum(0)]
    close(olympus.jit(olympus.grad(total, (0, 1)))(ROWS, W), want)


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", ["all", "sqrt"])
def test_mapped_twice_and_second_derivatives(checkpoints):
    f = lambda x: loss(x, W, checkpoints=checkpoints)  # noqa: E731
    grids = np.stack([ROWS, ROWS[::-1] * 2])
    got = olympus.vmap(olympus.vmap(olympus.grad(f)))(grids)
    want = [[np.asarray(olympus.grad(f)(x)) for x in row] for row in grids]
    close([got], [np.array(want)])
    hessian_product = lambda x: olympus.grad(lambda y: olympus.grad(f)(y) @ y)(x)  # noqa: E731
    got = olympus.vmap(hessian_product)(ROWS)
    want = [np.asarray(hessian_product(x)) for x in ROWS]
    close([got], [np.array(want)])


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", ["all", "sqrt"])
def test_elements_that_are_done_have_finite_derivatives(checkpoints):
    """The step's root has an infinite slope where an element has come to its end."""

    def f(w, end):
        def body(c):
            t, y = c
            h = jnp.minimum(0.5, end - t)
            return t + h, y + w * jnp.sqrt(h) * y

        start = (0.0, 1.0)
        return lax.while_loop(
            lambda c: c[0] < end, body, start, max_steps=9, checkpoints=checkpoints
        )[1]

    ends = np.array([0.7, 2.0, 0.0, 3.3], np.float32)
    total = lambda w: jnp.sum(olympus.vmap(lambda e: f(w, e))(ends))  # noqa: E731
    want = sum(float(olympus.grad(f)(0.3, e)) for e in ends)
    np.testing.assert_allclose(olympus.grad(total)(0.3), want, rtol=1e-5)
    want = sum(float(olympus.grad(olympus.grad(f))(0.3, e)) for e in ends)
    np.testing.assert_allclose(olympus.grad(olympus.grad(total))(0.3), want, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("outer", ["all", "sqrt"])
@pytest.mark.parametrize("inner", ["all", "sqrt"])
def test_loops_in_loops(inner, outer):
    def f(x, w):
        def turn(c):
            i, x = c
            small = lambda d: (d[0] + 1, jnp.sin(w @ d[1]) + d[1])  # noqa: E731
            _, x = lax.while_loop(
                lambda d: d[0] < i, small, (0, x), max_steps=7, checkpoints=inner
            )
            return i + 1, 0.5 * x

        _, x = lax.while_loop(
            lambda c: c[0] < 4, turn, (0, x), max_steps=9, checkpoints=outer
        )
        return jnp.sum(x * x)

    def same(x, w):
        for i in range(4):
            for _ in range(i):
                x = jnp.sin(w @ x) + x
            x = 0.5 * x
        return jnp.sum(x * x)

    want = olympus.grad(same, (0, 1))(X, W)
    close(olympus.grad(f, (0, 1))(X, W), want)
    curved = lambda g: olympus.grad(lambda x: jnp.sum(olympus.grad(g)(x, W) ** 2))  # noqa: E731
    close([curved(f)(X)], [curved(same)(X)])


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", ["all", "sqrt"])
def test_carries_without_derivatives(checkpoints):
    """Integers, booleans and random keys go round, and are there for the repetition."""
    key = olympus.random.key(3)

    def body(c):
        i, flag, key, x = c
        key, sub = olympus.random.split(key)
        return (
            i + 1,
            jnp.logical_not(flag),
            key,
            x * (1.0 + olympus.random.uniform(sub)) + i * flag,
        )

    def f(x):
        return lax.while_loop(
            lambda c: c[0] < 4,
            body,
            (0, True, key, x),
            max_steps=9,
            checkpoints=checkpoints,
        )[3]

    def same(x):
        return lax.fori_loop(0, 4, lambda i, c: body(c), (0, True, key, x))[3]

    close(olympus.value_and_grad(f)(0.7), olympus.value_and_grad(same)(0.7))


def test_an_empty_carry_and_unused_parts():
    assert lax.while_loop(lambda c: True, lambda c: c, (), max_steps=3) == ()

    def f(x):
        turn = lambda c: (c[0] + 1, c[1] * x, c[2] + 1.0)  # noqa: E731
        return lax.while_loop(lambda c: c[0] < 3, turn, (0, x, x), max_steps=5)[1]

    np.testing.assert_allclose(olympus.jit(olympus.grad(f))(1.5), 4 * 1.5**3)
    program = olympus.make_olympuspr(olympus.jit(olympus.grad(f)))(1.5)
    lowered = olympus.jit(olympus.grad(f)).lower(1.5).as_text()
    assert "bounded_while" in str(program)
    assert "stablehlo.while" in lowered


@pytest.mark.slow
def test_fori_loop_with_traced_bounds():
    def f(x, n, **options):
        return lax.fori_loop(0, n, lambda i, c: c * x + i, x, **options)

    def same(x, n):
        c = x
        for i in range(n):
            c = c * x + i
        return c

    grad = olympus.jit(olympus.grad(lambda x, n: f(x, n, max_steps=6)))
    for n in (0, 1, 4, 6, 9):
        want = olympus.grad(lambda x, n=n: same(x, min(n, 6)))(1.1)
        np.testing.assert_allclose(grad(1.1, n), want, rtol=1e-5)
    short = olympus.grad(lambda x: f(x, 9, max_steps=6))(1.1)
    np.testing.assert_allclose(short, grad(1.1, 9), rtol=1e-6)
    saving = olympus.grad(lambda x: f(x, 9, checkpoints="sqrt"))(1.1)
    np.testing.assert_allclose(saving, olympus.grad(f)(1.1, 9), rtol=1e-5)


# -- errors ----------------------------------------------------------------------------


def test_what_max_steps_and_checkpoints_may_be():
    loop = lambda **options: lax.while_loop(  # noqa: E731
        lambda c: c < 3, lambda c: c + 1, 0, **options
    )
    with pytest.raises(TypeError, match="max_steps must be an integer, got"):
        loop(max_steps=2.5)
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        loop(max_steps=-1)
    with pytest.raises(TypeError, match="max_steps must be known when the loop is"):
        olympus.jit(lambda n: loop(max_steps=n))(3)
    with pytest.raises(ValueError, match="'all', 'sqrt', 'log' or a positive integer"):
        loop(max_steps=3, checkpoints="some")
    with pytest.raises(ValueError, match="checkpoints='log' needs max_steps, got none"):
        loop(checkpoints="log")


def test_reverse_mode_without_a_bound_says_where_and_what_to_do():
    def halve(c):
        return c / 2.0

    def f(x):
        return lax.while_loop(lambda c: c > 1.0, halve, x)

    here = re.escape(__file__)
    with pytest.raises(ValueError, match=rf"{here}:\d+.* pass max_steps=\.\.\., or"):
        olympus.grad(f)(12.0)
    with pytest.raises(ValueError, match=rf"halve at {here}:\d+"):
        olympus.jit(olympus.grad(f))(12.0)


# -- checks inside ---------------------------------------------------------------------


@pytest.mark.slow
def test_checks_inside_a_bounded_loop_and_its_gradient():
    def f(x):
        def body(c):
            checkify.check(c < 50.0, "too large: {c}", c=c)
            return 2.0 * c

        return lax.while_loop(lambda c: c < 100.0, body, x, max_steps=9)

    for g in (f, olympus.jit(f), olympus.grad(f)):
        failed, _ = checkify.checkify(g)(3.0)
        assert "too large: 96.0" in failed.get()
        late, _ = checkify.checkify(g)(90.0 / 2**3)
        assert "too large: 90.0" in late.get()
        assert checkify.checkify(g)(120.0)[0].get() is None


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(2, 1), (1, 2), (0, 3), (3, 3)])
def test_mapped_branches_with_loops_of_their_own_bounds(steps):
    """The count of one branch's loop is no count of the other's (it came to it)."""

    def repeated(n, f):
        return lambda x: lax.while_loop(
            lambda c: c[0] < n, lambda c: (c[0] + 1, f(c[1])), (0, x), max_steps=n
        )[1]

    def f(first, x):
        yes = repeated(steps[0], lambda x: x + 2 * jnp.sin(x))
        return lax.cond(first, yes, repeated(steps[1], lambda x: x * jnp.sin(x)), x)

    first, x = np.array([True, False]), np.array([0.3, 0.7], np.float32)
    for g in (olympus.grad(f, 1), olympus.grad(olympus.grad(f, 1), 1)):
        want = [g(bool(p), v) for p, v in zip(first, x, strict=True)]
        np.testing.assert_allclose(olympus.vmap(g)(first, x), want, rtol=1e-5)


@pytest.mark.slow
def test_checks_inside_solvers():
    bad = lambda f, x: jnp.log(-x)  # noqa: E731
    root = lambda a: lax.custom_root(lambda x: x * x - a, 1.0, bad, lambda g, y: y)  # noqa: E731
    linear = lambda a: lax.custom_linear_solve(  # noqa: E731
        lambda x: x * a, 1.0, bad, symmetric=True
    )
    for f in (root, linear):
        failed, _ = checkify.checkify(f, errors=checkify.float_checks)(3.0)
        assert "nan generated by primitive: log" in failed.get()
