"""What type checkers see of transformed functions."""

from collections.abc import Callable
from functools import partial
from typing import reveal_type

import olympus
import olympus.numpy as jnp
from olympus.experimental import checkify


def scale(x: olympus.Array, by: float, *, shift: int = 0) -> olympus.Array:
    return x * by + shift


jitted = olympus.jit(scale)
reveal_type(jitted(jnp.ones(2), 2.0))  # Array
reveal_type(jitted(jnp.ones(2), 2.0, shift=1))  # Array
jitted(jnp.ones(2))  # error
jitted(jnp.ones(2), "text")  # error
jitted(jnp.ones(2), 2.0, other=1)  # error
reveal_type(jitted.lower(olympus.ShapeDtypeStruct((2,), "float32"), 2.0))  # Lowered
reveal_type(jitted.trace(jnp.ones(2), 2.0))  # Traced
olympus.jit(scale, static_argnames="shift")
olympus.jit(scale, static_names="shift")  # error


@partial(olympus.jit, static_argnames="n")
def power(x: olympus.Array, n: int) -> olympus.Array:
    return x**n


@olympus.jit(donate_argnums=0)
def double(x: olympus.Array) -> olympus.Array:
    return 2 * x


reveal_type(double(jnp.ones(2)))  # Array
double()  # error


class Model:
    @olympus.jit
    def predict(self, x: olympus.Array) -> olympus.Array:
        return x


reveal_type(Model().predict(jnp.ones(2)))  # Array
Model().predict()  # error
reveal_type(olympus.vmap(scale)(jnp.ones(2), 1.0))  # Array
reveal_type(olympus.value_and_grad(scale)(jnp.ones(()), 1.0))  # tuple[Array, Any]
olympus.grad(scale)("text", 1.0)  # error
olympus.vmap(scale)(jnp.ones(2), "text")  # error
olympus.checkpoint(scale)(jnp.ones(2), "text")  # error
olympus.jacfwd(scale)(jnp.ones(2))  # error
reveal_type(olympus.checkpoint(scale)(jnp.ones(2), 1.0))  # Array
reveal_type(olympus.remat(scale)(jnp.ones(2), 1.0, shift=1))  # Array
reveal_type(olympus.named_call(scale)(jnp.ones(2), 1.0))  # Array
reveal_type(olympus.named_scope("scaled")(scale)(jnp.ones(2), 1.0))  # Array
reveal_type(checkify.checkify(scale)(jnp.ones(2), 1.0))  # tuple[Error, Array]


@olympus.custom_jvp
def sine(x: olympus.Array, by: float) -> olympus.Array:
    return jnp.sin(x * by)


@olympus.custom_vjp
def cosine(x: olympus.Array) -> olympus.Array:
    return jnp.cos(x)


@olympus.custom_gradient
def cube(x: olympus.Array) -> tuple[olympus.Array, Callable[..., olympus.Array]]:
    return x**3, lambda ct: ct * 3 * x**2


reveal_type(sine(jnp.ones(2), 1.0))  # Array
reveal_type(cosine(jnp.ones(2)))  # Array
reveal_type(cube(jnp.ones(2)))  # Array
sine(jnp.ones(2))  # error
cosine("text")  # error
cube(1, 2)  # error
