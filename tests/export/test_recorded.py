"""Programs that two versions of jaxlib exported run here, with the results of NumPy."""

from __future__ import annotations

import pathlib

import ml_dtypes
import numpy as np
import pytest

import olympus
from olympus import export, random

FOLDER = pathlib.Path(__file__).parent.parent / "data"
TABLE = np.linspace(-1, 1, 1200, dtype=np.float32).reshape(4, 300)[:, ::100]


def files(name):
    found = sorted(FOLDER.glob(f"exported_{name}_*.bin"))
    assert len(found) >= 2
    return found


def file_name(path):
    return path.stem


def read(path):
    return export.deserialize(path.read_bytes())


X = np.float32([[0.1, -0.2, 0.3, 0.4], [1, 0.5, -0.5, 0.2]])
W, B = np.float32([1, 2, 3]), np.float32([0.5, -0.5, 0])


@pytest.mark.slow
@pytest.mark.parametrize("path", files("network"), ids=file_name)
def test_network(path):
    program = read(path)
    assert program.platforms == ("cuda", "cpu")
    found = program.call(X, {"w": [W], "b": B}, scale=2.0)
    hidden = np.tanh(X @ TABLE) * W + B
    np.testing.assert_allclose(found["y"], 2 * hidden, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(found["mean"][0], hidden.mean(), rtol=1e-5)
    chances = np.exp(hidden) / np.exp(hidden).sum(-1, keepdims=True)
    assert found["mean"][1] == chances.argmax()

    slope = olympus.grad(
        lambda x, w: program.call(x, {"w": [w], "b": B}, scale=2.0)["y"].sum(), (0, 1)
    )(X, W)
    squashed = np.tanh(X @ TABLE)
    wanted = (2 * (1 - squashed**2) * W) @ TABLE.T, 2 * squashed.sum(0)
    for a, b in zip(slope, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("path", files("solver"), ids=file_name)
def test_solver(path):
    a = np.float32([[2, 1, 0], [1, 3, -1], [0, -1, 4]])
    key = random.key(5)
    same, root, order, power, bits = read(path).call(a, key)
    np.testing.assert_allclose(same, a, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(root, np.linalg.cholesky(a @ a.T + np.eye(3)), rtol=1e-4)
    assert order.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(order.astype("float32"), np.sort(a.ravel())[::-1])
    wanted = np.linalg.matrix_power(a / 4, 5)
    np.testing.assert_allclose(power, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(bits, random.bits(key, (3,)))


@pytest.mark.slow
@pytest.mark.parametrize("path", files("table"), ids=file_name)
def test_table(path):
    program = read(path)
    for b in (1, 4):
        rng = np.random.default_rng(b)
        rows, weights, matrices = (
            rng.normal(size=s).astype(np.float32)
            for s in ((2 * b, 3), (3, 4), (b, 2, 2))
        )
        matrices = matrices @ matrices.swapaxes(1, 2) + np.eye(2, dtype=np.float32)
        total, sums, padded, roots, places = program.call(rows, weights, matrices)
        pairs = np.sort(rows, 0).reshape(b, 2, 3).sum(1) @ weights
        np.testing.assert_allclose(total, pairs.sum(0), rtol=1e-4, atol=1e-5)
        before = np.cumsum(np.concatenate([np.zeros((1, 4)), pairs[:-1]]), 0) * b
        np.testing.assert_allclose(sums, before, rtol=1e-4, atol=1e-4)
        halves = np.pad(np.cumsum(rows, 0)[:b], ((1, b), (0, 0)))
        np.testing.assert_allclose(padded, halves, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(roots, np.linalg.cholesky(matrices), rtol=1e-4)
        assert places.tolist() == list(range(b))
        slope = olympus.grad(lambda w, x, m: program.call(x, w, m)[0].sum())(
            weights, rows, matrices
        )
        wanted = np.repeat(rows.sum(0)[:, None], 4, 1)
        np.testing.assert_allclose(slope, wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="b <= 100"):
        program.call(
            np.ones((202, 3), "f"), np.ones((3, 4), "f"), np.ones((101, 2, 2), "f")
        )
