"""Haiku: transformed functions of modules with parameters, state and random streams."""

import haiku as hk
import jax
import jax.numpy as jnp
import jmp
import optax

TOLERANCES = {"training": 1e-3}


def _data():
    x = jax.random.normal(jax.random.key(0), (16, 3))
    return x, x[:, 0] * x[:, 1]


def _network(x, train):
    x = hk.Linear(8, with_bias=False, name="first")(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training=train)
    x = jax.nn.relu(x)
    if train:
        x = hk.dropout(hk.next_rng_key(), 0.2, x)
    return hk.nets.MLP([4, 1])(x)[..., 0]


def training():
    x, y = _data()
    network = hk.transform_with_state(_network)
    params, state = network.init(jax.random.PRNGKey(0), x, True)
    optimizer = optax.adam(1e-2)
    moments = optimizer.init(params)

    @jax.jit
    def step(params, state, moments, key):
        def loss(params):
            out, changed = network.apply(params, state, key, x, True)
            return jnp.mean((out - y) ** 2), changed

        (value, changed), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, moments = optimizer.update(grads, moments)
        return optax.apply_updates(params, updates), changed, moments, value

    losses = []
    for key in hk.PRNGSequence(1).take(12):
        params, state, moments, value = step(params, state, moments, key)
        losses.append(value)
    return {
        "losses": jnp.stack(losses),
        "evaluated": network.apply(params, state, None, x, False)[0][:4],
        "names": sorted(params),
        "state": sorted(state),
        "size": hk.data_structures.tree_size(params),
    }


def _apply(function, *arguments):
    transformed = hk.transform(function)
    params = transformed.init(jax.random.PRNGKey(2), *arguments)
    return transformed.apply(params, jax.random.PRNGKey(3), *arguments)


def layers():
    x = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
    image = jnp.cos(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
    init = hk.initializers.VarianceScaling(1.0)
    return {
        "linear": _apply(lambda x: hk.Linear(2)(x), x),
        "conv": _apply(lambda x: hk.Conv2D(2, 3, stride=2)(x), image),
        "transposed": _apply(lambda x: hk.Conv2DTranspose(1, 2)(x), image[:, :2, :2]),
        "layer_norm": _apply(lambda x: hk.LayerNorm(-1, True, True)(x), x),
        "group_norm": _apply(lambda x: hk.GroupNorm(1)(x), image[:1, :2, :2]),
        "embed": _apply(lambda i: hk.Embed(5, 2)(i), jnp.array([0, 3])),
        "attention": _apply(
            lambda x: hk.MultiHeadAttention(2, 2, w_init=init)(x, x, x), x
        ),
        "pool": hk.max_pool(image, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")[0, 0],
        "sequential": _apply(lambda x: hk.Sequential([hk.Linear(3), jnp.tanh])(x), x),
        "flatten": _apply(lambda x: hk.Flatten()(x), x).shape,
        "separable": _apply(lambda x: hk.DepthwiseConv2D(1, 3)(x), image)[0, 0, 0],
    }


def recurrent():
    x = jnp.sin(jnp.arange(24.0)).reshape(3, 2, 4)

    def run(core, x):
        def unrolled(x):
            cell = core()
            return hk.dynamic_unroll(cell, x, cell.initial_state(2))[0]

        return _apply(unrolled, x)

    deep = lambda: hk.DeepRNN([hk.LSTM(3), jnp.tanh, hk.VanillaRNN(2)])  # noqa: E731
    return {
        "lstm": run(lambda: hk.LSTM(3), x),
        "gru": run(lambda: hk.GRU(3), x),
        "deep": run(deep, x),
        "reset": _apply(
            lambda x: hk.static_unroll(
                hk.ResetCore(hk.GRU(2)),
                (x, jnp.array([[True, False]] * 3)),
                hk.ResetCore(hk.GRU(2)).initial_state(2),
            )[0],
            x,
        ),
    }


def lifted():
    x, _ = _data()

    def stack(x):
        return hk.experimental.layer_stack(3)(lambda x: jnp.tanh(hk.Linear(3)(x)))(x)

    def branches(x):
        first, second = hk.Linear(2), hk.Linear(2)
        if hk.running_init():
            first(x), second(x)
        return hk.cond(True, first, second, x)

    def scanned(x):
        layer = hk.Linear(3)
        layer(x)
        return hk.scan(lambda c, _: (layer(c), jnp.sum(c)), x, None, length=3)[1]

    def looped(x):
        layer = hk.Linear(3)
        layer(x)
        return hk.fori_loop(0, 2, lambda i, v: layer(v), x)

    return {
        "stack": _apply(stack, x[:2]),
        "cond": _apply(branches, x[:2]),
        "scan": _apply(scanned, x[:2]),
        "fori": _apply(looped, x[:2]),
        "vmap": _apply(lambda x: hk.vmap(hk.Linear(2), split_rng=False)(x), x[:4]),
        "remat": _apply(lambda x: hk.remat(hk.Linear(2))(x), x[:2]),
        "grad": _apply(lambda x: hk.grad(lambda v: jnp.sum(hk.Linear(1)(v)))(x), x[0]),
    }


def parameters_and_state():
    class Scaled(hk.Module):
        def __init__(self, scale, name=None):
            super().__init__(name=name)
            self.scale = scale

        def __call__(self, x):
            w = hk.get_parameter(
                "w", x.shape, init=hk.initializers.Constant(self.scale)
            )
            count = hk.get_state("count", (), jnp.int32, init=jnp.zeros)
            hk.set_state("count", count + 1)
            return self.shifted(w * x)

        @hk.transparent
        def shifted(self, x):
            return x + hk.get_parameter("b", (), init=jnp.ones)

    network = hk.transform_with_state(lambda x: Scaled(2.0, name="outer")(x))
    params, state = network.init(None, jnp.arange(3.0))
    out, state = jax.jit(network.apply)(params, state, None, jnp.arange(3.0))
    doubled = hk.data_structures.map(lambda m, n, v: 2 * v, params)
    weights, biases = hk.data_structures.partition(lambda m, n, v: n == "w", params)
    return {
        "out": out,
        "count": state["outer"]["count"],
        "doubled": doubled["outer"]["w"],
        "parts": [sorted(weights["outer"]), sorted(biases["outer"])],
        "merged": sorted(hk.data_structures.merge(weights, biases)["outer"]),
    }


def interception():
    def creator(next_creator, shape, dtype, init, context):
        return next_creator(shape, dtype, jnp.ones)

    def network(x):
        with hk.custom_creator(creator):
            return hk.Linear(2)(x)

    called = []

    def interceptor(next_f, args, kwargs, context):
        called.append(context.method_name)
        return next_f(*args, **kwargs)

    def watched(x):
        with hk.intercept_methods(interceptor):
            return hk.Linear(1)(x)

    _apply(watched, jnp.ones(2))
    return {"ones": _apply(network, jnp.arange(3.0)), "called": sorted(set(called))}


def inspection():
    def network(x):
        return hk.nets.MLP([4, 2])(x)

    x = jnp.ones((2, 3))
    table = hk.experimental.tabulate(network)(x)
    modules = [
        i.module_details.module.name
        for i in hk.experimental.eval_summary(hk.transform(network))(x)
    ]
    return {
        "tabulated": "mlp/~/linear_0" in table,
        "modules": modules,
    }


def mixed_precision():
    policy = jmp.get_policy("params=float32,compute=float16,output=float32")
    hk.mixed_precision.set_policy(hk.Linear, policy)
    out = _apply(lambda x: hk.Linear(2)(x), jnp.ones((1, 3)))
    hk.mixed_precision.clear_policy(hk.Linear)
    return out.dtype.name


def multiple():
    def build():
        encoder, decoder = hk.Linear(2, name="e"), hk.Linear(3, name="d")

        def init(x):
            return decoder(encoder(x))

        return init, (encoder, decoder)

    network = hk.multi_transform(build)
    params = network.init(jax.random.PRNGKey(1), jnp.ones(3))
    encode, decode = network.apply
    return decode(params, None, encode(params, None, jnp.arange(3.0)))
