"""Cosine transforms, interpolation, coordinates and codes against SciPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.fft
import scipy.interpolate
import scipy.ndimage

import olympus
import olympus.numpy as jnp
from olympus.scipy import fft, integrate, interpolate, ndimage
from olympus.scipy.cluster import vq
from olympus.test_util import check_grads
from tests.comparing import assert_close

pytestmark = [pytest.mark.sampled(2), pytest.mark.usefixtures("x64")]

RANDOM = np.random.default_rng(0)
X, LINE = RANDOM.normal(size=(5, 6)), RANDOM.normal(size=7)
PLACES = [RANDOM.uniform(-8, 12, size=40), RANDOM.uniform(-8, 12, size=40)]
GRID = (np.arange(5.0) ** 1.5, np.arange(6.0))
POINTS = RANDOM.uniform(-0.5, 5.5, size=(30, 2))


close = functools.partial(assert_close, rtol=1e-10, atol=1e-10, same_shape=True)


OPTIONS = [{}, {"norm": "ortho"}, {"n": 4}, {"n": 9}]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dct", "idct"])
def test_cosine_transform_as_scipy(name):
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    for options in OPTIONS:
        close(ours(LINE, **options), theirs(LINE, **options))
    close(ours(X, axis=0), theirs(X, axis=0))
    close(ours(LINE[:1]), theirs(LINE[:1]))
    turned = LINE + 2j * LINE[::-1]
    close(ours(turned), theirs(turned))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dctn", "idctn"])
def test_cosine_transform_of_axes_as_scipy(name):
    for options in ({}, {"s": (3, 8)}, {"axes": (1,), "s": (3,)}, {"s": (3,)}):
        want = getattr(scipy.fft, name)(X, norm="ortho", **options)
        close(getattr(fft, name)(X, norm="ortho", **options), want)


# SciPy calls the modes of whole periods and constants after grids.
NAMES = {"wrap": "grid-wrap", "constant": "grid-constant"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "reflect", "wrap"])
@pytest.mark.parametrize("order", [0, 1])
def test_map_coordinates_as_scipy(mode, order):
    want = scipy.ndimage.map_coordinates(
        X, PLACES, order=order, mode=NAMES.get(mode, mode), cval=2.0, prefilter=False
    )
    close(ndimage.map_coordinates(X, PLACES, order, mode, cval=2.0), want)


def test_map_coordinates_weighs_in_the_wider_dtype():
    samples, places = np.array([1.0, 2.0, 4.0]), np.float32([-0.3, 0.1, 1.7])
    want = scipy.ndimage.map_coordinates(samples, [places], order=1, mode="mirror")
    got = ndimage.map_coordinates(samples, [places], 1, "mirror")
    np.testing.assert_allclose(got, want, rtol=1e-15)
    twice = ndimage.map_coordinates(samples * (1 + 2j), [places], 1, "mirror")
    np.testing.assert_allclose(twice, want * (1 + 2j), rtol=1e-15)


def test_map_coordinates_rounds_to_integers():
    # jax 0.10.2
    whole = np.arange(12).reshape(3, 4)
    places = [np.array([0.5, 1.2, -0.4, 7]), np.array([1.5, 0, 0.3, 1])]
    found = ndimage.map_coordinates(whole, places, 1)
    assert found.dtype == whole.dtype
    np.testing.assert_array_equal(found, [4, 5, 0, 0])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill_value", [np.nan, None, 3.0])
def test_interpolation_as_scipy(method, fill_value):
    options = {"method": method, "bounds_error": False, "fill_value": fill_value}
    ours = interpolate.RegularGridInterpolator(GRID, X, **options)
    theirs = scipy.interpolate.RegularGridInterpolator(GRID, X, **options)
    close(ours(POINTS), theirs(POINTS))


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [None, np.nan, 7.0])
def test_decreasing_grids_and_places_of_nan(method, fill):
    grid = (np.float32([4, 2.5, 1, 0]), np.float32([-1, 0, 3]))
    values = np.arange(24, dtype=np.float32).reshape(4, 3, 2) ** 1.5
    places = np.float32([[0.4, 1], [3.9, -0.2], [np.nan, 1], [5, 0], [0, 3], [1, -2]])
    options = {"method": method, "bounds_error": False, "fill_value": fill}
    ours = interpolate.RegularGridInterpolator(grid, values, **options)
    theirs = scipy.interpolate.RegularGridInterpolator(grid, values, **options)
    np.testing.assert_allclose(ours(places), theirs(places), 1e-5)


@pytest.mark.slow
def test_interpolation_of_vectors_at_a_tuple_of_places():
    values = np.stack([X, 2 * X], -1)
    ours = interpolate.RegularGridInterpolator(GRID, values)
    theirs = scipy.interpolate.RegularGridInterpolator(GRID, values, bounds_error=False)
    close(ours(POINTS.reshape(5, 6, 2)), theirs(POINTS.reshape(5, 6, 2)))
    close(ours((POINTS[:, 0], 1.5)), theirs((POINTS[:, 0], 1.5)))


def test_shares_of_wide_lines_make_narrow_values_wide():
    with olympus.enable_x64(True):
        line, values = np.array([0.0, 1, 2]), np.float32([0, 1, 3])
        of = interpolate.RegularGridInterpolator((line,), values)
        got = of(np.array([[1.1]]))
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, [1.2], rtol=1e-14)


def test_codes_as_scipy():
    for obs in (X, LINE):
        codes = obs[:2] + 0.1
        want = scipy.cluster.vq.vq(obs, codes)
        for got, other in zip(vq.vq(obs, codes), want, strict=True):
            close(got, other)
    assert vq.vq(X, X)[0].dtype == np.int64


def test_trapezoid_takes_numbers_in_scipy_s_order():
    close(
        integrate.trapezoid(LINE, np.arange(7.0) ** 2),
        np.trapezoid(LINE, np.arange(7.0) ** 2),
    )


@pytest.mark.slow
def test_derivatives_and_maps():
    check_grads(lambda x: fft.dct(x, norm="ortho"), (LINE,), 2)
    check_grads(fft.idctn, (X,), 1)
    near = [RANDOM.uniform(0.1, 3.9, size=5), RANDOM.uniform(0.1, 4.9, size=5)]
    check_grads(lambda x, p: ndimage.map_coordinates(x, p, 1), (X, near), 1)
    inside = POINTS[:4] % 4
    check_grads(
        lambda v, p: interpolate.RegularGridInterpolator(GRID, v)(p), (X, inside), 1
    )
    rows = olympus.jit(olympus.vmap(fft.dct))(X)
    close(rows, scipy.fft.dct(X))


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: fft.dct(LINE, 3), NotImplementedError, "type 2"),
        (lambda: fft.dct(LINE, norm="forward"), ValueError, "norm"),
        (lambda: fft.dct(LINE, axis=3), ValueError, "axis"),
        (lambda: fft.dct(LINE, n=0), ValueError, "at least one point"),
        (lambda: fft.dct([1.0]), TypeError, "numpy.asarray"),
        (lambda: fft.dctn(X, axes=(0, 0)), ValueError, "repeated axis"),
        (lambda: fft.dctn(X, s=(2,), axes=(0, 1)), ValueError, "one size for each"),
        (lambda: ndimage.map_coordinates(X, PLACES, 2), NotImplementedError, "order"),
        (lambda: ndimage.map_coordinates(X, PLACES[:1], 1), ValueError, "length"),
        (
            lambda: ndimage.map_coordinates(X, PLACES, 1, "x"),
            NotImplementedError,
            "mode 'x'",
        ),
        (
            lambda: interpolate.RegularGridInterpolator(GRID, X, "cubic"),
            ValueError,
            "not defined",
        ),
        (
            lambda: interpolate.RegularGridInterpolator(GRID, X, bounds_error=True),
            NotImplementedError,
            "bounds_error",
        ),
        (
            lambda: interpolate.RegularGridInterpolator(GRID, X[:3]),
            ValueError,
            "as many points",
        ),
        (
            lambda: interpolate.RegularGridInterpolator((*GRID, GRID[0]), X),
            ValueError,
            "3 point arrays",
        ),
        (
            lambda: interpolate.RegularGridInterpolator(GRID, X)(LINE),
            ValueError,
            "one for each axis",
        ),
        (
            lambda: interpolate.RegularGridInterpolator(GRID, X, fill_value=1j),
            ValueError,
            "compatible",
        ),
        (lambda: vq.vq(X, LINE), ValueError, "same rank"),
        (lambda: vq.vq(X, X[:, :2]), TypeError, "incompatible shapes"),
        (lambda: vq.vq(X[None], X[None]), ValueError, "ndim"),
    ],
)
def test_errors_teach(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def test_halfway_places_are_rounded_away_from_zero():
    x, place = np.arange(4.0, dtype="float32"), np.float32([-1.5, 0.5, 2.5])
    # As JAX 0.10.2: positions -2, 1 and 3, of which the first comes round to 2.
    got = ndimage.map_coordinates(x, [place], order=0, mode="wrap")
    np.testing.assert_array_equal(got, [2, 1, 3])
    got = ndimage.map_coordinates(np.array([2, 3]), [np.float32([0.5])], order=1)
    np.testing.assert_array_equal(got, [3])


def test_a_place_given_by_axis_keeps_its_shape():
    grid = (np.float32([0, 1]), np.float32([0, 1]))
    f = interpolate.RegularGridInterpolator(grid, np.float32([[0, 1], [2, 3]]))
    assert f((0.5, 0.5)).shape == ()
    assert f(np.float32([0.5, 0.5])).shape == (1,)


def test_interpolation_along_one_axis_takes_a_row_of_places():
    line, values = np.array([0, 1, 2], np.float32), np.array([1, 3, 2], np.float32)
    places = np.array([0.5, 1.5, 0.25], np.float32)
    ours = interpolate.RegularGridInterpolator((line,), values)
    theirs = scipy.interpolate.RegularGridInterpolator((line,), values)
    close(ours(places), theirs(places))
    close(ours(places[:, None]), theirs(places[:, None]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_cosine_transforms_of_short_floats_are_single(dtype):
    x = jnp.asarray([1.0, -2.0, 0.5, 3.0, 1.5], dtype)
    for fun in (fft.dct, fft.idct):
        got = fun(x)
        assert got.dtype == "float32"
        np.testing.assert_allclose(got, fun(x.astype("float32")), rtol=1e-6)
