"""Reductions by functions outside of traces: compiled once, and never stale."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.control_flow import equal_computations
from olympus._src.interpreters import evaluate, lowered_programs

X = jnp.arange(1.0, 7.0)
ZERO = np.float32(0)


@pytest.fixture
def lowered_names(monkeypatch):
    """The names of the programs that are lowered."""
    names = []
    lower = lowered_programs.lower

    def note(*args, **kwargs):
        names.append(kwargs.get("name"))
        return lower(*args, **kwargs)

    monkeypatch.setattr(evaluate.lowered_programs, "lower", note)
    return names


def test_functions_are_traced_in_each_call():
    factors = {"b": 1.0}

    def combine(a, b):
        return a + b * factors["b"]

    def fold_by(factor):
        factors["b"] = factor
        return float(lax.reduce(X[:2], ZERO, combine, (0,)))

    results = [fold_by(factor) for factor in (1.0, 2.0, 1.0, 3.0, np.float32(0))]
    assert results[0] == results[2] == 3
    assert len(set(results)) == 4


REDUCTIONS = {
    "reduce": lambda: lax.reduce(X, ZERO, lambda a, b: (a + b) * 1, (0,)),
    "reduce_window": lambda: lax.reduce_window(X, ZERO, lambda a, b: (a + b) * 1, (2,)),
    "scatter-add": lambda: lax.scatter_add(
        X, np.array([[1]]), np.ones(1, np.float32), NUMBERS
    ),
    "scatter_max": lambda: lax.scatter_max(
        X, np.array([[1]]), np.ones(1, np.float32), NUMBERS
    ),
}
NUMBERS = lax.ScatterDimensionNumbers((), (0,), (0,))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_calls_after_the_first_lower_nothing(name, lowered_names):
    first = REDUCTIONS[name]()
    lowered_names.clear()
    np.testing.assert_array_equal(REDUCTIONS[name](), first)
    assert lowered_names == []


def test_settings_are_part_of_what_is_equal():
    def fold():
        return lax.reduce(X, ZERO, lambda a, b: a + b * 2 - b, (0,))

    fold()
    with olympus.disable_jit():
        assert fold() == 21
    with olympus.default_matmul_precision("float32"):
        assert fold() == 21


def test_numbers_of_other_types_make_other_programs():
    kinds = (1, 1.0, np.float32(1), -0.0, 0.0)
    programs = []
    for number in kinds:
        closed = olympus.make_olympuspr(lambda a, n=number: a * n)(ZERO)
        programs.append(equal_computations.find_equal(closed.olympuspr))
    again = olympus.make_olympuspr(lambda a: a * -0.0)(ZERO)
    assert equal_computations.find_equal(again.olympuspr) is programs[3]
    assert programs[3] is not programs[4]
    assert all(eqn.source is None for p in programs for eqn in p.eqns)


def test_long_computations_are_left_alone():
    def repeat(a):
        for _ in range(40):
            a = jnp.sin(a)
        return a

    closed = olympus.make_olympuspr(repeat)(ZERO)
    first = equal_computations.find_equal(closed.olympuspr)
    assert first is not equal_computations.find_equal(closed.olympuspr)


def test_programs_of_traces_name_the_function():
    text = str(
        olympus.make_olympuspr(lambda x: lax.reduce(x, ZERO, lambda a, b: a - b, (0,)))(
            X
        )
    )
    assert "computation=<function" in text
