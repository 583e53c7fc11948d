"""The programs of `demo/examples` have the losses that they have under JAX."""

from __future__ import annotations

import importlib
import json
import pathlib

import numpy as np
import pytest

PATH = pathlib.Path(__file__).parents[1] / "data" / "example_programs.json"
DATA = json.loads(PATH.read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.eight_devices])
        if name == "several_devices"
        else name
        for name in DATA
    ],
)
def test_program(name):
    values = importlib.import_module(f"demo.examples.{name}").train()
    np.testing.assert_allclose(values, DATA[name], rtol=2e-4, atol=2e-5)
