"""Products of integers, and the order in which einsum multiplies."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax
from olympus import numpy as jnp

PLAIN = (((1,), (0,)), ((), ()))
NARROW = ("int8", "uint8", "int16", "uint16", "uint32", "int32", "bool")


def _integers(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 30, shape) == 0
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", NARROW)
def test_large_products_of_integers_wrap_as_small_ones_do(dtype):
    x, y = _integers((51, 67), dtype, 0), _integers((67, 53), dtype, 1)
    found = lax.dot_general(x, y, PLAIN)
    assert found.dtype == dtype
    # NumPy wraps too; its product of bools is that of logic.
    np.testing.assert_array_equal(found, x @ y)
    rows = [lax.dot_general(row[None], y, PLAIN) for row in x[:3]]
    np.testing.assert_array_equal(found[:3], np.concatenate(rows))


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8")])
def test_products_of_bytes_are_summed_in_the_preferred_type(dtypes):
    x, y = _integers((51, 300), dtypes[0], 2), _integers((300, 53), dtypes[1], 3)
    exact = x.astype("int64") @ y.astype("int64")
    for preferred in ("int32", "int16", "float32"):
        if preferred == "float32" and dtypes[0] != dtypes[1]:
            continue
        found = lax.dot_general(x, y, PLAIN, preferred_element_type=preferred)
        assert found.dtype == preferred
        np.testing.assert_array_equal(found, exact.astype(preferred))


MANY = {
    "aij,ajk->aik": ((70, 4, 5), (70, 5, 6)),
    "abij,abkj->abik": ((7, 11, 3, 4), (7, 11, 5, 4)),
    "iaj,jka->aik": ((4, 70, 5), (5, 3, 70)),
    "aijk,ajkl->ail": ((70, 4, 2, 3), (70, 2, 3, 4)),
}


@pytest.mark.parametrize("formula", MANY)
def test_products_of_many_small_matrices(formula):
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=s).astype("float32") for s in MANY[formula]]
    found = olympus.jit(lambda *xs: jnp.einsum(formula, *xs))(*xs)
    want = np.einsum(formula, *[x.astype("float64") for x in xs])
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)


def test_small_matrices_are_not_contracted_one_by_one():
    x = np.ones((70, 4, 4), "float32")
    text = olympus.jit(jnp.matmul).lower(x, x).as_text()
    assert "dot_general" not in text
    for shape in ((60, 4, 4), (70, 3, 3), (70, 8, 8)):
        x = np.ones(shape, "float32")
        assert "dot_general" in olympus.jit(jnp.matmul).lower(x, x).as_text()


LYING_THE_OTHER_WAY = {
    "aji,ajk->aik": ((70, 8, 8), (70, 8, 8)),
    "aji,akj->aik": ((70, 8, 4), (70, 16, 8)),
    "abji,abjk->abik": ((7, 11, 9, 5), (7, 11, 9, 4)),
    "ajki,ajkl->ail": ((70, 4, 2, 5), (70, 4, 2, 6)),
    "ajik,ajkl->ail": ((70, 4, 5, 3), (70, 4, 3, 6)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("formula", LYING_THE_OTHER_WAY)
def test_first_matrices_that_lie_the_other_way(formula, dtype):
    rng = np.random.default_rng(0)
    with olympus.enable_x64(True):
        xs = [rng.normal(size=s).astype(dtype) for s in LYING_THE_OTHER_WAY[formula]]
        want = np.einsum(formula, *[x.astype("float64") for x in xs])

        def product(*xs):
            return jnp.einsum(formula, *xs)

        out = olympus.jit(product)(*xs)
        assert out.dtype == dtype
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)
        looped = olympus.jit(lambda *xs: lax.map(lambda _: product(*xs), np.arange(2)))
        np.testing.assert_allclose(looped(*xs)[1], want, rtol=1e-5, atol=1e-5)


def test_which_first_matrices_are_transposed():
    def n_transposed(*shapes):
        def product(x, y):
            return lax.dot_general(x, y, (((1,), (1,)), ((0,), (0,))))

        args = [np.ones(s, "float32") for s in shapes]
        return olympus.jit(product).lower(*args).as_text().count("stablehlo.transpose")

    assert n_transposed((70, 8, 8), (70, 8, 8)) == 1
    assert n_transposed((60, 8, 8), (60, 8, 8)) == 0  # few
    assert n_transposed((70, 8, 8), (70, 8, 1)) == 0  # a vector
    assert n_transposed((70, 8, 1), (70, 8, 8)) == 0
    assert n_transposed((70, 64, 32), (70, 64, 8)) == 0  # large


def test_what_is_not_finite_stays_in_its_matrix():
    x = np.ones((70, 4, 4), "float32")
    x[3, 2, 1] = np.nan
    found = np.asarray(olympus.jit(jnp.matmul)(x, np.ones_like(x)))
    assert np.isnan(found[3, 2]).all()
    assert np.isfinite(np.delete(found, 3, 0)).all()


# The operands of the last product, as jax 0.10.2 writes them.
ORDERS = {
    "ij,jk->ik": "a b",
    "ij,jk->ki": "b a",
    "ij,j->i": "a b",
    "j,ij->i": "a b",
    "i,j->ij": "a b",
    "abi,baj->baij": "a b",
    "abi,baj->baji": "b a",
    "abi,baj->ijab": "b a",
    "ai,ai->a": "a b",
    "bthd,bshd->bhts": "a b",
    "bhts,bshd->bthd": "b a",
}


@pytest.mark.parametrize("formula", ORDERS)
def test_einsum_multiplies_in_the_order_that_needs_no_transposition(formula):
    inputs = formula.split("->")[0]
    xs = [
        np.random.default_rng(i).normal(size=[2 + ord(c) % 5 for c in names])
        for i, names in enumerate(inputs.split(","))
    ]
    xs = [x.astype("float32") for x in xs]
    program = olympus.make_olympuspr(lambda *xs: jnp.einsum(formula, *xs))(*xs)
    product, *rest = program.eqns
    names = dict(zip(program.olympuspr.invars, "ab", strict=True))
    assert " ".join(names[v] for v in product.invars) == ORDERS[formula]
    moved = formula in ("abi,baj->ijab", "bhts,bshd->bthd")
    assert [e.primitive.name for e in rest] == ["transpose"] * moved
    np.testing.assert_allclose(
        jnp.einsum(formula, *xs), np.einsum(formula, *xs), rtol=1e-5, atol=1e-5
    )


# The dtype of sums was recorded from JAX 0.10.2.
@pytest.mark.parametrize(
    ("dtypes", "sums"),
    [
        (("int8", "uint32"), "uint32"),
        (("int32", "uint32"), "int32"),
        (("bool", "float32"), "float32"),
        (("float16", "bfloat16"), "bfloat16"),
        (("int32", "float16"), "float16"),
        (("float32", "complex64"), "complex64"),
    ],
)
def test_products_of_two_dtypes_are_summed_in_one_of_them(dtypes, sums):
    x, y = (jnp.asarray([1, 0, 1]).astype(dtype) for dtype in dtypes)
    for found in (lax.dot(x, y), lax.dot(y, x)):
        assert found.dtype == sums
        assert found == 2


def test_real_numbers_have_real_gradients_of_products_with_complex_ones():
    x, z = np.ones(3, np.float32), np.array([1 + 2j, 3 - 1j, 1j], np.complex64)
    real = olympus.grad(lambda x: lax.dot(x, z).real)(x)
    imaginary = olympus.grad(lambda x: lax.dot(z, x).imag)(x)
    np.testing.assert_array_equal(real, z.real)
    np.testing.assert_array_equal(imaginary, z.imag)


@pytest.mark.parametrize("seed", range(8))
def test_cotangents_of_products_along_any_axes(seed):
    rng = np.random.default_rng(seed)
    n_batch, n_contracted, n_x, n_y = rng.integers(0, 3, 4)
    names = "abcdefgh"
    shared, own = names[: n_batch + n_contracted], names[n_batch + n_contracted :]
    size = {name: int(n) for name, n in zip(names, rng.integers(1, 4, 8), strict=True)}
    x_names = "".join(rng.permutation([*shared, *own[:n_x]]))
    y_names = "".join(rng.permutation([*shared, *own[n_x : n_x + n_y]]))
    order = rng.permutation([*shared])
    batch, contracted = order[:n_batch], order[n_batch:]
    dims = tuple(
        [
            tuple([tuple([x.index(n) for n in axes]) for x in (x_names, y_names)])
            for axes in (contracted, batch)
        ]
    )
    x, y = (
        rng.integers(-4, 5, [size[n] for n in operand]).astype(np.float32)
        for operand in (x_names, y_names)
    )
    out_names = "".join(
        [
            *batch,
            *[n for n in x_names if n not in shared],
            *[n for n in y_names if n not in shared],
        ]
    )
    out, pull = olympus.vjp(lambda x, y: lax.dot_general(x, y, dims), x, y)
    ct = rng.integers(-4, 5, out.shape).astype(np.float32)
    x_ct, y_ct = pull(ct)
    expected = np.einsum(f"{x_names},{y_names}->{out_names}", x, y)
    np.testing.assert_array_equal(out, expected)
    expected = np.einsum(f"{out_names},{y_names}->{x_names}", ct, y)
    np.testing.assert_array_equal(x_ct, expected)
    expected = np.einsum(f"{out_names},{x_names}->{y_names}", ct, x)
    np.testing.assert_array_equal(y_ct, expected)


def test_sums_of_integers_are_not_made_narrower():
    x = np.ones(3, np.int32)
    with pytest.raises(TypeError, match="preferred_element_type must not be narrower"):
        lax.dot(x, x, preferred_element_type=np.int8)
    with pytest.raises(TypeError, match=r"numpy.matmul: preferred_element_type"):
        jnp.matmul(x, x, preferred_element_type="bfloat16")
