"""Scatters, padding and strided slices of divided arrays that XLA divides wrongly."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import lax
from tests.sharding.meshes import P, divide, entries, mesh

pytestmark = pytest.mark.eight_devices


def constrain(x, *spec):
    sharding = olympus.sharding.NamedSharding(mesh(4, 2), P(*spec))
    return lax.with_sharding_constraint(x, sharding)


@pytest.mark.parametrize(
    ("spec", "index_spec", "update_spec"),
    [
        ((None, None), (None, "y"), ("x", "y")),
        (("x", None), (None, "y"), ("y", None)),
        (("y", None), ("x", "y"), ("y", "x")),
    ],
)
def test_scatters_by_divided_index_vectors(spec, index_spec, update_spec):
    numbers = lax.ScatterDimensionNumbers((1,), (0,), (0, 1))
    f = olympus.jit(lambda *args: lax.scatter_add(*args, numbers, mode="clip"))
    x = np.arange(32, dtype=np.int32).reshape(8, 4)
    indices = np.arange(16, dtype=np.int32).reshape(8, 2) * 3 % 9
    divided = divide(x, *spec), divide(indices, *index_spec), divide(x, *update_spec)
    np.testing.assert_array_equal(f(*divided), f(x, indices, x))


@pytest.mark.parametrize(
    ("n", "config"),
    [
        (3, (4, 3, 1)),
        (3, (4, -1, 1)),
        (16, (-2, 4, 2)),
        (9, (-1, 0, 0)),
        (1, (3, 4, 2)),
    ],
)
@pytest.mark.parametrize("spec", ["x", "y"])
def test_interior_and_negative_padding(n, config, spec):
    def pad(x):
        return lax.pad(x, np.int32(0), [config])

    x = np.arange(1, n + 1, dtype=np.int32)
    want = np.asarray(olympus.jit(pad)(x))
    total = -want.size % 4
    padded = olympus.jit(
        lambda x: constrain(lax.pad(pad(x), np.int32(0), [(0, total, 0)]), spec)
    )(divide(x))
    np.testing.assert_array_equal(padded[: want.size], want)


@pytest.mark.parametrize(("n", "start", "step"), [(4, 2, 3), (4, 3, 3), (8, 5, 2)])
def test_slices_of_one_element_with_a_stride(n, start, step):
    x = np.arange(n, dtype=np.int32)
    f = olympus.jit(lambda x: constrain(lax.slice(x, (start,), (start + 1,), (step,))))
    np.testing.assert_array_equal(f(divide(x, "x")), [start])


def test_plain_padding_stays_divided():
    f = olympus.jit(lambda x: lax.pad(x, np.float32(0), [(0, 0, 0), (1, 2, 0)]))
    assert entries(f(divide(np.ones((8, 5), np.float32), "x")))[0] == "x"


@pytest.mark.parametrize("start", [-20, -2, 3, 12, 14])
@pytest.mark.parametrize("spec", [None, "x"])
def test_dynamic_slices_that_begin_outside(start, spec):
    f = olympus.jit(lambda x, i: constrain(lax.dynamic_slice(x, (i,), (8,)), "x"))
    x = np.arange(16, dtype=np.int32)
    first = min(max(start + 16 if start < 0 else start, 0), 8)
    np.testing.assert_array_equal(f(divide(x, spec), start), x[first : first + 8])


@pytest.mark.parametrize(
    ("spec", "index_spec", "update_spec"),
    [
        (("x",), ("y", "x"), (None, "y")),
        ((None, "x"), ("x", "y"), ("y", "x")),
        ((("x", "y"),), (None, None), ("x", None)),
    ],
)
def test_scatters_with_batch_axes(spec, index_spec, update_spec):
    numbers = lax.ScatterDimensionNumbers((), (1,), (1,), (0,), (0,))
    f = olympus.jit(lambda *args: lax.scatter_add(*args, numbers))
    x = np.arange(32, dtype=np.int32).reshape(8, 4)
    indices = (np.arange(32, dtype=np.int32) * 7 % 5).reshape(8, 4, 1)
    divided = divide(x, *spec), divide(indices, *index_spec), divide(x, *update_spec)
    np.testing.assert_array_equal(f(*divided), f(x, indices, x))


WINDOWS = {
    "strides and holes": ((1, 4), (1, 2), ((0, 0), (2, 1)), (1, 2)),
    "strides": ((1, 3), (1, 3), ((0, 0), (0, 0)), (1, 1)),
    "both axes": ((2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)),
}


@pytest.mark.parametrize("spec", [("x", "y"), (None, ("x", "y")), ("x", None)])
@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_windows(spec, window):
    shape, steps, padding, holes = window
    x = np.random.default_rng(0).normal(size=(8, 24)).astype(np.float32)

    def reduce(x):
        low = np.float32(-np.inf)
        return lax.reduce_window(x, low, lax.max, shape, steps, padding, None, holes)

    f = olympus.jit(reduce)
    np.testing.assert_array_equal(f(divide(x, *spec)), f(x))
    if holes == (1, 1):
        gradient = olympus.jit(olympus.grad(lambda x: (reduce(x) ** 2).sum()))
        np.testing.assert_allclose(gradient(divide(x, *spec)), gradient(x), rtol=1e-6)


# -- parts of several sizes ------------------------------------------------------------
#
# Arrays are divided evenly where they come in; what is cut from them is not.


def put(x, over, *spec):
    """An array with padding up to a multiple of the mesh, divided."""
    widths = [(0, -n % over.size) for n in x.shape]
    return divide(np.pad(x, widths), *spec, over=over)


def check_cut(f, over, arrays, specs):
    """Compares a program of what is cut from padded arrays with the undivided one."""

    def of_padded(*padded):
        shapes = [tuple(map(slice, x.shape)) for x in arrays]
        return f(*[y[shape] for y, shape in zip(padded, shapes, strict=True)])

    rows = zip(arrays, specs, strict=True)
    divided = [put(x, over, *spec) for x, spec in rows]
    np.testing.assert_array_equal(olympus.jit(of_padded)(*divided), f(*arrays))


X = np.random.default_rng(0).integers(-9, 9, (9, 8)).astype(np.int32)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("specs", [("x", "x"), ("x", None), (None, "x")])
def test_segments_of_uneven_parts(dtype, specs):
    with olympus.enable_x64(True):
        segments = np.arange(16).astype(dtype) * 5 % 6
        sums = lambda x, i: olympus.ops.segment_sum(x, i, 6)  # noqa: E731
        x = np.resize(X, (16, 4))
        check_cut(sums, mesh(5), (x, segments), [(s,) for s in specs])


@pytest.mark.parametrize("name", ["min", "max", "mul", "add"])
@pytest.mark.parametrize(
    "specs",
    [
        (("y",), (None, None), ("y", "x")),
        (("y", "x"), ("x", None), (None, "y")),
        ((None, ("y", "x")), (), ("x", "y")),
    ],
)
def test_scatters_of_uneven_parts(name, specs):
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0,))
    scatter = getattr(lax, f"scatter_{name}")
    f = lambda *args: scatter(*args, numbers, mode="clip")  # noqa: E731
    for index in ([[4]], [[1], [20]], [[-3], [2], [2]]):
        indices = np.array(index, np.int32)
        updates = np.stack([X[:3] + i for i in range(len(index))])
        check_cut(f, mesh(2, 2), (X, indices, updates), specs)


@pytest.mark.parametrize("start", [-3, 0, 2, 9])
@pytest.mark.parametrize("spec", [(None, ("y", "x")), ("x", "y"), (("x", "y"),)])
def test_one_window_that_begins_outside(start, spec):
    numbers = lax.ScatterDimensionNumbers((0, 1), (), (1,))
    f = lambda *args: lax.scatter_min(*args, numbers, mode="clip")  # noqa: E731
    index, update = np.array([start], np.int32), -X[:, :1]
    check_cut(f, mesh(2, 2), (X, index, update), (spec, ("x",), ()))
    update_slice = lambda x, i, u: lax.dynamic_update_slice(x, u, (0, i[0]))  # noqa: E731
    check_cut(update_slice, mesh(2, 2), (X, index, update), (spec, ("x",), ()))


@pytest.mark.parametrize("spec", [(None, "x"), ("y", "x"), (None, ("x", "y"))])
@pytest.mark.parametrize("mode", ["clip", "fill"])
def test_gathers_by_divided_index_vectors(spec, mode):
    numbers = lax.GatherDimensionNumbers((1, 2), (), (0, 1))
    f = lambda x, i: lax.gather(x, i, numbers, (2, 3), mode=mode)  # noqa: E731
    indices = np.array([[0, 1], [7, 5], [-1, 2], [8, 0]], np.int32)
    check_cut(f, mesh(2, 2), (X, indices), (("x", "y"), spec))
