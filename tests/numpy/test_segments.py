"""Reductions over segments, against loops of NumPy."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import ops

REDUCTIONS = {
    "sum": (np.add, 0.0),
    "prod": (np.multiply, 1.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
}


def by_loop(kind, data, ids, count):
    combine, empty = REDUCTIONS[kind]
    if data.dtype.kind == "i" and kind in ("max", "min"):
        limits = np.iinfo(data.dtype)
        empty = limits.min if kind == "max" else limits.max
    out = np.full((count, *data.shape[1:]), empty, data.dtype)
    for row, i in zip(data, ids, strict=True):
        if 0 <= i < count:
            out[i] = combine(out[i], row)
    return out


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", REDUCTIONS)
@pytest.mark.parametrize("bucket", [None, 2])
@pytest.mark.parametrize("shape", [(7,), (7, 2), (0, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.slow
def test_segments(kind, bucket, shape, dtype):
    rng = np.random.default_rng(0)
    data = rng.integers(-4, 5, shape).astype(dtype)
    ids = np.array([0, 3, -1, 3, 9, 0, 1])[: shape[0]]
    f = getattr(ops, f"segment_{kind}")
    for run in (f, olympus.jit(f, static_argnums=2, static_argnames="bucket_size")):
        found = run(data, ids, 5, bucket_size=bucket)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, by_loop(kind, data, ids, 5))


def test_the_number_of_segments_is_found():
    found = ops.segment_sum(onp.arange(4.0), onp.array([2, 0, 2, 1]))
    np.testing.assert_array_equal(found, [1, 3, 2])


def test_modes():
    found = ops.segment_sum(onp.ones(3), onp.array([0, 7, 1]), 2, mode="clip")
    np.testing.assert_array_equal(found, [1, 2])


def test_gradient_and_batch():
    ids = onp.array([0, 1, 0])
    weights = onp.array([2.0, 5.0])
    slope = olympus.grad(lambda x: ops.segment_sum(x, ids, 2) @ weights)(onp.ones(3))
    np.testing.assert_array_equal(slope, [2, 5, 2])
    found = olympus.vmap(lambda x: ops.segment_max(x, ids, 2))(
        onp.arange(6.0).reshape(2, 3)
    )
    np.testing.assert_array_equal(found, [[2, 1], [5, 4]])


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda: ops.segment_sum([1.0], onp.array([0]), 1)),
        (TypeError, lambda: ops.segment_sum(onp.ones(2), onp.ones(2), 1)),
        (ValueError, lambda: ops.segment_sum(onp.ones(2), onp.array([0]), 1)),
        (ValueError, lambda: ops.segment_sum(onp.ones(1), onp.array([0]), -1)),
        (ValueError, lambda: ops.segment_sum(onp.ones(1), onp.array([0]), 1, mode="x")),
        (
            ValueError,
            lambda: ops.segment_sum(onp.ones(1), onp.array([0]), 1, bucket_size=0),
        ),
        (
            olympus.errors.ConcretizationTypeError,
            lambda: olympus.jit(ops.segment_sum)(onp.ones(1), onp.array([0])),
        ),
    ],
)
def test_refusals(error, call):
    with pytest.raises(error):
        call()
