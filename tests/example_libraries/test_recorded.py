"""Optimizers and layers have the values that JAX gives."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from olympus import tree
from tests.example_libraries import cases

PATH = pathlib.Path(__file__).parents[1] / "data" / "example_libraries.json"
DATA = json.loads(PATH.read_text())
LIB = cases.names("olympus")


def check(value, recorded):
    leaves = [np.ravel(leaf) for leaf in tree.leaves(value)]
    assert [len(leaf) for leaf in leaves] == [len(leaf) for leaf in recorded]
    for leaf, expected in zip(leaves, recorded, strict=True):
        np.testing.assert_allclose(leaf, expected, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("text", cases.OPTIMIZERS)
def test_optimizer(text):
    check(cases.optimize(LIB, text), DATA["optimizers"][text])


@pytest.mark.parametrize("text", cases.SCHEDULES)
def test_schedule(text):
    check(cases.schedule(LIB, text), DATA["schedules"][text])


@pytest.mark.parametrize(("text", "shape"), cases.LAYERS)
def test_layer(text, shape):
    check(cases.layer(LIB, text, shape), DATA["layers"][text])
