"""What kernels call: branches, loops and memory of their own."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from olympus._src import tree
from olympus._src.callbacks import debugging
from olympus._src.control_flow.cond import cond
from olympus._src.control_flow.loops import fori_loop
from olympus._src.core.array_type import Array, ArrayLike, DTypeLike, Placement, PyTree
from olympus._src.numpy import creation, manipulation
from olympus._src.pallas import calls
from olympus._src.refs import functions as refs

T = TypeVar("T")
N = TypeVar("N", int, Array)


def when(condition: ArrayLike, /) -> Callable[[Callable[[], None]], None]:
    """Runs the decorated function at once where a condition holds.

    Args:
      condition: boolean scalar.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> def kernel(out):
      ...     out[...] = 0
      ...     @pl.when(pl.num_programs(0) == 1)
      ...     def _():
      ...         out[...] = 7
      >>> out = olympus.ShapeDtypeStruct((), 'int32')
      >>> pl.pallas_call(kernel, out, grid=(1,))()
      Array(7, dtype=int32)
    """

    def run(fun: Callable[[], None]) -> None:
        if isinstance(condition, (bool, np.bool_)):
            if condition:
                fun()
            return
        cond(condition, fun, lambda: None)

    return run


def loop(
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    init_carry: PyTree = None,
    step: ArrayLike = 1,
    unroll: int | bool | None = None,
) -> Callable[[Callable[..., PyTree]], PyTree]:
    """Runs the decorated function for each integer from `lower` up to `upper`.

    Args:
      lower, upper: integer scalars.
      init_carry: where it is given, the function also takes what it returned before,
        this at first, and its last result is returned.
      step: positive integer, from one number to the next.
      unroll: as for `lax.fori_loop`.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> def kernel(out):
      ...     @pl.loop(0, 4, step=2)
      ...     def _(i):
      ...         out[i] = i
      ...         out[i + 1] = -i
      >>> pl.pallas_call(kernel, olympus.ShapeDtypeStruct((4,), 'int32'))()
      Array([ 0,  0,  2, -2], dtype=int32)
    """

    def run(fun: Callable[..., PyTree]) -> PyTree:
        first: Any = lower
        count = cdiv(upper - first, step)  # as many steps as begin below `upper`

        def body(i: Any, carry: Any) -> Any:
            index = first + i * step
            return fun(index) if init_carry is None else fun(index, carry)

        return fori_loop(0, count, body, init_carry, unroll=unroll)

    return run


def run_scoped(
    f: Callable[..., PyTree],
    *types: PyTree,
    collective_axes: object = (),
    **kw_types: PyTree,
) -> PyTree:
    """Calls a function with refs to memory that it alone has.

    Args:
      f: takes a ref for each type.
      *types, **kw_types: `MemorySpace.ANY(shape, dtype)`, or trees of those.
      collective_axes: accepted; memory is of one device.

    Returns:
      What `f` returns.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> def kernel(x, out):
      ...     def sums(total):
      ...         total[...] = x[...].sum()
      ...         out[...] = x[...] / total[...]
      ...     pl.run_scoped(sums, pl.ANY((), 'float32'))
      >>> x = olympus.numpy.array([1.0, 3.0])
      >>> pl.pallas_call(kernel, x)(x)
      Array([0.25, 0.75], dtype=float32)
    """
    own, named = tree.tree_map(calls.new_scratch, (types, kw_types))
    return f(*own, **named)


def with_scoped(
    *types: PyTree, collective_axes: object = (), **kw_types: PyTree
) -> Callable[[Callable[..., PyTree]], Callable[..., PyTree]]:
    """A decorator: the function's first arguments are refs, as of `run_scoped`."""

    def decorate(f: Callable[..., PyTree]) -> Callable[..., PyTree]:
        @functools.wraps(f)
        def run(*args: Any, **kwargs: Any) -> PyTree:
            def call(*refs_: Any, **named: Any) -> PyTree:
                return f(*args, *refs_, **kwargs, **named)

            return run_scoped(call, *types, **kw_types)

        return run

    return decorate


def run_state(f: Callable[[PyTree], None]) -> Callable[[PyTree], PyTree]:
    """A function of arrays, of one that changes refs: it returns what they hold last.

    Example:
      >>> import olympus
      >>> from olympus.experimental import pallas as pl
      >>> def double(ref):
      ...     ref[...] = ref[...] * 2
      >>> pl.run_state(double)(olympus.numpy.arange(3))
      Array([0, 2, 4], dtype=int32)
    """

    def run(values: PyTree) -> PyTree:
        state = tree.tree_map(lambda x: refs.new_ref(creation.asarray(x)), values)
        f(state)
        return tree.tree_map(lambda ref: ref[...], state)

    return run


# -- arrays ----------------------------------------------------------------------------


def empty(
    shape: Sequence[int], dtype: DTypeLike, *, out_sharding: Placement = None
) -> Array:
    """An array of zeros, to be written in a kernel."""
    return creation.empty(shape, dtype, out_sharding=out_sharding)


def empty_like(x: PyTree) -> PyTree:
    """`empty` for each array, or type, of a tree."""
    return tree.tree_map(lambda leaf: creation.empty(leaf.shape, leaf.dtype), x)


def empty_ref_like(x: PyTree) -> PyTree:
    """A ref for each array, or type, of a tree; it holds zeros at first."""
    return tree.tree_map(refs.empty_ref, x)


def broadcast_to(a: ArrayLike, shape: Sequence[int]) -> Array:
    """`numpy.broadcast_to`."""
    return manipulation.broadcast_to(a, shape)


def multiple_of(x: T, values: object) -> T:
    """`x`, of which the author knows that it is a multiple. Nothing depends on it."""
    return x


# -- numbers ---------------------------------------------------------------------------


def cdiv(a: N, b: N) -> N:
    """The quotient, rounded up.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.cdiv(7, 2)
      4
    """
    return (a + b - 1) // b


def align_to(a: N, alignment: N) -> N:
    """The next multiple of `alignment`, from `a` on.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.align_to(5, 4)
      8
    """
    return cdiv(a, alignment) * alignment


def next_power_of_2(x: int) -> int:
    """The least power of two that is not below `x`.

    Raises:
      ValueError: `x` is negative.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.next_power_of_2(5)
      8
    """
    x = operator.index(x)
    if x < 0:
        raise ValueError(f"next_power_of_2: x must be 0 or more, got {x}")
    return 1 << max(x - 1, 0).bit_length()


def strides_from_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """How many elements are between neighbours along each axis, rows first.

    Example:
      >>> from olympus.experimental import pallas as pl
      >>> pl.strides_from_shape((2, 3, 4))
      (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(tuple(shape)):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def debug_print(fmt: str, *args: ArrayLike) -> None:
    """`debug.print` in a kernel, of positional values."""
    if args and "{" not in fmt:
        fmt += " {}" * len(args)
    debugging.debug_print(fmt, *args)


def delay(nanos: ArrayLike) -> None:
    """Does nothing: it is for timing on accelerators."""
    del nanos
