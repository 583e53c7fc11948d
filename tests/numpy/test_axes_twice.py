"""`transpose` by what is no permutation: the kinds of error that JAX 0.10.2 raises."""

import pytest

import olympus.numpy as jnp


@pytest.mark.parametrize("axes", [(0, 0), (0,), (1, -1), (0, 0, 1)])
def test_axes_that_are_no_permutation(axes):
    x = jnp.ones((2, 3))
    for call in (lambda: x.transpose(*axes), lambda: jnp.transpose(x, axes)):
        with pytest.raises(
            TypeError, match=r"numpy.transpose.*got .*name each axis once"
        ):
            call()


@pytest.mark.parametrize("axes", [(0, 5), (0, 1, 2), (0, -3)])
def test_axes_that_do_not_exist(axes):
    with pytest.raises(ValueError, match="out of bounds for array of dimension 2"):
        jnp.ones((2, 3)).transpose(*axes)


def test_negative_axes():
    assert jnp.ones((2, 3)).transpose(-1, 0).shape == (3, 2)
