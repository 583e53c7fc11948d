"""Arithmetic of random keys: the kinds of error that JAX 0.10.2 raises."""

import pytest

import olympus
import olympus.numpy as jnp

KEY = olympus.random.key(0)

CALLS = {
    "add": lambda k: k + 1,
    "number first": lambda k: 1 + k,
    "multiply": lambda k: k * 2.0,
    "floor_divide": lambda k: k // 2,
    "bitwise_and": lambda k: k & 1,
    "add of an array": lambda k: k + jnp.ones(3),
    "equal": lambda k: k == 1,
    "maximum": lambda k: jnp.maximum(k, 1),
    "arctan2": lambda k: jnp.arctan2(k, 1),
    "keys": lambda k: k + k,
    "negative": lambda k: -k,
    "less": lambda k: k < k,
    "abs": abs,
    "sin": jnp.sin,
}


@pytest.mark.parametrize("name", CALLS)
def test_arithmetic(name):
    for run in (CALLS[name], olympus.jit(CALLS[name])):
        with pytest.raises(TypeError, match=r"(got|takes|and) key<fry>"):
            run(KEY)


def test_the_error_names_the_function():
    with pytest.raises(TypeError, match=r"numpy.add: .*random.key_data"):
        KEY + 1


def test_promotion_says_that_there_is_no_common_dtype():
    for call in (lambda: jnp.result_type(KEY, 1), lambda: jnp.stack([KEY, 1])):
        with pytest.raises(ValueError, match="can only be combined with itself"):
            call()


def test_equal_keys():
    key = olympus.random.key(0)
    assert key == KEY
    assert key != olympus.random.key(1)
