"""Functions written for any namespace of the standard give here what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

RNG = np.random.default_rng(2)
X = RNG.normal(size=(30, 4)) * np.array([3.0, 1.0, 0.5, 2.0]) + 1
Y = (X[:, 0] - X[:, 1] + RNG.normal(size=30) > 0).astype(np.float64)


def namespace(*arrays):
    (xp,) = {a.__array_namespace__() for a in arrays}
    return xp


def standardised(x):
    xp = namespace(x)
    spread = xp.std(x, axis=0, correction=1)
    spread = xp.where(spread == 0, xp.ones_like(spread), spread)
    return (x - xp.mean(x, axis=0)) / spread


def distances(x):
    """Of all pairs, by broadcasting; none is below zero."""
    xp = namespace(x)
    gaps = xp.expand_dims(x, axis=1) - xp.expand_dims(x, axis=0)
    return xp.sqrt(xp.vecdot(gaps, gaps))


def nearest_neighbours(x):
    xp = namespace(x)
    far = xp.full(x.shape[0], xp.inf, dtype=x.dtype, device=x.device)
    order = xp.argsort(distances(x) + xp.eye(x.shape[0]) * 1e9, axis=1)
    chosen = xp.take(order, xp.arange(3), axis=1)
    nearest = xp.take_along_axis(distances(x), chosen, axis=1)
    return xp.minimum(xp.max(nearest, axis=1), far)


def principal_parts(x):
    xp = namespace(x)
    _, lengths, directions = xp.linalg.svd(standardised(x), full_matrices=False)
    signs = xp.sign(xp.sum(directions, axis=1, keepdims=True))
    return xp.concat([directions * signs, lengths[None, :]], axis=0)


def ridge(x, y):
    xp = namespace(x, y)
    wide = xp.concat([x, xp.ones((x.shape[0], 1), dtype=x.dtype)], axis=1)
    gram = xp.matrix_transpose(wide) @ wide + 0.1 * xp.eye(wide.shape[1])
    return xp.linalg.solve(gram, xp.matrix_transpose(wide) @ y)


def newton_step(x, y):
    """One step of a logistic regression."""
    xp = namespace(x, y)
    w = ridge(x, y)[:-1]
    p = 1 / (1 + xp.exp(-(x @ w)))
    slope = xp.tensordot(p - y, x, axes=((0,), (0,)))
    curve = xp.matrix_transpose(x) @ (xp.reshape(p * (1 - p), (-1, 1)) * x)
    return w - xp.linalg.inv(curve + xp.eye(x.shape[1])) @ slope


def ranks(x):
    xp = namespace(x)
    order = xp.argsort(x, axis=0, stable=True)
    flat = xp.reshape(xp.astype(x > 0, xp.int32), (-1,))
    runs = xp.cumulative_sum(flat, include_initial=True)
    jumps = xp.diff(runs, prepend=xp.zeros(1, dtype=runs.dtype))
    return xp.searchsorted(xp.sort(x[:, 0]), x[:, 0]), order, jumps


def shares_of_classes(y):
    xp = namespace(y)
    values, counts = xp.unique_counts(y)
    kinds = xp.isdtype(values.dtype, "real floating"), xp.finfo(values.dtype).bits
    assert kinds == (True, 64)
    return counts / xp.sum(counts)


def spectrum(x):
    xp = namespace(x)
    parts = xp.fft.rfftn(x, axes=(0,), norm="ortho")
    total = xp.linalg.vector_norm(xp.abs(parts), axis=0)
    assert not bool(xp.any(xp.isnan(total)))
    return xp.stack([xp.real(parts), xp.imag(parts)]), float(total[0])


CASES = [
    (standardised, (X,)),
    (distances, (X,)),
    (nearest_neighbours, (X,)),
    (principal_parts, (X,)),
    (ridge, (X, Y)),
    (newton_step, (X, Y)),
    (ranks, (X,)),
    (shares_of_classes, (Y,)),
    (spectrum, (X,)),
]
WITHOUT_JIT = {nearest_neighbours, shares_of_classes, spectrum}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fun", "args"), CASES, ids=lambda x: getattr(x, "__name__", "")
)
def test_generic_functions(fun, args):
    wanted = fun(*args)
    with olympus.enable_x64(True):
        ours = tuple(jnp.asarray(a) for a in args)
        found = [fun(*ours)]
        if fun not in WITHOUT_JIT:
            found.append(olympus.jit(fun)(*ours))
        for result in found:
            for x, y in zip(
                olympus.tree.leaves(result), olympus.tree.leaves(wanted), strict=True
            ):
                np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
def test_generic_functions_have_derivatives():
    def total(x):
        return namespace(x).sum(principal_parts(x)[-1, :])

    with olympus.enable_x64(True):
        olympus.test_util.check_grads(total, (jnp.asarray(X[:6]),), 1, ["rev"])
