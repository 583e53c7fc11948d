"""Values of programs for other platforms, where no kernel is called: run on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
from olympus import export, lax
from olympus.lax import linalg

RNG = np.random.default_rng(0)
SPECIAL = np.array(
    [3.0, -0.0, np.nan, 0.0, -np.inf, -np.nan, np.inf, 1e-40, -1.0, 0.0, -0.0, 2.0],
    "float32",
)


def _run_as_on(platform: str, f: Any, *args: Any) -> Any:
    """What the program for a platform gives, which no check keeps from the CPU."""
    unchecked = [export.DisabledSafetyCheck.platform()]
    exporter = export.export(
        olympus.jit(f), platforms=[platform], disabled_checks=unchecked
    )
    return exporter(*args).call(*args)


def _bits(x: Any) -> Any:
    x = np.asarray(x)
    return np.where(np.isnan(x), np.float32(np.nan), x).view(f"u{x.itemsize}")


@pytest.mark.parametrize("repeats", [1, 20])
def test_sort_keeps_its_order_of_nan_and_zeros(repeats: int) -> None:
    x = np.tile(SPECIAL, repeats)
    count = np.arange(x.size, dtype="int32")

    def f(x: Any, count: Any) -> Any:
        return lax.sort((x, count), num_keys=1)

    ours, order = _run_as_on("cuda", f, x, count)
    theirs, wanted = f(x, count)
    np.testing.assert_array_equal(order, wanted)
    np.testing.assert_array_equal(_bits(ours), _bits(theirs))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_sort_by_two_keys(dtype: str) -> None:
    first = np.tile(SPECIAL, 4).astype(olympus.numpy.dtype(dtype))
    second = RNG.permutation(np.tile(SPECIAL, 4))
    count = np.arange(first.size, dtype="int32")

    def f(*keys: Any) -> Any:
        return lax.sort(keys, num_keys=2)[2]

    args = (first, second, count)
    np.testing.assert_array_equal(_run_as_on("cuda", f, *args), f(*args))


def test_float_comparators_are_one_comparison() -> None:
    x = olympus.ShapeDtypeStruct((300,), "float32")
    traced = olympus.jit(olympus.numpy.argsort).trace(x)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "TOTALORDER" in text
    assert "stablehlo.or" not in text
    assert "TOTALORDER" not in traced.lower(lowering_platforms=("cpu",)).as_text()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int16", "uint32", "int32"])
@pytest.mark.parametrize("shape", [(300_000,), (1, 300_000), (300_000, 1)])
def test_the_largest_of_one_long_line(shape: Any, dtype: str) -> None:
    x = RNG.normal(size=shape) * 30
    x = (abs(x) if dtype == "uint32" else x).astype(olympus.numpy.dtype(dtype))
    if dtype == "float32":
        x.ravel()[: SPECIAL.size] = SPECIAL
        x.ravel()[-SPECIAL.size :] = SPECIAL

    def f(x: Any) -> Any:
        return lax.top_k(x, 9, axis=int(np.argmax(shape)))

    traced = olympus.jit(f).trace(x)
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.sort" in text
    assert "top_k" not in text
    ours, wanted = _run_as_on("cuda", f, x), f(x)
    np.testing.assert_array_equal(ours[1], wanted[1])
    np.testing.assert_array_equal(ours[0], wanted[0])


@pytest.mark.parametrize("shape", [(2, 300_000), (300, 300), (9,)])
def test_the_largest_of_other_lines_are_left_to_the_compiler(shape: Any) -> None:
    x = olympus.ShapeDtypeStruct(shape, "float32")
    traced = olympus.jit(lambda x: lax.top_k(x, 5)).trace(x)
    assert "top_k" in traced.lower(lowering_platforms=("cuda",)).as_text()


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_tridiagonal_elimination(size: int, dtype: str) -> None:
    lines = RNG.normal(size=(3, 2, size)).astype(dtype)
    lines[1] += 4
    b = RNG.normal(size=(2, size, 3)).astype(dtype)
    lines[0, :, 0] = lines[2, :, -1] = np.nan  # these are not read
    ours = _run_as_on("tpu", linalg.tridiagonal_solve, *lines, b)
    lines[0, :, 0] = lines[2, :, -1] = 0
    wanted = linalg.tridiagonal_solve(*lines, b)
    np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-6)


def test_sizes_without_a_kernel_are_eliminated_on_gpus() -> None:
    d, one = np.full((3, 2), 4, "float32"), np.ones((3, 2), "float32")
    b = np.full((3, 2, 1), 10, "float32")
    ours = _run_as_on("cuda", linalg.tridiagonal_solve, one, d, one, b)
    np.testing.assert_allclose(ours, np.full((3, 2, 1), 2.0), rtol=1e-6)


# For each algorithm: dtypes of operands that are kept, and of sums.
KEPT = {
    "F16_F16_F16": (["float16"], ["float16"]),
    "F16_F16_F32": (["float16"], ["float32", "float16"]),
    "BF16_BF16_BF16": (["bfloat16", "float32"], ["bfloat16"]),
    "BF16_BF16_F32": (["bfloat16", "float32"], ["float32", "bfloat16"]),
    "BF16_BF16_F32_X3": (["float32"], ["float32"]),
    "TF32_TF32_F32": (["float32"], ["float32"]),
    "F32_F32_F32": (["float32"], ["float32"]),
    "F64_F64_F64": (["float64"], ["float64"]),
}
SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


@pytest.mark.parametrize("algorithm", KEPT)
@pytest.mark.parametrize("dtype", SHORT)
def test_named_algorithms_get_operands_they_take(algorithm: str, dtype: str) -> None:
    operands, sums = KEPT[algorithm]
    wanted = dtype if dtype in operands else operands[0]
    total = dtype if dtype in sums else sums[0]
    with olympus.enable_x64(True):
        x = olympus.ShapeDtypeStruct((4, 4), dtype)
        traced = olympus.jit(lambda x: lax.dot(x, x, precision=algorithm)).trace(x)
        text = traced.lower(lowering_platforms=("cuda",)).as_text()
        assert traced.out_info.dtype == x.dtype
    (line,) = [line for line in text.splitlines() if "dot_general" in line]
    t, s = f"tensor<4x4x{SHORT[wanted]}>", f"tensor<4x4x{SHORT[total]}>"
    assert line.endswith(f"({t}, {t}) -> {s}")


def test_algorithms_of_bytes_need_bytes() -> None:
    x = olympus.ShapeDtypeStruct((4, 4), "float32")
    traced = olympus.jit(lambda x: lax.dot(x, x, precision="ANY_F8_ANY_F8_F32")).trace(
        x
    )
    with pytest.raises(ValueError, match="must have operands of 8-bit floats"):
        traced.lower(lowering_platforms=("cuda",))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "bool"])
@pytest.mark.parametrize("preferred", ["float32", "complex64"])
def test_products_of_whole_numbers_in_floats_are_of_floats(
    dtype: str, preferred: str
) -> None:
    x = (RNG.integers(0, 5, (3, 4)) % 3).astype(dtype)

    def f(x: Any, y: Any) -> Any:
        return lax.dot(x, y, preferred_element_type=preferred)

    text = olympus.jit(f).trace(x, x.T).lower(lowering_platforms=("cuda",)).as_text()
    (product,) = [line for line in text.splitlines() if "dot_general" in line]
    assert "xi" not in product
    assert "xui" not in product
    got = np.asarray(_run_as_on("cuda", f, x, x.T)).astype("complex64")
    np.testing.assert_array_equal(got, x.astype("int32") @ x.T.astype("int32"))
