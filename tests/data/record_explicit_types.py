"""Records types over explicit axes into `explicit_types.json`, from the installed JAX.

The keys of that file are the expressions; add one with any value, and run this.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 \
        python -m tests.data.record_explicit_types

It was run with JAX 0.10.2 on CPU. No test runs it.
"""

from __future__ import annotations

import json
import pathlib

import jax  # noqa: TID251
import numpy as np
from jax import lax  # noqa: TID251
from jax import numpy as jnp  # noqa: TID251

from tests.sharding import explicit_cases

PATH = pathlib.Path(__file__).with_name("explicit_types.json")


def main() -> None:
    mesh = jax.make_mesh((4, 2), ("x", "y"))
    P = jax.sharding.PartitionSpec
    names = {"jax": jax, "jnp": jnp, "lax": lax, "np": np, "P": P, "mesh": mesh}
    operands = {}
    for name, (_, _, spec) in explicit_cases.OPERANDS.items():
        place = jax.sharding.NamedSharding(mesh, P(*spec))
        operands[name] = jax.device_put(explicit_cases.value(name), place)
    table = {}
    with jax.set_mesh(mesh):
        for text in json.loads(PATH.read_text()):
            table[text] = record(text, names, operands)
    PATH.write_text(json.dumps(table, indent=1) + "\n")


def record(text: str, names: dict, operands: dict) -> str:
    """The types of the results of a case, or the class of the error."""
    try:
        out = jax.jit(lambda values: eval(text, {**names, **values}))(operands)
    except Exception as error:
        return f"!{type(error).__name__}"
    return " ".join([str(jax.typeof(x)).lstrip("~") for x in jax.tree.leaves(out)])


if __name__ == "__main__":
    main()
