"""Loops and branches whose values explicit axes divide in some places only.

The divisions and values are those of JAX 0.12.
"""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import AxisType, NamedSharding, PartitionSpec

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.arange(32, dtype=np.float32).reshape(8, 4)


def make_mesh(*types):
    return olympus.make_mesh((2, 4), ("x", "y"), axis_types=types)


def make_adder(mesh):
    """Adds one, to an undivided array; the result is divided."""

    def half(c):
        start = lax.axis_index("x") * 4
        return lax.dynamic_slice_in_dim(c, start, 4) + 1.0

    return olympus.shard_map(half, mesh=mesh, in_specs=P(), out_specs=P("x"))


LOOPS = {
    "scan": lambda f, x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
    "reverse": lambda f, x: lax.scan(
        lambda c, _: (f(c), None), x, None, length=2, reverse=True, unroll=2
    )[0],
    "while": lambda f, x: lax.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])), (0, x)
    )[1],
    "bounded": lambda f, x: lax.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])), (0, x), max_steps=3
    )[1],
    "fori": lambda f, x: lax.fori_loop(0, 2, lambda i, c: f(c), x),
    "nested": lambda f, x: lax.fori_loop(
        0, 2, lambda i, c: lax.fori_loop(0, 1, lambda i, c: f(c), c), x
    ),
}


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("other", [AxisType.Explicit, AxisType.Auto])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_carry_becomes_divided(loop, other, jitted):
    f = make_adder(make_mesh(AxisType.Explicit, other))

    def run(x):
        return LOOPS[loop](f, x)

    out = olympus.jit(run)(X) if jitted else run(X)
    assert olympus.typeof(out).str_short() == "float32[8@x,4]"
    assert np.array_equal(out, X + 2)


@pytest.mark.parametrize("loop", ["scan", "bounded"])
def test_gradients_of_a_carry_that_becomes_divided(loop):
    f = make_adder(make_mesh(AxisType.Explicit, AxisType.Explicit))
    gradient = olympus.grad(lambda x: (LOOPS[loop](f, x) * X).sum())(jnp.asarray(X))
    assert np.array_equal(gradient, X)
    tangent = olympus.jvp(lambda x: LOOPS[loop](f, x), (X,), (X,))[1]
    assert np.array_equal(tangent, X)


def test_outputs_of_steps_are_divided_too():
    f = make_adder(make_mesh(AxisType.Explicit, AxisType.Explicit))
    last, rows = lax.scan(lambda c, _: (f(c), f(c)), X, None, length=2)
    assert olympus.typeof(rows).str_short() == "float32[2,8@x,4]"
    assert np.array_equal(rows, [X + 1, X + 2])
    assert np.array_equal(last, X + 2)


@pytest.mark.parametrize("pred", [True, False])
@pytest.mark.parametrize("swapped", [True, False])
def test_branches_are_divided_alike(pred, swapped):
    f = make_adder(make_mesh(AxisType.Explicit, AxisType.Explicit))
    branches = [f, lambda c: c * 2]
    if swapped:
        branches.reverse()
    out = lax.cond(jnp.array(pred), *branches, X)
    assert olympus.typeof(out).str_short() == "float32[8@x,4]"
    assert np.array_equal(out, X + 1 if pred != swapped else X * 2)


def test_under_a_set_mesh_the_types_must_be_equal():
    mesh = make_mesh(AxisType.Explicit, AxisType.Explicit)
    f = make_adder(mesh)
    with olympus.set_mesh(mesh):
        with pytest.raises(TypeError, match=r"got f32\[8@x,4\], expected f32\[8,4\]"):
            LOOPS["scan"](f, X)
        with pytest.raises(TypeError, match="must return equal types"):
            lax.cond(jnp.array(True), f, lambda c: c * 2, X)


def test_arguments_are_moved_beside_automatic_axes():
    mesh = make_mesh(AxisType.Explicit, AxisType.Auto)
    x = olympus.device_put(X, NamedSharding(mesh, P("x")))
    out = LOOPS["scan"](make_adder(mesh), x)
    assert olympus.typeof(out).str_short() == "float32[8@x,4]"
    assert np.array_equal(out, X + 2)
