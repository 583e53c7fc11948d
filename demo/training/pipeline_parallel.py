"""Pipeline-parallel training: each device has some of the layers.

    python -m demo.training.pipeline_parallel

A batch is cut into microbatches. In each turn every stage applies its layers to one of
them and passes the result on to the next stage. The first and last turns, in which some
stages have nothing to do, are the fewer the more microbatches there are.
"""

import functools

import numpy as np

import olympus
import olympus.numpy as jnp
from demo.training import model
from olympus import lax
from olympus.sharding import AxisType, NamedSharding
from olympus.sharding import PartitionSpec as P


def run_stage(layers, x):
    """Applies the layers of this stage."""
    out, _ = lax.scan(lambda x, layer: (model.block(layer, x), None), x, layers)
    return out


def loss(n_stages, n_microbatches, params, batch):
    """The loss on one device: its stage's layers, and its part of the batch."""
    tokens, targets = olympus.tree.map(
        lambda a: a.reshape(n_microbatches, -1, *a.shape[1:]), batch
    )
    stage = lax.axis_index("stage")
    to_next = [(i, i + 1) for i in range(n_stages - 1)]

    def turn(x, i):
        """One turn; x: what came from the stage before."""
        # The first stage takes a new microbatch, or, at the end, an old one in vain.
        new = model.embed(params, tokens[jnp.minimum(i, n_microbatches - 1)])
        out = run_stage(params["layers"], jnp.where(stage == 0, new, x))
        # Microbatch i leaves the last stage as many turns later as there are stages.
        done = i - (n_stages - 1)
        value = model.cross_entropy(params, out, targets[jnp.maximum(done, 0)])
        counts = (stage == n_stages - 1) & (done >= 0)
        return lax.ppermute(out, "stage", to_next), jnp.where(counts, value, 0.0)

    start = jnp.zeros_like(model.embed(params, tokens[0]))
    turns = jnp.arange(n_microbatches + n_stages - 1)
    _, values = lax.scan(turn, start, turns)
    return lax.pmean(lax.psum(values.sum(), "stage"), "data") / n_microbatches


def train(config, steps, n_stages=4, n_microbatches=4):
    """The losses of a run."""
    sizes = (n_stages, olympus.device_count() // n_stages)
    mesh = olympus.make_mesh(sizes, ("stage", "data"), (AxisType.Auto,) * 2)
    specs = {"embedding": P(), "position": P(), "layers": P("stage"), "norm": P()}
    state_specs = model.State(P(), specs, specs, specs)

    @functools.partial(olympus.jit, donate_argnums=0)
    @functools.partial(
        olympus.shard_map,
        mesh=mesh,
        in_specs=(state_specs, P("data")),
        out_specs=(state_specs, P()),
    )
    def step(state, batch):
        value, gradient = olympus.value_and_grad(
            functools.partial(loss, n_stages, n_microbatches)
        )(state.params, batch)
        return model.adam(state, gradient), value

    state = model.init_state(model.init(olympus.random.key(0), config))
    places = olympus.tree.map(lambda spec: NamedSharding(mesh, spec), state_specs)
    state = olympus.device_put(state, places)
    losses = []
    for _, batch in zip(range(steps), model.batches(config), strict=False):
        state, value = step(state, batch)
        losses.append(value)
    return np.array(losses)


if __name__ == "__main__":
    olympus.config.update("olympus_num_cpu_devices", 8)
    print(train(model.Config(), 20))
