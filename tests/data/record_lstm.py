"""Records `lstm.json`, from the installed JAX.

    python -m tests.data.record_lstm

The networks are those of `tests/nn/lstm_cases.py`. It was run with JAX 0.10.2 on CPU.
No test runs it.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np

from tests.nn import lstm_cases

PATH = pathlib.Path(__file__).with_name("lstm.json")


def main() -> None:
    table = [
        [
            [float(f"{x:.8g}") for x in np.ravel(leaf).tolist()]
            for leaf in lstm_cases.run("jax", sizes)
        ]
        for sizes in lstm_cases.SIZES
    ]
    PATH.write_text(json.dumps(table) + "\n")


if __name__ == "__main__":
    main()
