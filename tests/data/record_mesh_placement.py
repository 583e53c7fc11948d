"""Records where results are under meshes into `mesh_placement.json`, from JAX.

The keys of that file are the expressions: add one with the value {}, and run this.
What is recorded already stays.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 \
        python -m tests.data.record_mesh_placement

It was run with JAX 0.10.2 on CPU. No test runs it.
"""

from __future__ import annotations

import json
import pathlib

import jax  # noqa: TID251
from jax import lax  # noqa: TID251
from jax import numpy as jnp  # noqa: TID251

from tests.sharding import placement_cases

PATH = pathlib.Path(__file__).with_name("mesh_placement.json")


def main() -> None:
    cases = placement_cases.Cases(jax, jnp, lax)
    table = {
        text: places
        or {name: cases.place(text, name) for name in placement_cases.CONTEXTS}
        for text, places in json.loads(PATH.read_text()).items()
    }
    PATH.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
