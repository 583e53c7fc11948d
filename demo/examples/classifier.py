"""A classifier of images, of layers of `stax` and an optimizer with momentum."""

import olympus
import olympus.numpy as jnp
from demo.examples import data
from olympus import random
from olympus.example_libraries import optimizers, stax

init_params, predict = stax.serial(
    stax.Dense(64),
    stax.Relu,
    stax.Dense(32),
    stax.Relu,
    stax.Dense(data.CLASSES),
    stax.LogSoftmax,
)


def loss(params, batch):
    images, labels = batch
    return -jnp.mean(jnp.sum(predict(params, images) * labels, axis=1))


def accuracy(params, batch):
    images, labels = batch
    hits = jnp.argmax(predict(params, images), axis=1) == jnp.argmax(labels, axis=1)
    return jnp.mean(hits)


def train(steps=30):
    """The losses of steps, and the accuracy on images that it has not seen."""
    opt_init, opt_update, get_params = optimizers.momentum(0.1, mass=0.9)

    @olympus.jit
    def step(i, state, batch):
        value, grads = olympus.value_and_grad(loss)(get_params(state), batch)
        return opt_update(i, grads, state), value

    _, params = init_params(random.key(0), (-1, data.SIDE**2))
    state = opt_init(params)
    losses = []
    for i, batch in enumerate(data.batches(steps, 64)):
        state, value = step(i, state, batch)
        losses.append(float(value))
    return [*losses, float(accuracy(get_params(state), data.images(200, seed=5)))]


if __name__ == "__main__":
    print(train())
