"""Functions of functions: vectorize, apply_along_axis, frompyfunc."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from tests.comparing import assert_close

A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 7

SLOW_AXES = [pytest.param(axis, marks=pytest.mark.slow) for axis in (1, -1)]


close = functools.partial(assert_close, rtol=1e-6, atol=0)


# -- vectorize -------------------------------------------------------------------------


def test_scalars_broadcast():
    def larger(a, b):
        assert a.shape == b.shape == ()
        return jnp.where(a > b, a, b)

    run = jnp.vectorize(larger)
    close(run(A[:, None], B[0, :, :1]), np.maximum(A[:, None], B[0, :, :1]))
    close(run(A, 2), np.maximum(A, 2))
    assert run([1, 5], 3).tolist() == [3, 5]
    assert run(1, 2).shape == ()


SIGNATURES = {
    "(n,m),(m)->(n)": (lambda a, b: a @ b, [(5, 2, 3), (4, 1, 3)]),
    "(n),(n)->()": (lambda a, b: a @ b, [(2, 3), (3,)]),
    "(m,n),(n,p)->(m,p)": (lambda a, b: a @ b, [(2, 1, 3, 4), (5, 4, 2)]),
    "(n)->(),(n)": (lambda a: (a.sum(), a * 2), [(2, 3)]),
    "()->(k)": (lambda a: jnp.stack([a, a + 1]), [(2, 3)]),
    " ( n ) , ( ) -> ( n ) ": (lambda a, b: a * b, [(4, 3), (2, 1)]),
    "(3)->()": (lambda a: a.sum(), [(2, 3)]),
}


@pytest.mark.parametrize(
    "signature",
    [
        pytest.param(text, marks=() if i < 2 else pytest.mark.slow)
        for i, text in enumerate(SIGNATURES)
    ],
)
def test_signatures_are_numpys(signature):
    f, shapes = SIGNATURES[signature]
    args = [np.random.default_rng(i).normal(size=s) for i, s in enumerate(shapes)]
    args = [a.astype(np.float32) for a in args]
    got = jnp.vectorize(f, signature=signature)(*args)
    want = np.vectorize(
        lambda *xs: olympus.tree.map(np.asarray, f(*map(jnp.asarray, xs))),
        signature=signature.replace("(3)", "(n)"),
    )(*args)
    for g, w in zip(olympus.tree.leaves(got), olympus.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-4, atol=1e-5)


def test_arguments_left_out():
    def power(x, n, *, scale=None, names=None):
        assert isinstance(n, int)
        return x**n if scale is None else x**n * scale.sum()

    close(jnp.vectorize(power, excluded={1})(A, 2), A**2)
    close(jnp.vectorize(power, excluded={"n"})(A, n=2), A**2)
    run = jnp.vectorize(power, excluded={1, "scale", "names"})
    close(run(A, 2, scale=A, names="text"), A**2 * 15)
    close(jnp.vectorize(lambda x, y: x)(A, None), A)
    close(jnp.vectorize(lambda x, y: x - y)(A, y=A[0]), A - A[0])
    weighted = jnp.vectorize(
        lambda x, n: x.sum() * n, excluded={1}, signature="(n)->()"
    )
    close(weighted(A, 2), A.sum(1) * 2)


def test_results_of_all_kinds():
    out = jnp.vectorize(lambda x: {"a": x, "b": (1, x * 2)})(A)
    close(out["a"], A)
    close(out["b"][0], np.ones((2, 3)))
    close(jnp.vectorize(lambda x: x * 2)(A[:1, :, None]), A[:1, :, None] * 2)
    assert jnp.vectorize(lambda x: x)(np.ones((0, 3), np.float32)).shape == (0, 3)


def test_vectorized_functions_transform():
    run = jnp.vectorize(lambda a, b: a * b)
    close(olympus.jit(run)(A, 2.0), A * 2)
    close(olympus.grad(lambda x: run(x, x).sum())(A), 2 * A)
    close(olympus.vmap(run)(A, np.ones((2, 5, 1), np.float32)), np.stack([A] * 5, 1))


def test_used_as_a_decorator_it_keeps_names():
    @functools.partial(jnp.vectorize, signature="(n)->()")
    def total(x):
        """Adds up."""
        return x.sum()

    assert (total.__name__, total.__doc__) == ("total", "Adds up.")
    close(total(B), B.sum(-1))


BAD = {
    "inconsistent size for core dimension 'm': 4 vs 3 for signature": (
        ValueError,
        lambda: jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")(A, np.ones(4)),
    ),
    "input with shape .* does not have enough dimensions": (
        ValueError,
        lambda: jnp.vectorize(jnp.dot, signature="(n,m),(m)->(n)")(A[0], A[0]),
    ),
    "output shape .* does not match core dimensions": (
        ValueError,
        lambda: jnp.vectorize(lambda x: x, signature="(n)->()")(A),
    ),
    "inconsistent size for core dimension 'n': 7 vs 3": (
        ValueError,
        lambda: jnp.vectorize(lambda x: jnp.ones(7), signature="(n)->(n)")(A),
    ),
    "wrong number of output arguments: expected 1, got 2": (
        TypeError,
        lambda: jnp.vectorize(lambda x: (x, x), signature="(n)->(n)")(A),
    ),
    "output must be a tuple when multiple outputs": (
        TypeError,
        lambda: jnp.vectorize(lambda x: x, signature="(n)->(n),(n)")(A),
    ),
    "not a valid gufunc signature": (
        ValueError,
        lambda: jnp.vectorize(jnp.dot, signature="(n->n"),
    ),
    "wrong number of positional arguments: expected 2, got 1": (
        TypeError,
        lambda: jnp.vectorize(jnp.dot, signature="(n),(n)->()")(A),
    ),
    "contains negative numbers": (
        ValueError,
        lambda: jnp.vectorize(jnp.dot, excluded={-1}),
    ),
    "can only exclude integer or string": (
        TypeError,
        lambda: jnp.vectorize(jnp.dot, excluded={1.5}),
    ),
    "incompatible shapes for broadcasting": (
        ValueError,
        lambda: jnp.vectorize(jnp.add)(A, np.ones(4)),
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_uses_of_vectorize(message):
    kind, call = BAD[message]
    with pytest.raises(kind, match="numpy.vectorize: .*" + message):
        call()


def test_a_function_of_scalars_may_return_arrays():
    pair = jnp.vectorize(lambda x, y: {"pair": jnp.stack([x, y]), "one": x})
    out = pair(np.ones((2, 1), np.float32), np.arange(3, dtype=np.float32))
    assert out["one"].shape == (2, 3)
    np.testing.assert_array_equal(out["pair"][1], [[1, 0], [1, 1], [1, 2]])
    assert jnp.vectorize(lambda x: jnp.ones(2))(np.ones(1)).shape == (1, 2)
    assert jnp.vectorize(lambda x: jnp.ones(2))(1.0).shape == (2,)


# -- along and over axes ---------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, *SLOW_AXES])
def test_apply_along_axis(axis):
    for name in ("sum", "sort", "cumsum"):
        got = jnp.apply_along_axis(getattr(jnp, name), axis, B)
        close(got, np.apply_along_axis(getattr(np, name), axis, B))

    def outer(v, k, *, shift):
        return jnp.outer(v, v) * k + shift

    got = jnp.apply_along_axis(outer, axis, B, 3, shift=1)
    want = np.apply_along_axis(lambda v: np.outer(v, v) * 3 + 1, axis, B)
    close(got, want)
    batched = olympus.vmap(lambda b: jnp.apply_along_axis(jnp.sum, 0, b))(B)
    close(batched, B.sum(1))


@pytest.mark.slow
def test_apply_over_axes():
    for axes in ((0, 2), [-1], 1):
        close(
            jnp.apply_over_axes(jnp.sum, B, axes), np.apply_over_axes(np.sum, B, axes)
        )
    with pytest.raises(ValueError, match="correct shape"):
        jnp.apply_over_axes(lambda x, axis: x.sum(), B, (0,))
    with pytest.raises(ValueError, match="out of bounds"):
        jnp.apply_along_axis(jnp.sum, 5, B)


def test_piecewise_of_mapped_conditions():
    def f(x, hot):
        return jnp.piecewise(x, [hot, x < 0], [lambda x: x * 10, 5.0, lambda x: -x])

    hot = A > 2
    want = np.where(A < 0, 5, np.where(hot, A * 10, -A))
    close(olympus.vmap(f)(A, hot), want)
    close(olympus.vmap(olympus.vmap(f))(A, hot), want)


# -- ufuncs made of functions ----------------------------------------------------------


def affine(a, b):
    return a * 0.5 + b


MADE = jnp.frompyfunc(affine, 2, 1)
KNOWN = np.frompyfunc(affine, 2, 1)


def numpys(x):
    return np.asarray(x, np.float32)


def test_made_ufuncs_apply_and_join():
    assert (MADE.nin, MADE.nout, MADE.nargs, MADE.identity) == (2, 1, 2, None)
    assert repr(MADE) == "<jnp.ufunc 'affine'>"
    close(MADE(A, A[0]), affine(A, A[0]))
    close(MADE.outer(A[0], A[1]), affine(A[0][:, None], A[1]))
    one, two = jnp.frompyfunc(lambda a: (a, a * 2), 1, 2)(A)
    close(one, A)
    close(two, A * 2)


@pytest.mark.parametrize("axis", [0, *SLOW_AXES])
def test_made_ufuncs_fold_in_order(axis):
    close(MADE.reduce(B, axis=axis), numpys(KNOWN.reduce(B, axis=axis)))
    close(MADE.accumulate(B, axis=axis), numpys(KNOWN.accumulate(B, axis=axis)))
    kept = MADE.reduce(B, axis=axis, keepdims=True)
    close(kept, numpys(KNOWN.reduce(B, axis=axis, keepdims=True)))
    started = MADE.reduce(B, axis=axis, initial=3.0)
    close(started, numpys(KNOWN.reduce(B, axis=axis, initial=3.0)))


@pytest.mark.slow
def test_folds_over_several_axes_and_masks():
    largest = jnp.frompyfunc(jnp.maximum, 2, 1, identity=-np.inf)
    close(largest.reduce(B, axis=None), B.max())
    close(largest.reduce(B, axis=(0, 2)), B.max((0, 2)))
    close(
        largest.reduce(B, axis=1, where=B < 5), B.max(1, where=B < 5, initial=-np.inf)
    )
    close(largest.reduce(np.ones((0, 2), np.float32)), [-np.inf] * 2)
    total = jnp.frompyfunc(jnp.add, 2, 1, identity=0)
    assert total.reduce(np.int8([1, 2, 3])).dtype == np.int8
    assert total.reduce(np.int8([1, 2, 3]), dtype="int32").dtype == np.int32
    with pytest.raises(ValueError, match="an empty axis needs a value to start"):
        MADE.reduce(np.ones((0, 2)))
    with pytest.raises(ValueError, match="no identity, so `where` needs an initial"):
        MADE.reduce(A, where=A > 1)


def test_updates_one_after_another():
    places, values = np.array([0, 2, 0]), np.float32([1, 2, 3])
    want = A[0].copy()
    for p, v in zip(places, values, strict=True):
        want[p] = affine(want[p], v)
    close(MADE.at(A[0], places, values, inplace=False), want)
    close(olympus.jit(lambda x: MADE.at(x, places, values, inplace=False))(A[0]), want)
    halved = jnp.frompyfunc(lambda a: a / 2, 1, 1)
    close(halved.at(A, (slice(None), 1), inplace=False), A / np.float32([1, 2, 1]))
    with pytest.raises(NotImplementedError, match="inplace must be False"):
        MADE.at(A[0], 0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("indices", [[0, 2], [1], [2, 0, 1], [0, 0, 3]])
def test_folds_of_slices(indices):
    want = numpys(KNOWN.reduceat(B, indices, axis=2))
    close(MADE.reduceat(B, np.array(indices), axis=2), want)
    want = np.add.reduceat(B, indices, axis=2)
    close(jnp.add.reduceat(B, np.array(indices), axis=2), want)


@pytest.mark.slow
def test_known_ufuncs_without_rules_fold():
    close(jnp.logaddexp.reduce(A), np.logaddexp.reduce(A))
    close(jnp.subtract.accumulate(A, axis=1), np.subtract.accumulate(A, axis=1))
    close(jnp.maximum.accumulate(B, axis=2), np.maximum.accumulate(B, axis=2))
    bits = np.int32([[6, 3], [5, 7]])
    close(jnp.bitwise_or.reduce(bits), np.bitwise_or.reduce(bits))
    close(olympus.vmap(jnp.bitwise_and.reduce)(bits), np.bitwise_and.reduce(bits, 1))
    slope = olympus.grad(lambda x: jnp.logaddexp.reduce(x))(A[0])
    close(slope, np.exp(A[0]) / np.exp(A[0]).sum())


def test_bad_functions():
    with pytest.raises(TypeError, match="frompyfunc: func must be callable, got 3"):
        jnp.frompyfunc(3, 2, 1)
    for counts in (("a", 1), (2, -1), (True, 1)):
        with pytest.raises(TypeError, match=r"frompyfunc: n(in|out) must be a number"):
            jnp.frompyfunc(affine, *counts)
    with pytest.raises(ValueError, match="affine must return 2 results, got 1"):
        jnp.frompyfunc(affine, 2, 2)(A, A)
    with pytest.raises(ValueError, match="reduce only supported for binary ufuncs"):
        jnp.frompyfunc(lambda a: a, 1, 1).reduce(A)
    with pytest.raises(ValueError, match="reduceat: indices must have one axis"):
        MADE.reduceat(A, np.array([[0]]))
