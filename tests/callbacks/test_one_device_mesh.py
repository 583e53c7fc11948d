"""Calls of Python in `shard_map` over a mesh of one device."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import io_callback
from olympus.sharding import PartitionSpec as P

ROW = np.array([1.0, 2.0, 3.0], np.float32)
TYPE = olympus.ShapeDtypeStruct(ROW.shape, ROW.dtype)


def double(a):
    return np.asarray(a) * 2


def pure(x):
    return olympus.pure_callback(double, TYPE, x, vmap_method="sequential")


def call_in_order(x):
    return io_callback(double, TYPE, x, ordered=True)


def print_in_order(x):
    olympus.debug.print("{}", x, ordered=True)
    return 2 * x


def on_one_device(f):
    mesh = olympus.make_mesh((1,), ("x",))
    return olympus.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P(), check_vma=False)


# Each doubles its argument.
FUNCTIONS = {
    "pure": pure,
    "unordered": lambda x: io_callback(double, TYPE, x),
    "in order": call_in_order,
    "printed in order": print_in_order,
    "in a jitted function": lambda x: olympus.jit(pure)(x),
    "in a loop": lambda x: lax.fori_loop(0, 2, lambda i, x: call_in_order(x), x) / 2,
    "in a branch": lambda x: lax.cond(x.sum() > 0, pure, jnp.sin, x),
    "beside a sum": lambda x: lax.psum(pure(x), "x") + lax.axis_index("x"),
    "inside of another": lambda x: on_one_device(pure)(x),
}

PROGRAMS = {
    "alone": (lambda f: f, 2),
    "jitted": (olympus.jit, 2),
    "beside a call outside": (lambda f: olympus.jit(lambda x: f(x) + pure(x)), 4),
    "in a loop": (
        lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 2)[0], 4
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", PROGRAMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, place):
    program, factor = PROGRAMS[place]
    out = program(on_one_device(FUNCTIONS[name]))(ROW)
    np.testing.assert_array_equal(out, factor * ROW)
    olympus.effects_barrier()


def test_beside_a_call():
    f = on_one_device(lambda x: x + lax.axis_index("x"))
    out = olympus.jit(lambda x: f(x) + pure(x))(ROW)
    np.testing.assert_array_equal(out, 3 * ROW)
