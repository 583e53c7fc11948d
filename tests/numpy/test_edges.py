"""Single results at the edges of what functions accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax


@pytest.mark.parametrize("right", [False, True])
def test_digitize_by_falling_edges(right: bool) -> None:
    x = np.array([1.5, 1.0, 0.5, 0.0, -2.0, np.nan], np.float32)
    edges = np.array([1, 0, 0, -1], np.float32)
    want = np.digitize(x, edges, right=right)
    np.testing.assert_array_equal(jnp.digitize(x, edges, right=right), want)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
def test_the_mean_of_nothing_in_whole_numbers_ends_no_process(dtype: type) -> None:
    """As any whole number divided by zero it is all bits."""
    out = jnp.mean(np.zeros((0, 2), np.int32), axis=0, dtype=dtype)
    np.testing.assert_array_equal(out, np.full(2, -1).astype(dtype))


def test_whole_constants_divided_by_zero_end_no_process() -> None:
    def f(x: object) -> object:
        total = jnp.sum(x)
        return (
            total // x.shape[0],
            total % x.shape[0],
            lax.rem(np.uint8(5), np.uint8(0)),
        )

    out = olympus.jit(f)(np.zeros(0, np.int32))
    known = olympus.jit(lambda x, n: (x // n, x % n))(np.int32(0), np.int32(0))
    assert [int(v) for v in out] == [*map(int, known), 5]


def test_the_integral_over_nothing_is_zero() -> None:
    np.testing.assert_array_equal(jnp.trapezoid(np.zeros((2, 0))), [0, 0])
    np.testing.assert_array_equal(
        jnp.trapezoid(np.zeros((2, 0)), x=np.zeros(0)), [0, 0]
    )


def test_folds_of_nothing_are_the_identity() -> None:
    np.testing.assert_array_equal(jnp.logaddexp.reduce(np.zeros(0)), -np.inf)
    np.testing.assert_array_equal(jnp.logaddexp2.reduce(np.zeros((0, 1))), [-np.inf])
    out = jnp.bitwise_and.reduce(np.zeros(0, np.uint8))
    assert out.dtype == np.uint8
    assert out == 255


@pytest.mark.parametrize("two", [2, np.int32(2), np.array(2), jnp.asarray(2)])
def test_a_known_exponent_keeps_the_dtype_and_slope_of_the_base(two: object) -> None:
    x = jnp.asarray(np.array([0, 3], np.uint8))
    assert (x**two).dtype == np.uint8
    assert olympus.grad(lambda x: jnp.power(x, two))(0.0) == 0.0
    with pytest.raises(TypeError, match="negative"):
        jnp.power(x, two - 4)


@pytest.mark.parametrize(
    ("given", "sums", "products"),
    [
        ("bool", "int32", "int32"),
        ("int8", "int32", "int8"),
        ("uint8", "uint32", "uint8"),
        ("float16", "float16", "float16"),
    ],
)
def test_dtypes_of_standard_scans(given: str, sums: str, products: str) -> None:
    """As jax 0.10.2 gives them."""
    x = jnp.ones(2, given)
    assert olympus.eval_shape(jnp.cumulative_sum, x).dtype == sums
    assert olympus.eval_shape(jnp.cumulative_prod, x).dtype == products


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        (5, ValueError),
        (-3, ValueError),
        (np.array([0, 5]), IndexError),
        (np.array([-9]), IndexError),
        ([0, 1], TypeError),
    ],
)
def test_delete_refuses_positions_out_of_range(where: object, kind: type) -> None:
    with pytest.raises(kind, match=r"numpy.delete|arrays or numbers"):
        jnp.delete(jnp.array([1, 2]), where)


@pytest.mark.parametrize("x", [np.float16(-1), -1.0, np.int8(-1)])
def test_the_angle_of_one_real_number_has_the_default_dtype(x: object) -> None:
    """Recorded from JAX 0.10.2; that of an array has the array's."""
    out = jnp.angle(x)
    assert (out.dtype, out.weak_type) == (np.float32, False)
    assert jnp.angle(np.array([x], np.float16)).dtype == np.float16


def test_a_shape_that_does_not_fit_says_why() -> None:
    with pytest.raises(TypeError, match=r"\(2, -1\) since 2, .* does not divide it"):
        jnp.arange(5).reshape(2, -1)
    with pytest.raises(TypeError, match=r"\(2, 2\) \(size 4\); numpy.reshape keeps"):
        jnp.arange(5).reshape(2, 2)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "complex64"])
def test_products_with_the_empty_polynomial_keep_the_dtype(dtype: str) -> None:
    some, none = jnp.array([1, 2], dtype), jnp.zeros(0, dtype)
    for x64 in (False, True):
        with olympus.enable_x64(x64):
            product = jnp.polymul(some, none)
            assert product.dtype == dtype
            assert not product.any()


def test_no_polynomial_is_divided_by_the_empty_one() -> None:
    with pytest.raises(IndexError, match=r"polydiv: v must have a leading coeff"):
        jnp.polydiv(jnp.ones(2), jnp.zeros(0))


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("hermitian", [False, True])
def test_the_pseudo_inverse_of_nan_is_nan(size: int, hermitian: bool) -> None:
    a = np.full((size, size), np.nan, np.float32)
    assert jnp.isnan(jnp.linalg.pinv(a, hermitian=hermitian)).all()


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("name", ["real", "conj", "asarray", "ravel", "atleast_1d"])
def test_tangents_without_numbers_come_back(name: str, wrap: Any) -> None:
    def tangent(x: Any) -> Any:
        t = olympus.jvp(lambda x: x > 1, (x,), (x,))[1]
        return getattr(jnp, name)(t)

    out = wrap(tangent)(jnp.ones(3))
    assert out.dtype == olympus.float0
    assert out.shape == (3,)
