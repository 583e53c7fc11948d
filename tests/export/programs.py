"""Programs that tests export: each with its arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples import test_neural_ode, transformer

import olympus
import olympus.numpy as jnp
from olympus import lax, nn, random, scipy

TABLE = np.linspace(-1, 1, 6000, dtype=np.float32).reshape(3, 2000)


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def floats(tree: Any) -> Any:
    return olympus.tree.map(np.float32, tree)


def training_step(params: Any, speed: Any, rows: Any) -> Any:
    value, slope = olympus.value_and_grad(
        lambda params: transformer.loss(olympus, params, rows)
    )(params)
    speed = olympus.tree.map(lambda v, g: 0.9 * v - 0.1 * g, speed, slope)
    return value, olympus.tree.map(lambda p, v: p + v, params, speed), speed


def recurrent(params: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = jnp.tanh(params["w"] @ h + params["u"] @ x + params["b"])
        return h, h @ h

    return lax.scan(step, jnp.zeros(3), xs)


def lookup(x: Any) -> Any:
    """Holds a large constant, and one that is derived from it."""
    return jnp.tanh(x @ TABLE).sum(0)[:7] + TABLE.std()


def solver(a: Any, b: Any) -> Any:
    spd = a @ a.T + jnp.eye(3)
    return jnp.linalg.solve(spd, b), jnp.linalg.cholesky(spd), jnp.linalg.det(spd)


def sampled(key: Any, scale: Any) -> Any:
    one, two = random.split(key)
    return one, scale * random.normal(two, (3,)), random.permutation(one, 7)


def special(x: Any) -> Any:
    values, places = lax.top_k(x.ravel(), 3)
    return scipy.special.erf(x), scipy.special.gammaln(1 + x**2), values, places


def until(x: Any) -> Any:
    return lax.while_loop(lambda x: jnp.sum(x) < 100, lambda x: 2 * x, x)


def wide(x: Any, *, flags: Any, nothing: Any = None) -> Any:
    x = jnp.where(flags["on"], x.astype(jnp.bfloat16), 0)
    return {2: x, 3: (x.astype(jnp.int8), nothing), -1: [flags]}


FLAGS = {"on": np.array([True, False]), "key": np.uint32(7)}

# name: (function, positional arguments, keyword arguments, is differentiable)
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], bool]] = {
    "training_step": (
        training_step,
        (
            floats(transformer.parameters()),
            floats(transformer.parameters()),
            transformer.sentences().astype(np.int32),
        ),
        {},
        True,
    ),
    "recurrent": (
        recurrent,
        (
            {"w": normal(3, 3) / 2, "u": normal(3, 2, seed=1), "b": normal(3)},
            normal(9, 2, seed=2),
        ),
        {},
        True,
    ),
    "neural_ode": (
        lambda w, v, y: test_neural_ode.integrated(w, v, y, checkpointed=True),
        (normal(5, 2), normal(2, 5, seed=1) / 2, normal(2, seed=2)),
        {},
        True,
    ),
    "lookup": (lookup, (normal(4, 3),), {}, True),
    "solver": (solver, (normal(3, 3), normal(3, seed=1)), {}, True),
    "attention": (
        lambda q, k: nn.dot_product_attention(q, k, k),
        (normal(1, 4, 2, 8), normal(1, 4, 2, 8, seed=1)),
        {},
        True,
    ),
    "special": (special, (normal(2, 4),), {}, True),
    "sampled": (sampled, (np.uint32([1, 2]), np.float32(3)), {}, False),
    "until": (until, (np.float32([1, 2]),), {}, False),
    "wide": (wide, (np.float32([1.5, -2]),), {"flags": FLAGS}, False),
}
