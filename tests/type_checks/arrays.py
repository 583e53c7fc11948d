"""What annotations with `olympus.Array` tell a type checker."""

from typing import reveal_type

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus.typing import ArrayLike, DTypeLike, Shape


def members(x: olympus.Array) -> olympus.Array:
    reveal_type(x.shape)  # tuple[int, ...]
    reveal_type(x.ndim)  # int
    reveal_type(x.dtype)  # dtype[Any]
    reveal_type(x.T)  # Array
    reveal_type(x.astype(jnp.float32))  # Array
    reveal_type(x.sum(axis=0, keepdims=True))  # Array
    reveal_type(x.reshape(2, -1))  # Array
    reveal_type(x.nonzero(size=3))  # tuple[Array, ...]
    reveal_type(x.item())  # Any
    x.no_such_member  # error
    x.sum(axes=0)  # error
    return x


def operators(x: olympus.Array, n: int, a: np.ndarray) -> olympus.Array:
    reveal_type(x @ x)  # Array
    reveal_type(2.0 * x + n)  # Array
    reveal_type(x - a)  # Array
    reveal_type(x == 0)  # Array
    reveal_type(-x)  # Array
    reveal_type(x[0, 1:])  # Array
    reveal_type(divmod(x, 2))  # tuple[Array, Array]
    reveal_type(len(x))  # int
    reveal_type(float(x))  # float
    reveal_type([row for row in x])  # list[Array]
    x + "text"  # error
    x[0] = 1.0  # error
    return x


def stands_for_an_array(x: ArrayLike, dtype: DTypeLike, shape: Shape) -> None:
    del x, dtype, shape


def calls() -> None:
    stands_for_an_array(1.0, "float32", (2, 3))
    stands_for_an_array(np.ones(2), jnp.float32, [2])
    stands_for_an_array("text", jnp.float32, (2,))  # error
    stands_for_an_array(1.0, jnp.float32, 2)  # error
