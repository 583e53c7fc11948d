"""Gradients do not depend on the policy: nested programs under policies by chance."""

import random

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import ad_checkpoint, lax

pytestmark = pytest.mark.sampled(5)

X = np.array([0.3, -0.2, 0.7], "float32")
W = np.random.default_rng(0).normal(size=(3, 3)).astype("float32") / 2


@olympus.jit
def inner(x, w):
    return onp.sin(onp.tanh(w @ x)), x * 2, w


@olympus.custom_jvp
def scaled(x):
    return onp.exp(x)


@scaled.defjvp
def _(primals, tangents):
    y = scaled(*primals)
    return y, tangents[0] * y * 2


def calls(x, w):
    a, b, c = inner(x, w)
    d, e, _ = inner(a * b, c)
    return onp.sum(d * e * scaled(a))


def loops(x, w):
    def step(c, w):
        c = inner(c, w)[0]
        c, ys = lax.scan(lambda c, _: (onp.sin(c * w[0]), c @ w), c, None, length=2)
        return c, (ys, onp.sin(c))

    c, (y, z) = lax.scan(step, x, onp.stack([w, w * 0.5]), reverse=True)
    return onp.sum(c) + onp.sum(onp.sin(y)) + onp.sum(z * z)


def branches(x, w):
    y = lax.cond(
        onp.sum(x) > 0,
        lambda x: onp.sin(w @ onp.sin(w @ x)),
        lambda x: onp.cos(x) * 2,
        x,
    )
    return onp.sum(lax.fori_loop(0, 3, lambda i, v: onp.sin(v) * x, y))


def checkpoints(x, w):
    f = olympus.checkpoint(lambda x: onp.sin(w @ onp.sin(x)))
    return onp.sum(f(f(x)) * olympus.checkpoint(loops)(x, w))


def derivatives(x, w):
    g = olympus.grad(calls)(x, w)
    return onp.sum(g * olympus.jvp(lambda x: calls(x, w) * x, (x,), (x,))[1])


def policy_by_chance(seed):
    generator = random.Random(seed)
    share = generator.random()
    answers = {}

    def policy(prim, *avals, **params):
        key = (prim.name, avals)
        if key not in answers:
            answers[key] = generator.choices(
                [
                    ad_checkpoint.Recompute,
                    ad_checkpoint.Saveable,
                    ad_checkpoint.Offloadable("device", "pinned_host"),
                ],
                [1 - share, 0.8 * share, 0.2 * share],
            )[0]
        return answers[key]

    return policy


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("f", [calls, loops, branches, checkpoints, derivatives])
def test_gradients_under_any_policy(f, seed):
    g = olympus.checkpoint(f, policy=policy_by_chance(seed), prevent_cse=bool(seed % 2))
    want = olympus.jit(olympus.grad(f, (0, 1)))(X, W)
    with olympus.enable_checks(True):
        found = olympus.jit(olympus.grad(g, (0, 1)))(X, W)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)
    if seed == 1:
        along = [
            olympus.jit(
                lambda x, h=h: olympus.jvp(lambda x: olympus.grad(h)(x, W), (x,), (x,))
            )(X)[1]
            for h in (f, g)
        ]
        np.testing.assert_allclose(*along, rtol=1e-3, atol=1e-4)
