"""Reductions, scans, shapes and new arrays of olympus.lax."""

from __future__ import annotations

import numpy as np

import olympus.numpy as jnp
from olympus import lax
from tests.public_functions.entries import entries
from tests.public_functions.points import M, N, SharedCall, X, signed_values
from tests.public_functions.reasons import CONSTANT, DISCRETE, OWN_TESTS, SAMPLES

entry = entries("lax", undrawn=SAMPLES)

ENTRIES = [
    *entry(
        "reduce_sum reduce_max reduce_min reduce_prod",
        smooth=(SharedCall(lambda f, x: f(x, (1,))), M),
        types="v, (0,)",
    ),
    *entry(
        "reduce",
        smooth=[
            (lambda x: lax.reduce(x, 0.0, jnp.hypot, (1,)), M),
            (lambda x: lax.reduce(x, 1.0, lax.mul, (0,)), M),
        ],
        types=("v, b, lax.add, (0,); v, 0, lax.add, (0,); v, 1.0, lax.mul, (0,)"),
    ),
    *entry(
        "reduce_window",
        smooth=[
            (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME"), M),
            (
                lambda x: lax.reduce_window(
                    x, -np.inf, lax.max, (2, 2), (1, 2), "SAME"
                ),
                M,
            ),
            (lambda x: lax.reduce_window(x, np.inf, lax.min, (2, 3), (2, 1)), M),
            (lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 1)), M),
            (
                lambda x: lax.reduce_window(
                    x, 0.0, lax.add, (2, 2), (1, 1), ((1, 0), (0, 2)), (2, 1), (1, 2)
                ),
                M,
            ),
        ],
        types=(
            "v, b, lax.add, (2,), (1,), 'VALID'; v, 0, lax.max, (2,), (1,), 'VALID'"
        ),
    ),
    *entry(
        "cumsum cumprod cummax cummin cumlogsumexp",
        smooth=[
            (M,),
            (SharedCall(lambda f, x: f(x, 1, reverse=True)), M),
        ],
        types="v",
    ),
    *entry(
        "associative_scan",
        smooth=(lambda x: lax.associative_scan(jnp.multiply, x), M),
        types="lax.add, v",
    ),
    *entry(
        "sort",
        smooth=[(M,), (lambda x, y: lax.sort((x, y), num_keys=1), M[0], N[0])],
        types="v; [v, w], num_keys=2",
    ),
    *entry("sort_key_val", smooth=(M[0], N[0]), types="v, w"),
    *entry("top_k", smooth=(lambda x: lax.top_k(x, 2)[0], M), types="v, 2"),
    *entry(
        "approx_max_k approx_min_k",
        smooth=(SharedCall(lambda f, x: f(x, 2)[0]), M),
        types="v, 1",
    ),
    *entry("broadcast", smooth=(lambda x: lax.broadcast(x, (2,)), X), types="v, (2,)"),
    *entry(
        "broadcast_in_dim",
        smooth=(lambda x: lax.broadcast_in_dim(x, (2, 5), (1,)), X),
        types="v, (3, 2), (0,)",
    ),
    *entry(
        "broadcast_like",
        smooth=(lambda x: lax.broadcast_like(x, np.ones((2, 5))), X),
        types="v, w",
    ),
    *entry(
        "broadcast_to_rank",
        smooth=(lambda x: lax.broadcast_to_rank(x, 2), X),
        types="v, 2",
    ),
    *entry("collapse", smooth=(lambda x: lax.collapse(x, 0, 2), M), types="m, 0, 2"),
    *entry(
        "reshape",
        smooth=(lambda x: lax.reshape(x, (4, 3), (1, 0)), M),
        types="m, (3, 2)",
    ),
    *entry(
        "expand_dims", smooth=(lambda x: lax.expand_dims(x, (1,)), M), types="v, (0,)"
    ),
    *entry(
        "squeeze",
        smooth=(lambda x: lax.squeeze(x, (1,)), signed_values(2, 1, 3)),
        types="m[:1] if hasattr(m, 'dtype') else m, (0,)",
    ),
    *entry(
        "transpose",
        smooth=(lambda x: lax.transpose(x, (1, 0)), M),
        types="v, (0,); m, (1, 0)",
    ),
    *entry("rev", smooth=(lambda x: lax.rev(x, (1,)), M), types="v, (0,)"),
    *entry("tile", smooth=(lambda x: lax.tile(x, (2, 1)), M), types="v, (2,)"),
    *entry(
        "concatenate",
        smooth=(lambda x, y: lax.concatenate([x, y], 1), M, N),
        types="[v, w], 0",
    ),
    *entry("stack", smooth=(lambda x, y: lax.stack([x, y]), M, N), types="[v, w]"),
    *entry("unstack", smooth=(lambda x: lax.unstack(x), M), types="v"),
    *entry("split", smooth=(lambda x: lax.split(x, (1, 3), 1), M), types="v, (1, 2)"),
    *entry(
        "pad",
        smooth=[
            (lambda x, v: lax.pad(x, v, [(1, 2, 0), (0, 0, 1)]), M, X[0]),
            (lambda x, v: lax.pad(x, v, [(-1, 2, 1), (1, -2, 0)]), M, X[0]),
        ],
        types="v, b, [(1, 0, 0)]; v, 0, [(1, 0, 0)]",
    ),
    *entry(
        "full",
        smooth=(lambda x: lax.full((2, 3), x), X[0]),
        types="(3,), a; (3,), 2, D",
    ),
    *entry(
        "full_like",
        smooth=(lambda x: lax.full_like(M, x), X[0]),
        types="v, 2; v, a; v, 2, D",
    ),
    *entry("argmax argmin", smooth=DISCRETE, types="v, 0, np.int32; v, 0, D"),
    *entry("reduce_and reduce_or reduce_xor", smooth=DISCRETE, types="v, (0,)"),
    *entry("reduce_window_shape_tuple", smooth=DISCRETE, unrecorded=OWN_TESTS),
    *entry("broadcast_shapes", smooth=DISCRETE, types="(2, 1), (3,)"),
    *entry("shape_as_value", smooth=DISCRETE, types="(2, 3)"),
    *entry("broadcasted_iota", smooth=CONSTANT, types="D, (2, 3), 0"),
    *entry("iota", smooth=CONSTANT, types="D, 3"),
    *entry("empty", smooth=CONSTANT, types="(3,), D"),
    *entry(
        "rng_bit_generator",
        smooth=CONSTANT,
        types="np.zeros(4, 'uint32'), (3,), dtype=D",
    ),
    *entry("rng_uniform", smooth=CONSTANT, unrecorded=OWN_TESTS),
]
