"""More programs that compile again, written after the tables before had passed.

As in `causes`.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import types

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from tests.explanations.causes import ANY, Cause, ones

CAUSES: list[Cause] = []


def cause(*changes, cure):
    def add(run):
        CAUSES.append(Cause(run, changes, cure))
        return run

    return add


MADE_AGAIN = (ANY, "made again", ANY, ANY)


@cause(("opt", "static value", ANY, ANY), cure="expected")
def a_static_builtin():
    f = olympus.jit(lambda x, opt: opt(x, x), static_argnames="opt")
    for opt in (operator.add, operator.mul):
        f(ones(3), opt)  # miss


@cause(("cls", "static value", "Dense", "Conv"), cure="expected")
def a_static_class_of_the_user():
    class Dense:
        pass

    class Conv:
        pass

    f = olympus.jit(lambda x, cls: x, static_argnames="cls")
    for cls in (Dense, Conv):
        f(ones(3), cls)  # miss


@cause(("ns.k", "cell", "1", "2"), MADE_AGAIN, cure="argument")
def a_namespace_in_a_closure():
    def make(ns):
        return olympus.jit(lambda x: x * ns.k)

    for k in (1, 2):
        make(types.SimpleNamespace(k=k))(ones(3))  # miss


@cause(("ks[1]", "cell", "2", "5"), MADE_AGAIN, cure="argument")
def one_number_of_a_list_in_a_closure():
    def make(ks):
        return olympus.jit(lambda x: x * ks[1])

    for ks in ([1, 2, 3], [1, 5, 3]):
        make(ks)(ones(3))  # miss


@cause(("w", "cell", "float32[3]", "float32[4]"), MADE_AGAIN, cure="argument")
def weights_of_another_size_in_a_closure():
    def make(w):
        return olympus.jit(lambda x: x * w.sum())

    for n in (3, 4):
        make(np.ones(n, np.float32))(ones(3))  # miss


@cause(("self.layers[0].width", "instance", "4", "8"), MADE_AGAIN, cure="argument")
def a_model_of_layers():
    class Layer:
        def __init__(self, width):
            self.width = width

    class Model:
        def __init__(self, width):
            self.layers = [Layer(width)]

        def __call__(self, x):
            return x * self.layers[0].width

    for width in (4, 8):
        olympus.jit(Model(width).__call__)(ones(3))  # miss


@cause(("training", "static value", "True", "False"), cure="expected")
def training_and_evaluation():
    @functools.partial(olympus.jit, static_argnames=("training",))
    def forward(x, training=True):
        return x * 2 if training else x

    forward(ones(3), training=True)
    forward(ones(3), training=False)  # miss


@cause(("state['step']", "weak type", "True", "False"), cure="weak")
def a_step_that_becomes_an_array():
    f = olympus.jit(lambda state: {"step": state["step"] + jnp.int32(1)})
    state = {"step": 0}
    for _ in range(2):
        state = f(state)  # miss


@cause(("params[1]['w']", "dtype", "float32", "bfloat16"), cure="dtype")
def one_layer_in_lower_precision():
    f = olympus.jit(lambda params: params[0]["w"])
    f([{"w": ones(3)}, {"w": ones(3)}])
    f([{"w": ones(3)}, {"w": ones(3, dtype="bfloat16")}])  # miss


@cause(("lr", "dtype", "float32", "int32"), cure="dtype")
def a_rate_without_a_point():
    f = olympus.jit(lambda x, lr: x * lr)
    f(ones(3), 0.5)
    f(ones(3), 1)  # miss


@cause(("y", "removed", "float32[3]", ""), cure="structure")
def an_argument_that_is_left_out():
    f = olympus.jit(lambda x, y=None: x)
    f(ones(3), ones(3))
    f(ones(3))  # miss


@cause(("y", "structure", "float32[3]", "None"), cure="none")
def an_argument_that_is_none():
    f = olympus.jit(lambda x, y: x)
    f(ones(3), ones(3))
    f(ones(3), None)  # miss


@cause(("x", "container", "tuple", "Point"), cure="structure")
def a_tuple_then_a_named_tuple():
    Point = collections.namedtuple("Point", "a b")
    f = olympus.jit(lambda x: x[0] + x[1])
    f((ones(3), ones(3)))
    f(Point(ones(3), ones(3)))  # miss


@cause(("x", "structure", "float32[3]", "list"), cure="structure")
def an_array_then_a_list_of_arrays():
    f = olympus.jit(lambda x: x[0])
    f(ones(3))
    f([ones(3)])  # miss


@cause(("x", "shape", "[7]", "[9]"), cure="pad")
def the_shape_between_two_known():
    f = olympus.jit(lambda x: x.sum())
    for n in (3, 30, 7, 9):
        f(ones(n))  # miss


@cause(("x", "shape", "[8, 128]", "[8, 64]"), cure="pad")
def the_axis_that_differs_least():
    f = olympus.jit(lambda x: x.sum())
    for shape in ((8, 128), (4, 32), (8, 64)):
        f(ones(*shape))  # miss


@cause(("n", "static value", "3", "4"), ("x", "shape", "[3]", "[4]"), cure="pad")
def a_size_by_keyword_and_its_array():
    f = olympus.jit(lambda x, n: x.reshape(n), static_argnames="n")
    for n in (3, 4):
        f(ones(n), n=n)  # miss


@cause(("config", "static value", ANY, ANY), cure="expected")
def a_static_tuple_that_grows():
    f = olympus.jit(lambda x, config: x, static_argnames="config")
    f(ones(3), ("a",))
    f(ones(3), ("a", "b"))  # miss


@cause(("config.layers[1]", "static value", "8", "16"), cure="array")
def a_tuple_in_a_static_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Config:
        layers: tuple

    f = olympus.jit(lambda x, config: x, static_argnames="config")
    f(ones(3), Config((8, 8)))
    f(ones(3), Config((8, 16)))  # miss


@cause(("dims", "static value", ANY, ANY), cure="expected")
def a_static_shape_of_another_rank():
    f = olympus.jit(lambda dims: jnp.zeros(dims), static_argnums=0)
    f((2, 3))
    f((2, 3, 4))  # miss


@cause(("argnums", "transformation", "0", "1"), MADE_AGAIN, cure="hoist")
def gradients_by_one_argument_each():
    def f(a, b):
        return (a * b).sum()

    for i in (0, 1):
        olympus.jit(olympus.grad(f, argnums=i))(ones(3), ones(3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_jacobian_in_a_loop():
    def f(x):
        return x * 2

    for _ in range(2):
        olympus.jit(olympus.jacfwd(f))(ones(3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_hessian_in_a_loop():
    def f(x):
        return (x * x).sum()

    for _ in range(2):
        olympus.jit(olympus.hessian(f))(ones(3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_vmap_of_a_grad_in_a_loop():
    def f(x):
        return x * x

    for _ in range(2):
        olympus.jit(olympus.vmap(olympus.grad(f)))(ones(3))  # miss


@cause(("keep_unused", "option", "False", "True"), cure="options")
def another_choice_of_unused_arguments():
    def f(x, y):
        return x

    olympus.jit(f)(ones(3), ones(3))
    olympus.jit(f, keep_unused=True)(ones(3), ones(3))  # miss


@cause(("caches", "cleared", ANY, ANY), cure="cleared")
def caches_cleared_by_a_test():
    f = olympus.jit(lambda x: x * 2)
    for _ in range(2):
        f(ones(3))  # miss
        olympus.clear_caches()


@cause((ANY, "parameter", "0", "1"), cure="expected")
def an_eager_cumulative_sum_of_another_axis():
    x = ones(5, 6)
    for axis in (0, 1):
        jnp.cumsum(x, axis=axis)  # miss


@cause((ANY, "parameter", ANY, ANY), cure="expected")
def an_eager_transpose():
    x = ones(2, 3, 5)
    for axes in ((0, 2, 1), (1, 0, 2)):
        jnp.transpose(x, axes)  # miss


@cause((ANY, "shape", "[13, 2]", "[14, 2]"), cure="pad")
def an_eager_softmax_at_a_new_shape():
    for n in (13, 14):
        olympus.nn.softmax(ones(n, 2))  # miss


@cause((ANY, "dtype", "float32", "int32"), cure="dtype")
def an_eager_maximum_of_another_dtype():
    jnp.maximum(ones(15), ones(15))
    jnp.maximum(ones(15, dtype="int32"), ones(15, dtype="int32"))  # miss


@cause(("x", "dtype", "float32", "bfloat16"), cure="dtype")
def an_eager_map_of_another_dtype():
    def f(x):
        return x * 2

    for dtype in ("float32", "bfloat16"):
        lax.map(f, ones(4, dtype=dtype))  # miss


@cause(("body", "made again", ANY, ANY), cure="hoist")
def an_eager_while_loop_with_a_body_made_again():
    def goes_on(x):
        return x < 3

    for _ in range(2):

        def body(x):
            return x + 1

        lax.while_loop(goes_on, body, 0)  # miss


@cause((ANY, "shape", "[2]", "[3]"), cure="pad")
def eager_choices_of_another_number():
    key = random.key(0)
    for n in (2, 3):
        random.permutation(key, ones(n))  # miss


@cause(("default_device", "setting", ANY, ANY), cure="setting")
def a_default_device_that_is_set():
    f = olympus.jit(lambda x: x * 2)
    f(1.0)
    with olympus.default_device(olympus.devices()[0]):
        f(1.0)  # miss
