"""The functions that programs call most, outside of jit, on small arrays.

What is timed is the way to the compiled program and back: the work itself takes about a
microsecond. NumPy runs the same code; PyTorch's is in `torch_cases`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.models import Library


def forty(lib: Library) -> dict[str, Any]:
    """Forty functions of numpy and what stands beside them."""
    jnp = lib.np
    x = jnp.asarray(np.linspace(0.1, 1.0, 100, dtype="float32"))
    m = jnp.asarray(np.linspace(0.1, 1.0, 100, dtype="float32").reshape(10, 10))
    square = jnp.asarray(m + 10 * np.eye(10, dtype="float32"))
    i = jnp.asarray(np.arange(10, dtype="int32"))
    b = jnp.asarray(np.arange(100) % 2 == 0)
    cases = {
        "add": lambda: jnp.add(x, x),
        "multiply by a number": lambda: x * 2.0,
        "divide": lambda: jnp.divide(x, x),
        "power": lambda: x**2,
        "compare": lambda: x > 0.5,
        "exp": lambda: jnp.exp(x),
        "tanh": lambda: jnp.tanh(x),
        "sqrt": lambda: jnp.sqrt(x),
        "abs": lambda: jnp.abs(x),
        "maximum": lambda: jnp.maximum(x, 0.5),
        "clip": lambda: jnp.clip(x, 0.2, 0.8),
        "where": lambda: jnp.where(b, x, 0.0),
        "isnan": lambda: jnp.isnan(x),
        "sum": lambda: jnp.sum(x),
        "sum of rows": lambda: jnp.sum(m, axis=1),
        "mean": lambda: jnp.mean(m, axis=0),
        "var": lambda: jnp.var(m, axis=0),
        "std": lambda: jnp.std(x),
        "max": lambda: jnp.max(m, axis=1),
        "argmax": lambda: jnp.argmax(m, axis=1),
        "any": lambda: jnp.any(b),
        "cumsum": lambda: jnp.cumsum(x),
        "sort": lambda: jnp.sort(x),
        "argsort": lambda: jnp.argsort(x),
        "median": lambda: jnp.median(x),
        "matmul": lambda: m @ m,
        "dot": lambda: jnp.dot(x, x),
        "einsum": lambda: jnp.einsum("ij,kj->ik", m, m),
        "tensordot": lambda: jnp.tensordot(m, m, 1),
        "outer": lambda: jnp.outer(x, x),
        "reshape": lambda: jnp.reshape(x, (10, 10)),
        "transpose": lambda: m.T,
        "expand_dims": lambda: x[:, None],
        "concatenate": lambda: jnp.concatenate([x, x]),
        "stack": lambda: jnp.stack([x, x]),
        "split": lambda: jnp.split(x, 4),
        "broadcast_to": lambda: jnp.broadcast_to(x, (3, 100)),
        "roll": lambda: jnp.roll(x, 1),
        "pad": lambda: jnp.pad(x, 2),
        "diff": lambda: jnp.diff(x),
        "take": lambda: jnp.take(m, i, axis=0),
        "m[i]": lambda: m[i],
        "m[:, 1]": lambda: m[:, 1],
        "astype": lambda: x.astype("int32"),
        "zeros_like": lambda: jnp.zeros_like(x),
        "arange": lambda: jnp.arange(10),
        "linspace": lambda: jnp.linspace(0.0, 1.0, 10),
        "eye": lambda: jnp.eye(3),
        "linalg.norm": lambda: jnp.linalg.norm(x),
        "linalg.solve": lambda: jnp.linalg.solve(square, m),
        "linalg.inv": lambda: jnp.linalg.inv(square),
        "float(x[0])": lambda: float(x[0]),
    }
    if lib.name != "numpy":
        nn, random = lib.top.nn, lib.top.random
        key = random.key(0)
        cases |= {
            "m.at[i].add": lambda: m.at[i].add(1.0),
            "nn.relu": lambda: nn.relu(x),
            "nn.softmax": lambda: nn.softmax(m),
            "random.split": lambda: random.split(key),
            "random.normal": lambda: random.normal(key, (10,)),
        }
    return {f"eager {name}": f for name, f in cases.items()}


GROUPS = {"forty": forty}
