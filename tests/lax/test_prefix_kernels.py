"""Cumulative operations of larger arrays, by the kernels in C."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax
from olympus._src import native
from olympus._src.lax import prefix_kernels

FOLDS = {
    "cumsum": np.add,
    "cumprod": np.multiply,
    "cummax": np.maximum,
    "cummin": np.minimum,
    "cumlogsumexp": np.logaddexp,
}
built = pytest.mark.skipif(
    native.load_products() is None, reason="the part in C was not built"
)


def has_kernel(f, *args):
    return "olympus_cum" in olympus.jit(f).lower(*args).as_text()


def draw(shape, dtype, name):
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "i":
        return rng.integers(-50, 50, shape).astype(dtype)
    if name == "cumprod":
        return rng.uniform(0.97, 1.03, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def fold_up_to_each(x, name, axis, reverse):
    wide = x.astype(np.float64) if x.dtype == np.float32 else x
    wide = np.flip(wide, axis) if reverse else wide
    with np.errstate(over="ignore", invalid="ignore"):
        out = FOLDS[name].accumulate(wide, axis, dtype=wide.dtype)
    return (np.flip(out, axis) if reverse else out).astype(x.dtype)


def assert_alike(out, wanted):
    assert out.dtype == wanted.dtype
    if out.dtype.kind == "i":
        np.testing.assert_array_equal(out, wanted)
        return
    tolerance = 3e-6 if out.dtype == np.float32 else 1e-12
    largest = np.nanmax(np.abs(wanted), initial=1, where=np.isfinite(wanted))
    np.testing.assert_allclose(out, wanted, rtol=tolerance, atol=tolerance * largest)


SHAPES = [
    ((2048,), 0),
    ((2303,), 0),
    ((5000,), 0),
    ((3, 1031), 1),
    ((1031, 3), 0),
    ((33, 700), 0),
    ((700, 33), 1),
    ((5, 257, 9), 1),
    ((9, 300, 1), 1),
]


@built
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_values(shape, axis, name, reverse):
    floats = ("float32", "float64")
    both = (*floats, "int32", "int64")
    with olympus.enable_x64(True):
        for dtype in floats if name == "cumlogsumexp" else both:
            x = draw(shape, dtype, name)

            def f(x):
                return getattr(lax, name)(x, axis=axis, reverse=reverse)

            assert has_kernel(f, x)
            assert_alike(np.asarray(f(x)), fold_up_to_each(x, name, axis, reverse))


@built
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(4000,), (700, 5)])
def test_nan_and_infinities_stay(shape, special, name, reverse):
    for at in (0, 300, 650):
        x = draw(shape, "float32", name)
        x[at] = special
        out = getattr(lax, name)(x, axis=0, reverse=reverse)
        np.testing.assert_array_equal(
            np.isnan(out), np.isnan(fold_up_to_each(x, name, 0, reverse))
        )
        assert_alike(np.asarray(out), fold_up_to_each(x, name, 0, reverse))


@built
def test_sums_keep_their_precision():
    x = np.random.default_rng(0).uniform(size=10**6).astype("float32")
    wanted = np.cumsum(x.astype(np.float64))
    np.testing.assert_allclose(jnp.cumsum(x), wanted, rtol=5e-7)


@built
@pytest.mark.parametrize("reverse", [False, True])
def test_logarithms_of_sums_keep_their_precision(reverse):
    rng = np.random.default_rng(0)
    inf = np.inf
    rows = [
        rng.uniform(size=10**5),
        rng.normal(scale=50, size=1000),
        np.linspace(-300, 300, 1000),
        np.r_[0.0, np.full(99, -40.0)],  # log(1 + 4e-18), which is not 0
        np.r_[np.full(50, -inf), 1.0, np.full(50, -inf)],
        np.r_[-inf, inf, inf, -inf, np.zeros(70)],
        np.r_[0.0, np.nan, inf, np.zeros(70)],
        np.full(70, -inf),
    ]
    for row in rows:
        x = row.astype("float32")
        wide = x.astype("longdouble")[:: -1 if reverse else 1]
        with np.errstate(invalid="ignore"):
            wanted = np.logaddexp.accumulate(wide)[:: -1 if reverse else 1]
        out = lax.cumlogsumexp(x, reverse=reverse)
        np.testing.assert_allclose(out, wanted.astype("float32"), rtol=3e-7)
        with olympus.enable_x64(True):
            out = lax.cumlogsumexp(x.astype("float64"), reverse=reverse)
        np.testing.assert_allclose(out, wanted.astype("float64"), 1e-15, 4e-16)


@built
def test_derivatives_of_logarithms_of_sums():
    x = draw((300,), "float32", "cumlogsumexp")
    weights = draw((300,), "float32", "cumsum")
    slope = olympus.grad(lambda x: lax.cumlogsumexp(x) @ weights)(x)
    shares = np.tril(np.exp(np.tile(x.astype("float64"), (300, 1))))
    shares /= shares.sum(1, keepdims=True)
    np.testing.assert_allclose(slope, weights @ shares, rtol=1e-4, atol=1e-6)


def test_integers_wrap_around():
    x = np.full(5000, 2**30, "int32")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(jnp.cumsum(x), np.cumsum(x, dtype="int32"))
        y = np.full(5000, 3, "int32")
        np.testing.assert_array_equal(jnp.cumprod(y), np.cumprod(y, dtype="int32"))


def test_which_arrays_have_no_kernel():
    assert not has_kernel(jnp.cumsum, np.ones(1000, "float32"))
    assert not has_kernel(jnp.cumsum, np.ones(5000, "float16"))
    assert not has_kernel(lambda x: jnp.cumsum(x, 1), np.ones((5000, 8), "float32"))
    assert not has_kernel(lax.cumlogsumexp, np.ones(50, "float32"))
    assert not has_kernel(jnp.cumsum, np.ones(5000, "complex64"))


def test_values_without_the_part_in_c(monkeypatch):
    monkeypatch.setattr(prefix_kernels.native, "load_products", lambda: None)
    x = draw((70001,), "float32", "cumsum")
    olympus.clear_caches()
    assert not has_kernel(lambda x: lax.cumsum(x), x)
    assert_alike(np.asarray(lax.cumsum(x)), fold_up_to_each(x, "cumsum", 0, False))
    olympus.clear_caches()


def test_exported_programs_call_no_kernel():
    x = draw((6000,), "float32", "cumsum")
    exported = export.export(olympus.jit(jnp.cumsum))(x)
    assert "olympus_cum" not in exported.mlir_module()
    assert_alike(np.asarray(exported.call(x)), fold_up_to_each(x, "cumsum", 0, False))


def test_mapped_differentiated_and_looped():
    x = draw((4, 3000), "float32", "cumsum")
    rows = np.stack([fold_up_to_each(row, "cumsum", 0, False) for row in x])
    assert_alike(np.asarray(olympus.vmap(jnp.cumsum)(x)), rows)
    weights = draw((3000,), "float32", "cumsum")
    slope = olympus.grad(lambda x: (jnp.cumsum(x) * weights).sum())(x[0])
    assert_alike(np.asarray(slope), fold_up_to_each(weights, "cumsum", 0, True))
    _, tangent = olympus.jvp(lambda x: lax.cumprod(x), (1 + 0 * x[0],), (x[0],))
    assert_alike(np.asarray(tangent), rows[0])

    def step(total, row):
        total = total + jnp.cumsum(row)
        return total, total[-1]

    total, _ = olympus.jit(lambda x: lax.scan(step, jnp.zeros(3000), x))(x)
    np.testing.assert_allclose(total, rows.sum(0), rtol=1e-4, atol=1e-3)


def test_what_is_computed_before_and_after():
    x = draw((300, 40), "float32", "cumsum")

    def f(x):
        return jnp.exp(-jnp.abs(jnp.cumsum(jnp.sin(x).T, axis=1))) * 2

    wanted = 2 * np.exp(-np.abs(np.cumsum(np.sin(x).T.astype("float64"), 1)))
    np.testing.assert_allclose(olympus.jit(f)(x), wanted, rtol=1e-4)
