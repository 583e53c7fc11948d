"""Derivatives of divisions by a value that is repeated: what is less is divided."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import ir
from olympus.test_util import check_grads

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 5)).astype(np.float32)
Y = (RNG.uniform(0.5, 2, (6, 1)) * [[1], [-1], [1], [1], [-1], [1]]).astype(np.float32)
W = RNG.normal(size=(6, 5)).astype(np.float32)

QUOTIENTS = {
    "columns": (lambda x, y: x / y, X, Y),
    "rows": (lambda x, y: x / y, X, X[:1] + 3),
    "a vector": (lambda x, y: x / y, X, X[0] + 3),
    "a number": (lambda x, y: x / y, X, np.float32(1.7)),
    "both repeated": (lambda x, y: x[0] / y, X, Y),
    "one element": (lambda x, y: x / y, X, Y[:1]),
    "of rank 3": (lambda x, y: jnp.stack([x, x * x]) / y, X, Y),
    "jitted": (olympus.jit(lambda x, y: x / y), X, Y),
    "repeated before": (lambda x, y: x / jnp.broadcast_to(y, x.shape), X, Y),
    "mapped": (olympus.vmap(lambda x, y: x / y), X, Y),
    "mapped over the divisor's columns": (
        lambda x, y: olympus.vmap(lambda x: x / y[:, 0], 1, 1)(x),
        X,
        Y,
    ),
}


@pytest.mark.parametrize("case", QUOTIENTS)
def test_derivatives(case):
    f, x, y = QUOTIENTS[case]
    check_grads(lambda x, y: jnp.sin(f(x, y)), (x, y), order=2, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("is_jitted", [False, True])
def test_gradient_of_a_normalization(is_jitted):
    def f(x):
        return (x / jnp.abs(x).sum(1, keepdims=True) * W).sum()

    grad = olympus.jit(olympus.grad(f)) if is_jitted else olympus.grad(f)
    x = X.astype(np.float64)
    total = np.abs(x).sum(1, keepdims=True)
    by_total = -(W * x).sum(1, keepdims=True) / total**2
    expected = W / total + by_total * np.sign(x)
    np.testing.assert_allclose(grad(X), expected, rtol=2e-6, atol=2e-7)


def count_divisions(fun, *args):
    """Divisions in a derivative, by the number of elements."""
    todo, sizes = [olympus.make_olympuspr(fun)(*args).olympuspr], []
    while todo:
        program = todo.pop()
        todo += ir.inner_programs(program)
        divisions = [eqn for eqn in program.eqns if eqn.primitive is lax.div_p]
        sizes += [eqn.outvars[0].aval.size for eqn in divisions]
    return sorted(sizes)


def test_what_is_less_is_divided():
    grad = olympus.grad(lambda x, y: (x / y * W).sum(), 1)
    assert count_divisions(grad, X, Y) == [6, 30]  # the quotient itself is one
    assert count_divisions(grad, X, np.float32(2)) == [1, 30]
    both = olympus.grad(lambda x, y: (x / y * W).sum(), (0, 1))
    assert count_divisions(both, X, Y) == [6, 30, 30]


def test_equal_shapes_are_divided_as_they_are():
    grad = olympus.grad(lambda x, y: (x / y).sum(), 1)
    assert count_divisions(grad, X, W) == [30, 30]


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        ("float16", 1e-5),
        ("float16", 2e3),
        ("bfloat16", 1e-30),
        ("bfloat16", 1e30),
        ("float32", 1e-30),
        ("float32", 1e30),
        ("float64", 1e-200),
        ("float64", 1e200),
        ("complex64", 1e-15),
    ],
)
def test_numbers_near_the_ends_of_a_dtype(dtype, scale):
    with olympus.enable_x64(dtype == "float64"):
        values = [v.astype(np.float64) * scale for v in (X, Y, W)]
        x, y, w = [jnp.asarray(v, dtype) for v in values]
        _, pull = olympus.vjp(lambda y: x / y, y)
        # XLA multiplies by a reciprocal, which 16 bits may not hold.
        (ct,) = (pull if dtype == "float16" else olympus.jit(pull))(w)
        assert ct.dtype == y.dtype
        wide = np.complex128 if dtype == "complex64" else np.float64
        x, y, w = (np.asarray(v).astype(wide) for v in (x, y, w))
        expected = -(w / y * (x / y)).sum(1, keepdims=True)
        rtol = {"float16": 2e-2, "bfloat16": 5e-2}.get(dtype, 1e-5)
        got = np.asarray(ct).astype(wide)
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


def test_a_rule_that_a_user_writes_holds_here_too():
    rules = {field: getattr(lax.div_p, field) for field in ("jvp", "jvp_by_spread")}

    def own_jvp(primals, tangents):
        return lax.div(*primals), tangents[1]

    try:
        lax.div_p.set_rule("jvp", own_jvp)
        _, tangent = olympus.jvp(lambda y: X / y, (Y,), (Y,))
        np.testing.assert_array_equal(tangent, np.broadcast_to(Y, X.shape))
    finally:
        for field, rule in rules.items():
            lax.div_p.set_rule(field, rule)
    test_what_is_less_is_divided()


@pytest.mark.parametrize("differentiate", [olympus.grad, olympus.jacfwd])
def test_divisors_that_an_outer_derivative_follows(differentiate):
    def f(y):
        repeated = jnp.broadcast_to(y, X.shape)
        inner = differentiate(lambda x: (jnp.sin(x) / repeated * W).sum())
        return inner(jnp.asarray(X)).sum()

    expected = -(np.cos(X) * W).sum(1, keepdims=True) / Y**2
    np.testing.assert_allclose(olympus.grad(f)(Y), expected, rtol=1e-4, atol=1e-5)


def test_no_tangents_of_integers():
    out, tangent = olympus.jvp(
        lambda x: (x / jnp.array([[2], [4]]), jnp.array([[8], [9]]) // 2)[0],
        (jnp.ones((2, 3)),),
        (jnp.ones((2, 3)),),
    )
    np.testing.assert_array_equal(out, tangent)
