"""A classifier of images, with nothing but arrays and `grad`."""

import olympus.numpy as jnp
from demo.examples import data
from olympus import grad, jit, random
from olympus.scipy.special import logsumexp

SIZES = (data.SIDE**2, 48, 24, data.CLASSES)


def make_params(key, sizes=SIZES):
    keys = random.split(key, len(sizes) - 1)
    return [
        (random.normal(k, (m, n)) * (2.0 / m) ** 0.5, jnp.zeros(n))
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def predict(params, x):
    *hidden, (last_w, last_b) = params
    for w, b in hidden:
        x = jnp.tanh(x @ w + b)
    logits = x @ last_w + last_b
    return logits - logsumexp(logits, axis=1, keepdims=True)


def loss(params, batch):
    x, labels = batch
    return -jnp.mean(jnp.sum(predict(params, x) * labels, axis=1))


@jit
def step(params, batch, rate=0.2):
    grads = grad(loss)(params, batch)
    return [
        (w - rate * dw, b - rate * db)
        for (w, b), (dw, db) in zip(params, grads, strict=True)
    ]


def train(steps=30):
    """The losses after every fifth step."""
    params = make_params(random.key(1))
    losses = []
    for i, batch in enumerate(data.batches(steps, 64)):
        params = step(params, batch)
        if i % 5 == 4:
            losses.append(float(loss(params, batch)))
    return losses


if __name__ == "__main__":
    print(train())
