"""Penzai: named axes, models as trees, selections and edits, training state."""

import dataclasses

import jax
import jax.numpy as jnp
from penzai import pz

TOLERANCES = {"training": 1e-3}


def named_arrays():
    x = pz.nx.wrap(jnp.arange(6.0).reshape(2, 3)).tag("row", "column")
    y = pz.nx.wrap(jnp.array([1.0, 2.0, 3.0])).tag("column")
    total = x + y
    softmax = pz.nx.nmap(jax.nn.softmax)(x.untag("column")).tag("column")
    return {
        "sum": total.unwrap("row", "column"),
        "shape": total.named_shape,
        "softmax": softmax.unwrap("row", "column"),
        "sliced": x[{"row": 1}].unwrap("column"),
        "mean": pz.nx.nmap(jnp.mean)(x.untag("column")).unwrap("row"),
        "stacked": pz.nx.stack([y, y], "copy").named_shape,
        "random": pz.nx.random_split(jax.random.key(0), {"n": 3}).named_shape,
        "one_hot": pz.nx.nmap(lambda i: jax.nn.one_hot(i, 3))(
            pz.nx.wrap(jnp.array([0, 2])).tag("n")
        )
        .tag("class")
        .unwrap("n", "class"),
        "updated": x.at[{"row": 0}].set(0.0).unwrap("row", "column"),
    }


def _network():
    return pz.nn.Sequential(
        [
            pz.nn.Affine.from_config(
                name="first",
                init_base_rng=jax.random.key(1),
                input_axes={"in": 3},
                output_axes={"hidden": 4},
            ),
            pz.nn.Elementwise(jnp.tanh),
            pz.nn.Affine.from_config(
                name="last",
                init_base_rng=jax.random.key(2),
                input_axes={"hidden": 4},
                output_axes={"out": 1},
            ),
        ]
    )


def _inputs():
    x = jax.random.normal(jax.random.key(3), (8, 3))
    return pz.nx.wrap(x).tag("batch", "in"), pz.nx.wrap(x[:, 0] * x[:, 1]).tag("batch")


def models():
    network = _network()
    x, _ = _inputs()
    out = network(x)
    names = [
        parameter.label
        for parameter in pz.select(network).at_instances_of(pz.Parameter).get_sequence()
    ]
    return {
        "out": out.unwrap("batch", "out"),
        "names": [str(name) for name in names],
        "jit": jax.jit(lambda x: network(x))(x).named_shape,
    }


def selections():
    network = _network()
    replaced = (
        pz.select(network)
        .at_instances_of(pz.nn.Elementwise)
        .apply(lambda layer: pz.nn.Elementwise(jax.nn.relu))
    )
    inserted = (
        pz.select(network)
        .at_instances_of(pz.nn.Elementwise)
        .insert_after(pz.nn.Elementwise(lambda x: 2 * x))
    )
    x, _ = _inputs()
    return {
        "replaced": replaced(x).unwrap("batch", "out"),
        "inserted": inserted(x).unwrap("batch", "out"),
        "count": pz.select(network).at_instances_of(pz.nn.Affine).count(),
        "length": len(inserted.sublayers),
    }


def frozen_parameters():
    network = _network()
    unbound, variables = pz.unbind_params(network, freeze=True)
    rebound = pz.bind_variables(unbound, variables)
    x, y = _inputs()

    def loss(variables):
        out = pz.bind_variables(unbound, variables)(x).untag("out")[0]
        return jnp.mean((out - y).unwrap("batch") ** 2)

    grads = jax.grad(loss)(variables)
    return {
        "same": rebound(x).unwrap("batch", "out"),
        "labels": [str(v.label) for v in variables],
        "gradient": [jnp.sum(jnp.abs(leaf)) for leaf in jax.tree.leaves(grads)],
    }


def training():
    import optax
    from penzai.toolshed import basic_training

    network = _network()
    x, y = _inputs()

    def loss(model, state, rng):
        out = model(x).untag("out")[0]
        value = jnp.mean((out - y).unwrap("batch") ** 2)
        return value, state, {"loss": value}

    trainer = basic_training.StatefulTrainer.build(
        root_rng=jax.random.key(4),
        model=network,
        optimizer_def=optax.adam(1e-2),
        loss_fn=loss,
    )
    losses = [trainer.step()["loss"] for _ in range(6)]
    return jnp.stack(losses)


def state_variables():
    counter = pz.StateVariable(value=jnp.asarray(0), label="counter")

    @pz.variable_jit
    def increment(counter):
        counter.value = counter.value + 1
        return counter.value * 10

    increment(counter)
    return {"out": increment(counter), "value": counter.value}


def structures():
    @pz.pytree_dataclass
    class Point(pz.Struct):
        x: jax.Array
        name: str = dataclasses.field(metadata={"pytree_node": False})

    point = Point(jnp.arange(2.0), "p")
    moved = jax.tree.map(lambda v: v + 1, point)
    paths = jax.tree_util.tree_flatten_with_path(point)[0]
    return {"moved": moved.x, "name": moved.name, "path": str(paths[0][0])}
