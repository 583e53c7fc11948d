"""What a sample of a primitive is, and generators of arrays for them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

bf16 = np.dtype(ml_dtypes.bfloat16)
f16 = np.dtype(np.float16)
f32 = np.dtype(np.float32)
i8 = np.dtype(np.int8)
i32 = np.dtype(np.int32)
u8 = np.dtype(np.uint8)
u32 = np.dtype(np.uint32)
c64 = np.dtype(np.complex64)
b1 = np.dtype(np.bool_)

TOLERANCE = {bf16: 3e-2, f16: 4e-3, f32: 2e-5, c64: 4e-5}


class Sample:
    """One application of a primitive.

    Attributes:
      p: the primitive.
      args: NumPy arrays.
      params: its parameters.
      linear: arguments the operation is linear in, each by itself.
      tolerance: relative and absolute, for floats; None for the dtype's own.
      smooth: derivatives are compared with differences.
      loop: batching is compared with a loop.
      slow: all of it is left to the slow tests.
    """

    __slots__ = (
        "args",
        "linear",
        "loop",
        "p",
        "params",
        "slow",
        "smooth",
        "tolerance",
    )

    def __init__(
        self,
        p: Any,
        *args: Any,
        linear: tuple[int, ...] = (),
        tolerance: float | None = None,
        smooth: bool = True,
        loop: bool = True,
        slow: bool = False,
        **params: Any,
    ) -> None:
        self.p = p
        self.args = tuple(np.asarray(a) for a in args)
        self.params = params
        self.linear = linear
        self.tolerance = tolerance
        self.smooth = smooth
        self.loop = loop
        self.slow = slow

    def __repr__(self) -> str:
        kinds = ",".join(f"{a.dtype.name}{list(a.shape)}" for a in self.args)
        return f"{self.p.name}({kinds})".replace(" ", "")


def array(
    shape: tuple[int, ...],
    dtype: Any = f32,
    *,
    low: float = -3.0,
    high: float = 3.0,
    seed: int = 0,
) -> np.ndarray:
    """Numbers between `low` and `high`, the same at every run."""
    rng = np.random.default_rng((seed, *shape))
    dtype = np.dtype(dtype)
    values = rng.uniform(low, high, shape)
    if dtype == b1:
        return values > (low + high) / 2
    if dtype.kind == "c":
        return (values + 1j * rng.uniform(low, high, shape)).astype(dtype)
    if dtype.kind == "u":
        return np.abs(values).astype(dtype)
    if dtype.kind == "i":
        return np.floor(values).astype(dtype)
    return values.astype(dtype)


def distinct(shape: tuple[int, ...], dtype: Any = f32, seed: int = 0) -> np.ndarray:
    """Different numbers in random order."""
    n = int(np.prod(shape))
    order = np.random.default_rng((seed, *shape)).permutation(n)
    return ((order - n // 2).astype(np.float64) * 0.5).reshape(shape).astype(dtype)
