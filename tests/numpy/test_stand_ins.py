"""Objects that stand for arrays, which hold values of a transformation."""

import pytest

import olympus
import olympus.numpy as jnp


class Box:
    """An object of a library, with a value of a trace in it."""

    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return self.value


X = jnp.arange(1.0, 5.0).reshape(2, 2)

# By name, functions of an array and of what stands for one.
FUNCTIONS = {
    "operator": lambda x, w: x @ w,
    "sum": lambda x, w: x + w,
    "dot": jnp.dot,
    "sin": lambda x, w: jnp.sin(w),
    "einsum": lambda x, w: jnp.einsum("ij,jk", x, w),
    "where": lambda x, w: jnp.where(x > 2, w, x),
    "concatenate": lambda x, w: jnp.concatenate([x, w]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_reach_the_value_in_an_object(name):
    function = FUNCTIONS[name]
    boxed = olympus.grad(lambda w: function(X, Box(w)).sum())
    expected = olympus.grad(lambda w: function(X, w).sum())(2 * X)
    assert expected.any()
    assert boxed(2 * X).tolist() == expected.tolist()
    assert olympus.jit(boxed)(2 * X).tolist() == expected.tolist()


def test_mapped_values_in_an_object():
    mapped = olympus.vmap(lambda w: X @ Box(w))(X)
    assert mapped.tolist() == olympus.vmap(lambda w: X @ w)(X).tolist()


def test_ranges_between_objects():
    assert jnp.linspace(Box(jnp.array(2.0)), Box(jnp.array(4.0)), 3).tolist() == [
        2,
        3,
        4,
    ]
    assert jnp.arange(Box(jnp.array(1)), Box(jnp.array(4))).tolist() == [1, 2, 3]
    spread = olympus.grad(lambda w: jnp.linspace(Box(w), 0.0, 3).sum())(2.0)
    assert spread.tolist() == 1.5


def test_objects_for_scalars():
    assert jnp.isscalar(Box(jnp.array(2.0)))
    assert not jnp.isscalar(Box(jnp.ones(1)))
    assert not jnp.isscalar([2.0])
