"""Functions of olympus.numpy that take and put elements by their positions."""

from __future__ import annotations

import numpy as np

import olympus.numpy as jnp
from tests.public_functions.entries import entries
from tests.public_functions.points import PLACES, SQUARE, M, N, X, Y
from tests.public_functions.reasons import INDEXING

entry = entries("numpy", undrawn=INDEXING)

ENTRIES = [
    *entry(
        "fill_diagonal",
        smooth=(lambda x, v: jnp.fill_diagonal(x, v, inplace=False), SQUARE, X[:3]),
        types="s, v, inplace=False",
    ),
    *entry(
        "place",
        smooth=(
            lambda x, v: jnp.place(x, np.arange(5) > 2, v, inplace=False),
            X,
            Y[:2],
        ),
        types="v, np.array([True, True, False]), w, inplace=False",
    ),
    *entry(
        "put",
        smooth=(lambda x, v: jnp.put(x, PLACES[:2], v, inplace=False), X, Y[:2]),
        types="v, np.array([0, 1, 1]), w, inplace=False",
    ),
    *entry(
        "put_along_axis",
        smooth=(
            lambda x, v: jnp.put_along_axis(x, PLACES[:, None], v, 1, inplace=False),
            M,
            N[:, :1],
        ),
        types="v, np.array([0, 1, 1]), w, 0, inplace=False",
    ),
    *entry(
        "take",
        smooth=[
            (lambda x: jnp.take(x, PLACES, axis=1), M),
            (lambda x: jnp.take(x, PLACES), M),
        ],
        types=(
            "v, np.array([0, 1]); np.arange(3.0, dtype='f'), v; "
            "v, np.array([0, 4]), mode='fill', fill_value=2"
        ),
        standard="x, indices, /, *, axis=None",
    ),
    *entry(
        "take_along_axis",
        smooth=(lambda x: jnp.take_along_axis(x, PLACES[:, None], 1), M),
        types="v, np.array([0, 1]), 0; np.arange(3.0, dtype='f'), v, 0",
        standard="x, indices, /, *, axis=-1",
    ),
    *entry(
        "vectorize",
        smooth=(jnp.vectorize(jnp.dot, signature="(n),(n)->()"), M, N),
        types="{f}(jnp.sin)(v)",
    ),
]
