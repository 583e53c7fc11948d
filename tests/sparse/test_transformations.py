"""Derivatives, maps and compilation of functions of sparse arrays; `sparsify`."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import sparse
from olympus.test_util import check_grads
from tests.sparse.matrices import as_dense, bcoo, dense_array

RNG = np.random.default_rng(0)
DENSE = dense_array(RNG, (3, 4))
UNTIDY = bcoo(DENSE, RNG)
V, WIDE = (RNG.normal(size=s).astype("f") for s in [(4,), (4, 8)])
AXES = (([1], [0]), ([], []))


def of_data(operate, x=UNTIDY):
    """A function of the data of a sparse array, and what that is."""

    def call(data, *args):
        array = sparse.BCOO((data, x.indices), shape=x.shape)
        return operate(array, *args)

    return call, jnp.asarray(RNG.normal(size=x.data.shape).astype("f"))


FUNCTIONS = {
    "todense": (lambda x: x.todense(), ()),
    "matvec": (lambda x, v: x @ v, (V,)),
    "matmat": (lambda x, v: x @ v, (WIDE,)),
    "product of sparse": (lambda x: (x @ x.T).todense(), ()),
    "times dense": (lambda x, y: (x * y).todense(), (DENSE + 0.5,)),
    "sorted": (lambda x: x.sort_indices().data, ()),
    "sum_duplicates": (lambda x: x.sum_duplicates(nse=12).data, ()),
    "sum": (lambda x: x.sum(0).todense(), ()),
    "slice": (lambda x: x[1:, ::2].todense(), ()),
    "transpose": (lambda x: x.T @ jnp.ones(3), ()),
    "rows": (lambda x: sparse.BCSR.from_bcoo(x) @ jnp.asarray(WIDE), ()),
    "sine": (lambda x: sparse.sparsify(jnp.sin)(x).todense(), ()),
}


@pytest.mark.parametrize(
    "name",
    [
        "matvec",
        "matmat",
        *[
            pytest.param(name, marks=pytest.mark.slow)
            for name in FUNCTIONS
            if name not in ("matvec", "matmat")
        ],
    ],
)
def test_derivatives(name):
    operate, args = FUNCTIONS[name]
    call, data = of_data(operate)
    check_grads(call, (data, *args), order=2, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize(
    "name",
    [
        "matvec",
        *[
            pytest.param(name, marks=pytest.mark.slow)
            for name in FUNCTIONS
            if name != "matvec"
        ],
    ],
)
def test_map_is_a_loop_and_compiled_alike(name):
    operate, args = FUNCTIONS[name]
    call, data = of_data(operate)
    many = jnp.stack([data, 2 * data, data + 1])
    loop = np.stack([call(d, *args) for d in many])
    dims = (0, *[None] * len(args))
    mapped = olympus.vmap(call, dims)(many, *args)
    np.testing.assert_allclose(mapped, loop, rtol=1e-4, atol=1e-4)
    mapped = olympus.jit(olympus.vmap(call, dims))(many, *args)
    np.testing.assert_allclose(mapped, loop, rtol=1e-4, atol=1e-4)
    slope = olympus.grad(lambda d: (call(d, *args) ** 2).sum())
    loop = np.stack([slope(d) for d in many])
    mapped = olympus.jit(olympus.vmap(slope))(many)
    np.testing.assert_allclose(mapped, loop, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [sparse.COO, sparse.CSR, sparse.BCSR])
@pytest.mark.parametrize("right", [V, WIDE], ids=["vector", "matrix"])
def test_derivatives_of_other_formats(kind, right):
    x = kind.fromdense(DENSE)
    leaves, info = x.tree_flatten()

    def call(data, v):
        return kind.tree_unflatten(info, (data, *leaves[1:])) @ v

    check_grads(call, (x.data, right), order=2, rtol=2e-2, atol=2e-2)
    slope = sparse.grad(lambda a: (a @ right).sum())(x)
    assert type(slope) is kind
    want = sparse.grad(lambda a: (a @ right).sum())(sparse.BCOO.fromdense(DENSE))
    np.testing.assert_allclose(as_dense(slope), as_dense(want), rtol=1e-5)


def test_complex_derivatives():
    data = jnp.array([1 + 2j, 3 - 1j], "complex64")
    indices = jnp.array([[0, 1], [1, 0]])

    def call(d, v):
        return sparse.BCOO((d, indices), shape=(2, 2)) @ v

    v = jnp.array([1j, 2 + 1j], "complex64")
    check_grads(call, (data, v), order=1, rtol=2e-2, atol=2e-2)


# -- derivatives with respect to sparse arrays -----------------------------------------


def test_gradients_have_the_positions_of_their_arguments():
    x = sparse.BCOO.fromdense(DENSE)

    def loss(a, v):
        return ((a @ v) ** 2).sum(), a.nse

    (value, nse), slopes = sparse.value_and_grad(loss, argnums=(0, 1), has_aux=True)(
        x, V
    )
    dense = olympus.grad(lambda a, v: ((a @ v) ** 2).sum(), argnums=(0, 1))(DENSE, V)
    assert nse == x.nse
    np.testing.assert_allclose(value, ((DENSE @ V) ** 2).sum(), rtol=1e-5)
    np.testing.assert_array_equal(slopes[0].indices, x.indices)
    np.testing.assert_allclose(as_dense(slopes[0]), dense[0] * (DENSE != 0), rtol=1e-5)
    np.testing.assert_allclose(slopes[1], dense[1], rtol=1e-4)
    only, nse = sparse.grad(loss, has_aux=True)(x, V)
    np.testing.assert_allclose(only.data, slopes[0].data, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("jacobian", [sparse.jacfwd, sparse.jacrev])
def test_jacobians_have_batch_axes(jacobian):
    x = sparse.BCOO.fromdense(DENSE)
    out = jacobian(lambda a: a @ V)(x)
    assert (out.shape, out.n_batch, out.nse) == ((3, 3, 4), 1, x.nse)
    dense = olympus.jacobian(lambda a: a @ V)(DENSE)
    np.testing.assert_allclose(as_dense(out), dense * (DENSE != 0), rtol=1e-6)


# -- sparsify --------------------------------------------------------------------------


PROGRAMS = {
    "product": lambda x, v: jnp.sin(2 * x) @ v + 1,
    "stack": lambda x, v: jnp.stack([x, 2 * x]),
    "concatenation": lambda x, v: jnp.concatenate([x, x]) @ v,
    "einsum": lambda x, v: jnp.einsum("ij,kj->ik", x, jnp.stack([v, v])),
    "mean": lambda x, v: x.mean(0) * v,
    "cond": lambda x, v: lax.cond(v[0] > 9, lambda a: a, lambda a: 3 * a, x),
    "scan": lambda x, v: lax.scan(lambda c, y: (2 * c, y), x, v)[0],
    "while": lambda x, v: lax.while_loop(lambda c: c.sum() < 5, lambda c: c + c, x * x),
    "jit": lambda x, v: olympus.jit(lambda a: -a)(x),
    "checkpoint": lambda x, v: olympus.checkpoint(lambda a: a * 2)(x),
    "custom rule": lambda x, v: x * olympus.nn.relu(v),
    "todense": lambda x, v: jnp.cos(sparse.todense(x)),
    "row": lambda x, v: x[1] * v,
}


@pytest.mark.parametrize("use_tracer", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        *["product", "cond", "scan"],
        *[
            pytest.param(name, marks=pytest.mark.slow)
            for name in PROGRAMS
            if name not in ("product", "cond", "scan")
        ],
    ],
)
def test_sparsified_functions(name, use_tracer):
    program = PROGRAMS[name]
    want = program(jnp.asarray(DENSE), jnp.asarray(V))
    x = sparse.BCOO.fromdense(DENSE)
    function = sparse.sparsify(program, use_tracer=use_tracer)
    got = function(x, jnp.asarray(V))
    np.testing.assert_allclose(as_dense(got), want, rtol=1e-4, atol=1e-4)
    got = olympus.jit(function)(x, jnp.asarray(V))
    np.testing.assert_allclose(as_dense(got), want, rtol=1e-4, atol=1e-4)


def test_tracers_hold_sparse_arrays():
    kinds = []
    function = sparse.sparsify(lambda x: kinds.append(type(x)) or x, use_tracer=True)
    assert isinstance(function(sparse.eye(2)), sparse.BCOO)
    assert kinds == [sparse.SparseTracer]


def test_loops_take_batches_apart():
    dense = dense_array(np.random.default_rng(3), (3, 2, 4))
    x = bcoo(dense, n_batch=1)
    total, doubles = lax.scan(lambda c, a: (c + a.sum(), 2 * a), 0.0, x)
    np.testing.assert_allclose(total, dense.sum(), rtol=1e-6)
    np.testing.assert_array_equal(as_dense(doubles), 2 * dense)


# -- linear systems --------------------------------------------------------------------

SYSTEM = np.array([[2.0, 0, 1], [1, 4, 0], [0, 0, 3]], np.float32)


SYSTEM_CSR = sparse.CSR.fromdense(SYSTEM)


def _solve(data, b):
    return sparse.linalg.spsolve(data, SYSTEM_CSR.indices, SYSTEM_CSR.indptr, b)


def test_solutions_and_their_derivatives():
    data = SYSTEM_CSR.data
    b = np.array([1.0, 2, 3], np.float32)
    np.testing.assert_allclose(SYSTEM @ _solve(data, b), b, rtol=1e-5)
    check_grads(_solve, (data, b), order=1, rtol=2e-2, atol=2e-2)
    many = np.eye(3, dtype=np.float32)
    mapped = olympus.jit(olympus.vmap(_solve, (None, 0)))(data, many)
    np.testing.assert_allclose(SYSTEM @ mapped.T, many, atol=1e-5)
    with pytest.raises(TypeError, match="must be floating or complex"):
        sparse.linalg.spsolve(
            data.astype(int), jnp.zeros(6), jnp.zeros(4), jnp.arange(3)
        )
    with pytest.raises(ValueError, match=r"b must have shape \[n\]"):
        _solve(data, b[:2])


@pytest.mark.slow
def test_largest_eigenvalues():
    values = jnp.arange(1.0, 61.0)
    start = olympus.random.normal(olympus.random.key(0), (60, 2))
    theta, u, steps = sparse.linalg.lobpcg_standard(
        lambda x: values[:, None] * x, start
    )
    np.testing.assert_allclose(theta, [60, 59], rtol=1e-4)
    np.testing.assert_allclose(values[:, None] * u, u * theta, atol=2e-2)
    assert 0 < steps <= 100
    with pytest.raises(ValueError, match="search dim"):
        sparse.linalg.lobpcg_standard(jnp.eye(4), jnp.ones((4, 1)))


# -- convolutions ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strides", "padding", "dilation"),
    [((1,), "SAME", (1,)), ((2,), [(1, 2)], (2,))],
)
def test_convolutions(strides, padding, dilation):
    rng = np.random.default_rng(0)
    lhs, rhs = dense_array(rng, (2, 3, 7)), dense_array(rng, (4, 3, 3))
    options = {"window_strides": strides, "padding": padding, "rhs_dilation": dilation}
    want = lax.conv_general_dilated(lhs, rhs, **options)
    for right in (rhs, bcoo(rhs)):
        out = sparse.bcoo_conv_general_dilated(bcoo(lhs, rng), right, **options)
        np.testing.assert_allclose(as_dense(out), want, atol=1e-5)


def test_sampled_products():
    a, b = dense_array(RNG, (3, 5)), dense_array(RNG, (5, 4))
    positions = np.array([[0, 0], [2, 3], [9, 0], [-1, 1]])
    out = sparse.bcoo_dot_general_sampled(a, b, positions, dimension_numbers=AXES)
    want = a @ b
    np.testing.assert_allclose(out, [want[0, 0], want[2, 3], 0, 0])
