"""Writing where masks hold: eager, traced, mixed with other indices."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

_X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4) - 7
_WHOLE = _X % 3 == 0
_LEADING = np.array([True, False])
_LAST = np.array([True, False, True, True])
_MIDDLE = np.array([[True, False, False, True]] * 2 + [[False] * 4])

# (mask, index by it): NumPy's own results decide where the mask's axis goes.
_INDICES = {
    "whole": (_WHOLE, lambda m: m),
    "leading": (_LEADING, lambda m: m),
    "last": (_LAST, lambda m: (..., m)),
    "two axes": (_MIDDLE, lambda m: (slice(None), m)),
    "part": (_LAST, lambda m: (slice(1, None), slice(None, None, -1), m)),
    "number beside": (_LAST, lambda m: (1, 2, m)),
    "number apart": (_LAST, lambda m: (1, slice(None), m)),
    "new axis": (_LEADING, lambda m: (None, m, ..., None)),
    "no axis": (np.array(True), lambda m: m),
    "nowhere": (np.zeros((2, 3), bool), lambda m: m),
}
_OPERATIONS = {
    "set": lambda x, i, v: v,
    "add": lambda x, i, v: x[i] + v,
    "multiply": lambda x, i, v: x[i] * v,
    "divide": lambda x, i, v: x[i] / v,
    "max": lambda x, i, v: np.maximum(x[i], v),
}


def _written(x, index, op, value):
    wanted = x.copy()
    wanted[index] = _OPERATIONS[op](x, index, value)
    return wanted


@pytest.mark.parametrize("case", _INDICES)
def test_numbers_are_set_where_a_traced_mask_holds(case):
    mask, index = _INDICES[case]
    wanted = _written(_X, index(mask), "set", 3.0)
    write = olympus.jit(lambda x, m: x.at[index(m)].set(3.0))
    np.testing.assert_array_equal(write(_X, mask), wanted)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", _OPERATIONS)
@pytest.mark.parametrize("case", _INDICES)
def test_operations_where_a_mask_holds(case, op):
    mask, index = _INDICES[case]
    wanted = _written(_X, index(mask), op, np.float32(3))

    def write(x, m):
        return getattr(x.at[index(m)], op)(3.0)

    np.testing.assert_allclose(write(jnp.asarray(_X), mask), wanted, rtol=1e-6)
    np.testing.assert_allclose(olympus.jit(write)(_X, mask), wanted, rtol=1e-6)


@pytest.mark.parametrize("case", ["whole", "leading", "number apart"])
def test_values_with_the_masks_shape_are_written_each_in_its_place(case):
    mask, index = _INDICES[case]
    if case == "number apart":  # the mask's axis comes first, as NumPy puts it
        values = -_X[1].T
        wanted = _written(_X, index(mask), "set", values[mask])
    else:
        values = -_X
        wanted = np.where(mask.reshape(mask.shape + (1,) * (3 - mask.ndim)), -_X, _X)
    write = lambda x, m, v: x.at[index(m)].set(v)  # noqa: E731
    np.testing.assert_array_equal(write(jnp.asarray(_X), mask, values), wanted)
    np.testing.assert_array_equal(olympus.jit(write)(_X, mask, values), wanted)


def test_values_behind_the_masks_axes_broadcast():
    wanted = _written(_X, _LEADING, "set", np.arange(4.0))
    write = olympus.jit(lambda x, m: x.at[m].set(jnp.arange(4.0)))
    np.testing.assert_array_equal(write(_X, _LEADING), wanted)


def test_values_for_each_place_need_a_known_mask():
    values = np.arange(float(_WHOLE.sum()), dtype=np.float32)
    wanted = _written(_X, _WHOLE, "set", values)
    np.testing.assert_array_equal(jnp.asarray(_X).at[_WHOLE].set(values), wanted)
    write = olympus.jit(lambda x, m: x.at[m].set(values))
    with pytest.raises(olympus.errors.NonConcreteBooleanIndexError) as caught:
        write(_X, _WHOLE)
    message = str(caught.value)
    assert "the mask's shape (2, 3, 4), got shape (8,)" in message
    assert "nonzero(mask, size=" in message


def test_reading_by_a_traced_mask_tells_what_to_write_instead():
    with pytest.raises(olympus.errors.NonConcreteBooleanIndexError) as caught:
        olympus.jit(lambda x: x[x > 0])(_X)
    message = str(caught.value)
    assert "bool[2,3,4]" in message
    assert __file__ in message  # the user's function
    assert "where(mask, x, y)" in message
    assert "size=" in message


@pytest.mark.parametrize("traced", [True, False])
def test_masks_of_another_shape_are_refused(traced):
    mask = np.ones(5, bool)
    write = lambda m: jnp.asarray(_X).at[:, m].set(0.0)  # noqa: E731
    with pytest.raises(IndexError, match="in index 1: got 5, expected 3"):
        (olympus.jit(write) if traced else write)(mask)


def test_gradients_through_masked_writing():
    def loss(x, v):
        return (x.at[_WHOLE].multiply(v) * _X).sum()

    g, h = olympus.grad(loss, argnums=(0, 1))(_X, 2.0)
    np.testing.assert_allclose(g, np.where(_WHOLE, 2 * _X, _X))
    np.testing.assert_allclose(h, (_X * _X)[_WHOLE].sum())


def test_masks_of_a_batch():
    rows, masks = _X[0], _X[0] % 2 == 0
    found = olympus.vmap(lambda x, m: x.at[m].set(0.0))(rows, masks)
    np.testing.assert_array_equal(found, np.where(masks, 0, rows))


def test_a_function_applied_where_a_mask_holds():
    found = olympus.jit(lambda x, m: x.at[m].apply(jnp.negative))(_X, _WHOLE)
    np.testing.assert_array_equal(found, np.where(_WHOLE, -_X, _X))


@pytest.mark.parametrize(("mode", "row"), [("clip", 1), ("drop", None)])
def test_numbers_outside_beside_a_mask(mode, row):
    wanted = _X.copy()
    if row is not None:
        wanted[row, 2, _LAST] = 0
    write = olympus.jit(lambda x, m, i: x.at[i, 2, m].set(0.0, mode=mode))
    for i in (7, 2):
        np.testing.assert_array_equal(write(_X, _LAST, i), wanted)


@pytest.mark.parametrize("mask", [(3, 0), (0,), (0, 3)])
def test_masks_without_elements_fit_any_size(mask):
    x, none = np.arange(9.0, dtype="f4").reshape(3, 3), np.zeros(mask, bool)
    assert jnp.asarray(x)[none].shape == (0, *x.shape[len(mask) :])
    np.testing.assert_array_equal(jnp.asarray(x).at[none].set(5), x)
