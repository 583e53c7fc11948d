r"""Fully sharded training by several processes, which goes on after a failure.

    python -m olympus launch -n 2 --devices-per-process 4 \
        -m demo.training.resumable FOLDER --steps 20 --every 5

The state is saved in the folder from time to time. Started again, with the same or
another number of processes, it continues from the last save.
"""

import argparse
import itertools

import olympus
from demo.training import fully_sharded, model
from olympus.experimental.array_serialization import pytree_serialization
from olympus.sharding import AxisType, NamedSharding
from olympus.sharding import PartitionSpec as P


def restore(folder, state):
    """The saved state, divided like a given one; that one if there is no save."""
    places = olympus.tree.map(lambda x: x.sharding, state)
    try:
        return pytree_serialization.load(folder, places)
    except FileNotFoundError:
        return state


def train(config, folder, steps, every):
    """Yields the number and the loss of each step that this run makes."""
    n = olympus.device_count()
    mesh = olympus.make_mesh((n,), (fully_sharded.AXIS,), (AxisType.Auto,))
    init, step = fully_sharded.make_step(mesh, config)
    state = restore(folder, init())
    start = int(state.step)
    # A real program would start to read its data at this place.
    data = itertools.islice(model.batches(config), start, steps)
    for number, batch in enumerate(data, start + 1):
        batch = olympus.device_put(batch, NamedSharding(mesh, P(fully_sharded.AXIS)))
        state, value = step(state, batch)
        if number % every == 0:
            pytree_serialization.save(state, folder)
        yield number, float(value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--every", type=int, default=5)
    options = parser.parse_args()

    olympus.distributed.initialize()
    run = train(model.Config(), options.folder, options.steps, options.every)
    for number, value in run:
        if olympus.process_index() == 0:
            print(f"step {number}: loss {value!r}")
