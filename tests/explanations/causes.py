"""Programs that compile again, each with its cause and cure, as users write them.

The last miss of a program is the one to explain; a comment `# miss` marks its line. A
cause is a set of changes: what changed (an argument's path, a name, a setting), which
attribute of it, and old and new value, where `...` stands for any. Nothing else may be
named. The causes were written down before the explanations were run on them.
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

ANY = ...


class Cause(typing.NamedTuple):
    """A program, what it should be told, and how to cure it.

    Attributes:
      run: the program.
      changes: tuples of subject, attribute, old and new value.
      cure: the kind of the cure.
    """

    run: typing.Any
    changes: tuple
    cure: str

    @property
    def name(self):
        return self.run.__name__


CAUSES: list[Cause] = []


def cause(*changes, cure):
    def add(run):
        CAUSES.append(Cause(run, changes, cure))
        return run

    return add


def ones(*shape, dtype="float32"):
    return jnp.asarray(np.ones(shape, dtype))


# -- shapes ----------------------------------------------------------------------------


@cause(("x", "shape", "[4, 3]", "[2, 3]"), cure="pad")
def last_short_batch():
    f = olympus.jit(lambda x: x.sum())
    for n in (4, 4, 2):
        f(ones(n, 3))  # miss


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def a_sequence_that_grows():
    f = olympus.jit(lambda x: x.sum())
    x = ones(1)
    for _ in range(4):
        f(x)  # miss
        x = jnp.concatenate([x, ones(1)])


@cause(("x", "rank", "[3]", "[1, 3]"), cure="rank")
def a_batch_axis_is_added():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    f(ones(1, 3))  # miss


@cause(("x", "rank", "[]", "[1]"), cure="rank")
def a_scalar_becomes_a_vector():
    f = olympus.jit(lambda x: x * 2)
    f(ones())
    f(ones(1))  # miss


@cause(("x", "shape", "[2, 3]", "[3, 2]"), cure="pad")
def a_transposed_matrix():
    f = olympus.jit(lambda x: x.sum())
    f(ones(2, 3))
    f(ones(2, 3).T)  # miss


@cause(("params['dec']['b']", "shape", "[3]", "[5]"), cure="pad")
def one_leaf_of_a_tree():
    f = olympus.jit(lambda params: params["dec"]["b"].sum())
    f({"enc": {"w": ones(3)}, "dec": {"b": ones(3)}})
    f({"enc": {"w": ones(3)}, "dec": {"b": ones(5)}})  # miss


@cause(("x", "dtype", "float32", "float16"), cure="dtype")
def the_nearest_call_is_not_the_last():
    f = olympus.jit(lambda x: x.sum())
    f(ones(4, 3))
    f(ones(3, 3))
    f(ones(4, 3, dtype="float16"))  # miss


@cause(("y", "shape", "[4]", "[5]"), ("x", "shape", "[4]", "[5]"), cure="pad")
def two_arguments_at_once():
    f = olympus.jit(lambda x, y: x + y)
    f(ones(4), ones(4))
    f(ones(5), ones(5))  # miss


@cause(("x", "shape", "[0]", "[3]"), cure="pad")
def an_empty_array_first():
    f = olympus.jit(lambda x: x.sum())
    f(ones(0))
    f(ones(3))  # miss


# -- dtypes ----------------------------------------------------------------------------


@cause(("x", "dtype", "int32", "float32"), cure="dtype")
def a_counter_becomes_a_float():
    f = olympus.jit(lambda x: x * 2)
    f(jnp.arange(3))
    f(jnp.arange(3) / 2)  # miss


@cause(("state", "dtype", "bfloat16", "float32"), cure="dtype")
def a_state_drifts_by_promotion():
    f = olympus.jit(lambda state: state + jnp.ones(3, "float32"))
    state = jnp.ones(3, "bfloat16")
    for _ in range(2):
        state = f(state)  # miss


@cause(("lr", "weak type", "True", "False"), cure="weak")
def a_number_then_an_array():
    f = olympus.jit(lambda x, lr: x * lr)
    f(ones(3), 0.1)
    f(ones(3), jnp.float32(0.1))  # miss


@cause(("lr", "weak type", "False", "True"), cure="weak")
def a_numpy_scalar_then_a_number():
    f = olympus.jit(lambda x, lr: x * lr)
    f(ones(3), np.float32(0.1))
    f(ones(3), 0.1)  # miss


@cause(("n", "dtype", "int32", "float32"), cure="dtype")
def an_int_then_a_float():
    f = olympus.jit(lambda n: n + 1)
    f(1)
    f(1.0)  # miss


@cause(
    ("flag", "dtype", "bool", "int32"), ("flag", "weak type", ANY, ANY), cure="dtype"
)
def a_truth_then_a_number():
    f = olympus.jit(lambda flag: flag + 1)
    f(True)
    f(1)  # miss


@cause(("carry", "weak type", "True", "False"), cure="weak")
def a_carry_loses_its_weak_type():
    f = olympus.jit(lambda carry: carry + jnp.float32(1))
    carry = 0.0
    for _ in range(3):
        carry = f(carry)  # miss


@cause(("x", "dtype", "float32", "int32"), cure="dtype")
def numpy_integers_in_place_of_floats():
    f = olympus.jit(lambda x: x + 1)
    f(np.ones(3, np.float32))
    f(np.ones(3, np.int64))  # miss


@cause(("key", "dtype", "uint32", ANY), ("key", "rank", "[2]", "[]"), cure="dtype")
def keys_of_two_styles():
    f = olympus.jit(lambda key: olympus.random.uniform(key))
    f(olympus.random.PRNGKey(0))
    f(olympus.random.key(0))  # miss


@cause(("key", "dtype", ANY, ANY), cure="dtype")
def keys_of_two_generators():
    f = olympus.jit(lambda key: olympus.random.uniform(key))
    f(olympus.random.key(0, impl="threefry2x32"))
    f(olympus.random.key(0, impl="rbg"))  # miss


# -- structure -------------------------------------------------------------------------


@cause(("batch['mask']", "added", "", "float32[3]"), cure="structure")
def a_key_is_added():
    f = olympus.jit(lambda batch: batch["x"].sum())
    f({"x": ones(3)})
    f({"x": ones(3), "mask": ones(3)})  # miss


@cause(("params['b']", "removed", "float32[3]", ""), cure="structure")
def a_key_is_removed():
    f = olympus.jit(lambda params: params["w"].sum())
    f({"w": ones(3), "b": ones(3)})
    f({"w": ones(3)})  # miss


@cause(
    ("batch['label']", "removed", ANY, ""),
    ("batch['labels']", "added", "", ANY),
    cure="structure",
)
def a_key_is_spelled_otherwise():
    f = olympus.jit(lambda batch: batch["x"].sum())
    f({"x": ones(3), "label": ones(2)})
    f({"x": ones(3), "labels": ones(2)})  # miss


@cause(("bias", "structure", "None", "float32[3]"), cure="none")
def none_then_an_array():
    f = olympus.jit(lambda x, bias: x if bias is None else x + bias)
    f(ones(3), None)
    f(ones(3), ones(3))  # miss


@cause(("xs", "container", "tuple", "list"), cure="structure")
def a_tuple_then_a_list():
    f = olympus.jit(lambda xs: xs[0] + xs[1])
    f((ones(3), ones(3)))
    f([ones(3), ones(3)])  # miss


@cause(("xs[2]", "added", "", "float32[3]"), cure="structure")
def a_list_grows():
    f = olympus.jit(lambda xs: sum(xs))
    xs = [ones(3), ones(3)]
    f(xs)
    xs.append(ones(3))
    f(xs)  # miss


Old = collections.namedtuple("Old", "a b")
New = collections.namedtuple("New", "a b")


@cause(("p", "container", "Old", "New"), cure="structure")
def two_namedtuples():
    f = olympus.jit(lambda p: p.a + p.b)
    f(Old(ones(3), ones(3)))
    f(New(ones(3), ones(3)))  # miss


@cause(("p", "class", "Point", "Point"), cure="hoist")
def a_class_that_is_made_again():
    f = olympus.jit(lambda p: p.a)
    for _ in range(2):
        point = collections.namedtuple("Point", "a")
        f(point(ones(3)))  # miss


@cause(("d", "order", "['a', 'b']", "['b', 'a']"), cure="structure")
def ordered_keys_in_another_order():
    f = olympus.jit(lambda d: d["a"] + d["b"])
    f(collections.OrderedDict([("a", ones(3)), ("b", ones(3))]))
    f(collections.OrderedDict([("b", ones(3)), ("a", ones(3))]))  # miss


@cause(("d", "container", "dict", "OrderedDict"), cure="structure")
def another_kind_of_dictionary():
    f = olympus.jit(lambda d: d["a"] * 2)
    f({"a": ones(3)})
    f(collections.OrderedDict(a=ones(3)))  # miss


@functools.partial(
    olympus.tree_util.register_dataclass, data_fields=["w"], meta_fields=["name"]
)
@dataclasses.dataclass
class Layer:
    w: typing.Any
    name: str


@cause(("layer.name", "static field", "'a'", "'b'"), cure="field")
def a_static_field_of_a_tree():
    f = olympus.jit(lambda layer: layer.w * 2)
    f(Layer(ones(3), "a"))
    f(Layer(ones(3), "b"))  # miss


@cause(("y", "passed", "by position", "by keyword"), cure="structure")
def by_position_then_by_keyword():
    f = olympus.jit(lambda x, y: x + y)
    f(ones(3), ones(3))
    f(ones(3), y=ones(3))  # miss


@cause(("scale", "added", "", "float32[]"), cure="structure")
def a_default_is_given():
    @olympus.jit
    def f(x, scale=1.0):
        return x * scale

    f(ones(3))
    f(ones(3), 1.0)  # miss


@cause(("xs[1]", "added", "", "float32[3]"), cure="structure")
def more_positional_arguments():
    f = olympus.jit(lambda *xs: sum(xs))
    f(ones(3))
    f(ones(3), ones(3))  # miss


@cause(("x", "structure", "float32[3]", "dict"), cure="structure")
def an_array_then_a_dictionary():
    f = olympus.jit(lambda x: olympus.tree.map(lambda a: a * 2, x))
    f(ones(3))
    f({"a": ones(3), "b": ones(3)})  # miss


# -- static arguments ------------------------------------------------------------------


@cause(("step", "static value", "2", "3"), cure="array")
def a_static_counter():
    f = olympus.jit(lambda x, step: x + step, static_argnames="step")
    for step in range(4):
        f(ones(3), step)  # miss


@cause(("rate", "static value", "0.1", "0.05"), cure="array")
def a_static_learning_rate():
    f = olympus.jit(lambda x, rate: x * rate, static_argnums=1)
    f(ones(3), 0.1)
    f(ones(3), 0.05)  # miss


@cause(("mode", "static value", "'train'", "'eval'"), cure="expected")
def a_static_mode():
    f = olympus.jit(lambda x, mode: x * 2, static_argnames="mode")
    f(ones(3), mode="train")
    f(ones(3), mode="eval")  # miss


@cause(("flag", "static value", "1", "True"), cure="expected")
def one_and_true_as_static_values():
    f = olympus.jit(lambda x, flag: x, static_argnames="flag")
    f(ones(3), flag=1)
    f(ones(3), flag=True)  # miss


class Config:
    def __init__(self, width, rate):
        self.width = width
        self.rate = rate


@cause(("cfg", "identity", "Config(width=3, rate=0.1)", ANY), cure="eq_hash")
def equal_objects_without_eq():
    f = olympus.jit(lambda x, cfg: x * cfg.rate, static_argnames="cfg")
    for _ in range(2):
        f(ones(3), Config(3, 0.1))  # miss


@cause(("cfg.rate", "static value", "0.1", "0.2"), cure="array")
def another_field_of_an_object_without_eq():
    f = olympus.jit(lambda x, cfg: x * cfg.rate, static_argnames="cfg")
    for rate in (0.1, 0.2):
        f(ones(3), Config(3, rate))  # miss


@dataclasses.dataclass(frozen=True)
class Frozen:
    width: int
    inner: typing.Any = None


@cause(("cfg.inner.width", "static value", "1", "2"), cure="array")
def a_field_of_a_frozen_dataclass():
    f = olympus.jit(lambda x, cfg: x * 2, static_argnums=1)
    f(ones(3), Frozen(3, Frozen(1)))
    f(ones(3), Frozen(3, Frozen(2)))  # miss


@cause(("act", "identity", ANY, ANY), cure="hoist")
def a_lambda_as_a_static_argument():
    f = olympus.jit(lambda x, act: act(x), static_argnums=1)
    for _ in range(2):
        f(ones(3), lambda x: x * 2)  # miss


@cause(("act", "static value", "relu", "gelu"), cure="expected")
def another_function_as_a_static_argument():
    def relu(x):
        return x

    def gelu(x):
        return x * 2

    f = olympus.jit(lambda x, act: act(x), static_argnums=1)
    f(ones(3), relu)
    f(ones(3), gelu)  # miss


@cause(("act", "identity", ANY, ANY), cure="hoist")
def a_partial_as_a_static_argument():
    def scale(x, k):
        return x * k

    f = olympus.jit(lambda x, act: act(x), static_argnums=1)
    for _ in range(2):
        f(ones(3), functools.partial(scale, k=2))  # miss


@cause(("shape[1]", "static value", "3", "4"), cure="array")
def a_static_shape():
    f = olympus.jit(lambda shape: jnp.zeros(shape), static_argnums=0)
    f((2, 3))
    f((2, 4))  # miss


@cause(("self", "identity", ANY, ANY), cure="eq_hash")
def a_static_self_of_new_instances():
    class Model:
        def __init__(self):
            self.rate = 2

        @functools.partial(olympus.jit, static_argnums=0)
        def __call__(self, x):
            return x * self.rate

    for _ in range(2):
        Model()(ones(3))  # miss


@cause(("n", "static value", "2", "5"), ("x", "shape", "[2]", "[5]"), cure="pad")
def a_static_size_and_its_shape():
    f = olympus.jit(lambda x, n: x[:n], static_argnames="n")
    f(ones(2), n=2)
    f(ones(5), n=5)  # miss


# -- functions made again --------------------------------------------------------------


@cause(("<lambda>", "made again", ANY, ANY), cure="hoist")
def a_lambda_in_a_loop():
    for _ in range(3):
        olympus.jit(lambda x: x * 2)(ones(3))  # miss


@cause(("k", "cell", "1", "2"), ("<lambda>", "made again", ANY, ANY), cure="argument")
def a_lambda_that_closes_over_a_number():
    for k in range(3):
        olympus.jit(lambda x: x * k)(ones(3))  # miss  # noqa: B023


@cause(
    ("k", "default", "1", "2"), ("<lambda>", "made again", ANY, ANY), cure="argument"
)
def a_lambda_with_a_default():
    def make(k):
        def inner(x, *, k=k):
            return x * k

        return inner

    for k in range(3):
        olympus.jit(lambda x, k=k: x * k)(ones(3))  # miss


RATE = 0


@cause(
    ("RATE", "global", "1", "2"), ("<lambda>", "made again", ANY, ANY), cure="argument"
)
def a_lambda_that_reads_a_global():
    global RATE
    for RATE in range(3):
        olympus.jit(lambda x: x * RATE)(ones(3))  # miss  # noqa: B023


@cause(("step", "made again", ANY, ANY), cure="hoist")
def jit_inside_of_a_function():
    def train(x):
        @olympus.jit
        def step(x):
            return x * 2

        return step(x)  # miss

    train(ones(3))
    train(ones(3))


@cause(("mode", "cell", "'a'", "'b'"), ("f", "made again", ANY, ANY), cure="static")
def a_closure_over_a_string():
    def make(mode):
        def f(x):
            return x if mode == "a" else -x

        return olympus.jit(f)

    for mode in "ab":
        make(mode)(ones(3))  # miss


@cause(("scale", "made again", ANY, ANY), cure="hoist")
def a_partial_in_a_loop():
    def scale(x, k):
        return x * k

    for _ in range(2):
        olympus.jit(functools.partial(scale, k=2))(ones(3))  # miss


@cause(("k", "partial", "1", "2"), ("scale", "made again", ANY, ANY), cure="argument")
def a_partial_with_another_number():
    def scale(x, k):
        return x * k

    for k in (1, 2):
        olympus.jit(functools.partial(scale, k=k))(ones(3))  # miss


class Trainer:
    def __init__(self, rate):
        self.rate = rate

    def step(self, x):
        return x * self.rate

    def __call__(self, x):
        return x + self.rate


@cause(("step", "made again", ANY, ANY), cure="method")
def a_bound_method_at_each_step():
    trainer = Trainer(2)
    for _ in range(2):
        olympus.jit(trainer.step)(ones(3))  # miss


@cause(
    ("self.rate", "instance", "7", "8"),
    ("step", "made again", ANY, ANY),
    cure="argument",
)
def the_method_of_another_instance():
    for rate in (7, 8):
        olympus.jit(Trainer(rate).step)(ones(3))  # miss


@cause(
    ("self.rate", "instance", "1", "2"),
    ("Trainer", "made again", ANY, ANY),
    cure="argument",
)
def another_callable_instance():
    for rate in (1, 2):
        olympus.jit(Trainer(rate))(ones(3))  # miss


@cause(("Trainer", "made again", ANY, ANY), cure="hoist")
def equal_callable_instances():
    for _ in range(2):
        olympus.jit(Trainer(1))(ones(3))  # miss


@cause(("loss", "made again", ANY, ANY), cure="hoist")
def jit_of_grad_of_a_new_function():
    for _ in range(2):

        def loss(w):
            return (w**2).sum()

        olympus.jit(olympus.grad(loss))(ones(3))  # miss


@cause(("loss", "made again", ANY, ANY), cure="hoist")
def jit_of_grad_in_a_loop():
    def loss(w):
        return (w**2).sum()

    for _ in range(2):
        olympus.jit(olympus.grad(loss))(ones(3))  # miss


@cause(
    ("table", "cell", ANY, ANY), ("<lambda>", "made again", ANY, ANY), cure="argument"
)
def a_closure_over_another_array():
    for _ in range(2):
        table = ones(5)
        olympus.jit(lambda x: x * table[0])(ones(3))  # miss  # noqa: B023


@cause(
    ("table", "cell", "float32[5]", "float32[6]"),
    ("<lambda>", "made again", ANY, ANY),
    cure="argument",
)
def a_closure_over_a_longer_array():
    for n in (5, 6):
        table = ones(n)
        olympus.jit(lambda x: x * table[0])(ones(3))  # miss  # noqa: B023


@cause(
    ("cfg['rate']", "cell", "1", "2"),
    ("<lambda>", "made again", ANY, ANY),
    cure="argument",
)
def a_closure_over_a_dictionary():
    for rate in (1, 2):
        cfg = {"rate": rate, "width": 3}
        olympus.jit(lambda x: x * cfg["rate"])(ones(3))  # miss  # noqa: B023


@cause(("x", "shape", "[3]", "[4]"), ("<lambda>", "made again", ANY, ANY), cure="hoist")
def a_lambda_made_again_and_another_shape():
    for n in (3, 4):
        olympus.jit(lambda x: x * 2)(ones(n))  # miss


@cause(("act", "cell", "relu", "tanh"), ("f", "made again", ANY, ANY), cure="static")
def a_closure_over_another_function():
    def relu(x):
        return x

    def tanh(x):
        return -x

    def make(act):
        def f(x):
            return act(x)

        return olympus.jit(f)

    for act in (relu, tanh):
        make(act)(ones(3))  # miss


# -- options ---------------------------------------------------------------------------


def double(x):
    return x * 2


@cause(("donate_argnums", "option", "()", "(0,)"), cure="options")
def donation_in_one_place_only():
    olympus.jit(double)(ones(7))
    olympus.jit(double, donate_argnums=0)(ones(7))  # miss


@cause(
    ("static_argnames", "option", "()", "('n',)"),
    ("n", "static", ANY, ANY),
    cure="options",
)
def static_in_one_place_only():
    def f(x, n):
        return x * n

    olympus.jit(f)(ones(3), 2)
    olympus.jit(f, static_argnames="n")(ones(3), 2)  # miss


@cause(("compiler_options['tier']", "option", "<not given>", "'quick'"), cure="options")
def a_compiler_option():
    def f(x):
        return x * 2

    olympus.jit(f)(ones(3))
    olympus.jit(f, compiler_options={"tier": "quick"})(ones(3))  # miss


@cause(("keep_unused", "option", "False", "True"), cure="options")
def unused_arguments_are_kept():
    def f(x, y):
        return x

    olympus.jit(f)(ones(3), 1.0)
    olympus.jit(f, keep_unused=True)(ones(3), 1.0)  # miss


# -- settings --------------------------------------------------------------------------


@cause(("enable_x64", "setting", "False", "True"), cure="setting")
def sixty_four_bits_in_a_block():
    f = olympus.jit(lambda x: x * 2)
    x = ones(3)
    f(x)
    with olympus.enable_x64(True):
        f(x)  # miss


@cause(
    ("enable_x64", "setting", "False", "True"),
    ("x", "dtype", "float32", "float64"),
    cure="setting",
)
def sixty_four_bits_and_what_they_make():
    f = olympus.jit(lambda x: x * 2)
    f(np.ones(3))
    with olympus.enable_x64(True):
        f(np.ones(3))  # miss


@cause(("default_matmul_precision", "setting", "None", "'highest'"), cure="setting")
def another_matmul_precision():
    f = olympus.jit(lambda x: x @ x)
    f(ones(3, 3))
    with olympus.default_matmul_precision("highest"):
        f(ones(3, 3))  # miss


@cause(("debug_nans", "setting", "False", "True"), cure="setting")
def looking_for_nan():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.debug_nans(True):
        f(ones(3))  # miss


@cause(("numpy_rank_promotion", "setting", "'allow'", "'warn'"), cure="setting")
def a_setting_that_is_updated():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    olympus.config.update("olympus_numpy_rank_promotion", "warn")
    try:
        f(ones(3))  # miss
    finally:
        olympus.config.update("olympus_numpy_rank_promotion", "allow")


@cause(("default_device", "setting", "None", ANY), cure="setting")
def a_default_device_in_a_block():
    f = olympus.jit(lambda x: x * 2)
    f(1.0)
    with olympus.default_device(olympus.devices()[0]):
        f(1.0)  # miss


training = olympus.make_user_context(False)


@cause(("user_context", "setting", "False", "True"), cure="setting")
def a_context_of_the_users_own():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with training(True):
        f(ones(3))  # miss


@cause(("mesh", "setting", ANY, ANY), cure="setting")
def a_mesh_that_is_set():
    f, x = olympus.jit(lambda x: x * 2), ones(3)
    f(x)
    with olympus.set_mesh(olympus.make_mesh((1,), ("a",))):
        f(x)  # miss


@cause(("caches", "cleared", ANY, ANY), cure="cleared")
def caches_are_cleared():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    olympus.clear_caches()
    f(ones(3))  # miss


@cause(("caches", "cleared", ANY, ANY), cure="cleared")
def a_functions_cache_is_cleared():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    f.clear_cache()
    f(ones(3))  # miss


# -- inside of transformations ---------------------------------------------------------


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def under_vmap_with_other_elements():
    f = olympus.jit(lambda x: x.sum())
    olympus.vmap(f)(ones(2, 3))
    olympus.vmap(f)(ones(2, 4))  # miss


@cause(("x", "shape", "[2, 3]", "[5, 3]"), cure="pad")
def under_vmap_with_more_elements():
    f = olympus.jit(lambda x: x.sum())
    olympus.vmap(f)(ones(2, 3))
    olympus.vmap(f)(ones(5, 3))  # miss


@cause(("w", "dtype", "float32", "float16"), cure="dtype")
def under_grad_with_another_dtype():
    f = olympus.jit(lambda w: w.sum())
    olympus.grad(f)(ones(3))
    olympus.grad(f)(ones(3, dtype="float16"))  # miss


@cause(("mapped axes", "axes", "none", "'i' of size 2"), cure="axes")
def a_named_axis_around_the_call():
    f = olympus.jit(lambda x: x * 2)
    olympus.vmap(f)(ones(2, 3))
    olympus.vmap(f, axis_name="i")(ones(2, 3))  # miss


@cause(("inner", "made again", ANY, ANY), cure="hoist")
def jit_inside_of_a_mapped_function():
    def outer(x):
        @olympus.jit
        def inner(x):
            return x * 2

        return inner(x)  # miss

    for _ in range(2):
        olympus.vmap(outer)(ones(2, 3))


# -- eager operations and loops --------------------------------------------------------


@cause(
    ("operand 0", "shape", "[11]", "[12]"),
    ("operand 1", "shape", "[11]", "[12]"),
    cure="pad",
)
def an_eager_operation_at_a_new_shape():
    for n in (11, 12):
        x = ones(n)
        lax.add(x, x)  # miss


@cause(("x", "shape", "[11]", "[12]"), cure="pad")
def an_eager_function_at_a_new_shape():
    for n in (11, 12):
        jnp.sin(ones(n))  # miss


@cause(("axes", "parameter", "(0,)", "(1,)"), cure="expected")
def an_eager_operation_with_another_parameter():
    x = ones(13, 13)
    lax.reduce_sum_p.bind(x, axes=(0,), out_sharding=None)
    lax.reduce_sum_p.bind(x, axes=(1,), out_sharding=None)  # miss


@cause(("c", "shape", "[3]", "[4]"), cure="pad")
def an_eager_scan_at_a_new_shape():
    def body(c, x):
        return c + x, x

    for n in (3, 4):
        lax.scan(body, ones(n), ones(5, 1))  # miss


@cause(("body", "made again", ANY, ANY), cure="hoist")
def an_eager_scan_with_a_new_body():
    for _ in range(2):

        def body(c, x):
            return c + x, x

        lax.scan(body, ones(3), ones(5, 3))  # miss


@cause(("v", "dtype", "float32", "float16"), cure="dtype")
def an_eager_while_loop_of_another_dtype():
    def condition(v):
        return v.sum() < 9

    def double(v):
        return v * 2

    for dtype in ("float32", "float16"):
        lax.while_loop(condition, double, ones(3, dtype=dtype))  # miss


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def an_eager_cond_at_a_new_shape():
    def yes(x):
        return x * 2

    def no(x):
        return x * 3

    for n in (3, 4):
        lax.cond(True, yes, no, ones(n))  # miss


@cause(("i", "cell", "0", "1"), ("<lambda>", "made again", ANY, ANY), cure="argument")
def an_eager_scan_in_a_loop():
    for i in range(2):
        lax.scan(lambda c, x: (c + i * x, x), ones(3), ones(5, 3))  # miss  # noqa: B023


# -- many leaves -----------------------------------------------------------------------


@cause(("params['layer{0..999}']", "dtype", "float32", "float16"), cure="dtype")
def a_thousand_leaves_of_another_dtype():
    f = olympus.jit(lambda params: params["layer0"] * 2)
    for dtype in ("float32", "float16"):
        f({f"layer{i}": ones(2, dtype=dtype) for i in range(1000)})  # miss
