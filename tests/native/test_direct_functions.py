"""Functions that are one program: calls that go to it at once give what others give."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax, nn, scipy
from olympus._src import native, tree

X = np.linspace(0.1, 0.9, 8).astype(np.float32)
M = (np.eye(3) + 0.1 * np.arange(9).reshape(3, 3)).astype(np.float32)
S = (M + M.T).astype(np.float32)
HOLES = np.array([[1, np.nan, 3], [4, 5, np.nan]], np.float32)
N = np.arange(8) % 3


def _each(names, *args, **kwargs):
    return [(name, args, kwargs) for name in names.split()]


# Of each function the arguments and keywords of a call.
CALLS = [
    *_each("sin negative sum mean std argmax sort cumsum diff median i0 ediff1d", X),
    *_each("unwrap gradient trapezoid vander ravel atleast_2d atleast_3d", X),
    *_each("count_nonzero cumulative_sum cumulative_prod frexp", X),
    *_each("nansum nanprod nanmax nanmin nan_to_num", HOLES),
    *_each("nanmean nanvar nanstd", HOLES, axis=0),
    *_each("cov corrcoef fliplr flipud rot90 diagonal unstack", M),
    *_each("linalg.eigh linalg.eigvalsh linalg.svd linalg.svdvals linalg.qr", S),
    *_each("linalg.det linalg.inv linalg.slogdet linalg.norm", S),
    *_each("add multiply arctan2 less", X, X[::-1]),
    *_each("convolve correlate outer append kron", X, X[:3]),
    ("add", (X, 2), {}),
    ("add", (X, np.float32(2)), {}),
    ("power", (2.0, X), {}),
    ("sum", (2.5,), {}),
    ("sum", (N,), {"axis": 0}),
    ("linalg.cholesky", (M @ M.T,), {}),
    ("linalg.matrix_power", (M, 3), {}),
    ("linalg.solve", (M, X[:3]), {}),
    ("moveaxis", (M, 0, 1), {}),
    ("rollaxis", (M, 1), {}),
    ("resize", (X, (2, 4)), {}),
    ("take", (X, 1), {}),
    ("take", (X, N), {"mode": "clip"}),
    ("take_along_axis", (X, N), {}),
    ("put_along_axis", (X, N, X), {"axis": 0, "inplace": False}),
    ("put_along_axis", (M, N[:3], X[:3]), {"axis": None, "inplace": False}),
    ("block", ([[M, M], [M, M]],), {}),
    ("block", ([X, 2.0],), {}),
    ("concatenate", ([X, X],), {}),
    ("stack", ([X, X],), {"axis": 1}),
    ("polyfit", (X, X, 1), {}),
    ("geomspace", (1.0, 10.0, 5), {}),
    ("trapezoid", (X,), {"dx": 0.5}),
    ("trapezoid", (X, X), {}),
    ("gradient", (X, 0.5), {}),
    ("unwrap", (10 * X,), {"period": 3.0}),
    ("clip", (X, 0.2, 0.5), {}),
    ("where", (X > 0.5, X, 0), {}),
    ("clip", (X, 0.5), {}),
    ("clip", (X, None, 0.5), {}),
    ("sum", (X,), {"dtype": np.float16}),
    ("sum", (X,), {"dtype": np.dtype("int32")}),
    ("sum", (X,), {"dtype": float}),
    ("sum", (X,), {"initial": 2.5}),
    ("max", (N,), {"initial": 1}),
    ("nanmax", (HOLES,), {"axis": 1, "initial": 4}),
    ("mean", (X,), {"where": X > 0.5}),
    ("diff", (X,), {"prepend": 0.5, "append": X}),
    *_each("average", X, weights=X[::-1]),
    *_each("average", X, returned=True),
    *_each("fft.fft fft.rfft fft.irfft fft.fftn fft.hfft fft.fftshift", X),
    *_each("polyder polyint poly sort_complex", X),
    *_each("linalg.cond linalg.eigvals", M),
    *_each("polyadd polysub", X, X[:3]),
    ("lexsort", ([X, N],), {}),
    ("gradient", (N,), {}),
    ("broadcast_arrays", (M, X[:3], 2.0), {}),
]


def _given(x, convert):
    if isinstance(x, (list, tuple)):
        return type(x)(_given(item, convert) for item in x)
    return convert(x) if isinstance(x, np.ndarray) else x


def _assert_same(x, y):
    assert type(x) is type(y)
    leaves, others = tree.tree_leaves(x), tree.tree_leaves(y)
    assert len(leaves) == len(others)
    for a, b in zip(leaves, others, strict=True):
        assert a.aval == b.aval
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize(
    ("name", "args", "kwargs"), CALLS, ids=[name for name, _, _ in CALLS]
)
def test_later_calls_give_what_the_first_gave(name, args, kwargs):
    fun = functools.reduce(getattr, name.split("."), onp)
    arrays = _given(args, onp.asarray)
    olympus.clear_caches()
    expected = fun(*arrays, **kwargs)
    for _ in range(6):
        _assert_same(fun(*arrays, **kwargs), expected)
    for _ in range(5):
        _assert_same(fun(*args, **kwargs), expected)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.skipif(native.calls is None, reason="the part in C was not built here")
def test_they_are_learnt():
    unknown = set()
    for name, args, kwargs in CALLS:
        fun = functools.reduce(getattr, name.split("."), onp)
        for _ in range(6):
            fun(*_given(args, onp.asarray), **kwargs)
        table = getattr(fun, "table", None)
        if table is None:  # a ufunc, which stands before one
            continue
        runners = [type(x) is native.calls.Runner for x in table.values()]
        unknown |= set() if any(runners) else {name}
    assert unknown <= {"concatenate", "power", "ravel", "stack", "where"}


@pytest.mark.parametrize(
    ("fun", "args"),
    [
        (nn.standardize, (X,)),
        (nn.log_softmax, (X,)),
        (nn.glu, (X,)),
        (scipy.linalg.cholesky, (M @ M.T,)),
        (scipy.linalg.lu, (M,)),
        (scipy.linalg.qr, (M,)),
        (scipy.linalg.svd, (M,)),
        (scipy.linalg.eigh, (S,)),
        (scipy.linalg.expm, (M,)),
        (scipy.linalg.lu_factor, (M,)),
        (scipy.linalg.solve, (M, X[:3])),
        (scipy.linalg.solve_triangular, (M, X[:3])),
        (scipy.linalg.inv, (M,)),
    ],
)
def test_functions_of_other_modules(fun, args):
    olympus.clear_caches()
    expected = fun(*args)
    for _ in range(7):
        _assert_same(fun(*args), expected)
        _assert_same(fun(*_given(args, onp.asarray)), expected)


def test_epsilon_may_be_a_number_or_an_array():
    for epsilon in (0.5, 1, np.float32(0.5), onp.float32(0.5)):
        for _ in range(7):
            out = nn.standardize(X, epsilon=epsilon)
            expected = (X - X.mean()) / np.sqrt(X.var() + float(epsilon))
            np.testing.assert_allclose(out, expected, rtol=1e-5)


def test_a_dtype_is_told_from_others():
    for dtype in (np.float16, "int32", np.dtype("int8"), onp.int32, float, int, None):
        for _ in range(3):
            out = onp.sum(onp.asarray(X), dtype=dtype)
            expected = onp.sum.__wrapped__(onp.asarray(X), dtype=dtype)
            _assert_same(out, expected)


def test_a_numpy_mask_may_change():
    x, mask = onp.asarray(X), np.ones(8, bool)
    for i in range(8):
        mask[i] = False
        assert onp.count_nonzero(onp.where(mask, x, 0)) == 7 - i
        np.testing.assert_allclose(onp.sum(x, where=mask), X[i + 1 :].sum(), 1e-6)


UFUNC_CALLS = [
    ("maximum", "accumulate", (N,), {}),
    ("subtract", "accumulate", (N,), {"dtype": np.float32}),
    ("subtract", "reduce", (N,), {}),
    ("subtract", "reduce", (M,), {"axis": 1, "keepdims": True}),
    ("bitwise_xor", "reduce", (N,), {"initial": 5}),
    ("bitwise_or", "reduce", (N,), {"where": N > 0}),
    ("add", "reduceat", (N, np.array([0, 3, 5])), {}),
    ("multiply", "outer", (N, N[:3]), {}),
]


@pytest.mark.parametrize(("name", "method", "args", "kwargs"), UFUNC_CALLS)
def test_methods_of_ufuncs_are_one_program(name, method, args, kwargs):
    expected = getattr(getattr(np, name), method)(*args, **kwargs)
    fun = getattr(getattr(onp, name), method)
    for _ in range(3):
        np.testing.assert_array_equal(fun(*args, **kwargs), expected)
        np.testing.assert_array_equal(
            olympus.jit(lambda *xs: fun(*xs, **kwargs))(*args), expected
        )


@pytest.mark.parametrize("dtype", [None, "float32", onp.int32, np.float16, float])
def test_powers_of_numbers_are_kept_by_what_they_are(dtype):
    for ends in ((0, 2, 3), (0.0, 2.0, 3), (0, 2, 3, False), (0, 2, 3, True, 2)):
        expected = np.logspace(*ends)
        for _ in range(3):
            out = onp.logspace(*ends, dtype=dtype)
            assert out.dtype == onp.zeros(0, dtype=dtype).dtype
            np.testing.assert_allclose(out, expected.astype(out.dtype), 1e-3)


INDICES = [0, 2, -1, 7, np.int8(-2), np.int64(2**40), -(2**70), np.uint64(2**63)]


@pytest.mark.parametrize("index", INDICES)
def test_positions_of_slices_are_operands(index):
    x, row = onp.asarray(M), onp.asarray(M[:1])
    calls = {
        "dynamic_index_in_dim": (x, index, 1, False),
        "dynamic_slice_in_dim": (x, index, 2),
        "dynamic_slice": (x, (index, 0), (2, 2)),
        "dynamic_update_slice": (x, row, [index, 0]),
        "dynamic_update_slice_in_dim": (x, row, index, 0),
        "dynamic_update_index_in_dim": (x, 2.0 * row[0], index, 0),
    }
    for name, args in calls.items():
        fun = getattr(lax, name)
        expected = fun.__wrapped__(*args) if native.calls else fun(*args)
        for _ in range(4):
            _assert_same(fun(*args), expected)
        assert pickle.loads(pickle.dumps(fun)) is fun


def test_functions_of_lax_say_what_is_wrong_at_each_call():
    for _ in range(3):
        with pytest.raises(TypeError, match="dynamic_update_slice"):
            lax.dynamic_update_slice(onp.zeros(3), onp.zeros(2, "int32"), (0,))
        with pytest.raises(ValueError, match="start index for each"):
            lax.dynamic_slice(onp.zeros(3), (0, 0), (1,))


def test_functions_of_lax_are_operations_where_jit_is_off():
    with olympus.disable_jit():
        for _ in range(3):
            assert lax.dynamic_index_in_dim(onp.arange(3), 1, keepdims=False) == 1
