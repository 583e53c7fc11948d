"""A data-parallel and a tensor-parallel step, and gradients averaged over devices."""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
keys = jax.random.split(jax.random.key(0), 4)
params = {"w1": jax.random.normal(keys[0], (6, 8)) * 0.3, "w2": jax.random.normal(keys[1], (8, 2)) * 0.3}
batch = jax.random.normal(keys[2], (16, 6))
labels = jax.random.randint(keys[3], (16,), 0, 2)


def loss(params, x, y):
    logits = jax.nn.relu(x @ params["w1"]) @ params["w2"]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


specs = {"w1": P(None, "model"), "w2": P("model", None)}
shardings = jax.tree.map(lambda s: NamedSharding(mesh, s), specs, is_leaf=lambda s: isinstance(s, P))
placed = jax.device_put(params, shardings)
x = jax.device_put(batch, NamedSharding(mesh, P("data")))
y = jax.device_put(labels, NamedSharding(mesh, P("data")))


@jax.jit
def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


plain, sharded = params, placed
for i in range(4):
    plain, a = step(plain, batch, labels)
    sharded, b = step(sharded, x, y)
    print(i, f"{a:.5f} {b:.5f}")
print({k: v.sharding.spec for k, v in placed.items()})
print(jax.tree.map(lambda a, b: bool(jnp.allclose(a, b, atol=1e-5)), plain, sharded))
text = step.lower(placed, x, y).compile().as_text()
print("all-reduce" in text)
per_device = jax.shard_map(
    lambda p, x, y: jax.lax.pmean(loss(p, x, y), "data"), mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P()
)
print(per_device(params, batch, labels), loss(params, batch, labels))
g1, g2 = jax.grad(per_device)(params, batch, labels), jax.grad(loss)(params, batch, labels)
print(jax.tree.map(lambda a, b: bool(jnp.allclose(a, b, atol=1e-5)), g1, g2))
print(jax.tree.map(lambda v: v.shape, sharded), jax.tree.map(lambda v: v.addressable_shards[0].data.shape, placed))
print(shardings["w1"].devices_indices_map((6, 8))[jax.devices()[1]], shardings["w2"].num_devices)
