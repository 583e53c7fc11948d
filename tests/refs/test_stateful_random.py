"""The generator with a state, whose numbers are JAX's (recorded from 0.10.2)."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import random
from olympus.experimental.random import stateful_rng


def test_numbers():
    rng = stateful_rng(0)
    drawn = [
        rng.uniform(),
        rng.uniform(1, 3, size=2),
        rng.normal(),
        rng.normal(1.0, 2.0, size=(2,)),
        rng.random(),
        rng.random(2),
        rng.integers(10),
        rng.integers(2, 5, size=3),
        rng.integers(0, 10, dtype="int8"),
    ]
    recorded = [
        0.8423141,
        [1.0145876, 1.0417824],
        1.2956359,
        [-0.24388719, 2.249608],
        0.15365434,
        [0.73806036, 0.62536097],
        8,
        [4, 2, 3],
        3,
    ]
    for got, expected in zip(drawn, recorded, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert int(rng._counter[...]) == 9
    assert rng.normal(loc=onp.zeros((2, 1)), scale=onp.ones(3)).shape == (2, 3)


def test_programs_go_on_where_the_last_one_ended():
    rng = stateful_rng(3)
    draw = olympus.jit(lambda rng: rng.uniform())
    np.testing.assert_allclose(
        [draw(rng), draw(rng)], [0.008695364, 0.025994658], rtol=1e-6
    )
    captured = olympus.jit(lambda: rng.uniform())
    assert float(captured()) != float(captured())


def test_keys_and_generators_made_of_one():
    base = random.key(0)
    rng = stateful_rng(0)
    first, more = rng.key(), rng.key((2,))
    assert (first == random.fold_in(base, 0)).all()
    assert (more == random.split(random.fold_in(base, 1), 2)).all()
    children = stateful_rng(0).spawn(2)
    expected = random.split(random.fold_in(base, 0), 2)
    for child, key in zip(children, expected, strict=True):
        assert (child.key() == random.fold_in(key, 0)).all()
    rngs = stateful_rng(0).split(3)
    drawn = olympus.vmap(lambda rng: rng.uniform())(rngs)
    np.testing.assert_allclose(drawn, [0.07174575, 0.01633251, 0.04355359], rtol=1e-6)
    np.testing.assert_array_equal(rngs._counter[...], [1, 1, 1])


def test_seeds():
    assert float(stateful_rng().random()) != float(stateful_rng().random())
    with pytest.raises(TypeError, match="seed must be given in a traced function"):
        olympus.jit(lambda: stateful_rng().random())()
    with pytest.raises(TypeError, match="integer"):
        stateful_rng(1.5)
    with pytest.raises(ValueError, match="must be mapped over"):
        stateful_rng(0).split(2).key()
    with pytest.raises(ValueError, match="must not return a ref"):
        olympus.jit(lambda rng: rng)(stateful_rng(0))
