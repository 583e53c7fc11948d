"""Generators that a program defines."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import random
from olympus.extend import random as extend_random


def define(**changes):
    """A poor generator, each of whose numbers can be told by hand."""
    rules = {
        "key_shape": (2,),
        "seed": lambda n: jnp.stack([n, 2 * n]).astype("uint32"),
        "split": lambda k, s: k + jnp.arange(np.prod(s), dtype="uint32").reshape(*s, 1),
        "random_bits": lambda k, w, s: jnp.full(s, k[0] * 10 + k[1], f"uint{w}"),
        "fold_in": lambda k, n: k + n,
        "name": "poor",
        "tag": "p",
    }
    return extend_random.define_prng_impl(**(rules | changes))


POOR = define()


def test_one_key():
    key = random.key(3, impl=POOR)
    assert random.key_data(key).tolist() == [3, 6]
    assert str(key.dtype) == "key<p>"
    assert "key<p>" in repr(key)
    assert repr(POOR) == "PRNGSpec('poor')"
    assert random.key_impl(key) == POOR
    assert random.bits(key, (2,)).tolist() == [36, 36]
    assert random.key_data(random.fold_in(key, 2)).tolist() == [5, 8]
    parts = random.split(key, (2, 2))
    assert random.key_data(parts).tolist() == [[[3, 6], [4, 7]], [[5, 8], [6, 9]]]
    assert random.wrap_key_data(random.key_data(key), impl=POOR) == key


def test_many_keys_under_transformations():
    keys = olympus.vmap(lambda n: random.key(n, impl=POOR))(jnp.arange(3))

    @olympus.jit
    @olympus.vmap
    def draw(key):
        parts = random.split(random.fold_in(key, 1), 2)
        return random.bits(parts[1], (2,), "uint8"), random.uniform(key)

    bits, floats = draw(keys)
    assert bits[:, 0].tolist() == [22, 34, 46]
    assert floats.shape == (3,)
    folded = olympus.vmap(random.fold_in, (None, 0))(keys[1], jnp.arange(3))
    assert random.key_data(folded).tolist() == [[1, 2], [2, 3], [3, 4]]
    program = olympus.make_olympuspr(lambda k: random.bits(k, (2,)))(keys[0])
    assert "key<p>[]" in str(program)


def test_two_generators_of_one_name_are_two():
    a, b = (random.key(1, impl=define()) for _ in range(2))
    assert a.dtype != b.dtype
    assert olympus.jit(lambda k: k)(a).dtype == a.dtype


def test_the_generators_there_are():
    key = extend_random.seed_with_impl(extend_random.rbg_prng_impl, 7)
    assert key == random.key(7, impl="rbg")
    keys = extend_random.random_seed(jnp.arange(2), extend_random.threefry_prng_impl)
    assert keys[1] == random.key(1)
    words, counts = jnp.array([1, 2], "uint32"), jnp.arange(5, dtype="uint32")
    # Recorded from JAX 0.10.2.
    expected = [2052595727, 3504730591, 2527474599, 1880214352, 1914734168]
    assert extend_random.threefry_2x32(words, counts).tolist() == expected


ERRORS = [
    ("seed must be a function", lambda: define(seed=3)),
    (
        r"seed must return an array of uint32 and shape \(2,\), got i32",
        lambda: random.key(3, impl=define(seed=lambda n: n)),
    ),
    (
        r"random_bits must return an array of uint32 and shape \(3,\), got u32\[\]",
        lambda: random.bits(
            random.key(3, impl=define(random_bits=lambda k, w, s: k[0])), (3,)
        ),
    ),
    ("cannot be pickled", lambda: pickle.dumps(random.key(3, impl=POOR).dtype)),
    (
        "must be uint32, got uint32, uint32, int32",
        lambda: extend_random.threefry_2x32(jnp.zeros(2, "uint32"), jnp.arange(3)),
    ),
]


@pytest.mark.parametrize(("message", "call"), ERRORS)
def test_errors(message, call):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("words", [1, 3])
def test_keys_of_threefry_are_two_words(words):
    counts = jnp.arange(3, dtype="uint32")
    for key in (jnp.zeros(words, "uint32"), [jnp.uint32(0)] * words):
        with pytest.raises(ValueError, match="the key must be two words, got shape"):
            extend_random.threefry_2x32(key, counts)
