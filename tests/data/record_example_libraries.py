"""Records `example_libraries.json`, from the installed JAX.

    python -m tests.data.record_example_libraries

The expressions are those of `tests/example_libraries/cases.py`. It was run with JAX
0.10.2 on CPU. No test runs it.
"""

from __future__ import annotations

import json
import pathlib

import jax  # noqa: TID251
import numpy as np

from tests.example_libraries import cases

PATH = pathlib.Path(__file__).with_name("example_libraries.json")


def main() -> None:
    lib = cases.names("jax")
    table = {
        "optimizers": {t: numbers(cases.optimize(lib, t)) for t in cases.OPTIMIZERS},
        "schedules": {t: numbers(cases.schedule(lib, t)) for t in cases.SCHEDULES},
        "layers": {t: numbers(cases.layer(lib, t, s)) for t, s in cases.LAYERS},
    }
    lines = [
        f"{json.dumps(group)}: {{\n"
        + ",\n".join(f"{json.dumps(t)}: {json.dumps(v)}" for t, v in entries.items())
        + "\n}"
        for group, entries in table.items()
    ]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def numbers(tree: object) -> list[list[float]]:
    """The leaves of a tree, flat, with the digits of float32."""
    return [
        [float(f"{x:.8g}") for x in np.ravel(leaf).tolist()]
        for leaf in jax.tree.leaves(tree)
    ]


if __name__ == "__main__":
    main()
