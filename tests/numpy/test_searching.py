"""Searches in sorted vectors, and positions of known number, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

METHODS = ("scan", "scan_unrolled", "sort", "compare_all")


def _line_and_values(dtype, n, rng):
    line = rng.integers(0, 20, n).astype(dtype)
    values = rng.integers(0, 22, (3, 7)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        line[rng.random(n) < 0.2] = np.nan
        values[0, :3] = [np.nan, np.inf, -np.inf]
    return np.sort(line), values


@pytest.mark.slow
@pytest.mark.sampled(10)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 1000])
def test_places_in_a_sorted_vector(method, side, dtype, n, rng):
    line, values = _line_and_values(dtype, n, rng)
    found = jnp.searchsorted(line, values, side, method=method)
    np.testing.assert_array_equal(found, np.searchsorted(line, values, side))


@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_search_long_enough_for_a_loop(side, rng):
    line, _ = _line_and_values("float32", 5000, rng)
    values = rng.integers(-1, 22, 40).astype(np.float32)
    values[:3] = [np.nan, np.inf, -np.inf]
    wanted = np.searchsorted(line, values, side)
    np.testing.assert_array_equal(jnp.searchsorted(line, values, side), wanted)
    rows = np.stack([line, np.sort(line * 2)])
    found = olympus.vmap(lambda r: jnp.searchsorted(r, values, side))(rows)
    wanted = [np.searchsorted(r, values, side) for r in rows]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_search_does_not_read_all_of_the_line(side):
    line = jnp.zeros(100_000)
    search = olympus.jit(lambda a, v: jnp.searchsorted(a, v, side))
    text = search.lower(line, jnp.zeros(3)).as_text()
    readers = [row for row in text.splitlines() if "<100000xf32>" in row]
    allowed = ("func.func", "stablehlo.while", "gather", "stablehlo.return", "call @")
    others = [row for row in readers if not any(part in row for part in allowed)]
    assert not others


@pytest.mark.parametrize("side", ["left", "right"])
def test_nan_in_lines_that_are_halved(side):
    line = np.full(40_000, np.nan, np.float32)
    line[:30_001] = np.arange(30_001)
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 7], np.float32)
    places = jnp.searchsorted(line, values, side, method="scan_unrolled")
    np.testing.assert_array_equal(places, np.searchsorted(line, values, side))


def test_methods_that_are_not_there():
    for search in (jnp.searchsorted, jnp.digitize):
        with pytest.raises(ValueError, match="'compare_all'"):
            search(np.arange(3.0), np.arange(3.0), method="guess")


def test_compress_refuses_conditions_beyond_the_axis():
    x = jnp.arange(3)
    assert jnp.compress(np.array([True, False, True, False]), x).tolist() == [0, 2]
    with pytest.raises(ValueError, match="position 3 of an axis of size 3"):
        jnp.compress(np.array([True, False, True, True]), x)


def test_compress_of_known_size():
    x = jnp.arange(6).reshape(2, 3)
    for condition, wanted in [
        ([True, False, True], [[0, 2, 9], [3, 5, 9]]),
        ([False, True], [[1, 9, 9], [4, 9, 9]]),
        ([], [[9, 9, 9], [9, 9, 9]]),
        ([False, True, False, True], [[1, 9, 9], [4, 9, 9]]),
    ]:
        mask = np.array(condition, bool)
        found = jnp.compress(mask, x, axis=1, size=3, fill_value=9)
        assert found.tolist() == wanted


@pytest.mark.parametrize(
    ("own", "others", "axis"),
    [
        ((3, 4), (3, 2), 1),
        ((3, 4), (1, 5), 1),
        ((1, 4), (3, 5), 1),
        ((2, 3, 4), (2, 6, 1), 1),
        ((2, 1, 4), (1, 3, 2), 2),
        ((3, 4), (0, 4), 0),
    ],
)
def test_elements_along_an_axis(own, others, axis, rng):
    x = rng.normal(size=own).astype(np.float32)
    at = rng.integers(-own[axis], own[axis], others)
    shape = list(np.broadcast_shapes(*[_without(s, axis) for s in (own, others)]))
    full = [list(shape), list(shape)]
    full[0][axis], full[1][axis] = own[axis], others[axis]
    wanted = np.take_along_axis(
        np.broadcast_to(x, full[0]), np.broadcast_to(at, full[1]), axis
    )
    np.testing.assert_array_equal(jnp.take_along_axis(x, at, axis), wanted)
    traced = olympus.jit(lambda x, i: jnp.take_along_axis(x, i, axis))(x, at)
    np.testing.assert_array_equal(traced, wanted)


def _without(shape, axis):
    return tuple(1 if i == axis else n for i, n in enumerate(shape))


def test_positions_outside_along_an_axis():
    # Recorded of jax 0.10.2.
    x, at = jnp.arange(3.0), jnp.array([-4, -1, 3])
    get = lambda **options: jnp.take_along_axis(x, at, 0, **options)  # noqa: E731
    np.testing.assert_array_equal(get(), [np.nan, 2, np.nan])
    np.testing.assert_array_equal(get(mode="fill", fill_value=7), [7, 2, 7])
    np.testing.assert_array_equal(get(mode="clip"), [0, 2, 2])
    np.testing.assert_array_equal(get(wrap_negative_indices=False), [np.nan] * 3)
    np.testing.assert_array_equal(jnp.take(x, at, mode="wrap"), [2, 2, 0])
    np.testing.assert_array_equal(jnp.take(x, at, mode="clip"), [0, 0, 2])


@pytest.mark.parametrize("function", ["choose", "ravel_multi_index"])
def test_positions_that_must_be_seen_to_be_refused(function):
    call = {
        "choose": lambda i: jnp.choose(i, [i, i]),
        "ravel_multi_index": lambda i: jnp.ravel_multi_index((i, i), (2, 2)),
    }[function]
    with pytest.raises(olympus.errors.ConcretizationTypeError, match="mode='wrap'"):
        olympus.jit(call)(np.array([0, 1]))


def test_put_counts_negative_positions_from_the_end_unless_clipped():
    # Recorded of jax 0.10.2.
    x, at, v = jnp.arange(5.0), np.array([2, -2, 9]), jnp.array([7.0, 8.0])
    put = lambda **options: jnp.put(x, at, v, inplace=False, **options)  # noqa: E731
    np.testing.assert_array_equal(put(), [0, 1, 7, 8, 7])
    np.testing.assert_array_equal(put(mode="clip"), [8, 1, 7, 3, 7])
    np.testing.assert_array_equal(put(mode="wrap"), [0, 1, 7, 8, 7])
    with pytest.raises(ValueError, match="'wrap' or 'clip'"):
        put(mode="fill")


def test_positions_of_grids():
    sizes, at = (20, 3, 4), np.array([5, -30, 239, 500])
    found = jnp.unravel_index(at.astype(np.int16), sizes)
    inside = np.clip(np.where(at < 0, at + 240, at), 0, 239)
    np.testing.assert_array_equal(found, np.unravel_index(inside, sizes))
    narrow = jnp.unravel_index(np.array([100, -1], np.int8), sizes)
    assert narrow[0].dtype == np.int8
    np.testing.assert_array_equal(narrow, np.unravel_index([100, 239], sizes))
    assert jnp.unravel_index(7, (3, 4))[0].weak_type
    pairs = (np.array([1, 2]), np.array([3, 5]))
    flat = jnp.ravel_multi_index(pairs, (3, 4), mode="ignore")
    np.testing.assert_array_equal(flat, [7, 13])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: jnp.take(x, np.array([1.0])), ValueError),
        (lambda x: jnp.take(x, 1, mode="nearest"), ValueError),
        (lambda x: jnp.unravel_index(1.5, (3, 4)), TypeError),
        (lambda x: jnp.ravel_multi_index((0.5, 1), (3, 4)), ValueError),
        (lambda x: jnp.ravel_multi_index((0, 1), (3, 4), order="X"), ValueError),
        (lambda x: jnp.ravel_multi_index((0, 1), (3, 4), mode="X"), ValueError),
        (lambda x: jnp.choose(np.array([0]), []), ValueError),
        (lambda x: jnp.choose(np.array([0]), [1], mode="X"), ValueError),
        (lambda x: jnp.diag_indices(2.5), TypeError),
        (lambda x: jnp.tril_indices(-1), TypeError),
        (lambda x: jnp.indices((-1, 2)), TypeError),
        (lambda x: jnp.delete(x, np.array([0, 9]), axis=0), IndexError),
        (lambda x: jnp.take_along_axis(x, np.ones((3, 1), int), 1), ValueError),
        (lambda x: olympus.lax.dynamic_slice(x, (0,), (1, 1)), ValueError),
    ],
)
def test_errors_have_the_kinds_that_the_field_knows(call, error):
    with pytest.raises(error):
        call(jnp.ones((2, 3)))


def test_choices_have_strong_types():
    assert not jnp.choose(np.array([0, 1]), [1, 2]).weak_type


def test_complex_numbers_have_bins_by_real_parts_first() -> None:
    z = np.array([1 + 2j, 3 - 1j, 1 + 1j], np.complex64)
    bins = np.sort(z)
    expected = np.searchsorted(bins, z, side="right")
    np.testing.assert_array_equal(jnp.digitize(z, bins), expected)
