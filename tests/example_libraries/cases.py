"""Expressions over optimizers and layers, whose values are recorded from JAX.

The names in them are those of either library: `jnp`, `random`, `tree`, `optimizers`,
`stax` and the functions below, which are given the library by `names`.
"""

from __future__ import annotations

import importlib
from typing import Any

OPTIMIZERS = [
    "sgd(0.1)",
    "momentum(0.1, 0.9)",
    "nesterov(0.1, 0.9)",
    "adagrad(0.1)",
    "adagrad(0.1, 0.0)",
    "rmsprop(0.1)",
    "rmsprop(exponential_decay(0.1, 3, 0.5), 0.8, 1e-6)",
    "rmsprop_momentum(0.1)",
    "adam(0.1)",
    "adam(piecewise_constant([0, 2], [0.1, 0.2, 0.3]), 0.8, 0.9, 1e-6)",
    "adamax(0.1)",
    "adamax(0.1, 0.8, 0.9)",
    "sm3(0.1)",
    "sm3(inverse_time_decay(0.1, 2, 0.5), 0.5)",
]

SCHEDULES = [
    "constant(0.1)",
    "exponential_decay(0.1, 3, 0.5)",
    "inverse_time_decay(0.1, 3, 0.5)",
    "inverse_time_decay(0.1, 3, 0.5, staircase=True)",
    "polynomial_decay(0.1, 4, 0.01)",
    "polynomial_decay(0.1, 4, 0.01, power=2.0)",
    "piecewise_constant([2, 4], [0.1, 0.2, 0.3])",
    "make_schedule(0.25)",
    "make_schedule(lambda i: 0.5 * i)",
]

# (layer, shape of its inputs, whether parameters and results are recorded for it too)
LAYERS = [
    ("Dense(4)", (2, 3)),
    ("Dense(2, W_init=stax.glorot(), b_init=stax.randn(0.1))", (2, 2, 3)),
    ("Conv(2, (3, 3))", (2, 5, 5, 2)),
    ("Conv(2, (3, 2), strides=(2, 1), padding='SAME')", (1, 5, 5, 2)),
    ("ConvTranspose(2, (3, 3), strides=(2, 2))", (1, 3, 3, 2)),
    ("ConvTranspose(2, (2, 2), strides=(2, 2), padding='SAME')", (1, 3, 3, 2)),
    ("Conv1DTranspose(2, (3,))", (2, 4, 2)),
    ("GeneralConv(('NCHW', 'OIHW', 'NHWC'), 3, (2, 2))", (2, 2, 4, 4)),
    ("GeneralConvTranspose(('NCH', 'OIH', 'NCH'), 3, (2,))", (2, 2, 4)),
    ("BatchNorm()", (2, 3, 3, 2)),
    ("BatchNorm(axis=0, epsilon=0.1, center=False)", (4, 3)),
    ("BatchNorm(axis=(0, 2), scale=False, beta_init=stax.randn(1.0))", (4, 3, 2)),
    ("MaxPool((2, 2))", (1, 4, 4, 2)),
    ("MaxPool((3, 2), strides=(2, 2), padding='SAME')", (1, 5, 4, 1)),
    ("SumPool((2, 2), spec='NCHW')", (1, 2, 3, 3)),
    ("AvgPool((2, 2), strides=(2, 1), padding='SAME')", (1, 5, 4, 1)),
    ("Flatten", (2, 3, 2)),
    ("Identity", (2, 3)),
    ("Dropout(0.75)", (3, 4)),
    ("Dropout(0.75, mode='test')", (3, 4)),
    ("Elu", (4,)),
    ("Exp", (4,)),
    ("Gelu", (4,)),
    ("LeakyRelu", (4,)),
    ("LogSoftmax", (2, 3)),
    ("Relu", (4,)),
    ("Selu", (4,)),
    ("Sigmoid", (4,)),
    ("Softmax", (2, 3)),
    ("Softplus", (4,)),
    ("Tanh", (4,)),
    ("elementwise(jnp.clip, min=-0.5, max=0.5)", (4,)),
    (
        "serial(stax.Dense(4), stax.Tanh, stax.Dropout(0.5), stax.FanOut(2), "
        "stax.parallel(stax.Dense(3), stax.serial(stax.Dense(3), stax.Dropout(0.8))), "
        "stax.FanInSum, stax.LogSoftmax)",
        (2, 3),
    ),
    (
        "serial(stax.FanOut(2), stax.parallel(stax.Identity, stax.Dense(2)), "
        "stax.FanInConcat(-1), stax.shape_dependent(lambda s: stax.Dense(s[-1])))",
        (2, 3),
    ),
]


def names(library: str) -> dict[str, Any]:
    """What the expressions use of a library."""
    modules = {
        "jnp": "numpy",
        "random": "random",
        "tree": "tree",
        "optimizers": "example_libraries.optimizers",
        "stax": "example_libraries.stax",
    }
    return {
        name: importlib.import_module(f"{library}.{path}")
        for name, path in modules.items()
    }


def optimize(lib: dict[str, Any], text: str, steps: int = 4) -> Any:
    """The parameters after each step of an optimizer."""
    jnp, tree = lib["jnp"], lib["tree"]
    params = {
        "a": jnp.array([[1.0, -2.0, 0.5], [0.0, 3.0, -0.25]]),
        "b": [jnp.ones(())],
    }
    init, update, get_params = eval(text, vars(lib["optimizers"]))
    state = init(params)
    trail = []
    for i in range(steps):
        slopes = tree.map(lambda x, k=i + 1: k * x + 0.5 * x**3, get_params(state))
        state = update(i, slopes, state)
        trail.append(get_params(state))
    return trail


def schedule(lib: dict[str, Any], text: str) -> Any:
    """The first step sizes of a schedule."""
    step_size = eval(text, vars(lib["optimizers"]))
    return [step_size(i) for i in range(6)]


def layer(lib: dict[str, Any], text: str, shape: tuple[int, ...]) -> Any:
    """A layer's shape, parameters, result, and with their gradients."""
    random, jnp = lib["random"], lib["jnp"]
    init, apply = eval(f"stax.{text}", lib)
    out_shape, params = init(random.key(1), shape)
    x = random.normal(random.key(2), shape)
    out = apply(params, x, rng=random.key(3))
    return [list(map(int, out_shape)), params, jnp.asarray(out)]
