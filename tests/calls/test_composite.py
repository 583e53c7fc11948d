"""Functions under names that compilers know, and those chosen by platform."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import lax
from olympus import numpy as jnp


def text(f: Any, *args: Any, platform: str = "cpu") -> str:
    return olympus.jit(f).trace(*args).lower(lowering_platforms=(platform,)).as_text()


def waves(x: Any, *, k: float = 1.0) -> Any:
    return lax.sin(x) * k


named = lax.composite(waves, "my.waves")


def test_a_composite_is_written_with_its_attributes() -> None:
    found = text(lambda x: named(x, k=3), 1.0)
    assert (
        'stablehlo.composite "my.waves" %arg0 {composite_attributes = {k = 3 : i64}, '
        "decomposition = @my.waves} : (tensor<f32>) -> tensor<f32>"
    ) in found
    assert "func.func private @my.waves" in found
    assert "version = 3 : i32" in text(lax.composite(waves, "my.waves", 3), 1.0)


# As JAX 0.10.2 writes them.
ATTRIBUTES = {
    "float": (1.5, "1.500000e+00 : f64"),
    "bool": (True, "true"),
    "text": ('a"b\n', r'"a\22b\0A"'),
    "list": ([1, "a"], '[1, "a"]'),
    "dict": ({"q": 1, "r": [1.0]}, "{q = 1 : i64, r = [1.000000e+00]}"),
    "dtype": (np.dtype(ml_dtypes.bfloat16), "bf16"),
    "array": (np.ones(2, np.float32), "dense<1.000000e+00> : tensor<2xf32>"),
    "scalar": (np.int8(3), "3 : i8"),
    "infinity": (float("inf"), "0x7FF0000000000000 : f64"),
}


@pytest.mark.parametrize(("value", "shown"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes(value: Any, shown: str) -> None:
    named = lax.composite(lambda x, *, k=None: x + 1.0, "my.name")
    assert f"{{k = {shown}}}" in text(lambda x: named(x, k=value), 1.0)
    assert "composite_attributes" not in text(lambda x: named(x, k=None), 1.0)


def test_results_of_composites() -> None:
    np.testing.assert_allclose(named(1.0, k=3.0), 3 * np.sin(1.0), rtol=1e-6)
    both = lax.composite(lambda x, y: {"a": x + y["z"], "b": y["z"] * 2.0}, "my.both")
    found = olympus.jit(both)(1.0, {"z": 2.0})
    assert (found["a"], found["b"]) == (3.0, 4.0)
    table = np.arange(3, dtype=np.float32)
    looked_up = lax.composite(lambda x: x + table, "my.table")
    np.testing.assert_array_equal(olympus.jit(looked_up)(1.0), table + 1)


def test_derivatives_and_maps_go_through_the_function() -> None:
    f = olympus.jit(lambda x: named(x, k=3.0))
    np.testing.assert_allclose(olympus.grad(f)(1.0), 3 * np.cos(1.0), rtol=1e-6)
    np.testing.assert_allclose(
        olympus.grad(olympus.grad(f))(1.0), -3 * np.sin(1.0), rtol=1e-6
    )
    x = np.linspace(0, 1, 3).astype(np.float32)
    np.testing.assert_allclose(olympus.vmap(f)(x), 3 * np.sin(x), rtol=1e-6)
    out, moved = olympus.jvp(lambda x: named(x), (1.0,), (2.0,))
    np.testing.assert_allclose((out, moved), (np.sin(1.0), 2 * np.cos(1.0)), rtol=1e-6)


def test_effects_inside_of_a_composite_happen() -> None:
    seen: list[float] = []

    def loud(x: Any) -> Any:
        olympus.debug.callback(lambda v: seen.append(float(v)), x)
        return x * 2.0

    assert olympus.jit(lax.composite(loud, "my.loud"))(3.0) == 6.0
    olympus.effects_barrier()
    assert seen == [3.0]


def test_what_composites_refuse() -> None:
    with pytest.raises(ValueError, match="name must be words joined by dots"):
        text(lax.composite(waves, "waves"), 1.0)
    with pytest.raises(TypeError, match="decomposition must be a function"):
        lax.composite(3, "my.waves")
    with pytest.raises(TypeError, match="attributes must be numbers, strings"):
        named(1.0, k=object())
    with pytest.raises(olympus.errors.UnexpectedTracerError, match="attribute 'k'"):
        olympus.jit(lambda k: named(1.0, k=k))(2.0)
    with pytest.raises(olympus.errors.UnexpectedTracerError, match="close over"):
        olympus.jit(lambda y: lax.composite(lambda x: x + y, "my.sum")(1.0))(2.0)


# -- by platform -----------------------------------------------------------------------


def by_platform(x: Any) -> Any:
    return lax.platform_dependent(x, cpu=jnp.sin, tpu=jnp.cos, default=jnp.tanh)


def test_only_the_chosen_function_is_lowered() -> None:
    wanted = {"cpu": "sine", "tpu": "cosine", "cuda": "tanh"}
    for platform, name in wanted.items():
        found = text(by_platform, 1.0, platform=platform)
        assert f"stablehlo.{name} " in found
        assert "stablehlo.case" not in found
        for other in set(wanted.values()) - {name}:
            assert f"stablehlo.{other} " not in found


def test_values_and_transformations_by_platform() -> None:
    for f in (by_platform, olympus.jit(by_platform)):
        np.testing.assert_allclose(f(1.0), np.sin(1.0), rtol=1e-6)
        np.testing.assert_allclose(olympus.grad(f)(1.0), np.cos(1.0), rtol=1e-6)
    x = np.ones(3, np.float32)
    np.testing.assert_allclose(
        olympus.jit(olympus.vmap(olympus.grad(by_platform)))(x), np.cos(x), rtol=1e-6
    )
    total = olympus.jit(
        lambda xs: lax.scan(lambda c, x: (c + by_platform(x), x), 0.0, xs)
    )
    np.testing.assert_allclose(total(x)[0], 3 * np.sin(1.0), rtol=1e-6)


def test_platforms_without_a_function_are_refused_when_lowered() -> None:
    def f(x: Any) -> Any:
        return lax.platform_dependent(x, tpu=jnp.sin)

    olympus.make_olympuspr(f)(1.0)
    for call in (f, olympus.jit(lambda x: f(x) * 2.0)):
        with pytest.raises(NotImplementedError, match="for the platform 'cpu', got"):
            call(1.0)
    with pytest.raises(ValueError, match="use cuda or rocm"):
        lax.platform_dependent(1.0, gpu=jnp.sin)
    with pytest.raises(TypeError, match="cpu must be a function"):
        lax.platform_dependent(1.0, cpu=3)
    with pytest.raises(TypeError, match="must return the same structure"):
        olympus.jit(
            lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=lambda x: (x, x))
        )(1.0)
