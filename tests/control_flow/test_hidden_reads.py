"""Bodies whose code reads something in a roundabout way are traced again.

Each case gives a body, which was traced before, and what changes a value that it reads.
"""

from __future__ import annotations

import collections
import contextvars
import decimal
import functools
import os
import pathlib
import sys
import time
import types
from typing import Generic, TypeVar

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.foundation import config

X = np.float32(1.0)
T = TypeVar("T")

module = types.ModuleType("olympus_test_hidden")
module.k = 2.0
other = types.ModuleType("olympus_test_package.inner")
package = types.ModuleType("olympus_test_package")
package.inner = other
for _module in (module, other, package):
    sys.modules[_module.__name__] = _module

CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def set_k(k):
    module.k = other.k = k


@case
def functions_that_look_names_up(_):
    look_up, attributes = getattr, vars

    def body(c, _):
        return c * look_up(module, "k") * attributes(module)["k"], None

    return body, lambda: set_k(3.0)


@case
def a_partial_that_looks_a_name_up(_):
    look_up = functools.partial(getattr, module, "k")
    return lambda c, _: (c * look_up(), None), lambda: set_k(3.0)


@case
def a_slot_that_looks_a_name_up(_):
    look_up = types.ModuleType.__getattribute__
    return lambda c, _: (c * look_up(module, "k"), None), lambda: set_k(3.0)


@case
def code_by_string(_):
    names = {"run": eval, "k": 2.0}
    exec("def body(c, _): return c * run('k'), None", names)
    return names["body"], lambda: names.update(k=3.0)


@case
def names_of_a_mapping(_):
    class Names(dict):
        k = 2.0

        def __missing__(self, name):
            if name == "special":
                return Names.k
            raise KeyError(name)

    names = Names()
    exec("def body(c, _): return c * special, None", names)
    return names["body"], lambda: setattr(Names, "k", 3.0)


def body_of_package(text):
    names = {"__name__": "olympus_test_package.body"}
    names["__package__"] = "olympus_test_package"
    exec(f"def body(c, _):\n  {text}", names)
    return names["body"]


@case
def a_relative_import(_):
    body = body_of_package("from . import inner; return c * inner.k, None")
    return body, lambda: set_k(3.0)


@case
def a_name_of_a_relative_import(_):
    body = body_of_package("from .inner import k; return c * k, None")
    return body, lambda: set_k(3.0)


@case
def an_import_beside_a_value_of_its_name(_):
    names = {"olympus_test_hidden": 7}
    text = "def body(c, _):\n  import olympus_test_hidden as m\n  return c * m.k, None"
    exec(text, names)
    return names["body"], lambda: set_k(3.0)


@case
def a_module_that_makes_attributes(_):
    values = {"made": 2.0}
    made = types.ModuleType("olympus_test_made")
    made.__getattr__ = lambda name: values[name]
    return lambda c, _: (c * made.made, None), lambda: values.update(made=3.0)


@case
def classes_of_nameless_code(_):
    names = {}
    exec("class A: k = 2.0\ndef body(c, _): return c * A.k, None", names)
    return names["body"], lambda: setattr(names["A"], "k", 3.0)


@case
def a_queue(_):
    queue = collections.deque([2.0])
    return lambda c, _: (c * queue[0], None), lambda: queue.appendleft(3.0)


@case
def keys_by_comparison(_):
    sign = 1.0
    key = functools.cmp_to_key(lambda a, b: (a - b) * sign)

    def change():
        nonlocal sign
        sign = -1.0

    return lambda c, _: (c * sorted((1.0, 4.0), key=key)[0], None), change


@case
def a_record(_):
    record = np.zeros(1, [("k", "f4")])[0]
    record["k"] = 2

    def change():
        record["k"] = 3

    return lambda c, _: (c * float(record["k"]), None), change


@case
def numbers_with_attributes(_):
    class Number(np.float32):
        pass

    number = Number(1)
    number.k = 2.0
    return lambda c, _: (c * number.k, None), lambda: setattr(number, "k", 3.0)


@case
def a_function_or_its_position(_):
    this = None

    def body(c, _):
        return c * (this + 2.0 if type(this) is int else 5.0), None

    def change():
        nonlocal this
        this = 0

    this = body
    return body, change


@case
def an_attribute_of_the_librarys_name(_):
    class Options:
        derived_fields = ("k",)
        k = 0.0

    options = Options()
    options.k = 2.0
    return lambda c, _: (c * options.k, None), lambda: setattr(options, "k", 3.0)


@case
def names_of_functions(_):
    def gelu():
        pass

    def body(c, _):
        return c * (2.0 if gelu.__name__ == gelu.__qualname__ else 3.0), None

    gelu.__name__ = gelu.__qualname__ = "gelu"
    return body, lambda: setattr(gelu, "__qualname__", "relu")


@case
def names_of_classes(_):
    class A:
        pass

    def body(c, _):
        return c * (2.0 if A.__name__ == "A" else 3.0), None

    return body, lambda: setattr(A, "__name__", "B")


@case
def modules_of_classes(_):
    class A:
        pass

    def body(c, _):
        return c * float(len(A.__module__)), None

    return body, lambda: setattr(A, "__module__", "B")


@case
def classes_below_a_class(_):
    class A:
        pass

    below = []

    def body(c, _):
        return c * (2.0 + len(A.__subclasses__())), None

    return body, lambda: below.append(type("B", (A,), {}))


@case
def lists_of_names(_):
    names = dir
    module.__dict__.pop("new", None)

    def body(c, _):
        return c * float(len(names(module))), None

    return body, lambda: setattr(module, "new", 1)


@case
def files_by_path(folder):
    path = folder / "k"
    path.write_text("2")

    def body(c, _):
        return c * float(pathlib.Path(path).read_text()), None

    return body, lambda: path.write_text("3")


@case
def whether_there_is_a_file(folder):
    path = str(folder / "k")
    pathlib.Path(path).write_text("2")

    def body(c, _):
        return c * (2.0 if os.path.exists(path) else 3.0), None

    return body, lambda: os.remove(path)


@case
def files_of_numbers(folder):
    path = str(folder / "k")
    np.full(1, 2.0).tofile(path)

    def body(c, _):
        return c * float(np.fromfile(path)[0]), None

    return body, lambda: np.full(1, 3.0).tofile(path)


@case
def precision_of_decimals(_):
    decimal.getcontext().prec = 1

    def body(c, _):
        return c * float(decimal.Decimal(1) / decimal.Decimal(3)), None

    return body, lambda: setattr(decimal.getcontext(), "prec", 6)


@case
def settings_of_python(_):
    def body(c, _):
        return c * sys.get_int_max_str_digits(), None

    return body, lambda: sys.set_int_max_str_digits(5000)


@case
def variables_of_contexts(_):
    variable = contextvars.ContextVar("k", default=2.0)
    return lambda c, _: (c * variable.get(), None), lambda: variable.set(3.0)


@case
def rules_of_trees(_):
    k = 2.0

    class Node:
        def __init__(self, x):
            self.x = x

    olympus.tree_util.register_pytree_node(
        Node, lambda node: ((node.x * k,), None), lambda _, children: Node(*children)
    )

    def change():
        nonlocal k
        k = 3.0

    return lambda c, _: (olympus.tree.leaves(Node(c))[0], None), change


@case
def aliases_of_classes(_):
    class A:
        k = 2.0
        __class_getitem__ = classmethod(types.GenericAlias)

    class B(Generic[T]):
        k = 2.0

    first, second, either = A[int], B[int], int | A

    def body(c, _):
        return c * first.k * second.k * either.__args__[1].k, None

    def change():
        A.k = 3.0
        B.k = 5.0

    return body, change


@case
def classes_of_a_module_with_a_name_of_pythons(folder):
    names = {"__name__": "olympus_test_user"}
    mine = types.ModuleType("profile")
    mine.__file__ = str(folder / "profile.py")
    exec("class A: k = 2.0\ndef get(): return A.k", vars(mine))
    sys.modules["profile"] = mine
    names["mine"] = mine
    exec("def body(c, _): return c * mine.A.k * mine.get(), None", names)
    return names["body"], lambda: setattr(mine.A, "k", 3.0)


@case
def settings_that_change_no_program(_):
    config = olympus.config
    config.update("olympus_log_compiles", False)

    def body(c, _):
        return c * (3.0 if config.read("olympus_log_compiles") else 2.0), None

    return body, lambda: config.update("olympus_log_compiles", True)


@pytest.fixture(autouse=True)
def settings_of_the_process():
    digits = sys.get_int_max_str_digits()
    logs, profile = (
        olympus.config.olympus_log_compiles,
        sys.modules.pop("profile", None),
    )
    with decimal.localcontext():
        yield
    sys.set_int_max_str_digits(digits)
    sys.modules.pop("profile", None)
    if profile is not None:
        sys.modules["profile"] = profile
    olympus.config.update("olympus_log_compiles", logs)


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_in_a_roundabout_way(name, tmp_path):
    set_k(2.0)
    body, change = CASES[name](tmp_path)

    def run():
        return float(lax.scan(body, X, None, length=1)[0])

    for _ in range(3):
        assert run() == float(body(X, None)[0])
    change()
    assert run() == float(body(X, None)[0])


def test_clocks_are_read_each_time():
    def body(c, _):
        return c * 0.0 + jnp.float32(time.perf_counter_ns() % 2**20), None

    def run():
        return float(lax.scan(body, X, None, length=1)[0])

    assert len({run() for _ in range(4)}) > 1


@pytest.mark.parametrize("name", ["fori", "while", "cond", "checkpoint", "map"])
def test_other_bodies(name):
    look_up = getattr
    set_k(2.0)

    def f(c):
        return c * look_up(module, "k")

    def add(i, c):
        return f(c)

    run = {
        "fori": lambda: lax.fori_loop(0, 1, add, X),
        "while": lambda: lax.while_loop(lambda c: c == X, f, X),
        "cond": lambda: lax.cond(True, f, f, X),
        "checkpoint": lambda: olympus.checkpoint(f)(X),
        "map": lambda: lax.map(f, np.ones(1, np.float32))[0],
    }[name]
    for k in (2.0, 2.0, 3.0):
        set_k(k)
        assert float(run()) == k


def test_functions_kept_by_arguments_are_known():
    """Only what they read may make them unknown: here it is a class in C."""
    Record = collections.namedtuple("Record", "a b")
    record = Record(2.0, 3.0)
    helper = functools.lru_cache(lambda k: k * 2)

    def body(c, _):
        kind = float | int
        return c * record.a * helper(2) if isinstance(record.b, kind) else c, None

    lax.scan(body, X, None, length=1)
    with config.no_tracing(True):
        assert float(lax.scan(body, X, None, length=1)[0]) == 8.0
