"""What reverse differentiation keeps between its two passes."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus._src.interpreters import ad
from olympus.ad_checkpoint import saved_residuals


def array(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


X = array(8, 16)


def layer_norm(x, g, b):
    m, v = onp.mean(x, -1, keepdims=True), onp.var(x, -1, keepdims=True)
    return onp.sum(onp.sin((x - m) * lax.rsqrt(v + 1e-5) * g + b))


def softmax(x):
    e = onp.exp(x - lax.stop_gradient(onp.max(x, -1, keepdims=True)))
    return onp.sum(e / onp.sum(e, -1, keepdims=True) * x)


def mlp(x, w1, b1, w2, b2):
    return onp.sum(onp.tanh(x @ w1 + b1) @ w2 + b2)


def relu_mlp(x, w1, b1, w2, b2):
    return onp.mean((olympus.nn.relu(x @ w1 + b1) @ w2 + b2) ** 2)


def convolution(x, w):
    y = olympus.nn.relu(lax.conv(x, w, (1, 1), "SAME"))
    window = (1, 1, 2, 2)
    return onp.sum(lax.reduce_window(y, -onp.inf, lax.max, window, window, "VALID"))


def attention(x, wq, wk, wv, wo, w1, w2):
    def norm(x):
        m = onp.mean(x, -1, keepdims=True)
        return (x - m) / onp.sqrt(onp.mean((x - m) ** 2, -1, keepdims=True) + 1e-5)

    h = norm(x)
    q, k, v = h @ wq, h @ wk, h @ wv
    s = onp.einsum("bqd,bkd->bqk", q, k) / 4.0
    s = onp.where(onp.tril(onp.ones((8, 8), bool)), s, -1e9)
    x = x + onp.einsum("bqk,bkd->bqd", olympus.nn.softmax(s), v) @ wo
    return onp.sum(x + olympus.nn.gelu(norm(x) @ w1) @ w2)


WEIGHTS = (array(16, 32), array(32), array(32, 4), array(4))

# (program, arguments, number and bytes of what JAX 0.10.2 keeps for the same program,
# by jax._src.ad_checkpoint.saved_residuals)
PROGRAMS = [
    (layer_norm, (X, array(16), array(16)), 10, 2213),
    (softmax, (X,), 5, 1600),
    (mlp, (X, *WEIGHTS), 5, 5120),
    (relu_mlp, (X, *WEIGHTS), 7, 5504),
    (convolution, (array(1, 3, 8, 8), array(4, 3, 3, 3)), 5, 3504),
    (
        attention,
        (array(2, 8, 16), *[array(16, 16)] * 4, array(16, 32), array(32, 16)),
        37,
        32908,
    ),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=[f.__name__ for f, *_ in PROGRAMS])
def test_no_more_is_kept_than_by_jax(case):
    f, args, number, n_bytes = case
    kept = saved_residuals(f, *args)
    assert len(kept) <= number
    assert sum(a.size * a.dtype.itemsize for a, _ in kept) <= n_bytes


ONE_ARRAY = {
    "exp": onp.exp,
    "tanh": onp.tanh,
    "logistic": olympus.nn.sigmoid,
    "sqrt": onp.sqrt,
    "square": onp.square,
    "relu": olympus.nn.relu,
    "abs": onp.abs,
    "softplus": olympus.nn.softplus,
    "var": onp.var,
}


@pytest.mark.parametrize("name", ONE_ARRAY)
def test_one_array_is_enough(name):
    assert len(saved_residuals(ONE_ARRAY[name], X)) == 1


def test_a_broadcast_value_is_kept_small():
    x, y = array(8), array(9)
    kept = saved_residuals(onp.outer, x, y)
    assert sorted(a.size for a, _ in kept) == [8, 9]
    # So it is in a call, where the two passes are two programs.
    _, pull = olympus.vjp(olympus.jit(onp.outer), x, y)
    ct = array(8, 9)
    np.testing.assert_allclose(pull(ct)[0], ct @ y, rtol=1e-5)
    np.testing.assert_allclose(pull(ct)[1], x @ ct, rtol=1e-5)


def test_numbers_and_counters_are_not_kept():
    def f(x):
        return onp.sum(x * onp.full((16,), 2.0) + x * onp.arange(16))

    assert saved_residuals(f, X) == []
    want = np.broadcast_to(2 + np.arange(16), X.shape)
    np.testing.assert_allclose(olympus.grad(olympus.jit(f))(X), want)


def test_a_value_is_kept_once_and_not_beside_its_negative():
    def f(x):
        y = onp.sin(x)
        return onp.sum(y * x), onp.sum(-y * x), onp.sum(onp.reshape(y, (16, 8)) * 2.0)

    kept = saved_residuals(f, X)
    assert len(kept) == 3  # x, sin and cos
    total = olympus.jit(lambda x: sum(f(x)))
    want = 2 * np.cos(X)
    np.testing.assert_allclose(olympus.grad(total)(X), want, rtol=1e-5)


def test_arithmetic_on_kept_values_is_done_again():
    def f(x, w):
        y = onp.tanh(x)  # y is kept for the product, so 1 - y * y need not be
        return onp.sum((y @ w) ** 2)

    w = array(16, 4)
    kept = saved_residuals(f, X, w)
    assert sorted(a.shape for a, _ in kept) == [(8, 4), (8, 16), (16, 4)]
    want = (1 - np.tanh(X) ** 2) * (2 * (np.tanh(X) @ w) @ w.T)
    found = olympus.grad(olympus.jit(f))(X, w)
    np.testing.assert_allclose(found, want, rtol=2e-5, atol=1e-5)
    # A mask is made again of what it compares; long arithmetic is not done again.
    assert len(saved_residuals(lambda x: onp.where(x > 0, x * x, 0 * x), X)) == 1


def test_a_loop_stacks_what_is_small():
    def body(c, w):
        return onp.sin(c * onp.max(w)), None

    def f(c, ws):
        return onp.sum(lax.scan(body, c, ws)[0])

    ws = array(6, 3)
    kept = saved_residuals(f, array(50), ws)
    assert sorted(a.shape for a, _ in kept if a.size >= 50) == [(6, 50), (6, 50)]
    small = olympus.grad(f)(array(50), ws)
    assert small.shape == (50,)


def test_the_two_programs_fit_after_reducing():
    def f(x, y):
        z = onp.broadcast_to(y[:, None], (8, 16))
        return onp.sin(x * z) * -z, z * x

    program = olympus.make_olympuspr(f)(X, array(8)).olympuspr
    forward, tangent, zeros = ad.linearize_olympuspr(program, (True, True))
    n = len(program.outvars)
    residuals = forward.out_avals[n:]
    assert tangent.in_avals[: len(residuals)] == residuals
    assert zeros == [None, None]
    sizes = [a.size for a in residuals]
    assert sizes.count(8) == 1
    found = olympus.core.eval_olympuspr(forward.olympuspr, forward.consts, X, array(8))
    slopes = olympus.core.eval_olympuspr(
        tangent.olympuspr, (), *found[n:], onp.ones((8, 16)), onp.ones(8)
    )
    _, want = olympus.jvp(f, (X, array(8)), (onp.ones((8, 16)), onp.ones(8)))
    for a, b in zip(slopes, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
