"""`pure_callback` and `io_callback`: Python functions called from compiled programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src import tree
from olympus._src.callbacks import callback as host
from olympus._src.callbacks import vmap_methods
from olympus._src.core import avals as avals_
from olympus._src.core import dtypes, effects, ir
from olympus._src.core.array_type import Placement, PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.foundation import errors
from olympus._src.interpreters import concrete_arrays, number_checks
from olympus._src.lax import sharding_rules
from olympus._src.programs import inner_programs


class IOEffect(effects.Effect):
    """A call that must happen, in any order with others."""

    __slots__ = ()
    lowerable = in_control_flow = True
    speculative = False

    def __repr__(self) -> str:
        return "IO"


class OrderedIOEffect(effects.Effect):
    """A call that must happen, in program order with others."""

    __slots__ = ()
    lowerable = in_control_flow = True
    ordered = True
    speculative = False

    def __repr__(self) -> str:
        return "OrderedIO"


io_effect = IOEffect()
ordered_io_effect = OrderedIOEffect()


def _abstract(*args: Any, result_avals: Any, **params: Any) -> Any:
    return result_avals


def _impl(what: str) -> Callable[..., Any]:
    def impl(*args: Any, callback: Any, **params: Any) -> Any:
        operands = host.as_operands(args)
        place = concrete_arrays.common_device(operands)
        try:
            outs = callback(*operands)
        except Exception as error:
            raise host.OlympusRuntimeError(
                f"{what}: the callback raised {errors.describe(error)}"
            ) from error
        results = [concrete_arrays.place_result(x, place) for x in outs]
        number_checks.check_results(what, results)
        return results

    return impl


def _refuse(what: str, lack: str) -> Callable[..., Any]:
    """A rule of differentiation that a callback cannot have."""

    def rule(*args: Any, **params: Any) -> Any:
        raise ValueError(
            f"{what}: a callback has no {lack}; define one by wrapping the call "
            "in olympus.custom_jvp or olympus.custom_vjp"
        )

    return rule


def _print(*names: str) -> Callable[[ir.Eqn], Any]:
    return lambda eqn: [(k, eqn.params[k]) for k in names]


def _lower(
    ctx: Any, *operands: str, callback: Any, sharding: Any, **params: Any
) -> Any:
    return host.lower_call(ctx, operands, callback, sharding)


# -- pure callbacks --------------------------------------------------------------------


def _pure_batch(
    axis: Any,
    args: Any,
    dims: Any,
    *,
    callback: Any,
    result_avals: Any,
    sharding: Any,
    vmap_method: Any,
) -> Any:
    def widen(size: int, args: Any) -> dict[str, Any]:
        avals = tuple(
            [avals_.ShapedArray((size, *a.shape), a.dtype) for a in result_avals]
        )
        return {"callback": callback.with_results(avals), "result_avals": avals}

    params = {
        "callback": callback,
        "result_avals": result_avals,
        "sharding": sharding,
        "vmap_method": vmap_method,
    }
    what = "pure_callback", "the callback"
    return vmap_methods.batch(pure_callback_p, what, axis, args, dims, params, widen)


pure_callback_p = Primitive(
    "pure_callback",
    multiple_results=True,
    abstract=_abstract,
    lower=_lower,
    shard=sharding_rules.whole_results,
    impl=_impl("pure_callback"),
    jvp=_refuse("pure_callback", "derivative"),
    transpose=_refuse("pure_callback", "transpose"),
    batch=_pure_batch,
    print=_print("callback", "result_avals", "sharding", "vmap_method"),
    may_make_nan=False,
    needs_full_build=True,
)

# -- callbacks with effects ------------------------------------------------------------


def _io_effects(*args: Any, ordered: bool, **params: Any) -> Any:
    return frozenset((ordered_io_effect if ordered else io_effect,))


def _io_batch(axis: Any, args: Any, dims: Any, *, ordered: bool, **params: Any) -> Any:
    if ordered:
        raise ValueError(
            "io_callback: an ordered call cannot be mapped by vmap, since elements "
            "have no order; pass ordered=False, or map with lax.map"
        )
    return vmap_methods.apply_in_turn(
        io_callback_p, args, dims, {"ordered": False, **params}
    )


io_callback_p = Primitive(
    "io_callback",
    multiple_results=True,
    abstract=_abstract,
    effects=_io_effects,
    lower=_lower,
    shard=sharding_rules.whole_results,
    impl=_impl("io_callback"),
    jvp=_refuse("io_callback", "derivative"),
    transpose=_refuse("io_callback", "transpose"),
    batch=_io_batch,
    print=_print("callback", "ordered", "result_avals", "sharding"),
    may_make_nan=False,
    needs_full_build=True,
)

# -- what users call -------------------------------------------------------------------


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: PyTree,
    *args: PyTree,
    sharding: Placement = None,
    vmap_method: str | None = None,
    **kwargs: PyTree,
) -> PyTree:
    """Calls a Python function without side effects from a compiled program.

    The call may happen any number of times, or not at all if its result is unused.

    Args:
      callback: takes arrays (on the CPU), returns arrays of the declared types.
      result_shape_dtypes: the result's type: arrays or `ShapeDtypeStruct`s in its
        structure; None for no result.
      *args: arrays, and trees of them.
      sharding: the device whose call it is in a program over a mesh, which gives it
        whole arrays; None for the first one. In `shard_map` each device calls, with
        its parts.
      vmap_method: what `vmap` does: 'sequential' (one call for each element, in a
        loop), 'sequential_unrolled' (without a loop), 'expand_dims' (one call;
        arguments that are not mapped get a leading axis of size 1), 'broadcast_all'
        (one call; all arguments get the mapped axis in front).
      **kwargs: more arrays, and trees of them.

    Returns:
      What `callback` returns, as arrays.

    Raises:
      OlympusRuntimeError: the callback raised an error, which is the cause.
      NotImplementedError: under vmap, without a `vmap_method`.

    Example:
      >>> import numpy as np, olympus
      >>> kind = olympus.ShapeDtypeStruct((2,), np.float32)
      >>> olympus.jit(lambda x: olympus.pure_callback(np.sort, kind, x))(
      ...     np.array([2, 1], np.float32))
      Array([1., 2.], dtype=float32)
    """
    host.check_callback("pure_callback", callback)
    host.check_sharding("pure_callback", sharding)
    vmap_methods.check("pure_callback", vmap_method)
    operands, flat, structure = _prepare_call(
        "pure_callback", callback, result_shape_dtypes, args, kwargs
    )
    outs = pure_callback_p.bind(
        *operands,
        callback=flat,
        result_avals=flat.out_avals,
        sharding=sharding,
        vmap_method=vmap_method,
    )
    return structure.unflatten(outs)


def io_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: PyTree,
    *args: PyTree,
    sharding: Placement = None,
    ordered: bool = False,
    **kwargs: PyTree,
) -> PyTree:
    """Calls a Python function with side effects from a compiled program.

    The call happens each time the program runs through it, also where its result is
    unused.

    Args:
      callback: takes arrays (on the CPU), returns arrays of the declared types.
      result_shape_dtypes: the result's type: arrays or `ShapeDtypeStruct`s in its
        structure; None for no result.
      *args: arrays, and trees of them.
      sharding: the device whose call it is in a program over a mesh, which gives it
        whole arrays; None for the first one. In `shard_map` each device calls, with
        its parts.
      ordered: keep the program's order among ordered calls; in `shard_map` that of
        each device, and none between devices.
      **kwargs: more arrays, and trees of them.

    Returns:
      What `callback` returns, as arrays.

    Raises:
      OlympusRuntimeError: the callback raised an error, which is the cause.
      ValueError: an ordered call under vmap.

    Example:
      >>> import olympus
      >>> from olympus.experimental import io_callback
      >>> seen = []
      >>> f = olympus.jit(lambda x: io_callback(lambda v: seen.append(int(v)), None, x))
      >>> f(3)
      >>> olympus.effects_barrier()
      >>> seen
      [3]
    """
    host.check_callback("io_callback", callback)
    host.check_sharding("io_callback", sharding)
    operands, flat, structure = _prepare_call(
        "io_callback", callback, result_shape_dtypes, args, kwargs
    )
    outs = io_callback_p.bind(
        *operands,
        callback=flat,
        result_avals=flat.out_avals,
        sharding=sharding,
        ordered=bool(ordered),
    )
    return structure.unflatten(outs)


def _prepare_call(
    what: str, callback: Any, declared: Any, args: Any, kwargs: Any
) -> tuple[list[Any], host.HostFunction, Any]:
    leaves, out_tree = tree.tree_flatten(declared)
    out_avals = tuple([declared_type(what, x) for x in leaves])
    operands, static, in_tree = host.split_arguments(args, kwargs)
    flat = host.HostFunction(callback, what, static, in_tree, out_tree, out_avals)
    return operands, flat, out_tree


def declared_type(what: str, x: Any) -> Any:
    """The type of a result that a user declares.

    Raises:
      TypeError: it has no shape or dtype.
      ValueError: its dtype is not available.
    """
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        raise TypeError(
            f"{what}: result_shape_dtypes must hold arrays or ShapeDtypeStructs, got "
            f"{inner_programs.value_text(x)}; write "
            "olympus.ShapeDtypeStruct(shape, dtype)"
        )
    dtype = x.dtype
    if not dtypes.is_extended(dtype):
        dtype = np.dtype(dtype)
        if dtypes.canonicalize_dtype(dtype) != dtype:
            raise ValueError(
                f"{what}: result_shape_dtypes must have dtypes of 32 bits or less, got "
                f"{dtype}; enable 64-bit types with "
                "olympus.config.update('olympus_enable_x64', True)"
            )
    return avals_.ShapedArray(x.shape, dtype)
