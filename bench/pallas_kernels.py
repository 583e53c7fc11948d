"""Kernels over blocks, beside the same functions without blocks."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from bench.models import Library


def pallas_kernels(lib: Library) -> dict[str, Any]:
    """Run time of kernels, which JAX runs by its interpreter."""
    jnp, jit = lib.np, lib.top.jit
    pl = importlib.import_module(f"{lib.name}.experimental.pallas")
    rng = np.random.default_rng(0)
    m = jnp.asarray(rng.normal(size=(512, 512)).astype("float32"))

    def add_product(x: Any, y: Any, out: Any) -> None:
        @pl.when(pl.program_id(2) == 0)
        def _() -> None:
            out[...] = jnp.zeros(out.shape, out.dtype)

        out[...] += x[...] @ y[...]

    def multiply(size: int) -> Any:
        spec = [
            pl.BlockSpec((size, size), f)
            for f in (
                lambda row, column, step: (row, step),
                lambda row, column, step: (step, column),
                lambda row, column, step: (row, column),
            )
        ]
        n = len(m) // size
        options = {"grid": (n, n, n), "in_specs": spec[:2], "out_specs": spec[2]}
        return jit(pl.pallas_call(add_product, m, interpret=True, **options))

    def normalize(x: Any, out: Any) -> None:
        e = jnp.exp(x[...] - x[...].max(-1, keepdims=True))
        out[...] = e / e.sum(-1, keepdims=True)

    row = pl.BlockSpec((1, len(m)), lambda i: (i, 0))
    rows = {"grid": (len(m),), "in_specs": [row], "out_specs": row}
    softmax = jit(pl.pallas_call(normalize, m, interpret=True, **rows))
    large, small = multiply(128), multiply(32)
    matmul, whole_softmax = jit(jnp.matmul), jit(lib.top.nn.softmax)
    return {
        "kernel matmul 512, blocks of 128": lambda: large(m, m),
        "kernel matmul 512, blocks of 32": lambda: small(m, m),
        "kernel softmax of 512 rows": lambda: softmax(m),
        "without blocks, matmul 512": lambda: matmul(m, m),
        "without blocks, softmax of 512 rows": lambda: whole_softmax(m),
    }


GROUPS = {"pallas_kernels": pallas_kernels}
