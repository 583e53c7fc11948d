"""When Python runs and what a traced function may and may not do."""

import jax
import jax.numpy as jnp

log = []


@jax.jit
def step(x, y):
    log.append("traced")
    print("tracing with", x.shape, x.dtype, y.shape)
    return x @ y


step(jnp.ones((2, 3)), jnp.ones((3,)))
step(jnp.zeros((2, 3)), jnp.zeros((3,)))
step(jnp.ones((4, 3)), jnp.ones((3,)))
print("times traced:", len(log))


def branch(x):
    if x > 0:
        return x
    return -x


try:
    jax.jit(branch)(1.0)
except jax.errors.TracerBoolConversionError as error:
    text = str(error)
    print(type(error).__name__, "bool" in text.lower(), "traced" in text.lower())
print(jax.jit(branch, static_argnums=0)(-3.0))
print(jax.grad(branch)(-3.0))


def size_from_value(n):
    return jnp.zeros(n)


try:
    jax.jit(size_from_value)(3)
except TypeError as error:
    print(type(error).__name__, "shape" in str(error).lower())
print(jax.jit(size_from_value, static_argnames="n")(n=3))


def to_numpy(x):
    import numpy as np

    return np.sin(x)


try:
    jax.jit(to_numpy)(1.0)
except jax.errors.TracerArrayConversionError as error:
    print(type(error).__name__, issubclass(type(error), TypeError))


@jax.jit
def show(x):
    print(isinstance(x, jax.core.Tracer), isinstance(x, jax.Array), x.ndim, x.size, x.weak_type)
    return x


show(1)
show(jnp.ones(2, jnp.float16))
print(jax.make_jaxpr(lambda x, y: jnp.dot(x + 1, y))(jnp.ones(3), jnp.ones(3)))
print(step._cache_size())
step.clear_cache()
print(step._cache_size())
