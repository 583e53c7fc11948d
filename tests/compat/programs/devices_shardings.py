"""Arrays laid out over eight devices: meshes, specs and what arrays say of it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding


def kind(error):
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")

print(jax.device_count(), jax.local_device_count(), jax.devices()[:2], jax.devices("cpu")[7])
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
print(mesh, dict(mesh.shape), mesh.axis_names, mesh.size, mesh.devices.shape, mesh.empty)
print(repr(Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b"))))
x = jnp.arange(64.0).reshape(8, 8)
for spec in [P("x", "y"), P("x"), P(None, "y"), P(("x", "y")), P(), P(None, ("y", "x"))]:
    s = NamedSharding(mesh, spec)
    y = jax.device_put(x, s)
    print(spec, s.shard_shape(x.shape), y.sharding == s, s.is_fully_replicated, len(y.addressable_shards), y.addressable_shards[3].index)
print(NamedSharding(mesh, P("x", None)))
print(repr(P("x", None, ("y",))), P("x") == P("x", None), P("a", "b")[1], len(P("a", None)), hash(P("x")) == hash(P("x")))
y = jax.device_put(x, NamedSharding(mesh, P("x", "y")))
print(y.is_fully_addressable, y.is_fully_replicated, y.committed, len(y.devices()), y.sharding.spec)
shard = y.addressable_shards[1]
print(shard.device, shard.data, shard.replica_id, shard.index)
out = jax.jit(lambda a: a @ a.T, out_shardings=NamedSharding(mesh, P("x")))(y)
print(out.sharding.spec, jnp.allclose(out, x @ x.T))
print((y + 1).sharding.spec, y.sum(0).sharding.is_equivalent_to(NamedSharding(mesh, P("y")), 1), y.T.sharding.spec)
print(jax.device_put(1.0, jax.devices()[5]).devices(), SingleDeviceSharding(jax.devices()[3]))
z = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("y")))
print(z.sharding.spec, jax.jit(lambda v: jax.lax.with_sharding_constraint(v, NamedSharding(mesh, P(None, "x"))))(x).sharding.spec)
print([str(s.device) for s in jax.device_put(jnp.arange(8), NamedSharding(mesh, P("x"))).addressable_shards][:3])
for bad in [
    lambda: jax.device_put(jnp.ones(3), NamedSharding(mesh, P("x"))),
    lambda: NamedSharding(mesh, P("z")),
    lambda: jax.device_put(1.0, NamedSharding(mesh, P("x"))),
    lambda: jax.make_mesh((3, 5), ("a", "b")),
    lambda: jax.device_put(x, jax.devices()[0]) + jax.device_put(x, jax.devices()[1]),
    lambda: Mesh(np.array(jax.devices()), ("a", "b")),
]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(kind(error))
made = jax.make_array_from_callback((4, 2), NamedSharding(mesh, P("x")), lambda i: np.arange(8.0).reshape(4, 2)[i])
print(made, made.sharding.spec)
print(jax.make_array_from_single_device_arrays((8,), NamedSharding(mesh, P(("x", "y"))), [jax.device_put(jnp.full(1, i), d) for i, d in enumerate(mesh.devices.flat)]))
print(jax.jit(lambda v: v * 2, in_shardings=NamedSharding(mesh, P("x")))(jnp.arange(4)).sharding.spec)
