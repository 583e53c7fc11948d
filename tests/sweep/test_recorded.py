"""Derivatives at special points against recorded ones: infinities, NaN, ties, ends.

A run takes a part of them, which the seed in the report's header chooses;
`OLYMPUS_SWEEP=all` takes them all.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, nn
from tests.sampling import part

DATA = json.loads(
    (pathlib.Path(__file__).parents[1] / "data" / "derivatives.json").read_text()
)
NAMES = {"np": np, "jnp": jnp, "lax": lax, "nn": nn}
SHARE, QUICK = 6, 10  # one in so many cases; so many of them with the quick tests

_chosen = part(DATA, SHARE)
CASES = [
    pytest.param(
        case, marks=[] if i < QUICK else [pytest.mark.slow], id=f"{case['f'][7:]}-{i}"
    )
    for i, case in enumerate(_chosen)
]


def array(numbers: Any, shape: Any) -> Any:
    """An array as it is recorded: a list of numbers, or one of each part."""
    if len(numbers) == 2 and isinstance(numbers[0], list):
        real, imag = (np.array(part, np.float32) for part in numbers)
        out = np.empty(real.shape, np.complex64)
        out.real, out.imag = real, imag
    else:
        out = np.array(numbers, np.float32)
    return out.reshape(shape)


def direction(shape: Any, dtype: Any) -> Any:
    """The tangent or cotangent of the recording."""
    order = np.arange(int(np.prod(shape)))
    out = (order * 5 % 7 - 2.5) / 2
    if np.dtype(dtype).kind == "c":
        out = out + 1j * (order * 3 % 5 - 1.5)
    return out.reshape(shape).astype(dtype)


def same(got: Any, want: Any) -> None:
    got = np.asarray(got)
    want = array(want, got.shape)
    assert got.dtype.kind == want.dtype.kind or got.dtype.kind in "biu"
    for of_number in ("real", "imag"):
        np.testing.assert_allclose(
            getattr(got, of_number), getattr(want, of_number), rtol=1e-4, atol=1e-5
        )


def second(f: Any, args: Any) -> Any:
    """The second derivative along the direction of all arguments."""
    along = tuple(direction(x.shape, x.dtype) for x in args)

    def first(*xs: Any) -> Any:
        return olympus.jvp(f, xs, along)[1]

    return olympus.jvp(first, tuple(args), along)[1]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_derivatives_at_special_points(case: Any) -> None:
    f = eval(case["f"], dict(NAMES))
    args = [
        jnp.asarray(array(numbers, shape))
        for numbers, shape in zip(case["args"], case["shapes"], strict=True)
    ]
    for i, (x, want) in enumerate(zip(args, case["jvp"], strict=True)):

        def in_one(x: Any, i: int = i) -> Any:
            return f(*args[:i], x, *args[i + 1 :])

        value, tangent = olympus.jvp(in_one, (x,), (direction(x.shape, x.dtype),))
        same(value, case["value"])
        same(tangent, want)
    if "second" in case:
        same(second(f, args), case["second"])
    out, pull = olympus.vjp(f, *args)
    assert list(out.shape) == case["shape"]
    cotangents = pull(jnp.asarray(direction(out.shape, out.dtype)))
    for got, want in zip(cotangents, case["vjp"], strict=True):
        same(got, want)
