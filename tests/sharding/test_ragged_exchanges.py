"""`ragged_all_to_all` against NumPy: over devices, under `vmap`, with derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import PartitionSpec
from tests.sharding.meshes import mesh

P = PartitionSpec
eight_devices = pytest.mark.eight_devices


def exchanged(operand, output, starts, sizes, targets, received):
    """The exchange, written as loops; arguments have a first axis of elements."""
    n, k = starts.shape
    each = k // n
    result = output.copy()
    for i in range(n):
        for r in range(k):  # in the order in which slices arrive
            j, s = divmod(r, each)
            slot = i * each + s
            assert sizes[j, slot] == received[i, r]
            rows = operand[j, starts[j, slot] : starts[j, slot] + sizes[j, slot]]
            result[i, targets[j, slot] : targets[j, slot] + len(rows)] = rows
    return result


def draw(rng, n, each=1, rows=7, overlap=False, tail=(3,)):
    """Operands, results and slices that fit: what arrives is written side by side."""
    k = n * each
    operand = rng.normal(size=(n, rows, *tail)).astype(np.float32)
    sizes = rng.integers(0, rows // 2, (n, k)).astype(np.int32)
    starts = rng.integers(0, rows - sizes + 1).astype(np.int32)
    received = sizes.reshape(n, n, each).transpose(1, 0, 2).reshape(n, k)
    places = np.cumsum(received, 1) - received
    if overlap:
        places = places // 2
    length = int(received.sum(1).max()) + 2
    targets = places.reshape(n, n, each).transpose(1, 0, 2).reshape(n, k)
    output = rng.normal(size=(n, length, *tail)).astype(np.float32)
    return operand, output, starts, sizes, targets.astype(np.int32), received


def along(name, **options):
    def f(*args):
        return lax.ragged_all_to_all(*args, axis_name=name, **options)

    return f


def over_devices(f, names, sizes=(4, 2)):
    """`f` on each device, on its row of all arguments."""

    def local(*args):
        return f(*[x[0] for x in args])[None]

    return olympus.shard_map(
        local, mesh=mesh(*sizes), in_specs=P(names), out_specs=P(names)
    )


CASES = {
    "one slice each": {},
    "three slices each": {"each": 3},
    "slices that overlap": {"overlap": True, "each": 2},
    "rows of two axes": {"tail": (2, 3)},
    "rows that are numbers": {"tail": ()},
}


@eight_devices
@pytest.mark.parametrize("name", CASES)
def test_values_over_devices(name, rng):
    args = draw(rng, 4, **CASES[name])
    f = over_devices(along("x"), "x")
    expected = exchanged(*args)
    np.testing.assert_array_equal(f(*args), expected)
    np.testing.assert_array_equal(olympus.jit(f)(*args), expected)


@eight_devices
def test_values_over_two_axes_of_the_mesh(rng):
    args = draw(rng, 8)
    f = over_devices(along(("x", "y")), ("x", "y"))
    np.testing.assert_array_equal(f(*args), exchanged(*args))


@pytest.mark.parametrize("name", CASES)
def test_values_under_vmap(name, rng):
    args = draw(rng, 3, **CASES[name])
    f = olympus.jit(olympus.vmap(along("i"), axis_name="i"))
    np.testing.assert_array_equal(f(*args), exchanged(*args))


def test_values_in_groups(rng):
    first, second = draw(rng, 2), draw(rng, 2)
    rows = max(first[1].shape[1], second[1].shape[1])
    first, second = [
        (a[0], np.resize(a[1], (2, rows, 3)), *a[2:]) for a in (first, second)
    ]
    order = [0, 2, 3, 1]  # of the elements in the groups
    args = [
        np.concatenate(pair)[np.argsort(order)]
        for pair in zip(first, second, strict=True)
    ]
    groups = [[0, 2], [3, 1]]
    f = olympus.jit(olympus.vmap(along("i", axis_index_groups=groups), axis_name="i"))
    expected = np.concatenate([exchanged(*first), exchanged(*second)])
    np.testing.assert_array_equal(f(*args), expected[np.argsort(order)])


def linear_map(f, operand, output):
    """The matrices of a linear function of two arrays."""
    zero = np.zeros_like(operand), np.zeros_like(output)
    columns = []
    for which in (0, 1):
        for i in range(zero[which].size):
            arrays = [z.copy() for z in zero]
            arrays[which].flat[i] = 1
            columns.append(f(*arrays).ravel())
    return np.stack(columns, 1)


@pytest.mark.parametrize("overlap", [False, True])
def test_derivatives(overlap, rng):
    """Also of rows that are sent twice or written over."""
    operand, output, *slices = draw(rng, 2, 2, rows=4, overlap=overlap, tail=())
    f = olympus.jit(olympus.vmap(along("i"), axis_name="i"))
    matrix = linear_map(lambda a, b: exchanged(a, b, *slices), operand, output)
    ct = rng.normal(size=output.shape).astype(np.float32)

    def loss(operand, output):
        return (f(operand, output, *slices) * ct).sum()

    grads = olympus.grad(loss, (0, 1))(operand, output)
    flat = np.concatenate([np.ravel(g) for g in grads])
    np.testing.assert_allclose(flat, matrix.T @ ct.ravel(), 1e-5, 1e-6)
    tangents = [rng.normal(size=x.shape).astype(np.float32) for x in (operand, output)]
    _, out = olympus.jvp(
        lambda a, b: f(a, b, *slices), (operand, output), tuple(tangents)
    )
    flat = np.concatenate([t.ravel() for t in tangents])
    np.testing.assert_allclose(np.ravel(out), matrix @ flat, 1e-5, 1e-6)


@eight_devices
def test_derivatives_over_devices(rng):
    operand, output, *slices = draw(rng, 4, 2, overlap=True)
    ct = rng.normal(size=output.shape).astype(np.float32)

    def gradients(f):
        def loss(operand, output):
            return (f(operand, output, *slices) * ct).sum()

        return olympus.jit(olympus.grad(loss, (0, 1)))(operand, output)

    mapped = gradients(olympus.vmap(along("x"), axis_name="x"))
    divided = gradients(over_devices(along("x"), "x"))
    for a, b in zip(mapped, divided, strict=True):
        np.testing.assert_allclose(a, b, 1e-6)


def test_another_mapped_axis(rng):
    many = [draw(rng, 2) for _ in range(3)]
    rows = max(a[1].shape[1] for a in many)
    many = [(a[0], np.resize(a[1], (2, rows, 3)), *a[2:]) for a in many]
    args = [np.stack(xs) for xs in zip(*many, strict=True)]
    f = olympus.jit(olympus.vmap(olympus.vmap(along("i"), axis_name="i")))
    expected = np.stack([exchanged(*a) for a in many])
    np.testing.assert_array_equal(f(*args), expected)


def test_nothing_is_sent():
    x, y, none = jnp.ones((2, 3)), jnp.zeros((2, 4)), np.zeros((2, 0), np.int32)
    f = olympus.jit(olympus.vmap(along("i"), axis_name="i"))
    np.testing.assert_array_equal(f(x, y, *[none] * 4), y)
    empty = jnp.ones((2, 0))
    sizes = np.zeros((2, 2), np.int32)
    np.testing.assert_array_equal(f(empty, y, *[sizes] * 4), y)
    assert f(x, empty, *[sizes] * 4).shape == (2, 0)


X, Y = np.ones((2, 3, 2), "float32"), np.ones((2, 4, 2), "float32")
K = np.ones((2, 2), int)
REFUSED = {
    "dtype": ((X, Y.astype("int32"), K, K, K, K), TypeError, "must have one dtype"),
    "rows": ((X, Y[..., 0], K, K, K, K), ValueError, "must have rows of one shape"),
    "scalars": ((X[:, 0, 0], Y[:, 0, 0], K, K, K, K), ValueError, "rows of one shape"),
    "floats": ((X, Y, K * 1.0, K, K, K), TypeError, "input_offsets must be integers"),
    "lengths": (
        (X, Y, K, K, K, K[:, :1]),
        ValueError,
        "of one length, got .* for recv",
    ),
    "number": (
        (X, Y, K[:, :1], K[:, :1], K[:, :1], K[:, :1]),
        ValueError,
        "must be a multiple of the size of the axis, got 1 slices for 2",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    args, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        olympus.vmap(along("i"), axis_name="i")(*args)


def test_it_needs_a_mapped_axis():
    with pytest.raises(NameError, match="unbound axis name"):
        along("i")(X[0], Y[0], K[0], K[0], K[0], K[0])
