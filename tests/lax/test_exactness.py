"""Precisions and algorithms of contractions, and accuracies of functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
from olympus import lax

F32 = np.float32
X = np.arange(4, dtype=F32).reshape(2, 2)
Preset = lax.DotAlgorithmPreset
# Recorded from JAX 0.10.2 on CPU.
ON_CPU = {
    "DEFAULT",
    "F16_F16_F16",
    "BF16_BF16_F32",
    "BF16_BF16_F32_X3",
    "BF16_BF16_F32_X6",
    "F32_F32_F32",
    "F64_F64_F64",
}


def text(f: Any, *args: Any) -> str:
    return olympus.jit(f).lower(*args).as_text()


@pytest.mark.parametrize("preset", Preset, ids=str)
def test_what_cpu_has_is_lowered_and_the_rest_refused(preset: Any) -> None:
    def f(x: Any) -> Any:
        return lax.dot(x, x, precision=preset)

    if preset.name in ON_CPU:
        assert "stablehlo.dot_general" in text(f, X)
    else:
        with pytest.raises(ValueError, match=f"got {preset.name} on cpu"):
            text(f, X)


@pytest.mark.parametrize("name", sorted(ON_CPU - {"F64_F64_F64"}))
def test_an_algorithm_gives_the_product(name: str) -> None:
    out = lax.dot(X, X, precision=name)
    assert out.dtype == F32
    np.testing.assert_allclose(out, X @ X, rtol=1e-2)


def test_an_algorithm_is_written_in_full() -> None:
    wanted = (
        "algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, "
        "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
        "num_primitive_operations = 3, allow_imprecise_accumulation = false>"
    )
    assert wanted in text(lambda x: lax.dot(x, x, precision="BF16_BF16_F32_X3"), X)
    spelled = lax.DotAlgorithm("bfloat16", "bfloat16", F32, num_primitive_operations=3)
    assert wanted in text(lambda x: lax.dot(x, x, precision=spelled), X)


def test_an_algorithm_stays_in_gradients_and_comes_from_the_setting() -> None:
    def precisions(f: Any) -> set[Any]:
        program = olympus.make_olympuspr(olympus.grad(f))(X).olympuspr
        return {
            e.params["precision"]
            for e in program.eqns
            if e.primitive is lax.dot_general_p
        }

    own = precisions(lambda x: lax.dot(x, x, precision="F32_F32_F32").sum())
    assert own == {Preset.F32_F32_F32}
    with olympus.default_matmul_precision("BF16_BF16_F32"):
        assert precisions(lambda x: (x @ x).sum()) == {Preset.BF16_BF16_F32}


@pytest.mark.parametrize(
    "bad", ["nope", "f32_f32_f32", 3, ("highest",), (Preset.DEFAULT, "highest"), [3, 4]]
)
def test_no_precision_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="precision: "):
        lax.dot(X, X, precision=bad)


def test_accumulation_types_of_presets() -> None:
    assert Preset.F16_F16_F32.accumulation_type == F32
    assert Preset.BF16_BF16_F32_X6.accumulation_type == F32
    assert Preset.ANY_F8_ANY_F8_F32_FAST_ACCUM.accumulation_type == F32
    assert Preset.ANY_F8_ANY_F8_ANY.accumulation_type is None
    assert Preset.DEFAULT.accumulation_type is None


NAMES = "cbrt cos erfc exp exp2 expm1 log log1p log2 logistic rsqrt sin sqrt tan tanh"


@pytest.mark.parametrize("name", NAMES.split())
def test_an_accuracy_reaches_the_compiler(name: str) -> None:
    f = getattr(lax, name)
    kinds = {
        lax.AccuracyMode.HIGHEST: "result_accuracy_mode<HIGHEST>",
        lax.Tolerance(atol=1e-5, ulps=2): "atol = 1.0",
    }
    for accuracy, shown in kinds.items():
        found = text(lambda x, a=accuracy: f(x, accuracy=a), 0.5)
        assert (shown in found) == (name != "erfc")
    plain = text(lambda x: f(x, accuracy=lax.AccuracyMode.DEFAULT), 0.5)
    assert "result_accuracy" not in plain
    with pytest.raises(NotImplementedError, match=f"lax.{name}: accuracy must be"):
        f(0.5, accuracy="highest")


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NAMES.split())
def test_accurate_functions_have_the_same_values_and_slopes(name: str) -> None:
    f = getattr(lax, name)
    for accuracy in (lax.AccuracyMode.HIGHEST, lax.Tolerance(rtol=1e-6)):

        def exact(x: Any, accuracy: Any = accuracy) -> Any:
            return f(x, accuracy=accuracy)

        np.testing.assert_allclose(exact(0.3), f(0.3), rtol=1e-6)
        np.testing.assert_allclose(
            olympus.grad(exact)(0.3), olympus.grad(f)(0.3), rtol=1e-6
        )


def test_tolerances_are_checked_and_compared() -> None:
    assert lax.Tolerance(1e-3) == lax.Tolerance(atol=1e-3) != lax.Tolerance(rtol=1e-3)
    assert len({lax.Tolerance(ulps=2), lax.Tolerance(ulps=2)}) == 1
    for numbers in ((-1.0,), (1.0, 1.0, -1), ()):
        with pytest.raises(ValueError, match=r"lax\.Tolerance: "):
            lax.Tolerance(*numbers)
