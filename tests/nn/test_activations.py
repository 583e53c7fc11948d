"""Activations: recorded values and derivatives, dtypes, limits, refusals."""

from __future__ import annotations

import json
import pathlib

import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import nn

DATA = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "activations.json").read_text()
)
POINTS = np.array(
    [-30, -6.5, -3, -1.5, -1, -0.5, -1e-3, 0, 1e-3, 0.5, 1, 1.5, 3, 6, 6.5, 30],
    np.float32,
)
FUNCTIONS = {name: getattr(nn, name) for name in DATA if hasattr(nn, name)} | {
    "elu_a": lambda x: nn.elu(x, 0.3),
    "leaky_relu_a": lambda x: nn.leaky_relu(x, 0.2),
    "celu_a": lambda x: nn.celu(x, 2.0),
    "gelu_exact": lambda x: nn.gelu(x, approximate=False),
}
ARGUMENTS = {
    "int32": np.arange(-3, 4, dtype=np.int32),
    "bfloat16": np.linspace(-3, 3, 7).astype(ml_dtypes.bfloat16),
    "float16": np.linspace(-3, 3, 7).astype(np.float16),
    "bool": np.array([False, True]),
    "int": 2,
    "float": 1.5,
    "uint8": np.array([1, 2], np.uint8),
}


def close(got, want, atol):
    want = np.array([float(v) for v in want])
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=3e-5, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_values_and_derivatives(name):
    f, want = FUNCTIONS[name], DATA[name]
    close(f(POINTS), want["value"], 1e-6)
    slope = olympus.vmap(olympus.grad(f))
    close(slope(POINTS), want["grad"], 1e-5)
    close(olympus.vmap(olympus.grad(olympus.grad(f)))(POINTS), want["second"], 1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize("name", DATA)
@pytest.mark.slow
def test_dtypes(name, kind):
    f, want = FUNCTIONS[name], DATA[name]["dtypes"][kind]
    if want == "TypeError":
        with pytest.raises(TypeError):
            f(ARGUMENTS[kind])
        return
    got = f(ARGUMENTS[kind])
    assert [got.dtype.name, got.weak_type] == want


@pytest.mark.slow
@pytest.mark.parametrize("name", DATA)
def test_jit_agrees_and_lists_are_refused(name):
    f = FUNCTIONS[name]
    np.testing.assert_allclose(olympus.jit(f)(POINTS), f(POINTS), rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError, match=r"nn\.\w+: arguments must.*numpy\.asarray"):
        f([1.0])


@pytest.mark.parametrize("name", sorted(set(DATA) - {"sparse_plus", "gelu", "mish"}))
def test_nan_stays_nan(name):
    assert np.isnan(FUNCTIONS[name](np.float32(np.nan)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at_minus", "at_plus"),
    [
        ("relu", 0, np.inf),
        ("softplus", 0, np.inf),
        ("log_sigmoid", -np.inf, 0),
        ("sigmoid", 0, 1),
        ("hard_sigmoid", 0, 1),
        ("elu", -1, np.inf),
        ("tanh", -1, 1),
    ],
)
def test_limits(name, at_minus, at_plus):
    f = FUNCTIONS[name]
    got = f(np.float32([-np.inf, np.inf]))
    np.testing.assert_array_equal(got, [at_minus, at_plus])
    big = olympus.vmap(olympus.grad(f))(np.float32([-1e30, 1e30]))
    assert np.isfinite(big).all()


def test_other_names():
    assert nn.swish is nn.silu
    assert nn.hard_swish is nn.hard_silu


def test_glu_halves_an_axis():
    x = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    for axis in (0, 1, -1):
        a, b = np.split(x, 2, axis)
        np.testing.assert_allclose(nn.glu(x, axis), a / (1 + np.exp(-b)), rtol=1e-5)
    with pytest.raises(ValueError, match=r"nn\.glu.*even size.*f32\[4,5\]"):
        nn.glu(x[:, :5])


def test_log1mexp_is_exact_at_both_ends():
    x = np.float64([1e-12, 1e-3, 0.5, 0.7, 5, 40])
    with olympus.enable_x64(True):
        got = np.asarray(nn.log1mexp(x))
    near, far = np.log(-np.expm1(-x[:4])), np.log1p(-np.exp(-x[4:]))
    np.testing.assert_allclose(got, [*near, *far], rtol=1e-12)
    ends = np.asarray(nn.log1mexp(np.float32([0, -1])))
    assert ends[0] == -np.inf
    assert np.isnan(ends[1])


def test_parameters_broadcast():
    slopes = jnp.array([[0.1], [0.5]])
    got = nn.leaky_relu(np.float32([-2, 2]), slopes)
    np.testing.assert_allclose(got, [[-0.2, 2], [-1, 2]], rtol=1e-6)


def test_tanh_of_few_numbers_reaches_one():
    x = np.float32([-15, 15])
    np.testing.assert_array_equal(nn.tanh(x), [-1, 1])
    np.testing.assert_array_equal(olympus.vmap(olympus.grad(nn.tanh))(x), [0, 0])


def test_rectifiers_have_no_slope_at_their_kinks_nor_without_a_number():
    points = np.array([-1.0, 0.0, 1.0, 6.0, 7.0, np.nan], np.float32)
    for f, slopes in (
        (nn.relu, [0, 0, 1, 1, 1, 0]),
        (nn.relu6, [0, 0, 1, 0, 0, 0]),
    ):
        for transform in (olympus.vmap, lambda g: olympus.jit(olympus.vmap(g))):
            found = transform(olympus.grad(f))(points)
            np.testing.assert_array_equal(found, np.array(slopes, np.float32))
        assert np.isnan(f(points)[-1])
    # Integers have no derivative, and may stand beside what has.
    assert olympus.grad(lambda x: x * nn.relu(3))(2.0) == 3.0
