"""Records what calls lower to for CUDA into `gpu_targets.json`, from the installed JAX.

    python -m tests.data.record_gpu_targets

It was run with JAX 0.10.2, which needs no GPU for it. No test runs it.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import jax  # noqa: TID251
from jax import image, lax, nn, random, scipy  # noqa: TID251
from jax import numpy as jnp  # noqa: TID251
from jax.lax import linalg  # noqa: TID251

from tests.gpu.calls import CALLS
from tests.gpu.targets import record

PATH = pathlib.Path(__file__).with_name("gpu_targets.json")
NAMES = {
    "jnp": jnp,
    "lax": lax,
    "la": linalg,
    "nn": nn,
    "sp": scipy,
    "image": image,
    "random": random,
    "grad": jax.grad,
    "vmap": jax.vmap,
}


def lower(function: Any, arguments: Any) -> str:
    """The text of the module for CUDA."""
    traced = jax.jit(function).trace(*arguments)
    return traced.lower(lowering_platforms=("cuda",)).as_text()


def main() -> None:
    with jax.enable_x64(True):
        rows = dict(record(CALLS, NAMES, jax.ShapeDtypeStruct, lower))
    PATH.write_text(json.dumps(rows, indent=0) + "\n")


if __name__ == "__main__":
    main()
