"""Operations on BCOO against the same ones on dense arrays, for all layouts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.experimental import sparse
from tests.sparse.matrices import as_dense, bcoo, dense_array

SHAPE = (2, 3, 4)
OTHER = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
WIDE = np.arange(36, dtype=np.float32).reshape(4, 9) - 5

# An operation on sparse arrays, and on dense ones.
LAWS = {
    "neg": (lambda x: -x, lambda x: -x),
    "abs": (abs, abs),
    "twice": (lambda x: 2 * x, lambda x: 2 * x),
    "quotient": (lambda x: x / 2, lambda x: x / 2),
    "square": (lambda x: x**2, lambda x: x**2),
    "plus": (lambda x: x + x, lambda x: x + x),
    "minus twice": (lambda x: x - 2 * x, lambda x: -x),
    "plus dense": (lambda x: x + x.todense(), lambda x: x + x),
    "times": (lambda x: x * (2 * x), lambda x: 2 * x * x),
    "times dense": (lambda x: x * x.todense(), lambda x: x * x),
    "times row": (lambda x: x * jnp.arange(4.0), lambda x: x * np.arange(4)),
    "astype": (lambda x: x.astype(int), lambda x: x.astype(int)),
    "sin": (lambda x: sparse.sparsify(jnp.sin)(x), np.sin),
    "sum 0": (lambda x: x.sum(0), lambda x: x.sum(0)),
    "sum 1 2": (lambda x: x.sum((1, 2)), lambda x: x.sum((1, 2))),
    "sum": (lambda x: x.sum(), lambda x: x.sum()),
    "sort": (lambda x: x.sort_indices(), lambda x: x),
    "duplicates": (lambda x: x.sum_duplicates(), lambda x: x),
    "duplicates nse": (lambda x: x.sum_duplicates(nse=24), lambda x: x),
    "as sparse": (lambda x: x.update_layout(n_batch=0, n_dense=0), lambda x: x),
    "as batch": (
        lambda x: x.update_layout(n_batch=2, n_dense=0, on_inefficient=None),
        lambda x: x,
    ),
    "as dense": (
        lambda x: x.update_layout(n_batch=0, n_dense=2, on_inefficient=None),
        lambda x: x,
    ),
    "item": (lambda x: x[1], lambda x: x[1]),
    "items": (lambda x: x[jnp.array([1, 0, 1])], lambda x: x[[1, 0, 1]]),
    "part": (lambda x: x[:, 1:, ::2], lambda x: x[:, 1:, ::2]),
    "reversed": (lambda x: x[::-1, :, ::-1], lambda x: x[::-1, :, ::-1]),
    "new axes": (lambda x: x[None, ..., None], lambda x: x[None, ..., None]),
    "reshape": (lambda x: x.reshape(4, 6), lambda x: x.reshape(4, 6)),
    "reshape flat": (lambda x: x.reshape(24), lambda x: x.reshape(24)),
    "dynamic slice": (
        lambda x: sparse.bcoo_dynamic_slice(x, (1, 1, 3), (1, 2, 2)),
        lambda x: x[1:, 1:, 2:],
    ),
    "concatenate": (
        lambda x: sparse.bcoo_concatenate([x, 2 * x], dimension=1),
        lambda x: np.concatenate([x, 2 * x], 1),
    ),
    "concatenate 0": (
        lambda x: sparse.bcoo_concatenate([x, x[:1]], dimension=0),
        lambda x: np.concatenate([x, x[:1]], 0),
    ),
    "concatenate 2": (
        lambda x: sparse.bcoo_concatenate([x, x], dimension=2),
        lambda x: np.concatenate([x, x], 2),
    ),
    "broadcast": (
        lambda x: sparse.bcoo_broadcast_in_dim(
            x, shape=(5, 2, 3, 4), broadcast_dimensions=(1, 2, 3)
        ),
        lambda x: np.broadcast_to(x, (5, 2, 3, 4)),
    ),
    "matmul": (lambda x: x @ OTHER, lambda x: x @ OTHER),
    "matmul wide": (lambda x: x @ WIDE, lambda x: x @ WIDE),
    "matmul left": (
        lambda x: jnp.asarray(OTHER[:, :3]) @ x,
        lambda x: OTHER[:, :3] @ x,
    ),
    "contract 0": (
        lambda x: sparse.bcoo_dot_general(
            x, jnp.ones((3, 2)), dimension_numbers=(([0], [1]), ([], []))
        ),
        lambda x: np.tensordot(x, np.ones((3, 2)), (0, 1)),
    ),
    "contract all": (
        lambda x: sparse.bcoo_dot_general(
            x, x.todense(), dimension_numbers=(([0, 1, 2], [0, 1, 2]), ([], []))
        ),
        lambda x: (x * x).sum(),
    ),
    "extract": (
        lambda x: sparse.bcoo_extract(x.sum_duplicates(), x.todense()),
        lambda x: x,
    ),
}
LAYOUTS = [
    {"n_batch": b, "n_dense": d}
    for b, d in itertools.product(range(4), range(4))
    if b + d <= 3
]
# The operations of a quick run meet these; the others all layouts.
FEW = [{}, {"n_batch": 1}, {"n_dense": 1}, {"n_batch": 1, "n_dense": 1}]


def check_law(name, layout, is_untidy, dtype="float32"):
    rng = np.random.default_rng(0)
    dense = dense_array(rng, SHAPE, dtype)
    operate, want = LAWS[name]
    x = bcoo(dense, rng if is_untidy else None, **layout)
    try:
        got = as_dense(operate(x))
    except NotImplementedError as error:
        pytest.skip(str(error)[:60])
    np.testing.assert_allclose(got, want(dense), rtol=1e-5, atol=1e-5)


# Of a quick run: operations of each kind, in one layout each.
QUICK = [
    *itertools.product(["matmul", "sum 0"], FEW),
    *itertools.product(
        [
            "matmul wide",
            "times",
            "part",
            "items",
            "reshape",
            "concatenate",
            "duplicates",
        ],
        [{}],
    ),
    ("contract 0", {"n_batch": 1}),
    ("as batch", {"n_dense": 1}),
]


@pytest.mark.parametrize(("name", "layout"), QUICK)
def test_operation_is_that_of_the_dense_array(name, layout):
    check_law(name, layout, is_untidy=True)


@pytest.mark.slow
@pytest.mark.sampled(8)
@pytest.mark.parametrize("is_untidy", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", LAWS)
def test_all_operations_in_all_layouts(name, layout, is_untidy):
    check_law(name, layout, is_untidy)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["int32", "int8", "complex64", "bfloat16"])
@pytest.mark.parametrize(
    "name", ["plus", "times dense", "sum 0", "matmul", "matmul wide", "duplicates"]
)
def test_operations_in_other_dtypes(name, dtype):
    rng = np.random.default_rng(1)
    dense = dense_array(rng, SHAPE, "float32" if dtype == "bfloat16" else dtype)
    x = bcoo(jnp.asarray(dense, dtype), None if dtype == "bfloat16" else rng)
    operate, want = LAWS[name]
    got = as_dense(operate(x)).astype(np.result_type(dense, np.float32))
    np.testing.assert_allclose(got, want(dense), rtol=2e-2)


def test_booleans():
    dense = np.array([[True, False], [True, True]])
    x = sparse.BCOO.fromdense(dense)
    assert x.nse == 3
    assert as_dense(x).dtype == bool
    np.testing.assert_array_equal(as_dense(x), dense)
    np.testing.assert_array_equal(as_dense(x.transpose()), dense.T)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_arrays_without_elements(shape):
    x = bcoo(np.zeros(shape, np.float32))
    assert x.nse == 0
    for y, want in [
        (x, shape),
        (x + x, shape),
        (x @ np.ones((shape[1], 9), np.float32), (shape[0], 9)),
        (x.sum(0), shape[1:]),
        (x.sum_duplicates(), shape),
        (x.reshape(0), (0,)),
    ]:
        assert as_dense(y).shape == want
        assert not as_dense(y).any()


def test_nothing_stored():
    x = sparse.empty((2, 3))
    np.testing.assert_array_equal(x @ np.ones((3, 9), np.float32), np.zeros((2, 9)))
    np.testing.assert_array_equal(as_dense(x + sparse.eye(2, 3)), np.eye(2, 3))


# -- padding ---------------------------------------------------------------------------


def test_padding_meets_no_infinity():
    data = jnp.array([1.0, np.nan, np.inf])
    indices = jnp.array([[0, 0], [2, 1], [1, 9]])
    x = sparse.BCOO((data, indices), shape=(2, 2))
    v = jnp.array([2.0, np.inf])
    for width in (None, 1, 9):
        right = v if width is None else jnp.repeat(v[:, None], width, 1)
        want = np.zeros((2, *right.shape[1:]))
        want[0] = 2
        np.testing.assert_array_equal(x @ right, want)
        np.testing.assert_array_equal(olympus.jit(lambda a, b: a @ b)(x, right), want)
    assert x.sum() == 1
    np.testing.assert_array_equal(as_dense(x.sum(0)), [1, 0])
    np.testing.assert_array_equal(as_dense(x.sum(1)), [1, 0])
    slope = sparse.grad(lambda a: (a @ v).sum())(x)
    np.testing.assert_array_equal(slope.data, [2, 0, 0])


@pytest.mark.parametrize(
    "operate",
    [
        lambda x: x[:, :1],
        lambda x: x[0],
        lambda x: x[:, ::-1],
        lambda x: x.reshape(4),
        lambda x: sparse.bcoo_concatenate([x, x], dimension=1),
        lambda x: x.update_layout(n_dense=1, on_inefficient=None),
        lambda x: x.update_layout(n_batch=1, on_inefficient=None),
        lambda x: sparse.bcoo_broadcast_in_dim(
            x[:, None], shape=(2, 3, 2), broadcast_dimensions=(0, 1, 2)
        ),
        lambda x: x @ sparse.eye(2),
        lambda x: sparse.BCSR.from_bcoo(x),
    ],
)
def test_padding_stays_outside(operate):
    indices = jnp.array([[0, 0], [0, 2], [2, 0], [-1, 1], [5, 5]])
    x = sparse.BCOO((jnp.array([1.0, 7, 7, 7, 7]), indices), shape=(2, 2))
    assert as_dense(operate(x)).sum() in (1.0, 2.0, 3.0)
    assert not (as_dense(operate(x)) == 7).any()


def test_promises_are_not_trusted():
    """Flags that do not hold change no result."""
    indices = jnp.array([[1, 0], [0, 1], [1, 0]])
    x = sparse.BCOO(
        (jnp.array([1.0, 2, 3]), indices),
        shape=(2, 2),
        indices_sorted=True,
        unique_indices=True,
    )
    want = np.array([[0, 2], [4, 0]])
    np.testing.assert_array_equal(as_dense(x), want)
    np.testing.assert_array_equal(x @ jnp.ones((2, 8)), want @ np.ones((2, 8)))
