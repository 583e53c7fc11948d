"""Tensor-parallel training: the devices of a group share each layer.

    python -m demo.training.tensor_parallel

Heads and hidden units are divided along the axis "model" of the mesh, the batch along
"data". The program is that of one device: only where the weights are is said.
"""

import numpy as np

import olympus
from demo.training import model
from olympus.sharding import AxisType, NamedSharding
from olympus.sharding import PartitionSpec as P

# The first matrix of each pair is divided by columns, the second by rows: so a layer
# needs two sums over the group, one after attention and one after the hidden units.
SPECS = {
    "embedding": P(),
    "position": P(),
    "layers": {
        "attention_norm": P(),
        "qkv": P(None, None, None, "model"),
        "out": P(None, "model"),
        "mlp_norm": P(),
        "up": P(None, None, "model"),
        "down": P(None, "model"),
    },
    "norm": P(),
}


def train(config, steps, group=4):
    """The losses of a run, with groups of some devices."""
    sizes = (olympus.device_count() // group, group)
    mesh = olympus.make_mesh(sizes, ("data", "model"), (AxisType.Auto,) * 2)
    weights = olympus.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS)
    replicated = NamedSharding(mesh, P())
    places = model.State(replicated, weights, weights, weights)

    # Each device makes its own part of the initial state.
    @olympus.jit(out_shardings=places)
    def init(key):
        return model.init_state(model.init(key, config))

    step = olympus.jit(
        model.train_step, out_shardings=(places, replicated), donate_argnums=0
    )
    state = init(olympus.random.key(0))
    losses = []
    for _, batch in zip(range(steps), model.batches(config), strict=False):
        batch = olympus.device_put(batch, NamedSharding(mesh, P("data")))
        state, value = step(state, batch)
        losses.append(value)
    return np.array(losses)


if __name__ == "__main__":
    olympus.config.update("olympus_num_cpu_devices", 8)
    print(train(model.Config(), 20))
