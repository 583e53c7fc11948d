"""Distributions of vectors and matrices."""

from __future__ import annotations

import operator
from typing import Any

from olympus._src.core import avals
from olympus._src.lax import elementwise as ew
from olympus._src.lax import reductions, shaping
from olympus._src.random import arguments, keys
from olympus._src.random.arguments import as_dtype, number, one_program
from olympus._src.random.continuous import draw_exponential
from olympus._src.random.gamma import draw_generalized_normal
from olympus._src.random.uniform import split_in


def ball(
    key: Any,
    d: int,
    p: float = 2,
    shape: Any = (),
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Points of the unit ball, all equally likely.

    Args:
      key: one key.
      d: number of dimensions.
      p: which norm the ball is of.
      shape: shape of the result without its last axis.
      dtype: float dtype; default the default one.
      out_sharding: None.

    Returns:
      Floats [*shape, d].

    Raises:
      ValueError: several keys are given, or the dtype is of another kind.

    Source: Barthe, Guedon, Mendelson and Naor, "A probabilistic approach to the
      geometry of the l_p^n ball" (2005).
    """
    key = keys.single_key("ball", key)
    arguments.refuse_sharding("ball", out_sharding)
    dtype = arguments.float_dtype("ball", dtype)
    shape = arguments.shape_of("ball", shape)
    return _ball(key, p, d=operator.index(d), shape=shape, dtype=dtype)


@one_program
def _ball(key: Any, p: Any, *, d: int, shape: Any, dtype: Any) -> Any:
    direction_key, length_key = split_in(key, 2)
    points = draw_generalized_normal(direction_key, p, (*shape, d), dtype)
    rest = draw_exponential(length_key, shape, dtype)
    p = as_dtype(p, dtype)
    powers = reductions.reduce_sum(ew.pow_(ew.abs_(points), p), (len(shape),))
    norm = ew.pow_(ew.add(powers, rest), ew.div(number(1, dtype), p))
    norm = shaping.broadcast_in_dim(
        norm, avals.aval_of(points).shape, tuple(range(len(shape)))
    )
    return ew.div(points, norm)
