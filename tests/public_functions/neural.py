"""Functions of olympus.nn, against formulas in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from olympus import nn
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import entries
from tests.public_functions.points import HEADS, M, SharedCall, X, signed_values
from tests.public_functions.reasons import DISCRETE, OWN_TESTS

entry = entries("nn")


def activation(d: Draw) -> Call:
    return d.call(d.array("half single single", values="plain special zeros"))


def whole_or_not(d: Draw) -> Call:
    return d.call(d.array("int half single", values="plain special zeros"))


def plain_or_zero(d: Draw) -> Call:
    return d.call(d.array("half single", values="plain zeros"))


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


def draw_softmax(d: Draw) -> Call:
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


def standardize(
    x: Any, axis: Any = -1, epsilon: float = 1e-5, algorithm: str = "fast"
) -> Any:
    del algorithm
    mean = x.mean(axis, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def draw_standardized(d: Draw) -> Call:
    x = d.array("single", "full")
    axes = [a for a in d.axes(x) if a not in (None, ())]
    # The fast algorithm takes a difference of large numbers where the mean is large.
    return d.call(x, algorithm="stable", **d.options(axis=axes, epsilon=[1e-3]))


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


def formula(name: str, draw: Callable[[Draw], Call], **settings: Any) -> list[Any]:
    """An entry of a function whose oracle is a formula."""
    return entry(name, draw, ulps=32, scale=1.0, **settings)


ENTRIES = [
    *formula(
        "relu",
        whole_or_not,
        oracle=lambda x: np.maximum(x, 0),
        smooth=(M,),
        types="v; a",
    ),
    *formula("identity", whole_or_not, oracle=lambda x: x, smooth=(M,), types="v"),
    *formula(
        "relu6",
        activation,
        oracle=lambda x: np.clip(x, 0, 6),
        smooth=(M,),
        types="v; a",
    ),
    *formula("sigmoid", activation, oracle=sigmoid, smooth=(M,), types="v; a"),
    *formula("tanh", activation, oracle=np.tanh, smooth=(M,), types="v"),
    *formula(
        "log_sigmoid",
        activation,
        oracle=lambda x: -softplus(-x),
        smooth=(M,),
        types="v",
    ),
    *formula("softplus", activation, oracle=softplus, smooth=(M,), types="v; a"),
    *formula(
        "soft_sign",
        activation,
        oracle=lambda x: x / (1 + np.abs(x)),
        smooth=(M,),
        types="v",
    ),
    *formula(
        "hard_tanh",
        activation,
        oracle=lambda x: np.clip(x, -1, 1),
        smooth=(M,),
        types="v",
    ),
    *formula(
        "hard_sigmoid",
        activation,
        oracle=lambda x: np.clip(x + 3, 0, 6) / 6,
        smooth=(M,),
        types="v",
    ),
    *formula(
        "sparse_sigmoid",
        activation,
        oracle=lambda x: np.clip((x + 1) / 2, 0, 1),
        smooth=(M,),
        types="v",
    ),
    *formula("selu", activation, oracle=selu, smooth=(M,), types="v; a"),
    *formula(
        "silu",
        plain_or_zero,
        oracle=lambda x: x * sigmoid(x),
        smooth=(M,),
        types="v",
    ),
    *formula(
        "hard_silu",
        plain_or_zero,
        oracle=lambda x: x * np.clip(x + 3, 0, 6) / 6,
        smooth=(M,),
        types="v",
    ),
    *formula(
        "mish",
        plain_or_zero,
        oracle=lambda x: x * np.tanh(softplus(x)),
        smooth=(M,),
        types="v",
    ),
    *formula(
        "sparse_plus",
        plain_or_zero,
        oracle=sparse_plus,
        smooth=(M,),
        types="v",
    ),
    *formula("elu", with_slope, oracle=elu, smooth=(M,), types="v; a; v, b; v, 2"),
    *formula("celu", with_slope, oracle=celu, smooth=(M,), types="v; v, b; v, 2"),
    *formula(
        "leaky_relu",
        with_slope,
        oracle=lambda x, slope=0.01: np.where(x >= 0, x, slope * x),
        smooth=(M,),
        types="v; v, b; v, 2",
    ),
    *formula(
        "squareplus", with_slope, oracle=squareplus, smooth=(M,), types="v; v, b; v, 2"
    ),
    *formula(
        "gelu",
        lambda d: d.call(d.array("single"), d.chance()),
        oracle=gelu,
        smooth=[(M,), (lambda x: nn.gelu(x, approximate=False), M)],
        types="v; a; v, approximate=False",
    ),
    *formula(
        "log1mexp",
        lambda d: d.call(d.array("single", values="positive")),
        oracle=log1mexp,
        smooth=(X,),
        types="v; a",
    ),
    *formula(
        "softmax",
        draw_softmax,
        oracle=softmax,
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, axis=0)), signed_values(4, 3)),
        ],
        types="v; v, where=np.array([True, False, True])",
    ),
    *formula(
        "log_softmax",
        draw_softmax,
        oracle=log_softmax,
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, axis=0)), signed_values(4, 3)),
        ],
        types="v; v, where=np.array([True, False, True])",
    ),
    *formula(
        "logmeanexp",
        means,
        oracle=logmeanexp,
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, axis=0)), signed_values(4, 3)),
        ],
        types="v; v, where=np.array([True, False, True])",
    ),
    *formula(
        "glu",
        halves,
        oracle=glu,
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, axis=0)), signed_values(4, 3)),
        ],
        types="v[:2] if hasattr(v, 'dtype') else v",
    ),
    *formula(
        "one_hot", classes, oracle=one_hot, smooth=DISCRETE, types="v, 3; v, 3, dtype=D"
    ),
    *entry(
        "standardize",
        draw_standardized,
        oracle=standardize,
        ulps=512,
        scale=1.0,
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, axis=0)), signed_values(4, 3)),
        ],
        types=("v; v, where=np.array([True, False, True]); v, mean=w, variance=w"),
    ),
    *entry(
        "dot_product_attention",
        heads,
        oracle=attention,
        ulps=128,
        scale=1.0,
        smooth=tuple(HEADS),
        types=(
            "s[None, None], t[None, None], t[None, None]; "
            "s[None, :, None], s[None, :, None], s[None, :, None],"
            " bias=t[None, None, None][0]; "
            "s[None, :, None], s[None, :, None], s[None, :, None],"
            " mask=t[None, None] > 0"
        ),
    ),
    *entry("hard_swish", alias="hard_silu", smooth=(M,), types="v"),
    *entry("swish", alias="silu", smooth=(M,), types="v"),
    *entry(
        "get_scaled_dot_general_config",
        undrawn=OWN_TESTS,
        smooth=DISCRETE,
        unrecorded=OWN_TESTS,
    ),
    *entry(
        "logsumexp",
        undrawn=OWN_TESTS,
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, axis=0)), signed_values(4, 3)),
        ],
        types=(
            "v; v, b=w; v, b=w, return_sign=True; "
            "v, where=np.array([True, False, True])"
        ),
    ),
    *entry(
        "scaled_dot_general scaled_matmul",
        undrawn=OWN_TESTS,
        smooth=OWN_TESTS,
        unrecorded=OWN_TESTS,
    ),
]
