"""`test_util`: right derivatives pass, wrong ones are named."""

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.test_util import check_grads, check_jvp, check_vjp

X = np.asarray([0.5, -1.0, 2.0], np.float32)


def half_held(x):
    """The square, of which the derivative sees only one factor."""
    return lax.stop_gradient(x) * x


def test_right_derivatives_pass():
    check_grads(jnp.sin, (X,), order=2)


@pytest.mark.slow
def test_right_derivatives_of_other_dtypes_and_trees_pass():
    check_grads(jnp.sin, (X,), order=3)
    check_grads(lambda p, n: jnp.tanh(p["w"] @ p["x"]) * n, ({"w": X, "x": X}, 3), 2)
    check_grads(jnp.exp, (np.float16(0.5),), 1)
    check_grads(jnp.exp, (jnp.bfloat16(0.5),), 1)
    check_grads(lambda x: (x * 2, x.astype("int32")), (X,), 2)
    with olympus.enable_x64(True):
        check_grads(jnp.sin, (np.float64(1.0),), 3, atol=1e-7, rtol=1e-7)


@pytest.mark.slow
def test_complex_functions_pass():
    check_grads(jnp.exp, (np.complex64(0.5 - 0.25j),), 2)
    check_grads(jnp.abs, (np.complex64(0.5 - 0.25j),), 2)
    check_grads(lambda x: (x * (1 + 2j)).imag, (X,), 1)


def test_steps_that_leave_the_domain_are_made_smaller():
    check_grads(jnp.log, (np.float32(0.02),), 1)


def test_kinks_nearby_do_no_harm():
    x = np.asarray([0.005, -0.004, 0.01, 1.0], np.float32)  # less than the usual step
    check_grads(lambda x: jnp.maximum(x, 0.0), (x,), 1)
    check_grads(jnp.abs, (x,), 1)
    with pytest.raises(AssertionError):
        check_grads(jnp.abs, (x,), 1, eps=1e-2)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_wrong_derivatives_are_named(mode):
    def f(p):
        return {"good": p["a"] * 3.0, "bad": half_held(p["b"])}

    args = ({"a": X, "b": np.float32(1.5)},)
    place = r"result\['bad'\]" if mode == "fwd" else r"p\['b'\]"
    with pytest.raises(AssertionError, match=rf"order 1, modes {mode}.*{place}"):
        check_grads(f, args, order=1, modes=[mode])
    with pytest.raises(AssertionError, match=r"expected -?\d.* got -?\d") as caught:
        check_grads(half_held, (1.5,), 1, modes=mode)
    words = str(caught.value).replace(";", " ").split()
    expected = float(words[words.index("expected") + 1])
    got = float(words[words.index("got") + 1])
    np.testing.assert_allclose(got, expected / 2, rtol=1e-3)


def test_a_wrong_derivative_of_second_order_is_named():
    def f(x):  # the slope is right, the slope's slope is that of another function
        return lax.stop_gradient(x) * x * 2 - lax.stop_gradient(x * x)

    np.testing.assert_allclose(f(1.5), 1.5**2)
    np.testing.assert_allclose(olympus.grad(f)(1.5), 3.0)
    with pytest.raises(AssertionError, match="order 2, modes fwd of fwd"):
        check_grads(f, (1.5,), 2, modes="fwd")


def test_elements_are_counted():
    def f(x):
        return jnp.concatenate([x[:1], half_held(x[1:])])

    with pytest.raises(AssertionError, match=r"result\[1\]: .*2 of 3 elements differ"):
        check_grads(f, (X,), 1, modes=("fwd",))


def test_functions_of_one_s_own_are_compared_too():
    def wrong_value(primals, tangents):
        return jnp.cos(*primals), jnp.cos(*primals) * tangents[0]

    check_jvp(jnp.sin, functools.partial(olympus.jvp, jnp.sin), (X,))
    with pytest.raises(AssertionError, match="mine: value of f_jvp: result"):
        check_jvp(jnp.sin, wrong_value, (X,), err_msg="mine")

    def wrong_shape(primals, tangents):
        return jnp.sin(*primals), jnp.cos(*primals)[0]

    with pytest.raises(
        AssertionError, match=r"result must have shape \(3,\), got \(\)"
    ):
        check_jvp(jnp.sin, wrong_shape, (X,))

    def wrong_pullback(x):
        return jnp.sin(x), lambda ct: (ct,)

    check_vjp(jnp.sin, functools.partial(olympus.vjp, jnp.sin), (X,))
    with pytest.raises(AssertionError, match="cotangent along a random direction"):
        check_vjp(jnp.sin, wrong_pullback, (X,))


def test_bad_calls():
    with pytest.raises(ValueError, match="modes must hold 'fwd' or 'rev'"):
        check_grads(jnp.sin, (1.0,), 1, modes="back")
    with pytest.raises(ValueError, match="order must be at least 1"):
        check_grads(jnp.sin, (1.0,), 0)
    with pytest.raises(TypeError, match=r"tuple or list.*got float; write \(x,\)"):
        check_grads(jnp.sin, 1.0, 1)
    with pytest.raises(TypeError, match=r"floating or complex, got \['i32\[\]'\]"):
        check_grads(jnp.sin, (1,), 1)
    with pytest.raises(TypeError, match="expected a callable"):
        check_grads(None, (1.0,), 1)
