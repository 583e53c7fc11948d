"""Fully sharded training: weights, gradients and Adam's state are divided.

    python -m demo.training.fully_sharded

Each device has a part of each weight and a part of each batch. A layer's weights are
gathered when the layer runs, and again in the backward pass, so that a device holds one
layer at a time. The transpose of a gather is a sum that leaves each device its own
part of the gradient.
"""

import functools

import numpy as np

import olympus
from demo.training import model
from olympus import lax
from olympus.sharding import AxisType, NamedSharding
from olympus.sharding import PartitionSpec as P

AXIS = "data"


def spec_of(weight, n):
    """Divides the last axis that n devices can divide; of layers not the first."""
    for axis in reversed(range(weight.ndim)):
        if weight.shape[axis] % n == 0:
            return P(*[None] * axis, AXIS)
    return P()


def gather(weight, spec):
    """A whole weight of its parts."""
    if AXIS not in spec:
        return weight
    axis = tuple(spec).index(AXIS)
    return lax.all_gather(weight, AXIS, axis=axis, tiled=True)


def loss(specs, params, batch):
    """The loss on one device: its part of the weights and of the batch."""
    tokens, targets = batch
    rest = {
        name: gather(weight, specs[name])
        for name, weight in params.items()
        if name != "layers"
    }

    # What is gathered is not kept for the backward pass.
    @olympus.checkpoint
    def run_layer(x, parts):
        # Without the first axis, of the layers.
        layer = {k: gather(w, P(*specs["layers"][k][1:])) for k, w in parts.items()}
        return model.block(layer, x), None

    x, _ = lax.scan(run_layer, model.embed(rest, tokens), params["layers"])
    return lax.pmean(model.cross_entropy(rest, x, targets), AXIS)


def make_step(mesh, config):
    """The initial state, divided, and the function of a training step."""
    n = mesh.size
    types = olympus.eval_shape(lambda: model.init(olympus.random.key(0), config))
    specs = olympus.tree.map(lambda weight: spec_of(weight, n), types)
    state_specs = model.State(P(), specs, specs, specs)
    places = olympus.tree.map(lambda spec: NamedSharding(mesh, spec), state_specs)

    @functools.partial(olympus.jit, donate_argnums=0)
    @functools.partial(
        olympus.shard_map,
        mesh=mesh,
        in_specs=(state_specs, P(AXIS)),
        out_specs=(state_specs, P()),
    )
    def step(state, batch):
        value, gradient = olympus.value_and_grad(functools.partial(loss, specs))(
            state.params, batch
        )
        return model.adam(state, gradient), value

    @olympus.jit(out_shardings=places)
    def init():
        return model.init_state(model.init(olympus.random.key(0), config))

    return init, step


def train(config, steps):
    """The losses of a run."""
    mesh = olympus.make_mesh((olympus.device_count(),), (AXIS,), (AxisType.Auto,))
    init, step = make_step(mesh, config)
    state = init()
    losses = []
    for _, batch in zip(range(steps), model.batches(config), strict=False):
        batch = olympus.device_put(batch, NamedSharding(mesh, P(AXIS)))
        state, value = step(state, batch)
        losses.append(value)
    return np.array(losses)


if __name__ == "__main__":
    olympus.config.update("olympus_num_cpu_devices", 8)
    print(train(model.Config(), 20))
