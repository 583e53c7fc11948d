"""A small decoder-only transformer, as functions of a tree of weights.

The weights of all layers are stacked along a first axis, so that the layers are a loop.
"""

from typing import NamedTuple

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import export, lax, nn


class Config(NamedTuple):
    """Sizes of the model and of a batch."""

    vocabulary: int = 64
    width: int = 32
    heads: int = 4
    hidden: int = 64
    layers: int = 4
    length: int = 16
    batch: int = 16


def init(key, c):
    """Initial weights."""
    keys = iter(olympus.random.split(key, 6))
    head = c.width // c.heads

    def normal(*shape, fan_in):
        return fan_in**-0.5 * olympus.random.normal(next(keys), shape)

    layers = {
        "attention_norm": jnp.ones((c.layers, c.width)),
        "qkv": normal(c.layers, c.width, 3, c.heads, head, fan_in=c.width),
        "out": normal(c.layers, c.heads, head, c.width, fan_in=c.width),
        "mlp_norm": jnp.ones((c.layers, c.width)),
        "up": normal(c.layers, c.width, c.hidden, fan_in=c.width),
        "down": normal(c.layers, c.hidden, c.width, fan_in=c.hidden),
    }
    return {
        "embedding": normal(c.vocabulary, c.width, fan_in=c.width),
        "position": normal(c.length, c.width, fan_in=c.width),
        "layers": layers,
        "norm": jnp.ones(c.width),
    }


def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * scale


def block(layer, x):
    """One layer; x: [batch, length, width]."""
    h = rms_norm(x, layer["attention_norm"])
    q, k, v = jnp.moveaxis(jnp.einsum("bld,dchk->bclhk", h, layer["qkv"]), 1, 0)
    attended = nn.dot_product_attention(q, k, v, is_causal=True)
    x = x + jnp.einsum("blhk,hkd->bld", attended, layer["out"])
    h = rms_norm(x, layer["mlp_norm"])
    return x + nn.gelu(h @ layer["up"]) @ layer["down"]


def embed(params, tokens):
    return params["embedding"][tokens] + params["position"]


def cross_entropy(params, x, targets):
    """The mean over the batch of a number for each token."""
    logits = rms_norm(x, params["norm"]) @ params["embedding"].T
    picked = jnp.take_along_axis(nn.log_softmax(logits), targets[..., None], -1)
    return -picked.mean()


def loss(params, batch):
    tokens, targets = batch
    x = embed(params, tokens)
    x, _ = lax.scan(lambda x, layer: (block(layer, x), None), x, params["layers"])
    return cross_entropy(params, x, targets)


# -- training --------------------------------------------------------------------------


class State(NamedTuple):
    """Weights, and what Adam keeps of their gradients."""

    step: olympus.Array
    params: dict
    mean: dict
    square: dict


# So that it can be saved.
export.register_namedtuple_serialization(State, serialized_name="demo.training.State")


def init_state(params):
    mean, square = (olympus.tree.map(jnp.zeros_like, params) for _ in range(2))
    return State(jnp.zeros((), "int32"), params, mean, square)


def adam(state, gradient, rate=3e-3, decays=(0.9, 0.99)):
    """The state after one step of Adam."""
    step = state.step + 1
    first, second = decays
    mean = olympus.tree.map(
        lambda m, g: first * m + (1 - first) * g, state.mean, gradient
    )
    square = olympus.tree.map(
        lambda s, g: second * s + (1 - second) * g * g, state.square, gradient
    )

    def move(p, m, s):
        m, s = m / (1 - first**step), s / (1 - second**step)
        return p - rate * m / (jnp.sqrt(s) + 1e-8)

    params = olympus.tree.map(move, state.params, mean, square)
    return State(step, params, mean, square)


def train_step(state, batch):
    value, gradient = olympus.value_and_grad(loss)(state.params, batch)
    return adam(state, gradient), value


def batches(config, seed=0):
    """Endless batches of tokens and the tokens after them: counting in steps."""
    rng = np.random.default_rng(seed)
    while True:
        start = rng.integers(0, config.vocabulary, (config.batch, 1))
        stride = rng.integers(1, 4, (config.batch, 1))
        row = start + stride * np.arange(config.length + 1)
        tokens = (row % config.vocabulary).astype("int32")
        yield tokens[:, :-1], tokens[:, 1:]


def train_on_one_device(config, steps):
    """The losses of a run on one device, which the parallel ones must have too."""
    state = init_state(init(olympus.random.key(0), config))
    step = olympus.jit(train_step)
    losses = []
    for _, batch in zip(range(steps), batches(config), strict=False):
        state, value = step(state, batch)
        losses.append(value)
    return np.array(losses)
