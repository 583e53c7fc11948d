"""Types that say how explicit axes of a mesh divide values."""

from __future__ import annotations

import importlib
import json
import pathlib

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.errors import ShardingTypeError
from olympus.sharding import NamedSharding, PartitionSpec
from tests.sharding import explicit_cases

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "explicit_types.json").read_text()
)


@pytest.fixture(scope="module")
def mesh():
    return olympus.make_mesh((4, 2), ("x", "y"))


@pytest.fixture(scope="module")
def names(mesh):
    for page in ("nn", "random", "scipy.linalg", "sharding"):
        importlib.import_module(f"olympus.{page}")
    return {"jax": olympus, "jnp": jnp, "lax": lax, "np": np, "P": P, "mesh": mesh}


def operands(mesh):
    return {
        name: olympus.device_put(
            explicit_cases.value(name), NamedSharding(mesh, P(*spec))
        )
        for name, (_, _, spec) in explicit_cases.OPERANDS.items()
    }


def entries(x):
    """How an array is divided."""
    spec = x.sharding.spec.partitions
    return spec + (None,) * (x.ndim - len(spec))


def weights(x):
    """Different numbers for all elements."""
    return np.arange(x.size, dtype=np.float32).reshape(x.shape)


FUNCTIONS = {
    "sin": jnp.sin,
    "sum of rows": lambda x: x.sum(1),
    "transpose": lambda x: x.T * 2,
    "merge": lambda x: x.reshape(32),
    "split": lambda x: x.reshape(4, 2, 4) ** 2,
    "softmax": olympus.nn.softmax,
    "scan": lambda x: lax.fori_loop(0, 3, lambda i, c: c * 2, x),
    "vmap": olympus.vmap(lambda r: r / r.sum()),
    "remat": olympus.checkpoint(lambda x: jnp.sin(jnp.sin(x))),
    "reshard": lambda x: olympus.reshard(x * 3, P("y")) ** 2,
    "auto": olympus.sharding.auto_axes(
        lambda x: jnp.cumsum(x, 0), out_sharding=P("x", "y")
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_those_of_one_device(name, mesh):
    f = FUNCTIONS[name]
    value = explicit_cases.value("a")
    x = olympus.device_put(value, NamedSharding(mesh, P("x", "y")))

    def loss(x):
        return (jnp.sin(f(x)) * weights(f(x))).sum()

    def plain_loss(x):
        with olympus.set_mesh(None):
            return loss(x)

    with olympus.set_mesh(mesh):
        out = olympus.jit(f)(x)
        gradient = olympus.jit(olympus.grad(loss))(x)
        assert out.aval is olympus.typeof(f(x))
    assert olympus.typeof(gradient) is olympus.typeof(x)
    assert entries(gradient) == ("x", "y")
    if name not in ("reshard", "auto"):
        np.testing.assert_allclose(out, f(jnp.asarray(value)), 1e-5)
        expected = olympus.grad(plain_loss)(jnp.asarray(value))
        np.testing.assert_allclose(gradient, expected, 1e-4, 1e-5)


def test_types_are_printed(mesh):
    x = olympus.device_put(np.ones((8, 4)), NamedSharding(mesh, P(("x", "y"))))
    assert olympus.typeof(x).short() == "f32[8@(x,y),4]"
    assert olympus.typeof(x).sharding.spec == P(("x", "y"), None)
    text = str(olympus.make_olympuspr(lambda x: olympus.reshard(x.T, P("y")))(x))
    assert "reshard" in text
    assert "f32[4@y,8]" in text


def test_conflicts_are_explained(mesh):
    x = olympus.device_put(np.ones((8, 4)), NamedSharding(mesh, P("x")))
    y = olympus.device_put(np.ones((8, 4)), NamedSharding(mesh, P("y")))
    with pytest.raises(ShardingTypeError) as info:
        x + y
    text = str(info.value)
    for part in ("P('x', None)", "P('y', None)", "'x': 4", "reshard", "test_explicit"):
        assert part in text


def test_a_primitive_without_a_rule_is_refused(mesh):
    p = olympus.extend.core.Primitive("mine")
    p.def_abstract_eval(lambda x: x)
    x = olympus.device_put(np.ones((8, 4)), NamedSharding(mesh, P("x")))
    with pytest.raises(ShardingTypeError, match=r"mine: there is no rule.*auto_axes"):
        olympus.jit(p.bind).trace(x)
