"""Records `ode.json`, from the installed JAX.

    python -m tests.data.record_ode

The solutions are those of `tests/ode/cases.py`. It was run with JAX 0.10.2 on CPU. No
test runs it.
"""

from __future__ import annotations

import json
import pathlib

import jax  # noqa: TID251
import numpy as np

from tests.ode import cases

PATH = pathlib.Path(__file__).with_name("ode.json")


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    table = {
        name: [np.ravel(leaf).tolist() for leaf in jax.tree.leaves(call())]
        for name, call in cases.cases("jax").items()
    }
    PATH.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
