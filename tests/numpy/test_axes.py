"""Axes may be named by a number or by any iterable of numbers."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "several",
    [
        *[
            pytest.param(several, marks=pytest.mark.slow)
            for several in (lambda: (0, 1), lambda: [0, 1], lambda: np.arange(2))
        ],
        lambda: range(2),
    ],
    ids=["tuple", "list", "array", "range"],
)
def test_several_axes(several):
    assert jnp.sum(X, axis=several()) == 15
    assert jnp.max(X, axis=several()) == 5
    assert jnp.count_nonzero(X, axis=several()) == 5
    assert jnp.size(X, axis=several()) == 6
    assert jnp.moveaxis(X, several(), (1, 0)).shape == (3, 2)
    assert jnp.expand_dims(X, several()).shape == (1, 1, 2, 3)
    assert jnp.squeeze(X[None, None], several()).shape == (2, 3)
    assert jnp.permute_dims(X, several()).shape == (2, 3)
    assert jnp.rot90(X, axes=several()).shape == (3, 2)
    np.testing.assert_array_equal(jnp.flip(X, several()), X[::-1, ::-1])
    np.testing.assert_array_equal(jnp.roll(X, 1, several()), np.roll(X, 1, (0, 1)))
    np.testing.assert_array_equal(
        jnp.roll(X, several(), several()), np.roll(X, (0, 1), (0, 1))
    )
    assert jnp.tile(X, several()).shape == (0, 3)
    assert jnp.add.reduce(X, axis=several()) == 15
    assert olympus.nn.softmax(X, axis=several()).sum().round(5) == 1


def test_iterators_are_read_once():
    assert jnp.moveaxis(X, iter([0]), iter([1])).shape == (3, 2)
    assert jnp.sum(X, axis=iter([0])).shape == (3,)


def test_what_names_no_axis_is_refused():
    for axis in (0.0, "0", [0.0]):
        with pytest.raises(TypeError, match="integer"):
            jnp.sum(X, axis=axis)
    with pytest.raises(ValueError, match="out of bounds"):
        jnp.size(X, axis=2)


@pytest.mark.parametrize("error", [ValueError, IndexError, np.exceptions.AxisError])
@pytest.mark.parametrize("name", ["mean", "std", "argmax", "sum", "sort", "swapaxes"])
def test_axes_that_are_not_there_are_refused_as_in_numpy(name, error):
    function = getattr(jnp, name)
    args = (0, 5) if name == "swapaxes" else (5,)
    with pytest.raises(error, match="axis 5 is out of bounds for array of dimension 2"):
        function(np.ones((2, 3), np.float32), *args)
