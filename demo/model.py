"""The classifier: plain functions of arrays. Nothing here knows of training loops."""

import itertools

import olympus
import olympus.numpy as jnp

SIZES = (64, 96, 48, 10)
RATE, MOMENTUM = 0.1, 0.9


def initial(key):
    """Weights and biases of each layer."""
    params = []
    for n_in, n_out in itertools.pairwise(SIZES):
        key, layer_key = olympus.random.split(key)
        scale = (2.0 / n_in) ** 0.5
        weights = scale * olympus.random.normal(layer_key, (n_in, n_out))
        params.append((weights, jnp.zeros(n_out)))
    return params


def scores(params, x):
    """A score for each of the ten digits; `x` is one image, or rows of them."""
    for weights, bias in params[:-1]:
        x = jnp.maximum(x @ weights + bias, 0.0)
    weights, bias = params[-1]
    return x @ weights + bias


def loss(params, x, y):
    """Mean cross-entropy; `y` has a row of ten for each image, one of them 1."""
    s = scores(params, x)
    top = jnp.max(s, axis=1, keepdims=True)
    log_total = jnp.log(jnp.sum(jnp.exp(s - top), axis=1, keepdims=True))
    return -jnp.mean(jnp.sum(y * (s - top - log_total), axis=1))


def accuracy(params, x, y):
    """The share of images whose highest score is at their digit."""
    return jnp.mean(jnp.argmax(scores(params, x), 1) == jnp.argmax(y, 1))


def step(state, x, y):
    """One step of gradient descent with momentum; returns the loss before it."""
    params, speed = state
    value, slope = olympus.value_and_grad(loss)(params, x, y)
    speed = olympus.tree.map(lambda v, g: MOMENTUM * v - RATE * g, speed, slope)
    params = olympus.tree.map(jnp.add, params, speed)
    return (params, speed), value
