"""pmap and the tools of several devices that are older than jit's shardings."""

import jax
import jax.numpy as jnp
from jax import lax


def kind(error):
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")

n = jax.local_device_count()
x = jnp.arange(float(n))
print(n, jax.pmap(lambda v: v**2)(x))
print(jax.pmap(lambda v: v / lax.psum(v, "i"), axis_name="i")(x + 1))
print(jax.pmap(lambda a, b: a + b, in_axes=(0, None))(x, 10.0))
print(jax.pmap(lambda v: lax.axis_index("d"), axis_name="d")(x))
print(jax.pmap(lambda v: lax.ppermute(v, "i", [(i, (i + 1) % n) for i in range(n)]), axis_name="i")(x))
print(jax.pmap(lambda v: (v, {"s": v * 2}))(x)[1]["s"].shape)
print(jax.pmap(lambda v: jnp.dot(v, v))(jnp.ones((n, 3))))
print(jax.pmap(lambda s, v: s * v, static_broadcasted_argnums=0)(3, x))
print(jax.pmap(lambda v: v + 1, devices=jax.devices()[:2])(jnp.arange(2)))
print(jax.grad(lambda v: jax.pmap(jnp.sin)(v).sum())(x))
print(jax.vmap(jax.pmap(lambda v: v * 2), in_axes=1)(jnp.ones((n, 2))).shape)
out = jax.pmap(lambda v: v)(x)
print(len(out.devices()), out.shape, out[3])
for bad in [lambda: jax.pmap(lambda v: v)(jnp.ones(n + 1)), lambda: jax.pmap(lambda a, b: a)(x, jnp.ones(n - 1)), lambda: jax.pmap(lambda v: lax.psum(v, "j"), axis_name="i")(x), lambda: jax.pmap(lambda: 1)()]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(kind(error))
print(jax.process_index(), jax.process_count(), jax.host_count() if hasattr(jax, "host_count") else 1, jax.local_devices()[0].process_index)
d = jax.devices()[2]
print(d.id, d.platform, d.device_kind, str(d), repr(d), d.client.platform)
print([m.kind for m in d.addressable_memories()][:1], d.default_memory().kind)
