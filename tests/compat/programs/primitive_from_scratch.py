"""A primitive with rules for all transformations."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jax.interpreters import ad, batching, mlir

fma_p = core.Primitive("fma")


def fma(x, y, z):
    return fma_p.bind(x, y, z)


try:
    fma(1.0, 2.0, 3.0)
except NotImplementedError as error:
    print(type(error).__name__, "fma" in str(error))


@fma_p.def_impl
def fma_impl(x, y, z):
    return jnp.asarray(np.add(np.multiply(x, y), z))


print("impl", fma(2.0, 10.0, 1.0))
try:
    jax.jit(fma)(1.0, 2.0, 3.0)
except NotImplementedError as error:
    print(type(error).__name__, "fma" in str(error))


@fma_p.def_abstract_eval
def fma_abstract(x, y, z):
    assert x.shape == y.shape == z.shape
    return jax.core.ShapedArray(x.shape, x.dtype)


print(jax.make_jaxpr(fma)(1.0, 2.0, 3.0))
try:
    jax.jit(fma)(1.0, 2.0, 3.0)
except NotImplementedError as error:
    print(type(error).__name__, "fma" in str(error))


def fma_lowering(ctx, x, y, z):
    from jax._src.lib.mlir.dialects import hlo

    return [hlo.AddOp(hlo.MulOp(x, y).result, z).result]


mlir.register_lowering(fma_p, mlir.lower_fun(lambda x, y, z: x * y + z, multiple_results=False))
print("jit", jax.jit(fma)(2.0, 10.0, 1.0))


def fma_jvp(primals, tangents):
    x, y, z = primals
    dx, dy, dz = tangents
    make = lambda t: ad.instantiate_zeros(t) if type(t) is ad.Zero else t
    return fma(x, y, z), fma(make(dx), y, fma(x, make(dy), make(dz)))


ad.primitive_jvps[fma_p] = fma_jvp
print("jvp", jax.jvp(fma, (2.0, 10.0, 1.0), (1.0, 1.0, 1.0)))
try:
    jax.grad(fma)(2.0, 10.0, 1.0)
except Exception as error:
    print(type(error).__name__)


def fma_transpose(ct, x, y, z):
    if not ad.is_undefined_primal(x):
        return None, fma(ct, x, jnp.zeros(jnp.shape(x))), ct
    return fma(ct, y, jnp.zeros(jnp.shape(y))), None, ct


ad.primitive_transposes[fma_p] = fma_transpose
print("grad", jax.grad(fma, (0, 1, 2))(2.0, 10.0, 1.0))
try:
    jax.vmap(fma)(jnp.ones(2), jnp.ones(2), jnp.ones(2))
except NotImplementedError as error:
    print(type(error).__name__, "fma" in str(error))


def fma_batch(args, axes):
    moved = [jnp.moveaxis(a, d, 0) if d is not None else jnp.broadcast_to(a, (2,)) for a, d in zip(args, axes)]
    return fma(*moved), 0


batching.primitive_batchers[fma_p] = fma_batch
print("vmap", jax.vmap(fma, (0, None, 0))(jnp.arange(2.0), 3.0, jnp.ones(2)))
print("all", jax.jit(jax.vmap(jax.grad(fma), (0, None, None)))(jnp.arange(2.0), 3.0, 1.0))
print("linearize", jax.linearize(lambda x: fma(x, x, x), 3.0)[1](1.0))
print(fma_p, repr(fma_p), fma_p.name, fma_p.multiple_results, "fma" in jax.jit(fma).lower(1.0, 2.0, 3.0).as_text())
pair_p = core.Primitive("pair")
pair_p.multiple_results = True
pair_p.def_impl(lambda x, *, k: [x + k, x - k])
pair_p.def_abstract_eval(lambda x, *, k: [x, x])
mlir.register_lowering(pair_p, mlir.lower_fun(lambda x, *, k: [x + k, x - k], multiple_results=True))
print(pair_p.bind(1.0, k=3), jax.jit(lambda x: pair_p.bind(x, k=2))(5.0))
print(jax.make_jaxpr(lambda x: pair_p.bind(x, k=2))(5.0))
