"""Chex: assertions about arrays and trees, data classes, and variants of tests."""

import io
import unittest

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest


@chex.dataclass
class _State:
    position: chex.Array
    count: int


@chex.dataclass(frozen=True, mappable_dataclass=False)
class _Frozen:
    x: chex.Array


def _message(function, *arguments, **keywords):
    with pytest.raises(AssertionError) as caught:
        function(*arguments, **keywords)
    return str(caught.value)


def shapes_and_ranks():
    x = jnp.zeros((2, 3))
    chex.assert_shape(x, (2, None))
    chex.assert_rank([x, x], 2)
    chex.assert_equal_shape([x, x])
    chex.assert_axis_dimension(x, 1, 3)
    return {
        "shape": "shape" in _message(chex.assert_shape, x, (3, 3)),
        "rank": "rank" in _message(chex.assert_rank, x, 3),
        "equal": bool(_message(chex.assert_equal_shape, [x, x[0]])),
        "size": bool(_message(chex.assert_size, x, 7)),
        "compatible": bool(_message(chex.assert_shape, [x, x.T], (2, 3))),
    }


def types():
    x = jnp.arange(3)
    chex.assert_type([x, 1.0], [int, float])
    chex.assert_scalar(1)
    chex.assert_tree_all_finite({"a": jnp.ones(3)})
    return {
        "type": bool(_message(chex.assert_type, x, float)),
        "scalar": bool(_message(chex.assert_scalar, x)),
        "finite": bool(
            _message(chex.assert_tree_all_finite, {"a": jnp.array([jnp.inf])})
        ),
        "device": bool(_message(chex.assert_tree_is_on_device, {"a": x})),
    }


def trees():
    a = {"x": jnp.ones(2), "y": [jnp.zeros(3)]}
    b = {"x": jnp.ones(2) + 1e-3, "y": [jnp.zeros(3)]}
    chex.assert_trees_all_close(a, b, atol=1e-2)
    chex.assert_trees_all_equal_structs(a, b)
    chex.assert_trees_all_equal_shapes_and_dtypes(a, b)
    return {
        "close": bool(_message(chex.assert_trees_all_close, a, b)),
        "equal": bool(_message(chex.assert_trees_all_equal, a, b)),
        "structure": bool(_message(chex.assert_trees_all_equal_structs, a, [a])),
        "prefix": bool(_message(chex.assert_tree_shape_prefix, a, (4,))),
    }


def data_classes():
    state = _State(position=jnp.arange(3.0), count=1)
    moved = jax.jit(lambda s: s.replace(position=s.position + 1, count=s.count * 2))(
        state
    )
    grads = jax.grad(lambda s: jnp.sum(s.position**2))(
        _State(position=jnp.arange(3.0), count=jnp.asarray(1.0))
    )
    paths = jax.tree_util.tree_flatten_with_path(state)[0]
    return {
        "moved": moved.position,
        "count": moved.count,
        "grads": grads.position,
        "mapping": sorted(state.keys()),
        "leaves": len(jax.tree.leaves(_Frozen(x=jnp.ones(2)))),
        "paths": [jax.tree_util.keystr(path) for path, _ in paths],
        "tuple": len(state.to_tuple()),
        "vmap": jax.vmap(lambda s: s.position * s.count)(
            _State(position=jnp.ones((2, 3)), count=jnp.arange(2))
        ),
    }


def traces():
    @jax.jit
    @chex.assert_max_traces(n=1)
    def double(x):
        return 2 * x

    double(jnp.ones(2))
    double(jnp.ones(2))
    message = _message(double, jnp.ones(3))
    chex.clear_trace_counter()
    return "traced" in message


def value_assertions():
    @chex.chexify
    @jax.jit
    def root(x):
        chex.assert_trees_all_equal(x > 0, jnp.ones_like(x, bool))
        return jnp.sqrt(x)

    value = root(jnp.array([4.0, 9.0]))
    root.wait_checks()
    root(jnp.array([-1.0]))
    with pytest.raises(AssertionError):
        root.wait_checks()
    return value


def variants():
    outputs = {}

    class Case(chex.TestCase):
        @chex.variants(with_jit=True, without_jit=True, with_device=True)
        def test_roll(self):
            shift = self.variant(lambda x: jnp.roll(x, 1))
            outputs[self.id().rpartition("test_")[2]] = np.asarray(shift(jnp.arange(3)))

    unittest.TextTestRunner(io.StringIO()).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Case)
    )
    return outputs


def fakes():
    with chex.fake_pmap_and_jit():
        mapped = jax.pmap(lambda x: 2 * x)(jnp.ones((3, 2)))
        plain = jax.jit(lambda x: x + 1)(jnp.ones(2))
    return {"pmap": mapped, "jit": plain}


def dimensions():
    x = jnp.zeros((2, 3, 4))
    dims = chex.Dimensions(B=2, T=3, N=4)
    chex.assert_shape(x, dims["BTN"])
    return {"sizes": dims["BTN"], "wildcard": dims["B*N"]}
