"""Linear algebra against NumPy's, and derivatives against differences."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import olympus
from olympus import numpy as jnp

pytestmark = [pytest.mark.sampled(5), pytest.mark.usefixtures("x64")]

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
STACK = RNG.normal(size=(2, 3, 3))
TALL = RNG.normal(size=(4, 3))
WIDE = TALL.T + 1j * RNG.normal(size=(3, 4))
B = RNG.normal(size=(4, 2))
SYM = A + A.T
DEFINITE = A @ A.T + np.eye(4)
SLOW = pytest.mark.slow


def leaves(x):
    return list(x) if isinstance(x, tuple) else [x]


def check(name, *args, tolerance=1e-9, **kwargs):
    """Agrees with NumPy in values and kinds of dtypes."""
    got = leaves(getattr(jnp.linalg, name)(*args, **kwargs))
    want = leaves(getattr(np.linalg, name)(*args, **kwargs))
    for g, w in zip(got, want, strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert (g.shape, g.dtype.kind) == (w.shape, w.dtype.kind)
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


CALLS = [
    ("solve", (A, B), {}),
    ("solve", (A, B[:, 0]), {}),
    ("solve", (STACK, STACK[:1]), {}),
    ("solve", (STACK[0], STACK), {}),
    ("solve", (STACK, TALL.T[:, 0]), {}),
    ("solve", (np.ones((2, 0, 0)), np.ones((2, 0, 3))), {}),
    ("inv", (np.ones((0, 3, 3)),), {}),
    ("inv", (A,), {}),
    ("inv", (STACK * (1 + 2j),), {}),
    ("det", (A,), {}),
    ("det", (STACK,), {}),
    ("det", (np.arange(4).reshape(2, 2),), {}),
    ("det", (A + 1j * SYM,), {}),
    ("det", (np.ones((3, 0, 0)),), {}),
    ("slogdet", (A,), {}),
    ("slogdet", (STACK * 1j,), {}),
    ("slogdet", (np.zeros((3, 3)),), {}),
    ("cholesky", (DEFINITE,), {}),
    ("cholesky", (DEFINITE,), {"upper": True}),
    ("eigvalsh", (SYM,), {}),
    ("eigvalsh", (np.arange(9).reshape(3, 3) + np.arange(9).reshape(3, 3).T,), {}),
    ("svdvals", (TALL,), {}),
    ("svdvals", (WIDE,), {}),
    ("pinv", (TALL,), {}),
    ("pinv", (np.stack([WIDE, WIDE[::-1]]),), {}),
    ("pinv", (np.ones((3, 2)),), {}),
    ("pinv", (SYM,), {"hermitian": True}),
    ("pinv", (np.zeros((0, 3)),), {}),
    ("matrix_rank", (np.ones((2, 3, 3)),), {}),
    ("matrix_rank", (TALL,), {}),
    ("matrix_rank", (np.zeros(3),), {}),
    ("matrix_rank", (np.diag([1.0, 1e-3]),), {"rtol": 1e-2}),
    ("matrix_rank", (np.diag([100.0, 1.0]),), {"rtol": 0.5}),
    ("matrix_rank", (np.diag([100.0, 1.0]),), {"tol": 0.5}),
    (
        "matrix_rank",
        (np.stack([np.diag([100.0, 1.0])] * 2),),
        {"tol": np.array([0.5, 2.0])},
    ),
    ("matrix_rank", (SYM,), {"hermitian": True}),
    *(("cond", (A,), {"p": p}) for p in (None, 2, -2, 1, -1, np.inf, "fro", "nuc")),
    ("cond", (TALL,), {}),
    *(("norm", (TALL,), {"ord": p}) for p in (2, -2, "nuc")),
    ("norm", (RNG.normal(size=(2, 3, 4)), "nuc", (2, 0)), {"keepdims": True}),
    ("matrix_power", (A, -3), {}),
    ("matrix_power", (STACK, 0), {}),
    ("tensorinv", (RNG.normal(size=(4, 6, 8, 3)),), {}),
    ("tensorinv", (RNG.normal(size=(6, 2, 3)),), {"ind": 1}),
    ("tensorsolve", (RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3))), {}),
    ("tensorsolve", (RNG.normal(size=(6, 2, 3)), np.ones((2, 3))), {"axes": (0,)}),
]
# Of some functions one call is for the quick tests.
EARLY = ("solve", "inv", "det", "slogdet", "pinv", "norm")
FIRST = {name: i for i, (name, _, _) in reversed(list(enumerate(CALLS)))}


def is_early(name, i):
    return name in EARLY and FIRST[name] == i


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        pytest.param(*call, marks=[] if is_early(call[0], i) else [SLOW])
        for i, call in enumerate(CALLS)
    ],
)
def test_as_numpy(name, args, kwargs):
    check(name, *args, **kwargs)


@SLOW
def test_results_have_names():
    assert jnp.linalg.eigh(SYM)._fields == ("eigenvalues", "eigenvectors")
    assert jnp.linalg.eig(A)._fields == ("eigenvalues", "eigenvectors")
    assert jnp.linalg.qr(A)._fields == ("Q", "R")
    assert jnp.linalg.svd(A)._fields == ("U", "S", "Vh")
    assert jnp.linalg.slogdet(A)._fields == ("sign", "logabsdet")


@pytest.mark.slow
def test_decompositions_multiply_to_what_they_came_from():
    w, v = jnp.linalg.eigh(SYM)
    np.testing.assert_allclose((v * w) @ v.T, SYM, atol=1e-12)
    w, v = jnp.linalg.eig(A)
    np.testing.assert_allclose(A @ np.asarray(v), v * w, atol=1e-12)
    np.testing.assert_allclose(w, jnp.linalg.eigvals(A), atol=1e-12)
    for mode in ("reduced", "complete"):
        q, r = jnp.linalg.qr(TALL, mode)
        assert q.shape == np.linalg.qr(TALL, mode)[0].shape
        np.testing.assert_allclose(q @ r, TALL, atol=1e-12)
    np.testing.assert_allclose(jnp.linalg.qr(TALL, "r"), r[:3], atol=1e-12)
    packed, scales = jnp.linalg.qr(TALL, "raw")
    want = np.linalg.qr(TALL, "raw")
    np.testing.assert_allclose(packed, want[0], atol=1e-12)
    np.testing.assert_allclose(scales, want[1], atol=1e-12)


@SLOW
@pytest.mark.parametrize("hermitian", [False, True])
def test_svd(hermitian):
    x = SYM if hermitian else WIDE
    u, s, v_h = jnp.linalg.svd(x, full_matrices=False, hermitian=hermitian)
    np.testing.assert_allclose((u * s) @ v_h, x, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(x)[1], atol=1e-12)
    alone = jnp.linalg.svd(x, compute_uv=False, hermitian=hermitian)
    np.testing.assert_allclose(alone, s, atol=1e-12)


@SLOW
@pytest.mark.parametrize("rank", [3, 2])
def test_lstsq(rank):
    x = TALL.copy()
    if rank == 2:
        x[:, 2] = x[:, 0] + x[:, 1]
    for b in (B, B[:, 0]):
        got = jnp.linalg.lstsq(x, b, numpy_resid=True)
        want = np.linalg.lstsq(x, b, rcond=None)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, atol=1e-10)
    assert jnp.linalg.lstsq(x, B)[1].shape == (2,)


@SLOW
def test_slogdet_by_qr():
    for x in (A, A[::-1], STACK, A + 1j * SYM, np.diag([1.0, -2.0, 3.0])):
        got, want = jnp.linalg.slogdet(x, method="qr"), np.linalg.slogdet(x)
        np.testing.assert_allclose(got[0], want[0], atol=1e-12)
        np.testing.assert_allclose(got[1], want[1], atol=1e-12)


@SLOW
def test_dtypes():
    with olympus.enable_x64(False):
        whole = np.arange(9).reshape(3, 3) + np.eye(3, dtype=int)
        f32, c64 = np.float32, np.complex64
        assert jnp.linalg.solve(whole, whole).dtype == f32
        assert [x.dtype for x in jnp.linalg.svd(whole)] == [f32] * 3
        assert [x.dtype for x in jnp.linalg.eig(whole)] == [c64] * 2
        assert jnp.linalg.matrix_rank(whole).dtype == np.int32
        sign, size = jnp.linalg.slogdet(whole * 1j)
        assert (sign.dtype, size.dtype) == (c64, f32)


@pytest.mark.parametrize("p", [None, 2, 1, -1, np.inf, "fro"])
def test_singular_matrices_have_the_condition_number_infinity(p):
    stack = np.stack([np.zeros((2, 2)), [[1.0, 2.0], [3.0, np.nan]], np.eye(2)])
    got = np.asarray(jnp.linalg.cond(stack.astype("float32"), p))
    assert np.isposinf(got[0])
    assert np.isnan(got[1])
    np.testing.assert_allclose(got[2], np.linalg.cond(np.eye(2), p), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jnp.linalg.solve([[1.0]], [1.0]), "linalg.solve"),
        (lambda: jnp.linalg.solve(A, B.T), "as many rows"),
        (lambda: jnp.linalg.solve(STACK, np.ones((2, 3))), r"b\[\.\.\., None\]"),
        (lambda: jnp.linalg.inv(TALL), "inv.*square"),
        (lambda: jnp.linalg.det(TALL), "det.*square"),
        (lambda: jnp.linalg.slogdet(A, method="svd"), "method"),
        (lambda: jnp.linalg.eigh(A, UPLO="X"), "UPLO"),
        (lambda: jnp.linalg.qr(A, "economic"), "mode"),
        (lambda: jnp.linalg.cond(TALL, 1), "cond.*square"),
        (lambda: jnp.linalg.cond(np.zeros((0, 0))), "empty"),
        (lambda: jnp.linalg.norm(A, 3), "norm"),
        (lambda: jnp.linalg.pinv(A, 0.1, rcond=0.1), "only one"),
        (lambda: jnp.linalg.matrix_rank(A, 0.1, tol=0.1), "only one"),
        (lambda: jnp.linalg.lstsq(STACK, B), "vmap"),
        (lambda: jnp.linalg.lstsq(TALL, B[:2]), "Leading dimensions"),
        (lambda: jnp.linalg.lstsq(TALL, B, rcond="x"), "rcond must be a number"),
        (lambda: jnp.linalg.matrix_power(A, 1.5), "exponent must be an integer"),
        (lambda: jnp.linalg.tensorinv(np.ones((2, 3, 2))), "as many"),
        (lambda: jnp.linalg.tensorinv(A, ind=0), "positive"),
        (lambda: jnp.linalg.tensorsolve(A, TALL), "axes"),
        (lambda: jnp.linalg.svd(A.astype("float16")), "float16"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


# -- derivatives -----------------------------------------------------------------------


def check_gradient(f, x, tolerance=1e-6):
    """Jvp and grad of a function to one number, against differences."""
    rng = np.random.default_rng(1)
    t = rng.normal(size=x.shape)
    if x.dtype.kind == "c":
        t = t + 1j * rng.normal(size=x.shape)
    step = 1e-6
    want = (f(x + step * t) - f(x - step * t)) / (2 * step)
    forward = olympus.jvp(f, (x,), (t,))[1]
    np.testing.assert_allclose(forward, want, rtol=tolerance, atol=tolerance)
    # The gradient of a real function of complex numbers is conjugated.
    backward = np.real(np.sum(np.asarray(olympus.grad(f)(x)) * t))
    np.testing.assert_allclose(backward, want, rtol=tolerance, atol=tolerance)


def weighted(run):
    def total(x):
        y = run(x)
        weights = np.random.default_rng(2).normal(size=y.shape)
        return jnp.sum(weights * jnp.real(y * jnp.conj(y)))

    return total


GRADIENTS = {
    "solve": (weighted(lambda x: jnp.linalg.solve(x, B)), A),
    "solve right side": (weighted(lambda b: jnp.linalg.solve(A, b)), B),
    "solve stack": (weighted(lambda b: jnp.linalg.solve(STACK[0], b)), STACK),
    "inv": (weighted(jnp.linalg.inv), STACK),
    "inv complex": (weighted(jnp.linalg.inv), A + 1j * SYM),
    "det 2": (weighted(jnp.linalg.det), STACK[:, :2, :2]),
    "det 3": (weighted(jnp.linalg.det), STACK),
    "det 4": (weighted(jnp.linalg.det), A),
    "det complex": (weighted(jnp.linalg.det), A + 1j * SYM),
    "slogdet": (weighted(lambda x: jnp.linalg.slogdet(x)[1]), A),
    "slogdet complex": (
        lambda x: jnp.real(jnp.linalg.slogdet(x)[0] * (1 + 2j)),
        A + 1j * SYM,
    ),
    "slogdet qr": (weighted(lambda x: jnp.linalg.slogdet(x, method="qr")[1]), A),
    "eigvalsh": (weighted(jnp.linalg.eigvalsh), SYM),
    "eigvals": (weighted(jnp.linalg.eigvals), A),
    "svdvals": (weighted(jnp.linalg.svdvals), TALL),
    "cholesky": (weighted(jnp.linalg.cholesky), DEFINITE),
    "pinv": (weighted(jnp.linalg.pinv), TALL),
    "pinv complex": (weighted(jnp.linalg.pinv), WIDE),
    "lstsq": (weighted(lambda x: jnp.linalg.lstsq(x, B)[0]), TALL),
    "norm 2": (lambda x: jnp.linalg.norm(x, 2), TALL),
    "norm nuc": (lambda x: jnp.linalg.norm(x, "nuc"), WIDE),
    "cond": (jnp.linalg.cond, A),
    "matrix_power": (weighted(lambda x: jnp.linalg.matrix_power(x, -2)), A),
}
QUICK = ("solve",)


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=SLOW) for n in GRADIENTS]
)
def test_gradients(name):
    f, x = GRADIENTS[name]
    check_gradient(olympus.jit(f), x)


@SLOW
def test_gradient_of_the_determinant_of_singular_matrices():
    """It is the matrix of cofactors, transposed: of rank 1 or zero."""
    base = RNG.normal(size=(5, 5))
    for drop in (1, 2):
        left, s, right = np.linalg.svd(base)
        s[-drop:] = 0
        got = np.asarray(olympus.grad(jnp.linalg.det)((left * s) @ right))
        want = np.zeros((5, 5))
        if drop == 1:
            sign = np.linalg.det(left) * np.linalg.det(right)
            want = sign * np.prod(s[:-1]) * np.outer(left[:, -1], right[-1])
        np.testing.assert_allclose(got, want, atol=1e-10)
    exact = np.diag([2.0, 3.0, 0.0, 5.0])
    want = np.diag([0.0, 0.0, 30.0, 0.0])
    np.testing.assert_allclose(olympus.grad(jnp.linalg.det)(exact), want, atol=1e-12)


@SLOW
@pytest.mark.parametrize("name", ["solve", "det 4", "slogdet", "pinv"])
def test_second_derivatives(name):
    f, x = GRADIENTS[name]
    t, step = RNG.normal(size=x.shape), 1e-6
    grad = olympus.jit(olympus.grad(f))
    want = (np.asarray(grad(x + step * t)) - np.asarray(grad(x - step * t))) / (
        2 * step
    )
    got = olympus.jvp(grad, (x,), (t,))[1]
    scale = np.abs(want).max()
    np.testing.assert_allclose(got / scale, want / scale, atol=1e-5)


@SLOW
def test_under_vmap():
    stack = np.stack([A, A.T, DEFINITE])
    for f in (jnp.linalg.inv, jnp.linalg.det, jnp.linalg.pinv):
        want = np.stack([np.asarray(f(x)) for x in stack])
        np.testing.assert_allclose(olympus.vmap(f)(stack), want, rtol=1e-9)
        grads = olympus.vmap(olympus.grad(weighted(f)))(stack)
        one = olympus.grad(weighted(f))(stack[1])
        np.testing.assert_allclose(grads[1], one, rtol=1e-8, atol=1e-8)
    many = RNG.normal(size=(3, 4))
    mapped = olympus.vmap(lambda b: jnp.linalg.solve(A, b))(many)
    np.testing.assert_allclose(mapped, np.linalg.solve(A, many.T).T, rtol=1e-9)


RECORDED = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "linalg.json").read_text()
)


def numbers(values, like):
    """Recorded numbers; complex ones as pairs of reals."""
    array = np.array([np.nan if v is None else v for v in values])
    if like.dtype.kind == "c":
        array = array[0::2] + 1j * array[1::2]
    return array.reshape(like.shape)


TANGENTS = {
    "qr": lambda x: tuple(olympus.lax.linalg.qr(x)),
    "eigh": lambda x: tuple(olympus.lax.linalg.eigh(x + jnp.conj(x.T))),
    "svd": lambda x: olympus.lax.linalg.svd(x[:, :2], full_matrices=False),
    "svd wide": lambda x: olympus.lax.linalg.svd(x[:2], full_matrices=False),
    "lu": lambda x: olympus.lax.linalg.lu(x)[:1],
    "cholesky": lambda x: (
        olympus.lax.linalg.cholesky(x @ jnp.conj(x.T), symmetrize_input=False),
    ),
    "eig": lambda x: tuple(olympus.lax.linalg.eig(x, enable_eigvec_derivs=True)),
    "slogdet": lambda x: tuple(jnp.linalg.slogdet(x)),
    "pinv": lambda x: (jnp.linalg.pinv(x[:2]),),
}


@SLOW
@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name", TANGENTS)
def test_tangents_as_recorded(name, kind):
    """Also of vectors, whose phases are a convention."""
    x = numbers(RECORDED["x"], np.zeros((3, 3), complex))
    t = numbers(RECORDED["t"], np.zeros((3, 3), complex))
    if kind == "real":
        x, t = x.real, t.real
    outs, tangents = olympus.jvp(TANGENTS[name], (x,), (t,))
    want_outs, want_tangents = RECORDED[f"{name} {kind}"]
    for got, want in zip([*outs, *tangents], [*want_outs, *want_tangents], strict=True):
        host = np.asarray(got)
        np.testing.assert_allclose(host, numbers(want, host), atol=1e-9)


def test_einsum_path_is_the_order_of_einsum():
    x, y, z = np.ones((2, 9)), np.ones((9, 9)), np.ones((9, 1))
    path, description = jnp.einsum_path("ij,jk,kl->il", x, y, z)
    assert path == [(1, 2), (0, 1)]
    assert "Optimized FLOP count" in str(description)
    left, _ = jnp.einsum_path("ij,jk,kl->il", x, y, z, optimize=False)
    assert left == [(0, 1), (0, 1)]
    assert jnp.einsum_path(x, [0, 1], optimize=False)[0] == [(0,)]


def test_einsum_with_axes_of_the_result_in_a_list():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(jnp.einsum(x, [0, 1], [1, 0]), x.T)
    np.testing.assert_array_equal(jnp.einsum(x, [0, 1]), x)
    np.testing.assert_array_equal(jnp.einsum(x, [0, 1], x, [2, 1], [0, 2]), x @ x.T)
    np.testing.assert_array_equal(jnp.einsum(x, [0, 1], x, [2, 1]), x @ x.T)
    with pytest.raises(TypeError, match="asarray"):
        jnp.einsum(x, [0, 1], [[1.0]], [1, 2])


def test_einsum_of_one_operand_has_the_preferred_dtype():
    x = np.arange(3.0, dtype=np.float32)
    for subscripts in ("i->", "i", "i,i->"):
        args = [x] * (subscripts.count(",") + 1)
        out = jnp.einsum(subscripts, *args, preferred_element_type="float16")
        assert out.dtype == np.float16


def _complex(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


PSEUDO = {
    "wide": _complex(2, 4),
    "tall": _complex(4, 2),
    "of lower rank": _complex(4, 2) @ _complex(2, 3, seed=1),
    "of real numbers": _complex(4, 2).real + 0j,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PSEUDO)
def test_the_tangent_of_complex_pseudo_inverses_is_a_difference(name):
    a = PSEUDO[name]
    t = _complex(*a.shape, seed=2)
    u, s, vh = np.linalg.svd(a)
    rank = (s > 1e-8).sum()
    u, v = u[:, rank:], vh[rank:].conj().T
    t = t - u @ u.conj().T @ t @ v @ v.conj().T  # a direction that keeps the rank
    step = 1e-6
    want = sum(d * np.linalg.pinv(a + d * step * t, 1e-4) for d in (1, -1)) / (2 * step)
    with olympus.enable_x64(True):
        out = olympus.jit(lambda a, t: olympus.jvp(jnp.linalg.pinv, (a,), (t,))[1])(
            a, t
        )
        np.testing.assert_allclose(out, want, rtol=1e-6, atol=1e-7)
        square = olympus.jvp(lambda a: (abs(jnp.linalg.pinv(a)) ** 2).sum(), (a,), (t,))
        assert square[1].dtype == np.float64
        slope = 2 * (np.linalg.pinv(a, 1e-4).conj() * want).sum().real
        np.testing.assert_allclose(square[1], slope, rtol=1e-6)
