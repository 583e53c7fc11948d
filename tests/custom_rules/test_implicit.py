"""Roots and linear solves by methods of the user's: values, derivatives, messages."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import checker

A = np.array([[4.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, 1.0, 5.0]], np.float32)
B = np.array([1.0, 2.0, 3.0], np.float32)
V = np.array([1.0, -1.0, 2.0], np.float32)
STACK = np.stack([A, A.T + np.eye(3, dtype=np.float32)])


def iterate(matvec, b):
    """Converges for matrices like A. Its own derivative is never taken."""
    step = lambda x: x + 0.15 * (b - matvec(x))  # noqa: E731
    go_on = lambda x: jnp.max(jnp.abs(b - matvec(x))) > 3e-7  # noqa: E731
    limited = lambda c: (c[0] < 300) & go_on(c[1])  # noqa: E731
    turn = lambda c: (c[0] + 1, step(c[1]))  # noqa: E731
    return lax.while_loop(limited, turn, (0, jnp.zeros_like(b)))[1]


def solve(a, b, transposed=iterate, **options):
    return lax.custom_linear_solve(lambda x: a @ x, b, iterate, transposed, **options)


def weighted(a, b):
    return solve(a, b) @ V


def close(got, want, rtol=2e-4):
    got, want = olympus.tree.leaves(got), olympus.tree.leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=1e-5)


def gradients(a, b):
    """Of `weighted`, in closed form."""
    inverse = np.linalg.inv(a)
    dual = inverse.T @ V
    return -np.outer(dual, inverse @ b), dual


# -- linear solves ---------------------------------------------------------------------


def test_solve_and_its_derivatives():
    inverse = np.linalg.inv(A)
    close(solve(A, B), inverse @ B)
    _, slope = olympus.jvp(solve, (A, B), (0.1 * A, B))
    close(slope, inverse @ (B - 0.1 * B))
    grad = olympus.grad(weighted, (0, 1))
    close(grad(A, B), gradients(A, B))
    close(olympus.jit(grad)(A, B), gradients(A, B))
    checker.check_olympuspr(olympus.make_olympuspr(grad)(A, B))


@pytest.mark.slow
def test_mapped_solves():
    each = [gradients(a, B) for a in STACK]
    stacked = [np.stack(g) for g in zip(*each, strict=True)]
    inverses = np.linalg.inv(STACK)
    close(olympus.vmap(solve, (0, None))(STACK, B), inverses @ B)
    rows = np.stack([B, 2 * B, V])
    close(olympus.vmap(solve, (None, 0))(A, rows), rows @ np.linalg.inv(A).T)
    grad = olympus.grad(weighted, (0, 1))
    close(olympus.vmap(grad, (0, None))(STACK, B), stacked)
    total = lambda a, b: jnp.sum(olympus.vmap(weighted, (0, None))(a, b))  # noqa: E731
    want = [stacked[0], stacked[1].sum(0)]
    close(olympus.jit(olympus.grad(total, (0, 1)))(STACK, B), want)


@pytest.mark.slow
def test_second_derivatives_of_a_solve():
    def reference(a, b):
        return np.sum(gradients(a, b)[0] ** 2)

    square = lambda a: jnp.sum(olympus.grad(weighted)(a, B) ** 2)  # noqa: E731
    got = np.asarray(olympus.grad(square)(A))
    for i, j in ((0, 0), (1, 1), (2, 1)):
        d = np.zeros((3, 3))
        d[i, j] = 1e-5
        want = (reference(A + d, B) - reference(A - d, B)) / 2e-5
        np.testing.assert_allclose(got[i, j], want, rtol=1e-3)
    direction = np.cos(B)
    got = olympus.jvp(lambda b: olympus.grad(weighted, 1)(A, b), (B,), (direction,))[1]
    close(got, np.zeros(3))


def test_symmetric_solve_uses_one_method():
    symmetric = A + A.T
    calls = []

    def method(matvec, b):
        calls.append(1)
        return iterate(matvec, b)

    def f(b):
        return lax.custom_linear_solve(
            lambda x: symmetric @ x, b, method, symmetric=True
        )

    close(olympus.vjp(f, B)[1](V)[0], np.linalg.inv(symmetric) @ V)
    assert len(calls) == 2  # traced once for either direction


def test_trees_integers_and_complex_numbers():
    def matvec(x):
        return {"p": 2.0 * x["p"] + x["q"], "q": 4.0 * x["q"]}

    def exact(_, b):
        q = b["q"] / 4.0
        return {"p": (b["p"] - q) / 2.0, "q": q}

    def exact_transposed(_, b):
        p = b["p"] / 2.0
        return {"p": p, "q": (b["q"] - p) / 4.0}

    b = {"p": 3.0, "q": 8.0}
    f = lambda b: lax.custom_linear_solve(matvec, b, exact, exact_transposed)  # noqa: E731
    close(f(b), {"p": 0.5, "q": 2.0})
    close(olympus.grad(lambda b: f(b)["p"])(b), {"p": 0.5, "q": -0.125})
    halved = lax.custom_linear_solve(lambda x: 2 * x, 6, lambda _, b: b // 2)
    assert int(halved) == 3
    factor = np.complex64(1 + 2j)
    g = lambda b: lax.custom_linear_solve(  # noqa: E731
        lambda x: factor * x, b, lambda _, b: b / factor, lambda _, b: b / factor
    )
    _, pull = olympus.vjp(g, np.complex64(3 - 1j))
    close(pull(np.complex64(1))[0], 1 / factor)


def test_more_results_have_no_derivative():
    def method(matvec, b):
        return iterate(matvec, b), {"size": jnp.max(b), "n": 3}

    def f(b):
        x, more = lax.custom_linear_solve(
            lambda x: A @ x, b, method, lambda m, b: (iterate(m, b), None), has_aux=True
        )
        return x @ V, more

    gradient, more = olympus.grad(f, has_aux=True)(B)
    close(gradient, gradients(A, B)[1])
    assert (float(more["size"]), int(more["n"])) == (3.0, 3)
    _, slopes = olympus.jvp(lambda b: f(b)[1]["size"], (B,), (B,))
    assert float(slopes) == 0.0


IDENTITY = lambda x: x  # noqa: E731
KEEP = lambda m, b: b  # noqa: E731
SOLVE_ERRORS = {
    "a matrix": (lambda: lax.custom_linear_solve(A, B, KEEP), "matvec must be a func"),
    "structure of matvec": (
        lambda: lax.custom_linear_solve(lambda x: [x], B, KEEP),
        "must return values like b, got a leaf at b and a list at the result",
    ),
    "shape of solve": (
        lambda: lax.custom_linear_solve(IDENTITY, {"u": B}, lambda m, b: {"u": B[:2]}),
        "at result['u'] got f32[2], expected f32[3]",
    ),
    "dtype of solve": (
        lambda: lax.custom_linear_solve(IDENTITY, B, lambda m, b: b.astype("int32")),
        "at result got i32[3], expected f32[3]",
    ),
    "transpose_solve": (
        lambda: lax.custom_linear_solve(IDENTITY, B, KEEP, lambda m, b: (b, b)),
        "transpose_solve <lambda> at",
    ),
    "no pair": (
        lambda: lax.custom_linear_solve(IDENTITY, B, KEEP, has_aux=True),
        "must return a pair of the solution and auxiliary values, got f32[3]",
    ),
    "not linear": (
        lambda: lax.custom_linear_solve(lambda x: x * x, B, KEEP, KEEP),
        "must be linear, got a function whose derivative depends on its argument",
    ),
    "no transpose": (
        lambda: olympus.grad(
            lambda b: jnp.sum(lax.custom_linear_solve(IDENTITY, b, KEEP))
        )(B),
        "needs a solve of the transposed problem, got none; pass transpose_solve",
    ),
}


@pytest.mark.parametrize("name", SOLVE_ERRORS)
def test_solve_errors(name):
    call, message = SOLVE_ERRORS[name]
    kind = ValueError if name.startswith("shape") else TypeError
    with pytest.raises(kind, match=re.escape(message)):
        call()


# -- roots -----------------------------------------------------------------------------


def newton(f, x):
    step = lambda x: x - f(x) / olympus.grad(f)(x)  # noqa: E731
    return lax.while_loop(lambda x: jnp.abs(f(x)) > 2e-6, step, x)


def divide(g, y):
    return y / g(1.0)


def square_root(a):
    return lax.custom_root(lambda x: x * x - a, 1.0, newton, divide)


def test_root_and_its_derivatives():
    close(square_root(2.0), 2**0.5)
    grad = olympus.grad(square_root)
    close(grad(2.0), 0.5 * 2**-0.5)
    close(olympus.jit(grad)(2.0), 0.5 * 2**-0.5)
    close(olympus.jvp(square_root, (2.0,), (3.0,))[1], 1.5 * 2**-0.5)
    checker.check_olympuspr(olympus.make_olympuspr(grad)(2.0))


@pytest.mark.slow
def test_higher_derivatives_of_a_root():
    second = olympus.grad(olympus.grad(square_root))
    close(second(2.0), -0.25 * 2**-1.5)
    close(olympus.jit(olympus.grad(second))(2.0), 0.375 * 2**-2.5)
    forward = olympus.jvp(olympus.grad(square_root), (2.0,), (1.0,))[1]
    close(forward, -0.25 * 2**-1.5)


def test_mapped_roots():
    a = np.array([1.0, 2.0, 5.0], np.float32)
    close(olympus.vmap(olympus.grad(square_root))(a), 0.5 * a**-0.5)
    total = lambda a: jnp.sum(olympus.vmap(square_root)(a))  # noqa: E731
    close(olympus.grad(total)(a), 0.5 * a**-0.5)


@pytest.mark.slow
def test_roots_in_roots():
    def outer(a):
        def f(x):
            inner = lambda y: y**3 - x * a  # noqa: E731
            return x * lax.custom_root(inner, 1.0, newton, divide) - 2.0

        return lax.custom_root(f, 1.0, newton, divide)

    def exact(a):
        return (2.0 / a ** (1 / 3)) ** 0.75

    step = 1e-4
    slope = (exact(1.5 + step) - exact(1.5 - step)) / (2 * step)
    close(outer(1.5), exact(1.5))
    close(olympus.grad(outer)(1.5), slope)
    bend = (exact(1.5 + step) - 2 * exact(1.5) + exact(1.5 - step)) / step**2
    close(olympus.grad(olympus.grad(outer))(1.5), bend)


def test_a_system_solved_by_a_linear_solve():
    """A fixed point of several unknowns in a tree, with gradients of what f sees."""

    def find(w, b):
        f = lambda x: {"v": x["v"] - jnp.tanh(w @ x["v"] + b)}  # noqa: E731

        def fixed_point(f, x):
            return lax.fori_loop(0, 60, lambda i, x: {"v": x["v"] - f(x)["v"]}, x)

        def linear(g, y):
            method = lambda m, b: iterate(lambda v: m(v), b)  # noqa: E731
            v = lax.custom_linear_solve(
                lambda v: g({"v": v})["v"], y["v"], method, method
            )
            return {"v": v}

        return lax.custom_root(f, {"v": jnp.zeros(3)}, fixed_point, linear)["v"]

    w = 0.1 * A
    x = np.asarray(find(w, B))
    np.testing.assert_allclose(x, np.tanh(w @ x + B), rtol=1e-5)
    got = olympus.grad(lambda b: jnp.sum(find(w, b) * V))(B)
    d = np.diag(1 - x**2)
    want = V @ np.linalg.solve(np.eye(3) - d @ w, d)
    close(got, want, rtol=1e-3)


def test_no_derivative_by_the_guess_and_by_more_results():
    f = lambda x0: lax.custom_root(  # noqa: E731
        lambda x: x - 3.0, x0, lambda f, x: (x - f(x), {"n": 3}), divide, has_aux=True
    )
    gradient, more = olympus.grad(f, has_aux=True)(1.0)
    assert (float(gradient), int(more["n"])) == (0.0, 3)


ROOT_ERRORS = {
    "f": (
        lambda: lax.custom_root(lambda x: [x], 1.0, newton, divide),
        "got a leaf at initial_guess and a list at the result",
    ),
    "solve": (
        lambda: lax.custom_root(IDENTITY, {"u": B}, lambda f, x: B, divide),
        "solve <lambda> at",
    ),
    "shape of f": (
        lambda: lax.custom_root(lambda x: x[:2], B, KEEP, divide),
        "at result got f32[2], expected f32[3]",
    ),
    "tangent_solve": (
        lambda: lax.custom_root(IDENTITY, 1.0, KEEP, lambda g, y: (y, y)),
        "tangent_solve <lambda> at",
    ),
    "argument of g": (
        lambda: lax.custom_root(IDENTITY, B, lambda f, x: x, divide),
        "the linear function for tangent_solve takes values with the structure and "
        "types of the root, got "
        "at argument got f32[], expected f32[3]",
    ),
    "an integer": (
        lambda: lax.custom_root(IDENTITY, {"n": 1}, lambda f, x: x, divide),
        "initial_guess['n'] must be of floats or complex numbers, got i32[]",
    ),
    "no function": (
        lambda: lax.custom_root(2.0, 1.0, newton, divide),
        "f must be a function, got 2.0",
    ),
}


@pytest.mark.parametrize("name", ROOT_ERRORS)
def test_root_errors(name):
    call, message = ROOT_ERRORS[name]
    kind = ValueError if name.startswith("shape") else TypeError
    with pytest.raises(kind, match=re.escape(message)):
        call()
