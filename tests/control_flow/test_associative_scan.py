"""`associative_scan` against NumPy's accumulations and a plain loop."""

from __future__ import annotations

import re

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import olympus
from olympus._src.control_flow.associative_scan import associative_scan
from olympus._src.lax import elementwise as el

pytestmark = pytest.mark.sampled(3)

SIZES = st.integers(0, 40)


def loop(fn, x, axis):
    rows = list(np.moveaxis(x, axis, 0))
    for i in range(1, len(rows)):
        rows[i] = fn(rows[i - 1], rows[i])
    out = np.stack(rows) if rows else np.moveaxis(x, axis, 0)
    return np.moveaxis(out, 0, axis)


@hypothesis.given(
    n=SIZES,
    other=st.integers(1, 3),
    axis=st.sampled_from([0, 1, -1]),
    jit=st.booleans(),
)
@pytest.mark.slow
def test_sums_of_integers_are_exact(n, other, axis, jit):
    shape = (n, other) if axis == 0 else (other, n)
    x = np.arange(n * other, dtype=np.int32).reshape(shape) % 7
    f = lambda v: associative_scan(el.add, v, axis=axis)  # noqa: E731
    out = (olympus.jit(f) if jit else f)(x)
    np.testing.assert_array_equal(out, np.cumsum(x, axis, dtype=np.int32))


@hypothesis.given(n=st.integers(1, 40), reverse=st.booleans(), seed=st.integers(0, 99))
@pytest.mark.slow
def test_composition_of_affine_maps_keeps_the_order(n, reverse, seed):
    """X -> a x + b modulo a prime: associative, not commutative."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 97, size=(2, n)).astype(np.int32)

    def then(p, q):
        return {
            "a": el.rem(el.mul(p["a"], q["a"]), 97),
            "b": el.rem(el.add(el.mul(p["b"], q["a"]), q["b"]), 97),
        }

    out = associative_scan(then, {"a": a, "b": b}, reverse=reverse)
    order = range(n)[::-1] if reverse else range(n)
    at, bt = 1, 0
    for i in order:
        at, bt = int(at * a[i]) % 97, int(bt * a[i] + b[i]) % 97
        assert (int(np.asarray(out["a"])[i]), int(np.asarray(out["b"])[i])) == (at, bt)


@hypothesis.given(n=SIZES)
@pytest.mark.slow
def test_works_on_booleans(n):
    x = np.arange(n) % 5 == 3
    np.testing.assert_array_equal(
        associative_scan(el.bitwise_or, x), np.logical_or.accumulate(x)
    )


def test_mapped(rng):
    x = rng.normal(size=(4, 9)).astype(np.float32)
    out = olympus.vmap(lambda v: associative_scan(el.max_, v))(x)
    np.testing.assert_array_equal(out, np.maximum.accumulate(x, 1))


@pytest.mark.slow
def test_number_of_applications_is_logarithmic():
    calls = []

    def add(x, y):
        calls.append(x.shape[0])
        return el.add(x, y)

    associative_scan(add, np.zeros(1024, np.float32))
    assert len(calls) <= 2 * 10
    assert sum(calls) <= 2 * 1024


X = np.ones(3, np.float32)
ERRORS = {
    "function": (
        lambda: associative_scan(3, X),
        TypeError,
        "associative_scan: fn must be a function, got 3",
    ),
    "sizes": (
        lambda: associative_scan(el.add, (X, X[:2])),
        ValueError,
        "all of elems must have one size along axis 0, got f32[3], f32[2]",
    ),
    "axis": (
        lambda: associative_scan(el.add, X, axis=1),
        ValueError,
        "axis 1 is out of bounds for array of dimension 1",
    ),
    "scalar": (
        lambda: associative_scan(el.add, 1.0),
        ValueError,
        "associative_scan: elems must be arrays with an axis 0, got f32[]",
    ),
    "structure": (
        lambda: associative_scan(lambda a, b: (a, b), X),
        TypeError,
        "must return a tree like elems, got a leaf at elems and a tuple at the result",
    ),
    "type": (
        lambda: associative_scan(lambda a, b: el.gt(a, b), X),
        TypeError,
        "the types of its arguments; at result got bool[1], expected f32[1]",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=re.escape(message)):
        call()
