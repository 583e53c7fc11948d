"""Functions of olympus.nn, against formulas in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from tests.differential.drawing import Call, Draw
from tests.differential.entries import entries

entry = entries("nn")


def activation(d: Draw) -> Call:
    return d.call(d.array("half single single", values="plain special zeros"))


def whole_or_not(d: Draw) -> Call:
    return d.call(d.array("int half single", values="plain special zeros"))


def with_slope(d: Draw) -> Call:
    return d.call(
        d.array("single", values="plain zeros"), *d.pick([(), (0.3,), (2.0,)])
    )


def sigmoid(x: Any) -> Any:
    return special.expit(x)


def softplus(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


def elu(x: Any, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def celu(x: Any, alpha: float = 1.0) -> Any:
    return np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0) / alpha)


def selu(x: Any) -> Any:
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


def gelu(x: Any, approximate: bool = True) -> Any:
    if not approximate:
        return x * special.ndtr(x)
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + np.tanh(inner))


def squareplus(x: Any, b: float = 4.0) -> Any:
    return (x + np.sqrt(x * x + b)) / 2


def sparse_plus(x: Any) -> Any:
    return np.where(x <= -1, 0.0, np.where(x >= 1, x, (x + 1) ** 2 / 4))


def log1mexp(x: Any) -> Any:
    return np.log(-np.expm1(-x))


# -- along axes ------------------------------------------------------------------------


def softened(d: Draw) -> Call:
    x = d.array("single", "full", "plain ties")
    axes = [a for a in d.axes(x) if a not in (None, ())]
    mask = np.asarray(d.rng.uniform(size=x.shape) < 0.8)
    mask[...] |= ~mask.any()
    return d.call(x, **d.options(axis=axes, where=lambda: mask))


def softmax(x: Any, axis: Any = -1, where: Any = True) -> Any:
    """Where nothing is left of an axis, its weights are zero."""
    x = np.where(where, x, -np.inf)
    top = x.max(axis, keepdims=True)
    sizes = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = sizes.sum(axis, keepdims=True)
    return sizes / np.where(total == 0, 1, total)


def log_softmax(x: Any, axis: Any = -1, where: Any = True) -> Any:
    return np.log(softmax(x, axis, where))


def means(d: Draw) -> Call:
    x = d.array("single", "full")
    axes = [a for a in d.axes(x) if a != ()]
    return d.call(x, **d.options(axis=axes, keepdims=[True, False]))


def logmeanexp(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.log(np.mean(np.exp(x), axis=axis, keepdims=keepdims))


def standardize(x: Any, axis: Any = -1, epsilon: float = 1e-5) -> Any:
    mean = x.mean(axis, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def scaled(d: Draw) -> Call:
    x = d.array("single", "full")
    axes = [a for a in d.axes(x) if a not in (None, ())]
    return d.call(x, **d.options(axis=axes, epsilon=[1e-3]))


def halves(d: Draw) -> Call:
    x = d.array("half single", d.pick([(4,), (2, 6), (4, 3)]))
    axis = 0 if x.shape[0] == 4 else -1
    return d.call(x, axis=axis)


def glu(x: Any, axis: int = -1) -> Any:
    left, right = np.split(x, 2, axis)
    return left * special.expit(right)


def classes(d: Draw) -> Call:
    x = d.rng.integers(-2, 6, d.shape()).astype(d.dtype("int"))
    axis = d.integer(-x.ndim - 1, x.ndim)
    return d.call(x, d.integer(0, 5), axis=axis)


def one_hot(x: Any, n: int, axis: int = -1) -> Any:
    out = (x[..., None] == np.arange(n)).astype(float)
    return np.moveaxis(out, -1, axis)


# -- attention -------------------------------------------------------------------------


def heads(d: Draw) -> Call:
    b, t, s, h = 2, 4, 5, 3
    n, k = d.pick([(2, 2), (4, 2), (3, 1)])
    dtype = d.dtype("single")
    q, key, v = (
        d.rng.normal(size=(b, *shape, h)).astype(dtype)
        for shape in ((t, n), (s, k), (s, k))
    )
    options = d.options(
        bias=lambda: d.rng.normal(size=(d.pick([1, b]), n, t, s)).astype(dtype),
        mask=lambda: np.asarray(d.rng.uniform(size=(b, 1, t, s)) < 0.8),
        is_causal=[True],
        scale=[0.3],
        local_window_size=[2, (1, 3)],
        key_value_seq_lengths=lambda: np.asarray([d.integer(2, s), s], np.int32),
    )
    return d.call(q, key, v, **options)


def attention(
    q: Any,
    key: Any,
    v: Any,
    bias: Any = None,
    mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    local_window_size: Any = None,
    key_value_seq_lengths: Any = None,
) -> Any:
    """One query of one head after the other."""
    b, t, n, h = q.shape
    s, k = key.shape[1:3]
    scale = h**-0.5 if scale is None else scale
    window = local_window_size
    left, right = (window, window) if isinstance(window, int) else (window or (s, s))
    lengths = [s] * b if key_value_seq_lengths is None else key_value_seq_lengths
    out = np.zeros(q.shape)
    for i, at, head in np.ndindex(b, t, n):
        group = head // (n // k)
        scores = key[i, :, group] @ q[i, at, head] * scale
        if bias is not None:
            scores = scores + bias[i % bias.shape[0], head, at]
        column = np.arange(s)
        seen = (column >= at - left) & (column <= at + right) & (column < lengths[i])
        if is_causal:
            seen &= column <= at
        if mask is not None:
            seen &= mask[i, 0, at]
        # A large number stands for -inf, so that a row without keys has equal weights.
        scores = np.where(seen, scores, -1e30)
        out[i, at, head] = special.softmax(scores) @ v[i, :, group]
    return out


def each(draw: Callable[[Draw], Call], **oracles: Any) -> list[Any]:
    """Entries of one draw, each with its formula."""
    found = []
    for name, oracle in oracles.items():
        found += entry(name, draw, oracle=oracle, ulps=32, scale=1.0)
    return found


ENTRIES = [
    *each(
        whole_or_not,
        relu=lambda x: np.maximum(x, 0),
        identity=lambda x: x,
    ),
    *each(
        activation,
        relu6=lambda x: np.clip(x, 0, 6),
        sigmoid=sigmoid,
        tanh=np.tanh,
        log_sigmoid=lambda x: -softplus(-x),
        softplus=softplus,
        soft_sign=lambda x: x / (1 + np.abs(x)),
        hard_tanh=lambda x: np.clip(x, -1, 1),
        hard_sigmoid=lambda x: np.clip(x + 3, 0, 6) / 6,
        sparse_sigmoid=lambda x: np.clip((x + 1) / 2, 0, 1),
        selu=selu,
    ),
    *each(
        lambda d: d.call(d.array("half single", values="plain zeros")),
        silu=lambda x: x * sigmoid(x),
        hard_silu=lambda x: x * np.clip(x + 3, 0, 6) / 6,
        mish=lambda x: x * np.tanh(softplus(x)),
        sparse_plus=sparse_plus,
    ),
    *each(
        with_slope,
        elu=elu,
        celu=celu,
        leaky_relu=lambda x, slope=0.01: np.where(x >= 0, x, slope * x),
        squareplus=squareplus,
    ),
    *each(lambda d: d.call(d.array("single"), d.chance()), gelu=gelu),
    *each(lambda d: d.call(d.array("single", values="positive")), log1mexp=log1mexp),
    *each(softened, softmax=softmax, log_softmax=log_softmax),
    *each(means, logmeanexp=logmeanexp),
    *each(halves, glu=glu),
    *each(classes, one_hot=one_hot),
    *entry("standardize", scaled, oracle=standardize, ulps=512, scale=1.0),
    *entry("dot_product_attention", heads, oracle=attention, ulps=128, scale=1.0),
]

ALIASES = {"hard_swish": "hard_silu", "swish": "silu"}
