"""Operations that leave marks, and numbers that cannot be repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
from olympus import lax


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint32"])
def test_uniform_numbers_stay_within_bounds(dtype: str) -> None:
    kind = olympus.numpy.dtype(dtype)
    low, high = np.asarray(2, kind)[()], np.asarray(90, kind)[()]
    first, second = (lax.rng_uniform(low, high, (50,)) for _ in range(2))
    assert first.dtype == kind
    values = np.asarray(first).astype(np.float64)
    assert ((values >= 2) & (values <= 90)).all()
    assert np.unique(values).size > 10
    assert not np.array_equal(first, second)


def test_uniform_numbers_of_weak_bounds_are_weak_and_may_be_none() -> None:
    assert lax.rng_uniform(0.0, 1.0, (2,)).aval.weak_type
    assert lax.rng_uniform(0, 5, (0, 2)).shape == (0, 2)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_mapped_bounds_hold_for_each_element(dtype: Any) -> None:
    low = np.array([0, 10, 20], dtype)
    x = olympus.vmap(lambda a: lax.rng_uniform(a, dtype(30), (40,)))(low)
    assert (np.asarray(x) >= low[:, None]).all()
    assert (np.asarray(x) < 30).all()
    assert (np.asarray(x).max(1) > 20).all()


def test_a_sink_keeps_what_nobody_reads() -> None:
    def f(x: Any, keep: bool) -> Any:
        lax.dce_sink({"a": x * 2.0}, prevent_mlir_dce=keep)
        return x

    program = olympus.make_olympuspr(f, static_argnums=1)(1.0, False)
    names = [e.primitive.name for e in program.olympuspr.eqns]
    assert names == ["mul", "dce_sink"]
    for keep in (False, True):
        assert olympus.jit(f, static_argnums=1)(3.0, keep) == 3.0
        assert olympus.grad(f)(3.0, keep) == 1.0
    rows = olympus.vmap(lambda x: f(x, True))(np.ones(3))
    np.testing.assert_array_equal(rows, np.ones(3))


def test_a_sink_in_control_flow() -> None:
    def step(c: Any, x: Any) -> Any:
        lax.dce_sink(c * 2.0)
        return c + x, None

    total = olympus.jit(lambda xs: lax.scan(step, 0.0, xs)[0])(np.ones(3, np.float32))
    assert total == 3.0


def test_stage_lifts_values() -> None:
    assert isinstance(lax.stage(1.0), olympus.Array)
    assert str(olympus.make_olympuspr(lax.stage)(1.0)).endswith("let  in (a,) }")
    assert isinstance(
        olympus.jit(lambda: isinstance(lax.stage(np.ones(2)), olympus.core.Tracer))(),
        olympus.Array,
    )
    for bad in ("a", None, [1, 2]):
        with pytest.raises(TypeError):
            lax.stage(bad)


def test_tokens_pass_through_programs() -> None:
    def f(x: Any) -> Any:
        return x, lax.after_all(lax.create_token(x), lax.create_token())

    x, token = olympus.jit(f)(1.0)
    assert x == 1.0
    assert (token.shape, token.dtype) == ((0,), np.bool_)


def test_shapes_and_dtypes_as_values() -> None:
    found = lax.shape_as_value((2, 3))
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, [2, 3])
    assert lax.shape_as_value(()).shape == (0,)
    kinds = {1: "int32", 1.5: "float32", 1j: "complex64", np.float64: "float32"}
    assert {lax.dtype(v): k for v, k in kinds.items()} == {
        np.dtype(k): k for k in kinds.values()
    }
    assert lax.dtype(True) == np.bool_
    assert lax.dtype(olympus.random.key(0)) == olympus.random.key(0).dtype
    for bad, kind in (("a", TypeError), ([1, 2], TypeError), (None, ValueError)):
        with pytest.raises(kind):
            lax.dtype(bad)
