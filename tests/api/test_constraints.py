"""Constraints on where values live; names of other pages."""

from __future__ import annotations

import logging
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax

HERE = olympus.device_put(np.zeros(2)).sharding


def test_a_constraint_puts_arrays_there_and_stays_in_programs() -> None:
    out = lax.with_sharding_constraint({"a": np.ones(3), "b": 2.0}, HERE)
    assert out["a"].sharding.device_set == HERE.device_set
    np.testing.assert_array_equal(out["a"], np.ones(3))

    def f(x: Any) -> Any:
        return lax.with_sharding_constraint({"a": x * 2.0}, {"a": HERE})["a"]

    names = [e.primitive.name for e in olympus.make_olympuspr(f)(1.0).olympuspr.eqns]
    assert names == ["mul", "sharding_constraint"]
    assert olympus.jit(f)(3.0) == 6.0
    assert olympus.jit(olympus.grad(f))(3.0) == 2.0
    np.testing.assert_array_equal(olympus.vmap(f)(np.ones(2)), [2.0, 2.0])


@pytest.mark.parametrize(
    ("shardings", "kind"),
    [
        (None, ValueError),
        ("x", TypeError),
        (olympus.devices()[0], TypeError),
        ({"a": HERE}, ValueError),
    ],
    ids=["none", "text", "device", "other tree"],
)
def test_what_is_no_sharding_is_refused(shardings: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="with_sharding_constraint"):
        lax.with_sharding_constraint({"a": 1.0, "b": 2.0}, shardings)


def test_dtypes_that_pass_by_dlpack() -> None:
    supported = olympus.dlpack.is_supported_dtype
    assert all(map(supported, (bool, np.int8, ml_dtypes.bfloat16, "float32", "c8")))
    refused = (ml_dtypes.float8_e4m3fn, "U4", object, olympus.dtypes.float0)
    assert not any(map(supported, refused))
    for bad in ("nope", None):
        with pytest.raises(TypeError):
            supported(bad)
    x = olympus.dlpack.from_dlpack(np.arange(3.0, dtype=np.float32), None, True)
    np.testing.assert_array_equal(x, [0, 1, 2])


def test_values_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @olympus.jit
    def f(x: Any) -> Any:
        olympus.debug.log("x is {x}", x=x)
        return x

    with caplog.at_level(logging.INFO, logger="olympus"):
        f(2.0)
        olympus.effects_barrier()
    assert "x is 2.0" in caplog.messages


def test_names_of_core() -> None:
    assert (olympus.core.max_dim(3, 4), olympus.core.min_dim(3, 4)) == (4, 3)

    @olympus.jit
    def f(x: Any) -> Any:
        with olympus.core.eval_context():
            n = float(olympus.numpy.sin(0.0))
        return x + n

    assert f(1.0) == 1.0


def test_programs_may_be_run_at_the_place_of_the_call() -> None:
    closed = olympus.make_olympuspr(lambda x: x * 2.0)(1.0)

    def places(keep: bool) -> set[int]:
        again = olympus.make_olympuspr(
            lambda x: olympus.core.eval_olympuspr(
                closed.olympuspr, closed.consts, x, propagate_source_info=keep
            )
        )(1.0)
        return {e.source.line for e in again.olympuspr.eqns}

    first = closed.olympuspr.eqns[0].source.line
    assert places(True) == {first}
    assert first not in places(False)
