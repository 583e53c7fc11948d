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
