"""A small language model and its training step, for olympus or a library like it."""

from __future__ import annotations

from typing import Any

import numpy as np

WORDS, LENGTH, WIDTH, HEADS, LAYERS = 11, 6, 8, 2, 2


def parameters() -> dict[str, Any]:
    """Weights from NumPy's generator, in double precision."""
    rng = np.random.default_rng(7)

    def weights(*shape: int) -> np.ndarray:
        return rng.normal(size=shape) * 0.3

    return {
        "words": weights(WORDS, WIDTH),
        "places": weights(LENGTH, WIDTH),
        "layers": [
            {
                "qkv": weights(WIDTH, 3 * WIDTH),
                "out": weights(WIDTH, WIDTH),
                "up": weights(WIDTH, 2 * WIDTH),
                "down": weights(2 * WIDTH, WIDTH),
                "scale": np.ones(WIDTH),
            }
            for _ in range(LAYERS)
        ],
    }


def sentences() -> np.ndarray:
    """Three rows of words."""
    return np.random.default_rng(8).integers(0, WORDS, size=(3, LENGTH + 1))


def loss(library: Any, params: Any, rows: Any) -> Any:
    """The mean surprise at each next word."""
    jnp, nn = library.numpy, library.nn

    def normed(x: Any, scale: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return scale * centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-6)

    def attention(x: Any, p: Any) -> Any:
        qkv = (x @ p["qkv"]).reshape(LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = (qkv[:, i].swapaxes(0, 1) for i in range(3))
        scores = q @ k.swapaxes(1, 2) / np.sqrt(WIDTH // HEADS)
        mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
        mixed = nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1) @ v
        return mixed.swapaxes(0, 1).reshape(LENGTH, WIDTH) @ p["out"]

    def surprise(row: Any) -> Any:
        x = params["words"][row[:-1]] + params["places"]
        for p in params["layers"]:
            x = x + attention(normed(x, p["scale"]), p)
            x = x + nn.gelu(normed(x, p["scale"]) @ p["up"]) @ p["down"]
        chances = nn.log_softmax(x @ params["words"].T)
        return -jnp.take_along_axis(chances, row[1:, None], axis=1).mean()

    return library.vmap(surprise)(rows).mean()


def trained(library: Any, steps: int, tree_map: Any) -> tuple[list[float], Any]:
    """Losses before each step of momentum descent, and the weights after them."""

    @library.jit
    def step(params: Any, speed: Any) -> Any:
        value, slope = library.value_and_grad(
            lambda params: loss(library, params, sentences())
        )(params)
        speed = tree_map(lambda v, g: 0.9 * v - 0.1 * g, speed, slope)
        return value, tree_map(lambda p, v: p + v, params, speed), speed

    params = tree_map(library.numpy.asarray, parameters())
    speed = tree_map(library.numpy.zeros_like, params)
    losses = []
    for _ in range(steps):
        value, params, speed = step(params, speed)
        losses.append(float(value))
    return losses, params
