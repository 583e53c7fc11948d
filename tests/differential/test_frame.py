"""The frame of the sweep itself: it finds what is wrong, and draws the same twice."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.differential import running
from tests.differential.comparing import Disagreement, agree
from tests.public_functions.drawing import Call, Draw
from tests.public_functions.entries import Entry


def one_vector(d: Draw) -> Call:
    return d.call(d.array("single", (3,)))


def entry(**settings: Any) -> Entry:
    return Entry("numpy", "sin", one_vector, **settings)


@pytest.mark.parametrize(
    "oracle",
    [
        lambda x: np.sin(x) * (1 + 1e-5),  # a wrong value
        lambda x: np.sin(x)[None],  # a wrong shape
        lambda x: np.sin(x) > 2,  # a wrong kind of dtype
        lambda x: (np.sin(x), x),  # more results
    ],
)
def test_a_result_that_differs_is_found(oracle: Any) -> None:
    out = running.sweep(entry(oracle=oracle), range(2), 0)
    assert (out.cases, len(out.failures)) == (2, 2)


def test_a_missing_error_is_found() -> None:
    def refuses(x: Any) -> Any:
        raise ValueError("numbers are not accepted")

    out = running.sweep(entry(oracle=refuses), range(1), 0)
    assert (out.refused, len(out.failures)) == (1, 1)
    assert "numbers are not accepted" in str(out.failures[0])


def test_an_error_that_the_oracle_lacks_is_found() -> None:
    def call(f: Any, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            raise TypeError("under jit")
        return f(x)

    out = running.sweep(entry(call=call), range(2), 0)
    assert len(out.failures) == 2
    assert "under jit" in str(out.failures[0])


def test_a_case_can_be_drawn_again_by_its_number() -> None:
    drawn = [running.draw(entry(), 5, 0) for _ in range(2)]
    np.testing.assert_array_equal(drawn[0].call.args[0], drawn[1].call.args[0])
    other = running.draw(entry(), 6, 0)
    assert (drawn[0].call.args[0] != other.call.args[0]).any()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_rounding_is_allowed_by_the_dtype_of_the_result(dtype: Any) -> None:
    eps = float(ml_dtypes.finfo(dtype).eps)
    one = np.ones(3, dtype)
    agree(one, np.ones(3) * (1 + 2 * eps), ulps=3)
    with pytest.raises(Disagreement):
        agree(one, np.ones(3) * (1 + 6 * eps), ulps=3)
    with pytest.raises(Disagreement):
        agree(one, np.ones(3) * (1 + 2 * eps), ulps=0)


def test_infinities_nan_and_signs_of_zeros_are_told_apart() -> None:
    points = np.array([np.inf, -np.inf, np.nan, 1.0, 0.0])
    agree(points, points, ulps=0)
    for other in (points[::-1], np.array([np.inf, np.inf, np.nan, 1, 0])):
        with pytest.raises(Disagreement):
            agree(points, other)
    agree(np.array(0.0), np.array(-0.0))
    with pytest.raises(Disagreement):
        agree(np.array(0.0), np.array(-0.0), signs=True)


def test_complex_numbers_round_as_a_whole() -> None:
    got = np.array([1 + 1e-9j], np.complex64)
    agree(got, np.array([1 + 0j]))
    with pytest.raises(Disagreement):
        agree(got, np.array([1 + 0j]), ulps=0)
