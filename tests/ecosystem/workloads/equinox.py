"""Equinox: modules, filtered transformations, state, errors and saved trees."""

import io

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest

TOLERANCES = {"training": 1e-3}


class _Regressor(eqx.Module):
    layers: list
    scale: jax.Array
    name: str = eqx.field(static=True)

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.layers = [eqx.nn.Linear(3, 8, key=first), eqx.nn.Linear(8, 1, key=second)]
        self.scale = jnp.ones(())
        self.name = "regressor"

    def __call__(self, x):
        return self.scale * self.layers[1](jnp.tanh(self.layers[0](x)))[0]


def _data():
    x = jax.random.normal(jax.random.key(0), (16, 3))
    return x, jnp.cos(x[:, 0]) * x[:, 1]


def _loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


def training():
    x, y = _data()
    model = _Regressor(jax.random.key(1))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        loss, grads = eqx.filter_value_and_grad(_loss)(model, x, y)
        updates, state = optimizer.update(grads, state, model)
        return eqx.apply_updates(model, updates), state, loss

    losses = []
    for _ in range(15):
        model, state, loss = step(model, state)
        losses.append(loss)
    return {"losses": jnp.stack(losses), "scale": model.scale, "name": model.name}


def partitions():
    model = _Regressor(jax.random.key(2))
    arrays, static = eqx.partition(model, eqx.is_array)
    joined = eqx.combine(arrays, static)
    moved = eqx.tree_at(lambda m: m.layers[0].bias, model, jnp.arange(8.0))
    return {
        "joined": eqx.tree_equal(model, joined),
        "moved": moved.layers[0].bias,
        "equal": bool(eqx.tree_equal(model, moved)),
        "leaves": [list(leaf.shape) for leaf in jax.tree.leaves(arrays)],
        "text": eqx.tree_pformat(model),
    }


def transformations():
    model = _Regressor(jax.random.key(3))
    x, y = _data()
    many = eqx.filter_vmap(_Regressor)(jax.random.split(jax.random.key(4), 3))
    outputs = eqx.filter_vmap(lambda m, x: m(x), in_axes=(eqx.if_array(0), None))(
        many, x[0]
    )
    _, pullback = eqx.filter_vjp(lambda m: _loss(m, x, y), model)
    shape = eqx.filter_eval_shape(_Regressor, jax.random.key(0))
    program, _, _ = eqx.filter_make_jaxpr(lambda m: _loss(m, x, y))(model)
    closed = eqx.filter_closure_convert(lambda v: model(v), x[0])
    hessian = eqx.filter_hessian(lambda s: _loss(eqx.tree_at(_scale, model, s), x, y))
    return {
        "ensemble": outputs,
        "vjp": pullback(jnp.ones(()))[0].scale,
        "shape": str(shape.layers[0].weight.shape),
        "inputs": len(program.jaxpr.invars),
        "closure": closed(x[1]),
        "hessian": hessian(jnp.asarray(2.0)),
        "checkpoint": jax.grad(lambda s: eqx.filter_checkpoint(jnp.sin)(s))(0.5),
    }


def forward_mode():
    model = _Regressor(jax.random.key(3))
    x, y = _data()
    tangents = eqx.filter(model, eqx.is_inexact_array)
    return eqx.filter_jvp(lambda m: _loss(m, x, y), (model,), (tangents,))


def _scale(model):
    return model.scale


def layers():
    key = jax.random.key(5)
    x = jnp.linspace(-1.0, 1.0, 4)
    image = jnp.sin(jnp.arange(2 * 6 * 6.0)).reshape(2, 6, 6)
    sequence = jnp.cos(jnp.arange(12.0)).reshape(3, 4)
    return {
        "mlp": eqx.nn.MLP(4, 2, 8, 2, key=key)(x),
        "conv": jnp.sum(eqx.nn.Conv2d(2, 3, 3, key=key)(image), (1, 2)),
        "transposed": eqx.nn.ConvTranspose2d(2, 1, 3, 2, key=key)(image)[0, 0, :5],
        "norm": eqx.nn.LayerNorm(4)(x),
        "group_norm": eqx.nn.GroupNorm(1, 2)(image)[0, 0],
        "rms_norm": eqx.nn.RMSNorm(4)(x),
        "attention": eqx.nn.MultiheadAttention(2, 4, key=key)(
            sequence, sequence, sequence
        ),
        "gru": eqx.nn.GRUCell(4, 3, key=key)(x, jnp.zeros(3)),
        "lstm": eqx.nn.LSTMCell(4, 3, key=key)(x, (jnp.zeros(3), jnp.ones(3))),
        "embedding": eqx.nn.Embedding(5, 2, key=key)(jnp.asarray(3)),
        "dropout": eqx.nn.Dropout(0.5)(x, key=key),
        "pool": eqx.nn.MaxPool2d(2, 2)(image),
        "rotary": eqx.nn.RotaryPositionalEmbedding(4)(sequence),
        "sequential": eqx.nn.Sequential(
            [eqx.nn.Linear(4, 4, key=key), eqx.nn.Lambda(jax.nn.relu)]
        )(x),
        "spectral": eqx.nn.WeightNorm(eqx.nn.Linear(4, 2, key=key))(x),
    }


def states():
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, "batch", mode="batch")
    x = jax.random.normal(jax.random.key(6), (8, 3))
    run = jax.vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    out, state = eqx.filter_jit(run)(x, state)
    frozen = eqx.nn.inference_mode(norm)
    evaluated, _ = jax.vmap(
        frozen, axis_name="batch", in_axes=(0, None), out_axes=(0, None)
    )(x, state)

    class Counter(eqx.Module):
        index: eqx.nn.StateIndex

        def __init__(self):
            self.index = eqx.nn.StateIndex(jnp.asarray(0))

        def __call__(self, state):
            return state.set(self.index, state.get(self.index) + 1)

    counter, counts = eqx.nn.make_with_state(Counter)()
    counts = counter(counter(counts))
    return {"train": out[0], "eval": evaluated[0], "count": counts.get(counter.index)}


def errors():
    @eqx.filter_jit
    def root(x):
        return jnp.sqrt(eqx.error_if(x, x < 0, "negative argument"))

    with pytest.raises(Exception, match="negative argument"):
        root(jnp.asarray(-1.0))
    with pytest.raises(Exception, match="bad index"):
        eqx.error_if(jnp.ones(2), True, "bad index")

    @eqx.filter_jit
    @eqx.debug.assert_max_traces(max_traces=1)
    def double(x):
        return 2 * x

    double(jnp.ones(2))
    with pytest.raises(RuntimeError):
        double(jnp.ones(3))
    return root(jnp.asarray(4.0))


def serialisation():
    model = _Regressor(jax.random.key(7))
    buffer = io.BytesIO()
    eqx.tree_serialise_leaves(buffer, model)
    buffer.seek(0)
    like = _Regressor(jax.random.key(8))
    return bool(eqx.tree_equal(eqx.tree_deserialise_leaves(buffer, like), model))


def loops():
    def body(carry):
        i, x = carry
        return i + 1, x * 1.1

    def summed(x, kind):
        _, out = eqx.internal.while_loop(
            lambda c: c[0] < 5, body, (0, x), max_steps=16, kind=kind
        )
        return jnp.sum(out)

    x = jnp.arange(3.0)
    return {
        "lax": summed(x, "lax"),
        "bounded": jax.grad(summed)(x, "bounded"),
        "checkpointed": jax.grad(summed)(x, "checkpointed"),
    }


def scans():
    x = jnp.arange(3.0)
    return eqx.internal.scan(
        lambda c, x: (c + x, c * x), 0.0, x, kind="checkpointed", checkpoints=2
    )


def custom_rules():
    @eqx.filter_custom_vjp
    def clipped(x, bound):
        return x * bound

    @clipped.def_fwd
    def forward(perturbed, x, bound):
        return x * bound, x

    @clipped.def_bwd
    def backward(residuals, cotangent, perturbed, x, bound):
        return jnp.clip(cotangent, -1.0, 1.0)

    @eqx.filter_custom_jvp
    def cube(x):
        return x**3

    @cube.def_jvp
    def cube_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return x**3, 3 * x**2 * t

    return {
        "vjp": jax.grad(lambda x: 5 * clipped(x, 2.0))(1.0),
        "jvp": jax.grad(cube)(2.0),
    }


def compiled_apart():
    return jax.grad(eqx.internal.noinline(lambda x: x * jnp.sin(x)))(1.0)


def enumerations():
    class Kind(eqx.Enumeration):
        first = "the first"
        second = "the second"

    chosen = Kind.where(jnp.asarray(True), Kind.second, Kind.first)
    return {"equal": bool(chosen == Kind.second), "text": Kind[chosen]}


def ensemble_of_recurrent_networks():
    """Networks made and applied by `filter_vmap`, which scan over a sequence."""

    class Recurrent(eqx.Module):
        cell: eqx.nn.GRUCell
        head: eqx.nn.Linear

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.cell = eqx.nn.GRUCell(2, 4, key=first)
            self.head = eqx.nn.Linear(4, 1, use_bias=False, key=second)

        def __call__(self, xs):
            def step(state, x):
                return self.cell(x, state), None

            return self.head(jax.lax.scan(step, jnp.zeros(4), xs)[0])

    networks = eqx.filter_vmap(Recurrent)(jax.random.split(jax.random.key(0), 3))
    xs = jnp.sin(jnp.arange(10.0)).reshape(5, 2)

    @eqx.filter_jit
    def outputs(networks):
        axes = eqx.if_array(0), None
        return eqx.filter_vmap(lambda n, xs: n(xs), in_axes=axes)(networks, xs)

    grads = eqx.filter_grad(lambda n: jnp.sum(outputs(n) ** 2))(networks)
    return {"outputs": outputs(networks), "grads": grads.head.weight}
