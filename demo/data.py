"""The digits that come with scikit-learn: 1797 images of 8 by 8 pixels."""

import numpy as np
from sklearn import datasets


def digits(held_out=360, seed=0):
    """Images and one-hot digits, to train on and held out.

    Returns:
      `(x, y), (x, y)`: images `[n, 64]` from 0 to 1, digits `[n, 10]`.
    """
    bundle = datasets.load_digits()
    order = np.random.default_rng(seed).permutation(len(bundle.target))
    x = (bundle.data[order] / 16.0).astype("float32")
    y = np.eye(10, dtype="float32")[bundle.target[order]]
    return (x[held_out:], y[held_out:]), (x[:held_out], y[:held_out])


def batches(x, y, size, rng):
    """One pass over the data in random order, in whole batches."""
    order = rng.permutation(len(x))
    for start in range(0, len(x) - size + 1, size):
        rows = order[start : start + size]
        yield x[rows], y[rows]
