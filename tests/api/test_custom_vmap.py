"""`custom_vmap` and `sequential_vmap`: batching rules that users write."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import errors, lax
from olympus.custom_batching import custom_vmap, sequential_vmap

XS = np.array([0.1, 0.4, 0.7], np.float32)


def make(calls=None, scale=10.0):
    """A product with a sine, whose batched form is `scale` times as large."""

    @custom_vmap
    def f(x, y):
        return onp.sin(x) * y

    @f.def_vmap
    def f_vmap(axis_size, in_batched, x, y):
        if calls is not None:
            calls.append((axis_size, in_batched, onp.shape(x), onp.shape(y)))
        return scale * onp.sin(x) * y, any(in_batched)

    return f


@pytest.mark.parametrize(
    "wrap",
    [
        lambda f: olympus.vmap(f, (0, None)),
        lambda f: olympus.jit(olympus.vmap(f, (0, None))),
        lambda f: olympus.vmap(olympus.jit(f), (0, None)),
    ],
)
def test_vmap_uses_the_rule(wrap):
    calls = []
    found = wrap(make(calls))(XS, 2.0)
    np.testing.assert_allclose(found, 20 * np.sin(XS), rtol=1e-6)
    assert calls == [(3, [True, False], (3,), ())]


def test_without_vmap_the_function_runs_and_may_branch_on_values():
    @custom_vmap
    def magnitude(x):
        return x if x > 0 else -x

    magnitude.def_vmap(lambda size, batched, x: (onp.abs(x), True))
    assert magnitude(-2.0) == 2.0
    np.testing.assert_array_equal(olympus.vmap(magnitude)(XS - 0.5), np.abs(XS - 0.5))


def test_the_axis_is_moved_to_the_front():
    calls = []
    f = olympus.vmap(make(calls), (1, None), out_axes=1)
    found = f(np.stack([XS, XS], 1), 2.0)
    np.testing.assert_allclose(found, 20 * np.sin(np.stack([XS, XS], 1)), rtol=1e-6)
    assert calls == [(2, [True, False], (2, 3), ())]


def test_nested_vmaps_batch_the_rule():
    calls = []
    f = olympus.vmap(olympus.vmap(make(calls), (0, None)), (None, 0))
    found = f(XS, onp.arange(2.0))
    expected = 10 * np.sin(XS) * np.arange(2.0)[:, None]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert len(calls) == 1


def test_scan_of_vmap_and_vmap_of_scan():
    f = make()

    def total(x):
        return lax.scan(lambda c, y: (c + f(x, y), None), 0.0, onp.arange(3.0))[0]

    found = olympus.vmap(total)(XS)
    np.testing.assert_allclose(found, 30 * np.sin(XS), rtol=1e-6)


def test_derivatives_are_those_of_the_function():
    f = make()
    value, slope = olympus.jvp(f, (0.7, 2.0), (1.0, 0.0))
    np.testing.assert_allclose((value, slope), (2 * np.sin(0.7), 2 * np.cos(0.7)))
    np.testing.assert_allclose(olympus.grad(f)(0.7, 2.0), 2 * np.cos(0.7), rtol=1e-6)


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
def test_derivatives_of_mapped_functions_are_those_of_the_rule(wrap):
    f = make()
    mapped = wrap(olympus.vmap(f, (0, None)))
    found = olympus.grad(lambda x: mapped(x, 2.0).sum())(XS)
    np.testing.assert_allclose(found, 20 * np.cos(XS), rtol=1e-6)
    # vmap of a derivative calls the derivative of the rule.
    found = olympus.vmap(lambda x: olympus.jvp(wrap(f), (x, 2.0), (1.0, 0.0)))(XS)
    np.testing.assert_allclose(found[0], 20 * np.sin(XS), rtol=1e-6)
    np.testing.assert_allclose(found[1], 20 * np.cos(XS), rtol=1e-6)


def test_constants_and_integers_have_no_tangents():
    @custom_vmap
    def f(x, n):
        return x * n, n

    f.def_vmap(lambda size, batched, x, n: ((10 * x * n, n), tuple(batched)))
    found = olympus.vmap(lambda x: olympus.jvp(lambda x: f(x, 3)[0], (x,), (1.0,)))(XS)
    np.testing.assert_allclose(found[0], 30 * XS, rtol=1e-6)
    np.testing.assert_array_equal(found[1], [30.0] * 3)
    assert olympus.grad(lambda x: f(x, 3)[0])(2.0) == 3.0


def test_it_goes_inside_custom_vjp():
    inner = make()
    f = olympus.custom_vjp(inner)
    f.defvjp(
        lambda x, y: (inner(x, y), (x, y)),
        lambda res, ct: (7 * ct * res[1], onp.sin(res[0]) * ct),
    )
    found = olympus.vmap(olympus.grad(f), (0, None))(XS, 2.0)
    np.testing.assert_allclose(found, [14.0] * 3)
    np.testing.assert_allclose(
        olympus.vmap(f, (0, None))(XS, 2.0), 20 * np.sin(XS), rtol=1e-6
    )


def test_closed_over_mapped_values():
    def outer(y, with_argument):
        f = custom_vmap(lambda x: x * y)
        f.def_vmap(lambda size, batched, x: (10 * x * y, True))
        return f(y if with_argument else 2.0)

    # Where no argument is mapped, the rule has nothing to say.
    found = olympus.vmap(lambda y: outer(y, False))(XS)
    np.testing.assert_allclose(found, 2 * XS)
    found = olympus.vmap(olympus.jit(lambda y: outer(y, False)))(XS)
    np.testing.assert_allclose(found, 2 * XS)
    for wrap in (lambda f: f, olympus.jit):
        with pytest.raises(errors.UnexpectedTracerError, match=r"[Pp]ass the value"):
            olympus.vmap(wrap(lambda y: outer(y, True)))(XS)


def test_trees_and_keywords():
    @custom_vmap
    def f(tree, *, scale=1.0):
        return {"y": tree["a"] + tree["b"]}

    @f.def_vmap
    def f_vmap(axis_size, in_batched, tree):
        assert in_batched == [{"a": True, "b": False}]
        return {"y": 10 * tree["a"] + tree["b"]}, {"y": True}

    found = olympus.vmap(lambda a: f(tree={"a": a, "b": 1.0}))(XS)
    np.testing.assert_allclose(found["y"], 10 * XS + 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("rule", "kind", "message"),
    [
        (lambda n, b, x: x, TypeError, "must return a pair of results and of bools"),
        (lambda n, b, x: (x, True), TypeError, "must return the results of <lambda>"),
        (
            lambda n, b, x: ({"a": x}, True),
            ValueError,
            "must say of each result whether it is batched",
        ),
        (
            lambda n, b, x: ({"a": onp.ones(4)}, {"a": True}),
            ValueError,
            r"a leading axis of size 3, got f32\[4\] at result\['a'\]",
        ),
        (
            lambda n, b, x: ({"a": x}, {"a": "yes"}),
            TypeError,
            r"got 'yes' at out_batched\['a'\]",
        ),
    ],
)
def test_rules_that_return_something_else_are_told_so(rule, kind, message):
    f = custom_vmap(lambda x: {"a": x})
    f.def_vmap(rule)
    with pytest.raises(kind, match=message):
        olympus.jit(olympus.vmap(olympus.jit(f)))(XS)


def test_misuse_is_explained():
    with pytest.raises(TypeError, match="custom_vmap: fun must be a function"):
        custom_vmap(3)
    f = custom_vmap(lambda x: x)
    with pytest.raises(AttributeError, match="no rule is defined for <lambda>"):
        f(1.0)
    with pytest.raises(TypeError, match="vmap_rule must be a function, got 3"):
        f.def_vmap(3)


def test_sequential_vmap_is_a_loop():
    calls = []

    def f(x, y):
        calls.append(onp.shape(x))
        return {"out": onp.sin(x) * y}

    f = sequential_vmap(f)
    found = olympus.vmap(f, (0, None))(XS, 2.0)
    np.testing.assert_allclose(found["out"], 2 * np.sin(XS), rtol=1e-6)
    assert set(calls) == {()}
    program = olympus.make_olympuspr(olympus.vmap(f, (0, None)))(XS, 2.0)
    assert "scan[" in str(program)
    nested = olympus.vmap(olympus.vmap(f, (0, None)), (0, None))
    found = nested(onp.stack([XS, 2 * XS]), 2.0)
    np.testing.assert_allclose(
        found["out"], 2 * np.sin(np.stack([XS, 2 * XS])), rtol=1e-6
    )


def test_the_program_shows_the_function_and_its_rule():
    program = str(olympus.make_olympuspr(make())(1.0, 2.0))
    for part in ("custom_vmap_call[", "name=f", "rule=f_vmap", "{ lambda ;"):
        assert part in program


def test_rules_are_registered_on_what_decorates_the_decorated():
    @olympus.custom_vjp
    @custom_vmap
    def multiply(x, y):
        return x * y

    @multiply.def_vmap
    def rule(axis_size, in_batched, x, y):
        return 100 * x * y, True

    multiply.defvjp(lambda x, y: (multiply(x, y), y), lambda y, ct: (7 * ct * y, ct))
    rows = onp.arange(1.0, 3.0)
    np.testing.assert_array_equal(olympus.vmap(multiply)(rows, rows), [100, 400])
    assert olympus.grad(multiply)(2.0, 3.0) == 21
    assert olympus.grad(lambda x: olympus.vmap(multiply)(x, rows).sum())(rows)[1] == 14
    with pytest.raises(AttributeError, match="no attribute 'def_vmap'"):
        print(olympus.custom_jvp(lambda x: x).def_vmap)
    with pytest.raises(
        AttributeError, match="'custom_vmap' object has no attribute 'x'"
    ):
        print(custom_vmap(lambda x: x).x)
