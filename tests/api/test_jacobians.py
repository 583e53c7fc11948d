"""`jacfwd`, `jacrev` and `hessian`: values, structure, dtypes, and agreement."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import tree_util

X = np.asarray([0.5, -1.0, 2.0], np.float32)
BOTH = [olympus.jacfwd, olympus.jacrev]


def kind(tree):
    """Shape, dtype and weakness of each leaf."""
    return tree_util.tree_map(lambda a: (a.shape, str(a.dtype), a.weak_type), tree)


@pytest.mark.parametrize("jacobian", BOTH)
def test_against_the_matrix_of_a_linear_function(jacobian, rng):
    a = rng.normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(jacobian(lambda x: a @ x)(X), a, rtol=1e-6)
    np.testing.assert_allclose(olympus.jit(jacobian(lambda x: a @ x))(X), a, rtol=1e-6)


@pytest.mark.parametrize("jacobian", BOTH)
def test_shapes_are_the_result_s_before_the_argument_s(jacobian):
    found = jacobian(lambda a: jnp.sin(a).T)(np.ones((2, 3), np.float32))
    assert found.shape == (3, 2, 2, 3)
    expected = np.einsum("ac,bd->abdc", np.eye(3), np.eye(2)) * np.cos(1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert jacobian(jnp.square)(np.zeros((0,), np.float32)).shape == (0, 0)
    assert jacobian(lambda x: x[:0])(X).shape == (0, 3)


@pytest.mark.parametrize("jacobian", BOTH)
def test_trees_of_results_hold_trees_of_arguments(jacobian):
    def f(d, scale, word):
        assert word == "word"
        return {"o": d["a"] * d["b"] * scale, "p": (jnp.sum(d["a"]), None)}

    d = {"a": jnp.asarray(X), "b": jnp.asarray(2.0)}
    found = jacobian(f, argnums=(0, -2))(d, 3.0, "word")
    by_d, by_scale = found["o"]
    np.testing.assert_allclose(by_d["a"], 6 * np.eye(3))
    np.testing.assert_allclose(by_d["b"], 3 * X)
    np.testing.assert_allclose(by_scale, 2 * X)
    by_d, by_scale = found["p"][0]
    np.testing.assert_allclose(by_d["a"], np.ones(3))
    assert (float(by_d["b"]), float(by_scale)) == (0.0, 0.0)
    assert found["p"][1] is None
    assert isinstance(jacobian(f, [0])(d, 3.0, "word")["o"], tuple)


def test_dtypes_and_weakness_are_those_recorded():
    # Observed with jax 0.10.2: the result's dtype forwards, the argument's backwards.
    def f(a, b):
        return a * b.astype(a.dtype), b

    x, b = jnp.asarray(X), jnp.asarray(2.0, "bfloat16")
    (aa, ab), (ba, bb) = kind(olympus.jacfwd(f, (0, 1))(x, b))
    assert aa == ((3, 3), "float32", False)
    assert (ab[1], ba[1], bb[1]) == ("float32", "bfloat16", "bfloat16")
    (_, ab), (ba, bb) = kind(olympus.jacrev(f, (0, 1))(x, b))
    assert (ab[1], ba[1], bb[1]) == ("bfloat16", "float32", "bfloat16")
    weak = ((), "float32", True)
    for jacobian in BOTH:
        assert kind(jacobian(lambda x: x * x)(2.0)) == weak
        assert kind(jacobian(lambda a, b: (a * b, b), 1)(x, 2.0))[1] == weak
    assert kind(olympus.jacfwd(lambda s: s * x)(2.0)) == ((3,), "float32", False)
    assert kind(olympus.jacrev(lambda s: s * x)(2.0)) == ((3,), "float32", True)


@pytest.mark.slow
def test_auxiliary_values_and_keywords():
    def f(x, *, k):
        return x * k, {"sum": jnp.sum(x), "word": "w"}

    for jacobian in BOTH:
        found, aux = jacobian(f, has_aux=True)(X, k=2.0)
        np.testing.assert_allclose(found, 2 * np.eye(3))
        assert (float(aux["sum"]), aux["word"]) == (1.5, "w")
    found, aux = olympus.hessian(f, has_aux=True)(X, k=2.0)
    np.testing.assert_array_equal(found, np.zeros((3, 3, 3)))
    assert aux["word"] == "w"


def test_results_that_do_not_depend_on_the_arguments():
    for jacobian in BOTH:
        np.testing.assert_array_equal(jacobian(lambda x: 3.0)(X), np.zeros(3))
        found = jacobian(lambda x: jnp.ones(2))(X)
        np.testing.assert_array_equal(found, np.zeros((2, 3)))
        assert jacobian(lambda x: None)(X) is None


def test_integers():
    # Forwards, results may be integers; backwards, arguments where that is allowed.
    found = olympus.jacfwd(lambda x: (x, x.astype("int32")))(X)
    np.testing.assert_array_equal(found[0], np.eye(3))
    assert kind(found[1]) == ((3, 3), "int32", False)
    both = olympus.jacrev(lambda x, i: x * i, (0, 1), allow_int=True)(X, np.arange(3))
    np.testing.assert_array_equal(both[0], np.diag([0.0, 1.0, 2.0]))
    assert kind(both[1]) == ((3, 3), "int32", False)


def test_hessian_of_a_quadratic_form(rng):
    a = rng.normal(size=(3, 3)).astype(np.float32)
    found = olympus.hessian(lambda x: x @ a @ x)(X)
    np.testing.assert_allclose(found, a + a.T, rtol=1e-5)


@pytest.mark.slow
def test_hessian_by_all_pairs_of_modes():
    def f(p):
        return jnp.sin(p["x"][0] * p["y"]) * p["x"][1]

    p = {"x": jnp.asarray(X), "y": jnp.asarray(0.7)}
    pairs = [(outer, inner) for outer in BOTH for inner in BOTH]
    hessians = [outer(inner(f))(p) for outer, inner in pairs]
    hessians += [olympus.hessian(f)(p), olympus.jit(olympus.hessian(f))(p)]
    first = tree_util.tree_leaves(hessians[0])
    np.testing.assert_allclose(first[1], np.asarray(hessians[0]["y"]["x"]), rtol=1e-5)
    for other in hessians[1:]:
        for a, b in zip(first, tree_util.tree_leaves(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_holomorphic_functions():
    z = jnp.asarray([1.0 + 1.0j, 0.5])
    for jacobian in BOTH:
        found = jacobian(jnp.exp, holomorphic=True)(z)
        np.testing.assert_allclose(found, np.diag(np.exp(z)), rtol=1e-6)
    found = olympus.hessian(lambda z: jnp.sum(z**3), holomorphic=True)(z)
    np.testing.assert_allclose(found, np.diag(6 * np.asarray(z)), rtol=1e-6)
    found = olympus.jacfwd(lambda x: x * 1j)(X)
    np.testing.assert_allclose(found, 1j * np.eye(3))


def test_one_number_needs_no_loop():
    program = olympus.make_olympuspr(olympus.jacrev(lambda x: jnp.sum(x * x)))(X)
    assert "iota" not in str(program)
    program = olympus.make_olympuspr(olympus.jacfwd(lambda x: x * X))(2.0)
    assert "iota" not in str(program)


def test_a_traced_basis_is_computed_not_stored():
    f = olympus.jit(olympus.jacfwd(jnp.sin))
    assert "iota" in f.lower(np.ones(300, np.float32)).as_text()
    assert not olympus.make_olympuspr(olympus.jacrev(jnp.sin))(X).consts


@pytest.mark.slow
def test_jacobians_of_mapped_and_jitted_functions():
    f = olympus.jit(olympus.vmap(jnp.sin))
    for jacobian in BOTH:
        np.testing.assert_allclose(jacobian(f)(X), np.diag(np.cos(X)), rtol=1e-6)
        found = olympus.vmap(jacobian(jnp.sin))(np.stack([X, 2 * X]))
        np.testing.assert_allclose(found[1], np.diag(np.cos(2 * X)), rtol=1e-6)
