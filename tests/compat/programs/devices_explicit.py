"""Explicit sharding: shardings are part of an array's type."""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.Explicit))
with jax.set_mesh(mesh):
    print(dict(jax.sharding.get_abstract_mesh().shape), mesh.axis_types)
    a = jax.device_put(jnp.arange(32.0).reshape(8, 4), P("x", "y"))
    print(jax.typeof(a), a.sharding.spec, jax.typeof(a).sharding.spec)
    print(jax.typeof(jnp.sin(a)), jax.typeof(a.T), jax.typeof(a + 1), jax.typeof(a.sum(1)), jax.typeof(a.sum()))
    print(jax.typeof(jnp.ones((4, 4))), jax.typeof(jnp.zeros_like(a)))


    @jax.jit
    def f(a, b):
        print("inside", jax.typeof(a), jax.typeof(b), jax.typeof(a @ b))
        return a @ b


    b = jax.device_put(jnp.ones((4, 6)), P(None, "y"))
    a2 = jax.device_put(a, P("x", None))
    print(jax.typeof(f(a2, b)))
    print(jax.typeof(jax.sharding.reshard(a, P(None, "y"))), jax.typeof(jax.sharding.reshard(a, P())))
    for bad in [
        lambda: a + jax.device_put(a, P("y", "x")),
        lambda: f(a, jax.device_put(jnp.ones((4, 6)), P("y", None))),
        lambda: a.reshape(-1),
        lambda: jax.device_put(a, P("q")),
    ]:
        try:
            bad()
            print("no error")
        except Exception as error:
            print(type(error).__name__)
    print(jax.typeof(jnp.einsum("ij,jk->ik", a, jax.device_put(b, P("y", None)), out_sharding=P("x", None))))
    print(jax.typeof(jnp.broadcast_to(a2[:, :1], (8, 3))), jax.typeof(jnp.concatenate([a2, a2], 1)))
    print(jax.typeof(jax.grad(lambda a: (a**2).sum())(a)))
    print(jax.typeof(jax.vmap(lambda r: r * 2)(a)), jax.make_jaxpr(lambda a: jnp.sin(a))(a))
    with jax.set_mesh(jax.make_mesh((8,), ("z",), axis_types=(AxisType.Auto,))):
        print(jax.sharding.get_abstract_mesh().axis_names, jax.typeof(jnp.ones(8)))
    print(jax.sharding.get_abstract_mesh().axis_names)
    print(jax.sharding.auto_axes(lambda v: v * 2, out_sharding=P("x", "y"))(a).sharding.spec)
    print(jax.typeof(jnp.arange(8, out_sharding=P("x")) if "out_sharding" in jnp.arange.__doc__ else jax.device_put(jnp.arange(8), P("x"))))
    print(jax.typeof(jax.random.normal(jax.random.key(0), (8, 2), out_sharding=P("x", None))))
