"""Elementwise functions against NumPy, over dtypes and shapes that broadcast."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

_RNG = np.random.default_rng(7)
_SHAPES = [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 3), (3,))]

BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "hypot",
    "arctan2",
    "copysign",
    "heaviside",
    "logaddexp",
    "logaddexp2",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "nextafter",
]
INTEGER = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "gcd",
    "lcm",
    "add",
    "multiply",
    "remainder",
]
UNARY = [
    "exp",
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "cbrt",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "sign",
    "signbit",
    "square",
    "absolute",
    "fabs",
    "negative",
    "positive",
    "isnan",
    "isinf",
    "isfinite",
    "deg2rad",
    "rad2deg",
    "sinc",
    "conjugate",
    "real",
    "imag",
    "angle",
]
POSITIVE = ["log", "log2", "log10", "log1p", "sqrt", "reciprocal"]


def _close(found, wanted):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert np.asarray(found).dtype.kind == wanted.dtype.kind
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("shapes", _SHAPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary_floats(name, shapes):
    x, y = (_RNG.normal(size=s).astype(np.float32) for s in shapes)
    _close(getattr(jnp, name)(x, y), getattr(np, name)(x, y))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int16"])
@pytest.mark.parametrize("name", INTEGER)
def test_binary_integers(name, dtype):
    x = _RNG.integers(0, 90, (3, 4)).astype(dtype)
    y = _RNG.integers(1, 90, (4,)).astype(dtype)
    found = getattr(jnp, name)(x, y)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, getattr(np, name)(x, y))


def test_ufuncs_say_how_they_are_called():
    assert list(inspect.signature(jnp.add).parameters) == ["args", "out", "where"]
    x = jnp.ones(3)
    with pytest.raises(NotImplementedError, match="`out` must be None"):
        jnp.add(x, x, out=x)
    with pytest.raises(NotImplementedError, match=r"numpy\.where"):
        jnp.add(x, x, where=x > 0)
    with pytest.raises(TypeError, match="takes 2 positional arguments but 3"):
        jnp.add(x, x, None)


@pytest.mark.parametrize("name", UNARY)
def test_unary_floats(name):
    x = _RNG.normal(size=(3, 4)).astype(np.float32)
    _close(getattr(jnp, name)(x), getattr(np, name)(x))


@pytest.mark.parametrize("name", POSITIVE)
def test_unary_of_positive_floats(name):
    x = _RNG.uniform(0.1, 9, (3, 4)).astype(np.float32)
    _close(getattr(jnp, name)(x), getattr(np, name)(x))


@pytest.mark.parametrize("name", [*POSITIVE, "exp", "sin", "tanh", "sinc"])
@pytest.mark.parametrize("x", [True, np.int8(1), 1, np.uint32(1)], ids=repr)
def test_functions_of_reals_make_floats_of_integers(name, x):
    assert getattr(jnp, name)(x).dtype == np.float32


def test_division_of_integers_rounds_down_and_remainders_follow_the_divisor():
    x = np.array([7, -7, 7, -7], np.int32)
    y = np.array([2, 2, -2, -2], np.int32)
    np.testing.assert_array_equal(jnp.floor_divide(x, y), x // y)
    np.testing.assert_array_equal(jnp.remainder(x, y), x % y)
    quotient, rest = divmod(jnp.asarray(x), y)
    np.testing.assert_array_equal(quotient * y + rest, x)


def test_quotients_and_remainders_of_floats():
    x = np.array([7.5, -7.5, 7.5, -7.5, 6.0, -0.5], np.float32)
    y = np.array([2.0, 2.0, -2.0, -2.0, 3.0, 4.0], np.float32)
    for found, wanted in zip(jnp.divmod(x, y), np.divmod(x, y), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert jnp.floor_divide(1.0, 0.0) == np.inf


def test_an_integer_exponent_of_python_is_part_of_the_program():
    program = str(olympus.make_olympuspr(lambda x: x**3)(2.0))
    assert "integer_pow[y=3]" in program


@pytest.mark.parametrize("y", [0, 1, 2, 5, 30])
def test_powers_of_integers(y):
    x = np.array([0, 1, -1, 2, 3, -3], np.int32)
    wanted = np.power(x.astype(np.int64), y).astype(np.int32)
    np.testing.assert_array_equal(jnp.power(x, y), wanted)
    np.testing.assert_array_equal(jnp.power(x, np.int32(y)), wanted)


def test_the_derivative_of_a_power_at_zero():
    assert olympus.grad(lambda x: x**2)(0.0) == 0.0
    assert olympus.grad(lambda x: x**1)(0.0) == 1.0


def test_a_negative_power_of_integers_is_refused():
    with pytest.raises(TypeError, match="cannot be raised to negative powers"):
        jnp.arange(3) ** -1


@pytest.mark.parametrize("decimals", [0, 1, 3, -1])
def test_round(decimals):
    x = (_RNG.normal(size=20) * 30).astype(np.float32)
    np.testing.assert_allclose(
        jnp.round(x, decimals), np.round(x, decimals), rtol=1e-5, atol=1e-5
    )


def test_frexp_and_ldexp_are_inverse():
    x = np.array([0.0, -0.0, 1.0, -3.5, 1e30, -1e-30, np.inf, np.nan], np.float32)
    mantissa, exponent = jnp.frexp(x)
    wanted, powers = np.frexp(x)
    np.testing.assert_array_equal(mantissa, wanted)
    np.testing.assert_array_equal(exponent, powers)
    np.testing.assert_array_equal(jnp.ldexp(mantissa, exponent), x)


def test_nan_to_num():
    x = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    np.testing.assert_array_equal(jnp.nan_to_num(x), np.nan_to_num(x))
    assert jnp.nan_to_num(x, nan=5.0)[0] == 5.0


def test_complex_numbers_are_in_order_by_their_parts():
    x = np.array([1 + 1j, 1 + 2j, 2, -1j], np.complex64)
    y = np.array([1 + 2j, 1 + 1j, 1 + 5j, 1j], np.complex64)
    for name in ("maximum", "minimum", "fmax", "fmin"):
        np.testing.assert_array_equal(getattr(jnp, name)(x, y), getattr(np, name)(x, y))


def test_complex_logarithms_at_zero():
    for f in (jnp.log2, jnp.log10):
        assert f(np.complex64(0)) == -np.inf


@pytest.mark.parametrize(
    "f",
    [lambda x: x**0.0, lambda x: jnp.power(x, jnp.zeros(4, int)),
     lambda x: jnp.power(x, jnp.zeros(4))],
    ids=["known", "integer", "floating"],
)  # fmt: skip
def test_the_slope_of_a_power_zero(f):
    """It is 0 at every base, as the function is 1 at every base."""
    x = np.array([-2, 0, 1, np.inf], np.float32)
    _, slope = olympus.jvp(f, (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(slope, np.zeros(4))


def test_the_slope_of_a_power_has_a_slope_in_the_exponent_at_zero():
    """The derivative of y x^(y-1) by y is 1/x where y is 0."""
    slope = olympus.grad(olympus.grad(jnp.power, 0), 1)
    np.testing.assert_allclose(slope(2.0, 0.0), 0.5)


def test_second_derivatives_of_hypot_on_the_diagonal():
    """The Hessian of the length r of (x, y) is [[y^2, -xy], [-xy, x^2]] / r^3."""

    def turned(*v):
        return olympus.jvp(
            lambda x, y: olympus.jvp(jnp.hypot, (x, y), v)[1], (1.0, 1.0), (1.0, 0.0)
        )[1]

    np.testing.assert_allclose(turned(1.0, 0.0), 2**-1.5, rtol=1e-6)
    np.testing.assert_allclose(turned(0.0, 1.0), -(2**-1.5), rtol=1e-6)


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_have_no_curvature_where_they_are_nan(name):
    f = getattr(jnp, name)
    second = olympus.grad(lambda y: olympus.grad(f, 1)(np.float32(np.inf), y))
    assert second(np.float32(2.0)) == 0


def test_the_slope_of_the_complex_inverse_cosh_is_a_difference():
    """In the left half-plane too, where the root of x^2 - 1 has the other sign."""
    x = np.array([-1j, -2 + 1j, -3 + 0.5j, 0.5 + 0.5j], np.complex64)
    _, slope = olympus.jvp(jnp.arccosh, (x,), (np.ones_like(x),))
    wide, step = x.astype(np.complex128), 1e-6
    want = (np.arccosh(wide + step) - np.arccosh(wide - step)) / (2 * step)
    np.testing.assert_allclose(slope, want, rtol=1e-5)


def test_logaddexp_of_equal_infinities():
    assert jnp.logaddexp(-np.inf, -np.inf) == -np.inf
    assert jnp.logaddexp(np.inf, 1.0) == np.inf


@pytest.mark.parametrize("function", [jnp.logaddexp, jnp.logaddexp2])
@pytest.mark.parametrize("x", [1e4, -1e4, 1e30])
def test_slopes_of_logaddexp_far_out(function, x):
    for slope in olympus.grad(function, (0, 1))(x, x):
        assert slope == 0.5
    np.testing.assert_allclose(
        olympus.grad(lambda x: function.reduce(x))(np.float32([x, x, x - abs(x)])),
        [0.5, 0.5, 0],
    )


@pytest.mark.parametrize("function", [jnp.logaddexp, jnp.logaddexp2])
def test_the_slope_of_logaddexp_by_a_number_beside_infinity_is_zero(function):
    """The power of it was returned, as if the sum were zero."""
    slopes = olympus.grad(function, argnums=(0, 1))(np.float32(np.inf), np.float32(2))
    assert slopes == (1, 0)
    x = np.array([np.inf, 1, 2, -np.inf], np.float32)
    np.testing.assert_array_equal(olympus.grad(function.reduce)(x), [1, 0, 0, 0])


@pytest.mark.parametrize("transform", [lambda f: f, olympus.jit], ids=["eager", "jit"])
def test_complex_numbers_are_true_by_either_part(transform):
    x = np.array([1j, 0, -0j, complex(0, np.nan), complex(0, np.inf), 2], np.complex64)
    got = transform(lambda x: x.astype(bool))(jnp.asarray(x))
    np.testing.assert_array_equal(got, x.astype(bool))
    assert got.dtype == bool


@pytest.mark.parametrize("decimals", [-1, 1])
def test_complex_infinities_are_rounded_part_by_part(decimals):
    x = np.array([complex(np.inf, 1.26), complex(-13, -np.inf)], np.complex64)
    got = jnp.round(x, decimals)
    assert got.dtype == x.dtype
    want = np.round(x, decimals)
    parts = (np.asarray(got).view(np.float32), want.view(np.float32))
    np.testing.assert_allclose(*parts, rtol=1e-6)


def test_clip_prefers_the_upper_bound():
    assert jnp.clip(5, 7, 3) == 3
    np.testing.assert_array_equal(jnp.clip(jnp.arange(5), min=2), [2, 2, 2, 3, 4])


def test_comparison_of_complex_numbers_is_lexicographic():
    x = np.array([1 + 2j, 1 + 3j, 0 + 9j], np.complex64)
    np.testing.assert_array_equal(jnp.less(x, x[::-1].copy()), np.less(x, x[::-1]))


@pytest.mark.parametrize("equal_nan", [False, True])
def test_isclose(equal_nan):
    x = np.array([1.0, np.nan, np.inf, -np.inf, 1.0], np.float32)
    y = np.array([1.0 + 1e-6, np.nan, np.inf, np.inf, np.inf], np.float32)
    np.testing.assert_array_equal(
        jnp.isclose(x, y, equal_nan=equal_nan), np.isclose(x, y, equal_nan=equal_nan)
    )


def test_closeness_names_the_function_that_was_called():
    for function in (jnp.isclose, jnp.allclose):
        with pytest.raises(TypeError, match=rf"numpy\.{function.__name__}\b"):
            function([1.0], 1.0)


def test_ufuncs_reduce_accumulate_and_join():
    x = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(jnp.add.reduce(x), np.add.reduce(x))
    np.testing.assert_allclose(jnp.multiply.reduce(x, axis=1), x.prod(1))
    np.testing.assert_allclose(jnp.add.accumulate(x, 1), np.add.accumulate(x, 1))
    np.testing.assert_allclose(
        jnp.subtract.outer(x[0], x[1]), np.subtract.outer(x[0], x[1])
    )
    np.testing.assert_allclose(jnp.add.at(x, 0, 1.0, inplace=False)[0], x[0] + 1)


@pytest.mark.parametrize(
    ("call", "position"),
    [
        (lambda: jnp.add([1], 2), 0),
        (lambda: jnp.add(1, [2]), 1),
        (lambda: jnp.exp([1.0]), 0),
        (lambda: jnp.sum([1, 2]), 0),
        (lambda: jnp.where(True, [1], 2), 1),
        (lambda: jnp.power(2, (1,)), 1),
    ],
)
def test_lists_are_refused_with_their_position(call, position):
    with pytest.raises(TypeError, match=f"at position {position}; convert it with"):
        call()


def test_none_is_refused_with_another_remedy():
    with pytest.raises(TypeError, match="leave the argument out"):
        jnp.add(None, 1)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(TypeError, match=r"numpy.add: .*\(2,\), \(3,\)"):
        jnp.add(jnp.ones(2), jnp.ones(3))
    with pytest.raises(ValueError, match="incompatible shapes"):
        jnp.add(jnp.ones((2, 3)), jnp.ones(2))


@pytest.mark.parametrize("name", ["add", "exp", "sum"])
def test_out_is_refused(name):
    args = (1, 2) if name == "add" else (1.0,)
    if name == "exp":
        with pytest.raises(TypeError):
            jnp.exp(*args, out=jnp.ones(1))
        return
    with pytest.raises(NotImplementedError, match="`out` must be None"):
        getattr(jnp, name)(*args, out=jnp.ones(1))


@pytest.mark.parametrize("call", [lambda b: b - b, lambda b: -b, jnp.sign])
def test_booleans_have_no_difference(call):
    with pytest.raises(TypeError):
        call(jnp.array([True]))


def test_reductions_of_ufuncs_take_all_options():
    x = np.arange(6.0, dtype=np.float32)
    for name in ("maximum", "minimum"):
        found = getattr(jnp, name).reduce(x, dtype="int8", initial=3.0, where=x > 0)
        wanted = getattr(np, name).reduce(x, initial=3.0, where=x > 0)
        assert found.dtype == np.int8
        assert found == wanted
    flags = np.array([True, False, True])
    for name in ("logical_and", "logical_or"):
        for start in (True, False):
            options = {"initial": start, "where": flags}
            found = getattr(jnp, name).reduce(flags, **options)
            assert found == getattr(np, name).reduce(flags, **options)
        assert getattr(jnp, name).reduce(flags, dtype="int8").dtype == np.int8


@pytest.mark.parametrize("name", ["nin", "nout", "nargs", "identity"])
def test_what_a_ufunc_says_of_itself_is_read_only(name):
    value = getattr(jnp.add, name)
    assert value == {"nin": 2, "nout": 1, "nargs": 2, "identity": 0}[name]
    with pytest.raises(AttributeError):
        setattr(jnp.add, name, value)


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: f(x, x, dtype="int32"),
        lambda f, x: f(x=x, y=x),
        lambda f, x: f(x, y=x),
        lambda f, x: f.outer(A=x, B=x),
    ],
)
def test_ufuncs_take_their_operands_by_position_alone(call):
    own = jnp.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
    for f in (jnp.add, own):
        with pytest.raises(TypeError):
            call(f, np.ones(2, np.float32))


@pytest.mark.slow
def test_reduceat_of_functions_of_python():
    f = jnp.frompyfunc(lambda x, y: 2 * x - y, 2, 1)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    want = np.frompyfunc(lambda x, y: 2 * x - y, 2, 1)
    for axis, indices in ((1, [0, 2, 1]), (0, [2, 0]), (1, [1])):
        np.testing.assert_array_equal(
            f.reduceat(x, np.array(indices), axis=axis),
            want.reduceat(x, indices, axis=axis).astype(np.float32),
        )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_divisors_of_many_numbers(dtype, rng):
    low = 0 if dtype == "uint8" else -120
    x, y = (rng.integers(low, 120, shape).astype(dtype) for shape in ((30, 5), (5,)))
    np.testing.assert_array_equal(jnp.gcd(x, y), np.gcd(x, y))
    mapped = olympus.vmap(olympus.vmap(jnp.gcd), (0, None))(x, y)
    np.testing.assert_array_equal(mapped, np.gcd(x, y))
    assert "stablehlo.while" in olympus.jit(jnp.gcd).lower(x, y).as_text()


def test_divisors_beside_derivatives():
    def f(x):
        return x * jnp.gcd((x * 6).astype(int), 9)

    assert olympus.grad(f)(2.0) == 3
    assert olympus.jvp(f, (2.0,), (1.0,))[1] == 3


@pytest.mark.parametrize("is_array", [False, True])
def test_what_stands_for_nan_may_be_an_array(is_array):
    x = np.array([1, np.nan, np.inf, -np.inf], np.float32)
    numbers = {"nan": 3, "posinf": 4, "neginf": 5}
    given = {k: jnp.float32(v) if is_array else v for k, v in numbers.items()}
    results = [jnp.nan_to_num(x, **given) for _ in range(7)]  # in C in the end
    results.append(olympus.jit(lambda x: jnp.nan_to_num(x, **given))(x))
    results.append(olympus.jit(lambda n: jnp.nan_to_num(x, **n))(given))
    for result in results:
        np.testing.assert_array_equal(result, [1, 3, 4, 5])
    both = olympus.lax.complex(jnp.asarray(x), jnp.asarray(x[::-1].copy()))
    parts = jnp.nan_to_num(both, nan=np.arange(4))
    assert (parts.real[1], parts.imag[2]) == (1, 2)


def test_integers_are_no_nan():
    for x in (3, np.int32(3), jnp.int32(3)):
        assert jnp.nan_to_num(x, nan=jnp.ones(())).dtype == np.int32
