"""Functions of the array API standard against NumPy's, which follow it too.

Drawn by hypothesis. NumPy is the oracle: from version 2.3 on it has the standard
2025.12.
"""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

import olympus.numpy as jnp
from array_api import standard

pytestmark = [pytest.mark.slow, pytest.mark.sampled(5), pytest.mark.usefixtures("x64")]

FEW = hypothesis.settings(max_examples=6)
SHAPES = st.sampled_from([(), (3,), (2, 3), (2, 0), (1, 2, 3)])
DTYPES = st.sampled_from(["bool", "int8", "uint16", "int32", "float32", "complex64"])


def arrays(shapes=SHAPES, dtypes=DTYPES, unique=False):
    """Small whole numbers, so that sums are exact and ties occur."""

    def of_dtype(dtype):
        low = 0 if dtype[0] in "bu" else -3
        high = 1 if dtype == "bool" else 3
        return drawn.arrays(
            np.int64, shapes, elements=st.integers(low, high), unique=unique
        ).map(lambda x: x.astype(dtype))

    return dtypes.flatmap(of_dtype)


def same(found, wanted):
    """Equal values, shapes and dtypes, of arrays, tuples or lists of them."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            same(x, y)
        return
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(np.asarray(found), wanted, strict=True)


def close(found, wanted):
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-10, atol=1e-10)


def axes_of(x):
    return range(-x.ndim, x.ndim)


# -- shapes ----------------------------------------------------------------------------


@FEW
@hypothesis.given(arrays(), st.data())
def test_shapes(x, data):
    draw = data.draw
    place = draw(st.integers(-x.ndim - 1, x.ndim))
    order = draw(st.permutations(range(x.ndim)))
    spare = (2, *x.shape)
    same(jnp.expand_dims(x, axis=place), np.expand_dims(x, axis=place))
    same(jnp.expand_dims(x, axis=(0, -1)), np.expand_dims(x, axis=(0, -1)))
    same(jnp.permute_dims(x, tuple(order)), np.permute_dims(x, tuple(order)))
    backwards = tuple(place - x.ndim for place in order)
    same(jnp.permute_dims(x, backwards), np.permute_dims(x, tuple(order)))
    same(jnp.moveaxis(x, range(x.ndim), order), np.moveaxis(x, range(x.ndim), order))
    same(jnp.reshape(x, (x.size, 1)), np.reshape(x, (x.size, 1)))
    same(jnp.broadcast_to(x, spare), np.broadcast_to(x, spare))
    same(jnp.squeeze(x[None], 0), x)
    same(jnp.tile(x, (2, 1, 2)), np.tile(x, (2, 1, 2)))
    same(jnp.concat([x, x], axis=None), np.concat([x, x], axis=None))
    same(jnp.stack([x, x], axis=place), np.stack([x, x], axis=place))
    same(jnp.flip(x), np.flip(x))
    same(jnp.roll(x, 2), np.roll(x, 2))
    same(jnp.repeat(x, 2), np.repeat(x, 2))


@FEW
@hypothesis.given(arrays(st.sampled_from([(3,), (2, 3), (1, 2, 3)])), st.data())
def test_shapes_along_an_axis(x, data):
    axis = data.draw(st.sampled_from(axes_of(x)))
    counts = np.arange(x.shape[axis])
    same(jnp.concat([x, x], axis=axis), np.concat([x, x], axis=axis))
    same(jnp.flip(x, axis=axis), np.flip(x, axis=axis))
    same(jnp.roll(x, -1, axis=axis), np.roll(x, -1, axis=axis))
    same(jnp.repeat(x, counts, axis=axis), np.repeat(x, counts, axis=axis))
    same(jnp.unstack(x, axis=axis), np.unstack(x, axis=axis))
    same(jnp.take(x, counts[::-1], axis=axis), np.take(x, counts[::-1], axis=axis))
    order = np.argsort(x, axis=axis)
    same(
        jnp.take_along_axis(x, order, axis=axis),
        np.take_along_axis(x, order, axis=axis),
    )
    edge = np.take(x, [0], axis=axis)
    if x.dtype != bool:
        options = {"axis": axis, "n": 2, "prepend": edge, "append": edge}
        same(jnp.diff(x, **options), np.diff(x, **options))


# -- reductions ------------------------------------------------------------------------


@FEW
@hypothesis.given(
    arrays(st.sampled_from([(3,), (2, 3), (1, 2, 3)])), st.booleans(), st.data()
)
def test_reductions(x, keepdims, data):
    axis = data.draw(st.one_of(st.none(), st.sampled_from(axes_of(x))))
    options = {"axis": axis, "keepdims": keepdims}
    for name in ("sum", "prod", "count_nonzero", "all", "any"):
        same(getattr(jnp, name)(x, **options), getattr(np, name)(x, **options))
    if x.dtype.kind != "c":
        for name in ("max", "min", "argmax", "argmin"):
            same(getattr(jnp, name)(x, **options), getattr(np, name)(x, **options))
    wide = x.real.astype(np.float64)
    for correction in (0.0, 0.5):
        options["correction"] = correction
        for name in ("std", "var"):
            found = getattr(jnp, name)(wide, **options)
            close(found, np.asarray(getattr(np, name)(wide, **options)))


@FEW
@hypothesis.given(arrays(st.sampled_from([(3,), (2, 3)])), st.booleans())
def test_cumulative_sums(x, include_initial):
    wide = x.real.astype(np.float64)
    options = {"axis": -1, "include_initial": include_initial}
    same(jnp.cumulative_sum(wide, **options), np.cumulative_sum(wide, **options))
    same(jnp.cumulative_prod(wide, **options), np.cumulative_prod(wide, **options))


# -- order and sets --------------------------------------------------------------------

ORDERED = st.sampled_from(["bool", "int8", "uint16", "float32"])


@FEW
@hypothesis.given(arrays(st.sampled_from([(5,), (2, 4)]), ORDERED), st.data())
def test_sorting(x, data):
    axis = data.draw(st.sampled_from(axes_of(x)))
    up = np.argsort(x, axis=axis, stable=True)
    # The stable descending order: equal elements keep theirs.
    turned = np.flip(np.argsort(np.flip(x, axis), axis=axis, stable=True), axis)
    down = x.shape[axis] - 1 - turned
    same(jnp.argsort(x, axis=axis, stable=True), up)
    same(jnp.argsort(x, axis=axis, descending=True, stable=True), down)
    same(jnp.sort(x, axis=axis), np.sort(x, axis=axis))
    same(
        jnp.sort(x, axis=axis, descending=True), np.take_along_axis(x, down, axis=axis)
    )


@FEW
@hypothesis.given(arrays(st.just((5,)), ORDERED), arrays(st.just((2, 3)), ORDERED))
def test_searching(line, values):
    order = np.argsort(line)
    for side in ("left", "right"):
        # As in JAX: int32 also in double precision, where the line is short.
        wanted = np.searchsorted(line, values, side=side, sorter=order).astype("int32")
        same(jnp.searchsorted(line, values, side=side, sorter=order), wanted)
        same(jnp.searchsorted(line[order], values, side=side), wanted)
    same(jnp.nonzero(values), np.nonzero(values))
    other = values + values
    wanted = np.where(values > 1, values, other)
    same(jnp.where(values > 1, values, other), wanted)


@FEW
@hypothesis.given(arrays(st.sampled_from([(), (5,), (2, 3), (0,)]), ORDERED))
def test_sets(x):
    for name in ("all", "counts", "inverse", "values"):
        found = getattr(jnp, f"unique_{name}")(x)
        wanted = getattr(np, f"unique_{name}")(x)
        if name == "values":
            same(jnp.sort(found), np.sort(wanted))
        else:
            same(tuple(found), tuple(wanted))
            assert found._fields == wanted._fields


# -- linear algebra and Fourier transforms ---------------------------------------------


@FEW
@hypothesis.given(
    arrays(st.just((2, 3, 3)), st.sampled_from(["float64", "complex128"])),
    arrays(st.just((2, 3, 3)), st.sampled_from(["float64", "complex128"])),
)
def test_linear_algebra(x, y):
    la, oracle = jnp.linalg, np.linalg
    x = x + 5 * np.eye(3)
    for axis in (-1, -2):
        close(la.vecdot(x, y, axis=axis), oracle.vecdot(x, y, axis=axis))
        close(la.cross(x, y, axis=axis), oracle.cross(x, y, axis=axis))
    turned = np.moveaxis(y, 0, 2)
    close(la.tensordot(x, turned, axes=2), oracle.tensordot(x, turned, axes=2))
    close(la.outer(x[0, 0], y[0, 0]), oracle.outer(x[0, 0], y[0, 0]))
    close(la.matmul(x, y), oracle.matmul(x, y))
    close(la.matrix_transpose(x), oracle.matrix_transpose(x))
    close(la.diagonal(x, offset=1), oracle.diagonal(x, offset=1))
    close(la.trace(x, offset=-1), oracle.trace(x, offset=-1))
    close(la.solve(x, y), oracle.solve(x, y))
    close(la.inv(x), oracle.inv(x))
    close(la.pinv(x, rtol=1e-3), oracle.pinv(x, rtol=1e-3))
    close(la.svdvals(y), oracle.svdvals(y))
    same(la.matrix_rank(y, rtol=1e-3), oracle.matrix_rank(y, rtol=1e-3))
    assert la.lstsq(y[0], y[1])[2].dtype == np.int64
    close(la.matrix_power(x, -2), oracle.matrix_power(x, -2))
    for order in ("fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2):
        options = {"ord": order, "keepdims": order == 1}
        close(la.matrix_norm(x, **options), oracle.matrix_norm(x, **options))
    for order in (np.inf, -np.inf, 0, 1, 2, 3.5):
        for axis in (None, 1, (0, 2)):
            options = {"ord": order, "axis": axis, "keepdims": True}
            close(la.vector_norm(x, **options), oracle.vector_norm(x, **options))
    definite = x @ np.conj(np.swapaxes(x, 1, 2))
    for upper in (False, True):
        close(
            la.cholesky(definite, upper=upper), oracle.cholesky(definite, upper=upper)
        )


@FEW
@hypothesis.given(
    arrays(st.sampled_from([(4,), (3, 4)]), st.just("complex128")),
    st.sampled_from(["backward", "ortho", "forward"]),
    st.sampled_from([None, 3, 6]),
)
def test_fourier_transforms(x, norm, n):
    ft, oracle = jnp.fft, np.fft
    for name in ("fft", "ifft", "irfft", "hfft"):
        options = {"n": n, "axis": 0, "norm": norm}
        close(getattr(ft, name)(x, **options), getattr(oracle, name)(x, **options))
    for name in ("rfft", "ihfft"):
        options = {"n": n, "norm": norm}
        found = getattr(ft, name)(x.real, **options)
        close(found, getattr(oracle, name)(x.real, **options))
    for name in ("fftn", "ifftn", "irfftn"):
        found = getattr(ft, name)(x, axes=[-1], norm=norm)
        close(found, getattr(oracle, name)(x, axes=[-1], norm=norm))
    close(ft.rfftn(x.real, norm=norm), oracle.rfftn(x.real, norm=norm))
    for name in ("fftshift", "ifftshift"):
        same(getattr(ft, name)(x, axes=0), getattr(oracle, name)(x, axes=0))
    for name in ("fftfreq", "rfftfreq"):
        close(getattr(ft, name)(5, d=0.5), getattr(oracle, name)(5, d=0.5))


# -- special values --------------------------------------------------------------------

SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 2.5, -2.5, 1e300]
)
PAIRS = [x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL)]

# Where signs of zero are JAX's, not the standard's; docs/array_api.md.
SIGNS_OF_ZERO = {"floor_divide", "remainder", "sign", "maximum", "minimum", "nextafter"}


def _agree(name, found, wanted):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-13, atol=0)
    if wanted.dtype.kind == "f" and name not in SIGNS_OF_ZERO:
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(
            np.signbit(found)[numbers], np.signbit(wanted)[numbers]
        )


@pytest.mark.parametrize(
    "function", sorted(standard.ELEMENTWISE, key=lambda f: f.name), ids=lambda f: f.name
)
def test_special_values(function):
    name = function.name
    args = PAIRS if function.arity == 2 else [SPECIAL]
    if name.startswith("bitwise"):
        args = [np.arange(-8, 9) * 15, np.arange(17) % 8][: len(args)]
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*args)
    _agree(name, getattr(jnp, name)(*args), wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(
    "name", ["floor_divide", "remainder", "add", "multiply", "pow"]
)
def test_integers_at_their_limits(name, dtype):
    limits = np.iinfo(dtype)
    line = np.array([limits.min, limits.min + 1, 0, 1, 3, 7, limits.max], dtype)
    x, y = (v.ravel() for v in np.meshgrid(line, line))
    y = np.abs(y) if name == "pow" else y
    kept = (y >= 0) if name == "pow" else (y != 0)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(x[kept], y[kept])
    same(getattr(jnp, name)(x[kept], y[kept]), wanted)
