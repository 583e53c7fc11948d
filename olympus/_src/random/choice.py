"""Picking from things: permutations, choices, categories."""

from __future__ import annotations

import math
import operator
from typing import Any

from olympus._src.core import avals, dtypes, trace
from olympus._src.core.array_type import (
    Array,
    ArrayLike,
    KeyArray,
    OptionalArray,
    Placement,
    Shape,
)
from olympus._src.lax import (
    concatenation,
    cumulative,
    gather,
    reductions,
    shaping,
    sizes,
    sorting,
)
from olympus._src.lax import elementwise as ew
from olympus._src.numpy import promotion, searching
from olympus._src.random import arguments, keys
from olympus._src.random.arguments import number, one_program
from olympus._src.random.continuous import draw_gumbel, high_gumbel
from olympus._src.random.uniform import (
    draw_bits,
    draw_integers,
    draw_uniform,
    split_in,
)

# -- permutations ----------------------------------------------------------------------


@promotion.divides_result("random.permutation")
def permutation(
    key: KeyArray,
    x: ArrayLike,
    axis: int = 0,
    independent: bool = False,
    *,
    out_sharding: Placement = None,
) -> Array:
    """An array in random order, or the integers below a number.

    Args:
      key: one key.
      x: array of at least one axis; or an integer, for the numbers from 0 below it.
      axis: the axis that is shuffled.
      independent: whether each vector along the axis is shuffled by itself; otherwise
        all alike.
      out_sharding: how the result is divided over a mesh.

    Returns:
      An array like `x`, or integers [x].

    Raises:
      TypeError: `x` is a scalar but no integer.
      ValueError: several keys are given, or there is no such axis.

    Example:
      >>> from olympus import random
      >>> random.permutation(random.PRNGKey(1), 10)
      Array([7, 6, 3, 2, 0, 8, 1, 5, 9, 4], dtype=int32)
    """
    key = keys.single_key("permutation", key)
    aval = avals.aval_of(x)
    if not aval.ndim:
        return _shuffled_range(key, size=_length("permutation", "x", x))
    axis = sizes.canonicalize_axis(axis, aval.ndim, "random.permutation")
    return _permutation(key, x, axis=axis, independent=independent or aval.ndim == 1)


def _length(name: str, what: str, x: Any) -> int:
    """A scalar that says how many; negative ones say none."""
    if isinstance(x, trace.Tracer):
        return operator.index(x)  # explains that no value is known
    if dtypes.kind(avals.aval_of(x).dtype) not in "ui":
        raise TypeError(
            f"random.{name}: {what} must be an integer or at least 1-dimensional, got "
            f"{x!r}; give an array, or int({what})"
        )
    return max(int(x), 0)


@one_program
def _shuffled_range(key: Any, *, size: int) -> Any:
    return _draw_order(key, size)


def _draw_order(key: Any, size: int) -> Any:
    """The integers below `size` in random order."""
    return _shuffle(key, shaping.iota(int, size), 0)


@one_program
def _permutation(key: Any, x: Any, *, axis: int, independent: bool) -> Any:
    opaque = dtypes.is_extended(_dtype(x)) and avals.aval_of(x).ndim == 1
    if independent and not opaque:
        return _shuffle(key, x, axis)
    return _take(x, _draw_order(key, avals.aval_of(x).shape[axis]), axis)


def _shuffle(key: Any, x: Any, axis: int) -> Any:
    """Sorts by random words, so often that equal words leave no trace of the order.

    Words repeat in an array of n with a chance that three rounds of 32 bits for each
    doubling of n make negligible.
    """
    aval = avals.aval_of(x)
    rounds = math.ceil(3 * math.log(max(1, aval.size)) / math.log(2**32 - 1))
    for _ in range(rounds):
        key, subkey = split_in(key, 2)
        words = draw_bits(subkey, 32, aval.shape)
        _, x = sorting.sort_key_val(words, x, axis)
    return x


def _take(x: Any, positions: Any, axis: int) -> Any:
    """Slices of `x` at positions along an axis, which become axes in its place."""
    shape = avals.aval_of(x).shape
    chosen = avals.aval_of(positions).shape
    if not math.prod(chosen):  # a slice cannot be taken from an axis without any
        out = shape[:axis] + chosen + shape[axis + 1 :]
        return shaping.full(out, 0, avals.aval_of(x).dtype)
    flat = shaping.reshape(positions, (math.prod(chosen),))
    slices = gather.index_take(x, [flat], (axis,))
    order = (*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
    return shaping.reshape(
        shaping.transpose(slices, order), shape[:axis] + chosen + shape[axis + 1 :]
    )


# -- choices ---------------------------------------------------------------------------


def choice(
    key: KeyArray,
    a: ArrayLike,
    shape: int | Shape = (),
    replace: bool = True,
    p: OptionalArray = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Elements chosen from an array, or from the integers below a number.

    Args:
      key: one key.
      a: array of at least one axis; or an integer, for the numbers from 0 below it.
      shape: how many are chosen, and in what shape.
      replace: whether an element may be chosen again.
      p: the probability of each element [n]; default equal.
      axis: the axis of `a` whose slices are chosen.
      mode: how Gumbel numbers are drawn for choices with `p` and without `replace`; see
        `gumbel`.

    Returns:
      An array of a's shape with `shape` in place of the axis.

    Raises:
      ValueError: there is nothing to choose from or not enough, `p` is of another
        shape, or several keys are given.

    Source: NumPy, `numpy.random.Generator.choice`.

    Example:
      >>> from olympus import random
      >>> random.choice(random.PRNGKey(1), 10, (4,), replace=False)
      Array([7, 6, 3, 2], dtype=int32)
    """
    key = keys.single_key("choice", key)
    shape = arguments.shape_of("choice", shape)
    rank = avals.aval_of(a).ndim
    if not rank:
        size = _length("choice", "a", a)
    else:
        axis = sizes.canonicalize_axis(axis, rank, "random.choice")
        size = avals.aval_of(a).shape[axis]
    _check_choice(size, math.prod(shape), replace)
    if p is not None:
        p = _probabilities(p, size)
    static = {
        "size": size,
        "shape": shape,
        "axis": axis,
        "replace": replace,
        "high": high_gumbel("choice", mode),
    }
    if not rank:
        return _choose(key, p, **static) if p is not None else _choose(key, **static)
    if p is None:
        return _choose_from(key, a, **static)
    return _choose_from(key, a, p, **static)


def _check_choice(size: int, draws: int, replace: bool) -> None:
    if not draws:
        return
    if size <= 0:
        raise ValueError(
            "random.choice: a must be greater than 0 unless no samples are taken, got "
            f"{size} elements for {draws} samples"
        )
    if not replace and draws > size:
        raise ValueError(
            f"random.choice: Cannot take a larger sample (size {draws}) than "
            f"population (size {size}) when 'replace=False'"
        )


def _probabilities(p: Any, size: int) -> Any:
    (p,) = arguments.floats("choice", p)
    got = avals.aval_of(p).shape
    if got != (size,):
        raise ValueError(
            "random.choice: p must be None or a 1D vector with the same size as "
            f"a.shape[axis], {size}, got shape {got}; give one probability for each "
            "element"
        )
    return p


@one_program
def _choose(
    key: Any, *p: Any, size: int, shape: Any, axis: int, replace: bool, high: bool
) -> Any:
    return _draw_positions(key, p, size, shape, replace, high)


@one_program
def _choose_from(
    key: Any,
    a: Any,
    *p: Any,
    size: int,
    shape: Any,
    axis: int,
    replace: bool,
    high: bool,
) -> Any:
    if p or replace:
        return _take(a, _draw_positions(key, p, size, shape, replace, high), axis)
    if avals.aval_of(a).ndim == 1:
        shuffled = _shuffle(key, a, axis)
    else:
        shuffled = _take(a, _draw_order(key, size), axis)
    first = concatenation.slice_in_dim(shuffled, 0, math.prod(shape), axis=axis)
    whole = avals.aval_of(a).shape
    return shaping.reshape(first, whole[:axis] + shape + whole[axis + 1 :])


def _draw_positions(
    key: Any, p: Any, size: int, shape: Any, replace: bool, high: bool
) -> Any:
    """Positions below `size`, with the probabilities `p` where they are given."""
    index = dtypes.canonicalize_dtype(int)
    count = math.prod(shape)
    if not count:
        return shaping.full(shape, 0, index)
    if p and replace:
        return ew.convert(_choose_by_sum(key, p[0], shape), index)
    if p:
        order = ew.add(draw_gumbel(key, (size,), _dtype(p[0]), high), ew.log(p[0]))
        return shaping.reshape(ew.convert(sorting.top_k(order, count)[1], index), shape)
    if replace:
        return draw_integers(key, shape, number(0, index), number(size, index), index)
    return shaping.reshape(
        concatenation.slice_in_dim(_draw_order(key, size), 0, count), shape
    )


def _choose_by_sum(key: Any, p: Any, shape: Any) -> Any:
    """Positions by where uniform numbers fall among the sums of `p`."""
    dtype = _dtype(p)
    sums = cumulative.cumsum(p)
    total = concatenation.index_in_dim(sums, -1, keepdims=False)
    u = ew.sub(number(1, dtype), draw_uniform(key, shape, dtype))
    return searching.searchsorted(sums, ew.mul(total, u))


def _dtype(x: Any) -> Any:
    return avals.aval_of(x).dtype


# -- categories ------------------------------------------------------------------------


@promotion.divides_result("random.categorical")
def categorical(
    key: KeyArray,
    logits: ArrayLike,
    axis: int = -1,
    shape: int | Shape | None = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Placement = None,
) -> Array:
    """Categories chosen by the logarithms of their probabilities.

    Args:
      key: one key.
      logits: floats; logarithms of probabilities, up to a constant.
      axis: the axis of the categories.
      shape: shape of the result; it ends with that of `logits` without the axis, and
        what comes before says how often to draw. Default: once.
      replace: whether a category may be drawn again.
      mode: how Gumbel numbers are drawn; see `gumbel`.
      out_sharding: how the result is divided over a mesh.

    Returns:
      Integers [*shape], positions along the axis.

    Raises:
      ValueError: the shape does not fit, there are too few categories to draw without
        replacement, or several keys are given.

    Source: the largest of logits plus Gumbel numbers; without replacement the largest
      k (Kool, van Hoof and Welling, "Stochastic beams and where to find them", 2019).

    Example:
      >>> import numpy as np
      >>> from olympus import random
      >>> random.categorical(random.PRNGKey(1), np.float32([.1, .2, .7]), shape=(5,))
      Array([2, 1, 0, 0, 2], dtype=int32)
    """
    key = keys.single_key("categorical", key)
    aval = avals.aval_of(logits)
    arguments.float_dtype("categorical", aval.dtype)
    axis = sizes.canonicalize_axis(axis, aval.ndim, "random.categorical")
    batch = aval.shape[:axis] + aval.shape[axis + 1 :]
    shape = batch if shape is None else arguments.shape_of("categorical", shape)
    arguments.check_broadcast("categorical", shape, batch)
    high = high_gumbel("categorical", mode)
    prefix = len(shape) - len(batch)
    if replace:
        return _categorical(
            key, logits, axis=axis, shape=shape, prefix=prefix, high=high
        )
    count = math.prod(shape[:prefix])
    if count > aval.shape[axis]:
        raise ValueError(
            "random.categorical: number of samples without replacement must not exceed "
            f"the number of categories, got {count} samples of {aval.shape[axis]}; "
            "draw with replace=True"
        )
    return _distinct(key, logits, axis=axis, shape=shape, prefix=prefix, high=high)


@one_program
def _categorical(
    key: Any, logits: Any, *, axis: int, shape: Any, prefix: int, high: bool
) -> Any:
    aval = avals.aval_of(logits)
    drawn = list(shape)
    drawn.insert(prefix + axis, aval.shape[axis])
    dtype = dtypes.canonicalize_dtype(aval.dtype)
    noise = draw_gumbel(key, tuple(drawn), dtype, high)
    logits = ew.convert(logits, dtype)
    scores = ew.add(noise, arguments.spread(logits, tuple(drawn)))
    return reductions.argmax(scores, prefix + axis, dtypes.canonicalize_dtype(int))


@one_program
def _distinct(
    key: Any, logits: Any, *, axis: int, shape: Any, prefix: int, high: bool
) -> Any:
    aval = avals.aval_of(logits)
    count = math.prod(shape[:prefix])
    scores = ew.add(logits, draw_gumbel(key, aval.shape, aval.dtype, high))
    _, positions = sorting.top_k(scores, count, axis=axis)
    order = (axis, *[i for i in range(aval.ndim) if i != axis])
    first = shaping.transpose(positions, order)
    return shaping.reshape(first, shape)
