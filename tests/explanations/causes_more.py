"""More programs that compile again: less usual ones, written after the first table.

They were written without running them, and judge the explanations that the first table
had shaped.
"""

from __future__ import annotations

import dataclasses
import enum
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


@cause(("state['opt']['count']", "weak type", "True", "False"), cure="weak")
def a_counter_in_an_optimizer():
    f = olympus.jit(
        lambda state: {
            "w": state["w"] * 2,
            "opt": {"count": state["opt"]["count"] + jnp.int32(1)},
        }
    )
    state = {"w": ones(3), "opt": {"count": 0}}
    for _ in range(3):
        state = f(state)  # miss


@cause(("batch[1]", "dtype", "int32", "uint8"), cure="dtype")
def labels_of_another_loader():
    f = olympus.jit(lambda batch: batch[0].sum() + batch[1].sum())
    f((ones(4, 2), np.zeros(4, np.int32)))
    f((ones(4, 2), np.zeros(4, np.uint8)))  # miss


@cause(
    ("batch['x']", "shape", "[8, 2]", "[5, 2]"),
    ("batch['y']", "shape", "[8]", "[5]"),
    cure="pad",
)
def the_last_batch_of_a_dictionary():
    f = olympus.jit(lambda batch: batch["x"].sum() + batch["y"].sum())
    for n in (8, 8, 5):
        f({"x": ones(n, 2), "y": ones(n)})  # miss


class Mode(enum.Enum):
    TRAIN = 1
    EVAL = 2


@cause(("mode", "static value", ANY, ANY), cure="expected")
def an_enumeration_as_a_static_argument():
    f = olympus.jit(lambda x, mode: x, static_argnames="mode")
    f(ones(3), mode=Mode.TRAIN)
    f(ones(3), mode=Mode.EVAL)  # miss


@cause(("n", "static value", "3", "3.0"), cure="array")
def an_int_then_a_float_as_static_values():
    f = olympus.jit(lambda x, n: x * n, static_argnums=1)
    f(ones(3), 3)
    f(ones(3), 3.0)  # miss


@cause(("opts", "passed", "by position", "by keyword"), cure="structure")
def a_static_argument_by_keyword():
    f = olympus.jit(lambda x, opts: x, static_argnames="opts")
    f(ones(3), "a")
    f(ones(3), opts="a")  # miss


@cause(("dims[3]", "static value", ANY, ANY), cure="expected")
def a_tuple_of_static_names():
    f = olympus.jit(lambda x, dims: x, static_argnums=1)
    f(ones(3), ("a", "b", "c", "d"))
    f(ones(3), ("a", "b", "c", "e"))  # miss


class Slotted:
    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n


@cause(("s.n", "static value", "1", "2"), cure="array")
def an_object_with_slots():
    f = olympus.jit(lambda x, s: x * s.n, static_argnums=1)
    f(ones(3), Slotted(1))
    f(ones(3), Slotted(2))  # miss


@dataclasses.dataclass(frozen=True)
class Options:
    sizes: tuple
    name: str = "a"


@cause(("o.sizes", "static value", "(1, 2)", "(1, 2, 3)"), cure="expected")
def a_tuple_in_a_frozen_dataclass():
    f = olympus.jit(lambda x, o: x, static_argnums=1)
    f(ones(3), Options((1, 2)))
    f(ones(3), Options((1, 2, 3)))  # miss


class Tagged:
    """Compared by its name."""

    def __init__(self, name, width):
        self.name = name
        self.width = width

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def an_equal_object_whose_fields_differ():
    f = olympus.jit(lambda x, t: x, static_argnums=1)
    f(ones(3), Tagged("a", 1))
    f(ones(4), Tagged("a", 2))  # miss


@cause(("act.keywords['k']", "static value", "2", "3"), cure="array")
def another_partial_as_a_static_argument():
    def scale(x, k):
        return x * k

    f = olympus.jit(lambda x, act: act(x), static_argnums=1)
    for k in (2, 3):
        f(ones(3), functools.partial(scale, k=k))  # miss


@cause(("model.layers[1]", "added", "", "float32[3]"), cure="structure")
def a_layer_is_added_to_a_dataclass():
    @functools.partial(
        olympus.tree_util.register_dataclass, data_fields=["layers"], meta_fields=[]
    )
    @dataclasses.dataclass
    class Model:
        layers: typing.Any

    f = olympus.jit(lambda model: sum(model.layers))
    f(Model([ones(3)]))
    f(Model([ones(3), ones(3)]))  # miss


@cause(("x", "dtype", "float32", "complex64"), cure="dtype")
def a_real_then_a_complex_array():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    f(jnp.fft.fft(ones(3)))  # miss


@cause(("loss_fn", "cell", ANY, ANY), ("step", "made again", ANY, ANY), cure="static")
def a_step_for_each_loss():
    def l1(x):
        return abs(x).sum()

    def l2(x):
        return (x * x).sum()

    def make(loss_fn):
        @olympus.jit
        def step(x):
            return olympus.grad(loss_fn)(x)

        return step

    for loss_fn in (l1, l2):
        make(loss_fn)(ones(3))  # miss


@cause(("layers[2]", "cell", ANY, ANY), ("f", "made again", ANY, ANY), cure="argument")
def a_list_in_a_closure_changes():
    def make(layers):
        def f(x):
            return x * layers[2]

        return olympus.jit(f)

    make([1, 2, 3])(ones(3))
    make([1, 2, 4])(ones(3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_factory_that_is_called_twice():
    def make(k):
        def f(x):
            return x * k

        return olympus.jit(f)

    for _ in range(2):
        make(5)(ones(3))  # miss


@cause(
    ("argnums", "transformation", "0", "1"),
    ("loss", "made again", ANY, ANY),
    cure="hoist",
)
def gradients_by_other_arguments():
    def loss(a, b):
        return (a * b).sum()

    for i in (0, 1):
        olympus.jit(olympus.grad(loss, argnums=i))(ones(3), ones(3))  # miss


@cause(("step", "made again", ANY, ANY), cure="hoist")
def the_method_of_equal_new_instances():
    class Runner:
        def __init__(self):
            self.rate = 3

        def step(self, x):
            return x * self.rate

    for _ in range(2):
        olympus.jit(Runner().step)(ones(3))  # miss


@cause(("x", "shape", "[3, 2]", "[3, 4]"), cure="pad")
def a_decorated_method():
    class Model:
        @functools.partial(olympus.jit, static_argnums=0)
        def apply(self, x):
            return x * 2

    model = Model()
    model.apply(ones(3, 2))
    model.apply(ones(3, 4))  # miss


@cause(("out_shardings", "option", ANY, ANY), cure="options")
def results_on_a_device_in_one_place():
    def f(x):
        return x * 2

    device = olympus.sharding.SingleDeviceSharding(olympus.devices()[0])
    olympus.jit(f)(ones(3))
    olympus.jit(f, out_shardings=device)(ones(3))  # miss


@cause(("donate_argnames", "option", "()", "('x',)"), cure="options")
def donation_by_name():
    def f(x):
        return x * 2

    olympus.jit(f)(x=ones(3))
    olympus.jit(f, donate_argnames="x")(x=ones(3))  # miss


@cause(("numpy_dtype_promotion", "setting", "'standard'", "'strict'"), cure="setting")
def strict_promotion_in_a_test():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.numpy_dtype_promotion("strict"):
        f(ones(3))  # miss


@cause(("default_prng_impl", "setting", ANY, ANY), cure="setting")
def another_generator_by_default():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.default_prng_impl("rbg"):
        f(ones(3))  # miss


@cause(
    ("debug_nans", "setting", "False", "True"),
    ("x", "shape", "[3]", "[4]"),
    cure="setting",
)
def a_setting_and_a_shape():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.debug_nans(True):
        f(ones(4))  # miss


@cause(("x", "shape", "[6]", "[7]"), cure="pad")
def a_call_inside_of_another_jitted_function():
    inner = olympus.jit(lambda x: x * 2)

    @olympus.jit
    def outer(y):
        return inner(y)  # miss

    outer(ones(6))
    outer(ones(7))


@cause(("x", "weak type", "False", "True"), cure="weak")
def a_number_inside_of_another_jitted_function():
    inner = olympus.jit(lambda x: x * 2)

    @olympus.jit
    def outer(y):
        inner(y)
        return inner(2.0)  # miss

    outer(ones())


@cause(
    (ANY, "shape", "[5, 3]", "[7, 3]"), ("length", "parameter", "5", "7"), cure="pad"
)
def an_eager_scan_of_another_length():
    def body(c, x):
        return c + x, x

    for n in (5, 7):
        lax.scan(body, ones(3), ones(n, 3))  # miss


@cause(("x", "shape", "[4]", "[5]"), cure="pad")
def an_eager_map_at_a_new_shape():
    def double(x):
        return x * 2

    for n in (4, 5):
        lax.map(double, ones(3, n))  # miss


@cause(("x", "shape", "[4]", "[5]"), cure="pad")
def an_eager_fori_loop_at_a_new_shape():
    def body(i, x):
        return x + i

    for n in (4, 5):
        lax.fori_loop(0, 3, body, ones(n))  # miss


@cause(("a", "shape", "[4, 4]", "[5, 5]"), cure="pad")
def an_eager_inverse_at_a_new_shape():
    for n in (4, 5):
        jnp.linalg.det(jnp.asarray(np.eye(n, dtype="float32")))  # miss


@cause((ANY, "parameter", "0", "1"), cure="expected")
def an_eager_sum_over_another_axis():
    x = ones(6, 6)
    for axis in (0, 1):
        jnp.sum(x, axis)  # miss


@cause(
    ("params['block{0..11}']['w']", "shape", "[2, 2]", "[3, 3]"),
    ("params['block{0..11}']['b']", "shape", "[2]", "[3]"),
    cure="pad",
)
def all_blocks_of_a_wider_model():
    f = olympus.jit(lambda params: params["block0"]["w"].sum())
    for n in (2, 3):
        f({f"block{i}": {"w": ones(n, n), "b": ones(n)} for i in range(12)})  # miss


@cause(("params[{64..127}]", "removed", "float32[2]", ""), cure="structure")
def half_of_a_long_list():
    f = olympus.jit(lambda params: params[0] * 2)
    f([ones(2) for _ in range(128)])
    f([ones(2) for _ in range(64)])  # miss


@cause(("x", "dtype", "float32", "float16"), cure="dtype")
def the_nearest_of_many_calls():
    f = olympus.jit(lambda x: x.sum())
    for n in range(1, 7):
        f(ones(n, 2))
    f(ones(2, 2, dtype="float16"))  # miss


@cause(("r", "static value", "0.5", "0.25"), cure="array")
def a_decay_schedule():
    @functools.partial(olympus.jit, static_argnames=("r",))
    def f(x, *, r):
        return x * r

    for i in range(3):
        f(ones(3), r=1 / 2**i)  # miss


@cause(
    ("y", "cell", "float32[3]", "float32[4]"),
    ("x", "shape", "[3]", "[4]"),
    ("<lambda>", "made again", ANY, ANY),
    cure="argument",
)
def a_closure_over_a_traced_value():
    def make(y):
        inner = olympus.jit(lambda x: x * y)
        return inner(y)  # miss

    f = olympus.jit(make)
    f(ones(3))
    f(ones(4))
