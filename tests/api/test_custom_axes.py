"""Rules that say what olympus would do anyway change nothing, wherever axes are."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax, tree

pytestmark = pytest.mark.usefixtures("few_objects")


def plain(x, w):
    return onp.tanh(x) @ w, onp.cumsum(x) * w.sum(), onp.ones(2)


by_jvp = olympus.custom_jvp(plain)
by_jvp.defjvp(lambda primals, tangents: olympus.jvp(plain, primals, tangents))
by_vjp = olympus.custom_vjp(plain)
by_vjp.defvjp(
    lambda x, w: (plain(x, w), (x, w)),
    lambda args, ct: olympus.vjp(plain, *args)[1](ct),
)

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(3, 4, 5)).astype(np.float32)
W = GENERATOR.normal(size=4).astype(np.float32)
WS = GENERATOR.normal(size=(3, 4)).astype(np.float32)


def loss(f):
    return lambda *args: sum(onp.sum(onp.sin(out)) for out in f(*args))


def mapped(f):
    return olympus.vmap(f, (1, None), out_axes=(0, 1, 0))


CASES = {
    "vmap": lambda f: mapped(f)(X[0], W),
    "vmap of vmap": lambda f: olympus.vmap(olympus.vmap(f, (1, None)))(X, WS),
    "vmap of vmap over other arguments": lambda f: olympus.vmap(
        olympus.vmap(f, (None, 0), out_axes=(0, 1, 1)), (1, None)
    )(X[0], WS),
    "grad of vmap": lambda f: olympus.grad(loss(mapped(f)), (0, 1))(X[0], W),
    "vmap of grad": lambda f: olympus.vmap(olympus.grad(loss(f), (0, 1)), (1, None))(
        X[0], W
    ),
    "vmap of grad of vmap": lambda f: olympus.vmap(
        olympus.grad(loss(mapped(f)), (0, 1)), (0, None)
    )(X, W),
    "grad of vmap of grad": lambda f: olympus.grad(
        lambda w: onp.sum(olympus.vmap(olympus.grad(loss(f)), (1, None))(X[0], w) ** 2)
    )(W),
    "jacrev": lambda f: olympus.jacrev(lambda w: mapped(f)(X[0], w)[:2])(W),
    "scan": lambda f: olympus.grad(
        lambda w: lax.scan(lambda c, x: (c + 0.1 * f(x, c)[0], f(x, c)[1]), w, X[0].T)[
            1
        ].sum()
    )(W),
}


def check(case, f):
    found, expected = tree.leaves(case(f)), tree.leaves(case(plain))
    for x, y in zip(found, expected, strict=True):
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("f", [by_jvp, by_vjp], ids=["custom_jvp", "custom_vjp"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_true_rules_change_nothing(case, f, wrap):
    check(case, wrap(f))


class Thing:
    """A value that no array is, and that can be asked whether it still lives."""

    scale = 2.0


def slope_with(thing):
    f = olympus.custom_jvp(lambda x, thing=thing: x * thing.scale, nondiff_argnums=1)
    f.defjvp(lambda thing, p, t: (p[0] * thing.scale, t[0] * thing.scale))
    return olympus.grad(f)(3.0)


def test_no_cache_keeps_what_a_function_closed_over():
    thing = Thing()
    gone = weakref.ref(thing)
    assert slope_with(thing) == 2.0
    del thing
    gc.collect()
    assert gone() is None
