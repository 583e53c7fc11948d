"""Loops that draw until numbers are accepted, mapped over keys that draw together."""

import numpy as np
import pytest

import olympus
from olympus import lax, random
from olympus import numpy as jnp

GENERATORS = ["threefry2x32", "rbg", "unsafe_rbg"]
COUPLED = ["rbg", "unsafe_rbg"]

# Per method of drawing: sums for a mean up to 10, else rejection; and both.
COUNTS = {
    "sums": [3.0, 4.0, 5.0, 6.0],
    "rejections": [1000.0, 400.0, 3000.0, 300.0],
    "both": [100.0, 4.0, 200.0, 3.0],
    "both, sums first": [4.0, 100.0, 200.0, 3.0],
}


def _first_below(limit):
    """Draws numbers until one is below the limit."""

    def again(state):
        key, _ = state
        key, subkey = random.split(key)
        return key, random.uniform(subkey)

    def draw(key):
        return lax.while_loop(lambda s: s[1] >= limit, again, (key, jnp.float32(1)))

    return draw


@olympus.jit
@olympus.vmap
def _binomial(key, n, p):
    return random.binomial(key, n, p)


@pytest.mark.slow
@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("impl", GENERATORS)
def test_mapped_binomial_numbers_end_in_their_range(impl, counts):
    n = np.float32(counts)
    for seed in range(8):  # of seed 5 the first key alone is accepted at once
        keys = random.split(random.key(seed, impl=impl), len(n))
        out = np.asarray(_binomial(keys, n, np.full_like(n, 0.5)))
        assert np.all((out >= 0) & (out <= n)), seed
        assert np.all(np.abs(out - n / 2) < 6 * np.sqrt(n) / 2), seed


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_mapped_binomial_numbers_of_threefry_are_those_of_a_loop(counts):
    n = np.float32(counts)
    keys = random.split(random.key(5), len(n))
    out = _binomial(keys, n, np.full_like(n, 0.5))
    pairs = zip(keys, n, strict=True)
    one_by_one = [random.binomial(k, x, np.float32(0.5)) for k, x in pairs]
    np.testing.assert_array_equal(out, one_by_one)


@pytest.mark.slow
@pytest.mark.parametrize("impl", COUPLED)
def test_elements_go_on_with_new_numbers_when_the_first_is_done(impl):
    n = np.float32([1.0] + [8.0] * 999)
    keys = random.split(random.key(0, impl=impl), len(n))
    out = np.asarray(_binomial(keys, n, np.full_like(n, 0.3)))[1:]
    # Sums of one number taken eight times would often be 0, 7 or 8.
    np.testing.assert_allclose(out.mean(), 2.4, atol=0.2)
    np.testing.assert_allclose(out.var(), 1.68, atol=0.25)


@pytest.mark.parametrize("impl", COUPLED)
def test_loops_of_users_end_too(impl):
    limits = np.float32([2.0, 0.1, 0.5, 0.01])
    keys = random.split(random.key(0, impl=impl), 4)
    out_keys, out = olympus.vmap(lambda k, x: _first_below(x)(k))(keys, limits)
    assert np.all(np.asarray(out) < limits)
    # An element that is done keeps the key that it was done with.
    first, _ = _first_below(2.0)(keys[0])
    np.testing.assert_array_equal(random.key_data(out_keys[0]), random.key_data(first))


@pytest.mark.parametrize("impl", COUPLED)
def test_loops_end_under_nested_maps(impl):
    limits = np.float32([[2.0, 0.1, 0.05], [0.5, 2.0, 0.01]])
    keys = random.split(random.key(1, impl=impl), (2, 3))
    draw = olympus.vmap(olympus.vmap(lambda k, x: _first_below(x)(k)[1]))
    assert np.all(np.asarray(olympus.jit(draw)(keys, limits)) < limits)


def test_a_mapped_loop_consumes_each_key_once():
    keys = random.split(random.key(0, impl="rbg"), 3)
    limits = np.float32([2.0, 0.1, 0.3])
    with olympus.debug_key_reuse(True):
        out = olympus.jit(olympus.vmap(lambda k, x: _first_below(x)(k)[1]))(
            keys, limits
        )
    assert np.all(np.asarray(out) < limits)
