"""Functions that are exported for symbolic sizes, with the types of their arguments.

Each entry: the function, then for each argument its symbolic shape and its dtype.
"""

from __future__ import annotations

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import lax

F, I32 = np.float32, np.int32
ROWS = ("b, 3", F)
TWO = ("b, c", F)
AT = ("c", I32)


def _first_sizes(x):
    return lax.concatenate([x, x * x.shape[0], x], 0)


def _halves(s):
    return s[0] + 1, s[1] * 0.5 + jnp.ones(s[1].shape, F)


CASES = {
    # arithmetic and shapes
    "add": (lambda x: x + 1, ROWS),
    "dot": (lambda x, y: lax.dot(x, y), TWO, ("c, 4", F)),
    "dot of bytes": (lambda x, y: lax.dot(x, y), ("b, c", np.int8), ("c, 2", np.int8)),
    "reshape": (lambda x: lax.reshape(x, (x.shape[0] * 3,)), ROWS),
    "concatenate": (_first_sizes, ROWS),
    "slice": (lambda x: lax.slice(x, (1, 0), (x.shape[0], 2)), ROWS),
    "strided slice": (
        lambda x: lax.slice(x, (0, 0), (x.shape[0], 3), (2, 1)),
        ROWS,
    ),
    "pad": (lambda x: lax.pad(x, F(0), ((1, 2, 1), (0, -1, 0))), ROWS),
    "iota": (lambda x: lax.iota(I32, x.shape[0] * 2 + 1), ROWS),
    "reverse": (lambda x: lax.rev(x, (0,)), ROWS),
    "transpose": (lambda x: x.T, TWO),
    "broadcast": (
        lambda x, y: lax.add(
            lax.broadcast_in_dim(x, (x.shape[0], y.shape[0]), (0,)),
            lax.broadcast_in_dim(y, (x.shape[0], y.shape[0]), (1,)),
        ),
        ("b", F),
        ("c", F),
    ),
    "select": (lambda x: lax.select(x > 0, x, -x), ROWS),
    "bits of halves": (lambda x: lax.bitcast_convert_type(x, np.uint16), ROWS),
    "bits together": (
        lambda x: lax.bitcast_convert_type(
            lax.bitcast_convert_type(x, np.uint16) + np.uint16(0), F
        ),
        ROWS,
    ),
    "whole division": (
        lambda x: lax.div(x, lax.full_like(x, 2)) + lax.rem(x, lax.full_like(x, 3)),
        ("b, 3", I32),
    ),
    "division by zero": (
        lambda x: lax.div(lax.full_like(x, 7), lax.full_like(x, 0)),
        ("b, 3", I32),
    ),
    # sizes as values
    "size": (lambda x: x * x.shape[0], ROWS),
    "expressions": (
        lambda x: jnp.asarray((x.shape[0] * 7 - 20) // 3 + (x.shape[0] - 9) % 4),
        ROWS,
    ),
    "divided by sizes": (
        lambda x: jnp.asarray((x.shape[0] * 7) // (x.shape[1] + 1)) % 5,
        TWO,
    ),
    # reductions
    "sum": (lambda x: lax.reduce_sum(lax.sin(x), (0,)), ROWS),
    "largest": (lambda x: lax.reduce_max(x, (0,)), ROWS),
    "argmax": (lambda x: lax.argmax(x, 0, I32), ROWS),
    "cumsum": (lambda x: lax.cumsum(x, 0), ROWS),
    "cummax": (lambda x: lax.cummax(x, 0, reverse=True), ROWS),
    "cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 1), TWO),
    "windows": (
        lambda x: lax.reduce_window(x, F(0), lax.add, (1, 2), (1, 1), "SAME"),
        ROWS,
    ),
    "associative scan": (lambda x: lax.associative_scan(jnp.add, x, axis=1), ROWS),
    # order
    "sort": (lambda x: lax.sort(x, 0), ROWS),
    "sort of pairs": (lambda x: lax.sort((x, x * 2), 1, num_keys=1), TWO),
    "top_k": (lambda x: lax.top_k(x, 2), ROWS),
    "top_k of axis 0": (lambda x: lax.top_k(x, 1, axis=0), ROWS),
    # positions
    "update": (lambda x: x.at[0].set(1.0), ROWS),
    "dynamic_slice": (
        lambda x, i: lax.dynamic_slice(x, (0, i[0]), (x.shape[0], 2)),
        ROWS,
        ("1", I32),
    ),
    # loops
    "while": (
        lambda x: lax.while_loop(lambda s: s[0] < 3, _halves, (0, x)),
        ROWS,
    ),
    "scan": (
        lambda x: lax.scan(lambda c, r: (c + r, c * 2), jnp.zeros(3, F), x),
        ROWS,
    ),
    "scan backwards": (
        lambda x: lax.scan(
            lambda c, r: (c + r, c * 2), jnp.zeros(3, F), x, reverse=True, unroll=2
        ),
        ROWS,
    ),
    "scan of open carry": (
        lambda x: lax.scan(
            lambda c, r: (c + r, c.sum()), jnp.zeros(x.shape[0], F), x.T
        ),
        ROWS,
    ),
    "cond": (
        lambda x: lax.cond(
            x.sum() > 0, lambda y: y + 1, lambda y: jnp.zeros(y.shape, F), x
        ),
        ROWS,
    ),
    "switch by size": (
        lambda x: lax.switch(
            x.shape[0] % 3, [lambda y: y, lambda y: y + 1, lambda y: y * 3], x
        ),
        ROWS,
    ),
    # transformations
    "jit": (
        lambda x: olympus.jit(lambda y: jnp.ones(y.shape, F) + y * y.shape[0])(x),
        ROWS,
    ),
    "vmap": (lambda x: olympus.vmap(lambda y: lax.dot(y, y))(x), ROWS),
    "grad": (lambda x: olympus.grad(lambda y: (lax.sin(y) ** 2).sum())(x), ROWS),
    "checkpoint": (
        lambda x: olympus.grad(olympus.checkpoint(lambda y: lax.sin(lax.sin(y)).sum()))(
            x
        ),
        ROWS,
    ),
    # special functions, signals
    "special functions": (lambda x: lax.erf(x) + lax.lgamma(lax.abs(x)), ROWS),
    "rfft": (lambda x: lax.fft(x, lax.FftType.RFFT, (8,)), ("b, 8", F)),
    "convolution of open batch": (
        lambda x, k: lax.conv(x, k, (1, 1), "SAME"),
        ("b, 2, 6, 6", F),
        ("3, 2, 3, 3", F),
    ),
    "convolution of open space": (
        lambda x, k: lax.conv(x, k, (1, 1), "SAME"),
        ("b, 2, c, 6", F),
        ("3, 2, 3, 3", F),
    ),
}
