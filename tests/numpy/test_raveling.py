"""Trees as vectors and back."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.flatten_util import ravel_pytree

TREE = {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": (np.float32(1.5), True)}


def test_there_and_back():
    flat, back = ravel_pytree(TREE)
    np.testing.assert_array_equal(flat, np.float32([0, 1, 2, 3, 4, 5, 1.5, 1]))
    assert flat.dtype == np.float32
    again = back(flat)
    assert olympus.tree.structure(again) == olympus.tree.structure(TREE)
    np.testing.assert_array_equal(again["a"], TREE["a"])
    assert [x.dtype.name for x in olympus.tree.leaves(again)] == [
        "int32",
        "float32",
        "bool",
    ]


def test_complex_leaves_beside_real_ones():
    flat, back = ravel_pytree([np.complex64([1j]), np.float32(2)])
    np.testing.assert_array_equal(flat, np.complex64([1j, 2]))
    assert back(flat)[1].dtype == np.float32


def test_nothing():
    flat, back = ravel_pytree({"a": None})
    assert flat.shape == (0,)
    assert back(flat) == {"a": None}


def test_ways_back_of_equal_trees_are_equal():
    first, second, other = (ravel_pytree(t)[1] for t in (TREE, dict(TREE), [1.0]))
    assert first == second
    assert hash(first) == hash(second)
    assert first != other


@pytest.mark.slow
def test_derivatives_and_maps():
    weights = {"w": jnp.array([1.0, 2.0]), "c": jnp.array(3.0)}
    flat, back = ravel_pytree(weights)
    slope = olympus.grad(lambda v: back(v)["w"].sum() * back(v)["c"])(flat)
    np.testing.assert_array_equal(slope, [3, 3, 3])
    per_row = olympus.vmap(lambda t: ravel_pytree(t)[0])
    stacked = {"w": jnp.ones((4, 2)), "c": jnp.zeros(4)}
    np.testing.assert_array_equal(per_row(stacked)[:, 0], np.zeros(4))


def test_other_vectors_are_refused():
    flat, back = ravel_pytree(TREE)
    with pytest.raises(ValueError, match="vectors of 8 elements"):
        back(flat[:3])
    with pytest.raises(TypeError, match="takes dtype float32, got int32"):
        back(flat.astype("int32"))
    with pytest.raises(TypeError, match="arrays or numbers"):
        ravel_pytree(["x"])


def test_leaves_of_one_dtype_take_the_vectors():
    _, back = ravel_pytree({"a": np.ones(2, "f4"), "b": np.ones(3, "f4")})
    for dtype in ("int32", "float16", "complex64", "bool"):
        tree = back(jnp.arange(5).astype(dtype))
        assert tree["a"].dtype == tree["b"].dtype == dtype
    _, back = ravel_pytree([np.ones(2, bool)])
    np.testing.assert_array_equal(back(np.float32([0.5, 2]))[0], [0.5, 2])
    mapped = olympus.vmap(back)(np.ones((3, 2), np.int32))
    assert mapped[0].dtype == "int32"


def test_leaves_of_several_dtypes_take_the_common_one():
    _, back = ravel_pytree([np.ones(2, "f4"), np.arange(3)])
    assert back(np.ones(5, "f4"))[1].dtype == "int32"
    with pytest.raises(TypeError, match="takes dtype float32, got int32"):
        back(np.arange(5))


def test_numbers_count_as_arrays_of_their_default_dtype():
    """They come back exactly, whatever the arrays beside them can hold."""
    half = jnp.ones(2, jnp.bfloat16)
    for leaf in (1.1, jnp.asarray(1.1)):
        flat, back = ravel_pytree([half, leaf])
        assert flat.dtype == np.float32
        assert float(back(flat)[1]) == float(np.float32(1.1))
    assert ravel_pytree([np.ones(2, np.int8), 300])[0].dtype == np.int32
    with olympus.enable_x64(True):
        assert ravel_pytree([np.ones(2, np.float32), 0.1])[0].dtype == np.float64
        assert ravel_pytree([])[0].dtype == np.float32


@pytest.mark.parametrize(
    ("leaves", "weak"),
    [
        ([2.0], True),
        ([1, 2], True),
        ([1, 2.0], False),
        ([1.0, np.ones(1, "f4")], False),
    ],
)
def test_vectors_of_numbers_of_one_kind_are_weak(leaves, weak):
    assert ravel_pytree(leaves)[0].weak_type == weak
