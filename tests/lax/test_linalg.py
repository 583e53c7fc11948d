"""Factorizations multiply to what they came from."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import export
from olympus import numpy as jnp
from olympus.lax import linalg
from tests import fresh
from tests.lax.samples_linalg import definite
from tests.lax.sampling import array, c64, f32

pytestmark = pytest.mark.sampled(5)

SHAPES = [(4, 3), (3, 5), (3, 3), (2, 4, 3), (0, 0), (2, 0, 3), (1, 1)]


def one_quick(*values):
    """Parameters of a test, of which only the first is for the quick tests."""
    first, *others = values
    return [first, *(pytest.param(v, marks=pytest.mark.slow) for v in others)]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def test_singular_values_of_infinity_end_and_are_nan():
    """In a process of its own: where LAPACK does not end, nothing else can stop it."""
    code = """
        import numpy as np
        import olympus
        from olympus.lax import linalg

        with olympus.enable_x64(True):
            for kind in ("float32", "float64", "complex64", "complex128"):
                x = np.stack([np.eye(3, dtype=kind)] * 3)
                x[1, 0, 0], x[2, 2, 1] = np.inf, -np.inf
                for options in ({}, {"compute_uv": False}, {"full_matrices": False}):
                    outs = linalg.svd(x, **options)
                    for out in outs if isinstance(outs, (tuple, list)) else [outs]:
                        assert np.isfinite(out[0]).all(), (kind, options)
                        assert np.isnan(out[1:]).all(), (kind, options)
    """
    fresh.run(code)


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("kind", [f32, c64])
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, kind, full):
    x = array(shape, kind)
    q, r = map(np.asarray, linalg.qr(x, full_matrices=full))
    want_q, want_r = np.linalg.qr(x, "complete" if full else "reduced")
    assert (q.shape, r.shape) == (want_q.shape, want_r.shape)
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    np.testing.assert_array_equal(np.tril(r, -1), np.zeros_like(r))
    unit = np.broadcast_to(np.eye(q.shape[-1]), (*q.shape[:-2], *[q.shape[-1]] * 2))
    np.testing.assert_allclose(adjoint(q) @ q, unit, atol=1e-5)


@pytest.mark.parametrize("kind", [f32, c64])
def test_cholesky(kind):
    x = definite((2, 4, 4), kind)
    want = np.linalg.cholesky(x)
    np.testing.assert_allclose(linalg.cholesky(x), want, rtol=1e-4, atol=1e-5)
    mapped = olympus.vmap(linalg.cholesky)(x)
    np.testing.assert_allclose(mapped, want, rtol=1e-4, atol=1e-5)


def test_cholesky_takes_both_triangles_or_the_lower_alone():
    x = definite((3, 3))
    skewed = x + np.triu(np.ones_like(x), 1)
    lower = linalg.cholesky(skewed, symmetrize_input=False)
    np.testing.assert_allclose(lower, np.linalg.cholesky(x), rtol=1e-4, atol=1e-5)
    halfway = np.linalg.cholesky((skewed + skewed.T) / 2)
    np.testing.assert_allclose(linalg.cholesky(skewed), halfway, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_cholesky_reads_no_imaginary_parts_on_the_diagonal(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    x = (x @ x.conj().T + np.eye(n)).astype("complex64")
    odd = x + 1j * np.diag(np.arange(1, n + 1)).astype("complex64")

    def factor(x):
        return linalg.cholesky(x, symmetrize_input=False)

    np.testing.assert_allclose(factor(odd), factor(x), rtol=1e-5)
    turn = 1j * np.eye(n, dtype="complex64")
    _, slope = olympus.jvp(factor, (x,), (turn,))
    np.testing.assert_array_equal(slope, np.zeros((n, n)))
    _, pull = olympus.vjp(factor, x)
    (ct,) = pull(jnp.asarray(np.tril(odd)))
    np.testing.assert_allclose(np.imag(np.diagonal(ct)), np.zeros(n), atol=1e-6)


def test_cholesky_of_an_indefinite_matrix_is_nan():
    out = np.asarray(linalg.cholesky(-definite((3, 3))))
    assert np.isnan(np.diag(out)).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick(f32, c64))
@pytest.mark.parametrize("full", one_quick(False, True))
@pytest.mark.parametrize("shape", one_quick((4, 3), (2, 3, 4), (3, 0), (0, 3)))
def test_qr_with_pivoting(shape, full, kind):
    x = array(shape, kind)
    q, r, order = map(np.asarray, linalg.qr(x, pivoting=True, full_matrices=full))
    moved = np.take_along_axis(x, order[..., None, :].astype(int), -1)
    np.testing.assert_allclose(q @ r, moved, atol=1e-5)
    size = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    assert (np.diff(size) <= 1e-6).all()
    assert order.dtype == np.int32


@pytest.mark.parametrize("kind", one_quick(f32, c64))
@pytest.mark.parametrize("shape", one_quick((4, 4), (2, 3, 4), (4, 2), (0, 3), (3, 0)))
def test_lu(shape, kind):
    x = array(shape, kind)
    packed, pivots, order = map(np.asarray, linalg.lu(x))
    k = min(shape[-2:])
    lower = np.tril(packed[..., :k], -1) + np.eye(shape[-2], k)
    upper = np.triu(packed[..., :k, :])
    moved = np.take_along_axis(x, order[..., :, None].astype(int), -2)
    np.testing.assert_allclose(lower @ upper, moved, atol=1e-5)
    again = linalg.lu_pivots_to_permutation(pivots, shape[-2])
    np.testing.assert_array_equal(again, order)


def test_lu_of_a_singular_matrix_has_a_zero_in_u():
    packed = np.asarray(linalg.lu(np.ones((3, 3), f32))[0])
    np.testing.assert_array_equal(np.triu(packed)[1:], np.zeros((2, 3)))


@pytest.mark.parametrize("kind", one_quick(f32, c64))
def test_eigh(kind):
    x = definite((2, 4, 4), kind)
    vectors, values = map(np.asarray, linalg.eigh(x))
    want = np.linalg.eigvalsh(x)
    np.testing.assert_allclose(values, want, rtol=1e-4, atol=1e-4)
    assert values.dtype == f32
    again = (vectors * values[:, None, :]) @ adjoint(vectors)
    np.testing.assert_allclose(again, x, atol=1e-4)


@pytest.mark.slow
def test_eigh_takes_both_triangles_or_one():
    x = definite((3, 3))
    skewed = x + np.triu(np.ones_like(x), 1)
    want = np.linalg.eigvalsh
    halfway = (skewed + skewed.T) / 2
    for kwargs, matrix in [
        ({}, halfway),
        ({"symmetrize_input": False}, x),
        ({"symmetrize_input": False, "lower": False}, x + 1 - np.eye(3)),
    ]:
        values = linalg.eigh(skewed, **kwargs)[1]
        np.testing.assert_allclose(values, want(matrix), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("algorithm", one_quick(None, linalg.SvdAlgorithm.QR))
@pytest.mark.parametrize("kind", one_quick(f32, c64))
@pytest.mark.parametrize("full", one_quick(False, True))
@pytest.mark.parametrize("shape", one_quick((4, 3), (2, 3, 4), (3, 0), (0, 3)))
def test_svd(shape, full, kind, algorithm):
    x = array(shape, kind)
    u, s, v_h = map(np.asarray, linalg.svd(x, full_matrices=full, algorithm=algorithm))
    want = np.linalg.svd(x, full_matrices=full)
    assert [a.shape for a in (u, s, v_h)] == [a.shape for a in want]
    k = s.shape[-1]
    again = (u[..., :k] * s[..., None, :]) @ v_h[..., :k, :]
    np.testing.assert_allclose(again, x, atol=1e-5)
    for basis in (u, adjoint(v_h)):
        unit = np.broadcast_to(np.eye(basis.shape[-1]), (adjoint(basis) @ basis).shape)
        np.testing.assert_allclose(adjoint(basis) @ basis, unit, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick(f32, c64))
def test_eig(kind):
    x = array((2, 4, 4), kind)
    w, left, right = map(np.asarray, linalg.eig(x))
    assert {a.dtype for a in (w, left, right)} == {c64}
    np.testing.assert_allclose(x @ right, right * w[:, None, :], atol=1e-4)
    np.testing.assert_allclose(
        adjoint(left) @ x, w[:, :, None] * adjoint(left), atol=1e-4
    )
    np.testing.assert_allclose(np.linalg.norm(right, axis=-2), 1, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick(f32, c64))
def test_schur(kind):
    x = array((2, 4, 4), kind)
    t, z = map(np.asarray, linalg.schur(x))
    np.testing.assert_allclose(z @ t @ adjoint(z), x, atol=1e-4)
    np.testing.assert_allclose(np.tril(t, -2), 0, atol=1e-6)
    (alone,) = linalg.schur(x, compute_schur_vectors=False)
    np.testing.assert_allclose(alone, t, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick(f32, c64))
def test_hessenberg(kind):
    x = array((2, 4, 4), kind)
    packed, taus = map(np.asarray, linalg.hessenberg(x))
    form = np.triu(packed, -1)
    # The reflections start one row lower.
    inner = linalg.householder_product(packed[:, 1:, :-1], taus)
    q = np.zeros_like(x)
    q[:, 0, 0] = 1
    q[:, 1:, 1:] = inner
    np.testing.assert_allclose(q @ form @ adjoint(q), x, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick(f32, c64))
@pytest.mark.parametrize("lower", one_quick(True, False))
def test_tridiagonal(lower, kind):
    x = definite((2, 4, 4), kind)
    packed, diagonal, beside, taus = map(np.asarray, linalg.tridiagonal(x, lower=lower))
    eye = np.eye(4)
    form = diagonal[:, :, None] * eye
    form[:, range(1, 4), range(3)] = beside
    form[:, range(3), range(1, 4)] = beside
    want = np.linalg.eigvalsh(x)
    np.testing.assert_allclose(np.linalg.eigvalsh(form), want, rtol=1e-4, atol=1e-4)
    if lower:
        inner = linalg.householder_product(packed[:, 1:, :-1], taus)
        q = np.zeros_like(x)
        q[:, 0, 0] = 1
        q[:, 1:, 1:] = inner
        np.testing.assert_allclose(q @ form @ adjoint(q), x, atol=1e-4)


@pytest.mark.slow
def test_tridiagonal_solve_of_singular_matrices():
    zero, ones = np.zeros((2, 3), f32), np.ones((2, 3, 1), f32)
    diagonal = np.array([[1, 1, 1], [1, 0, 1]], f32)
    good, bad = np.asarray(linalg.tridiagonal_solve(zero, diagonal, zero, ones))
    np.testing.assert_array_equal(good, np.ones((3, 1)))
    assert np.isnan(bad).all()
    moved = linalg.tridiagonal_solve(zero, diagonal, zero, ones, perturb_singular=True)
    assert np.isfinite(moved).all()


@pytest.mark.slow
def test_symmetric_product_takes_one_triangle():
    a, c = array((3, 2)), array((3, 3))
    want = 2 * a @ a.T + 0.5 * c
    kwargs = {"alpha": 2.0, "beta": 0.5}
    out = linalg.symmetric_product(a, c, **kwargs)
    np.testing.assert_allclose(out, want, rtol=1e-5)
    out = linalg.symmetric_product(a, c, symmetrize_output=True, **kwargs)
    lower = np.tril(want)
    np.testing.assert_allclose(out, lower + np.tril(want, -1).T, rtol=1e-5)


QDWH = olympus.lax.linalg.qdwh


@pytest.mark.slow
@pytest.mark.parametrize("kind", [f32, c64])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 0)])
def test_qdwh(shape, kind):
    x = array(shape, kind)
    u, h, steps, converged = QDWH(x)
    np.testing.assert_allclose(np.asarray(u) @ np.asarray(h), x, atol=1e-4)
    np.testing.assert_allclose(h, adjoint(np.asarray(h)), atol=1e-6)
    unit = np.eye(shape[1])
    np.testing.assert_allclose(adjoint(np.asarray(u)) @ u, unit, atol=1e-5)
    assert (np.linalg.eigvalsh(h) > 0).all()
    assert bool(converged)
    assert int(steps) <= 10


@pytest.mark.slow
def test_qdwh_with_options():
    x = array((4, 3))
    u, h, steps, converged = QDWH(x, max_iterations=2)
    assert (int(steps), bool(converged)) == (2, False)
    u, h, _, _ = QDWH(x, dynamic_shape=(3, 2))
    want_u, want_h, _, _ = QDWH(x[:3, :2])
    np.testing.assert_allclose(u[:3, :2], want_u, atol=1e-5)
    np.testing.assert_allclose(h[:2, :2], want_h, atol=1e-5)
    np.testing.assert_allclose(u[3:], 0, atol=1e-6)
    sym = x[:3] + x[:3].T
    u, h, _, _ = olympus.jit(lambda x: QDWH(x, is_hermitian=True))(sym)
    np.testing.assert_allclose(u, np.asarray(u).T, atol=1e-6)
    np.testing.assert_allclose(np.asarray(u) @ np.asarray(h), sym, atol=1e-4)
    zeros = QDWH(np.zeros((2, 2), f32))
    np.testing.assert_array_equal(zeros[1], np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"qdwh.*adjoint"):
        QDWH(x.T)


NAN = np.full((2, 2), np.nan, f32)


@pytest.mark.parametrize(
    "operation",
    [linalg.eigh, linalg.eig, linalg.svd, linalg.schur],
    ids=lambda f: f.__name__,
)
def test_nan_spreads_to_all_results(operation):
    """And to the results of that matrix alone."""
    outs = operation(np.stack([NAN, np.eye(2, dtype=f32)]))
    for out in map(np.asarray, outs):
        assert np.isnan(np.tril(out[0].T if out.ndim > 2 else out[0])).any()
        assert np.isfinite(out[1]).all()


def test_cholesky_fails_for_one_matrix_of_a_stack():
    x = np.stack([definite((3, 3)), -definite((3, 3))])
    good, bad = np.asarray(linalg.cholesky(x))
    assert np.isfinite(good).all()
    assert np.isnan(bad[np.tril_indices(3)]).all()
    np.testing.assert_array_equal(np.triu(bad, 1), 0)


# -- derivatives -----------------------------------------------------------------------


def hermitian(x):
    return (x + adjoint(x)) / 2


def check_jvp(f, x, t, tolerance=1e-6):
    """The tangents of all results agree with central differences."""
    step = 1e-6
    _, tangents = olympus.jvp(f, (x,), (t,))
    above, below = f(x + step * t), f(x - step * t)
    for got, a, b in zip(tangents, above, below, strict=True):
        if np.asarray(a).dtype.kind in "fc":
            want = (np.asarray(a) - np.asarray(b)) / (2 * step)
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


SMOOTH = {
    "cholesky": (lambda x: (linalg.cholesky(x),), (3, 3), hermitian),
    "eigh values": (lambda x: (linalg.eigh(x)[1],), (3, 3), hermitian),
    "qr": (lambda x: linalg.qr(x, full_matrices=False), (2, 4, 3), None),
    "qr wide": (lambda x: linalg.qr(x), (2, 4), None),
    "qr pivoting": (
        lambda x: linalg.qr(x, full_matrices=False, pivoting=True),
        (4, 3),
        None,
    ),
    "lu": (linalg.lu, (2, 3, 3), None),
    "lu wide": (linalg.lu, (2, 4), None),
    "lu tall": (linalg.lu, (4, 2), None),
    "svd values": (lambda x: (linalg.svd(x, compute_uv=False),), (3, 4), None),
    "eig": (lambda x: linalg.eig(x, enable_eigvec_derivs=True), (3, 3), None),
    "eig values": (
        lambda x: linalg.eig(
            x, compute_left_eigenvectors=False, compute_right_eigenvectors=False
        ),
        (3, 3),
        None,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick("float64", "complex128"))
@pytest.mark.parametrize("name", SMOOTH)
def test_jvp_agrees_with_differences(name, kind):
    f, shape, project = SMOOTH[name]
    with olympus.enable_x64(True):
        x, t = array(shape, kind), array(shape, kind, seed=1)
        if project is not None:
            x, t = definite(shape, np.dtype(kind)), project(t)
        check_jvp(f, x, t)


def projector(x):
    """Onto the eigenvectors of the two largest eigenvalues: free of phases."""
    vectors = linalg.eigh(x)[0][..., 1:]
    return (vectors @ olympus.numpy.conj(vectors.T),)


def polar(x):
    """U V^H of the singular value decomposition: free of phases."""
    u, _, v_h = linalg.svd(x, full_matrices=False)
    return (u @ v_h,)


@pytest.mark.slow
@pytest.mark.parametrize("kind", one_quick("float64", "complex128"))
def test_jvp_of_vectors_agrees_where_phases_cancel(kind):
    with olympus.enable_x64(True):
        dtype = np.dtype(kind)
        x, t = definite((3, 3), dtype), hermitian(array((3, 3), kind, seed=1))
        check_jvp(projector, x, t)
        for shape in [(4, 3), (3, 4)]:
            check_jvp(polar, array(shape, kind), array(shape, kind, seed=1))


def scalar(name):
    f = SMOOTH[name][0]
    jnp = olympus.numpy

    def total(x):
        outs = [y for y in f(x) if jnp.issubdtype(y.dtype, jnp.inexact)]
        weights = [array(y.shape, y.dtype, seed=i) for i, y in enumerate(outs)]
        return sum(
            jnp.sum(jnp.real(jnp.conj(w) * y) ** 2)
            for w, y in zip(weights, outs, strict=True)
        )

    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n in SMOOTH if n not in ("lu tall", "qr pivoting", "eig values")]
)
def test_second_derivatives(name):
    """grad, the differences of grad, and the same under vmap and jit."""
    total = scalar(name)
    _, shape, project = SMOOTH[name]
    with olympus.enable_x64(True):
        x, t = array(shape, "float64"), array(shape, "float64", seed=1)
        if project is not None:
            x, t = definite(shape, np.dtype("float64")), project(t)
        step = 1e-6
        grad = olympus.jit(olympus.grad(total))
        want = (np.asarray(grad(x + step * t)) - np.asarray(grad(x - step * t))) / (
            2 * step
        )
        got = olympus.jit(lambda x, t: olympus.jvp(olympus.grad(total), (x,), (t,))[1])
        np.testing.assert_allclose(got(x, t), want, rtol=1e-4, atol=1e-4)
        directional = (total(x + step * t) - total(x - step * t)) / (2 * step)
        np.testing.assert_allclose(np.sum(grad(x) * t), directional, rtol=1e-5)
        stack = np.stack([x, x + step * t])
        mapped = olympus.vmap(olympus.grad(total))(stack)
        np.testing.assert_allclose(mapped[1], grad(stack[1]), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_triangular_solve_of_vectors():
    a, b = definite((2, 3, 3)), array((2, 3))
    for left in (True, False):
        x = linalg.triangular_solve(a, b, left_side=left, lower=True)
        lower = np.tril(a) if left else np.swapaxes(np.tril(a), -1, -2)
        want = np.linalg.solve(lower, b[..., None])[..., 0]
        np.testing.assert_allclose(x, want, rtol=1e-3, atol=1e-4)


def test_derivatives_that_are_not_there_say_so():
    x = array((3, 2))
    square = array((2, 2))
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        olympus.jvp(linalg.svd, (x,), (x,))
    with pytest.raises(NotImplementedError, match="enable_eigvec_derivs"):
        olympus.jvp(linalg.eig, (square,), (square,))
    with pytest.raises(NotImplementedError, match="schur"):
        olympus.jvp(linalg.schur, (square,), (square,))


def test_choices_that_are_not_there_say_so():
    x = array((2, 2))
    for call in (
        lambda: linalg.eigh(x, implementation=linalg.EighImplementation.JACOBI),
        lambda: linalg.eigh(x, subset_by_index=(0, 1)),
        lambda: linalg.svd(x, algorithm=linalg.SvdAlgorithm.POLAR),
        lambda: linalg.svd(x, subset_by_index=(0, 1)),
        lambda: linalg.eig(x, implementation=linalg.EigImplementation.MAGMA),
        lambda: linalg.schur(x, sort_eig_vals=True),
    ):
        with pytest.raises(NotImplementedError, match=r"lax.linalg"):
            call()


@pytest.mark.slow
def test_derivatives_of_complex_tridiagonal_systems_are_those_of_dense_ones():
    rng = np.random.default_rng(0)

    def draw(*shape):
        return rng.normal(size=shape) + 1j * rng.normal(size=shape)

    lines = [draw(5), draw(5) + 6, draw(5), draw(5, 2)]
    lines[0][0] = lines[2][-1] = 0
    tangents = [draw(*x.shape) for x in lines]

    def dense(lower, middle, upper, b):
        a = jnp.diag(middle) + jnp.diag(lower[1:], -1) + jnp.diag(upper[:-1], 1)
        return jnp.linalg.solve(a, b)

    def derivatives(solve):
        def run(lines, tangents):
            moved = olympus.jvp(solve, lines, tangents)
            many = olympus.vmap(solve, (None, 0, None, 0))
            pairs = [jnp.stack([x, 2 * x]) for x in lines]
            back = olympus.vjp(solve, *lines)[1](tangents[3])
            return moved, back, many(lines[0], pairs[1], lines[2], pairs[3])

        return olympus.jit(run)(tuple(lines), tuple(tangents))

    with olympus.enable_x64(True):
        results = zip(
            olympus.tree.leaves(derivatives(linalg.tridiagonal_solve)),
            olympus.tree.leaves(derivatives(dense)),
            strict=True,
        )
        for got, want in results:
            got, want = np.array(got), np.array(want)
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_svd_is_bound_without_an_algorithm():
    params = {"full_matrices": False, "compute_uv": True, "subset_by_index": None}
    x = np.array([[1, 2], [3, 4], [5, 7]], np.float32)
    bound = lambda x: linalg.svd_p.bind(x, **params)  # noqa: E731
    for f in (bound, olympus.jit(bound)):
        s, u, v_h = f(x)
        np.testing.assert_allclose((u * s) @ v_h, x, atol=1e-5)
    slope = olympus.grad(lambda x: bound(x)[0].sum())(x)
    np.testing.assert_allclose(slope, u @ v_h, atol=1e-5)
    stack = olympus.vmap(lambda x: bound(x)[0])(np.stack([x, 2 * x]))
    np.testing.assert_allclose(stack, [s, 2 * s], rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("n", [2, 40])
@pytest.mark.parametrize("left_side", [True, False])
def test_triangular_systems_of_half_precision_as_an_operation(dtype, n, left_side):
    rng = np.random.default_rng(n)
    wide = (np.tril(rng.uniform(-1, 1, (n, n))) / n + np.eye(n)).astype(np.float32)
    a, b = jnp.asarray(wide, dtype), jnp.asarray(rng.normal(size=(n, n)), dtype)
    params = {
        "left_side": left_side,
        "lower": True,
        "transpose_a": False,
        "conjugate_a": False,
        "unit_diagonal": False,
    }
    bound = lambda a, b: linalg.triangular_solve_p.bind(a, b, **params)  # noqa: E731
    out = bound(a, b)
    assert out.dtype == a.dtype
    factor, sides = np.asarray(a, np.float64), np.asarray(b, np.float64)
    expected = np.linalg.solve(
        factor if left_side else factor.T, sides.T if not left_side else sides
    )
    expected = expected if left_side else expected.T
    eps = float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(
        np.asarray(out, np.float64), expected, rtol=eps, atol=eps
    )
    np.testing.assert_array_equal(olympus.jit(bound)(a, b), out)
    function = linalg.triangular_solve(a, b, left_side=left_side, lower=True)
    np.testing.assert_array_equal(function, out)
    slope = olympus.grad(lambda b: bound(a, b).sum().astype(jnp.float32))(b)
    assert slope.dtype == a.dtype
    stack = olympus.vmap(bound)(jnp.stack([a, a]), jnp.stack([b, b]))
    np.testing.assert_array_equal(stack, [out, out])


def test_triangular_systems_of_half_precision_with_symbolic_sizes():
    (n,) = export.symbolic_shape("n")
    a = jnp.asarray([[2, 0], [1, 4]], jnp.float16)
    b = jnp.asarray([[1, 2], [3, 4]], jnp.float16)
    solve = lambda a, b: linalg.triangular_solve(  # noqa: E731
        a, b, left_side=True, lower=True
    )
    kinds = [olympus.ShapeDtypeStruct((n, 2, 2), jnp.float16)] * 2
    out = export.export(olympus.jit(solve))(*kinds).call(a[None], b[None])
    np.testing.assert_array_equal(out[0], solve(a, b))
