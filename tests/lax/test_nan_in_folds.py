"""NaN stays in every fold by maximum or minimum, however XLA vectorises it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, ops

pytestmark = pytest.mark.sampled(4)

SMALL = ("bfloat16", "float8_e5m2", "float8_e4m3fn")


def _dtype(name):
    return np.dtype(getattr(ml_dtypes, name) if name in SMALL else name)


def _windows(f, window, steps, fold):
    view = np.lib.stride_tricks.sliding_window_view(f, window)
    view = view[tuple(slice(None, None, s) for s in steps)]
    return fold(view, axis=tuple(range(f.ndim, 2 * f.ndim)))


def _folds_of_axes(ndim):
    for axis in range(ndim):
        yield lambda x, a=axis: jnp.max(x, axis=a), lambda f, a=axis: f.max(a)
        yield lambda x, a=axis: jnp.min(x, axis=a), lambda f, a=axis: f.min(a)
        yield lambda x, a=axis: jnp.argmax(x, axis=a), lambda f, a=axis: f.argmax(a)
        yield lambda x, a=axis: jnp.argmin(x, axis=a), lambda f, a=axis: f.argmin(a)
    yield jnp.max, np.max
    yield lambda x: lax.reduce(x, _scalar(x, 3), _min, range(ndim)), _least_of_three
    yield lambda x: lax.reduce((x, x), _two(x), _both, (ndim - 1,))[0], _last_max
    yield lambda x: olympus.vmap(jnp.min)(x), _rest_min


def _scalar(x, value):
    return x.dtype.type(value)


def _two(x):
    return (_scalar(x, -3), _scalar(x, 3))


def _min(a, b):
    return lax.min(a, b)


def _both(x, y):
    return lax.max(x[0], y[0]), lax.min(x[1], y[1])


def _least_of_three(f):
    return np.minimum(f.min(), 3)


def _last_max(f):
    return np.maximum(f.max(-1), -3)


def _rest_min(f):
    return f.min(tuple(range(1, f.ndim)))


def _prefixes(ndim):
    for axis in range(ndim):
        yield (
            lambda x, a=axis: lax.cummax(x, a),
            lambda f, a=axis: np.maximum.accumulate(f, a),
        )
        yield (
            lambda x, a=axis: lax.cummin(x, a, reverse=True),
            lambda f, a=axis: np.flip(np.minimum.accumulate(np.flip(f, a), a), a),
        )


def _over_windows(ndim):
    for width, step in ((2, 1), (3, 2), (6, 6), (20, 1)):
        window, steps = (width,) + (1,) * (ndim - 1), (step,) + (1,) * (ndim - 1)
        for w, s in ((window, steps), (window[::-1], steps[::-1])):
            yield (
                lambda x, w=w, s=s: lax.reduce_window(
                    x, -np.inf, lax.max, w, s, "VALID"
                ),
                lambda f, w=w, s=s: _windows(f, w, s, np.max),
            )
            yield (
                lambda x, w=w, s=s: lax.reduce_window(
                    x, np.inf, lax.min, w, s, "VALID"
                ),
                lambda f, w=w, s=s: _windows(f, w, s, np.min),
            )


def _at_places(ndim):
    def add(kind, start):
        def fold(f):
            out = np.full((7, *f.shape[1:]), start)
            kind.at(out, np.arange(len(f)) % 7, f)
            return out

        return fold

    def place(x):
        return jnp.arange(x.shape[0]) % 7

    yield lambda x: ops.segment_max(x, place(x), 7), add(np.maximum, -np.inf)
    yield lambda x: ops.segment_min(x, place(x), 7), add(np.minimum, np.inf)
    yield (
        lambda x: jnp.zeros((7, *x.shape[1:]), x.dtype).at[place(x)].max(x),
        add(np.maximum, 0.0),
    )
    yield lambda x: jnp.sort(x, axis=-1), lambda f: np.sort(f, -1)
    yield lambda x: jnp.sort(x, axis=0), lambda f: np.sort(f, 0)
    yield lambda x: lax.top_k(x, 1)[0], lambda f: np.sort(f, -1)[..., -1:]


def _long(*shape):
    return pytest.param(shape, marks=pytest.mark.slow)


SHAPES = [
    (33,),
    _long(70000),
    (1000, 10),
    _long(10, 1000),
    _long(300, 300),
    _long(8, 40, 64),
    (30, 40),
    (6, 16, 8),
]


def _check(folds, shape, dtype):
    folds = list(folds(len(shape)))
    x = np.random.default_rng(0).normal(size=shape).astype(_dtype(dtype))
    run = olympus.jit(lambda x: [f(x) for f, _ in folds])
    for place in (0, 3, x.size // 2, x.size - 1):
        y = x.copy()
        y.reshape(-1)[place] = np.nan
        wide = y.astype(np.float64)
        with np.errstate(invalid="ignore"):
            for i, (out, (_, fold)) in enumerate(zip(run(y), folds, strict=True)):
                got = np.asarray(out).astype(np.float64)
                np.testing.assert_array_equal(got, fold(wide), f"fold {i} at {place}")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions(shape, dtype):
    with olympus.enable_x64(True):
        _check(_folds_of_axes, shape, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", SMALL[1:])
def test_reductions_of_eight_bits(dtype):
    def folds(ndim):
        yield from list(_folds_of_axes(ndim))[: 4 * ndim + 1]

    _check(folds, (300, 40), dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(33,), _long(70000), _long(300, 300)], ids=str)
def test_prefixes(shape, dtype):
    with olympus.enable_x64(True):
        _check(_prefixes, shape, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(33,), _long(70000), _long(300, 300)], ids=str)
def test_windows(shape, dtype):
    with olympus.enable_x64(True):
        _check(_over_windows, shape, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [_long(70000), _long(300, 300)], ids=str)
def test_places_and_sorts(shape, dtype):
    with olympus.enable_x64(True):
        _check(_at_places, shape, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1000, 10), (300, 300)], ids=str)
def test_operations_by_themselves(shape):
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    x[:, 0], x[:, -1] = 9, np.nan
    last = shape[1] - 1
    np.testing.assert_array_equal(jnp.argmax(x, 1), np.full(len(x), last))
    np.testing.assert_array_equal(jnp.argmin(x, 1), np.full(len(x), last))
    assert np.isnan(jnp.max(x, 1)).all()
    assert np.isnan(jnp.max(x))
    assert np.isnan(np.asarray(jnp.min(x, 0))[last])
    assert np.isnan(lax.cummax(x, 1)[:, last]).all()


def _with_specials(shape, kind):
    """Numbers with repetitions, NaN of both signs, and infinities."""
    rng = np.random.default_rng(len(shape))
    x = rng.integers(-9, 9, shape).astype(np.float32)
    if kind == "least":
        x[...] = -np.inf
    specials = {"nan": [np.nan, -np.nan, np.inf], "infinite": [np.inf, -np.inf]}
    for value in specials.get(kind, []):
        x.flat[rng.integers(0, x.size, 1 + x.size // 700)] = value
    if kind == "nan":
        x.flat[-1] = -np.nan
    return x


# Each is found in another way: one comparison, folds by integers and by floats, short.
@pytest.mark.parametrize(
    "shape",
    [
        (7,),
        (40, 41),
        _long(9, 70, 8),
        _long(
            5000,
        ),
        _long(500, 20),
    ],
    ids=str,
)
def test_positions_among_nan_and_infinities(shape):
    for axis in range(len(shape)):
        run = olympus.jit(
            lambda x, axis=axis: [f(x, axis) for f in (jnp.argmax, jnp.argmin)]
        )
        for kind in ("plain", "nan", "infinite", "least"):
            x = _with_specials(shape, kind)
            for out, fold in zip(run(x), (np.argmax, np.argmin), strict=True):
                np.testing.assert_array_equal(out, fold(x, axis), f"{kind} {axis}")


@pytest.mark.parametrize("shape", [(70, 80), _long(600, 300)], ids=str)
def test_infinities_are_no_nan_to_a_sum_of_magnitudes(shape):
    x = _with_specials(shape, "infinite")
    x[:, 3] = np.float32(3e38)  # whose sum is infinite, too
    x[:2, 5] = np.inf, -np.inf
    y = _with_specials(shape, "nan")
    for f, fold in ((jnp.max, np.max), (jnp.min, np.min)):
        run = olympus.jit(lambda x, f=f: f(x, axis=0))
        np.testing.assert_array_equal(run(x), fold(x, 0))
        np.testing.assert_array_equal(run(y), fold(y, 0))


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu"])
def test_positions_of_all_pairs_of_narrow_floats(name):
    every = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
    pairs = np.stack(np.meshgrid(every, every), -1).reshape(-1, 2)
    wide = pairs.astype(np.float64)
    np.testing.assert_array_equal(jnp.argmax(pairs, 1), wide.argmax(1))
    np.testing.assert_array_equal(jnp.argmin(pairs, 1), wide.argmin(1))


@pytest.mark.slow
def test_positions_of_narrow_floats_on_long_axes():
    for size in (1 << 15, (1 << 15) + 1):
        x = np.zeros(size, ml_dtypes.float8_e5m2)
        assert jnp.argmax(x) == 0
        x[-1] = 2
        assert jnp.argmax(x) == size - 1
        assert jnp.argmin(-x) == size - 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_along_the_first_axis(dtype):
    x = np.arange(1 << 16, dtype=np.uint16).view(_dtype(dtype)).reshape(-1, 256)
    x[:, :250] = np.where(np.isnan(x[:, :250].astype(np.float32)), -1, x[:, :250])
    wide = x.astype(np.float32)
    np.testing.assert_array_equal(np.asarray(jnp.max(x, 0), np.float32), wide.max(0))
    np.testing.assert_array_equal(np.asarray(jnp.min(x, 0), np.float32), wide.min(0))


def test_an_associative_scan():
    x = np.float32([1, 2, np.nan, 5, 3] * 7)
    out = lax.associative_scan(jnp.maximum, x)
    np.testing.assert_array_equal(out, np.maximum.accumulate(x))


def test_the_program_and_its_gradient_are_those_of_one_reduction():
    x = np.float32([[1, 3, 3], [2, 0, 1]])
    text = str(olympus.make_olympuspr(lambda x: jnp.max(x, axis=1))(x))
    assert text.count("reduce_max") == 1
    assert "or" not in text.split("let")[1].split()
    slope = olympus.grad(lambda x: jnp.max(x, axis=1).sum())(x)
    np.testing.assert_array_equal(slope, [[0, 0.5, 0.5], [1, 0, 0]])
