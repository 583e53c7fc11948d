"""Containers of a user's type under `vmap`."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus.interpreters import batching

X = np.arange(6.0, dtype="float32").reshape(2, 3)
Y = np.arange(3.0, dtype="float32")


class Box:
    def __init__(self, x):
        self.x = x


class Along:
    def __init__(self, axis):
        self.axis = axis


def _to_elt(handler, index, box, spec):
    return Box(handler(box.x, spec.axis))


def _from_elt(handler, size, box, spec):
    return Box(handler(size, box.x, spec.axis))


@pytest.fixture(autouse=True)
def registered():
    batching.register_vmappable(Box, Along, int, _to_elt, _from_elt, None)
    yield
    batching.unregister_vmappable(Box)


def times(box, y):
    return Box(box.x * y)


@pytest.mark.parametrize("out", [0, 1, -1])
def test_elements_of_containers(out):
    expected = np.moveaxis(X * Y, 1, out)

    def run(x):
        f = olympus.vmap(times, (Along(1), 0), Along(out))
        return f(Box(x), Y).x

    np.testing.assert_array_equal(run(X), expected)
    np.testing.assert_array_equal(olympus.jit(run)(X), expected)
    slope = olympus.grad(lambda x: run(x).sum())(X)
    np.testing.assert_array_equal(slope, np.broadcast_to(Y, X.shape))


def test_containers_in_trees_and_arrays_as_results():
    f = olympus.vmap(lambda tree, y: (tree["box"].x, y), ({"box": Along(1)}, 0), (1, 0))
    sums, same = f({"box": Box(X)}, Y)
    np.testing.assert_array_equal(sums, X)
    np.testing.assert_array_equal(same, Y)


def test_a_given_size_and_results_that_are_not_mapped():
    f = olympus.vmap(lambda b: Box(onp.ones(2)), Along(1), Along(0), axis_size=3)
    np.testing.assert_array_equal(f(Box(X)).x, np.ones((3, 2)))


@pytest.mark.parametrize("own", [False, True])
def test_ints_as_specs_and_numbers_of_elements(own):
    batching.register_vmappable(
        Box,
        int,
        int,
        lambda handler, index, box, axis: Box(handler(box.x, axis) + index()),
        lambda handler, size, box, axis: Box(handler(size, box.x, axis)),
        (lambda size: onp.arange(size) * 10) if own else None,
    )
    box = olympus.vmap(times, (1, 0), 1)(Box(X), Y)
    numbers = np.arange(3) * (10 if own else 1)
    np.testing.assert_array_equal(box.x, (X + numbers) * Y)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: olympus.vmap(times, (Along(1), None))(Box(X), 1.0),
            ValueError,
            "axis_size",
        ),
        (
            lambda: olympus.vmap(times, (Along(0), 0), Along(0))(Box(X), Y),
            ValueError,
            "must have one size, got 2 for axis 0",
        ),
        (
            lambda: olympus.vmap(times, (Along(0), 0))(Y, Y),
            TypeError,
            "cannot be mapped by",
        ),
        (
            lambda: olympus.vmap(lambda b, y: b.x, (Along(1), 0), None)(Box(X), Y),
            ValueError,
            "got None for it in out_axes",
        ),
        (
            lambda: olympus.vmap(lambda b, y: b.x, (Along(1), 0), 2)(Box(X), Y),
            ValueError,
            "must be below 2",
        ),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_unregistered_types_are_refused():
    batching.unregister_vmappable(Box)
    batching.unregister_vmappable(Box)
    with pytest.raises(TypeError, match="in_axes must be an int"):
        olympus.vmap(times, (Along(1), 0))(Box(X), Y)
