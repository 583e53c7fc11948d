"""Programs for eight devices that compile again; as in `causes`."""

from __future__ import annotations

import olympus
import olympus.numpy as jnp
from olympus.sharding import NamedSharding, PartitionSpec
from tests.explanations.causes import ANY, Cause, ones

CAUSES: list[Cause] = []


def cause(*changes, cure):
    def add(run):
        CAUSES.append(Cause(run, changes, cure))
        return run

    return add


def mesh(n=8, name="a"):
    return olympus.make_mesh((n,), (name,), devices=olympus.devices()[:n])


def split(x, spec, n=8):
    return olympus.device_put(x, NamedSharding(mesh(n), spec))


P = PartitionSpec


@cause(("x", "committed", "no device", "cpu:1"), cure="place")
def an_array_that_is_moved_in_between():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    f(olympus.device_put(ones(3), olympus.devices()[1]))  # miss


@cause(("x", "device", "cpu:1", "cpu:2"), cure="place")
def arrays_on_two_devices():
    f = olympus.jit(lambda x: x * 2)
    for i in (1, 2):
        f(olympus.device_put(ones(3), olympus.devices()[i]))  # miss


@cause(("x", "committed", ANY, ANY), cure="place")
def an_array_that_becomes_divided():
    f = olympus.jit(lambda x: x * 2)
    f(ones(8))
    f(split(ones(8), P("a")))  # miss


@cause(
    ("x", "sharding", "P('a',) of a mesh of a=8", "P() of a mesh of a=8"), cure="place"
)
def divided_then_replicated():
    f = olympus.jit(lambda x: x * 2)
    f(split(ones(8), P("a")))
    f(split(ones(8), P()))  # miss


@cause(("x", "sharding", ANY, ANY), cure="place")
def another_axis_is_divided():
    f = olympus.jit(lambda x: x * 2)
    f(split(ones(8, 8), P("a", None)))
    f(split(ones(8, 8), P(None, "a")))  # miss


@cause(("x", "sharding", ANY, ANY), cure="place")
def a_mesh_of_another_size():
    f = olympus.jit(lambda x: x * 2)
    f(split(ones(8), P("a"), 8))
    f(split(ones(8), P("a"), 4))  # miss


@cause(("params['b']", "sharding", ANY, ANY), cure="place")
def one_leaf_is_divided_otherwise():
    f = olympus.jit(lambda params: params["a"] + params["b"])
    f({"a": split(ones(8), P("a")), "b": split(ones(8), P("a"))})
    f({"a": split(ones(8), P("a")), "b": split(ones(8), P())})  # miss


@cause(("x", "shape", "[8]", "[16]"), cure="pad")
def a_divided_array_of_another_shape():
    f = olympus.jit(lambda x: x * 2)
    f(split(ones(8), P("a")))
    f(split(ones(16), P("a")))  # miss


@cause(("default_device", "setting", "None", ANY), cure="setting")
def another_default_device():
    f = olympus.jit(lambda x: x * 2)
    f(1.0)
    with olympus.default_device(olympus.devices()[3]):
        f(1.0)  # miss


@cause(("device", "option", "None", ANY), cure="options")
def a_device_in_one_place_only():
    def f(x):
        return x * 2

    olympus.jit(f)(ones(3))
    olympus.jit(f, device=olympus.devices()[2])(ones(3))  # miss


@cause(("in_shardings", "option", ANY, ANY), cure="options")
def shardings_in_one_place_only():
    def f(x):
        return x * 2

    olympus.jit(f)(ones(8))
    olympus.jit(f, in_shardings=NamedSharding(mesh(), P("a")))(ones(8))  # miss


@cause(("mesh", "setting", ANY, ANY), cure="setting")
def another_mesh_is_set():
    f, x = olympus.jit(lambda x: x * 2), ones(8)  # made inside it would be on the mesh
    for n in (8, 4):
        with olympus.set_mesh(mesh(n)):
            f(x)  # miss


@cause(("x", "committed", ANY, ANY), cure="place")
def a_type_that_says_how_it_is_divided():
    f = olympus.jit(lambda x: x * 2)
    axes = (olympus.sharding.AxisType.Explicit,)
    m = olympus.make_mesh((8,), ("a",), axis_types=axes)
    f(ones(8))
    f(olympus.device_put(ones(8), NamedSharding(m, P("a"))))  # miss


@cause(("operand 0", "committed", "no device", "cpu:1"), cure="place")
def an_eager_operation_on_another_device():
    x = ones(19)
    olympus.lax.neg(x)
    olympus.lax.neg(olympus.device_put(x, olympus.devices()[1]))  # miss


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def another_shape_on_one_device():
    f = olympus.jit(lambda x: jnp.sin(x) * 2)
    for n in (3, 4):
        f(olympus.device_put(ones(n), olympus.devices()[5]))  # miss
