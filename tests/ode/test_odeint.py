"""Solutions of differential equations, beside SciPy's and JAX's; their gradients."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import olympus
import olympus.numpy as jnp
from olympus import test_util, tree
from olympus.experimental import ode
from olympus.experimental.ode import odeint
from tests.ode import cases

PATH = pathlib.Path(__file__).parents[1] / "data" / "ode.json"
DATA = json.loads(PATH.read_text())
TIMES = np.linspace(0.0, 2.0, 4)
LONG = ("gradient of pendulum", "mapped", "second derivative", "longest step")


def decay(y, t, k):
    return -k * y


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in DATA],
)
def test_recorded(name, x64):
    leaves = tree.leaves(cases.cases("olympus")[name]())
    for leaf, expected in zip(leaves, DATA[name], strict=True):
        np.testing.assert_allclose(np.ravel(leaf), expected, rtol=2e-6, atol=2e-7)


def test_a_system_beside_scipy(x64):
    def lorenz(t, y, s, r, b):
        return np.array(
            [s * (y[1] - y[0]), y[0] * (r - y[2]) - y[1], y[0] * y[1] - b * y[2]]
        )

    def traced(y, t, s, r, b):
        x, v, z = y
        return jnp.stack([s * (v - x), x * (r - z) - v, x * v - b * z])

    args, start = (10.0, 28.0, 8 / 3), np.ones(3)
    exact = solve_ivp(
        lorenz, (0, 2), start, t_eval=TIMES, args=args, rtol=1e-11, atol=1e-11
    )
    ys = odeint(traced, start, TIMES, *args, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ys, exact.y.T, rtol=1e-5)


@pytest.mark.slow
def test_gradients_agree_with_differences(x64):
    def final(y, t, k):
        return odeint(lambda y, t, k: jnp.sin(k @ y) * t, y, t, k, rtol=1e-9, atol=1e-9)

    rng = np.random.default_rng(0)
    args = rng.normal(size=2), np.array([0.1, 0.5, 0.5, 1.2]), rng.normal(size=(2, 2))
    test_util.check_grads(final, args, order=1, modes=["rev"], atol=1e-5, rtol=1e-5)


def test_time_may_fall():
    ys = odeint(decay, 1.0, -TIMES.astype(np.float32), 1.5)
    np.testing.assert_allclose(ys, np.exp(1.5 * TIMES), rtol=1e-5)
    slope = olympus.grad(lambda k: odeint(decay, 1.0, jnp.array([2.0, 0.0]), k)[-1])(
        1.5
    )
    np.testing.assert_allclose(slope, 2 * np.exp(3.0), rtol=1e-4)


def test_what_is_not_reached_is_nan():
    ys = odeint(decay, 1.0, TIMES.astype(np.float32), 1.0, mxstep=2)
    assert ys[0] == 1
    assert np.isnan(ys[-1])
    # It grows beyond all bounds at 1.
    ys = odeint(lambda y, t: y**2, 1.0, jnp.array([0.0, 0.5, 2.0]))
    np.testing.assert_allclose(ys[1], 2.0, rtol=1e-4)
    assert not np.isfinite(ys[2])


def test_integers_and_closures_have_no_part_in_the_gradient_or_their_own():
    k = jnp.array([1.0, 2.0])
    times = jnp.array([0.0, 1.0])

    def loss(k):
        return odeint(lambda y, t, i, n: -n * k[i] * y, 1.0, times, 1, 1.0)[-1]

    np.testing.assert_allclose(olympus.grad(loss)(k), [0, -np.exp(-2.0)], rtol=1e-4)


def test_helpers_take_steps():
    y0, f0 = jnp.ones(2), -jnp.ones(2)
    y1, f1, error, slopes = ode.runge_kutta_step(lambda y, t: -y, y0, f0, 0.0, 0.2)
    np.testing.assert_allclose(y1, np.exp(-0.2), rtol=1e-6)
    np.testing.assert_allclose(f1, -y1)
    assert np.max(np.abs(error)) < 1e-4
    fit = ode.interp_fit_dopri(y0, y1, slopes, 0.2)
    np.testing.assert_allclose(jnp.polyval(fit, 0.3), np.exp(-0.06), rtol=1e-6)
    assert ode.optimal_step_size(1.0, 1e9) == np.float32(0.2)
    assert ode.optimal_step_size(1.0, 0.0) == 10


def test_states_of_16_bits_are_solved_to_their_precision():
    y0 = jnp.ones(2, "bfloat16")
    out = odeint(decay, y0, TIMES.astype(np.float32), 1.0, rtol=4e-3, atol=4e-3)
    assert out.dtype == "bfloat16"
    expected = np.exp(-(TIMES - TIMES[0]))[:, None].repeat(2, 1)
    np.testing.assert_allclose(np.float32(out), expected, atol=0.02)


ERRORS = [
    (TypeError, "func must be a function", lambda t: odeint(3, 1.0, t)),
    (TypeError, "y0 must be arrays", lambda t: odeint(decay, "y", t, 1.0)),
    (TypeError, r"\*args must be arrays", lambda t: odeint(decay, 1.0, t, "k")),
    (
        TypeError,
        "vector of floats, got i32",
        lambda t: odeint(decay, 1.0, t.astype("i")),
    ),
    (TypeError, "vector of floats, got f32", lambda t: odeint(decay, 1.0, t[None])),
    (ValueError, "got no times", lambda t: odeint(decay, 1.0, t[:0])),
    (
        ValueError,
        "rtol or atol must be at least 9.8e-04 for a state of bfloat16",
        lambda t: odeint(decay, jnp.ones(2, "bfloat16"), t, 1.0),
    ),
    (TypeError, "must be like the state", lambda t: odeint(lambda y, t: (y,), 1.0, t)),
    (
        TypeError,
        "must be like the state",
        lambda t: odeint(lambda y, t: y[None], 1.0, t),
    ),
]


@pytest.mark.parametrize(("kind", "message", "call"), ERRORS)
def test_errors(kind, message, call):
    with pytest.raises(kind, match=message):
        call(TIMES.astype(np.float32))
