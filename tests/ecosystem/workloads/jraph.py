"""Jraph: graphs as tuples, networks over them, batches with padding."""

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def _graph():
    return jraph.GraphsTuple(
        nodes=jnp.sin(jnp.arange(8.0)).reshape(4, 2),
        edges=jnp.cos(jnp.arange(5.0)).reshape(5, 1),
        senders=jnp.array([0, 1, 2, 3, 0]),
        receivers=jnp.array([1, 2, 3, 0, 2]),
        n_node=jnp.array([4]),
        n_edge=jnp.array([5]),
        globals=jnp.array([[0.5]]),
    )


def segments():
    data, ids = jnp.arange(6.0), jnp.array([0, 0, 1, 2, 2, 2])
    return {
        "sum": jraph.segment_sum(data, ids, 3),
        "mean": jraph.segment_mean(data, ids, 4),
        "variance": jraph.segment_variance(data, ids, 3),
        "max": jraph.segment_max(data, ids, 4),
        "softmax": jraph.segment_softmax(data, ids, 3),
        "normalized": jraph.segment_normalize(data, ids, 3),
        "nan": jraph.segment_max_or_constant(data, ids, 4),
        "partition": jraph.partition_softmax(data, jnp.array([2, 1, 3])),
    }


def batches():
    batch = jraph.batch([_graph(), _graph()])
    padded = jraph.pad_with_graphs(batch, 12, 14, 4)
    parts = jraph.unbatch(batch)
    dynamic = next(
        iter(
            jraph.dynamically_batch([jax.tree.map(np.asarray, _graph())] * 2, 10, 12, 3)
        )
    )
    return {
        "senders": batch.senders,
        "node_mask": jraph.get_node_padding_mask(padded),
        "edge_mask": jraph.get_edge_padding_mask(padded),
        "graph_mask": jraph.get_graph_padding_mask(padded),
        "n_node": padded.n_node,
        "parts": [part.nodes.shape for part in parts],
        "unpadded": jraph.unpad_with_graphs(padded).nodes.shape,
        "dynamic": dynamic.nodes.shape,
    }


def _update(*parts):
    total = sum(jnp.sum(part, -1, keepdims=True) for part in parts if part is not None)
    return jnp.tanh(total)


def networks():
    graph = _graph()
    network = jraph.GraphNetwork(_update, _update, _update)
    interaction = jraph.InteractionNetwork(_update, _update)
    attention = jraph.GAT(
        lambda x: x @ jnp.ones((2, 3)),
        lambda s, r, e: jnp.sum(s * r, -1, keepdims=True),
    )
    convolution = jraph.GraphConvolution(lambda x: x @ jnp.eye(2), add_self_edges=True)
    sets = jraph.DeepSets(lambda n, g: jnp.tanh(n + jnp.sum(g)), lambda n: n * 2)
    full = jraph.GraphNetGAT(
        _update, _update, lambda e, s, r, g: s[:, :1], lambda e, w: e * w, None
    )
    return {
        "network": jax.jit(network)(graph).globals,
        "interaction": interaction(graph).nodes,
        "attention": attention(graph).nodes,
        "convolution": convolution(graph).nodes,
        "sets": sets(graph).globals,
        "edges": full(graph).edges,
        "relations": jraph.RelationNetwork(_update, _update)(
            graph._replace(globals=jnp.zeros((1, 1)))
        ).globals,
    }


def derivatives():
    graph = _graph()
    network = jraph.GraphNetwork(_update, _update, _update)

    def loss(nodes):
        return jnp.sum(network(graph._replace(nodes=nodes)).globals)

    return jax.jit(jax.grad(loss))(graph.nodes)
