"""Sorts by several keys, of lengths that are lowered in different ways."""

import itertools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax

KINDS = ("float32", "bfloat16", "int32", "uint32", "int8", "uint8", "bool")


def draw_key(rng, kind, shape):
    """Few different elements, and those at the ends of the dtype."""
    dtype = jnp.dtype(kind)
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in ("float32", "bfloat16"):
        special = [-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf, np.nan, -np.nan]
        return rng.choice(special, shape).astype(dtype)
    info = np.iinfo(kind)
    numbers = [info.min, info.min + 1, 0, 1, info.max - 1, info.max]
    return rng.choice(np.array(numbers, kind), shape)


def as_rank(key):
    """Integers that sort as a key does, with NaN last and zeros equal."""
    wide = key.astype("float64")
    order = {v: i for i, v in enumerate(np.unique(wide[~np.isnan(wide)]))}
    return np.array([order.get(v, len(order)) for v in wide.ravel()]).reshape(key.shape)


@pytest.mark.slow
@pytest.mark.parametrize("n", [7, 200, 700])
@pytest.mark.parametrize("num_keys", [2, 3, 4])
def test_orders(n, num_keys):
    rng = np.random.default_rng(n)
    kinds = itertools.cycle(KINDS)
    for _ in range(len(KINDS)):
        keys = [draw_key(rng, next(kinds), (n,)) for _ in range(num_keys)]
        next(kinds)
        wanted = np.lexsort([as_rank(key) for key in keys])
        order = olympus.jit(jnp.lexsort)(tuple(keys))
        np.testing.assert_array_equal(order, wanted)
        out = lax.sort((*keys[::-1], np.arange(n)), num_keys=num_keys)
        np.testing.assert_array_equal(out[-1], wanted)
        for key, part in zip(keys[::-1], out, strict=False):
            bits = np.asarray(part).tobytes()  # NaN and zeros keep theirs
            assert bits == np.asarray(key)[wanted].tobytes()


@pytest.mark.parametrize("axis", [0, 1])
def test_along_an_axis(axis):
    rng = np.random.default_rng(5)
    keys = [draw_key(rng, kind, (40, 30)) for kind in ("float32", "uint32", "int8")]
    wanted = np.lexsort([as_rank(key) for key in keys], axis=axis)
    np.testing.assert_array_equal(jnp.lexsort(keys, axis=axis), wanted)
