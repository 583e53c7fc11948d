"""Data-parallel training: every device has all weights, and a part of each batch.

    python -m demo.training.data_parallel

The program is that of one device. As the batch is divided, the compiler divides the
work, and sums the gradients over the devices.
"""

import numpy as np

import olympus
from demo.training import model
from olympus.sharding import AxisType, NamedSharding
from olympus.sharding import PartitionSpec as P


def train(config, steps):
    """The losses of a run."""
    mesh = olympus.make_mesh((olympus.device_count(),), ("data",), (AxisType.Auto,))
    replicated, divided = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))

    state = model.init_state(model.init(olympus.random.key(0), config))
    state = olympus.device_put(state, replicated)
    step = olympus.jit(
        model.train_step, out_shardings=(replicated, replicated), donate_argnums=0
    )
    losses = []
    for _, batch in zip(range(steps), model.batches(config), strict=False):
        state, value = step(state, olympus.device_put(batch, divided))
        losses.append(value)
    return np.array(losses)


if __name__ == "__main__":
    olympus.config.update("olympus_num_cpu_devices", 8)
    print(train(model.Config(), 20))
