"""Filled arrays: what NumPy's values give, and what is refused."""

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

NARROW = ["int8", "uint8", "int32", "uint32"]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("number", [1e10, -1e10, -2.7, np.inf, -np.inf, np.nan])
def test_floats_in_integer_dtypes_become_the_nearest(number, dtype):
    expected = jnp.array([number]).astype(dtype)
    made = {
        "full": jnp.full(1, number, dtype),
        "full_like": jnp.full_like(expected, number),
        "linspace": jnp.linspace(number, 0.0, 2, dtype=dtype)[:1],
    }
    if np.isfinite(number):
        floor = jnp.array([np.floor(number)]).astype(dtype)
        assert made.pop("linspace").tolist() == floor.tolist()
    with pytest.warns(FutureWarning, match="cannot safely cast"):
        made["set of a number"] = jnp.zeros_like(expected).at[0].set(number)
    for how, out in made.items():
        assert out.tolist() == expected.tolist(), how


def test_floats_in_integers_of_four_bits_become_the_nearest():
    assert jnp.full(2, -1e10, "int4").tolist() == [-8, -8]
    assert jnp.linspace(0, 300, 4, dtype="int4").tolist() == [0, 7, 7, 7]


def test_linspace_of_unsigned_integers_below_zero():
    out = jnp.linspace(-5, 5, 4, dtype="uint8")
    assert out.tolist() == [0, 0, 1, 5]


@pytest.mark.parametrize("ends", [(np.inf, 0.0), (0.0, np.inf), (-np.inf, -np.inf)])
@pytest.mark.parametrize("num", [0, 1, 2, 4])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_of_infinite_ends_is_as_in_jit(ends, num, endpoint):
    def spread(*ends):
        return jnp.linspace(*ends, num, endpoint)

    np.testing.assert_array_equal(spread(*ends), olympus.jit(spread)(*ends))
    rows = [np.float32([end, 1.0]) for end in ends]
    np.testing.assert_array_equal(spread(*rows), olympus.jit(spread)(*rows))


def test_ranges_of_fractions_in_integers_have_a_whole_start_and_step():
    assert jnp.arange(0.9, 4, 1.5, dtype=int).tolist() == [0, 1, 2]
    assert jnp.arange(0.5, 3, 0.5, dtype=int).tolist() == [0, 0, 0, 0, 0]
    assert jnp.arange(-1.5, 2, dtype="uint8").tolist() == [0, 1, 2, 3]
    assert jnp.arange(0, 1500, 300.0, dtype="int8").tolist() == [0, 127, -2, 125, -4]


def test_ranges_of_complex_numbers_are_refused():
    with pytest.raises(ValueError, match="arguments must be real, got 1j, 3"):
        jnp.arange(1j, 3)


@pytest.mark.parametrize(
    "fill",
    [
        lambda v: jnp.full(2, v),
        lambda v: jnp.full_like(v[:2], v),
        olympus.jit(lambda v: jnp.full((2,), v)),
        lambda v: jnp.full((), v),
    ],
)
@pytest.mark.parametrize("make", [np.arange, jnp.arange])
def test_fill_values_that_do_not_broadcast_are_errors_of_values(fill, make):
    with pytest.raises(ValueError, match="fill_value must broadcast to shape"):
        fill(make(3))


@pytest.mark.parametrize(
    "value", [np.ones(2), np.float64(1), np.ones((1,), np.int8), np.array(1)]
)
def test_filling_with_numpy_values_gives_an_array(value):
    filled = jnp.full(2, value)
    assert isinstance(filled, olympus.Array)
    np.testing.assert_array_equal(filled, [1, 1])


def test_filling_takes_wide_numpy_integers_into_floats():
    np.testing.assert_array_equal(
        jnp.full(2, np.int64(2**40), "float32"), np.float32([2**40] * 2)
    )


def test_linspace_refuses_masked_arrays():
    with pytest.raises(ValueError, match="masked arrays are not supported"):
        jnp.linspace(0, np.ma.array([1.0, 2.0], mask=[0, 1]), 2)


@pytest.mark.parametrize("pred", [2**40, np.int64(2**40), 1e-50, np.float64(1e-50)])
def test_cond_asks_numbers_before_they_are_made_narrow(pred):
    assert lax.cond(pred, lambda: 1, lambda: 2) == 1


def test_wide_integers_become_floats_before_they_are_cut():
    x = lax.convert_element_type(np.int64(2**40), "float32")
    assert isinstance(x, olympus.Array)
    assert x == np.float32(2**40)


@pytest.mark.parametrize("num", [0, 1, 2, 7])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize(
    "ends",
    [
        (jnp.float32(1.5), 4),
        (2, jnp.float32(-3)),
        (jnp.arange(3.0), jnp.ones((2, 1))),
        (jnp.int32(1), jnp.int32(9)),
        (jnp.bfloat16(1), 2.0),
        (jnp.complex64(1j), 2),
    ],
)
def test_linspace_of_arrays_is_as_in_jit(ends, num, endpoint):
    def spread(*ends, dtype=None):
        return jnp.linspace(*ends, num, endpoint, retstep=True, dtype=dtype)

    is_real = jnp.result_type(*ends) != "complex64"
    for dtype in (None, "float16", "int32") if is_real else (None,):
        outs = spread(*ends, dtype=dtype)
        expected = olympus.jit(functools.partial(spread, dtype=dtype))(*ends)
        for out, value in zip(outs, expected, strict=True):
            assert out.dtype == value.dtype
            wide = (np.asarray(x).astype("complex64") for x in (out, value))
            np.testing.assert_allclose(*wide, rtol=1e-3 if dtype else 1e-6)
        wide = [np.asarray(x, np.complex64).astype(np.complex128) for x in ends]
        exact = np.linspace(*wide, num, endpoint)
        if dtype is None:
            np.testing.assert_allclose(outs[0].astype("complex64"), exact, rtol=2e-2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: jnp.zeros((2, 0), olympus.float0),
        lambda: jnp.ones((2, 0), olympus.float0),
        lambda: jnp.empty((2, 0), dtype=olympus.float0),
        lambda: jnp.full((2, 0), 0, olympus.float0),
        lambda: jnp.zeros_like(np.zeros((2, 0), olympus.float0)),
        lambda: jnp.zeros_like(jnp.ones((2, 0)), dtype=olympus.float0),
        lambda: jnp.asarray(np.zeros((2, 0), olympus.float0)),
        lambda: jnp.ones((2, 0)).astype(olympus.float0),
        lambda: olympus.jit(lambda: jnp.zeros((2, 0), olympus.float0))(),
        lambda: olympus.jit(lambda: jnp.full((2, 0), 0, olympus.float0))(),
    ],
)
def test_tangents_of_integers_are_made_as_other_arrays(make):
    out = make()
    assert isinstance(out, np.ndarray)
    assert (out.shape, out.dtype) == ((2, 0), olympus.float0)


def test_tangents_of_integers_in_custom_rules():
    @olympus.custom_vjp
    def f(x):
        return x

    f.defvjp(
        lambda x: (x, None),
        lambda _, g: ((2.0, jnp.zeros((), olympus.float0)),),
    )

    def loop(x, i):
        return lax.scan(lambda c, _: (f(c), None), (x, i), None, length=2)[0][0]

    tangents = olympus.grad(loop, argnums=(0, 1), allow_int=True)(2.0, 3)
    assert tangents[0] == 2
    assert tangents[1].dtype == olympus.float0


@pytest.mark.parametrize(("low", "high"), [(0, 100), (-1, 4), (-5, 5), (7, -30)])
@pytest.mark.parametrize("num", [2, 3, 11, 50, 101])
def test_linspace_of_traced_integers_is_rounded_once(low, high, num):
    spread = olympus.jit(lambda *ends: jnp.linspace(*ends, num))
    expected = np.linspace(low, high, num).astype("float32")
    np.testing.assert_array_equal(spread(np.float32(low), np.float32(high)), expected)
    values = spread(low + 1j * high, np.complex64(high))
    np.testing.assert_array_equal(values.real, expected)
    np.testing.assert_array_equal(
        spread(jnp.bfloat16(low), jnp.bfloat16(high)), expected.astype("bfloat16")
    )


@pytest.mark.parametrize(("low", "high"), [(0, np.inf), (-np.inf, np.inf), (np.nan, 1)])
def test_linspace_of_traced_ends_begins_and_ends_with_them(low, high):
    values = olympus.jit(lambda *ends: jnp.linspace(*ends, 4))(low, high)
    np.testing.assert_array_equal(values[jnp.array([0, -1])], np.float32([low, high]))


@pytest.mark.slow
def test_linspace_of_the_largest_floats_is_finite():
    largest = np.finfo(np.float32).max
    for num in range(2, 60):
        values = olympus.jit(lambda *ends, n=num: jnp.linspace(*ends, n))(
            largest, np.float32(1)
        )
        assert np.isfinite(values).all(), num
        assert (np.diff(np.asarray(values)) < 0).all(), num
    values = olympus.jit(lambda x: jnp.linspace(-x, x, 5))(largest)
    assert np.isfinite(values).all()


def test_histogram_counts_values_at_edges_of_round_numbers_above():
    values = np.float32([-1, -0.5, 0, 0.5, 0.5, 0.5, 1, 4])
    counts, edges = jnp.histogram(jnp.asarray(values))
    np.testing.assert_array_equal(edges, np.linspace(-1, 4, 11))
    np.testing.assert_array_equal(counts, np.histogram(values)[0])
