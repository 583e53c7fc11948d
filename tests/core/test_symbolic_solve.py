"""From sizes of arguments to values of the variables in their symbolic shapes."""

from __future__ import annotations

import pytest

from olympus import export
from olympus._src.core.symbolic import dim_solver


def _shapes(*texts, constraints=()):
    scope = export.SymbolicScope(constraints)
    return [export.symbolic_shape(text, scope=scope) for text in texts]


@pytest.mark.parametrize(
    ("texts", "actual", "env"),
    [
        (["b"], [(3,)], {"b": 3}),
        (["2*b + 1"], [(7,)], {"b": 3}),
        (["-b + 8"], [(2,)], {"b": 6}),
        (["a, b", "b, a*b"], [(2, 3), (3, 6)], {"a": 2, "b": 3}),
        (["a*b", "b"], [(6,), (3,)], {"a": 2, "b": 3}),
        (["b, mod(b, 3), 4"], [(4, 1, 4)], {"b": 4}),
        (["a + b, b"], [(5, 2)], {"a": 3, "b": 2}),
        (["max(a, 3)", "a"], [(3,), (2,)], {"a": 2}),
        (["a*c - 2*a, c"], [(9, 5)], {"a": 3, "c": 5}),
        (["3, 4"], [(3, 4)], {}),
    ],
)
def test_variables_are_computed_from_sizes(texts, actual, env):
    assert dim_solver.solve(_shapes(*texts), actual) == env


@pytest.mark.parametrize(
    ("texts", "actual", "message"),
    [
        (
            ["2*b + 1"],
            [(8,)],
            r"\[0\] is '2\*b \+ 1', got 8; no integer 'b'",
        ),
        (["2*b + 1"], [(1,)], "'b' would be 0, and must be at least 1"),
        (["-b + 8"], [(9,)], "'b' would be -1"),
        (["b"], [(0,)], "'b' would be 0"),
        (
            ["2*b + 1"],
            [(3, 4)],
            r"mismatch for args\[0\]: expected \(2\*b \+ 1,\)",
        ),
        (["a, b", "b"], [(2, 3), (4,)], r"args\[1\].shape\[0\] is 'b', got 4; it must"),
        (["a, 4"], [(2, 5)], r"args\[0\].shape\[1\] is '4', got 5"),
        (["a*b", "b"], [(7,), (3,)], r"shape\[0\] is 'a\*b', got 7; no integer 'a'"),
    ],
)
def test_sizes_that_do_not_fit_are_named(texts, actual, message):
    with pytest.raises(ValueError, match=message):
        dim_solver.solve(_shapes(*texts), actual)


def test_messages_name_arguments_and_where_values_come_from():
    shapes = _shapes("a, b", "b")
    with pytest.raises(ValueError, match=r"ys\['k'\]") as error:
        dim_solver.solve(shapes, [(2, 3), (4,)], ["xs", "ys['k']"])
    assert "'b' = 3 from 'b' at xs.shape[1]" in str(error.value)


@pytest.mark.parametrize("texts", [["b*b"], ["a*b"], ["a + b, b - a"], ["mod(b, 3)"]])
def test_shapes_that_tell_too_little_are_refused(texts):
    with pytest.raises(ValueError, match="Cannot solve for values of dimension"):
        dim_solver.plan(_shapes(*texts))


@pytest.mark.parametrize(
    ("constraints", "text", "good", "bad"),
    [
        (["a >= b", "mod(b, 3) == 0"], "a, b", (5, 3), (2, 3)),
        (["a >= b", "mod(b, 3) == 0"], "a, b", (7, 6), (7, 5)),
        (["a*b == c"], "a, b, c", (2, 3, 6), (2, 3, 7)),
        (["a <= 4"], "a", (4,), (5,)),
        # `a` is 2*b everywhere, and what is known of `a` holds for that.
        (["a == 2*b", "a >= 6"], "a, b", (6, 3), (4, 2)),
    ],
)
def test_constraints_are_checked(constraints, text, good, bad):
    shapes = _shapes(text, constraints=constraints)
    assert dim_solver.solve(shapes, [good])
    with pytest.raises(ValueError, match="do not match the symbolic shape"):
        dim_solver.solve(shapes, [bad])


def test_scopes_of_arguments_must_agree():
    shapes = [*_shapes("a"), *_shapes("b")]
    with pytest.raises(ValueError, match="belong to different scopes"):
        dim_solver.plan(shapes)
