"""Loops for users that are made of `scan` and `while`: `fori_loop` and `map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.control_flow import scan, while_loop
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes
from olympus._src.core.array_type import ArrayLike, PyTree
from olympus._src.foundation import config, errors, source_info
from olympus._src.interpreters import batching
from olympus._src.lax import concatenation, elementwise, families, shaping
from olympus._src.programs import inner_programs


def fori_loop(
    lower: ArrayLike,
    upper: ArrayLike,
    body_fun: Callable[[Any, Any], Any],
    init_val: PyTree,
    *,
    unroll: int | bool | None = None,
    max_steps: int | None = None,
    checkpoints: int | str = "all",
) -> PyTree:
    """Applies `body_fun(i, carry)` for each integer from `lower` up to `upper`.

    With concrete bounds the number of steps is known and the loop is a `scan`, which
    can be differentiated in reverse; otherwise it is a `while_loop`, which needs
    `max_steps` for that.

    Args:
      lower: integer scalar, the first index.
      upper: integer scalar of the same dtype; the last index is one less.
      body_fun: takes the index and the carry, returns the next carry. The index is like
        Python's integers are where both bounds are concrete.
      init_val: the first carry, an array or a tree of arrays.
      unroll: steps to write out in each turn of the compiled loop, or True for all;
        needs concrete bounds.
      max_steps: the maximal number of steps, after which the loop stops.
      checkpoints: what the gradient keeps of the steps; see `while_loop`. With concrete
        bounds it needs no `max_steps`.

    Returns:
      The last carry; `init_val` where there are no steps.

    Raises:
      TypeError: bounds are not integers or differ in dtype, or the carry changes type.
      ValueError: `unroll` with bounds that are traced or with `checkpoints`, or
        `checkpoints` with bounds that are traced and without `max_steps`.

    Example:
      >>> from olympus import lax
      >>> lax.fori_loop(0, 5, lambda i, total: total + i, 0)
      Array(10, dtype=int32, weak_type=True)
    """
    inner_programs.check_callable("fori_loop", body_fun=body_fun)
    dtype = _index_dtype(lower, upper)
    if not isinstance(init_val, (int, float, complex)):
        inner_programs.flatten_operands("fori_loop", "init_val", init_val)
    bounds = _concrete_bounds(lower, upper)
    if bounds is not None and all(map(_is_default, bounds)):
        (lower, upper), dtype = bounds, dtypes.canonicalize_dtype(int)
    max_steps, _ = while_loop.checked_bound("fori_loop", max_steps, checkpoints)
    if bounds is not None:
        steps = max(bounds[1] - bounds[0], 0)
        steps = steps if max_steps is None else min(steps, max_steps)
        if config.jit_disabled() and not steps:
            return init_val
        if checkpoints == "all":
            return _run_as_scan(_index(lower, dtype), body_fun, init_val, steps, unroll)
        max_steps = steps
    if unroll is not None and unroll is not False and unroll != 1:
        with_, cure = "traced ones", "mark the bounds static"
        if bounds is not None:
            with_, cure = f"checkpoints={checkpoints!r}", "leave checkpoints out"
        raise ValueError(
            f"fori_loop: unroll needs concrete bounds, got unroll={unroll!r} with "
            f"{with_}; {cure}, or leave unroll out"
        )
    init = (_index(lower, dtype), _index(upper, dtype), init_val)
    _, _, result = while_loop.while_loop(
        _has_steps_left,
        _counting_body(body_fun),
        init,
        max_steps=max_steps,
        checkpoints=checkpoints,
    )
    return result


def _run_as_scan(
    start: Any, body_fun: Any, init_val: Any, steps: int, unroll: Any
) -> Any:
    """The loop as a scan over no arrays."""
    unroll = 1 if unroll is None else unroll
    init = (start, init_val)
    body = _step_function(body_fun)
    return scan.scan(body, init, None, length=steps, unroll=unroll)[0][1]


def _has_steps_left(carry: Any) -> Any:
    i, upper, _ = carry
    return elementwise.lt(i, upper)


def _named_like(wrapper: Any, fun: Any) -> Any:
    wrapper.__wrapped__ = fun
    wrapper.__name__ = source_info.function_name(fun)
    return wrapper


def _counting_body(body_fun: Any) -> Any:
    def step(carry: Any) -> Any:
        i, upper, value = carry
        return _next(i), upper, _call_body(body_fun, i, value)

    return _named_like(step, body_fun)


def _call_body(body_fun: Any, i: Any, value: Any) -> Any:
    try:
        return body_fun(i, value)
    except TypeError as error:
        if inner_programs.was_refused(error):
            names = " (i, carry)"
            raise inner_programs.wrong_count(
                "fori_loop", body_fun, error, 2, names
            ) from None
        raise


def _step_function(body_fun: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        i, value = carry
        return (_next(i), _call_body(body_fun, i, value)), None

    return _named_like(step, body_fun)


def _next(i: Any) -> Any:
    aval = avals_.aval_of(i)
    return elementwise.add(i, 1 if aval.weak_type else np.ones((), aval.dtype)[()])


def _index_dtype(lower: Any, upper: Any) -> Any:
    """The dtype that both bounds have; None for Python integers of either bound."""
    for name, x in (("lower", lower), ("upper", upper)):
        if not avals_.is_array_like(x) or avals_.aval_of(x).shape:
            kind = avals_.aval_of(x).short() if avals_.is_array_like(x) else repr(x)
            raise TypeError(
                f"fori_loop: {name} must be an integer scalar, got {kind}; pass an int"
            )
    low, high = avals_.aval_of(lower), avals_.aval_of(upper)
    for name, aval in (("lower", low), ("upper", high)):
        if not dtypes.issubdtype(aval.dtype, np.integer):
            raise TypeError(
                f"fori_loop: {name} must be an integer scalar, got {aval.short()}; "
                "convert it with int or astype"
            )
    if low.dtype == high.dtype:
        return low.dtype
    if low.weak_type != high.weak_type:
        return high.dtype if low.weak_type else low.dtype
    raise TypeError(
        f"fori_loop: lower and upper must have equal dtypes, got {low.short()} and "
        f"{high.short()}; convert one of them with astype"
    )


def _is_default(bound: int) -> bool:
    """Whether a bound is an integer of the default dtype, as Python's integers are."""
    limits = np.iinfo(dtypes.canonicalize_dtype(int))
    return bool(limits.min <= bound <= limits.max)


def _index(bound: Any, dtype: Any) -> Any:
    if avals_.aval_of(bound).dtype == dtype:
        return bound
    return elementwise.convert(bound, dtype)


def _concrete_bounds(lower: Any, upper: Any) -> tuple[int, int] | None:
    try:
        return int(lower), int(upper)
    except (TypeError, errors.InconclusiveDimensionOperation):
        return None  # a tracer has no number, a symbolic size none that is known


def map_(
    f: Callable[[Any], Any], xs: PyTree, *, batch_size: int | None = None
) -> PyTree:
    """Applies `f` to each slice of arrays along their first axis, one after another.

    It needs less memory than `vmap`, which computes all slices at once; `batch_size`
    lies between the two.

    Args:
      f: takes a slice, returns an array or a tree of arrays.
      xs: array [length, ...] or a tree of those.
      batch_size: slices to compute at once; None or 0 for one after another.

    Returns:
      The results stacked: each [length, ...].

    Raises:
      ValueError: the arrays differ in length, or `batch_size` is negative.

    Example:
      >>> import numpy as np
      >>> from olympus import lax
      >>> lax.map(lambda x: x * x, np.arange(3))
      Array([0, 1, 4], dtype=int32)
    """
    inner_programs.check_callable("map", f=f)
    if batch_size:  # none at once is one after another
        return _map_batches(f, xs, batch_size)

    def step(_: Any, x: Any) -> Any:
        return (), f(x)

    return scan.scan(_named_like(step, f), (), xs)[1]


def _map_batches(f: Any, xs: Any, batch_size: int) -> Any:
    """`f` on batches of a size, and on the rest."""
    if batch_size < 1:
        raise ValueError(
            f"map: batch_size must be positive, got {batch_size}; leave it out to "
            "compute one slice at a time"
        )
    leaves, structure = inner_programs.flatten_operands("map", "xs", xs)
    length = scan.scan_length(xs, leaves, None)
    whole, remaining = divmod(length, batch_size)
    parts = []
    if whole:
        head = [_split_leading(x, whole, batch_size) for x in leaves]

        def step(_: Any, x: Any) -> Any:
            return (), _map_slices(f, x)

        out = scan.scan(_named_like(step, f), (), structure.unflatten(head))[1]
        flat, out_tree = tree.tree_flatten(out)
        parts.append([_join_leading(x) for x in flat])
    if remaining or not whole:
        tail = [
            concatenation.slice_in_dim(x, whole * batch_size, length) for x in leaves
        ]
        flat, out_tree = tree.tree_flatten(_map_slices(f, structure.unflatten(tail)))
        parts.append(flat)
    if len(parts) == 1:
        return out_tree.unflatten(parts[0])
    pairs = zip(*parts, strict=True)
    return out_tree.unflatten([concatenation.concatenate(p, 0) for p in pairs])


def _map_slices(f: Any, xs: Any) -> Any:
    """`f` on all slices at once."""
    leaves, structure = tree.tree_flatten(xs)
    out_tree: Any = None

    def flat(*inputs: Any) -> list[Any]:
        nonlocal out_tree
        outs, out_tree = tree.tree_flatten(f(structure.unflatten(inputs)))
        return outs

    axis = batching.AxisData(None, avals_.aval_of(leaves[0]).shape[0])
    outs, dims = batching.batch(flat, axis, leaves, [0] * len(leaves))
    outs = [families.at_front(axis, x, d) for x, d in zip(outs, dims, strict=True)]
    return out_tree.unflatten(outs)


def _split_leading(x: Any, whole: int, size: int) -> Any:
    x = concatenation.slice_in_dim(x, 0, whole * size)
    return shaping.reshape(x, (whole, size, *avals_.aval_of(x).shape[1:]))


def _join_leading(x: Any) -> Any:
    shape = avals_.aval_of(x).shape
    return shaping.reshape(x, (shape[0] * shape[1], *shape[2:]))
