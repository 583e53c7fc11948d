"""Random bits that are kept before costly functions make samples of them."""

import functools
import math

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus._src.interpreters import fusion_limits
from olympus._src.runtime import build_options

KEY = random.key(3)


def barriers(f, *args):
    return olympus.jit(f).lower(*args).as_text().count("optimization_barrier")


# What the bits are drawn from is kept twice in every program.
OF_KEY = barriers(lambda key: random.bits(key, (2000,)), KEY)


@pytest.mark.parametrize(
    "draw", [random.normal, random.gumbel, random.laplace, random.exponential]
)
def test_bits_are_kept_once_before_costly_functions(draw):
    assert barriers(lambda key: draw(key, (2000,)), KEY) == OF_KEY + 1
    is_called = draw is random.gumbel and build_options.barriers_in_bodies
    few = 2 if is_called else 50
    assert barriers(lambda key: draw(key, (few,)), KEY) == OF_KEY


@pytest.mark.skipif(
    not build_options.barriers_in_bodies, reason="LLVM takes no time for calls"
)
def test_few_bits_are_kept_before_what_has_an_instruction_for_vectors():
    def count(f, n):
        return barriers(lambda key: f(random.uniform(key, (n,))), KEY) - OF_KEY

    for f in (jnp.log, jnp.exp, jnp.sin, jnp.sqrt, jnp.floor, lambda u: u**0.3):
        assert count(f, 10) == 1
        assert count(f, 2) == 0
    for f in (jnp.log1p, jnp.tanh):
        assert [count(f, n) for n in (10, 50, 64)] == [0, 0, 1]
    relu = functools.partial(jnp.maximum, 0.5)
    assert [count(relu, n) for n in (2, 10, 5000)] == [0, 1, 0]
    for f in (jnp.square, lambda u: u < 0.3, lambda u: 1 / (1 - u)):
        assert count(f, 10) == 0


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn"])
def test_the_bound_of_uniform_numbers_has_the_bits_of_a_maximum(dtype):
    """Of bounds in each order, with zeros of both signs, infinities and NaN."""
    ends = [0.0, -0.0, 1.0, -2.0, 3.0, 1e-7, np.inf, -np.inf, np.nan]
    low, high = np.meshgrid(np.array(ends), np.array(ends))

    def draw(key, low, high):
        return random.uniform(key, (40, *low.shape), dtype, low, high)

    low, high = (jnp.asarray(x, dtype) for x in (low, high))
    whole = olympus.jit(draw)(KEY, low, high)
    with olympus.disable_jit():  # operation by operation
        unit = random.uniform(KEY, (40, *low.shape), dtype)
    scaled = np.asarray(unit * (high - low) + low)
    expected = np.asarray(jnp.maximum(low, scaled))
    np.testing.assert_array_equal(np.isnan(whole), np.isnan(expected))
    is_zero = (expected == 0) & (np.asarray(whole) == 0)
    np.testing.assert_array_equal(
        np.signbit(np.asarray(whole)[is_zero]), np.signbit(expected[is_zero])
    )
    np.testing.assert_allclose(
        np.asarray(whole, "float64"), np.asarray(expected, "float64"), rtol=0.07
    )
    if build_options.barriers_in_bodies and not dtype.startswith("float8"):
        text = olympus.jit(draw).lower(KEY, low, high).as_text()
        assert "stablehlo.maximum" not in text


def test_other_maxima_beside_ciphers_stay():
    def f(key, low):
        u = random.uniform(key, (20,))
        return jnp.maximum(low, u), jnp.maximum(low, u + 1.0), jnp.maximum(low, low)

    text = olympus.jit(f).lower(KEY, jnp.ones(20)).as_text()
    assert text.count("stablehlo.maximum") == (
        3 if build_options.barriers_in_bodies else 4
    )


@pytest.mark.parametrize("draw", [random.uniform, random.bits])
def test_what_is_cheap_stays_one_loop(draw):
    for shape in ((2000,), (1000, 3)):
        assert barriers(lambda key, s=shape: draw(key, s), KEY) == OF_KEY


def test_comparisons_stay_one_loop():
    assert barriers(lambda key: random.bernoulli(key, 0.3, (2000,)), KEY) == OF_KEY


def test_short_axes_become_one_row():
    text = olympus.jit(lambda key: random.normal(key, (500, 4))).lower(KEY).as_text()
    assert text.count("optimization_barrier") == OF_KEY + 2
    last = text[text.rindex("optimization_barrier") :]
    assert "(tensor<2000xf32>) -> tensor<500x4xf32>" in last
    wide = olympus.jit(lambda key: random.normal(key, (20, 100))).lower(KEY).as_text()
    assert wide.count("optimization_barrier") == OF_KEY + 1


@pytest.mark.parametrize("shape", [(500, 4), (1200, 1), (11, 13, 7), (0, 3), (40, 31)])
@pytest.mark.parametrize(
    "draw", [random.normal, random.laplace, random.logistic, random.cauchy]
)
def test_values_are_those_of_a_row(draw, shape):
    row = draw(KEY, (math.prod(shape),))
    np.testing.assert_allclose(draw(KEY, shape), row.reshape(shape), rtol=2e-6)


def test_values_are_those_of_the_inverse():
    u = random.uniform(KEY, (700, 3), minval=np.nextafter(np.float32(-1), 0.0))
    expected = np.float32(math.sqrt(2)) * np.asarray(lax.erf_inv(u))
    np.testing.assert_allclose(random.normal(KEY, (700, 3)), expected, rtol=2e-6)


def test_what_is_read_beside_has_its_shape():
    def f(key, scale):
        u = random.uniform(key, (400, 5))
        x = -jnp.log(u) * scale
        return u, x, (x * jnp.arange(5.0)).sum(), u.T, x[:, 1]

    u, x, total, turned, column = olympus.jit(f)(KEY, 2.0)
    assert u.shape == x.shape == (400, 5)
    np.testing.assert_allclose(u, random.uniform(KEY, (400, 5)), rtol=1e-6)
    np.testing.assert_allclose(x, -2 * np.log(np.asarray(u)), rtol=1e-5)
    np.testing.assert_allclose(total, (np.asarray(x) * np.arange(5)).sum(), rtol=1e-5)
    np.testing.assert_array_equal(turned, np.asarray(u).T)
    np.testing.assert_array_equal(column, np.asarray(x)[:, 1])


def test_other_arrays_end_the_row():
    def f(key, x):
        return jnp.log(random.uniform(key, (400, 5)) + x) * x

    x = jnp.ones((400, 5))
    expected = np.log(np.asarray(random.uniform(KEY, (400, 5))) + 1)
    np.testing.assert_allclose(olympus.jit(f)(KEY, x), expected, rtol=1e-5, atol=1e-6)


def test_mapped_keys_and_gradients():
    keys = random.split(KEY, 3)
    mapped = olympus.vmap(lambda key: random.normal(key, (300, 4)))(keys)
    for key, row in zip(keys, mapped, strict=True):
        np.testing.assert_allclose(row, random.normal(key, (300, 4)), rtol=2e-6)

    def loss(scale):
        return (scale * random.normal(KEY, (600, 2))).sum()

    expected = np.asarray(random.normal(KEY, (600, 2))).sum()
    np.testing.assert_allclose(olympus.grad(loss)(2.0), expected, rtol=1e-4)


def test_calls_and_loops():
    draw = olympus.jit(lambda key: random.normal(key, (400, 3)))
    np.testing.assert_array_equal(olympus.jit(lambda key: draw(key))(KEY), draw(KEY))

    def step(total, key):
        return total + random.normal(key, (400, 3)), None

    keys = random.split(KEY, 2)
    total, _ = olympus.jit(lambda keys: lax.scan(step, jnp.zeros((400, 3)), keys))(keys)
    expected = sum(np.asarray(random.normal(key, (400, 3))) for key in keys)
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-6)


def test_bodies_are_limited_where_they_may_hold_barriers():
    def f(keys):
        return lax.scan(lambda c, key: (c, random.normal(key, (2000,))), 0, keys)

    n = barriers(f, random.split(KEY, 2))
    plain = barriers(
        lambda keys: lax.scan(lambda c, key: (c, random.bits(key, (2000,))), 0, keys),
        random.split(KEY, 2),
    )
    assert n == plain + build_options.barriers_in_bodies


@pytest.mark.skipif(
    not build_options.barriers_in_bodies, reason="bodies hold no barriers"
)
def test_fewer_bits_are_kept_in_bodies():
    def count(n):
        def step(total, key):
            return total + random.normal(key, (n,)), None

        def f(keys):
            return lax.scan(step, jnp.zeros(n), keys)[0]

        return barriers(f, random.split(KEY, 3))

    assert count(16) == count(15) + 1


def test_other_platforms_are_left_alone():
    olympuspr = olympus.make_olympuspr(lambda key: random.normal(key, (500, 4)))(KEY)
    assert fusion_limits.limit(olympuspr.jaxpr, "cuda") is olympuspr.jaxpr


def test_bodies_call_what_barriers_would_keep_elsewhere():
    def f(keys):
        def step(total, key):
            return total + random.normal(key, (40, 3)), None

        return lax.scan(step, jnp.zeros((40, 3)), keys)[0]

    keys = random.split(KEY, 3)
    text = olympus.jit(f).lower(keys).as_text()
    by_calls = 0 if build_options.barriers_in_bodies else 2
    assert text.count('inlineable = "false"') == by_calls
    expected = sum(np.asarray(random.normal(key, (40, 3))) for key in keys)
    np.testing.assert_allclose(f(keys), expected, rtol=1e-5, atol=1e-6)


def test_costly_functions_beside_the_bits():
    def f(key, x):
        return random.uniform(key, (2000,)) < lax.logistic(x)

    x = jnp.linspace(-3, 3, 2000)
    assert barriers(f, KEY, x) == OF_KEY + 1
    u = np.asarray(random.uniform(KEY, (2000,)))
    expected = u < 1 / (1 + np.exp(-np.asarray(x)))
    assert (np.asarray(olympus.jit(f)(KEY, x)) != expected).mean() < 2e-3


def test_divided_programs_keep_their_axes():
    olympuspr = olympus.make_olympuspr(lambda key: random.normal(key, (500, 4)))(KEY)
    divided = fusion_limits.limit(olympuspr.jaxpr, "cpu", is_divided=True)
    assert divided is olympuspr.jaxpr
    mesh = olympus.make_mesh((1,), ("x",))
    place = olympus.NamedSharding(mesh, olympus.P("x"))
    draw = olympus.jit(lambda key: random.normal(key, (500, 4)), out_shardings=place)
    text = draw.lower(KEY).as_text()
    assert text.count("optimization_barrier") == OF_KEY
    np.testing.assert_allclose(draw(KEY), random.normal(KEY, (500, 4)), rtol=2e-6)
