"""What type checkers see of the functions of olympus.lax."""

from typing import reveal_type

import olympus
import olympus.numpy as jnp
from olympus import lax


def operations(x: olympus.Array) -> None:
    reveal_type(lax.sin(x))  # Array
    reveal_type(lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST))  # Array
    reveal_type(lax.add(x, 1))  # Array
    reveal_type(lax.select(x > 0, x, -x))  # Array
    reveal_type(lax.clamp(0, x, 1))  # Array
    reveal_type(lax.convert_element_type(x, jnp.float16))  # Array
    reveal_type(lax.integer_pow(x, 2))  # Array
    reveal_type(lax.erf(x))  # Array
    reveal_type(lax.igamma(1.0, x))  # Array
    lax.sin("a")  # error
    lax.add(x)  # error
    lax.integer_pow(x, 2.5)  # error
    lax.exp(x, accuracy="high")  # error


def shapes(x: olympus.Array) -> None:
    reveal_type(lax.reshape(x, (2, 3)))  # Array
    reveal_type(lax.broadcast_in_dim(x, (2, 3), (1,)))  # Array
    reveal_type(lax.full((2,), 0.0))  # Array
    reveal_type(lax.iota("int32", 3))  # Array
    reveal_type(lax.concatenate([x, x], 0))  # Array
    reveal_type(lax.split(x, (1, 2)))  # list[Array]
    reveal_type(lax.dynamic_slice(x, (0, 0), (1, 1)))  # Array
    reveal_type(lax.dtype(x))  # dtype[Any]
    lax.reshape(x)  # error
    lax.iota(3, 3)  # error
    lax.concatenate(x, 0.5)  # error
    lax.broadcast_in_dim(x, 3, (0,))  # error


def collective(x: olympus.Array) -> None:
    reveal_type(lax.axis_size("i"))  # int
    reveal_type(lax.axis_index("i"))  # Array


def products_and_sorting(x: olympus.Array) -> None:
    numbers = (((1,), (0,)), ((), ()))
    reveal_type(lax.dot_general(x, x, numbers))  # Array
    reveal_type(lax.dot(x, x, precision=lax.Precision.HIGHEST))  # Array
    reveal_type(lax.conv(x, x, (1, 1), "SAME"))  # Array
    reveal_type(lax.sort(x))  # Array
    reveal_type(lax.sort((x, x), num_keys=2))  # tuple[Array, ...]
    reveal_type(lax.top_k(x, 2))  # list[Array]
    reveal_type(lax.cumsum(x, axis=1))  # Array
    reveal_type(lax.reduce_max(x, (0,)))  # Array
    reveal_type(lax.argmax(x, 0, "int32"))  # Array
    reveal_type(lax.linalg.svd(x))  # tuple[Array, Array, Array]
    reveal_type(lax.linalg.svd(x, compute_uv=False))  # Array
    reveal_type(lax.linalg.cholesky(x))  # Array
    lax.dot_general(x, x)  # error
    lax.conv(x, x, 1, "SAME")  # error
    lax.top_k(x, 2.0)  # error


def control_flow(x: olympus.Array) -> None:
    def step(carry: olympus.Array, y: olympus.Array) -> tuple[olympus.Array, None]:
        return carry + y, None

    lax.scan(step, x, x)
    lax.cond(True, jnp.sin, jnp.cos, x)
    lax.fori_loop(0, 3, lambda _, y: y + 1, x)
    lax.while_loop(lambda y: y < 3, lambda y: y + 1, 0)
    lax.scan(3, x)  # error
    lax.cond("yes", jnp.sin, jnp.cos, x)  # error
    lax.fori_loop(0, 3, x, x)  # error
