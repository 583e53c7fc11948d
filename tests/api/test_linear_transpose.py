"""`linear_transpose`: transposes of functions that are linear by promise."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

VECTOR = olympus.ShapeDtypeStruct((3,), np.dtype("float32"))


def test_transpose_satisfies_its_identity(rng):
    a = rng.normal(size=(2, 3)).astype(np.float32)

    def f(x, y):
        return {"o": a @ x - jnp.sum(y), "p": 2.0 * y[::-1]}

    x, y, o, p = (rng.normal(size=n).astype(np.float32) for n in (3, 3, 2, 3))
    x_bar, y_bar = olympus.linear_transpose(f, VECTOR, VECTOR)({"o": o, "p": p})
    out = f(x, y)
    left = np.vdot(out["o"], o) + np.vdot(out["p"], p)
    right = np.vdot(x, x_bar) + np.vdot(y, y_bar)
    np.testing.assert_allclose(left, right, rtol=1e-5)
    assert (x_bar.shape, y_bar.dtype) == ((3,), np.float32)


def test_the_function_is_not_evaluated():
    def f(x):
        assert isinstance(x, olympus.core.Tracer)
        return x * 3.0

    assert float(olympus.linear_transpose(f, 1.0)(2.0)[0]) == 6.0


def test_transposes_in_other_transformations():
    transposed = olympus.linear_transpose(
        lambda d: d["a"] + 2 * d["b"], {"a": VECTOR, "b": VECTOR}
    )
    ct = jnp.asarray([1.0, 2.0, 3.0])
    (found,) = olympus.jit(transposed)(ct)
    np.testing.assert_array_equal(found["b"], 2 * ct)
    (found,) = olympus.vmap(transposed)(jnp.stack([ct, -ct]))
    np.testing.assert_array_equal(found["a"], np.stack([ct, -ct]))
    slope = olympus.grad(lambda ct: jnp.sum(transposed(ct)[0]["b"] * ct))(ct)
    np.testing.assert_array_equal(slope, 4 * ct)


def test_jitted_functions_constants_and_unused_arguments():
    f = olympus.jit(lambda x, y: x * 2.0)
    x_bar, y_bar = olympus.linear_transpose(f, VECTOR, VECTOR)(jnp.ones(3))
    np.testing.assert_array_equal(x_bar, np.full(3, 2.0))
    np.testing.assert_array_equal(y_bar, np.zeros(3))
    (found,) = olympus.linear_transpose(lambda x: 3.0, VECTOR)(1.0)
    np.testing.assert_array_equal(found, np.zeros(3))


def test_complex_numbers_and_integers():
    # No conjugate: the transpose, not the adjoint.
    (found,) = olympus.linear_transpose(lambda z: (1 + 2j) * z, 1j)(1.0 + 1.0j)
    np.testing.assert_allclose(found, -1.0 + 3.0j)
    (found,) = olympus.linear_transpose(lambda z: z.real, 1j)(1.0)
    assert (found.dtype, complex(found)) == (np.complex64, 1.0)
    (found,) = olympus.linear_transpose(lambda i: i * 2, np.arange(3))(np.arange(3))
    np.testing.assert_array_equal(found, [0, 2, 4])
    assert found.dtype == np.int32


def test_what_has_no_transpose_is_refused():
    with pytest.raises(TypeError, match=r"takes i32\[\] to f32\[\]; convert"):
        olympus.linear_transpose(lambda x: x * 2.0, 1)
    with pytest.raises(TypeError, match="from integers to integers"):
        olympus.linear_transpose(lambda x: x, True)
    with pytest.raises(NotImplementedError, match=r"sin: .*`transpose`.*record sin"):
        olympus.linear_transpose(jnp.sin, 1.0)(1.0)
    with pytest.raises(TypeError, match="ShapeDtypeStruct"):
        olympus.linear_transpose(lambda x: x, "a")
    with pytest.raises(NotImplementedError, match="reduce_axes"):
        olympus.linear_transpose(lambda x: x, 1.0, reduce_axes=("i",))


def test_cotangents_of_another_type_or_structure_are_refused():
    transposed = olympus.linear_transpose(lambda x: {"o": x * 2.0}, VECTOR)
    with pytest.raises(TypeError, match=r"cotangent\['o'\] must be f32\[3\].*f32\[2\]"):
        transposed({"o": jnp.ones(2)})
    with pytest.raises(TypeError, match=r"must be f32\[3\].*got i32\[3\]"):
        transposed({"o": jnp.ones(3, "int32")})
    with pytest.raises(TypeError, match="structure of the result"):
        transposed(jnp.ones(3))
