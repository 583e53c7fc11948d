"""Records exported programs, which all versions of jaxlib from then on must run.

    python -m tests.data.record_exported

writes `exported_NAME_JAXLIB.bin` beside this file. It was run with jaxlib 0.10.2 and
0.12.0; the files are kept, and `tests/export/test_recorded.py` runs them.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import export, nn, random

FOLDER = pathlib.Path(__file__).parent
TABLE = np.linspace(-1, 1, 1200, dtype=np.float32).reshape(4, 300)


def network(x: Any, params: Any, *, scale: Any) -> Any:
    """A layer with a large constant; `test_recorded.py` has it in NumPy."""
    hidden = jnp.tanh(x @ TABLE)[:, ::100] * params["w"][0] + params["b"]
    return {
        "y": scale * hidden,
        "mean": (jnp.mean(hidden), nn.softmax(hidden).argmax()),
    }


def solver(a: Any, key: Any) -> Any:
    """LAPACK kernels, keys, loops, sorting and narrow dtypes."""
    values, vectors = jnp.linalg.eigh(a)
    root = jnp.linalg.cholesky(a @ a.T + jnp.eye(3))
    order = jnp.sort(a.ravel())[::-1].astype(jnp.bfloat16)
    power = olympus.lax.fori_loop(0, 5, lambda _, x: x @ a / 4, jnp.eye(3))
    return (vectors * values) @ vectors.T, root, order, power, random.bits(key, (3,))


def table(rows: Any, weights: Any, matrices: Any) -> Any:
    """Operations of sizes that are known by name only: `rows` is [2*b, 3]."""
    b = matrices.shape[0]
    pairs = jnp.sort(rows, 0).reshape(b, 2, 3).sum(1) @ weights
    total, sums = olympus.lax.scan(lambda c, r: (c + r, c * b), jnp.zeros(4), pairs)
    halves = jnp.cumsum(rows, 0)[: rows.shape[0] // 2]
    padded = jnp.pad(halves, ((1, b), (0, 0)))
    return total, sums, padded, jnp.linalg.cholesky(matrices), jnp.arange(b)


def main() -> None:
    """Writes the files."""
    struct = olympus.ShapeDtypeStruct
    x, w = struct((2, 4), "float32"), struct((3,), "float32")
    made = export.export(olympus.jit(network), platforms=("cuda", "cpu"))(
        x, {"w": [w], "b": w}, scale=1.0
    )
    write("network", made.serialize(vjp_order=1))
    made = export.export(olympus.jit(solver), platforms=("cpu",))(
        struct((3, 3), "float32"), random.key(0)
    )
    write("solver", made.serialize())
    specs = export.symbolic_args_specs(
        [struct(s, "float32") for s in ((6, 3), (3, 4), (3, 2, 2))],
        ["2*b, 3", "3, 4", "b, 2, 2"],
        constraints=["b <= 100"],
    )
    write("table", export.export(olympus.jit(table))(*specs).serialize(vjp_order=1))


def write(name: str, data: bytes) -> None:
    """One file, named by the program and the version of jaxlib."""
    version = sys.modules["jaxlib.version"].__version__
    version = ".".join(version.split(".")[:3])
    path = FOLDER / f"exported_{name}_{version}.bin"
    path.write_bytes(data)
    print(f"{path.name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
