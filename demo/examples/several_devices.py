"""A classifier whose batches are divided over devices by `pmap`.

OLYMPUS_NUM_CPU_DEVICES=8 python -m demo.examples.several_devices
"""

import functools

import olympus
import olympus.numpy as jnp
from demo.examples import data
from demo.examples.from_scratch import loss, make_params
from olympus import lax, random, tree


@functools.partial(olympus.pmap, axis_name="batch")
def step(params, batch):
    """One step on each device, with the mean of the gradients of all."""
    value, grads = olympus.value_and_grad(loss)(params, batch)
    grads = lax.pmean(grads, "batch")
    params = tree.map(lambda p, g: p - 0.2 * g, params, grads)
    return params, lax.pmean(value, "batch")


def train(steps=12):
    """The losses of the whole batches."""
    count = olympus.local_device_count()

    def divide(x):
        return x.reshape(count, len(x) // count, *x.shape[1:])

    params = tree.map(lambda x: jnp.stack([x] * count), make_params(random.key(1)))
    losses = []
    for x, y in data.batches(steps, 64):
        params, value = step(params, (divide(x), divide(y)))
        losses.append(float(value[0]))
    return losses


if __name__ == "__main__":
    print(train())
