"""Making, arranging, joining and searching arrays, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

_RNG = np.random.default_rng(3)
A = _RNG.normal(size=(3, 4)).astype(np.float32)
B = _RNG.normal(size=(4, 3)).astype(np.float32)
I = _RNG.integers(-5, 9, (3, 4)).astype(np.int32)  # noqa: E741
M = A > 0
C = (A + 1j * A[::-1]).astype(np.complex64)
NAN = np.array([[np.nan, np.nan], [2, np.nan], [3, 4]], np.float32)
VECTOR = np.array([0, 0, 1, 0, 2, 0], np.int32)

# (name, positional arguments, keyword arguments): the same call of both modules.
CASES = [
    ("reshape", (A, (2, -1)), {}),
    ("reshape", (A, (4, 3)), {"order": "F"}),
    ("ravel", (A,), {"order": "F"}),
    ("resize", (A, (2, 9)), {}),
    ("squeeze", (A[None, :, None],), {}),
    ("squeeze", (A[None],), {"axis": 0}),
    ("expand_dims", (A, (0, -1)), {}),
    ("transpose", (A[None], (2, 0, 1)), {}),
    ("swapaxes", (A[None], 0, -1), {}),
    ("moveaxis", (A[None], (0, 1), (2, 0)), {}),
    ("rollaxis", (A[None], 2), {}),
    ("rollaxis", (A[None], 0, 3), {}),
    ("flip", (A,), {}),
    ("flip", (A, 1), {}),
    ("rot90", (A,), {}),
    ("rot90", (A,), {"k": 2}),
    ("rot90", (A,), {"k": -1, "axes": (1, 0)}),
    ("roll", (A, 5), {}),
    ("roll", (A, (1, -6)), {"axis": (0, 1)}),
    ("broadcast_to", (A, (2, 3, 4)), {}),
    ("tile", (A, (2, 1, 2)), {}),
    ("tile", (A[0], 3), {}),
    ("repeat", (A, 2), {"axis": 1}),
    ("repeat", (A, [1, 0, 2]), {"axis": 0}),
    ("atleast_3d", (A,), {}),
    ("tril", (A, -1), {}),
    ("triu", (A, 1), {}),
    ("diagonal", (A, 1), {}),
    ("diagonal", (A, -2), {}),
    ("diagonal", (np.arange(24).reshape(2, 3, 4),), {"axis1": 2, "axis2": 0}),
    ("diag", (A[0], -2), {}),
    ("diag", (A,), {}),
    ("diagflat", (A, 1), {}),
    ("trace", (A,), {}),
    ("where", (M, A, 0), {}),
    ("select", ([M, A < -0.5], [A, I]), {"default": 7}),
    ("choose", (np.abs(I) % 2, [A, B.T]), {}),
    ("choose", (I, [A, B.T]), {"mode": "wrap"}),
    ("extract", (M, A), {}),
    ("compress", ([True, False, True], A), {"axis": 0}),
    ("flatnonzero", (M,), {}),
    ("argwhere", (I,), {}),
    ("searchsorted", ([1, 2, 2, 3], [2, 0, 9]), {}),
    ("searchsorted", ([1, 2, 2, 3], [2, 0, 9]), {"side": "right"}),
    ("digitize", (A, [-1.0, 0, 1]), {}),
    ("digitize", (A, [1.0, 0, -1]), {"right": True}),
    ("sort", (A,), {"axis": 0}),
    ("sort", (A,), {"axis": None}),
    ("argsort", (I,), {"kind": "stable"}),
    ("lexsort", ((I[0], I[1]),), {}),
    ("take", (A, [0, -1]), {"axis": 1}),
    ("take", (A, [0, 5, -1, -6, -4, 8]), {"axis": 1, "mode": "wrap"}),
    ("take", (A, [0, 5, -1]), {"axis": 1, "mode": "clip"}),
    ("take_along_axis", (A, np.argsort(A, 1)), {"axis": 1}),
    ("take_along_axis", (A, np.array([[0, 1, 2, 0]])), {"axis": 0}),
    ("concatenate", ([A, A],), {"axis": -1}),
    ("concatenate", ([A, B],), {"axis": None}),
    ("stack", ([A, A],), {"axis": -1}),
    ("vstack", ([A[0], A],), {}),
    ("hstack", ([A[0], A[1]],), {}),
    ("dstack", ([A, A],), {}),
    ("column_stack", ([A[0], A.T],), {}),
    ("block", ([[A, A], [A, A]],), {}),
    ("append", (A, A), {"axis": 0}),
    ("pad", (A, ((1, 0), (0, 2))), {"constant_values": 5}),
    ("pad", (A, 1), {"constant_values": ((1, 2), (3, 4))}),
    ("pad", (A[0], 7), {"mode": "reflect"}),
    ("pad", (A, 2), {"mode": "symmetric"}),
    ("pad", (A, 5), {"mode": "wrap"}),
    ("pad", (A, 1), {"mode": "edge"}),
    ("pad", (A[0], (2, 3)), {"mode": "linear_ramp", "end_values": (5, -4)}),
    ("pad", (I, 1), {"mode": "maximum"}),
    ("delete", (A, [0, 2]), {"axis": 1}),
    ("delete", (A, 1), {}),
    ("insert", (A, 1, 5.0), {"axis": 1}),
    ("insert", (A, 0, np.ones(3, np.float32)), {"axis": 1}),
    ("insert", (A[0], [1, 3], [5.0, 6.0]), {}),
    ("trim_zeros", (VECTOR,), {}),
    ("trim_zeros", (VECTOR, "b"), {}),
    ("trim_zeros", (np.zeros(2), "b"), {}),
    ("cumsum", (A,), {"axis": 1}),
    ("cumprod", (A,), {}),
    ("diff", (A,), {"n": 2}),
    ("diff", (A[0],), {"prepend": 0.0, "append": 1.0}),
    ("ediff1d", (A,), {}),
    ("gradient", (A[0],), {}),
    ("gradient", (A[0], [0.0, 1.0, 3.0, 4.0]), {}),
    ("trapezoid", (A,), {"axis": 0}),
    ("trapezoid", (A, [0.0, 1.0, 3.0, 4.0]), {}),
    ("quantile", (A, [0.0, 0.3, 1.0]), {"axis": 1}),
    ("quantile", (A, 0.3), {"method": "lower"}),
    ("quantile", (A, 0.3), {"method": "nearest"}),
    ("nanquantile", (NAN, 0.3), {}),
    ("percentile", (I, 30), {"axis": 0, "keepdims": True}),
    ("median", (A,), {"axis": 1}),
    ("nanmedian", (NAN,), {}),
    ("nansum", (NAN,), {"axis": 1}),
    ("nanprod", (NAN,), {"axis": 0}),
    ("nanmax", (NAN[1:],), {"axis": 1}),
    ("nanmin", (NAN[1:],), {"axis": 1}),
    ("nanmean", (NAN[1:],), {"axis": 1}),
    ("nanvar", (NAN[1:],), {"axis": 1}),
    ("nanargmax", (NAN[1:],), {"axis": 1}),
    ("average", (A,), {"weights": [1.0, 2, 3, 4], "axis": 1}),
    ("cov", (A,), {}),
    ("cov", (A,), {"fweights": [1, 2, 1, 1], "aweights": [1.0, 2, 3, 4]}),
    ("corrcoef", (A,), {}),
    ("bincount", (np.abs(I).ravel(),), {}),
    ("bincount", (np.abs(I).ravel(),), {"weights": A.ravel()}),
    ("isin", (I, [1, 2]), {}),
    ("union1d", (I, [77, 1]), {}),
    ("setdiff1d", (I, [1, 2]), {}),
    ("setxor1d", (I, [1, 99]), {}),
    ("intersect1d", (I, [1, 2, 3]), {}),
    ("unique", (I,), {}),
    ("polyval", (A[0], A), {}),
    ("polyadd", (A[0], [1.0, 2.0]), {}),
    ("polymul", ([1.0, 2.0], [1.0, 2.0, 3.0]), {}),
    ("polyder", (A[0],), {}),
    ("polyint", (A[0],), {"m": 2, "k": [1.0, 2.0]}),
    ("poly", ([1.0, 2.0, 3.0],), {}),
    ("vander", ([1.0, 2.0, 3.0], 2), {"increasing": True}),
    ("convolve", (A[0], [1.0, 2.0, 3.0]), {"mode": "same"}),
    ("convolve", ([1.0, 2.0], A[0]), {"mode": "valid"}),
    ("correlate", ([1.0, 2.0], A[0]), {"mode": "full"}),
    ("correlate", (C[0], C[1]), {"mode": "full"}),
    ("interp", (A, [-1.0, 0, 1], [2.0, 3, 7]), {"left": 0.0}),
    ("interp", (A, [-1.0, 0, 1], [2.0, 3, 7]), {"period": 2.0}),
    ("unwrap", (A * 5,), {"axis": 0}),
    ("packbits", (M,), {"axis": 1}),
    ("unpackbits", (np.arange(6, dtype=np.uint8),), {"bitorder": "little"}),
    ("kaiser", (5, 2.0), {}),
    ("matmul", (A, B), {}),
    ("kron", (A, B), {}),
    ("vdot", (C, C), {}),
    ("tensordot", (A, B), {"axes": 1}),
    ("cross", (A[:, :3], A[:, 1:]), {}),
    ("ptp", (A,), {"axis": 0}),
    ("count_nonzero", (I,), {"axis": 1}),
    ("std", (A,), {"ddof": 1}),
    ("var", (C,), {"axis": 0}),
    ("argmin", (A,), {"axis": 0, "keepdims": True}),
]

# NumPy's own lists stay lists there; here arrays are asked for.
_KEEP_LISTS = {"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"}
_KEEP_LISTS |= {"block", "select", "choose", "lexsort"}


def _ours(name, x):
    whole = name not in _KEEP_LISTS and isinstance(x, list)
    return np.asarray(x) if whole else x


def test_a_rank_that_must_be_a_mistake_is_refused():
    with pytest.raises(ValueError, match="ndmin must be at most 4096"):
        jnp.array(1, ndmin=2**31)


@pytest.mark.parametrize("ddof", [3, 4, 5])
@pytest.mark.parametrize("weights", [{}, {"aweights": [1.0, 2, 3, 4]}])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cov_without_a_degree_of_freedom(ddof, weights):
    weights = {k: np.float32(w) for k, w in weights.items()}
    wanted = np.cov(A, ddof=ddof, **weights)
    np.testing.assert_allclose(jnp.cov(A, ddof=ddof, **weights), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    "case", range(len(CASES)), ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)]
)
def test_against_numpy(case):
    name, args, kwargs = CASES[case]
    wanted = np.asarray(getattr(np, name)(*args, **kwargs))
    args = tuple(_ours(name, x) for x in args)
    kwargs = {k: _ours(name, v) if k != "axis" else v for k, v in kwargs.items()}
    found = getattr(jnp, name)(*args, **kwargs)
    assert found.shape == wanted.shape
    assert np.asarray(found).dtype.kind == wanted.dtype.kind
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "var",
    "std",
    "any",
    "all",
    "argmax",
    "argmin",
]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, axis, keepdims):
    wanted = getattr(np, name)(A, axis=axis, keepdims=keepdims)
    found = getattr(jnp, name)(A, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    method = getattr(jnp.asarray(A), name)(axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(method, found)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
def test_reductions_over_several_axes_under_a_mask(name):
    options = {"where": M}
    if name in ("max", "min"):
        options["initial"] = 0.25
    wanted = getattr(np, name)(A[None], axis=(0, 2), **options)
    found = getattr(jnp, name)(A[None], axis=(0, 2), **options)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jnp.max(jnp.ones(0)), ValueError, "zero-size array to reduction"),
        (lambda: jnp.argmax(jnp.ones(0)), ValueError, "empty sequence"),
        (lambda: jnp.sum(A, axis=2), ValueError, "axis 2 is out of bounds"),
        (lambda: jnp.sum(A, axis=(0, 0)), ValueError, "duplicate value in 'axis'"),
        (lambda: jnp.max(A, where=M), ValueError, "does not have an identity"),
        (lambda: jnp.std(A, ddof=1, correction=1), ValueError, "simultaneously"),
        (lambda: jnp.reshape(A, (5, 5)), TypeError, "cannot reshape array of shape"),
        (lambda: jnp.reshape(A, (-1, -1)), ValueError, "one unknown axis"),
        (lambda: jnp.squeeze(A, 0), ValueError, "size not equal to one"),
        (lambda: jnp.concatenate([]), ValueError, "Need at least one array"),
        (lambda: jnp.concatenate([1, 2]), ValueError, "Zero-dimensional arrays"),
        (lambda: jnp.stack([A, B]), ValueError, "same shape"),
        (lambda: jnp.split(A, 2), ValueError, "equal division"),
        (lambda: jnp.broadcast_to(A, (3,)), ValueError, "Incompatible shapes"),
        (lambda: jnp.pad(A, -1), ValueError, "negative values"),
        (lambda: jnp.where(M, A), TypeError, "got x and no y"),
        (lambda: jnp.nonzero(3), ValueError, "0d arrays"),
        (lambda: jnp.take(A, 1.0), ValueError, "integer type"),
        (lambda: jnp.linspace(0, 1, -1), ValueError, "non-negative"),
        (lambda: jnp.zeros(-1), TypeError, "nonnegative"),
        (lambda: jnp.zeros(2.0), TypeError, "Shapes must be 1D sequences"),
        (lambda: jnp.array([[1], [1, 2]]), ValueError, "equal lengths"),
        (lambda: jnp.array("a"), TypeError, "numbers"),
        (lambda: jnp.array([None]), ValueError, "None is not a valid value"),
        (lambda: jnp.fill_diagonal(A, 0), NotImplementedError, "inplace must be False"),
        (lambda: jnp.linalg.norm(A, 3), ValueError, "Invalid order"),
    ],
)
def test_errors_say_what_was_required(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("f", [jnp.nonzero, jnp.unique, jnp.argwhere, jnp.trim_zeros])
def test_sizes_that_depend_on_traced_values(f):
    with pytest.raises(olympus.errors.ConcretizationTypeError, match=r"size|slices"):
        olympus.jit(f)(VECTOR)


def test_sizes_may_be_stated_instead():
    found = olympus.jit(lambda x: jnp.nonzero(x, size=3, fill_value=-1)[0])(VECTOR)
    np.testing.assert_array_equal(found, [2, 4, -1])
    values, counts = olympus.jit(
        lambda x: jnp.unique(x, size=4, return_counts=True, fill_value=9)
    )(VECTOR)
    np.testing.assert_array_equal(values, [0, 1, 2, 9])
    np.testing.assert_array_equal(counts, [4, 1, 1, 0])


def test_unique_returns_positions_inverse_and_counts():
    found = jnp.unique(I, True, True, True)
    for ours, wanted in zip(found, np.unique(I, True, True, True), strict=True):
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("shift", [-7, -1, 0, 3, 9])
def test_roll_by_a_traced_shift(shift):
    found = olympus.jit(lambda s: jnp.roll(A, s, axis=1))(shift)
    np.testing.assert_array_equal(found, np.roll(A, shift, axis=1))


@pytest.mark.parametrize("total", [2, 3, 5])
def test_repeat_by_traced_counts(total):
    found = olympus.jit(lambda r: jnp.repeat(A, r, axis=0, total_repeat_length=total))(
        np.array([1, 0, 2])
    )
    wanted = A[[0, 2, 2, 2, 2]][:total]
    np.testing.assert_array_equal(found, wanted)


def test_histogram():
    for options in ({}, {"bins": 3, "range": (-1, 1)}, {"weights": A}):
        counts, edges = jnp.histogram(A, **options)
        wanted, wanted_edges = np.histogram(A, **options)
        np.testing.assert_allclose(counts, wanted, rtol=1e-4)
        np.testing.assert_allclose(edges, wanted_edges, rtol=1e-5)


def test_ranges():
    for args in [(5,), (2, 8, 2), (5, 0, -2), (0, 1, 0.25), (0,), (-3,)]:
        np.testing.assert_allclose(jnp.arange(*args), np.arange(*args))
        staged = olympus.jit(lambda args=args: jnp.arange(*args))()
        np.testing.assert_allclose(staged, np.arange(*args))
    np.testing.assert_allclose(jnp.linspace(0, 1, 5), np.linspace(0, 1, 5))
    traced = olympus.jit(lambda a: jnp.linspace(a, 3.0, 4))(1.0)
    np.testing.assert_allclose(traced, np.linspace(1, 3, 4), rtol=1e-6)


def test_filled_arrays_compile_nothing():
    before = olympus.numpy.zeros((2, 2))
    np.testing.assert_array_equal(before, np.zeros((2, 2)))
    np.testing.assert_array_equal(jnp.eye(2, 3, 1), np.eye(2, 3, 1))
    np.testing.assert_array_equal(jnp.tri(3, k=-1), np.tri(3, k=-1))
    np.testing.assert_array_equal(jnp.full((2,), jnp.arange(2)), [0, 1])


def test_copies_are_independent_of_their_source():
    source = np.ones(3, np.float32)
    x = jnp.asarray(source)
    source[:] = 7
    np.testing.assert_array_equal(x, [1, 1, 1])


def test_arrays_of_traced_values():
    found = olympus.jit(lambda a: jnp.array([[a, 1.0], [2.0, a * 3]]))(5.0)
    np.testing.assert_array_equal(found, [[5, 1], [2, 15]])


def test_vectorize_and_apply_along_axis():
    dot = jnp.vectorize(lambda x, y: x @ y, signature="(n),(n)->()")
    np.testing.assert_allclose(dot(A, A[0]), A @ A[0], rtol=1e-5)
    np.testing.assert_allclose(dot(A[:, None], A), A @ A.T, rtol=1e-5)
    sorted_rows = jnp.apply_along_axis(jnp.sort, 0, A)
    np.testing.assert_array_equal(sorted_rows, np.sort(A, 0))
    with pytest.raises(ValueError, match="inconsistent size for core dimension"):
        dot(A, B)


def test_norms_and_powers():
    for order in (None, 1, -1, np.inf, -np.inf, "fro"):
        np.testing.assert_allclose(
            jnp.linalg.norm(A, order), np.linalg.norm(A, order), rtol=1e-5
        )
    for order in (None, 0, 1, 3, np.inf):
        np.testing.assert_allclose(
            jnp.linalg.norm(A[0], order), np.linalg.norm(A[0], order), rtol=1e-5
        )
    square = A[:, :3]
    np.testing.assert_allclose(
        jnp.linalg.matrix_power(square, 5),
        np.linalg.matrix_power(square, 5),
        rtol=1e-4,
    )
    np.testing.assert_allclose(jnp.linalg.multi_dot([A, B, A]), A @ B @ A, rtol=1e-4)


@pytest.mark.parametrize(
    ("first", "last"),
    [(1j, 3j), (1 + 1j, 5 - 2j), (-2 + 0j, 8 + 0j), (-1j, 4j), (0.5 - 2j, 0.5 - 4j)],
)
@pytest.mark.parametrize("endpoint", [True, False])
def test_ratios_of_complex_numbers_begin_with_the_first(first, last, endpoint):
    got = jnp.geomspace(first, last, 4, endpoint)
    assert got[0] == pytest.approx(first, rel=1e-6)
    want = np.geomspace(first, last, 4, endpoint)
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=3e-6)


def test_ratios_from_zero_are_not_numbers():
    assert np.isnan(jnp.geomspace(0.0, 3.0, 4)).all()


def test_ratios_along_a_later_axis_keep_the_sign_of_their_line():
    first, last = np.float32([1, -1, 2]), np.float32([8, -8, 4])
    for num in (0, 1, 2, 4):
        got = jnp.geomspace(first, last, num, axis=-1)
        np.testing.assert_allclose(got, np.geomspace(first, last, num, axis=-1), 1e-6)
    rows = np.stack([last, last])
    got = jnp.geomspace(first, rows, 2, axis=1)
    np.testing.assert_allclose(got, np.geomspace(first, rows, 2, axis=1), 1e-6)


def test_grids():
    np.testing.assert_array_equal(jnp.mgrid[0:2, 0:3], np.mgrid[0:2, 0:3])
    np.testing.assert_allclose(jnp.mgrid[0:1:3j], np.mgrid[0:1:3j])
    mixed = jnp.ogrid[0:4:2, 0:1:3j]
    assert [str(x.dtype) for x in mixed] == ["float32", "float32"]
    np.testing.assert_array_equal(jnp.r_[A[0], 1, 2], np.r_[A[0], 1, 2])
    np.testing.assert_array_equal(jnp.c_[A[0], A[1]], np.c_[A[0], A[1]])


@pytest.mark.parametrize(
    ("value", "dtype", "error", "words"),
    [
        (1j, float, TypeError, "complex number"),
        ([1j], float, TypeError, "complex"),
        (np.nan, int, ValueError, "NaN to integer"),
        ([np.nan], "int8", ValueError, "NaN to integer"),
        (np.inf, int, OverflowError, "infinity to integer"),
        (1e10, "int8", OverflowError, "out of bounds for int8"),
        (300, "uint8", OverflowError, "out of bounds for uint8"),
        ([300], "uint8", OverflowError, "out of bounds for uint8"),
        ([1, jnp.ones(2)], None, TypeError, "equal lengths"),
    ],
)
def test_python_numbers_that_a_dtype_cannot_hold(value, dtype, error, words):
    with pytest.raises(error, match=words):
        jnp.asarray(value, dtype=dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "wanted"),
    [
        # Recorded from jax 0.10.2: arrays of NumPy are cast as C does.
        (np.array(300), "uint8", 44),
        (np.int64(-1), "uint8", 255),
        (np.array([300]), "uint8", [44]),
        (1.9, "int32", 1),
        ([1.9, True], "int32", [1, 1]),
        (1j, "bool", True),
        ([1, 2.5], "bfloat16", [1, 2.5]),
        (1e300, "float32", np.inf),
        ([1e300], "float16", [np.inf]),
    ],
)
def test_values_cast_to_a_dtype(value, dtype, wanted):
    found = jnp.asarray(value, dtype=dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found).astype(np.float64), wanted)
