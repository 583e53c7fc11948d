"""Public functions say where users find them."""

from __future__ import annotations

import importlib
import pickle

import pytest

import olympus
from olympus import lax, random

MODULES = ("numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "random", "nn")
MODULES += ("nn.initializers", "scipy.special", "scipy.linalg", "image", "ops", "debug")


@pytest.mark.parametrize("module", MODULES)
def test_functions_live_in_public_modules(module):
    module = importlib.import_module(f"olympus.{module}")
    wrong = []
    for name in module.__all__:
        value = getattr(module, name)
        home = getattr(value, "__module__", None)
        named = getattr(value, "__qualname__", None) == name
        if named and str(home).startswith("olympus._src") and not _is_elsewhere(value):
            wrong.append(f"{name}: {home}")
    assert wrong == []


def _is_elsewhere(value):
    """Primitives are instances, whose class says where it is."""
    return not callable(value) or hasattr(value, "bind")


def test_names_in_help_and_pickles():
    assert olympus.numpy.absolute.__module__ == "olympus.numpy"
    assert olympus.jit.__module__ == "olympus"
    assert random.normal.__module__ == "olympus.random"
    assert lax.scan.__module__ == "olympus.lax"
    for f in (olympus.numpy.concatenate, olympus.nn.relu, lax.cond, random.split):
        assert pickle.loads(pickle.dumps(f)) is f
    assert b"_src" not in pickle.dumps(lax.cond)


@pytest.mark.parametrize(
    "name", ["abs", "complex", "map", "max", "min", "pow", "slice"]
)
def test_functions_with_names_of_builtins(name):
    """Their files call them `max_` and so on."""
    f = getattr(lax, name)
    assert (f.__name__, f.__qualname__, f.__module__) == (name, name, "olympus.lax")
    assert pickle.loads(pickle.dumps(f)) is f


def test_programs_show_public_names():
    text = str(olympus.make_olympuspr(olympus.jit(lax.max))(1.0, 2.0))
    assert "name=max\n" in text
