"""What the functions of the page add to the primitives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.lax import special

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def same(got, want):
    np.testing.assert_array_equal(np.asarray(got), want)


def test_page_lists_what_it_has():
    assert [n for n in lax.__all__ if not hasattr(lax, n)] == []


def test_traced_sizes_are_explained():
    def f(x, n):
        return lax.reshape(x, (n,))

    with pytest.raises(TypeError) as caught:
        olympus.jit(f)(X, 12)
    message = str(caught.value)
    assert message.startswith(
        "Shapes must be 1D sequences of concrete values of integer type, got ("
    )
    assert (
        "\nIf using `jit`, try using `static_argnums` or applying `jit` to smaller "
        "subfunctions.\nThe error occurred while tracing the function f" in message
    )
    assert "depends on the value of the argument n" in message


def test_sizes_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match="1D sequences of concrete values"):
        lax.full((2.5,), 1.0)


def test_reshape_in_another_order_of_axes():
    same(lax.reshape(X, (12,), (1, 0)), X.T.reshape(12))


def test_collapse_joins_axes():
    x = np.zeros((2, 3, 4, 5), np.float32)
    assert lax.collapse(x, 1, 3).shape == (2, 12, 5)
    assert lax.collapse(x, 1).shape == (2, 60)


def test_broadcast_shapes_follows_numpy():
    assert lax.broadcast_shapes((2, 1), (3,), (1, 1, 1)) == (1, 2, 3)
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        lax.broadcast_shapes((2,), (3,))


def test_stack_and_unstack():
    parts = lax.unstack(X, 1)
    assert len(parts) == 4
    same(lax.stack(parts, 1), X)


def test_slices_by_python_rules():
    same(lax.slice_in_dim(X, 1, -1, axis=1), X[:, 1:-1])
    same(lax.slice_in_dim(X, None, None, 2, axis=1), X[:, ::2])
    same(lax.index_in_dim(X, -1, 0, keepdims=False), X[-1])


def test_dynamic_positions_wrap_and_clamp():
    same(lax.dynamic_slice(X, (-2, 1), (2, 2)), X[1:3, 1:3])
    same(lax.dynamic_slice(X, (9, 9), (2, 2)), X[1:, 2:])
    same(lax.dynamic_slice(X, np.array([1, 2]), (2, 2)), X[1:, 2:])
    same(lax.dynamic_index_in_dim(X, np.int8(-1), 1, keepdims=False), X[:, -1])
    f = olympus.jit(lambda x, i: lax.dynamic_index_in_dim(x, i, 0, keepdims=False))
    same(f(X, -1), X[-1])


def test_dynamic_updates_along_an_axis():
    want = X.copy()
    want[:, 2] = 7
    column = np.full((3,), 7, np.float32)
    same(lax.dynamic_update_index_in_dim(X, column, 2, 1), want)
    same(lax.dynamic_update_slice_in_dim(X, column[:, None], -2, 1), want)


def test_index_take():
    rows, columns = np.array([0, -1]), np.array([1, 2])
    same(lax.index_take(X, (rows, columns), (0, 1)), X[rows, columns])
    same(lax.index_take(X, (columns,), (1,)), X.T[columns])


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("float32", np.nan), ("int8", -128), ("uint8", 255), ("bool", True)],
)
def test_gather_fills_with_the_dtype_s_own_value(dtype, fill):
    x = np.zeros((2,), dtype)
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    got = lax.gather(x, np.array([[5]]), numbers, (1,), mode="fill")
    same(got, np.array([fill], dtype))


def test_gather_with_nan_is_compiled_once():
    numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    sizes = []
    for _ in range(3):
        lax.gather(X[0], np.array([[5]]), numbers, (1,), mode="fill", fill_value=np.nan)
        sizes.append(len(lax.gather_p.abstract_cache))
    assert len(set(sizes)) == 1


def test_modes_have_names():
    parse = lax.GatherScatterMode.from_any
    assert parse(None) is parse("drop") is lax.GatherScatterMode.FILL_OR_DROP
    assert parse("clip") is lax.GatherScatterMode.CLIP
    assert str(parse("promise_in_bounds")) == "GatherScatterMode.PROMISE_IN_BOUNDS"


def test_printed_scatter_shows_how_it_combines():
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))

    def f(x, u):
        return lax.scatter_add(x, np.array([[1]]), u, numbers)

    text = str(olympus.make_olympuspr(f)(X[0], X[0, :1]))
    assert "scatter-add[" in text
    assert "mode=GatherScatterMode.FILL_OR_DROP" in text
    assert "= add " in text


def test_sort_of_several():
    keys, values = np.array([2, 1, 2, 1]), np.array([4, 3, 2, 1])
    out = lax.sort((keys, values), num_keys=2)
    assert type(out) is tuple
    same(out[1], [1, 3, 2, 4])
    same(lax.sort_key_val(keys, values)[1], [3, 1, 4, 2])
    same(lax.sort(np.array([[3, 1], [2, 4]]), 0), [[2, 1], [3, 4]])


def test_sort_keeps_order_of_equals_and_puts_nan_last():
    x = np.array([0.0, np.nan, -0.0, -np.nan, -1.0], np.float32)
    order = np.asarray(lax.sort((x, np.arange(5)))[1])
    same(order, [4, 0, 2, 1, 3])


def test_approximate_extremes_are_exact():
    values, positions = lax.approx_min_k(X, 2)
    same(values, X[:, :2])
    same(positions, [[0, 1]] * 3)
    same(lax.approx_max_k(X, 1)[0], X[:, 3:])


def test_top_k_in_jit_and_grad():
    got = olympus.grad(lambda x: lax.reduce_sum(lax.top_k(x, 2)[0], (0,)))(X[0])
    same(got, [0, 0, 1, 1])


def test_max_pooling_has_a_gradient():
    def f(x):
        pooled = lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 2))
        return lax.reduce_sum(pooled, (0, 1))

    same(olympus.grad(f)(X), np.tile(np.array([0, 1, 0, 1], np.float32), (3, 1)))


@pytest.mark.parametrize("kind", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "step"), [(1, 1), (3, 2), (2, 3), (5, 2)])
def test_transposed_convolution_is_the_gradient(kind, window, step):
    """Where the sizes allow it, conv_transpose is the adjoint of the convolution."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal((2, 4, 3)).astype(np.float32)
    size = 4 * step if kind == "SAME" else 4 * step + max(window - step, 0)
    w = rng.standard_normal((window, 5, 3)).astype(np.float32)
    x = rng.standard_normal((2, size, 5)).astype(np.float32)
    layouts = ("NHC", "HIO", "NHC")

    def forward(x):
        return lax.conv_general_dilated(x, w, (step,), kind, dimension_numbers=layouts)

    out, back = olympus.vjp(forward, x)
    if out.shape != y.shape:
        pytest.skip("the convolution drops elements, so sizes differ")
    got = lax.conv_transpose(
        y, w, (step,), kind, dimension_numbers=layouts, transpose_kernel=True
    )
    np.testing.assert_allclose(got, back(y)[0], rtol=1e-4, atol=1e-4)


def test_patches_are_what_a_convolution_sees():
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)
    w = np.random.default_rng(1).standard_normal((3, 2, 2, 3)).astype(np.float32)
    patches = lax.conv_general_dilated_patches(x, (2, 3), (1, 1), "VALID")
    want = lax.conv(x, w, (1, 1), "VALID")
    got = np.einsum("nphw,op->nohw", np.asarray(patches), w.reshape(3, -1))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_shapes_of_convolutions():
    assert lax.conv_shape_tuple((2, 3, 7), (4, 3, 3), (2,), "SAME") == (2, 4, 4)
    got = lax.conv_general_shape_tuple(
        (2, 7, 3), (3, 3, 4), (2,), "VALID", ("NHC", "HIO", "NHC")
    )
    assert got == (2, 3, 4)


@pytest.mark.slow
def test_long_cumulative_sums_are_exact_for_integers():
    x = np.random.default_rng(0).integers(0, 9, 70001).astype(np.int32)
    same(lax.cumsum(x), np.cumsum(x))
    same(lax.cumsum(x, reverse=True), np.cumsum(x[::-1])[::-1])
    same(lax.cummax(x), np.maximum.accumulate(x))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_polygamma_and_zeta_are_scipy_s(m):
    x = np.linspace(0.5, 4, 8, dtype=np.float32)
    order = np.full_like(x, m)
    np.testing.assert_allclose(
        special.polygamma(order, x), scipy.special.polygamma(m, x), rtol=2e-4
    )
    np.testing.assert_allclose(
        special.zeta(order + 1, x), scipy.special.zeta(m + 1, x), rtol=2e-4
    )


def test_full_takes_weak_types_and_dtypes():
    assert lax.full((2,), 1.0).weak_type
    assert not lax.full((2,), 1.0, np.float32).weak_type
    assert lax.full_like(X, 3).dtype == np.float32
    assert lax.full_like(X, 3, shape=(1,)).shape == (1,)


def test_gradients_stop():
    def f(x):
        held = lax.stop_gradient({"a": x, "n": 2})
        return held["a"] * x * held["n"]

    assert float(olympus.grad(f)(3.0)) == 6
    text = str(olympus.make_olympuspr(lambda x: lax.stop_gradient(x))(3.0))
    assert "stop_gradient a" in text


def test_barriers_keep_structure():
    got = lax.optimization_barrier({"a": X, "b": (1, None)})
    same(got["a"], X)
    assert int(got["b"][0]) == 1
    assert got["b"][1] is None
    assert lax.optimization_barrier(()) == ()
    slope = olympus.grad(lambda x: lax.optimization_barrier((x, 2.0))[0] * x)(3.0)
    assert float(slope) == 6


def test_products_of_stacks():
    x = np.ones((2, 3, 4), np.float32)
    assert lax.batch_matmul(x, np.ones((2, 4, 5), np.float32)).shape == (2, 3, 5)
    with pytest.raises(ValueError, match="batch_matmul"):
        lax.batch_matmul(x, x[0])
    numbers = (((2,), (2,)), ((0,), (0,)))
    assert lax.dot(x, x, dimension_numbers=numbers).shape == (2, 3, 3)


def test_broadcast_like_follows_numpy():
    same(lax.broadcast_like(X[:, :1], X), np.broadcast_to(X[:, :1], X.shape))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12), ("float16", 2e-3)]
)
def test_bessel_functions_are_scipy_s(dtype, tolerance):
    with olympus.enable_x64(True):
        x = np.array([-200, -9, -8, -3, -0.1, 0, 0.5, 7.9, 8, 8.1, 30, 5e4], dtype)
        for got, want in [
            (lax.bessel_i0e(x), scipy.special.i0e(x)),
            (lax.bessel_i1e(x), scipy.special.i1e(x)),
        ]:
            assert got.dtype == dtype
            np.testing.assert_allclose(got, want, rtol=tolerance)
        if dtype == "float16":
            return
        for got, want in [
            (jnp.i0(x[1:-1]), scipy.special.i0(x[1:-1])),
            (olympus.vmap(olympus.grad(jnp.i0))(x[1:-1]), scipy.special.i1(x[1:-1])),
        ]:
            np.testing.assert_allclose(got, want, rtol=tolerance)
    assert float(olympus.grad(lax.bessel_i1e)(0.0)) == pytest.approx(0.5)


def test_precisions_are_made_of_their_names():
    assert lax.Precision("highest") is lax.Precision("float32") is lax.Precision(2)
    assert lax.Precision("tensorfloat32") is lax.Precision.HIGH
    assert lax.Precision(None) is lax.Precision.DEFAULT
    for wrong in ("none", 3, ()):
        with pytest.raises(ValueError, match="not a valid Precision"):
            lax.Precision(wrong)


def test_precisions_show_their_names():
    assert repr(lax.Precision.HIGHEST) == "Precision.HIGHEST"
    assert str(lax.Precision.HIGHEST) == "HIGHEST"
    preset = lax.DotAlgorithmPreset.F32_F32_F32
    assert repr(preset) == "DotAlgorithmPreset.F32_F32_F32"
