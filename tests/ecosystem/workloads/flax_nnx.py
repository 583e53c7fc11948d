"""Flax nnx: modules that hold their parameters, state, optimizers, transformations."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

TOLERANCES = {"training": 1e-3}


class _Network(nnx.Module):
    def __init__(self, width, *, rngs):
        self.first = nnx.Linear(3, width, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x):
        x = self.dropout(nnx.relu(self.norm(self.first(x))))
        return self.last(x)[..., 0]


def _data():
    x = jax.random.normal(jax.random.key(0), (16, 3))
    return x, x[:, 0] * x[:, 1]


def training():
    x, y = _data()
    model = _Network(8, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))

    @nnx.jit
    def step(model, optimizer, metrics):
        loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, grads)
        metrics.update(loss=loss)
        return loss

    losses = [step(model, optimizer, metrics) for _ in range(12)]
    model.eval()
    return {
        "losses": jnp.stack(losses),
        "metric": metrics.compute()["loss"],
        "step": int(optimizer.step[...]),
        "mean": model.norm.mean[...],
        "evaluated": model(x)[:4],
    }


def state_and_graph():
    model = _Network(4, rngs=nnx.Rngs(1))
    graph, params, others = nnx.split(model, nnx.Param, ...)
    merged = nnx.merge(graph, jax.tree.map(lambda p: 2 * p, params), others)
    state = nnx.state(model)
    nnx.update(model, jax.tree.map(jnp.zeros_like, nnx.state(model, nnx.Param)))
    return {
        "kernel": merged.last.kernel[...],
        "paths": ["/".join(map(str, path)) for path, _ in nnx.to_flat_state(state)],
        "zero": model.last.kernel[...],
        "pure": sorted(nnx.to_pure_dict(params)),
        "clone": nnx.clone(merged).last.kernel[...],
        "nodes": len(list(nnx.iter_modules(merged))),
    }


def transformations():
    x, _ = _data()

    @nnx.vmap(in_axes=0, out_axes=0)
    def create(key):
        return nnx.Linear(3, 2, rngs=nnx.Rngs(key))

    many = create(jax.random.split(jax.random.key(2), 4))
    outputs = nnx.vmap(lambda m, x: m(x), in_axes=(0, None))(many, x[0])

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def forward(x, layer):
        return jnp.tanh(layer(x))

    @nnx.vmap(in_axes=0, out_axes=0)
    def square(key):
        return nnx.Linear(3, 3, rngs=nnx.Rngs(key))

    deep = square(jax.random.split(jax.random.key(3), 4))
    layer = nnx.Linear(3, 1, rngs=nnx.Rngs(4))
    grads = nnx.grad(lambda m: jnp.sum(nnx.remat(lambda m, x: m(x))(m, x) ** 2))(layer)
    chosen = nnx.cond(True, lambda m: m(x[0]), lambda m: -m(x[0]), layer)
    return {
        "vmap": outputs,
        "scan": forward(x[0], deep),
        "remat": grads.kernel[...],
        "cond": chosen,
        "shape": nnx.eval_shape(
            lambda: _Network(8, rngs=nnx.Rngs(0))
        ).last.kernel.shape,
    }


def variables():
    class Count(nnx.Variable):
        pass

    class Counter(nnx.Module):
        def __init__(self):
            self.count = Count(jnp.zeros((), "int32"))
            self.total = nnx.BatchStat(jnp.zeros(2))

        def __call__(self, x):
            self.count[...] += 1
            self.total[...] += x
            self.sow(nnx.Intermediate, "seen", x)
            return self.total[...]

    counter = Counter()
    jitted = nnx.jit(lambda m, x: m(x))
    jitted(counter, jnp.ones(2))
    out = jitted(counter, jnp.arange(2.0))
    return {
        "out": out,
        "count": counter.count[...],
        "kinds": len(jax.tree.leaves(nnx.state(counter, Count))),
    }


def random_streams():
    rngs = nnx.Rngs(0, dropout=1)
    first, second = rngs.dropout(), rngs.dropout()
    keys = nnx.split_rngs(rngs, splits=2)
    return {
        "first": jax.random.key_data(first),
        "second": jax.random.key_data(second),
        "default": jax.random.key_data(nnx.Rngs(3).params()),
        "split": keys is not None,
        "uniform": nnx.Rngs(5).uniform((2,)),
    }


def layers():
    x = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
    image = jnp.cos(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
    rngs = nnx.Rngs(7)
    attention = nnx.MultiHeadAttention(
        num_heads=2, in_features=4, decode=False, rngs=rngs
    )
    return {
        "conv": nnx.Conv(3, 2, (3, 3), strides=2, rngs=rngs)(image),
        "attention": attention(x),
        "layer_norm": nnx.LayerNorm(4, rngs=rngs)(x),
        "embed": nnx.Embed(5, 2, rngs=rngs)(jnp.array([1, 4])),
        "einsum": nnx.Einsum("bti,ij->btj", (4, 2), rngs=rngs)(x),
        "rnn": nnx.RNN(nnx.LSTMCell(4, 3, rngs=rngs))(x),
        "sequential": nnx.Sequential(nnx.Linear(4, 2, rngs=rngs), nnx.gelu)(x),
        "lora": nnx.LoRA(4, 2, 3, rngs=rngs)(x),
    }


def edits():
    model = _Network(4, rngs=nnx.Rngs(8))
    model.last = nnx.Linear(4, 2, rngs=nnx.Rngs(9))
    shared = nnx.List([model.first, model.first])
    graph, state = nnx.split(shared)
    again = nnx.merge(graph, state)
    return {
        "new": model.last.kernel.shape,
        "shared": again[0] is again[1],
        "text": "Linear" in repr(model),
    }
