"""Records `counter_generators.json`, from the installed JAX.

    python -m tests.data.record_counter_generators

The expressions are those of `tests/random/test_counter_generators.py`. It was run with
JAX 0.10.2 on CPU. No test runs it.
"""

from __future__ import annotations

import json
import pathlib

import jax  # noqa: TID251
from jax import random  # noqa: TID251

PATH = pathlib.Path(__file__).with_name("counter_generators.json")


def main() -> None:
    table = {}
    for group, calls in json.loads(PATH.read_text()).items():
        with jax.enable_x64(group == "x64"):
            table[group] = {text: record(text) for text in calls}
    PATH.write_text(json.dumps(table, indent=0) + "\n")


def record(text: str) -> list:
    """Results for each generator."""
    return [
        eval(text, {"random": random, "jax": jax, "impl": impl})
        for impl in ("philox2x32", "philox4x32", "threefry4x32")
    ]


if __name__ == "__main__":
    main()
