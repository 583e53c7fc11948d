"""Decompositions of stacks of matrices run on each device's part of the stack."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import PartitionSpec as P
from tests.sharding.meshes import divide, entries, mesh

pytestmark = pytest.mark.eight_devices

N = 5
RANDOM = np.random.default_rng(0).normal(size=(8, 2, N, N)).astype(np.float32)
STACK = RANDOM @ np.swapaxes(RANDOM, -1, -2) + N * np.eye(N, dtype=np.float32)

FUNCTIONS = {
    "cholesky": jnp.linalg.cholesky,
    "eigh": lambda a: jnp.linalg.eigh(a)[0],
    "eigvals": lambda a: jnp.sort(jnp.linalg.eigvals(a).real),
    "svd": lambda a: jnp.linalg.svd(a)[1],
    "qr": lambda a: jnp.abs(jnp.linalg.qr(a)[1]),
    "qr with pivots": lambda a: jnp.abs(lax.linalg.qr(a, pivoting=True)[1]),
    "lu": lambda a: lax.linalg.lu(a)[0],
    "solve": lambda a: jnp.linalg.solve(a, a[..., :3]),
    "triangular_solve": lambda a: lax.linalg.triangular_solve(a, a, lower=True),
    "schur": lambda a: jnp.abs(lax.linalg.schur(a)[0]),
    "hessenberg": lambda a: jnp.abs(lax.linalg.hessenberg(a)[0]),
    "tridiagonal": lambda a: lax.linalg.tridiagonal(a)[1],
}


def communication(f, *args):
    text = olympus.jit(f).lower(*args).compile().as_text()
    names = r" (all-gather|all-reduce|all-to-all|collective-permute)\("
    return re.findall(names, text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_batch_stays_divided(name):
    f = FUNCTIONS[name]
    x = divide(STACK, "x", "y")
    y = olympus.jit(f)(x)
    assert entries(y) == ("x", "y")
    assert not communication(f, x)
    np.testing.assert_allclose(y, olympus.jit(f)(STACK), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize(
    "spec", [("x", None, "y"), (None, None, "y", "x"), (None, "y")]
)
def test_matrices_that_are_divided_are_gathered(spec):
    square = STACK[..., :4, :4]
    y = olympus.jit(jnp.linalg.cholesky)(divide(square, *spec))
    np.testing.assert_allclose(y, np.linalg.cholesky(square), rtol=1e-4, atol=1e-4)


def test_gradients():
    def loss(a):
        return jnp.sin(jnp.linalg.inv(a)).sum() + jnp.linalg.cholesky(a).sum()

    gradient = olympus.jit(olympus.grad(loss))
    divided = gradient(divide(STACK, "x"))
    assert entries(divided) == ("x",)
    np.testing.assert_allclose(divided, gradient(STACK), rtol=1e-4, atol=1e-4)


def test_beside_manual_axes():
    f = olympus.shard_map(
        jnp.linalg.cholesky,
        mesh=mesh(4, 2),
        in_specs=P("x"),
        out_specs=P("x"),
        axis_names={"x"},
    )
    y = olympus.jit(f)(divide(STACK, "x", "y"))
    assert entries(y) == ("x", "y")
    np.testing.assert_allclose(y, np.linalg.cholesky(STACK), rtol=1e-4, atol=1e-4)
