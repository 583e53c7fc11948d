"""Which re-made functions are one program, and which must never be."""

import functools
import math
import random
import time

import numpy as np
import pytest

import olympus
from olympus._src.core.function_key import function_key
from olympus._src.interpreters.evaluate import as_array

SCALE = 2.0
TABLE = {"k": 3.0}
LIST = [1.0]


def helper(x):
    return x * SCALE


def same(make):
    """Whether two makings of a function have one key."""
    first, second = function_key(make()), function_key(make())
    return first is not None and first == second


def test_equal_lambdas_have_one_key():
    assert same(lambda: lambda x: x + 1)
    assert same(lambda: functools.partial(helper))
    assert same(lambda: functools.partial(helper, 3))
    assert same(lambda: lambda x: helper(x) + math.sin(1.0))
    assert same(lambda: lambda x: np.sqrt(x))


def test_transformed_functions_are_known_by_what_they_were_made_of():
    for name in ("vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "checkpoint"):
        transform = getattr(olympus, name)
        assert same(lambda t=transform: t(lambda x: olympus.numpy.sin(x) * 2))
    assert same(lambda: olympus.vmap(olympus.grad(helper), in_axes=(0,)))
    one, two = (olympus.vmap(helper, in_axes=(axis,)) for axis in (0, 1))
    assert function_key(one) != function_key(two)
    assert function_key(olympus.vmap(helper)) != function_key(helper)


def test_transformed_functions_are_not_kept_when_a_global_changes(monkeypatch):
    mapped, slope = olympus.vmap(helper), olympus.vmap(olympus.grad(helper))
    x = np.ones(2, np.float32)

    def call():
        return olympus.jit(lambda x: mapped(x) + slope(x))(x)[0]

    assert call() == 4
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert call() == 10


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2),
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (0j, -0j),
        ((1, 2), (1, 3)),
        ([1], [2]),
        ("a", "b"),
        (np.float32(1), np.float64(1)),
        ({"a": 1}, {"a": 2}),
        (None, 0),
    ],
    ids=str,
)
def test_other_values_give_other_keys(a, b):
    def closing(v):
        return lambda x: (x, v)

    def defaulting(v):
        def f(x, v=v):
            return x, v

        return f

    def keyword_only(v):
        def f(x, *, v=v):
            return x, v

        return f

    for make in (closing, defaulting, keyword_only):
        assert function_key(make(a)) is not None
        assert function_key(make(a)) == function_key(make(a))
        assert function_key(make(a)) != function_key(make(b))
    assert function_key(functools.partial(helper, a)) != function_key(
        functools.partial(helper, b)
    )


def test_nan_equals_itself():
    def closing(v):
        return lambda x: x + v

    assert function_key(closing(math.nan)) == function_key(closing(math.nan))


def test_globals_count_through_functions(monkeypatch):
    def make():
        return lambda x: helper(x)

    before = function_key(make())
    assert before == function_key(make())
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert function_key(make()) != before


def test_contents_of_containers_count():
    def make():
        return lambda x: x * TABLE["k"] * LIST[0]

    before = function_key(make())
    TABLE["k"] = 4.0
    assert function_key(make()) != before
    TABLE["k"] = 3.0
    assert function_key(make()) == before
    LIST.append(2.0)
    assert function_key(make()) != before
    LIST.pop()


def test_attributes_of_modules_count(monkeypatch):
    import fractions as module

    monkeypatch.setattr(module, "factor", 2.0, raising=False)

    def make():
        return lambda x: x * module.factor

    before = function_key(make())
    assert before == function_key(make())
    monkeypatch.setattr(module, "factor", 3.0)
    assert function_key(make()) != before


def test_mutated_cells_count():
    n = 1

    def make():
        return lambda x: x + n

    before = function_key(make())
    n = 2
    assert function_key(make()) != before


class Mutable:
    value = 1.0


instance = Mutable()
generator = np.random.default_rng(0)
array = np.ones(3)


def imports(x):
    import fractions

    return x * fractions.factor


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * instance.value,
        lambda x: x * Mutable.value,
        lambda x: x + array,
        lambda x: x + generator.normal(),
        lambda x: x + np.random.rand(),
        lambda x: x + random.random(),
        lambda x: x + time.time(),
        lambda x: x + globals()["SCALE"],
        lambda x: x + getattr(instance, "value"),  # noqa: B009
        lambda x: eval("x"),
        imports,
        instance.__init__,
        print,
    ],
)
def test_what_could_change_unseen_has_no_key(f):
    key = function_key(f)
    assert key is None or f is print


def test_arrays_count_by_identity():
    a, b = as_array(np.ones(3, np.float32)), as_array(np.ones(3, np.float32))

    def closing(v):
        return lambda x: x + v

    assert function_key(closing(a)) == function_key(closing(a))
    assert function_key(closing(a)) != function_key(closing(b))


def test_recursive_functions_have_a_key():
    def make():
        def f(n):
            return n if n < 1 else f(n - 1)

        return f

    assert function_key(make()) is not None


def traces(f):
    return len(f.cache_info().retraces)


def test_jit_of_remade_functions_compiles_once():
    for _ in range(5):
        jitted = olympus.jit(lambda x: x * 2.5)
        assert float(jitted(np.float32(2))) == 5.0
        assert traces(jitted) == 1


def test_jit_never_uses_a_stale_value(monkeypatch):
    n = 1.0
    outs = []
    for value in (1.0, 2.0, 1.0, 3.0):
        n = value
        # The loop's variable is what is tested: each function sees its value of now.
        outs.append(float(olympus.jit(lambda x: x + n)(np.float32(0))))  # noqa: B023
    assert outs == [1.0, 2.0, 1.0, 3.0]
    outs = []
    for value in (1.0, 2.0, 1.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        outs.append(float(olympus.jit(lambda x: helper(x))(np.float32(1))))
    assert outs == [1.0, 2.0, 1.0]


def test_a_function_that_changed_keeps_its_own_programs_only():
    n = 1.0

    def make():
        return lambda x: x + n

    first = olympus.jit(make())
    assert float(first(np.float32(0))) == 1.0
    n = 2.0
    # The same function object: as in the field, it is not traced again ...
    assert float(first(np.float32(0))) == 1.0
    # ... except for new types, where it sees the new value, and keeps that to itself.
    assert first(np.zeros(2, np.float32)).tolist() == [2.0, 2.0]
    n = 1.0
    fresh = olympus.jit(make())
    assert fresh(np.zeros(2, np.float32)).tolist() == [1.0, 1.0]


def test_replaced_library_functions_are_seen(monkeypatch):
    def make():
        return lambda x: olympus.lax.sin(x)

    before = function_key(make())
    monkeypatch.setattr(olympus.lax, "sin", lambda x: x)
    assert function_key(make()) != before


def test_containers_may_have_to_be_the_same():
    def make(items):
        return lambda: items.append(1)

    items = [1]
    key = lambda x: function_key(make(x), same_containers=True)  # noqa: E731
    assert key(items) == key(items)
    assert key(items) != key([1])
    assert function_key(make(items)) == function_key(make([1]))
