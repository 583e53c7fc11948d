"""Where Python's numbers come out of derivatives as they went in."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax


def with_aux(x):
    return x, 2.0


def with_jvp(f, rule):
    g = olympus.custom_jvp(f)
    g.defjvp(rule)
    return g


def with_vjp(f, fwd, bwd):
    g = olympus.custom_vjp(f)
    g.defvjp(fwd, bwd)
    return g


CONSTANT_JVP = with_jvp(lambda x: 3.0, lambda primals, tangents: (3.0, 2.0))
CONSTANT_VJP = with_vjp(lambda x: 3.0, lambda x: (3.0, None), lambda _, ct: (2.0,))
Array = olympus.Array


def divide(g, y):
    return y / g(1.0)


def root(x):
    return lax.custom_root(
        lambda x: x * x - 3.0,
        x,
        lambda f, x: (x, (1.0, x, np.float32(3))),
        divide,
        has_aux=True,
    )


def solve(b):
    return lax.custom_linear_solve(
        lambda x: x, b, lambda _, b: (b, (2, b, b * 1)), symmetric=True, has_aux=True
    )


@olympus.checkpoint
def checkpointed(x):
    return x, True, 3, 0.1, 1j, x * 2


# Functions without arguments, and the types of the leaves of what they return, as JAX
# has them. Where JAX returns its TypedFloat, a float, it is a float here.
CASES = {
    "value_and_grad, aux": (
        lambda: olympus.value_and_grad(with_aux, has_aux=True)(1.0),
        [float, float, Array],
    ),
    "value_and_grad of a constant": (
        lambda: olympus.value_and_grad(lambda x: 3.0)(1.0),
        [float, Array],
    ),
    "value_and_grad of another argument": (
        lambda: olympus.value_and_grad(lambda x, y: y)(1.0, 2.0),
        [float, Array],
    ),
    "grad": (lambda: olympus.grad(lambda x: x)(1.0), [Array]),
    "grad, aux": (
        lambda: olympus.grad(
            lambda x: (x, (2, True, 1j, 2.0 * x, np.float32(1))), has_aux=True
        )(1.0),
        [Array, int, bool, complex, Array, np.float32],
    ),
    "jvp of a constant": (
        lambda: olympus.jvp(lambda x: 3.0, (1.0,), (1.0,)),
        [float, Array],
    ),
    "jvp of an integer": (
        lambda: olympus.jvp(lambda x: 3, (1.0,), (1.0,)),
        [int, np.ndarray],
    ),
    "jvp of a boolean": (
        lambda: olympus.jvp(lambda x: True, (1.0,), (1.0,)),
        [bool, np.ndarray],
    ),
    "jvp of the identity": (
        lambda: olympus.jvp(lambda x: x, (1.0,), (1.0,)),
        [float, float],
    ),
    "jvp of several": (
        lambda: olympus.jvp(lambda x: [x, 2.0, x * 1], (1.0,), (1.0,)),
        [float, float, Array, float, Array, Array],
    ),
    "jvp, aux": (
        lambda: olympus.jvp(lambda x: (x, (x, 2.0)), (1.0,), (1.0,), has_aux=True),
        [float, float, float, float],
    ),
    "jvp of grad, aux": (
        lambda: olympus.jvp(olympus.grad(with_aux, has_aux=True), (1.0,), (1.0,)),
        [Array, float, Array, Array],
    ),
    "vjp of a constant": (
        lambda: olympus.vjp(lambda x: 3.0, 1.0)[0],
        [float],
    ),
    "vjp of the identity": (
        lambda: (lambda out, pull: (out, pull(1.0)))(*olympus.vjp(lambda x: x, 1.0)),
        [float, float],
    ),
    "cotangents of a constant": (
        lambda: olympus.vjp(lambda x, y: x, 1.0, 2.0)[1](1.0),
        [float, Array],
    ),
    "vjp, aux": (
        lambda: olympus.vjp(lambda x: (x * x, 2.0), 1.0, has_aux=True)[::2],
        [Array, float],
    ),
    "linearize": (
        lambda: (lambda out, f: (out, f(1.0)))(*olympus.linearize(lambda x: x, 1.0)),
        [float, float],
    ),
    "linear_transpose": (
        lambda: olympus.linear_transpose(lambda x: x, 1.0)(1.0),
        [float],
    ),
    "custom_jvp": (lambda: CONSTANT_JVP(1.0), [float]),
    "jvp of custom_jvp": (
        lambda: olympus.jvp(CONSTANT_JVP, (1.0,), (1.0,)),
        [float, float],
    ),
    "value_and_grad of custom_jvp": (
        lambda: olympus.value_and_grad(
            with_jvp(lambda x: 3.0, lambda primals, tangents: (3.0, 2.0 * tangents[0]))
        )(1.0),
        [float, Array],
    ),
    "custom_vjp": (lambda: CONSTANT_VJP(1.0), [float]),
    "vjp of custom_vjp": (
        lambda: (lambda out, pull: (out, pull(1.0)))(*olympus.vjp(CONSTANT_VJP, 1.0)),
        [float, float],
    ),
    "jit": (
        lambda: olympus.jit(olympus.value_and_grad(with_aux, has_aux=True))(1.0),
        [Array, Array, Array],
    ),
    "jvp of jit": (
        lambda: olympus.jvp(olympus.jit(lambda x: x * 1), (1.0,), (1.0,)),
        [Array, Array],
    ),
    "hessian": (lambda: olympus.hessian(lambda x: x * x)(1.0), [Array]),
    "jacfwd": (lambda: olympus.jacfwd(lambda x: x)(1.0), [Array]),
    "jacrev": (lambda: olympus.jacrev(lambda x: x)(1.0), [Array]),
    "jacfwd of a constant": (lambda: olympus.jacfwd(lambda x: 3.0)(1.0), [Array]),
    "jacrev, aux": (
        lambda: olympus.jacrev(with_aux, has_aux=True)(1.0),
        [Array, float],
    ),
    "grad of custom_vjp": (lambda: olympus.grad(CONSTANT_VJP)(1.0), [float]),
    "grad of a custom_vjp that passes cotangents on": (
        lambda: olympus.grad(
            with_vjp(lambda x: x, lambda x: (x, None), lambda _, ct: (ct,))
        )(1.0),
        [Array],
    ),
    "custom_root": (lambda: root(1.0), [float, float, float, Array]),
    "custom_root of a constant": (
        lambda: lax.custom_root(lambda x: x - 3.0, 1.0, lambda f, x: 3.0, divide),
        [float],
    ),
    "custom_root under jit": (lambda: olympus.jit(root)(1.0), [Array] * 4),
    "custom_linear_solve": (lambda: solve(1.0), [float, int, float, Array]),
    "custom_linear_solve under jit": (lambda: olympus.jit(solve)(1.0), [Array] * 4),
    "checkpoint": (
        lambda: checkpointed(2),
        [int, bool, int, float, complex, Array],
    ),
    "checkpoint, some values kept": (
        lambda: olympus.checkpoint(
            lambda x: (x, 1.0), policy=olympus.checkpoint_policies.everything_saveable
        )(1.0),
        [float, float],
    ),
    "checkpoint under jit": (lambda: olympus.jit(checkpointed)(2), [Array] * 6),
    "while_loop": (
        lambda: lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, *c[1:]), (0, True, 1j, 0.1, 7)
        ),
        [Array, bool, complex, float, int],
    ),
    "fori_loop": (lambda: lax.fori_loop(0, 3, lambda i, c: c, 2.0), [float]),
    "fori_loop of no steps": (lambda: lax.fori_loop(0, 0, lambda i, c: c, 2), [int]),
    "scan": (
        lambda: lax.scan(lambda c, x: (c, (x, 1.0, c)), 2.0, np.arange(2)),
        [float, Array, Array, Array],
    ),
    "cond": (lambda: lax.cond(True, lambda x: x, lambda x: x, 1.0), [Array]),
    "stop_gradient": (
        lambda: lax.stop_gradient([1, True, 2.0, 1j, jnp.float32(1)]),
        [int, bool, float, complex, Array],
    ),
    "stop_gradient under jit": (
        lambda: olympus.jit(lambda: lax.stop_gradient(2.0))(),
        [Array],
    ),
    "vmap": (
        lambda: olympus.vmap(olympus.value_and_grad(lambda x: 3.0))(jnp.ones(2)),
        [Array, Array],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_types_of_results(name):
    run, expected = CASES[name]
    leaves = olympus.tree.leaves(run())
    for leaf, kind in zip(leaves, expected, strict=True):
        assert isinstance(leaf, kind)
        assert kind is not int or not isinstance(leaf, bool)


def test_numbers_are_what_they_were():
    """Not rounded to a dtype on the way."""
    out, tangent = olympus.jvp(lambda x: x, (0.1,), (1e-300,))
    assert (out, tangent) == (0.1, 1e-300)
    assert lax.fori_loop(0, 3, lambda i, c: c, 0.1) == 0.1
    assert olympus.checkpoint(lambda x: (x, 0.3))(0.1) == (0.1, 0.3)


def test_functions_that_return_numbers_can_be_checked():
    for f in (lambda x: x, lambda x: (x, 3.0), lambda x: {"a": 2.0, "b": x * x}):
        olympus.test_util.check_grads(f, (1.0,), 2)


@pytest.mark.parametrize("value", [np.arange(3.0), np.float64(2.0), np.arange(3)])
def test_numpy_values_that_only_pass_have_the_dtype_of_their_arrays(value):
    dtype = jnp.asarray(value).dtype
    seen = []

    def note(x):
        seen.append(x.dtype)
        return x

    for f in (with_jvp(note, lambda p, t: (p, t)), with_vjp(note, note, note)):
        assert f(value).dtype == dtype
    assert lax.stop_gradient(value).dtype == dtype
    assert seen == [dtype, dtype]
    with olympus.enable_x64():
        assert lax.stop_gradient(value).dtype == value.dtype
