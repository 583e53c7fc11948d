"""Loops, branches and collective operations of olympus.lax."""

from __future__ import annotations

import olympus.numpy as jnp
from olympus import lax
from tests.public_functions.entries import entries
from tests.public_functions.points import M, X
from tests.public_functions.reasons import OWN_TESTS, SAMPLES

entry = entries("lax", undrawn=SAMPLES)

ENTRIES = [
    *entry(
        "cond",
        smooth=(lambda x: lax.cond(True, jnp.sin, jnp.cos, x), X),
        types=(
            "True, lambda x, y: x, lambda x, y: y, v, w; a, lambda x: x, lambda x: x, v"
        ),
    ),
    *entry(
        "switch",
        smooth=(lambda x: lax.switch(1, [jnp.sin, jnp.cos], x), X),
        types="a, [lambda x: x, lambda x: x], v",
    ),
    *entry(
        "fori_loop",
        smooth=(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) * x, x), X),
        types="0, 3, lambda i, x: x * 2, a; 0, a, lambda i, x: x + i, b",
    ),
    *entry("map", smooth=(lambda x: lax.map(jnp.sin, x), M), types="jnp.sin, v"),
    *entry(
        "scan",
        smooth=(lambda x: lax.scan(lambda c, v: (c * v, c + v), x[0], x), M),
        types="lambda c, x: (c + x, x), b, v; lambda c, x: (c, x + 1), 0, v",
    ),
    *entry(
        """all_gather all_to_all axis_index axis_size custom_root pbroadcast pcast pmax
        pmean
        pmin ppermute pshuffle psum psum_scatter pswapaxes ragged_all_to_all""",
        smooth=OWN_TESTS,
        unrecorded=OWN_TESTS,
    ),
    *entry(
        "custom_linear_solve", smooth=OWN_TESTS, types="lambda x: x, v, lambda mv, b: b"
    ),
    *entry("while_loop", smooth=OWN_TESTS, types="lambda x: False, lambda x: x + 1, a"),
]
