"""Operators and methods of arrays, concrete and traced."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

X = np.array([5, -3, 2], np.int32)
Y = np.array([2, 4, 3], np.int32)

OPERATORS = [
    operator.add,
    operator.and_,
    divmod,
    operator.eq,
    operator.floordiv,
    operator.ge,
    operator.gt,
    operator.le,
    operator.lshift,
    operator.lt,
    operator.matmul,
    operator.mod,
    operator.mul,
    operator.ne,
    operator.or_,
    pow,
    operator.rshift,
    operator.sub,
    operator.truediv,
    operator.xor,
]


@pytest.mark.parametrize("f", OPERATORS, ids=lambda f: f.__name__)
def test_operators(f):
    wanted = f(X, Y)
    x, y = jnp.asarray(X), jnp.asarray(Y)
    for found in (f(x, y), f(x, Y), f(X, y), olympus.jit(f)(x, y)):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("f", [operator.add, operator.sub, operator.mul, operator.pow])
def test_operators_with_python_numbers_on_either_side(f):
    x = jnp.asarray(Y)
    np.testing.assert_array_equal(f(x, 3), f(Y, 3))
    np.testing.assert_array_equal(f(3, x), f(3, Y))
    assert f(x, 3).dtype == np.int32


@pytest.mark.parametrize("f", [operator.neg, operator.pos, abs, operator.invert])
def test_unary_operators(f):
    np.testing.assert_array_equal(f(jnp.asarray(X)), f(X))
    np.testing.assert_array_equal(olympus.jit(f)(X), f(X))


class _Other:
    def __add__(self, other):
        return "taken over"

    __radd__ = __add__


def test_other_classes_take_over():
    x = jnp.asarray(X)
    assert x + _Other() == "taken over"
    assert olympus.jit(lambda x: len(x + _Other()) * x)(x).shape == (3,)
    assert (x == "a") is False
    with pytest.raises(TypeError, match="unsupported operand"):
        x + object()


@pytest.mark.parametrize("f", [operator.add, operator.mul, operator.matmul])
def test_lists_beside_operators_are_refused(f):
    with pytest.raises(TypeError, match=r"convert it with numpy\.asarray"):
        f(jnp.asarray(X), [1, 2, 3])
    with pytest.raises(TypeError, match=r"convert it with numpy\.asarray"):
        f([1, 2, 3], jnp.asarray(X))


def test_shapes_and_parts():
    x = jnp.arange(6.0).reshape(2, 3)
    assert x.reshape((3, 2)).shape == x.reshape(3, -1).shape == x.T.shape == (3, 2)
    assert x.transpose(1, 0).shape == x.transpose((1, 0)).shape == x.mT.shape
    assert x.flatten().shape == x.ravel().shape == (6,)
    assert x.swapaxes(0, 1).shape == (3, 2)
    np.testing.assert_array_equal((x + 1j).imag, np.ones((2, 3)))
    np.testing.assert_array_equal(x.real, x)
    np.testing.assert_array_equal(x.at[0, 1].set(9.0)[0], [0, 9, 2])
    np.testing.assert_array_equal(x.clip(1, 4), np.clip(np.asarray(x), 1, 4))
    np.testing.assert_array_equal(x.take(jnp.array([0, 1]), axis=1), x[:, :2])
    np.testing.assert_array_equal(x.astype(int), np.arange(6).reshape(2, 3))
    assert round(jnp.array(2.5)).dtype == np.int32


def test_traced_arrays_have_the_methods_of_concrete_ones():
    x = np.linspace(-1, 2, 6, dtype="float32").reshape(2, 3)
    for name in ("all", "argmax", "max", "mean", "prod", "std", "sum", "var"):
        found = olympus.jit(lambda x, name=name: getattr(x, name)(0))(x)
        np.testing.assert_allclose(found, getattr(x, name)(0), rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "new"),
    [
        ("float32", "int32"),
        ("int32", "int8"),
        ("uint8", "float32"),
        ("bool", "uint8"),
        ("complex64", "float32"),
        ("complex64", "int16"),
        ("float32", "complex64"),
    ],
)
def test_view(dtype, new):
    x = np.arange(8).reshape(2, 4).astype(dtype)
    np.testing.assert_array_equal(jnp.asarray(x).view(new), x.view(new))


@pytest.mark.parametrize("dtype", ["int32", "bool", "int8", "bfloat16", "complex64"])
def test_a_view_without_a_dtype_is_the_array(dtype):
    x = jnp.arange(3).astype(dtype)
    for same in (x.view(), x.view(None), olympus.jit(lambda v: v.view())(x)):
        assert same.dtype == x.dtype
        np.testing.assert_array_equal(same.astype("f4"), x.astype("f4"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "float16", "bfloat16"])
def test_rounded_arrays_are_of_the_default_integers(dtype):
    x = jnp.arange(3).astype(dtype)
    assert round(x).dtype == np.int32
    assert round(x, 0).dtype == x.dtype


def test_view_of_pieces_that_do_not_fit():
    with pytest.raises(ValueError, match="whole elements"):
        jnp.zeros(3, "int8").view("int32")


def test_traced_arrays_iterate_and_have_a_length():
    def f(x):
        assert len(x) == 2
        first, second = x
        return first + second, [row.sum() for row in x], next(reversed(x))

    total, sums, last = olympus.jit(f)(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(total, [3, 5, 7])
    np.testing.assert_array_equal(sums, [3, 12])
    np.testing.assert_array_equal(last, [3, 4, 5])


def test_a_traced_scalar_has_no_length():
    with pytest.raises(TypeError, match="unsized"):
        olympus.jit(lambda x: len(x))(1.0)
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        olympus.jit(lambda x: list(x))(1.0)


def test_traced_arrays_refuse_assignment_with_the_remedy():
    def f(x):
        x[0] = 1
        return x

    with pytest.raises(TypeError, match=r"x\.at\[idx\]\.set"):
        olympus.jit(f)(X)


def test_scalar_types_make_arrays():
    assert jnp.float32(3).dtype == np.float32
    assert jnp.int8([1, 2]).shape == (2,)
    assert jnp.bool_(3).dtype == np.bool_


def test_the_namespace_is_the_page():
    assert jnp.arange(3).__array_namespace__() is jnp
    with pytest.raises(ValueError, match="api_version"):
        jnp.arange(3).__array_namespace__(api_version="1999")


def test_one_program_serves_all_values_of_a_number():
    x = jnp.asarray(X)
    np.testing.assert_array_equal([(x * k)[0] for k in range(3)], [0, 5, 10])


def test_equal_keys_of_other_types_are_other_programs():
    x = jnp.asarray([1.0])
    assert jnp.full_like(x, 1, dtype=None).dtype == np.float32
    assert jnp.isclose(x, x, equal_nan=True).dtype == np.bool_
    assert jnp.nan_to_num(jnp.array([np.nan]), nan=1)[0] == 1
    assert jnp.nan_to_num(jnp.array([np.nan]), nan=0.5)[0] == 0.5


def test_functions_are_traced_straight_through():
    program = str(olympus.make_olympuspr(lambda x: jnp.where(x > 0, x, 0.0))(X * 1.0))
    assert "jit[" not in program


def test_bytes_of_arrays():
    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert jnp.asarray(x).tobytes() == x.tobytes()
    assert jnp.asarray(x).tobytes("F") == x.tobytes("F")
    assert jnp.asarray(x).platform() == "cpu"
    for dtype in ("int8", "bool", "int16", "float32", "complex64"):
        wanted = x.astype(dtype).byteswap()
        found = jnp.asarray(x.astype(dtype)).byteswap()
        assert found.dtype == dtype
        assert np.asarray(found).tobytes() == wanted.tobytes()
    swapped = olympus.jit(lambda v: v.byteswap())(x)
    np.testing.assert_array_equal(swapped, x.byteswap())
    with pytest.raises(olympus.errors.ConcretizationTypeError, match="tobytes"):
        olympus.jit(lambda v: v.tobytes())(x)


def test_membership_and_partition():
    x = jnp.asarray(X)
    assert 2 in x
    assert 7 not in x
    with pytest.raises(ValueError, match=r"\(x == value\)\.any\(\)"):
        assert 2 in x[None]
    np.testing.assert_array_equal(x[x.argpartition(1)][:2], [-3, 2])
