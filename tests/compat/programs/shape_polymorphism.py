"""Symbolic dimensions: their arithmetic, comparison, constraints and export."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

a, b = export.symbolic_shape("a, b")
print(a, b, a + 1, 2 * a - b, a * b, a * a, (a + 1) ** 2)
print(a // 2, a % 3, (a + 4) // 2, (2 * a) // 2, a == a, a + b == b + a)
print(repr(a), isinstance(a, int))
print(a >= 1, a + 1 > a, export.symbolic_shape("n, m")[0] >= 0)
for ask in [lambda: a >= 2, lambda: a > b, lambda: bool(a == 3), lambda: int(a)]:
    try:
        print(ask())
    except Exception as error:
        print(type(error).__name__)
c, d = export.symbolic_shape("c, d", constraints=["c >= 8", "c == 2*d"])
print(c >= 4, d, c, c - 2 * d)
print(jax.core.max_dim(a, 1) if hasattr(jax.core, "max_dim") else "a", np.shape(jax.ShapeDtypeStruct((3,), "int32")))
print(export.symbolic_args_specs([jnp.ones((2, 3)), jnp.ones(3)], ["b, _", "..."]))
print(export.symbolic_shape("b, _, 2*b", like=(None, 3, None)))
spec = jax.ShapeDtypeStruct(export.symbolic_shape("n, 3"), jnp.float32)
print(spec, jax.eval_shape(lambda x: x.reshape(-1), spec), jax.eval_shape(lambda x: jnp.concatenate([x, x]), spec))
exported = export.export(jax.jit(lambda x: (x.sum(0), x.shape[0] * x)))(spec)
print(exported.in_avals, exported.out_avals)
print(exported.call(jnp.ones((2, 3))))
print(exported.call(jnp.ones((4, 3)))[1].shape)
for shape in [(0, 3), (2, 4), (3,)]:
    try:
        print(exported.call(np.ones(shape, np.float32))[0])
    except Exception as error:
        print(type(error).__name__)
for bad in [
    lambda: jax.eval_shape(lambda x, y: x + y, *[jax.ShapeDtypeStruct(s, jnp.float32) for s in [(a,), (b,)]]),
    lambda: jax.eval_shape(lambda x: x.reshape(2, -1), spec),
    lambda: export.symbolic_shape("a +"),
    lambda: export.symbolic_shape("a", constraints=["a >= 1 2"]),
]:
    try:
        print(bad())
    except Exception as error:
        print(type(error).__name__)
print(jax.eval_shape(lambda x: jnp.pad(x, (1, 2)), jax.ShapeDtypeStruct((a,), jnp.int32)).shape)
print(jax.eval_shape(lambda x: x[: x.shape[0] - 1], jax.ShapeDtypeStruct((a + 1,), jnp.int32)).shape)
print(jax.eval_shape(lambda x: x @ x.T, jax.ShapeDtypeStruct((a, b), jnp.float32)).shape)
print(jax.eval_shape(lambda x: jnp.arange(x.shape[0]), jax.ShapeDtypeStruct((a,), jnp.int8)))
