"""`custom_gradient`, `closure_convert` and `linear_call`."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import errors, lax
from olympus.custom_derivatives import linear_call

# -- custom_gradient -------------------------------------------------------------------


def make(scale=10.0):
    @olympus.custom_gradient
    def f(x, y=2.0):
        s = onp.sin(x)
        return s * y, lambda ct: (scale * ct * onp.cos(x) * y, ct * s)

    return f


def test_the_gradient_is_the_one_returned():
    f = make()
    assert f(0.5) == pytest.approx(2 * np.sin(0.5))
    for g in (
        olympus.grad(f, (0, 1)),
        olympus.jit(olympus.grad(olympus.jit(f), (0, 1))),
    ):
        found = g(0.5, 2.0)
        np.testing.assert_allclose(found, (20 * np.cos(0.5), np.sin(0.5)), rtol=1e-6)
    second = olympus.grad(olympus.grad(f))(0.5)
    np.testing.assert_allclose(second, -20 * np.sin(0.5), rtol=1e-6)
    xs = np.array([0.1, 0.5], np.float32)
    mapped = olympus.vmap(olympus.grad(f))(xs)
    np.testing.assert_allclose(mapped, 20 * np.cos(xs), rtol=1e-6)


def test_one_argument_may_have_a_bare_cotangent():
    f = olympus.custom_gradient(lambda x: ((x**2, 3), lambda ct: 10 * ct[0]))
    assert olympus.grad(lambda x: f(x)[0])(3.0) == 10.0


def test_what_it_must_return():
    with pytest.raises(TypeError, match="must return a pair of its result and a funct"):
        olympus.custom_gradient(lambda x: x)(1.0)
    with pytest.raises(TypeError, match="fun must be a function"):
        olympus.custom_gradient(3)
    with pytest.raises(NotImplementedError, match="remat must be False"):
        olympus.custom_gradient(remat=True)
    assert make().__name__ == "f"


def test_python_cannot_branch_on_values_in_the_gradient():
    f = olympus.custom_gradient(lambda x: (x, lambda ct: ct if ct > 0 else -ct))
    with pytest.raises(errors.TracerBoolConversionError, match="custom_gradient"):
        olympus.grad(f)(-1.0)


# -- closure_convert -------------------------------------------------------------------


def test_values_closed_over_become_arguments():
    def f(y, z):
        numbers = np.arange(3.0, dtype=np.float32)

        def inner(x, tree):
            return {"out": (x * y + tree["a"] * z) * numbers.sum()}

        converted, values = olympus.closure_convert(inner, 1.0, {"a": 1.0})
        assert len(values) == 2
        return converted(2.0, {"a": 5.0}, *values)["out"]

    assert olympus.grad(f, (0, 1))(1.0, 1.0) == (6.0, 15.0)
    assert olympus.jit(olympus.grad(f, (0, 1)))(1.0, 1.0) == (6.0, 15.0)


def test_nothing_is_hoisted_where_nothing_is_traced():
    y = onp.float32(3.0)
    converted, values = olympus.closure_convert(lambda x: x * y, 1.0)
    assert values == []
    assert converted(2.0) == 6.0
    assert repr(converted) == "<<lambda>, converted by closure_convert>"


def test_converted_functions_say_how_they_are_called():
    converted, _ = olympus.closure_convert(lambda t: t["a"], {"a": 1.0})
    with pytest.raises(TypeError, match="takes 1 arguments and the 0 values"):
        converted()
    with pytest.raises(TypeError, match=r"only args\[0\] has 'b'"):
        converted({"b": 1.0})
    with pytest.raises(TypeError, match="example_args"):
        olympus.closure_convert(lambda x: x, "text")


@pytest.mark.slow
def test_a_solver_differentiates_through_the_function_it_is_given():
    """Minimises a convex function by Newton's method; the derivative of the minimiser
    follows from the implicit function theorem, for all that the function closes over.
    """

    def minimise(f, x):
        converted, values = olympus.closure_convert(f, x)
        return solve(converted, x, *values)

    @functools.partial(olympus.custom_vjp, nondiff_argnums=(0,))
    def solve(f, x, *values):
        slope = olympus.grad(f)

        def newton(_, x):
            return x - slope(x, *values) / olympus.grad(slope)(x, *values)

        return lax.fori_loop(0, 20, newton, x)

    def fwd(f, x, *values):
        x = solve(f, x, *values)
        return x, (x, values)

    def bwd(f, residuals, ct):
        x, values = residuals
        slope = olympus.grad(f)
        curvature = olympus.grad(slope)(x, *values)
        _, back = olympus.vjp(lambda *values: slope(x, *values), *values)
        return onp.zeros_like(x), *back(-ct / curvature)

    solve.defvjp(fwd, bwd)

    def minimiser(a):  # of exp(x) - a x, at log a
        return minimise(lambda x: onp.exp(x) - a * x, 0.0)

    assert minimiser(3.0) == pytest.approx(np.log(3.0), rel=1e-5)
    for wrap in (lambda f: f, olympus.jit):
        slope = olympus.grad(wrap(minimiser))(3.0)
        assert slope == pytest.approx(1 / 3, rel=1e-5)
    slopes = olympus.vmap(olympus.grad(minimiser))(onp.array([2.0, 4.0]))
    np.testing.assert_allclose(slopes, [0.5, 0.25], rtol=1e-5)


# -- linear_call -----------------------------------------------------------------------


def scaled(r, x):
    """`r x`, with a transpose that is tenfold, to be seen."""
    return linear_call(lambda r, x: x * r, lambda r, ct: 10 * ct * r, r, x)


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
def test_reverse_mode_uses_the_transpose(wrap):
    f = wrap(scaled)
    assert f(2.0, 3.0) == 6.0
    assert olympus.grad(f, (0, 1))(2.0, 3.0) == (3.0, 20.0)
    assert olympus.jvp(f, (2.0, 3.0), (1.0, 1.0)) == (6.0, 5.0)
    # The transpose is differentiated in turn.
    assert olympus.grad(lambda r: olympus.grad(f, 1)(r, 3.0))(2.0) == 10.0
    rs = onp.arange(3.0)
    found = olympus.vmap(olympus.grad(f, 1), (0, None))(rs, 1.0)
    np.testing.assert_array_equal(found, [0.0, 10.0, 20.0])
    found = olympus.grad(lambda x: olympus.vmap(f, (0, None))(rs, x).sum())(1.0)
    assert found == 30.0


def test_transposing_twice_gives_the_function_back():
    def f(x):
        return linear_call(lambda _, x: x, lambda _, ct: 7 * ct, (), x)

    def transposed(f):
        return lambda ct: olympus.linear_transpose(f, 1.0)(ct)[0]

    assert transposed(f)(1.0) == 7.0
    assert transposed(transposed(f))(1.0) == 1.0
    assert transposed(transposed(transposed(f)))(1.0) == 7.0


def test_linear_calls_are_checked():
    with pytest.raises(TypeError, match="fun_transpose must be a function"):
        linear_call(lambda r, x: x, None, (), 1.0)
    with pytest.raises(TypeError, match=r"residual_args.*must be an array"):
        linear_call(lambda r, x: x, lambda r, x: x, "text", 1.0)

    def with_transpose(transpose):
        return lambda x: linear_call(lambda r, x: x["a"], transpose, (), {"a": x})

    with pytest.raises(TypeError, match="in the structure of linear_args, got"):
        olympus.grad(with_transpose(lambda r, ct: ct))(1.0)
    with pytest.raises(TypeError, match=r"at result\['a'\] got f32\[3\], expected f32"):
        olympus.grad(with_transpose(lambda r, ct: {"a": onp.ones(3)}))(1.0)
