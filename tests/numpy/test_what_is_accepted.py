"""Kinds of arguments that JAX takes, and some that it refuses.

What is expected was found with JAX, or is what NumPy gives.
"""

from __future__ import annotations

import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, ops
from olympus.scipy import special, stats

X = np.array([1.5, -2.25, 0.5], np.float32)
M = np.arange(6, dtype=np.float32).reshape(2, 3)


class Holder:
    """An object of a library that stands for an array."""

    def __init__(self, value: Any) -> None:
        self.value = jnp.asarray(value)

    def __jax_array__(self) -> Any:
        return self.value


class OnHost:
    """An object that NumPy makes an array of."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(X, dtype)


def same(got: Any, want: Any) -> None:
    want = np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(got, want)


# -- shapes ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [np.array(3), jnp.int32(3), np.uint8(3)])
def test_shapes_are_0d_arrays(size: Any) -> None:
    same(jnp.zeros(size), np.zeros(3, np.float32))
    same(jnp.full(size, X[0]), np.full(3, X[0]))
    same(jnp.broadcast_to(X[0], size), np.full(3, X[0]))
    same(jnp.zeros_like(M, shape=size), np.zeros(3, np.float32))
    same(nn.initializers.ones(None, size), np.ones(3, np.float32))
    assert [int(i) for i in jnp.unravel_index(2, size)] == [2]


def test_shapes_that_broadcast_are_sequences_of_any_kind() -> None:
    assert jnp.broadcast_shapes([2, 1], (3,)) == (2, 3)
    assert jnp.broadcast_shapes(np.array([2, 1]), 3) == (2, 3)
    with pytest.raises(TypeError, match=r"sizes must not be negative, got \(2, -1\)"):
        jnp.broadcast_shapes((2, -1))


@pytest.mark.parametrize("a", [[1, 2], [[1], [2]], [M, M], (), range(3), [True]])
def test_shapes_of_sequences(a: Any) -> None:
    assert jnp.shape(a) == np.shape(a)
    assert jnp.ndim(a) == np.ndim(a)
    assert jnp.size(a) == np.size(a)


def test_shapes_of_sequences_of_traced_values_and_of_descriptions() -> None:
    def f(x: Any) -> Any:
        assert jnp.shape([x, x]) == (2, 3)
        return x

    olympus.jit(f)(X)
    struct = olympus.ShapeDtypeStruct((2, 3), np.float32)
    assert (jnp.shape(struct), jnp.ndim(struct), jnp.size(struct)) == ((2, 3), 2, 6)
    assert jnp.size([[1, 2]], axis=1) == 2


# -- objects that stand for arrays -----------------------------------------------------


def test_arrays_like_objects_that_stand_for_arrays() -> None:
    same(jnp.zeros_like(Holder(X)), np.zeros_like(X))
    same(jnp.ones_like(Holder(M)), np.ones_like(M))
    same(jnp.full_like(Holder(X), 2), np.full_like(X, 2))
    same(jnp.full((2, 3), Holder(X)), np.full((2, 3), X))
    assert jnp.result_type(Holder(X)) == np.float32


VALUES = np.array([0, 3, 1, 3], np.int32)
ON_HOST: dict[str, Callable[[Any, Any], Any]] = {
    "nonzero": lambda xp, a: xp.nonzero(a)[0].astype(np.int32),
    "where": lambda xp, a: xp.where(a)[0].astype(np.int32),
    "argwhere": lambda xp, a: xp.argwhere(a).astype(np.int32),
    "unique": lambda xp, a: xp.unique(a),
    "union1d": lambda xp, a: xp.union1d(a, VALUES),
    "setdiff1d": lambda xp, a: xp.setdiff1d(VALUES + 1, a),
    "compress": lambda xp, a: xp.compress(a, VALUES),
    "bincount": lambda xp, a: xp.bincount(a).astype(np.int32),
    "repeat": lambda xp, a: xp.repeat(VALUES, a),
    "delete": lambda xp, a: xp.delete(VALUES, a),
    "roll": lambda xp, a: xp.roll(VALUES, a),
    "partition": lambda xp, a: xp.partition(a, 1),
    "piecewise": lambda xp, a: xp.piecewise(a, [VALUES > 1], [lambda x: x * 2]),
    "trim_zeros": lambda xp, a: xp.trim_zeros(a),
}


@pytest.mark.parametrize("name", ON_HOST)
def test_values_of_objects_that_stand_for_arrays(name: str) -> None:
    same(ON_HOST[name](jnp, Holder(VALUES)), ON_HOST[name](np, VALUES))


def test_sequences_of_objects_that_stand_for_arrays() -> None:
    same(jnp.array([Holder(X), X]), np.array([X, X]))
    same(jnp.asarray([Holder(X), X], dtype=np.int8), np.array([X, X]).astype(np.int8))
    same(jnp.array([[Holder(X[0]), 1], [2.0, 3]]), np.float32([[1.5, 1], [2, 3]]))
    out = olympus.jit(lambda x: jnp.array([Holder(x), x]))(X)
    same(out, np.array([X, X]))


def test_what_numpy_makes_arrays_of() -> None:
    assert jnp.array_equal(OnHost(), X)
    assert jnp.array_equiv(OnHost(), [X, X])
    assert nn.one_hot(OnHost(), 2).shape == (3, 2)


# -- values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, 2.5], object),
        np.array(["1", "2.5"]),
        [fractions.Fraction(1, 2), 2],
        fractions.Fraction(1, 2),
        decimal.Decimal("1.5"),
        "1.5",
    ],
    ids=repr,
)
def test_numbers_in_a_dtype_that_is_asked_for(value: Any) -> None:
    want = np.array(value, dtype=np.float32)
    same(jnp.array(value, dtype=np.float32), want)
    same(jnp.asarray(value, np.float32), want)
    same(jnp.float32(value), want)
    if not isinstance(value, list):
        with pytest.raises(TypeError, match=r"not a valid|Unexpected input"):
            jnp.array(value)


def test_texts_that_are_no_numbers() -> None:
    with pytest.raises(ValueError, match=r"numpy.array: could not convert string"):
        jnp.array("a", dtype=float)


def test_lists_of_arrays_are_converted_as_arrays_are() -> None:
    big = jnp.float32([-2.25, 300.0])
    want = jnp.stack([big, big]).astype(np.uint8)
    same(jnp.array([big, big], dtype=np.uint8), want)
    same(olympus.jit(lambda x: jnp.array([x, x], dtype=np.uint8))(big), want)
    same(jnp.uint8([big[1], big[0]]), np.uint8([255, 0]))


def test_positions_of_traced_values_in_a_list() -> None:
    same(olympus.jit(lambda i: nn.one_hot([i, 1], 3))(0), np.eye(3, dtype="f4")[:2])
    assert olympus.jit(lambda i: jnp.array_equal([i, 1], [0, 1]))(0)


# -- functions -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "axis"),
    [
        ((1, 2), None),
        (np.array([1, 2]), 1),
        ([1, 2], (0,)),
        (1, (0, 1)),
        ((1, 2), (0, 0)),
        (range(2), [0, 1]),
        ((), ()),
    ],
)
def test_several_shifts(shift: Any, axis: Any) -> None:
    want = np.roll(M, shift, axis)
    same(jnp.roll(M, shift, axis), want)
    if np.size(shift):
        traced = olympus.jit(lambda s: jnp.roll(M, s, axis))(np.asarray(shift))
        same(traced, want)


def test_shifts_that_fit_no_axes() -> None:
    with pytest.raises(ValueError, match="got 3 shifts and 2 axes"):
        jnp.roll(M, (1, 2, 3), (0, 1))
    with pytest.raises(ValueError, match="a vector of integers"):
        jnp.roll(M, np.array([[1, 2]]), (0, 1))


@pytest.mark.parametrize("kind", [list, tuple, np.array, jnp.array])
def test_labels_of_axes_in_any_sequence(kind: Any) -> None:
    first, second = kind([0, 1]), kind([1])
    np.testing.assert_allclose(jnp.einsum(M, first, X, second), M @ X, rtol=1e-6)
    out = jnp.einsum(M, range(2), X, second, kind([0]))
    np.testing.assert_allclose(out, M @ X, rtol=1e-6)
    with pytest.raises(TypeError, match="must have its axes after it"):
        jnp.einsum(M)


def test_matrices_of_an_iterator() -> None:
    np.testing.assert_allclose(jnp.linalg.multi_dot(iter([M, M.T])), M @ M.T)


@pytest.mark.parametrize("points", [4.0, np.float32(4), jnp.float32(4), 4.5])
def test_windows_of_numbers_that_are_floats(points: Any) -> None:
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        np.testing.assert_array_equal(
            getattr(jnp, name)(points), getattr(jnp, name)(4), name
        )
    np.testing.assert_array_equal(jnp.kaiser(points, 2), jnp.kaiser(4, 2))


def test_the_polynomial_without_roots_is_a_number() -> None:
    same(jnp.poly(np.zeros(0, np.float32)), np.float32(1))
    same(jnp.poly(np.zeros(0, np.int32)), np.float32(1))


def test_determinants_of_half_precision() -> None:
    sign, log = jnp.linalg.slogdet(-4 * jnp.eye(3, dtype=jnp.bfloat16))
    assert sign.dtype == log.dtype == jnp.bfloat16
    assert (float(sign), float(log)) == (-1, float(jnp.bfloat16(np.log(64))))


def test_kinds_are_names_of_dtypes() -> None:
    assert jnp.isdtype(np.float32, "float32")
    assert not jnp.isdtype(np.float32, ("bfloat16", np.int8))
    with pytest.raises(ValueError, match=r"Unrecognized kind .numbers"):
        jnp.isdtype(np.float32, "numbers")


def test_small_arguments_of_lax() -> None:
    assert lax.dtype("float32") == np.float32
    same(lax.dynamic_index_in_dim(X, 1, allow_negative_indices=0), X[1:2])
    carry, ys = lax.scan(lambda c, _: (c + 1, c), 0, None, 6 / 2)
    assert int(carry) == len(ys) == 3
    with pytest.raises(TypeError, match=r"length must be an integer, got 3.5"):
        lax.scan(lambda c, _: (c + 1, c), 0, None, 3.5)


def test_attention_of_lists() -> None:
    same(jnp.fft.ihfft([1.0, 2.0, 3.0]), jnp.fft.ihfft(np.float32([1, 2, 3])))
    x = np.ones((1, 2, 1, 2), np.float32)
    same(nn.dot_product_attention(x.tolist(), x.tolist(), x.tolist()), x)


def test_a_variance_of_a_given_mean_is_not_negative() -> None:
    """The quick algorithm subtracts squares."""
    x = np.array([[1.5, -2.25], [3.0, 0.25]], np.float32)
    out = nn.standardize(x, axis=-1, mean=np.float32([[9.0], [0.0]]))
    want = (x[0] - 9) / np.sqrt(np.float32(1e-5))
    np.testing.assert_allclose(out[0], want, rtol=1e-5)


@pytest.mark.parametrize("positions", [[5, 0], [-5, 0], [-1, -5, 5]])
def test_updates_out_of_bounds_are_left_out(positions: list[int]) -> None:
    """Also of functions without a scatter of their own."""
    inside = [i for i in positions if -4 <= i < 4]
    want = VALUES.copy()
    np.bitwise_xor.at(want, inside, 7)
    places = np.array(positions)
    same(jnp.bitwise_xor.at(VALUES, places, 7, inplace=False), want)
    traced = olympus.jit(lambda i: jnp.bitwise_xor.at(VALUES, i, 7, inplace=False))
    same(traced(places), want)
    want = VALUES.copy()
    np.negative.at(want, inside)
    same(jnp.negative.at(VALUES, places, inplace=False), want)


def test_steps_of_integrals_are_complex() -> None:
    for y in (X, VALUES):
        got = jnp.trapezoid(y, dx=0.5j)
        want = np.trapezoid(y, dx=0.5j).astype(np.complex64)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert got.dtype == want.dtype


def test_no_degrees_of_freedom_to_take_off() -> None:
    same(stats.sem(X, ddof=None), stats.sem(X, ddof=0))
    for name in ("std", "var", "nanstd", "nanvar"):
        f = getattr(jnp, name)
        same(f(X, ddof=None), f(X, ddof=0))


def test_the_gradient_that_a_rule_leaves_out_is_an_array() -> None:
    @olympus.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y

    f.defvjp(lambda x, y: (x * y, None), lambda _, ct: (ct, None))
    for run in (olympus.grad(f, (0, 1)), olympus.jit(olympus.grad(f, (0, 1)))):
        zero = run(2.0, 3.0)[1]
        assert isinstance(zero, olympus.Array)
        assert float(zero) == 0
        assert zero.weak_type


# -- what is refused -------------------------------------------------------------------


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: jnp.bincount(VALUES, weights=2.0), ValueError, "shape of x"),
    (lambda: jnp.bincount(VALUES, weights=X[:1]), ValueError, "shape of x"),
    (lambda: jnp.mean(X, where=M > 1), ValueError, "where must broadcast to the"),
    (lambda: jnp.var(X, where=M > 1), ValueError, "where must broadcast to the"),
    (lambda: jnp.cov(M, fweights=np.abs(X)), TypeError, "fweights must be integers"),
    (lambda: jnp.cov(M, fweights=VALUES), RuntimeError, "each of the 3 observations"),
    (lambda: jnp.cov(M, aweights=2.0), RuntimeError, "aweights must be a vector"),
    (lambda: jnp.ediff1d(np.array([True, False])), TypeError, "of booleans"),
    (lambda: jnp.cumsum(1.0, axis=1), ValueError, "axis 1 is out of bounds"),
    (lambda: jnp.cumprod(1.0, axis=(0, 1)), TypeError, "as an integer"),
    (lambda: jnp.repeat(2, 2, axis=(0, 1)), TypeError, "as an integer"),
    (lambda: jnp.linalg.norm(X, "fro"), ValueError, "order 'fro' for vector"),
    (lambda: jnp.trace(M, offset=1.0), ValueError, "offset must be an integer"),
    (lambda: jnp.trace(M, offset=np.array([1])), ValueError, "offset must be an int"),
    (lambda: jnp.asarray(X[:1]) in jnp.asarray(X), ValueError, "must be a scalar"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_what_is_refused(
    call: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_ops_of_numbers_of_numpy() -> None:
    out = ops.segment_sum(X, np.array([0, 0, 1]), num_segments=jnp.int32(3))
    same(out, np.float32([-0.75, 0.5, 0]))


def test_results_of_numbers_stay_weak() -> None:
    for out in (
        special.logit(0.25),
        special.rel_entr(0.25, 0.5),
        special.kl_div(0.25, 0.5),
    ):
        assert out.weak_type
        assert (jnp.bfloat16(1) * out).dtype == jnp.bfloat16
    assert not special.logit(True).weak_type
    assert not special.logit(jnp.full(3, 0.5)).weak_type


def test_a_dtype_that_is_asked_for_is_not_weak() -> None:
    weak = jnp.asarray(2.0)
    for out in (
        jnp.float32(weak),
        jnp.asarray(weak, np.dtype(np.float32)),
        jnp.asarray(weak, dtype=weak.dtype),
        olympus.jit(jnp.float32)(weak),
    ):
        assert not out.weak_type
        assert (out + jnp.bfloat16(1)).dtype == np.float32
    assert jnp.asarray(weak) is weak
