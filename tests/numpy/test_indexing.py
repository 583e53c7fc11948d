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


@pytest.mark.slow
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


@pytest.mark.slow
@_QUICK
@given(_advanced())
def test_integer_arrays_read_as_numpy(case):
    shape, index = case
    x = _values(shape)
    np.testing.assert_array_equal(jnp.asarray(x)[index], x[index])


@pytest.mark.sampled(3)
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


def test_repeated_positions_are_applied_to_as_often():
    # As jax 0.10.2 does: x.at[jnp.array([0, 0, 2])].apply(lambda v: v * 2).
    x = jnp.arange(1.0, 4.0)
    found = x.at[jnp.array([0, 0, 2])].apply(lambda v: v * 2)
    np.testing.assert_array_equal(found, [4.0, 2.0, 6.0])
    found = x.at[jnp.array([0, -7, 9])].apply(lambda v: v * 2)
    np.testing.assert_array_equal(found, [2.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("dtype", "op", "value", "wanted"),
    [
        ("int32", "multiply", 0.5, [2, 1, 5]),
        ("int32", "add", 0.75, [4, 3, 5]),
        ("uint8", "min", np.int32(-2), [254, 254, 5]),
        ("bool", "add", np.float32([-1, 2]), [False, True, True]),
        ("int32", "set", 2.75, [2, 2, 5]),
    ],
)
def test_values_that_do_not_fit_are_computed_with_before_conversion(
    dtype, op, value, wanted
):
    # Recorded of jax 0.10.2.
    x = jnp.array([4, 3, 5]).astype(dtype)
    with pytest.warns(FutureWarning, match="cannot safely cast"):
        found = getattr(x.at[jnp.array([0, 1])], op)(value)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(wanted, dtype))


@pytest.mark.parametrize("traced", [True, False])
def test_axes_without_positions(traced):
    x = jnp.zeros((0, 3))
    run = olympus.jit if traced else lambda f: f
    for read in (lambda v: v[0], lambda v: v[1:, -1][2], lambda v: v.at[0].set(1.0)):
        with pytest.raises(IndexError, match="axis 0 with size 0"):
            run(read)(x)
    with pytest.raises(IndexError, match="axis 0 with size 0"):
        run(lambda v, i: v[i])(x, jnp.array([0]))
    with pytest.raises(IndexError, match="axis 0 with size 0"):
        run(lambda v, i: v[i])(x, jnp.asarray(0))
    assert run(lambda v, i: v[i])(x, jnp.zeros(0, int)).shape == (0, 3)
    assert run(lambda v, i: v.at[i].add(1.0))(x, jnp.array([0])).shape == (0, 3)


def test_derivatives_where_positions_are_known_to_be_distinct():
    x = jnp.arange(1.0, 5.0)
    scaled = olympus.grad(lambda v: x.at[::-2].multiply(v).sum())
    assert scaled(3.0) == 2.0 + 4.0
    assert olympus.grad(lambda v: x.at[jnp.asarray(1)].divide(v).sum())(2.0) == -0.5


@pytest.mark.parametrize("value", [2, 0.5])
def test_writing_everywhere_keeps_the_type(value):
    for x in (jnp.ones(3), jnp.asarray(1.0), jnp.ones((2, 2))):
        out = x.at[...].set(value)
        assert (out.dtype, out.weak_type) == (x.dtype, x.weak_type)


def test_lists_beside_other_indices_are_arrays():
    x = _values((3, 4))
    for index in [
        (0, [1, 2]),
        ([0, 1], [1, 2]),
        ([[0], [1]], (1, 2)),
        ([1, 2],),
        (..., [0, -3]),
        (0, []),
        (0, [True, False, True, False]),
    ]:
        wanted = x[tuple(list(i) if isinstance(i, tuple) else i for i in index)]
        np.testing.assert_array_equal(jnp.asarray(x)[index], wanted)
    found = olympus.jit(lambda v, i: v[0, [i, 2]])(x, 1)
    np.testing.assert_array_equal(found, x[0, [1, 2]])


def test_lists_as_values():
    x = jnp.zeros((2, 3))
    np.testing.assert_array_equal(x.at[0].set([1, 2, 3])[0], [1, 2, 3])
    np.testing.assert_array_equal(x.at[0].add((1, 2, jnp.int32(3)))[0], [1, 2, 3])


def test_an_ellipsis_without_axes_sets_arrays_apart():
    x, i = _values((2, 3, 4)), np.array([0, 1])
    for index in [(slice(None), i, ..., i), (i, ..., i, slice(None)), (0, ..., i, i)]:
        np.testing.assert_array_equal(jnp.asarray(x)[index], x[index])
    wanted = x.copy()
    wanted[:, i, ..., i] = np.array([[1, 2], [3, 4]])
    found = jnp.asarray(x).at[:, i, ..., i].set(np.array([[1, 2], [3, 4]]))
    np.testing.assert_array_equal(found, wanted)


def test_positions_of_narrow_dtypes_count_from_the_end_of_long_axes():
    x = jnp.arange(300.0)
    assert x[jnp.int8(-1)] == 299
    assert olympus.vmap(lambda i: x[i])(jnp.array([-1, 3], "int8")).tolist() == [299, 3]
    assert x.at[jnp.int8(-1)].set(7.0)[-1] == 7
    assert x[jnp.array([200], "uint8")][0] == 200
    assert jnp.take(x, jnp.array([-1, 100], "int8"), mode="wrap").tolist() == [299, 100]


@pytest.mark.parametrize(
    ("index", "error", "message"),
    [
        ({}, IndexError, "only integers, slices"),
        (range(2), TypeError, "non-tuple sequence"),
        (slice("a"), TypeError, "bounds and steps of slices"),
        (np.array([1.5]), TypeError, "integer or boolean type"),
        (slice(None, None, 0), ValueError, "step"),
        (np.array([True, False]), IndexError, "got 2, expected 3"),
    ],
    ids=str,
)
@pytest.mark.parametrize("write", [False, True])
def test_what_is_said_of_refused_indices(index, error, message, write):
    x = jnp.ones((3, 4))
    with pytest.raises(error, match=message):
        _ = x.at[index].set(1.0) if write else x[index]


def test_a_number_known_to_be_outside_writes_nothing():
    x = jnp.arange(3.0)
    for index in (5, -7, np.array(3)):
        for mode in (None, "drop", "promise_in_bounds"):
            np.testing.assert_array_equal(x.at[index].add(9.0, mode=mode), x)
