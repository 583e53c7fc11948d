"""What jax.numpy refuses, and how it says so."""

import jax
import jax.numpy as jnp
import numpy as np

x = jnp.arange(6.0).reshape(2, 3)
cases = {
    "broadcast": lambda: x + jnp.ones(2),
    "matmul": lambda: x @ x,
    "matmul scalar": lambda: x @ 2.0,
    "reshape": lambda: x.reshape(4, 2),
    "axis": lambda: x.sum(axis=2),
    "axes twice": lambda: x.sum(axis=(0, 0)),
    "stack": lambda: jnp.stack([x, x[0]]),
    "concatenate none": lambda: jnp.concatenate([]),
    "squeeze": lambda: x.squeeze(0),
    "expand": lambda: jnp.expand_dims(x, 5),
    "index count": lambda: x[0, 0, 0],
    "index type": lambda: x["a"],
    "index float": lambda: x[jnp.array([0.5])],
    "boolean shape": lambda: x[jnp.array([True])],
    "set shape": lambda: x.at[0].set(jnp.ones(2)),
    "einsum": lambda: jnp.einsum("ij,jk", x, x),
    "einsum letters": lambda: jnp.einsum("ij->k", x),
    "list argument": lambda: jnp.sum([1, 2]),
    "string": lambda: jnp.array("text"),
    "object": lambda: jnp.asarray(object()),
    "ragged": lambda: jnp.array([[1], [1, 2]]),
    "out": lambda: jnp.sum(x, out=np.zeros(())),
    "order": lambda: jnp.array(x, order="K"),
    "dtype": lambda: jnp.zeros(2, "text"),
    "negative": lambda: jnp.zeros(-1),
    "float shape": lambda: jnp.zeros(2.0),
    "linspace": lambda: jnp.linspace(0, 1, -2),
    "split": lambda: jnp.split(jnp.arange(5), 2),
    "inverse": lambda: jnp.linalg.inv(x),
    "solve": lambda: jnp.linalg.solve(x, x),
    "clip": lambda: jnp.clip(x, 1j),
    "where": lambda: jnp.where(x > 0, x),
    "take mode": lambda: jnp.take(x, 0, mode="other"),
    "pad mode": lambda: jnp.pad(x, 1, mode="other"),
    "sort kind": lambda: jnp.sort(x, axis=7),
    "shift": lambda: jnp.left_shift(x, 1),
    "bitwise": lambda: x & 1,
    "overflow": lambda: jnp.int8(1) + 1000,
    "int64": lambda: jnp.array(2**40),
    "cast": lambda: jnp.array([1, 2]).view(jnp.complex128),
    "item": lambda: x.item(),
    "float": lambda: float(x),
    "index": lambda: [1, 2][jnp.float32(1)],
    "iterate": lambda: list(jnp.float32(1)),
    "len": lambda: len(jnp.float32(1)),
    "write": lambda: np.asarray(x).__setitem__(0, 1),
    "hash": lambda: hash(x),
    "choice": lambda: jnp.choose(jnp.array([5]), [x[0], x[0]], mode="raise"),
    "diag": lambda: jnp.diag(jnp.ones((2, 2, 2))),
    "cross": lambda: jnp.cross(jnp.ones(4), jnp.ones(4)),
}
for name, run in cases.items():
    try:
        print(name, "no error", str(run()).replace("\n", " ")[:60])
    except Exception as error:
        print(name, next(b.__name__ for b in type(error).__mro__ if b.__module__ == "builtins"))
