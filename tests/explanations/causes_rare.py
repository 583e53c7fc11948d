"""Programs that compile again for rarer reasons, or for several at once.

Written before they were run, after the explanations had passed the other tables.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import typing

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax
from tests.explanations.causes import ANY, Cause, ones

CAUSES: list[Cause] = []


def cause(*changes, cure):
    def add(run):
        CAUSES.append(Cause(run, changes, cure))
        return run

    return add


@cause(("x", "shape", "[4]", "[5]"), cure="pad")
def two_closures_in_turn_and_one_new_shape():
    def make(k):
        return olympus.jit(lambda x: x * k)

    one, two = make(1), make(2)
    for n in (4, 5):
        one(ones(n)), two(ones(n))
    one(ones(4))
    three = make(3)
    three(ones(4))
    three(ones(5))  # miss


@cause(("k", "cell", "2", "3"), ("<lambda>", "made again", ANY, ANY), cure="argument")
def the_nearest_of_several_closures():
    def make(k, j):
        return olympus.jit(lambda x: x * k + j)

    make(1, 1)(ones(3))
    make(2, 9)(ones(3))
    make(3, 9)(ones(3))  # miss


@cause(("batch.mask", "structure", "None", "bool[3]"), cure="none")
def an_optional_field_of_a_named_tuple():
    class Batch(typing.NamedTuple):
        x: typing.Any
        mask: typing.Any = None

    f = olympus.jit(lambda batch: batch.x * 2)
    f(Batch(ones(3)))
    f(Batch(ones(3), np.ones(3, bool)))  # miss


@cause(("opt_state[0]['m']", "container", "tuple", "list"), cure="structure")
def a_restored_state_has_lists():
    f = olympus.jit(lambda opt_state: opt_state[0]["m"][0] * 2)
    f(({"m": (ones(3), ones(3))}, ones()))
    f(({"m": [ones(3), ones(3)]}, ones()))  # miss


@cause(("params", "container", "dict", "OrderedDict"), cure="structure")
def restored_parameters_in_an_ordered_dictionary():
    f = olympus.jit(lambda params, x: params["w"] * x)
    f({"w": ones(3)}, ones(3))
    f(collections.OrderedDict(w=ones(3)), ones(3))  # miss


@cause(("state['step']", "dtype", "int32", "float32"), cure="dtype")
def a_restored_counter_is_a_float():
    f = olympus.jit(lambda state: state["step"] + 1)
    f({"step": np.int32(1), "w": ones(3)})
    f({"step": np.float32(1), "w": ones(3)})  # miss


@cause(("state['step']", "rank", "[]", "[1]"), cure="rank")
def a_restored_counter_has_an_axis():
    f = olympus.jit(lambda state: state["step"] + 1)
    f({"step": np.int32(1)})
    f({"step": np.ones(1, np.int32)})  # miss


@cause(("keys[1]", "static value", "'b'", "'c'"), cure="expected")
def a_static_tuple_of_names():
    f = olympus.jit(lambda d, keys: d["a"], static_argnames="keys")
    f({"a": ones(3)}, keys=("a", "b"))
    f({"a": ones(3)}, keys=("a", "c"))  # miss


@cause(("n", "static value", ANY, ANY), cure="array")
def a_static_numpy_scalar():
    f = olympus.jit(lambda x, n: x * n, static_argnums=1)
    f(ones(3), np.int32(1))
    f(ones(3), np.int32(2))  # miss


@cause(
    ("hp.lr", "static value", "0.1", "0.2"),
    ("hp.wd", "static value", "1", "2"),
    cure="array",
)
def two_fields_of_static_parameters():
    @dataclasses.dataclass(frozen=True)
    class Hyper:
        lr: float
        wd: int
        name: str = "adam"

    f = olympus.jit(lambda x, hp: x * hp.lr, static_argnames="hp")
    f(ones(3), hp=Hyper(0.1, 1))
    f(ones(3), hp=Hyper(0.2, 2))  # miss


@cause(("f", "class", ANY, ANY), cure="hoist")
def a_static_object_of_a_class_made_again():
    def make():
        @dataclasses.dataclass(frozen=True)
        class Config:
            n: int = 3

        return Config()

    g = olympus.jit(lambda x, f: x, static_argnums=1)
    g(ones(3), make())
    g(ones(3), make())  # miss


@cause(("fn", "identity", ANY, ANY), cure="hoist")
def a_bound_method_as_a_static_argument():
    class Model:
        def apply(self, x):
            return x * 2

    f = olympus.jit(lambda x, fn: fn(x), static_argnums=1)
    for _ in range(2):
        f(ones(3), Model().apply)  # miss


@cause(
    ("donate_argnums", "option", "()", "(0,)"),
    ("x", "shape", "[3]", "[5]"),
    cure="options",
)
def donation_and_another_shape():
    def f(x):
        return x * 2

    olympus.jit(f)(ones(3))
    olympus.jit(f, donate_argnums=0)(ones(5))  # miss


@cause(
    ("static_argnums", "option", "(1,)", "(1, 2)"),
    ("b", "static", ANY, ANY),
    cure="options",
)
def one_more_static_argument():
    def f(x, a, b):
        return x * a * b

    olympus.jit(f, static_argnums=1)(ones(3), 2, 3)
    olympus.jit(f, static_argnums=(1, 2))(ones(3), 2, 3)  # miss


@cause(("inline", "option", "False", "True"), cure="options")
def inlined_in_one_place():
    def f(x):
        return x * 2

    olympus.jit(f)(ones(3))
    olympus.jit(f, inline=True)(ones(3))  # miss


@cause(
    ("in_axes", "transformation", "0", "1"), ("f", "made again", ANY, ANY), cure="hoist"
)
def mapped_over_another_axis():
    def f(x):
        return x * 2

    for axis in (0, 1):
        olympus.jit(olympus.vmap(f, in_axes=axis))(ones(3, 3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def jit_of_vmap_in_a_loop():
    def f(x):
        return x * 2

    for _ in range(2):
        olympus.jit(olympus.vmap(f))(ones(3, 3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_checkpointed_function_in_a_loop():
    def f(x):
        return jnp.sin(x)

    for _ in range(2):
        olympus.jit(olympus.checkpoint(f))(ones(3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_users_decorator_in_a_loop():
    def f(x):
        return x * 2

    def logged(fun):
        @functools.wraps(fun)
        def wrapper(*args):
            return fun(*args)

        return wrapper

    for _ in range(2):
        olympus.jit(logged(f))(ones(3))  # miss


@cause(("scale", "cell", "2.0", "4.0"), ("f", "made again", ANY, ANY), cure="argument")
def a_users_decorator_with_a_number():
    def f(x):
        return x * 2

    def scaled(fun, scale):
        @functools.wraps(fun)
        def wrapper(x):
            return scale * fun(x)

        return wrapper

    for scale in (2.0, 4.0):
        olympus.jit(scaled(f, scale))(ones(3))  # miss


@cause(
    ("self.scale", "instance", "0.5", "0.25"),
    ("Layer", "made again", ANY, ANY),
    cure="argument",
)
def a_layer_with_slots():
    class Layer:
        __slots__ = ("__weakref__", "scale")

        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x):
            return x * self.scale

    def make(scale):
        return olympus.jit(Layer(scale))

    for scale in (0.5, 0.25):
        make(scale)(ones(3))  # miss


@cause(("flag", "cell", "True", "False"), ("f", "made again", ANY, ANY), cure="static")
def a_closure_over_a_flag():
    def make(flag):
        def f(x):
            return x if flag else -x

        return olympus.jit(f)

    for flag in (True, False):
        make(flag)(ones(3))  # miss


@cause(
    ("size", "cell", "(2, 3)", "(3, 2)"), ("f", "made again", ANY, ANY), cure="static"
)
def a_closure_over_a_shape():
    def make(size):
        def f(x):
            return x.reshape(size)

        return olympus.jit(f)

    for size in ((2, 3), (3, 2)):
        make(size)(ones(6))  # miss


@cause(
    ("x", "weak type", "True", "False"),
    ("y", "weak type", "True", "False"),
    cure="weak",
)
def two_numbers_become_arrays():
    f = olympus.jit(lambda x, y: x + y)
    f(1.0, 2.0)
    f(jnp.float32(1), jnp.float32(2))  # miss


@cause(
    ("x", "dtype", "float32", "float64"),
    ("enable_x64", "setting", "False", "True"),
    cure="setting",
)
def a_wide_array_in_a_block():
    f = olympus.jit(lambda x: x * 2)
    f(np.ones(3))
    with olympus.enable_x64(True):
        f(jnp.ones(3, "float64"))  # miss


@cause(("c[0]", "shape", "[3]", "[4]"), ("c[1]", "shape", "[3]", "[4]"), cure="pad")
def an_eager_scan_with_a_pair_as_carry():
    def body(c, x):
        return (c[0] + x, c[1] * x), None

    for n in (3, 4):
        lax.scan(body, (ones(n), ones(n)), ones(6, 1))  # miss


@cause(
    ("limit", "cell", "3", "4"), ("<lambda>", "made again", ANY, ANY), cure="argument"
)
def an_eager_while_loop_with_another_limit():
    def body(i):
        return i + 1

    for limit in (3, 4):
        lax.while_loop(lambda i: i < limit, body, jnp.int32(0))  # miss  # noqa: B023


@cause((ANY, "shape", "[3]", "[7]"), cure="pad")
def an_eager_gradient_at_a_new_shape():
    def loss(w):
        return jnp.sum(jnp.tanh(w))

    for n in (3, 7):
        olympus.grad(olympus.jit(loss))(ones(n))  # miss


@cause(("y", "shape", "[5]", "[6]"), cure="pad")
def an_inner_function_of_a_hit_and_a_miss():
    inner = olympus.jit(lambda x, y: x.sum() + y.sum())
    inner(ones(3, 2), ones(5))
    inner(ones(4, 3), ones(6))
    inner(ones(3, 2), ones(6))  # miss


@cause(
    ("d['b']", "added", "", "float32[]"),
    ("d['a']", "shape", "[3]", "[4]"),
    cure="structure",
)
def a_new_key_and_another_shape():
    f = olympus.jit(lambda d: d["a"] * 2)
    f({"a": ones(3)})
    f({"a": ones(4), "b": ones()})  # miss


@cause(("x", "removed", ANY, ""), ("image", "added", "", ANY), cure="structure")
def another_keyword():
    f = olympus.jit(lambda **inputs: sum(inputs.values()))
    f(x=ones(3))
    f(image=ones(3))  # miss


@cause(("random_seed_offset", "setting", "0", "1"), cure="setting")
def another_seed_offset():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.config.states["olympus_random_seed_offset"](1):
        f(ones(3))  # miss


@cause(("caches", "cleared", ANY, ANY), cure="cleared")
def caches_cleared_between_two_shapes():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3)), f(ones(4))
    olympus.clear_caches()
    f(ones(3))  # miss
