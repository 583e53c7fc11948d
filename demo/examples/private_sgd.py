"""Gradient descent that keeps each example private.

The gradient of each example is cut to a largest norm before the mean is taken, and
noise is added: Abadi et al., Deep learning with differential privacy, 2016.
"""

import olympus.numpy as jnp
from demo.examples import data
from olympus import grad, jit, random, tree, vmap
from olympus.example_libraries import optimizers, stax

init_params, predict = stax.serial(
    stax.Conv(4, (3, 3), strides=(2, 2), padding="SAME"),
    stax.Relu,
    stax.MaxPool((2, 2), (1, 1)),
    stax.Flatten,
    stax.Dense(data.CLASSES),
    stax.LogSoftmax,
)
SHAPE = (-1, data.SIDE, data.SIDE, 1)


def loss(params, batch):
    images, labels = batch
    return -jnp.mean(jnp.sum(predict(params, images) * labels, axis=1))


def clipped_gradient(params, largest, example):
    """The gradient for one example, of a norm of at most `largest`."""
    image, label = example
    grads = grad(loss)(params, (image[None], label[None]))
    norm = optimizers.l2_norm(grads)
    return tree.map(lambda g: g / jnp.maximum(1.0, norm / largest), grads)


def private_gradient(params, batch, key, largest, noise):
    """The mean of clipped gradients with noise, in the ratio to the largest norm."""
    clipped = vmap(clipped_gradient, (None, None, 0))(params, largest, batch)
    leaves, structure = tree.flatten(clipped)
    keys = random.split(key, len(leaves))
    noisy = [
        (g.sum(0) + largest * noise * random.normal(k, g.shape[1:])) / len(g)
        for g, k in zip(leaves, keys, strict=True)
    ]
    return tree.unflatten(structure, noisy)


def train(steps=15):
    """The losses on the batch of each step."""
    opt_init, opt_update, get_params = optimizers.sgd(0.5)

    @jit
    def step(i, state, batch):
        params = get_params(state)
        key = random.fold_in(random.key(7), i)
        grads = private_gradient(params, batch, key, largest=1.0, noise=0.1)
        return opt_update(i, grads, state), loss(params, batch)

    _, params = init_params(random.key(0), SHAPE)
    state, losses = opt_init(params), []
    for i, (x, y) in enumerate(data.batches(steps, 32)):
        state, value = step(i, state, (x.reshape(SHAPE), y))
        losses.append(float(value))
    return losses


if __name__ == "__main__":
    print(train())
