"""Reading and updating by index, against NumPy, over generated indices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import olympus
import olympus.numpy as jnp

_QUICK = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
_SHAPES = st.sampled_from([(4,), (3, 4), (2, 3, 4), (1, 5)])


@st.composite
def _basic(draw):
    shape = draw(_SHAPES)
    index = draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    return shape, index


@st.composite
def _advanced(draw):
    """Integer arrays on some axes, beside slices and numbers."""
    shape = draw(_SHAPES)
    common = draw(st.sampled_from([(), (2,), (2, 1), (3, 2)]))
    index = []
    for size in shape:
        kind = draw(st.sampled_from(["array", "slice", "number"]))
        if kind == "slice":
            index.append(draw(st.slices(size)))
        elif kind == "number":
            index.append(draw(st.integers(-size, size - 1)))
        else:
            inside = st.integers(-size, size - 1)
            index.append(draw(hnp.arrays(np.int32, common, elements=inside)))
    return shape, tuple(index)


def _values(shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


@_QUICK
@given(_basic())
def test_basic_indices_read_as_numpy(case):
    shape, index = case
    x = _values(shape)
    np.testing.assert_array_equal(jnp.asarray(x)[index], x[index])


@_QUICK
@given(_basic())
@pytest.mark.slow
def test_basic_indices_of_traced_arrays(case):
    shape, index = case
    x = _values(shape)
    np.testing.assert_array_equal(olympus.jit(lambda v: v[index])(x), x[index])


@_QUICK
@given(_advanced())
def test_integer_arrays_read_as_numpy(case):
    shape, index = case
    x = _values(shape)
    np.testing.assert_array_equal(jnp.asarray(x)[index], x[index])


@pytest.mark.parametrize("op", ["set", "add", "multiply", "min", "max"])
@_QUICK
@given(_basic())
@pytest.mark.slow
def test_basic_indices_update_as_numpy(op, case):
    shape, index = case
    x = _values(shape)
    wanted = x.copy()
    change = {
        "set": lambda old: 7.0,
        "add": lambda old: old + 7,
        "multiply": lambda old: old * 7,
        "min": lambda old: np.minimum(old, 7),
        "max": lambda old: np.maximum(old, 7),
    }[op]
    wanted[index] = change(wanted[index])
    found = getattr(jnp.asarray(x).at[index], op)(7.0)
    np.testing.assert_array_equal(found, wanted)


@_QUICK
@given(_advanced())
@pytest.mark.slow
def test_sums_over_repeated_positions(case):
    shape, index = case
    x = _values(shape)
    wanted = x.copy()
    np.add.at(wanted, index, 1.0)
    np.testing.assert_array_equal(jnp.asarray(x).at[index].add(1.0), wanted)


@pytest.mark.parametrize("index", [0, -1, 2, (1, -1), (slice(None), 0)], ids=str)
def test_a_traced_number_reads_as_a_known_one(index):
    x = _values((3, 4))
    numbers = index if isinstance(index, tuple) else (index,)

    def read(v, *given):
        given = iter(given)
        return v[tuple(i if isinstance(i, slice) else next(given) for i in numbers)]

    traced = [i for i in numbers if not isinstance(i, slice)]
    np.testing.assert_array_equal(olympus.jit(read)(x, *traced), x[index])


def test_positions_out_of_range():
    x = jnp.arange(3.0)
    assert x[jnp.array([5])][0] == 2
    assert x.at[jnp.array([5])].get(mode="fill", fill_value=-1)[0] == -1
    np.testing.assert_array_equal(x.at[jnp.array([5])].set(9.0), x)


@pytest.mark.parametrize("known", [True, False])
def test_negative_positions_out_of_range(known):
    x, i = jnp.arange(3.0), np.array([-5, -1])
    i = i if known else jnp.asarray(i)
    np.testing.assert_array_equal(x.at[i].get(mode="clip"), [0, 2])
    np.testing.assert_array_equal(x.at[i].get(mode="fill", fill_value=7), [7, 2])
    np.testing.assert_array_equal(x.at[i].set(9.0), [0, 1, 9])
    np.testing.assert_array_equal(x.at[i].set(9.0, mode="clip"), [9, 1, 9])


def test_masks():
    x = _values((3, 4))
    mask = x % 3 == 0
    np.testing.assert_array_equal(jnp.asarray(x)[mask], x[mask])
    np.testing.assert_array_equal(jnp.asarray(x)[mask[:, 0]], x[mask[:, 0]])
    wanted = x.copy()
    wanted[mask] = -1
    np.testing.assert_array_equal(jnp.asarray(x).at[mask].set(-1.0), wanted)
    with pytest.raises(olympus.errors.NonConcreteBooleanIndexError):
        olympus.jit(lambda v: v[v > 0])(x)


@pytest.mark.parametrize("index", [-9, -6, -5, 4, 9])
def test_positions_outside_are_the_nearest_when_read_and_nowhere_when_written(index):
    x = _values((4,))
    nearest = x[0] if index < 0 else x[3]
    for i in (index, jnp.asarray(index)):
        assert jnp.asarray(x)[i] == nearest
        assert olympus.jit(lambda v, i=i: v[i])(x) == nearest
        np.testing.assert_array_equal(jnp.asarray(x).at[i].set(9.0), x)


@pytest.mark.parametrize("index", [-5, -2, 1])
def test_negative_positions_are_outside_where_they_do_not_wrap(index):
    x = jnp.asarray(_values((4,)))
    for i in (index, jnp.asarray(index), jnp.asarray([index]), np.array([index])):
        clipped = x.at[i].get(mode="clip", wrap_negative_indices=False)
        assert clipped.reshape(()) == x[max(index, 0)]
        filled = x.at[i].get(mode="fill", wrap_negative_indices=False)
        assert np.isnan(filled.reshape(())) == (index < 0)
        written = np.array(x.at[i].set(9.0, wrap_negative_indices=False))
        assert (written == 9.0).tolist() == [k == index for k in range(4)]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ([0, 1], TypeError),
        ("a", TypeError),
        (1.0, TypeError),
        ((0, 0, 0), IndexError),
        ((..., ...), IndexError),
    ],
    ids=str,
)
def test_indices_that_are_refused(index, error):
    with pytest.raises(error):
        jnp.ones((2, 3))[index]


def test_reading_and_writing_are_each_others_transpose():
    x = _values((3, 4))
    index = (np.array([0, 2, 2]), slice(1, None))
    g = olympus.grad(lambda v: (v[index] * 2.0).sum())(x)
    wanted = np.zeros_like(x)
    np.add.at(wanted, index, 2.0)
    np.testing.assert_array_equal(g, wanted)
