"""Flax linen: modules, collections of parameters, lifted transformations, training."""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import serialization, struct, traverse_util
from flax.core import freeze, unfreeze
from flax.training import train_state

TOLERANCES = {"training": 1e-3}


class _Network(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dense(self.width, use_bias=False, name="hidden")(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.relu(x)
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(1)(x)[..., 0]


def _data():
    x = jax.random.normal(jax.random.key(0), (16, 3))
    return x, x[:, 0] * x[:, 1]


class _State(train_state.TrainState):
    batch_stats: dict


def training():
    x, y = _data()
    network = _Network()
    variables = network.init(jax.random.key(1), x)
    state = _State.create(
        apply_fn=network.apply,
        params=variables["params"],
        tx=optax.adam(1e-2),
        batch_stats=variables["batch_stats"],
    )

    @jax.jit
    def step(state, key):
        def loss(params):
            out, changed = state.apply_fn(
                {"params": params, "batch_stats": state.batch_stats},
                x,
                train=True,
                mutable=["batch_stats"],
                rngs={"dropout": key},
            )
            return jnp.mean((out - y) ** 2), changed

        (value, changed), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        state = state.apply_gradients(grads=grads)
        return state.replace(batch_stats=changed["batch_stats"]), value

    losses = []
    for i in range(12):
        state, value = step(state, jax.random.key(i))
        losses.append(value)
    restored = serialization.from_bytes(state, serialization.to_bytes(state))
    return {
        "losses": jnp.stack(losses),
        "step": int(state.step),
        "mean": state.batch_stats["BatchNorm_0"]["mean"],
        "restored": restored.params["hidden"]["kernel"],
    }


def layers():
    x = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
    image = jnp.cos(jnp.arange(2 * 6 * 6 * 3.0)).reshape(2, 6, 6, 3)
    table = {
        "dense": (nn.DenseGeneral((2, 2), axis=-1), x),
        "einsum": (nn.Einsum((4, 2), "bti,ij->btj"), x),
        "conv": (nn.Conv(2, (3, 3), strides=2), image),
        "transposed": (nn.ConvTranspose(1, (2, 2)), image[:, :2, :2]),
        "layer_norm": (nn.LayerNorm(), x),
        "group_norm": (nn.GroupNorm(num_groups=1), image[:1, :2, :2]),
        "rms_norm": (nn.RMSNorm(), x),
        "weight_norm": (nn.WeightNorm(nn.Dense(2)), x),
        "attention": (nn.MultiHeadDotProductAttention(num_heads=2), x),
        "embed": (nn.Embed(5, 2), jnp.array([0, 3])),
        "lstm": (nn.RNN(nn.OptimizedLSTMCell(3)), x),
        "gru": (nn.RNN(nn.GRUCell(3), reverse=True), x),
        "prelu": (nn.PReLU(), x),
    }
    return {
        name: layer.init_with_output(jax.random.key(2), arg)[0]
        for name, (layer, arg) in table.items()
    }


def lifted():
    x, _ = _data()

    class Ensemble(nn.Module):
        @nn.compact
        def __call__(self, x):
            dense = nn.vmap(
                nn.Dense,
                variable_axes={"params": 0},
                split_rngs={"params": True},
                in_axes=None,
                axis_size=3,
            )
            return dense(2)(x)

    class Block(nn.Module):
        @nn.compact
        def __call__(self, carry, _):
            return jnp.tanh(nn.Dense(3)(carry)), None

    class Deep(nn.Module):
        @nn.compact
        def __call__(self, x):
            blocks = nn.scan(
                nn.remat(Block),
                variable_axes={"params": 0},
                split_rngs={"params": True},
                length=4,
            )
            return blocks()(x, None)[0]

    class Choice(nn.Module):
        def setup(self):
            self.first, self.second = nn.Dense(1), nn.Dense(1)

        def __call__(self, x, flag):
            if self.is_initializing():
                self.second(x)
                return self.first(x)
            return nn.cond(
                flag, lambda m, v: m.first(v), lambda m, v: m.second(v), self, x
            )

    ensemble, ensemble_params = Ensemble().init_with_output(jax.random.key(3), x[:1])
    deep_params = Deep().init(jax.random.key(4), x)
    grads = jax.grad(lambda p: jnp.sum(Deep().apply(p, x) ** 2))(deep_params)
    choice = Choice()
    choice_params = choice.init(jax.random.key(5), x[:2], True)
    return {
        "vmap": ensemble,
        "vmap_shape": str(jax.tree.map(jnp.shape, unfreeze(ensemble_params))),
        "scan": Deep().apply(deep_params, x[:2]),
        "scan_gradient": jax.tree.map(lambda g: jnp.sum(g, (1,)), grads),
        "cond": jax.jit(choice.apply)(choice_params, x[:2], False),
        "jit": nn.jit(_Network)().init_with_output(jax.random.key(6), x)[0],
    }


def collections():
    class Counter(nn.Module):
        @nn.compact
        def __call__(self, x):
            is_started = self.has_variable("state", "count")
            count = self.variable("state", "count", lambda: jnp.zeros((), "int32"))
            if is_started:
                count.value += 1
            self.sow("intermediates", "double", 2 * x)
            return x + self.perturb("shift", x)

    x = jnp.arange(2.0)
    variables = Counter().init(jax.random.key(0), x)
    out, changed = Counter().apply(
        {k: v for k, v in variables.items() if k != "intermediates"},
        x,
        mutable=["state", "intermediates"],
    )
    return {
        "out": out,
        "count": changed["state"]["count"],
        "sown": changed["intermediates"]["double"][0],
        "names": sorted(variables),
    }


def methods():
    class Auto(nn.Module):
        def setup(self):
            self.encoder = nn.Dense(2)
            self.decoder = nn.Dense(3)

        def __call__(self, x):
            return self.decoder(self.encoder(x))

        def encode(self, x):
            return self.encoder(x)

    x, _ = _data()
    auto = Auto()
    variables = auto.init(jax.random.key(1), x)
    bound = auto.bind(variables)
    return {
        "method": auto.apply(variables, x[:1], method="encode"),
        "bound": bound.encoder(x[:1]),
        "table": "Dense" in nn.tabulate(auto, jax.random.key(0))(x),
        "shape": str(jax.eval_shape(auto.apply, variables, x)),
    }


def partitioned():
    layer = nn.Dense(
        4,
        kernel_init=nn.with_partitioning(nn.initializers.lecun_normal(), ("in", "out")),
    )
    variables = layer.init(jax.random.key(0), jnp.ones((2, 3)))
    boxed = variables["params"]["kernel"]
    return {
        "names": list(boxed.names),
        "spec": str(nn.get_partition_spec(variables)["params"]["kernel"]),
        "value": nn.meta.unbox(variables)["params"]["kernel"],
    }


def trees():
    @struct.dataclass
    class Point:
        x: jax.Array
        name: str = struct.field(pytree_node=False, default="p")

    tree = {"a": {"b": jnp.ones(2), "c": jnp.zeros(1)}}
    flat = traverse_util.flatten_dict(tree, sep="/")
    moved = jax.tree.map(lambda v: v + 1, Point(jnp.arange(2.0)))
    return {
        "flat": sorted(flat),
        "frozen": sorted(freeze(tree)["a"]),
        "path": traverse_util.path_aware_map(lambda p, v: len(p) * v, tree)["a"]["b"],
        "moved": moved.x,
        "name": moved.name,
        "state": sorted(serialization.to_state_dict(moved)),
        "version": flax.__version__.count("."),
    }
