"""Checks and derivatives of programs hold no traced value when its trace has ended."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.experimental import checkify

pytestmark = pytest.mark.usefixtures("few_objects")  # leaks are sought in the garbage


@olympus.custom_jvp
def logarithm(x):
    return onp.log(x)


logarithm.defjvp(lambda p, t: (logarithm(p[0]), t[0] / p[0]))


@olympus.custom_vjp
def halved(x):
    return x / 2


halved.defvjp(lambda x: (x / 2, x), lambda x, ct: (ct / 2 + 0 * x,))


def work(x):
    checkify.check(onp.sum(x) > 0, "sum {s}", s=onp.sum(x))
    y = lax.cond(onp.sum(x) > 0, lambda y: y / x, lambda y: y * 2, logarithm(x))
    y, _ = lax.scan(lambda c, _: (c / 2, None), y, None, length=2)
    y = lax.fori_loop(0, 2, lambda i, c: c / x, y)
    return olympus.jit(lambda z: z[onp.argmin(z)] / z[0])(halved(y))


WRAPS = {
    "plain": lambda f: f,
    "jit": olympus.jit,
    "vmap": lambda f: lambda x: olympus.vmap(f)(onp.stack([x, x])),
    "grad": olympus.grad,
    "checkpoint": olympus.checkpoint,
}


SLOW = [pytest.param(w, marks=pytest.mark.slow) for w in list(WRAPS)[1:]]


@pytest.mark.parametrize("wrap", ["plain", *SLOW])
def test_no_leaks(wrap):
    with olympus.checking_leaks():
        checked = checkify.checkify(WRAPS[wrap](work), errors=checkify.all_checks)
        error, _ = checked(np.float32([2, 3, 4]))
    assert error.get() is None


NESTED = {
    "jit": lambda x: olympus.jit(lambda z: onp.sum(z / z[0]))(x),
    "cond": lambda x: lax.cond(x[0] > 0, lambda y: y[0] / x[1], lambda y: y[0], x),
    "scan": lambda x: lax.scan(lambda c, _: (c / x[0], None), x[1], None, length=2)[0],
}


@pytest.mark.parametrize("case", NESTED)
def test_gradients_of_programs_leak_nothing(case):
    with olympus.checking_leaks():
        olympus.make_olympuspr(olympus.grad(NESTED[case]))(np.float32([2, 3]))
