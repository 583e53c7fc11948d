"""jet: higher derivatives against nested forward mode and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import jet as page
from olympus.experimental.jet import fact, jet, jet2, zero_series, zero_term
from olympus.extend import core
from tests.lax import samples

pytestmark = [pytest.mark.sampled(6), pytest.mark.usefixtures("x64")]


def nested(f, columns):
    """Derivatives of f along curves given by their derivatives at 0, by nested jvp."""
    order = len(columns[0]) - 1

    def along(t):
        return f(
            *(
                sum(np.asarray(d) * t**k / math.factorial(k) for k, d in enumerate(c))
                for c in columns
            )
        )

    def all_orders(t):
        functions = [along]
        for _ in range(order):
            last = functions[-1]
            functions.append(lambda t, last=last: olympus.jvp(last, (t,), (1.0,))[1])
        return [g(t) for g in functions]

    return olympus.jit(all_orders)(0.0)


def check(f, *columns, rtol=1e-8):
    """Compares jet of f, jitted, with nested forward mode."""
    columns = [[np.asarray(d, float) for d in c] for c in columns]
    primals = tuple(c[0] for c in columns)
    series = tuple(tuple(c[1:]) for c in columns)
    value, terms = olympus.jit(lambda p, s: jet(f, p, s))(primals, series)
    wanted = nested(f, columns)
    structure = olympus.tree.structure(value)
    found = [value] + [
        structure.unflatten([c[k] for c in structure.flatten_up_to(terms)])
        for k in range(len(columns[0]) - 1)
    ]
    for a, b in zip(found, wanted, strict=True):
        for x, y in zip(olympus.tree.leaves(a), olympus.tree.leaves(b), strict=True):
            np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-10)


CURVE = [0.3, 1.1, -0.7, 0.4]
VECTOR = [[0.3, 0.6, -0.2], [1.0, -2.0, 0.5], [0.2, 0.1, -0.4], [0.0, 1.0, 3.0]]
_RNG = np.random.RandomState(0)
MATRIX = list(_RNG.normal(size=(4, 3, 3)))


def test_a_few_functions():
    def f(x, y):
        return jnp.sin(x) * y + jnp.exp(x) / y, jnp.where(x > y, x, jnp.sqrt(y))

    check(f, CURVE[:3], [0.8, -0.3, 0.5])


def _firsts():
    """One sample of each primitive that has a smooth derivative."""
    found = {}
    for s in samples.SAMPLES:
        moving = any(a.dtype.kind in "fc" and a.dtype.itemsize > 2 for a in s.args)
        if s.smooth and moving and s.p.jvp is not None:
            found.setdefault(s.p.name, s)
    return [pytest.param(s, id=name) for name, s in found.items()]


@pytest.mark.slow
@pytest.mark.parametrize("sample", _firsts())
def test_every_primitive(sample):
    """The second derivative along a random curve, in single precision."""
    rng = np.random.RandomState(0)
    moves = [a.dtype.kind in "fc" and a.dtype.itemsize > 2 for a in sample.args]
    terms = [
        [rng.uniform(-1, 1, a.shape).astype(a.dtype) for _ in range(2)] if m else None
        for a, m in zip(sample.args, moves, strict=True)
    ]

    def f(*args):
        return sample.p.bind(*args, **sample.params)

    def along(t):
        return f(
            *[
                a if d is None else a + t.astype(a.dtype) * (d[0] + t / 2 * d[1])
                for a, d in zip(map(jnp.asarray, sample.args), terms, strict=True)
            ]
        )

    def slope(g):
        return lambda t: olympus.jvp(g, (t,), (jnp.ones_like(t),))[1]

    def both():
        series = [zero_series if d is None else d for d in terms]
        zero = jnp.zeros((), np.float32)
        return (
            jet(f, sample.args, series)[1],
            slope(along)(zero),
            slope(slope(along))(zero),
        )

    with olympus.enable_x64(False):
        found, first, second = olympus.jit(both)()
    if not sample.p.multiple_results:
        found, first, second = [found], [first], [second]
    for (a, b), *wanted in zip(found, first, second, strict=True):
        for x, y in zip((a, b), wanted, strict=True):
            if y.dtype != olympus.float0:
                size = np.abs(np.asarray(y)).max(initial=1.0)
                np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-3 * size)


@pytest.mark.slow
def test_functions_of_two():
    def f(x, y):
        return (
            x * y,
            (x + y) / (x - 2 * y),
            jnp.arctan2(x, y),
            x**y,
            jnp.maximum(x, y) - jnp.minimum(x, y),
            lax.rem(y, x),
            jnp.logaddexp(x, y),
            jnp.where(x > y, x, y * x),
            lax.clamp(0.1, x, 0.2),
        )

    check(f, CURVE, [0.8, -0.3, 0.5, 1.0])


@pytest.mark.slow
def test_powers_and_special_functions():
    def f(x):
        return x**2.5, 2.0**x, x**x, x**3, x**-2, lax.igamma(2.0, x)

    check(f, CURVE)


@pytest.mark.slow
def test_operations_on_shapes_and_reductions():
    def f(x):
        y = jnp.stack([x, x * x])
        return (
            y.reshape(3, 2).T,
            y[:, ::-1].sum(axis=1),
            y.max(axis=0),
            y.at[0, 1].set(x[0]).at[1].add(x),
            y[jnp.array([0, 1, 1]), jnp.array([2, 0, 0])],
            lax.dynamic_slice(y, (0, 1), (2, 2)),
            jnp.cumsum(y, axis=1),
            jnp.sort(x),
            jnp.pad(x, 1),
        )

    check(f, VECTOR)


@pytest.mark.slow
def test_products_and_cumulative_operations():
    check(lambda x: (jnp.prod(x), jnp.cumprod(x), lax.cummax(x)), VECTOR)


@pytest.mark.slow
def test_products_of_matrices_and_convolution():
    def f(a, x):
        image = a.reshape(1, 1, 3, 3)
        return a @ x, a @ a.T, lax.conv(image, image[..., :2, :2], (1, 1), "SAME")

    check(f, MATRIX, VECTOR)


@pytest.mark.slow
def test_factorisations_have_no_rule_of_their_own_and_need_none():
    def f(a):
        spd = a @ a.T + 3 * jnp.eye(3)
        return lax.linalg.cholesky(spd)

    check(f, MATRIX)


@pytest.mark.slow
def test_complex_numbers():
    def f(x):
        z = lax.exp(lax.complex(x, x * x))
        return z.real, z.imag, jnp.abs(z)

    check(f, CURVE)


# -- control flow ----------------------------------------------------------------------


@pytest.mark.slow
def test_loops_branches_and_calls():
    def f(x):
        weights = jnp.arange(1.0, 4.0)

        def step(carry, w):
            total, n = carry
            return (jnp.sin(total) * w + x, n + 1), (total, total * n)

        scanned = lax.scan(step, (x, 0), weights)
        looped = lax.while_loop(
            lambda c: c[1] < 3, lambda c: (c[0] * x, c[1] + 1), (x, 0)
        )
        chosen = lax.cond(x > 0, lambda y: jnp.sin(y) * 2, lambda y: y * 0 + 1.0, x)
        called = olympus.jit(lambda y: jnp.exp(y) / y)(x)
        again = olympus.checkpoint(lambda y: jnp.tanh(y) * y)(x)
        (scanned, _), ys = scanned
        return scanned, ys, looped[0], chosen, called, again

    check(f, CURVE[:3])


def test_custom_rules_are_followed():
    @olympus.custom_jvp
    def double(x):
        return x * 2

    @double.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return double(x), 5.0 * x * t  # no derivative of 2 x, so that it shows

    _, (d1, d2) = jet(double, (3.0,), ((1.0, 0.0),))
    assert (float(d1), float(d2)) == (15.0, 5.0)


def test_functions_with_a_rule_for_cotangents_go_by_what_they_compute():
    @olympus.custom_vjp
    def cube(x):
        return x**3

    cube.defvjp(lambda x: (cube(x), x), lambda x, ct: (ct,))
    for f in (cube, olympus.jit(cube)):
        _, (d1, d2) = jet(f, (2.0,), ((1.0, 0.0),))
        assert (float(d1), float(d2)) == (12.0, 12.0)


def test_rules_of_operations_that_others_define():
    def define(name, f):
        p = core.Primitive(name)
        p.def_impl(f)
        p.def_abstract_eval(lambda *avals: avals[0])
        return p

    line = ((1.0, 0.0, 0.0),)
    sine_p = define("jet_test_sine", jnp.sin)
    with pytest.raises(NotImplementedError, match="jet_test_sine"):
        jet(sine_p.bind, (0.3,), line)
    page.def_deriv(sine_p, jnp.cos)
    np.testing.assert_allclose(
        jet(sine_p.bind, (0.3,), line)[1], jet(jnp.sin, (0.3,), line)[1]
    )
    page.def_comp(sine_p, jnp.sin)
    np.testing.assert_allclose(
        jet(sine_p.bind, (0.3,), line)[1], jet(jnp.sin, (0.3,), line)[1]
    )
    page.defzero(sine_p)
    np.testing.assert_array_equal(jet(sine_p.bind, (0.3,), line)[1], [0, 0, 0])
    minus_p = define("jet_test_minus", lambda x, y: x - y)
    page.deflinear(minus_p)
    _, terms = jet(lambda x: minus_p.bind(x * x, x), (0.3,), line)
    np.testing.assert_allclose(terms, [-0.4, 2.0, 0.0], atol=1e-15)
    assert sine_p in page.jet_rules
    del page.jet_rules[sine_p]
    assert sine_p not in page.jet_rules
    # Recorded from jax 0.10.2.
    value, terms = page.jet_rules[lax.exp_p]((0.5,), ([1.0, 2.0],))
    np.testing.assert_allclose([value, *terms], [1.6487212, 1.6487212, 4.1218033])


# -- closed forms ----------------------------------------------------------------------


@pytest.mark.slow
def test_high_orders_against_closed_forms():
    n = 12
    line = (1.0,) + (0.0,) * (n - 1)

    def f(x):
        return jnp.exp(x), 1 / (1 - x), jnp.sin(x), -jnp.log1p(-x), jnp.sqrt(1 + x)

    value, terms = olympus.jit(lambda x: jet(f, (x,), (line,), factorial_scaled=False))(
        0.0
    )
    k = np.arange(1, n + 1)
    factorials = np.array([math.factorial(i) for i in k], float)
    sines = np.array([0, 1, 0, -1])[k % 4] / factorials
    roots = np.cumprod((1.5 - k) / k)
    wanted = (1 / factorials, np.ones(n), sines, 1 / k, roots)
    assert [float(x) for x in value] == [1.0, 1.0, 0.0, 0.0, 1.0]
    for found, want in zip(terms, wanted, strict=True):
        np.testing.assert_allclose(np.array(found), want, rtol=1e-12, atol=1e-18)


def test_scaling_by_factorials():
    _, derivatives = jet(jnp.exp, (0.0,), ((1.0, 0.0, 0.0),))
    _, coefficients = jet2(jnp.exp, (0.0,), ((1.0, 0.0, 0.0),))
    np.testing.assert_allclose(derivatives, [1, 1, 1])
    np.testing.assert_allclose(coefficients, [1, 1 / 2, 1 / 6])
    np.testing.assert_allclose(fact(np.arange(6)), [1, 1, 2, 6, 24, 120])


def test_faa_di_bruno():
    """The example of JAX's documentation: sin(z^3) at z = 0.5."""
    h = (0.5**3, 3 * 0.5**2, 6 * 0.5)
    value, (d1, d2) = jet(jnp.sin, (h[0],), (h[1:],))
    np.testing.assert_allclose(value, np.sin(h[0]))
    np.testing.assert_allclose(d1, np.cos(h[0]) * h[1])
    np.testing.assert_allclose(d2, np.cos(h[0]) * h[2] - np.sin(h[0]) * h[1] ** 2)


# -- transformations and what goes in --------------------------------------------------


def test_under_other_transformations():
    def second(x):
        return jet(lambda x: jnp.sin(x) * x, (x,), ((1.0, zero_term),))[1][1]

    x = np.array([0.3, 0.7])
    wanted = [float(second(v)) for v in x]
    np.testing.assert_allclose(olympus.vmap(second)(x), wanted)
    np.testing.assert_allclose(olympus.jit(olympus.vmap(second))(x), wanted)
    third = 0.3 * -np.cos(0.3) - 3 * np.sin(0.3)
    np.testing.assert_allclose(olympus.grad(second)(0.3), third)
    inner = olympus.grad(lambda x: jnp.sin(x) * x)
    np.testing.assert_allclose(jet(inner, (0.3,), ((1.0, 0.0),))[1][1], third)


def test_arguments_that_do_not_move():
    value, terms = jet(lambda x, n: x**n, (2.0, 3), ((1.0, 0.0), zero_series))
    assert float(value) == 8.0
    np.testing.assert_allclose(terms, [12.0, 12.0])
    value, terms = jet(lambda x: {"a": x > 1, "b": 3.0}, (2.0,), ((1.0,),))
    assert bool(value["a"])
    assert float(terms["b"][0]) == 0.0
    assert jet(jnp.sin, (0.0,), ((),)) == (0.0, [])
    _, (moved,) = jet(jnp.sin, (1,), ((1,),))
    np.testing.assert_allclose(moved, np.cos(1.0))


@pytest.mark.parametrize(
    ("primals", "series", "kind"),
    [
        (0.5, ((1.0,),), TypeError),
        ((0.5,), (1.0,), TypeError),
        ((0.5,), ((1.0,), (1.0,)), TypeError),
        ((0.5, 1.0), ((1.0,), (1.0, 2.0)), ValueError),
        (({"a": 0.5},), ((1.0,),), ValueError),
        ((np.ones(2),), ((np.ones(3),),), ValueError),
        ((0.5,), (("a",),), TypeError),
    ],
)
def test_what_is_refused(primals, series, kind):
    with pytest.raises(kind, match="jet"):
        jet(lambda *args: args[0], primals, series)


@pytest.mark.slow
def test_the_work_grows_slowly_with_the_order():
    def size(f, order):
        line = (1.0,) + (0.0,) * (order - 1)
        return len(olympus.make_olympuspr(lambda x: jet(f, (x,), (line,)))(0.3).eqns)

    # Nested forward mode would multiply by about 2**8.
    for f in (jnp.sin, jnp.tanh, lambda x: jnp.exp(x) / (1 + x * x)):
        assert size(f, 16) < 16 * size(f, 8)
