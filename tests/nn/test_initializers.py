"""Initializers: variances, bounds, orthogonality, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import olympus
from olympus import random
from olympus.nn import initializers

KEY = random.key(3)
SHAPE = (3, 50, 80)
FAN_IN, FAN_OUT = 150, 240

SCALED = {
    "glorot": (1, (FAN_IN + FAN_OUT) / 2),
    "lecun": (1, FAN_IN),
    "he": (2, FAN_IN),
}


@pytest.mark.parametrize("law", ["uniform", "normal"])
@pytest.mark.parametrize("name", SCALED)
def test_variance_by_the_layer_s_size(name, law):
    scale, size = SCALED[name]
    made = np.asarray(getattr(initializers, f"{name}_{law}")()(KEY, SHAPE))
    deviation = math.sqrt(scale / size)
    np.testing.assert_allclose(made.std(), deviation, rtol=0.03)
    bound = math.sqrt(3) if law == "uniform" else 2 / 0.87962566
    assert np.abs(made).max() <= deviation * bound * 1.0001


def test_other_names():
    for name in ("uniform", "normal"):
        pairs = (("xavier", "glorot"), ("kaiming", "he"))
        for other, first in pairs:
            assert getattr(initializers, f"{other}_{name}") is getattr(
                initializers, f"{first}_{name}"
            )


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
@pytest.mark.parametrize("law", ["uniform", "normal", "truncated_normal"])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.slow
def test_variance_scaling(mode, law, dtype):
    size = {
        "fan_in": FAN_IN,
        "fan_out": FAN_OUT,
        "fan_avg": (FAN_IN + FAN_OUT) / 2,
        "fan_geo_avg": math.sqrt(FAN_IN * FAN_OUT),
    }[mode]
    made = np.asarray(initializers.variance_scaling(1.5, mode, law)(KEY, SHAPE, dtype))
    assert made.dtype == dtype
    np.testing.assert_allclose(np.var(made), 1.5 / size, rtol=0.06)


def test_axes_of_inputs_outputs_and_batch():
    init = initializers.lecun_normal(in_axis=(1,), out_axis=2, batch_axis=0)
    made = np.asarray(init(KEY, (4, 100, 100)))
    np.testing.assert_allclose(made.std(), 0.1, rtol=0.03)


def test_constants():
    np.testing.assert_array_equal(initializers.zeros(KEY, (2,)), np.zeros(2))
    np.testing.assert_array_equal(initializers.ones(KEY, (2,), "int32"), np.ones(2))
    made = initializers.constant(np.arange(3.0))(KEY, (2, 3))
    np.testing.assert_array_equal(made, np.tile(np.arange(3), (2, 1)))
    assert made.dtype == np.float32


def test_plain_draws():
    drawn = np.asarray(initializers.normal(0.3)(KEY, (4,)))
    np.testing.assert_allclose(
        drawn, 0.3 * np.asarray(random.normal(KEY, (4,))), rtol=1e-6
    )
    drawn = np.asarray(initializers.uniform(0.3)(KEY, (500,)))
    assert 0 <= drawn.min() < 0.01 < 0.29 < drawn.max() < 0.3
    drawn = np.asarray(
        initializers.truncated_normal(0.3, lower=-1, upper=0.5)(KEY, (500,))
    )
    assert drawn.min() > -0.3
    assert drawn.max() < 0.15


def test_the_maker_s_dtype_is_the_default():
    init = initializers.he_normal(dtype="bfloat16")
    assert init(KEY, (2, 2)).dtype == "bfloat16"
    assert init(KEY, (2, 2), "float32").dtype == np.float32


@pytest.mark.slow
def test_initializers_under_jit_and_vmap():
    init = initializers.glorot_normal()
    want = np.asarray(init(KEY, (4, 5)))
    got = olympus.jit(lambda key: init(key, (4, 5)))(KEY)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    many = olympus.vmap(lambda key: init(key, (4, 5)))(random.split(KEY, 3))
    assert many.shape == (3, 4, 5)


@pytest.mark.parametrize("n", [2, 3, 5, 7, 10, 50])
@pytest.mark.parametrize("law", ["lecun_normal", "he_normal", "glorot_uniform"])
def test_the_scale_is_rounded_as_under_jit(law, n):
    draw = getattr(initializers, law)()
    shape, key = (n, 4), random.key(3)
    eager, jitted = draw(key, shape), olympus.jit(lambda key: draw(key, shape))(key)
    np.testing.assert_array_equal(eager, jitted)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 3, 4)])
def test_orthogonal(shape):
    made = np.asarray(initializers.orthogonal(2.0)(KEY, shape)).reshape(-1, shape[-1])
    small = made.T @ made if made.shape[0] >= made.shape[1] else made @ made.T
    np.testing.assert_allclose(small, 4 * np.eye(min(made.shape)), atol=1e-5)
    turned = np.asarray(initializers.orthogonal(column_axis=0)(KEY, (4, 6)))
    np.testing.assert_allclose(turned @ turned.T, np.eye(4), atol=1e-5)


@pytest.mark.parametrize("window", [(3,), (3, 5), (1, 2, 3)])
def test_delta_orthogonal(window):
    made = np.asarray(initializers.delta_orthogonal()(KEY, (*window, 4, 6)))
    middle = made[tuple((d - 1) // 2 for d in window)]
    np.testing.assert_allclose(middle @ middle.T, np.eye(4), atol=1e-5)
    np.testing.assert_allclose(np.abs(made).sum(), np.abs(middle).sum(), rtol=1e-5)


def test_made_functions_are_initializers():
    assert isinstance(initializers.normal(), initializers.Initializer)
    assert isinstance(initializers.zeros, initializers.Initializer)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: initializers.glorot_normal()(KEY, (3,)), ValueError, "at least 2D"),
        (lambda: initializers.orthogonal()(KEY, (3,)), ValueError, "at least a 2D"),
        (lambda: initializers.delta_orthogonal()(KEY, (3, 3)), ValueError, "3D, 4D"),
        (
            lambda: initializers.delta_orthogonal()(KEY, (3, 5, 4)),
            ValueError,
            "less or equal",
        ),
        (
            lambda: initializers.normal()(KEY, (3,), "int32"),
            ValueError,
            "must be float",
        ),
        (
            lambda: initializers.uniform()(KEY, (3,), "complex64"),
            ValueError,
            "floating",
        ),
        (
            lambda: initializers.variance_scaling(1.0, "x", "normal"),
            ValueError,
            "invalid mode",
        ),
        (
            lambda: initializers.variance_scaling(1.0, "fan_in", "x"),
            ValueError,
            "invalid distribution",
        ),
        (lambda: initializers.normal()(3, (3,)), TypeError, "key must be a random key"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
