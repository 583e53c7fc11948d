"""Optimizers under transformations, their states as pytrees, and their errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import tree
from olympus.example_libraries import optimizers
from tests import fresh


def quadratic(params):
    return sum(jnp.sum((x - 1) ** 2) for x in tree.leaves(params))


START = {"w": np.zeros((2, 2), np.float32), "b": (np.float32(3),)}


@pytest.mark.parametrize("name", ["adam", "sm3"])
def test_a_jitted_loop_descends_as_single_steps_do(name):
    init, update, get_params = getattr(optimizers, name)(0.1)

    def step(i, state):
        return update(i, olympus.grad(quadratic)(get_params(state)), state)

    looped = olympus.jit(lambda s: olympus.lax.fori_loop(0, 20, step, s))(init(START))
    state = init(START)
    for i in range(20):
        state = olympus.jit(step)(i, state)
    for a, b in zip(tree.leaves(looped), tree.leaves(state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert quadratic(get_params(looped)) < 0.6 * quadratic(START)


def test_many_runs_side_by_side():
    def last(rate):
        init, update, get_params = optimizers.momentum(rate, 0.5)
        state = init(jnp.zeros(2))
        for i in range(3):
            state = update(i, olympus.grad(quadratic)(get_params(state)), state)
        return get_params(state)

    rates = jnp.array([0.1, 0.2])
    both = olympus.vmap(last)(rates)
    for one, rate in zip(both, rates, strict=True):
        np.testing.assert_allclose(one, last(rate), rtol=1e-6)
    slope = olympus.grad(lambda rate: jnp.sum(last(rate)))(0.1)
    change = (jnp.sum(last(0.101)) - jnp.sum(last(0.099))) / 0.002
    np.testing.assert_allclose(slope, change, rtol=1e-3)


def test_a_state_is_saved_as_a_tree_of_arrays():
    init, _, get_params = optimizers.adam(0.1)
    state = init(START)
    marked = optimizers.unpack_optimizer_state(state)
    assert tree.structure(marked) == tree.structure(START)
    saved = tree.map(lambda mark: pickle.loads(pickle.dumps(mark.subtree)), marked)
    marks = tree.map(
        optimizers.JoinPoint,
        saved,
        is_leaf=lambda x: isinstance(x, tuple) and len(x) == 3,
    )
    again = optimizers.pack_optimizer_state(marks)
    assert tree.structure(again) == tree.structure(state)
    assert tree.structure(get_params(again)) == tree.structure(START)


def test_the_norm_of_complex_gradients_is_real():
    norm = optimizers.l2_norm([np.complex64(3j), np.float32(4)])
    assert norm.dtype == np.float32
    assert norm == 5
    assert optimizers.l2_norm([]) == 0


def test_small_gradients_are_not_clipped():
    (small,) = optimizers.clip_grads([jnp.array([0.3, 0.4])], 1.0)
    np.testing.assert_array_equal(small, np.float32([0.3, 0.4]))
    (large,) = optimizers.clip_grads([jnp.array([3.0, 4.0])], 1.0)
    np.testing.assert_allclose(large, [0.6, 0.8], rtol=1e-6)


@optimizers.optimizer
def forgetful():
    return (lambda x: (x, x)), (lambda i, g, s: s[0]), (lambda s: s[0])


ERRORS = {
    "must have the structure of the parameters": lambda: optimizers.sgd(0.1)[1](
        0, [1.0], optimizers.sgd(0.1).init_fn((1.0,))
    ),
    "update must keep the structure": lambda: forgetful()[1](
        0, 1.0, forgetful().init_fn(1.0)
    ),
    "each leaf must be a JoinPoint": lambda: optimizers.pack_optimizer_state(
        {"a": 1.0}
    ),
    "must be a number or a function": lambda: optimizers.adam([0.1, 0.2]),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_of_kind(message):
    with pytest.raises(TypeError, match=message):
        ERRORS[message]()


@pytest.mark.parametrize(
    ("boundaries", "values", "message"),
    [
        ([1, 2], [0.1, 0.2], "one value more than boundaries"),
        ([[1]], [0.1, 0.2], "must be sequences of numbers"),
    ],
)
def test_errors_of_piecewise_constant(boundaries, values, message):
    with pytest.raises(ValueError, match=message):
        optimizers.piecewise_constant(boundaries, values)


def test_they_load_late():
    script = "import sys, olympus; print('olympus.example_libraries' in sys.modules)"
    assert fresh.run(script)[0].strip() == "False"
