"""Writes tests/data/guards.json: which calls JAX's guards of transfers let pass.

Run from the root of the repository in an environment that has JAX:

    PYTHONPATH=. python tests/data/record_guards.py
"""

import json
import pathlib

from tests.runtime import guarded_calls

LEVELS = ("disallow", "disallow_explicit")

if __name__ == "__main__":
    table = {level: guarded_calls.are_allowed("jax", level) for level in LEVELS}
    path = pathlib.Path(__file__).parent / "guards.json"
    path.write_text(json.dumps(table, indent=1) + "\n")
