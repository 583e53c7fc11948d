"""More programs that compile again: calls, static values, wrappers, eager functions.

As in `causes`; these too were written down before the explanations were run on them.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import decimal
import enum
import fractions
import functools
import pathlib
import threading

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


# -- how arguments are passed ----------------------------------------------------------


@cause(("n", "static value", "2", "3"), cure="array")
def a_static_keyword_only_argument():
    @functools.partial(olympus.jit, static_argnames="n")
    def f(x, *, n):
        return x * n

    for n in (2, 3):
        f(ones(3), n=n)  # miss


@cause(("mode", "static value", "'a'", "'b'"), cure="expected")
def the_last_argument_is_static():
    @functools.partial(olympus.jit, static_argnums=-1)
    def f(x, mode):
        return x * len(mode)

    for mode in ("a", "b"):
        f(ones(3), mode)  # miss


@cause(("xs[1]", "shape", "[3]", "[4]"), cure="pad")
def one_of_starred_arguments():
    f = olympus.jit(lambda *xs: sum(x.sum() for x in xs))
    f(ones(3), ones(3))
    f(ones(3), ones(4))  # miss


@cause(("xs[2]", "added", "", "float32[3]"), cure="structure")
def one_more_starred_argument():
    f = olympus.jit(lambda *xs: sum(x.sum() for x in xs))
    f(ones(3), ones(3))
    f(ones(3), ones(3), ones(3))  # miss


@cause(("bias", "added", "", "float32[3]"), cure="structure")
def one_more_keyword():
    f = olympus.jit(lambda x, **options: x + sum(options.values()))
    f(ones(3), scale=ones(3))
    f(ones(3), scale=ones(3), bias=ones(3))  # miss


@cause(("options['scale']", "dtype", "float32", "int32"), cure="dtype")
def a_keyword_of_another_dtype_in_a_dictionary():
    f = olympus.jit(lambda x, options: x * options["scale"])
    f(ones(3), {"scale": ones(3)})
    f(ones(3), {"scale": ones(3, dtype="int32")})  # miss


# -- types of arrays -------------------------------------------------------------------


@cause(("image", "dtype", "uint8", "float32"), cure="dtype")
def an_image_that_is_scaled_outside():
    f = olympus.jit(lambda image: image.mean())
    f(np.zeros((4, 4), np.uint8))
    f(np.zeros((4, 4), np.float32) / 255)  # miss


@cause(("mask", "dtype", "bool", "int32"), cure="dtype")
def a_mask_of_numbers():
    f = olympus.jit(lambda x, mask: x * mask)
    f(ones(3), ones(3) > 0)
    f(ones(3), ones(3, dtype="int32"))  # miss


@cause(("x", "dtype", "float32", "complex64"), cure="dtype")
def a_float_then_a_complex_number():
    f = olympus.jit(lambda x: x * 2)
    f(1.0)
    f(1j)  # miss


@cause(("x", "dtype", "bfloat16", "float16"), cure="dtype")
def two_half_precisions():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3, dtype="bfloat16"))
    f(ones(3, dtype="float16"))  # miss


@cause(("images", "shape", "[2, 8, 8]", "[2, 16, 12]"), cure="pad")
def images_of_another_size():
    f = olympus.jit(lambda images: images.sum())
    f(ones(2, 8, 8))
    f(ones(2, 16, 12))  # miss


@cause(("key", "rank", "[]", "[2]"), cure="rank")
def keys_that_were_split():
    f = olympus.jit(lambda key: random.key_data(key))
    f(random.key(0))
    f(random.split(random.key(0), 2))  # miss


@cause(("x", "shape", "[3]", "[5]"), ("x", "dtype", "float32", "int32"), cure="dtype")
def another_shape_and_dtype():
    f = olympus.jit(lambda x: x.sum())
    f(ones(3))
    f(ones(5, dtype="int32"))  # miss


@cause(("y", "rank", "[]", "[3]"), ("y", "weak type", "True", "False"), cure="rank")
def a_number_then_a_vector():
    f = olympus.jit(lambda x, y: x * y)
    f(ones(3), 2.0)
    f(ones(3), ones(3))  # miss


@cause(("tokens", "shape", "[1, 7]", "[1, 8]"), cure="pad")
def a_prompt_that_grows_in_a_loop():
    f = olympus.jit(lambda tokens: tokens.sum())
    tokens = np.zeros((1, 4), np.int32)
    for _ in range(5):
        f(tokens)  # miss
        tokens = np.concatenate([tokens, np.zeros((1, 1), np.int32)], 1)


# -- containers ------------------------------------------------------------------------


@cause(("batch['mask']", "structure", "None", "float32[3]"), cure="none")
def a_mask_that_is_there_only_sometimes():
    f = olympus.jit(lambda batch: batch["x"])
    f({"x": ones(3), "mask": None})
    f({"x": ones(3), "mask": ones(3)})  # miss


@cause(("p['a']", "container", "list", "tuple"), cure="structure")
def a_list_inside_becomes_a_tuple():
    f = olympus.jit(lambda p: p["a"][0] + p["a"][1])
    f({"a": [ones(3), ones(3)]})
    f({"a": (ones(3), ones(3))})  # miss


@cause(("d", "container", "dict", "defaultdict"), cure="structure")
def a_dictionary_with_a_default():
    f = olympus.jit(lambda d: d["a"])
    f({"a": ones(3)})
    f(collections.defaultdict(list, a=ones(3)))  # miss


@cause(("d[2]", "added", "", "float32[3]"), cure="structure")
def a_dictionary_of_numbers():
    f = olympus.jit(lambda d: sum(d.values()))
    f({0: ones(3), 1: ones(3)})
    f({0: ones(3), 1: ones(3), 2: ones(3)})  # miss


@cause(("state.opt.mu[0]", "dtype", "float32", "bfloat16"), cure="dtype")
def a_leaf_of_nested_dataclasses():
    @olympus.tree_util.register_dataclass
    @dataclasses.dataclass
    class Opt:
        mu: object

    @olympus.tree_util.register_dataclass
    @dataclasses.dataclass
    class State:
        opt: object

    f = olympus.jit(lambda state: state.opt.mu[0] * 2)
    f(State(Opt([ones(3)])))
    f(State(Opt([ones(3, dtype="bfloat16")])))  # miss


@cause((ANY, "static field", ANY, ANY), cure="field")
def the_data_of_a_registered_class():
    class Table:
        def __init__(self, rows, unit):
            self.rows, self.unit = rows, unit

    olympus.tree_util.register_pytree_node(
        Table, lambda t: ((t.rows,), t.unit), lambda unit, rows: Table(*rows, unit)
    )
    f = olympus.jit(lambda table: table.rows * 2)
    f(Table(ones(3), "m"))
    f(Table(ones(3), "cm"))  # miss


@cause(("xs[3]", "removed", "float32[3]", ""), cure="structure")
def a_list_that_shrinks():
    f = olympus.jit(lambda xs: sum(xs))
    f([ones(3)] * 4)
    f([ones(3)] * 3)  # miss


@cause(("b['y']", "added", "", "int32[4]"), cure="structure")
def a_batch_with_labels():
    f = olympus.jit(lambda a, b: b["x"] * a)
    f(2.0, {"x": ones(4)})
    f(2.0, {"x": ones(4), "y": ones(4, dtype="int32")})  # miss


# -- static values ---------------------------------------------------------------------


@cause(("config[1][1]", "static value", "3", "4"), cure="array")
def a_number_deep_in_a_static_tuple():
    f = olympus.jit(lambda x, config: x * config[1][1], static_argnames="config")
    f(ones(3), (1, (2, 3)))
    f(ones(3), (1, (2, 4)))  # miss


@cause(("config.width", "static value", "8", "16"), cure="array")
def a_field_of_a_static_named_tuple():
    Config = collections.namedtuple("Config", "width depth")
    f = olympus.jit(lambda x, config: x * config.width, static_argnames="config")
    for width in (8, 16):
        f(ones(3), Config(width, 2))  # miss


@cause(("dtype", "static value", ANY, ANY), cure="expected")
def a_static_dtype():
    f = olympus.jit(lambda x, dtype: x.astype(dtype), static_argnames="dtype")
    for dtype in ("float32", "float16"):
        f(ones(3), np.dtype(dtype))  # miss


@cause(("dtype", "static value", ANY, ANY), cure="expected")
def a_static_scalar_type():
    f = olympus.jit(lambda x, dtype: x.astype(dtype), static_argnames="dtype")
    for dtype in (np.float32, np.float16):
        f(ones(3), dtype)  # miss


@cause(("act", "static value", "sin", "cos"), cure="expected")
def a_static_function_of_the_library():
    f = olympus.jit(lambda x, act: act(x), static_argnames="act")
    for act in (jnp.sin, jnp.cos):
        f(ones(3), act)  # miss


@cause(("mode", "static value", "None", "'same'"), cure="expected")
def nothing_then_a_static_text():
    f = olympus.jit(lambda x, mode: x, static_argnames="mode")
    for mode in (None, "same"):
        f(ones(3), mode)  # miss


@cause(("r", "static value", "range(0, 3)", "range(0, 4)"), cure="expected")
def a_static_range():
    f = olympus.jit(lambda x, r: x * len(r), static_argnames="r")
    for n in (3, 4):
        f(ones(3), range(n))  # miss


@cause(("path", "static value", ANY, ANY), cure="expected")
def a_static_path():
    f = olympus.jit(lambda x, path: x, static_argnames="path")
    for name in ("a", "b"):
        f(ones(3), pathlib.Path("/tmp") / name)  # miss


@cause(("rate", "static value", "Decimal('0.1')", "Decimal('0.2')"), cure="expected")
def a_static_decimal():
    f = olympus.jit(lambda x, rate: x * float(rate), static_argnames="rate")
    for rate in ("0.1", "0.2"):
        f(ones(3), decimal.Decimal(rate))  # miss


@cause(("ratio", "static value", "Fraction(1, 2)", "Fraction(1, 3)"), cure="expected")
def a_static_fraction():
    f = olympus.jit(lambda x, ratio: x * float(ratio), static_argnames="ratio")
    for n in (2, 3):
        f(ones(3), fractions.Fraction(1, n))  # miss


@cause(("axes", "static value", ANY, ANY), cure="expected")
def a_static_frozenset():
    f = olympus.jit(lambda x, axes: x.sum(tuple(axes)), static_argnames="axes")
    for axes in (frozenset([0]), frozenset([1])):
        f(ones(3, 3), axes)  # miss


class Flags(enum.Flag):
    FAST = 1
    SAFE = 2


@cause(("flags", "static value", "Flags.FAST", "Flags.SAFE"), cure="expected")
def a_static_flag():
    f = olympus.jit(lambda x, flags: x, static_argnames="flags")
    for flags in (Flags.FAST, Flags.SAFE):
        f(ones(3), flags)  # miss


@dataclasses.dataclass(frozen=True)
class Inner:
    heads: int


@dataclasses.dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner


@cause(("config.inner.heads", "static value", "4", "8"), cure="array")
def a_field_of_a_field_of_a_static_object():
    f = olympus.jit(lambda x, config: x * config.inner.heads, static_argnums=1)
    for heads in (4, 8):
        f(ones(3), Outer("a", Inner(heads)))  # miss


class ByName:
    def __init__(self, name, notes):
        self.name, self.notes = name, notes

    def __eq__(self, other):
        return type(other) is ByName and self.name == other.name

    def __hash__(self):
        return hash(self.name)


@cause(("model.name", "static value", "'a'", "'b'"), cure="expected")
def an_object_that_compares_by_one_field():
    f = olympus.jit(lambda x, model: x, static_argnames="model")
    f(ones(3), ByName("a", 1))
    f(ones(3), ByName("b", 1))  # miss


@cause(("n", "static value", "1", "1.0"), cure="array")
def a_static_int_that_becomes_a_float():
    f = olympus.jit(lambda x, n: x * n, static_argnames="n")
    f(ones(3), 1)
    f(ones(3), 1.0)  # miss


# -- functions that are made again -----------------------------------------------------


@cause(("self.k", "instance", "1", "2"), (ANY, "made again", ANY, ANY), cure="argument")
def jit_in_a_constructor():
    class Model:
        def __init__(self, k):
            self.k = k
            self.run = olympus.jit(self.apply)

        def apply(self, x):
            return x * self.k

    for k in (1, 2):
        Model(k).run(ones(3))  # miss


@cause(("k", "cell", "1", "2"), (ANY, "made again", ANY, ANY), cure="argument")
def a_cached_factory():
    @functools.lru_cache
    def make(k):
        return olympus.jit(lambda x: x * k)

    for k in (1, 2):
        make(k)(ones(3))  # miss


@cause(("k", "partial", "2", "3"), (ANY, "made again", ANY, ANY), cure="argument")
def partials_of_partials():
    def f(a, k, x):
        return a * x * k

    for k in (2, 3):
        olympus.jit(functools.partial(functools.partial(f, 1), k))(ones(3))  # miss


@cause(
    ("config.rate", "cell", "0.1", "0.2"),
    (ANY, "made again", ANY, ANY),
    cure="argument",
)
def a_closure_over_a_configuration():
    class Config:
        def __init__(self, rate):
            self.rate = rate

    def make(config):
        return olympus.jit(lambda x: x * config.rate)

    for rate in (0.1, 0.2):
        make(Config(rate))(ones(3))  # miss


SETTINGS = {"rate": 1.0}


@cause(
    ("SETTINGS['rate']", "global", "1.0", "2.0"),
    (ANY, "made again", ANY, ANY),
    cure="argument",
)
def a_global_dictionary_that_changes():
    for rate in (1.0, 2.0):
        SETTINGS["rate"] = rate
        olympus.jit(lambda x: x * SETTINGS["rate"])(ones(3))  # miss
    SETTINGS["rate"] = 1.0


@cause(("k", "default", "1", "2"), (ANY, "made again", ANY, ANY), cure="argument")
def a_keyword_only_default():
    for n in (1, 2):

        def f(x, *, k=n):
            return x * k

        olympus.jit(lambda x, f=f: f(x), inline=False)
        olympus.jit(f)(ones(3))  # miss


@cause(("f", "made again", ANY, ANY), cure="hoist")
def a_cell_of_a_notebook_that_runs_again():
    code = "import olympus\ndef f(x):\n    return x * 2\ng = olympus.jit(f)\n"
    for _ in range(2):
        scope = {}
        exec(compile(code, "<ipython-input-1>", "exec"), scope)
        scope["g"](ones(3))  # miss


@cause(
    ("has_aux", "transformation", "False", "True"),
    ("aux", "default", "False", "True"),
    (ANY, "made again", ANY, ANY),
    cure="hoist",
)
def a_gradient_with_and_without_auxiliary_values():
    def make(f, has_aux):
        return olympus.jit(olympus.value_and_grad(f, has_aux=has_aux))

    for aux in (False, True):

        def h(x, aux=aux):
            return (x.sum(), x) if aux else x.sum()

        make(h, aux)(ones(3))  # miss


@cause((ANY, "made again", ANY, ANY), cure="hoist")
def a_static_method_in_a_loop():
    for _ in range(2):

        class Model:
            @staticmethod
            def apply(x):
                return x * 2

        olympus.jit(Model.apply)(ones(3))  # miss


@cause((ANY, "made again", ANY, ANY), cure="hoist")
def lambdas_of_a_list():
    for f in [lambda x: x * 2 for _ in range(2)]:
        olympus.jit(f)(ones(3))  # miss


@cause(("i", "default", "0", "1"), (ANY, "made again", ANY, ANY), cure="argument")
def one_function_for_each_layer():
    for f in [lambda x, i=i: x * i for i in range(2)]:
        olympus.jit(f)(ones(3))  # miss


@cause(("<lambda>", "made again", ANY, ANY), ("x", "shape", "[3]", "[4]"), cure="hoist")
def a_lambda_in_a_loop_of_growing_arrays():
    for n in (3, 4):
        olympus.jit(lambda x: x.sum())(ones(n))  # miss


# -- options and settings --------------------------------------------------------------


@cause(
    ("static_argnames", "option", "('n',)", "()"),
    ("n", "no longer static", "3", ""),
    cure="options",
)
def an_argument_that_is_static_no_more():
    def f(x, n):
        return x * n

    olympus.jit(f, static_argnames="n")(ones(3), 3)
    olympus.jit(f)(ones(3), 3)  # miss


@cause(("numpy_rank_promotion", "setting", ANY, ANY), cure="setting")
def a_stricter_rank_promotion():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.numpy_rank_promotion("raise"):
        f(ones(3))  # miss


@cause(("debug_infs", "setting", "False", "True"), cure="setting")
def looking_for_infinities():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    with olympus.debug_infs(True):
        f(ones(3))  # miss


@cause(("enable_x64", "setting", "False", "True"), cure="setting")
def sixty_four_bits_in_a_thread():
    f = olympus.jit(lambda x: x * 2)

    def work():
        with olympus.enable_x64(True):
            f(ones(3))  # miss

    f(ones(3))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def another_shape_in_a_thread():
    f = olympus.jit(lambda x: x * 2)
    f(ones(3))
    thread = threading.Thread(target=lambda: f(ones(4)))  # miss
    thread.start()
    thread.join()


@cause(
    ("default_matmul_precision", "setting", ANY, ANY),
    ("x", "shape", "[3, 3]", "[4, 4]"),
    cure="setting",
)
def a_setting_and_another_shape_of_a_product():
    f = olympus.jit(lambda x: x @ x)
    f(ones(3, 3))
    with olympus.default_matmul_precision("highest"):
        f(ones(4, 4))  # miss


@cause(("x", "dtype", "float32", "int32"), cure="dtype")
def a_first_call_that_failed():
    @olympus.jit
    def f(x):
        if x.shape == (9,):
            raise ValueError("no")
        return x * 2

    f(ones(3))
    with contextlib.suppress(ValueError):
        f(ones(9))
    f(ones(3, dtype="int32"))  # miss


# -- eager functions -------------------------------------------------------------------


@cause(("reverse", "parameter", "False", "True"), cure="expected")
def an_eager_scan_that_is_reversed():
    def step(c, x):
        return c + x, c

    for reverse in (False, True):
        lax.scan(step, 0.0, ones(6), reverse=reverse)  # miss


@cause(("unroll", "parameter", "1", "2"), cure="expected")
def an_eager_scan_that_is_unrolled():
    def step(c, x):
        return c + x, c

    for unroll in (1, 2):
        lax.scan(step, 0.0, ones(6), unroll=unroll)  # miss


@cause((ANY, "added", "", "float32[3]"), cure="structure")
def an_eager_stack_of_a_growing_list():
    xs = [ones(3), ones(3)]
    for _ in range(2):
        jnp.stack(xs)  # miss
        xs.append(ones(3))


@cause((ANY, "parameter", "(2, 6)", "(3, 4)"), cure="expected")
def an_eager_reshape():
    x = ones(12)
    for shape in ((2, 6), (3, 4)):
        x.reshape(shape)  # miss


@cause((ANY, "parameter", "(5,)", "(6,)"), cure="expected")
def eager_random_numbers_of_another_shape():
    key = random.key(0)
    for n in (5, 6):
        random.normal(key, (n,))  # miss


@cause((ANY, "parameter", ANY, ANY), cure="expected")
def an_eager_cast_to_another_dtype():
    x = ones(7)
    for dtype in ("int32", "float16"):
        x.astype(dtype)  # miss


@cause((ANY, "parameter", "0", "1"), cure="expected")
def an_eager_sort_of_another_axis():
    x = ones(5, 7)
    for axis in (0, 1):
        jnp.sort(x, axis=axis)  # miss


@cause((ANY, "shape", "[9]", "[10]"), cure="pad")
def an_eager_transform_at_a_new_length():
    for n in (9, 10):
        jnp.fft.fft(ones(n, dtype="complex64"))  # miss


@cause((ANY, "made again", ANY, ANY), cure="hoist")
def an_eager_branch_made_again():
    for _ in range(2):
        lax.cond(True, lambda x: x * 2.5, jnp.sin, ones(3))  # miss


@cause((ANY, "shape", "[3]", "[4]"), cure="pad")
def an_eager_update_at_more_positions():
    x = ones(11)
    for n in (3, 4):
        x.at[np.arange(n)].set(2.0)  # miss


@cause(("c", "weak type", "True", "False"), cure="weak")
def an_eager_loop_of_another_weak_type():
    def step(i, c):
        return c * 2

    lax.fori_loop(0, 3, step, 1.5)
    lax.fori_loop(0, 3, step, jnp.float32(1.5))  # miss


@cause(("x", "shape", "[3, 5]", "[4, 5]"), cure="pad")
def a_mapped_function_at_a_new_size():
    f = olympus.vmap(olympus.jit(lambda x: x * 1.25))
    f(ones(3, 5))
    f(ones(4, 5))  # miss


@cause(("x", "shape", "[3]", "[4]"), cure="pad")
def a_custom_rule_at_a_new_shape():
    @olympus.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct * 2,))
    g = olympus.jit(olympus.grad(lambda x: f(x).sum()))
    for n in (3, 4):
        g(ones(n))  # miss


@cause((ANY, "parameter", ANY, ANY), cure="expected")
def an_eager_product_of_other_axes():
    x = ones(6, 6)
    for axes in (((1,), (0,)), ((0,), (0,))):
        lax.dot_general(x, x, (axes, ((), ())))  # miss


@cause(("act", "cell", "sin", "cos"), (ANY, "made again", ANY, ANY), cure="static")
def a_closure_over_functions_of_the_library():
    def make(act):
        return olympus.jit(lambda x: act(x))

    for act in (jnp.sin, jnp.cos):
        make(act)(ones(3))  # miss


@cause(("self.k", "instance", "1", "2"), (ANY, "made again", ANY, ANY), cure="argument")
def an_instance_with_a_lock():
    class Model:
        def __init__(self, k):
            self.k, self.lock = k, threading.Lock()

        def __call__(self, x):
            return x * self.k

    for k in (1, 2):
        olympus.jit(Model(k))(ones(3))  # miss
