"""Scans over the rows of refs."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.test_util import check_grads


def add(carry, row):
    i, part = row
    part[...] += i
    return carry + part[...].sum(), part[...] * 2


def scan_rows(ref, **options):
    steps = onp.arange(float(ref.shape[0]))
    return lax.scan(add, 0.0, (steps, ref), **options)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 4])
@pytest.mark.parametrize("shape", [(3,), (4, 2), (0, 2)])
def test_each_step_has_a_row(shape, unroll, reverse, jitted):
    start = np.arange(float(np.prod(shape))).reshape(shape)
    ref = olympus.new_ref(onp.asarray(start))
    run = lambda ref: scan_rows(ref, reverse=reverse, unroll=unroll)  # noqa: E731
    run = olympus.jit(run) if jitted else run
    for turn in (1, 2):
        total, doubled = run(ref)
        steps = np.arange(float(shape[0])).reshape(-1, *[1] * (len(shape) - 1))
        expected = start + turn * steps
        np.testing.assert_array_equal(ref[...], expected)
        np.testing.assert_array_equal(doubled, 2 * expected)
        np.testing.assert_allclose(total, expected.sum())


def test_rows_beside_a_ref_that_is_closed_over():
    rows = olympus.new_ref(onp.arange(3.0))
    total = olympus.new_ref(0.0)

    def step(carry, row):
        total[...] += row[...]
        row[...] = total[...]
        return carry + 1, row[...] ** 2

    count, squares = lax.scan(step, 0, rows)
    np.testing.assert_array_equal(rows[...], [0, 1, 3])
    np.testing.assert_array_equal(squares, [0, 1, 9])
    assert (int(count), float(total[...])) == (3, 3.0)


def test_rows_of_rows():
    ref = olympus.new_ref(onp.arange(6.0).reshape(2, 3))

    def outer(carry, row):
        return lax.scan(inner, carry, row)[0], None

    def inner(carry, element):
        element[...] += 1
        return carry + element[...], None

    assert float(lax.scan(outer, 0.0, ref)[0]) == 21
    np.testing.assert_array_equal(ref[...], np.arange(1.0, 7).reshape(2, 3))


def test_rows_that_are_only_read():
    ref = olympus.new_ref(onp.arange(4.0))
    total, seen = lax.scan(lambda c, row: (c + row[...], row[...]), 0.0, ref)
    assert float(total) == 6
    np.testing.assert_array_equal(seen, ref[...])


def square_rows(x):
    ref = olympus.new_ref(x * onp.arange(3.0))

    @olympus.checkpoint
    def step(carry, row):
        row[...] = onp.sin(row[...]) ** 2
        return carry + row[...], None

    return lax.scan(step, 0.0, ref)[0] * ref[...].sum()


def square_sines(x):
    return (onp.sin(x * onp.arange(3.0)) ** 2).sum() ** 2


@pytest.mark.slow
def test_transformations_of_scans_over_refs():
    xs = np.linspace(0.2, 0.9, 4)
    np.testing.assert_allclose(square_rows(0.7), square_sines(0.7), rtol=1e-6)
    for transform in (olympus.grad, lambda f: olympus.grad(olympus.grad(f))):
        of_rows, plain = transform(square_rows), transform(square_sines)
        np.testing.assert_allclose(of_rows(0.7), plain(0.7), rtol=1e-5)
        mapped = olympus.jit(olympus.vmap(of_rows))(xs)
        np.testing.assert_allclose(mapped, olympus.vmap(plain)(xs), rtol=1e-5)
    check_grads(square_rows, (0.7,), 2)


def test_scans_over_refs_without_jit():
    ref = olympus.new_ref(onp.arange(3.0))
    with olympus.disable_jit():
        total, _ = scan_rows(ref, reverse=True)
    np.testing.assert_array_equal(ref[...], [0, 2, 4])
    assert float(total) == 6


def test_a_ref_is_scanned_over_once():
    ref = olympus.new_ref(onp.arange(3.0))
    with pytest.raises(ValueError, match=r"scan: a function may be given a ref once"):
        lax.scan(lambda c, rows: (c, None), 0.0, (ref, ref))
    with pytest.raises(ValueError, match=r"scan: a function may be given a ref once"):
        lax.scan(lambda c, row: (c + ref[0] + row[...], None), 0.0, ref)
