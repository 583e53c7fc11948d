"""Libraries written for JAX on olympus: three here, all with `make ecosystem`."""

import importlib.util
import sys

import numpy as np
import pytest

from tests.ecosystem import values, workload_runs

# The libraries, with what their workloads import beside them.
LIGHT = {"einops": [], "jaxtyping": ["beartype", "equinox"], "optax": []}


@pytest.mark.beside_jax
@pytest.mark.parametrize("name", LIGHT)
def test_a_library_for_jax_computes_what_it_computes_on_jax(name):
    for package in (name, *LIGHT[name]):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed in this environment")
    count, wrong, is_imported = workload_runs.compare(sys.executable, name)
    assert is_imported
    assert count > 20
    assert not wrong, "\n".join(f"{check}: {text}" for check, text in wrong.items())


@pytest.mark.parametrize(
    ("recorded", "value", "says"),
    [
        (1, 2, "2"),
        (1, 1.0, "dtype"),
        ([1, 2], [1, 2, 3], "parts"),
        ("a", "b", "'b'"),
        ({"a": 1}, {"b": 1}, "parts"),
        (1.0, 1.001, "1.001"),
        (1.0, float("nan"), "NaN"),
    ],
)
def test_values_that_differ_are_told_apart(recorded, value, says):
    difference = values.difference(values.encode(recorded), values.encode(value))
    assert says in difference


@pytest.mark.parametrize(
    "value", [1, 1.5, True, "a", None, [1, "b"], {"a": float("inf")}, 1 + 2j]
)
def test_a_value_equals_its_record(value):
    assert values.difference(values.encode(value), values.encode(value)) is None


def test_a_tolerance_widens_rounding():
    recorded, value = values.encode(1.0), values.encode(1.001)
    assert values.difference(recorded, value) is not None
    assert values.difference(recorded, value, 1e-2) is None


def test_large_values_are_refused():
    with pytest.raises(ValueError, match="at most 256 elements"):
        values.encode(np.zeros(1000))
