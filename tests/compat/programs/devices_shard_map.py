"""shard_map and its collectives."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P


def kind(error):
    return next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")

mesh = jax.make_mesh((4, 2), ("i", "j"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
x = jnp.arange(8.0)


def over(f, in_specs=P("i"), out_specs=P("i")):
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs))


print(over(lambda b: b + lax.axis_index("i"))(x))
print(over(lambda b: lax.psum(b, "i"), out_specs=P())(x))
print(over(lambda b: lax.pmean(b, "i"), out_specs=P())(x), over(lambda b: lax.pmax(b, "i"), out_specs=P())(x))
print(over(lambda b: lax.ppermute(b, "i", [(k, (k + 1) % 4) for k in range(4)]))(x))
print(over(lambda b: lax.all_gather(b, "i", tiled=True))(x).shape, over(lambda b: lax.all_gather(b, "i"))(x).shape)
print(over(lambda b: lax.psum_scatter(jnp.tile(b, 4), "i", tiled=True))(x))
print(over(lambda b: lax.all_to_all(b.reshape(4, 1), "i", 0, 1), in_specs=P("i"), out_specs=P("i"))(jnp.arange(16.0)))
print(over(lambda b: b * lax.axis_size("i"))(x))
print(over(lambda a, b: a @ b, in_specs=(P("i", None), P(None, "j")), out_specs=P("i", "j"))(jnp.ones((4, 3)), jnp.ones((3, 2))))


@partial(jax.shard_map, mesh=mesh, in_specs=(P("i", "j"), P("j")), out_specs=P("i"))
def matvec(a, v):
    return lax.psum(a @ v, "j")


a, v = jnp.arange(32.0).reshape(8, 4), jnp.ones(4)
print(matvec(a, v), jnp.allclose(matvec(a, v), a @ v))
print(jax.grad(lambda v: (matvec(a, v) ** 2).sum())(v))
print(jax.typeof(matvec(a, v)).shape, jax.jvp(lambda v: matvec(a, v), (v,), (v,))[1])
print(jax.vmap(lambda v: matvec(a, v))(jnp.stack([v, 2 * v]))[1])
seen = []
over(lambda b: (seen.append((b.shape, b.dtype)), b)[1])(x)
print(seen)
for bad in [
    lambda: over(lambda b: b, out_specs=P())(x),
    lambda: over(lambda b: b, in_specs=P("k"))(x),
    lambda: over(lambda b: b)(jnp.arange(6.0)),
    lambda: over(lambda b: b.sum())(x),
    lambda: lax.psum(1.0, "i"),
    lambda: over(lambda b: (b, b))(x),
]:
    try:
        bad()
        print("no error")
    except Exception as error:
        print(kind(error))
print(jax.shard_map(lambda b: b, mesh=mesh, in_specs=P("i"), out_specs=P(), check_vma=False)(x))
program = jax.make_jaxpr(jax.shard_map(lambda b: lax.psum(jnp.sin(b), "i"), mesh=mesh, in_specs=P("i"), out_specs=P()))(x)
print([str(e.primitive) for e in program.eqns], sorted(program.eqns[0].params)[:3])
print(over(lambda b: lax.pvary(jnp.ones(2), "i") * b if hasattr(lax, "pvary") else b)(x))
print(jax.vmap(lambda b: lax.psum(b, "n"), axis_name="n")(jnp.arange(3.0)), jax.vmap(lambda b: lax.axis_index("n"), axis_name="n")(jnp.arange(3)))


def older(f, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from jax.experimental.shard_map import shard_map
    return shard_map(f, mesh, P("i"), P(), **options)


print(older(lambda b: lax.psum(b, "i"))(x), older(lambda b: lax.pmean(b, "i"), check_rep=True)(x))
print(older(lambda b: lax.all_gather(b, "i", tiled=True), check_rep=False)(x))
