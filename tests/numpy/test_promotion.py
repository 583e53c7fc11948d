"""Dtypes and weak types of results, against recorded facts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

_RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "dtypes.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    ("call", "dtype", "weak"),
    [
        (lambda: jnp.array(1), "int32", True),
        (lambda: jnp.array(1.0), "float32", True),
        (lambda: jnp.array(True), "bool", False),
        (lambda: jnp.array([1, 2]), "int32", False),
        (lambda: jnp.array([1, 2.5]), "float32", False),
        (lambda: jnp.array([jnp.float16(1), 2.0]), "float16", False),
        (lambda: jnp.float32(1), "float32", False),
        (lambda: jnp.add(1, 2), "int32", True),
        (lambda: jnp.add(1, 2.0), "float32", True),
        (lambda: jnp.array([2], "int8") + 1, "int8", False),
        (lambda: jnp.array([2], "int8") + 1.5, "float32", True),
        (lambda: jnp.array([2], "bfloat16") * 1.5, "bfloat16", False),
        (lambda: jnp.array([2], "uint8") + jnp.array([1], "int8"), "int16", False),
        (lambda: np.float32(2) * jnp.arange(3), "float32", False),
        (lambda: jnp.exp(1), "float32", True),
        (lambda: jnp.hypot(3, 4), "float32", True),
        (lambda: jnp.square(True), "int32", False),
        (lambda: jnp.full(3, 1), "int32", True),
        (lambda: jnp.full_like(jnp.array(1), 2.5), "int32", True),
        (lambda: jnp.where(True, 1, 2.0), "float32", True),
        (lambda: jnp.sum(jnp.array(1)), "int32", False),
        (lambda: jnp.sum(jnp.ones(2, "uint8")), "uint32", False),
        (lambda: jnp.sum(jnp.ones(2, "float16")), "float16", False),
        (lambda: jnp.cumsum(jnp.ones(2, "uint8")), "uint8", False),
        (lambda: jnp.cumsum(jnp.ones(2, bool)), "int32", False),
        (lambda: jnp.mean(jnp.arange(3)), "float32", False),
        (lambda: jnp.var(jnp.ones(2, "complex64")), "float32", False),
        (lambda: jnp.abs(jnp.ones(2, "complex64")), "float32", False),
        (lambda: jnp.arange(3), "int32", False),
        (lambda: jnp.arange(0, 1, 0.5), "float32", False),
        (lambda: jnp.linspace(0, 1, 3), "float32", False),
        (lambda: jnp.dot(1, 2), "int32", True),
        (lambda: jnp.argmax(jnp.ones(3)), "int32", False),
        (lambda: jnp.power(2.0, jnp.arange(2)), "float32", False),
        (lambda: jnp.round(jnp.array(12.345), 2), "float32", True),
        (lambda: jnp.array(12.345).round(-1), "float32", True),
        (lambda: jnp.round(jnp.ones(2, "bfloat16"), 2), "bfloat16", False),
    ],
)
def test_dtype_and_weak_type(call, dtype, weak):
    found = call()
    assert found.dtype == dtype
    assert found.weak_type is weak


@pytest.mark.slow
def test_the_lattice_holds_for_sums_of_arrays():
    table = _RECORDED["promotion (x64 on)"]
    names = ["bool", "uint8", "int8", "int32", "bfloat16", "float16", "complex64"]
    with olympus.enable_x64(True):
        for a in names:
            for b in names:
                wanted = _looked_up(table, a, b)
                found = jnp.zeros(1, a) + jnp.zeros(1, b)
                assert found.dtype == wanted, (a, b)


def _looked_up(table, a, b):
    return table[f"{a},{b}"] if f"{a},{b}" in table else table[f"{b},{a}"]


def test_half_precision_sums_are_added_in_single_precision():
    x = jnp.full(4096, 1.0, "bfloat16")
    assert jnp.sum(x) == 4096


def test_sixty_four_bits_warn_where_they_are_off():
    with pytest.warns(UserWarning, match="64-bit values are off"):
        assert jnp.ones(3, "float64").dtype == np.float32
    with olympus.enable_x64(True):
        assert jnp.ones(3, "float64").dtype == np.float64


@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4", "uint4", "int8", "uint8"])
@pytest.mark.parametrize("number", [2, -3, 17, 300])
@pytest.mark.parametrize(
    "apply",
    [
        lambda x, n: x + n,
        lambda x, n: n - x,
        lambda x, n: x * n,
        lambda x, n: x & n,
        lambda x, n: x < n,
        jnp.maximum,
        lambda x, n: jnp.where(x > 0, x, n),
    ],
)
def test_numbers_beside_narrow_integers_wrap_around(dtype, number, apply):
    x = jnp.array([0, 1, 3]).astype(dtype)
    wrapped = jnp.array(number).astype(dtype)
    expected = apply(x, wrapped)
    for call in (apply, olympus.jit(apply, static_argnums=1)):
        out = call(x, number)
        assert out.dtype == expected.dtype
        assert out.tolist() == expected.tolist()


def test_integers_that_do_not_fit():
    with pytest.raises(OverflowError):
        jnp.array(2**40)
    with pytest.raises(OverflowError):
        jnp.array([2**40])


@pytest.mark.parametrize(
    ("kinds", "dtype"),
    [("b1 i8 b1", "f8"), ("i4 i8 f4", "f8"), ("b1 i4 f2", "f4"), ("f2 f2 f4", "f4")],
)
def test_interpolation_promotes_the_places_before_the_samples(kinds, dtype):
    with olympus.enable_x64(True):
        x, xp, fp = (olympus.ShapeDtypeStruct((3,), np.dtype(k)) for k in kinds.split())
        assert olympus.eval_shape(jnp.interp, x, xp, fp).dtype == np.dtype(dtype)
