"""LU factors of small matrices and solutions with them, by the kernels in C."""

import itertools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax
from olympus._src import native
from olympus._src.lax.linalg import linear_systems, lu_decomposition, matrix_kernels

built = pytest.mark.skipif(
    native.load_products() is None, reason="the part in C was not built"
)
SIZES = [1, 2, 3, 5, 8, 9, 16]
COUNTS = [4, 7, 8, 19]


def has_kernel(f, *args):
    return "olympus_small" in olympus.jit(f).lower(*args).as_text()


def draw(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def tolerance(dtype):
    return 2e-3 if dtype == "float32" else 1e-11


def assert_factors(x, packed, pivots, order):
    """Whether `L U = P x`, in exchanges of the largest element of each column."""
    n = x.shape[-1]
    lower = np.tril(packed, -1) + np.eye(n)
    moved = np.take_along_axis(x, order[..., None], -2)
    np.testing.assert_allclose(
        lower @ np.triu(packed), moved, rtol=1e-4, atol=tolerance(x.dtype)
    )
    assert np.abs(lower).max() <= 1
    for exchanges, row in zip(pivots.reshape(-1, n), order.reshape(-1, n), strict=True):
        wanted = np.arange(n)
        for i, j in enumerate(exchanges):
            assert i <= j < n
            wanted[[i, j]] = wanted[[j, i]]
        np.testing.assert_array_equal(row, wanted)


@built
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_factors(n, dtype):
    with olympus.enable_x64(True):
        for count in COUNTS:
            x = draw(count, n, n, dtype=dtype)
            assert has_kernel(lax.linalg.lu, x)
            outs = [np.asarray(out) for out in lax.linalg.lu(x)]
            assert [out.dtype.name for out in outs] == [dtype, "int32", "int32"]
            assert_factors(x, *outs)


@built
@pytest.mark.parametrize("n", SIZES)
def test_solutions(n):
    with olympus.enable_x64(True):
        for dtype, columns in itertools.product(["float32", "float64"], [1, 3, 16]):
            x = draw(9, n, n, dtype=dtype) + 4 * np.eye(n, dtype=dtype)
            b = draw(9, n, columns, dtype=dtype, seed=1)
            assert has_kernel(jnp.linalg.solve, x, b)
            for a in (x, np.swapaxes(x, 1, 2)):
                wanted = np.linalg.solve(a.astype("float64"), b)
                np.testing.assert_allclose(
                    jnp.linalg.solve(a, b), wanted, rtol=0, atol=tolerance(dtype)
                )


@built
@pytest.mark.parametrize("n", SIZES)
def test_solutions_with_transposed_matrices(n):
    x, b = draw(9, n, n) + 4 * np.eye(n, dtype="float32"), draw(9, n, 2, seed=1)
    packed, _, order = lax.linalg.lu(x)

    def solve(packed, order, b):
        return linear_systems.lu_solve_p.bind(
            x, packed, order, b, transpose_a=True, conjugate_a=False
        )

    assert has_kernel(solve, packed, order, b)
    wanted = np.linalg.solve(np.swapaxes(x, 1, 2).astype("float64"), b)
    np.testing.assert_allclose(
        olympus.jit(solve)(packed, order, b), wanted, rtol=0, atol=1e-4
    )


@built
def test_the_exchanges_are_those_of_lapack():
    with_ties = np.random.default_rng(3).integers(-2, 3, (99, 5, 5)).astype("float32")
    x = np.concatenate([draw(200, 5, 5), with_ties])
    outs = lax.linalg.lu(x)
    by_lapack = olympus.jit(lu_decomposition._in_lapack.bind)(x)
    for out, wanted in zip(outs, by_lapack, strict=True):
        np.testing.assert_allclose(out[:200], wanted[:200], rtol=1e-4, atol=1e-5)
    # Later ties are of rounded numbers.
    np.testing.assert_array_equal(outs[1][:, 0], by_lapack[1][:, 0])


@built
def test_singular_matrices_and_what_is_not_finite():
    x = draw(8, 4, 4)
    x[1] = 0
    x[2, 3] = x[2, 0]
    x[3, 1, 1] = np.nan
    x[4, 0, 2] = np.inf
    x[5, :, 0] = 0
    packed, pivots, order = map(np.asarray, lax.linalg.lu(x))
    by_lapack = [
        np.asarray(out) for out in olympus.jit(lu_decomposition._in_lapack.bind)(x)
    ]
    for i in (0, 1, 2, 5, 6, 7):
        assert_factors(
            x[i : i + 1], *[out[i : i + 1] for out in (packed, pivots, order)]
        )
        np.testing.assert_allclose(packed[i], by_lapack[0][i], rtol=1e-4, atol=1e-5)
    assert np.isnan(packed[3]).any()
    assert not np.isfinite(packed[4]).all()
    np.testing.assert_array_equal(jnp.linalg.det(x)[jnp.array([1, 5])], [0, 0])
    assert not np.isfinite(jnp.linalg.inv(x)[1]).any()
    # What is beside a matrix that has no inverse is as good as alone.
    np.testing.assert_array_equal(jnp.linalg.inv(x)[6:], jnp.linalg.inv(x[6:]))


@built
@pytest.mark.parametrize("f", [jnp.linalg.inv, jnp.linalg.det, lax.linalg.lu])
def test_a_stack_is_as_its_matrices(f):
    x = draw(2, 7, 6, 6)
    outs = olympus.tree.leaves(olympus.jit(f)(x))
    mapped = olympus.tree.leaves(olympus.jit(olympus.vmap(f, 1, 1))(x))
    for i, j in np.ndindex(2, 7):
        alone = olympus.tree.leaves(f(x[i, j]))
        for out, other, one in zip(outs, mapped, alone, strict=True):
            np.testing.assert_array_equal(out[i, j], one)
            np.testing.assert_array_equal(other[i, j], one)


@pytest.mark.parametrize("n", [2, 4, 7])
def test_derivatives(n):
    with olympus.enable_x64(True):
        x = draw(5, n, n, dtype="float64") + 3 * np.eye(n)
        b = draw(5, n, 2, dtype="float64", seed=1)
        dx = draw(5, n, n, dtype="float64", seed=2)

        def f(x):
            return jnp.sum(jnp.sin(jnp.linalg.solve(x, b))) + jnp.sum(
                jnp.linalg.slogdet(x)[1] * jnp.linalg.inv(x)[:, 0, 0]
            )

        slope = np.sum(olympus.jit(olympus.grad(f))(x) * dx)
        step = 1e-6
        wanted = (f(x + step * dx) - f(x - step * dx)) / (2 * step)
        np.testing.assert_allclose(slope, wanted, rtol=1e-6)
        np.testing.assert_allclose(olympus.jvp(f, (x,), (dx,))[1], slope, rtol=1e-9)


def test_which_matrices_have_no_kernel():
    assert not has_kernel(lax.linalg.lu, draw(9, 17, 17))
    assert not has_kernel(lax.linalg.lu, draw(3, 9, 9))
    assert not has_kernel(lax.linalg.lu, draw(9, 4, 3))
    assert not has_kernel(lax.linalg.lu, draw(0, 4, 4))
    assert not has_kernel(lax.linalg.lu, draw(9, 4, 4).astype("complex64"))


def test_without_the_part_in_c(monkeypatch):
    monkeypatch.setattr(matrix_kernels.native, "load_products", lambda: None)
    olympus.clear_caches()
    x, b = draw(9, 5, 5), draw(9, 5, 2)
    assert not has_kernel(lambda x, b: jnp.linalg.solve(x, b), x, b)
    np.testing.assert_allclose(x @ jnp.linalg.solve(x, b), b, atol=1e-3)
    olympus.clear_caches()


def test_exported_programs_call_no_kernel():
    x, b = draw(9, 5, 5) + 3 * np.eye(5, dtype="float32"), draw(9, 5, 2)

    def f(x, b):
        return jnp.linalg.solve(x, b), olympus.grad(lambda x: jnp.linalg.det(x).sum())(
            x
        )

    exported = export.export(olympus.jit(f))(x, b)
    assert "olympus_small" not in exported.mlir_module()
    for got, wanted in zip(exported.call(x, b), f(x, b), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


@built
def test_an_order_that_is_none_is_refused():
    packed, b = draw(9, 5, 5), draw(9, 5, 2)
    for row in (5, -1):
        order = np.full((9, 5), row, "int32")
        with pytest.raises(olympus.errors.OlympusRuntimeError, match="order of all"):
            olympus.block_until_ready(
                linear_systems.solve_factored(packed, packed, order, b)
            )
