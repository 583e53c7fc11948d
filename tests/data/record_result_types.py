"""Records types of results into `result_types.json`, from the JAX that is installed.

    python -m tests.data.record_result_types          calls that are not there yet
    python -m tests.data.record_result_types --all    all calls

It was run with JAX 0.10.2 on CPU. No test runs it.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections import defaultdict
from typing import Any

import jax  # noqa: TID251
import numpy as np
from jax import lax, nn  # noqa: TID251
from jax import numpy as jnp  # noqa: TID251
from jax.scipy import special  # noqa: TID251

from tests.result_types.calls import calls
from tests.result_types.running import KINDS, Library, run_calls, spreads

PATH = pathlib.Path(__file__).with_name("result_types.json")


def record(texts: list[str], wide: bool) -> dict[str, str]:
    """The results of each call, in the order of `spreads`."""
    key = jax.random.key(0)
    names = {"np": np, "jnp": jnp, "lax": lax, "nn": nn, "special": special, "key": key}
    library = Library(names, jax.eval_shape, jax.ShapeDtypeStruct)
    rows = {}
    with jax.enable_x64(wide):
        for i, text in enumerate(texts):
            found = [run_calls(text, kinds, library) for kinds in spreads(text, wide)]
            if all(" has no attribute " in why for _, why in found):
                print("not there:", text)
                continue
            if all(out[0] == "!" for out, _ in found):
                print("nothing but errors:", text, found[0][1][:100])
            rows[text] = " ".join(out for out, _ in found)
            if i % 50 == 0:
                jax.clear_caches()
                print(i, text, flush=True)
    return rows


def compact(rows: dict[str, str]) -> dict[str, list[str]]:
    """The calls of each row of results: many share one."""
    groups: Any = defaultdict(list)
    for text, row in rows.items():
        groups[row].append(text)
    return groups


def main() -> None:
    texts = list(calls())
    tables: dict[str, Any] = {"recorded from": f"JAX {jax.__version__}, CPU"}
    again = "--all" in sys.argv or not PATH.exists()
    old = {} if again else json.loads(PATH.read_text())
    for wide in (False, True):
        name = f"x64 {'on' if wide else 'off'}"
        kept = {t: row for row, ts in old.get(name, {}).items() for t in ts}
        kept = {text: row for text, row in kept.items() if text in texts}
        new = record([text for text in texts if text not in kept], wide)
        tables[name] = compact(kept | new)
    tables["kinds"] = {str(wide): KINDS[wide] for wide in KINDS}
    PATH.write_text(json.dumps(tables, indent=0) + "\n")


if __name__ == "__main__":
    main()
