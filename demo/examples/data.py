"""Images like handwritten digits: a blurred stroke for each class, moved and noisy."""

from __future__ import annotations

import numpy as np

SIDE, CLASSES = 10, 10


def images(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Images [count, SIDE * SIDE] with values from 0 to 1, and one-hot labels."""
    rng = np.random.default_rng(seed)
    strokes = np.random.default_rng(99).normal(size=(CLASSES, 3, 2))
    labels = rng.integers(CLASSES, size=count)
    shifts = rng.normal(size=(count, 1, 2)) * 0.15
    share = np.linspace(0, 1, 12)[:, None]
    start, middle, end = np.moveaxis(strokes[labels] + shifts, 1, 0)[:, :, None]
    path = start * (1 - share) ** 2 + 2 * middle * share * (1 - share) + end * share**2
    grid = np.stack(np.meshgrid(*[np.linspace(-1.5, 1.5, SIDE)] * 2), axis=-1)
    distance = path[:, :, None, None] - grid
    ink = np.exp(-8 * np.sum(distance**2, axis=-1)).max(axis=1)
    pixels = np.clip(ink + rng.normal(size=ink.shape) * 0.05, 0, 1)
    return (
        pixels.reshape(count, SIDE * SIDE).astype(np.float32),
        np.eye(CLASSES, dtype=np.float32)[labels],
    )


def batches(count: int, size: int, seed: int = 0):
    """`count` batches of `size` images and their labels."""
    x, y = images(4 * size, seed)
    order = np.random.default_rng(seed + 1)
    for _ in range(count):
        chosen = order.choice(len(x), size, replace=False)
        yield x[chosen], y[chosen]
