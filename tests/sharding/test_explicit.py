"""Types that say how explicit axes of a mesh divide values."""

from __future__ import annotations

import ast
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
from tests import sampling
from tests.sharding import explicit_cases

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
DATA = pathlib.Path(__file__).parents[1] / "data"
RECORDED = json.loads((DATA / "explicit_types.json").read_text())
DIFFERENCES = json.loads((DATA / "explicit_differences.json").read_text())
OURS = {**RECORDED, **DIFFERENCES["beyond"], **DIFFERENCES["different"]}


@pytest.fixture(scope="module")
def mesh():
    return olympus.make_mesh((4, 2), ("x", "y"))


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

    with olympus.set_mesh(mesh):
        out = olympus.jit(f)(x)
        gradient = olympus.jit(olympus.grad(loss))(x)
        assert out.aval is olympus.typeof(f(x))
    assert olympus.typeof(gradient) is olympus.typeof(x)
    assert entries(gradient) == ("x", "y")
    if name not in ("reshard", "auto"):
        np.testing.assert_allclose(out, f(jnp.asarray(value)), 1e-5)
        with olympus.set_mesh(None):
            expected = olympus.grad(loss)(jnp.asarray(value))
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


# -- the table of cases ----------------------------------------------------------------


@pytest.fixture(scope="module")
def names(mesh):
    for page in ("nn", "random", "scipy.linalg", "sharding"):
        importlib.import_module(f"olympus.{page}")
    return {"jax": olympus, "jnp": jnp, "lax": lax, "np": np, "P": P, "mesh": mesh}


def put_operands(over, names):
    """The operands of some names, divided over a mesh as the table says."""
    return {
        name: olympus.device_put(
            explicit_cases.value(name),
            NamedSharding(over, P(*explicit_cases.OPERANDS[name][2])),
        )
        for name in names
    }


@pytest.fixture(scope="module")
def operands(mesh):
    return put_operands(mesh, explicit_cases.OPERANDS)


def evaluate(text, names):
    """A function of the operands that an expression uses, and their names."""
    code = compile(text, text, "eval")
    found = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    used = [n for n in explicit_cases.OPERANDS if n in found]
    return lambda values: eval(code, {**names, **values}), used


def type_text(aval):
    return aval.str_long() if hasattr(aval, "str_long") else aval.short()


@pytest.mark.parametrize("text", sampling.part(list(RECORDED), 4))
def test_types_are_those_of_jax(text, names, operands, mesh):
    f, used = evaluate(text, names)
    with olympus.set_mesh(mesh):
        try:
            traced = olympus.jit(f).trace({n: operands[n] for n in used})
            avals = traced.olympuspr.olympuspr.out_avals
            types = " ".join(map(type_text, avals))
        except Exception as error:
            types = f"!{type(error).__name__}"
    assert types == OURS[text]


@pytest.mark.slow
@pytest.mark.parametrize("text", sampling.part(list(RECORDED), 6))
def test_values_are_those_of_one_device(text, names, operands, mesh):
    f, used = evaluate(text, names)
    with olympus.set_mesh(mesh):
        try:
            outs = olympus.jit(f)({n: operands[n] for n in used})
        except (TypeError, ValueError, NotImplementedError, AssertionError):
            return
        types = [olympus.typeof(x) for x in olympus.tree.leaves(outs)]
    # What cannot be read, and programs that depend on the number of devices.
    if any("{U:" in type_text(aval) for aval in types) or "psum" in text:
        return
    one = olympus.make_mesh((1, 1), ("x", "y"))
    with olympus.set_mesh(one):
        expected = olympus.jit(f)(put_operands(one, used))
    rows = zip(olympus.tree.leaves(outs), olympus.tree.leaves(expected), strict=True)
    for x, y in rows:
        if x.dtype.kind in "biufc":
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), 1e-4, 1e-4)
