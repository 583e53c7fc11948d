"""Axes read at runs of positions, as padding by mirrors, copies and edges does."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export
from olympus._src.lax import runs
from olympus._src.lax.kernels import thresholds

MODES = ("edge", "wrap", "reflect", "symmetric")
X = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4) ** 1.5
WIDTHS = ((0, 0), (2, 1), (3, 2))


@pytest.fixture(params=["slices", "positions"])
def form(request, monkeypatch):
    """Which form large and small results have alike."""
    least = 0 if request.param == "positions" else 1 << 60
    monkeypatch.setattr(thresholds, "BYTES_READ_BY_POSITION", least)
    return request.param


def text_of(f, *args):
    return olympus.jit(f).lower(*args).as_text()


def matrix_of(mode, x=X, widths=WIDTHS):
    """The matrix that padding applies to the elements, by NumPy."""
    places = np.pad(np.arange(x.size).reshape(x.shape), widths, mode).reshape(-1)
    return np.eye(x.size, dtype=np.float32)[places]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype", ["float32", "bfloat16", "int8", "int4", "bool", "complex64"]
)
def test_values(form, mode, dtype):
    kind = getattr(ml_dtypes, dtype, dtype)
    x = (X % 7).astype(kind)
    got = olympus.jit(lambda x: jnp.pad(x, WIDTHS, mode))(x)
    np.testing.assert_array_equal(np.asarray(got), np.pad(x, WIDTHS, mode))
    assert got.dtype == x.dtype


def test_the_form_that_is_lowered(form):
    text = text_of(lambda x: jnp.pad(x, WIDTHS, "wrap"), X)
    assert ("stablehlo.gather" in text) == (form == "positions")
    assert ("stablehlo.concatenate" in text) == (form == "slices")


def test_results_in_a_cache_and_along_one_axis_are_slices():
    def pad(x, widths):
        return jnp.pad(x, widths, "reflect")

    wide = np.zeros((1200, 1200), np.float32)
    assert "gather" in text_of(lambda x: pad(x, 1), wide)
    assert "gather" not in text_of(lambda x: pad(x, ((0, 0), (1, 1))), wide)
    assert "gather" not in text_of(lambda x: pad(x, 1), wide[:800])


@pytest.mark.parametrize("mode", MODES)
def test_derivatives(form, mode):
    weights = np.linspace(-1, 1, matrix_of(mode).shape[0], dtype=np.float32)

    def f(x):
        return (jnp.sin(jnp.pad(x, WIDTHS, mode).reshape(-1)) * weights).sum()

    a, flat = matrix_of(mode), X.reshape(-1)
    slope = a.T @ (np.cos(a @ flat) * weights)
    got = olympus.jit(olympus.grad(f))(X)
    np.testing.assert_allclose(got.reshape(-1), slope, rtol=1e-4, atol=1e-5)
    curve = a.T @ np.diag(-np.sin(a @ flat) * weights) @ a
    got = olympus.jit(olympus.hessian(f))(X).reshape(X.size, X.size)
    np.testing.assert_allclose(got, curve, rtol=1e-4, atol=1e-5)
    _, tangent = olympus.jit(lambda x, t: olympus.jvp(f, (x,), (t,)))(X, X)
    np.testing.assert_allclose(tangent, slope @ flat, rtol=1e-4)


def test_derivatives_add_no_single_elements(form):
    def f(x):
        return (jnp.pad(x, WIDTHS, "symmetric") ** 2).sum()

    assert "scatter" not in text_of(olympus.grad(f), X)


@pytest.mark.parametrize("in_axes", [0, 2])
def test_mapped(form, in_axes):
    x = np.moveaxis(np.stack([X, X + 1]), 0, in_axes)
    f = olympus.vmap(lambda x: jnp.pad(x, WIDTHS, "wrap"), in_axes)
    want = [np.pad(v, WIDTHS, "wrap") for v in (X, X + 1)]
    np.testing.assert_array_equal(olympus.jit(f)(x), want)
    np.testing.assert_array_equal(f(x), want)


def test_programs_for_other_processes_are_slices(form):
    """Sizes may be symbolic there, and devices may divide the arrays."""
    (n,) = export.symbolic_shape("n")
    kind = olympus.ShapeDtypeStruct((n, 3, 4), np.float32)
    exported = export.export(olympus.jit(lambda x: jnp.pad(x, WIDTHS, "wrap")))(kind)
    assert "gather" not in exported.mlir_module()
    np.testing.assert_array_equal(exported.call(X), np.pad(X, WIDTHS, "wrap"))


@pytest.mark.eight_devices
def test_divided_arrays(form):
    mesh = olympus.make_mesh((2,), ("x",))
    place = olympus.sharding.NamedSharding(mesh, olympus.P("x"))
    f = olympus.jit(lambda x: jnp.pad(x, WIDTHS, "wrap"), out_shardings=place)
    divided = olympus.device_put(X, place)
    assert "gather" not in f.lower(divided).as_text()
    np.testing.assert_array_equal(f(divided), np.pad(X, WIDTHS, "wrap"))


def test_runs_of_positions():
    places = np.array([5, 4, 4, 4, 5, 6, 1, 9])
    row = runs.find_runs(places)
    listed = [run.start + np.arange(run.size) * run.step for run in row]
    np.testing.assert_array_equal(np.concatenate(listed), places)
    assert row[:3] == [(5, 2, -1), (4, 2, 0), (5, 2, 1)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([(0, 4, 1)], r"positions on the operand's axes.*axis 0 of f32\[3\]"),
        ([(1, 3, -1)], "positions on the operand's axes"),
        ([(0, 2, 2)], "in steps of 1, 0 or -1"),
    ],
)
def test_runs_outside_are_refused(row, message):
    with pytest.raises(ValueError, match=message):
        runs.take_runs(np.zeros(3, "f"), [[runs.Run(*run) for run in row]])


def test_each_axis_has_an_entry():
    with pytest.raises(TypeError, match="an entry for each of the operand's 1 axes"):
        runs.take_runs(np.zeros(3, "f"), [None, None])


def test_keys_are_moved_and_may_not_come_twice(form):
    keys = olympus.random.split(olympus.random.key(0), (3, 4))
    data = np.asarray(olympus.random.key_data(keys))
    got = olympus.jit(lambda k: jnp.pad(k, 1, "wrap"))(keys)
    want = np.pad(data, ((1, 1), (1, 1), (0, 0)), "wrap")
    np.testing.assert_array_equal(olympus.random.key_data(got), want)

    def draw(k):
        return olympus.random.bits(jnp.pad(k, 1, "wrap")[0, 0])

    with (
        olympus.debug_key_reuse(True),
        pytest.raises(olympus.errors.KeyReuseError, match="the same key at two places"),
    ):
        olympus.jit(draw)(keys)
