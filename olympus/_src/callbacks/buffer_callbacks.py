"""`buffer_callback`: Python functions that work on the memory of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src import tree
from olympus._src.callbacks import callback as host
from olympus._src.callbacks import foreign_calls, vmap_methods
from olympus._src.callbacks.host_calls import io_effect
from olympus._src.core import avals as avals_
from olympus._src.core import effects, ir
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.foundation import source_info
from olympus._src.programs import inner_programs


class _OnBuffers:
    """A user's function with flat buffers.

    Args:
      fun: takes the context, buffers of results in their structure, and arguments.
      in_tree, out_tree: the structures of `(args, kwargs)` and of the results.
    """

    __slots__ = ("fun", "in_tree", "out_tree")

    def __init__(self, fun: Callable[..., None], in_tree: Any, out_tree: Any) -> None:
        self.fun = fun
        self.in_tree = in_tree
        self.out_tree = out_tree

    def __call__(self, context: Any, *buffers: Any) -> None:
        n = self.in_tree.num_leaves
        args, kwargs = self.in_tree.unflatten(buffers[:n])
        result = self.fun(
            context, self.out_tree.unflatten(buffers[n:]), *args, **kwargs
        )
        if result is not None:
            raise TypeError(
                f"buffer_callback: {self!r} must return None and write into the "
                f"buffers of its results, got {inner_programs.value_text(result)}"
            )

    def __repr__(self) -> str:
        return source_info.function_name(self.fun)


def _abstract(*args: Any, result_avals: Any, **params: Any) -> Any:
    return result_avals


def _effects(*args: Any, has_side_effect: bool, **params: Any) -> Any:
    return frozenset((io_effect,)) if has_side_effect else effects.no_effects


def _jvp(primals: Any, tangents: Any, **params: Any) -> Any:
    raise ValueError(
        "buffer_callback: a callback has no derivative; define one by wrapping the "
        "call in olympus.custom_jvp or olympus.custom_vjp"
    )


def _lower(
    ctx: Any, *operands: str, callback: Any, input_output_aliases: Any, **params: Any
) -> Any:
    return host.lower_buffer_call(ctx, operands, callback, input_output_aliases)


def _batch(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
    def widen(size: int, args: Any) -> dict[str, Any]:
        wider = [a.with_leading_axis(size) for a in params["result_avals"]]
        foreign_calls.check_aliases(
            "buffer_callback under vmap",
            dict(params["input_output_aliases"]),
            [avals_.aval_of(x) for x in args],
            wider,
        )
        return {"result_avals": tuple(wider)}

    what = "buffer_callback", "the callback"
    return vmap_methods.batch(buffer_callback_p, what, axis, args, dims, params, widen)


def _print(eqn: ir.Eqn) -> Any:
    shown = ("callback", "has_side_effect", "result_avals", "vmap_method")
    return [(k, eqn.params[k]) for k in shown]


buffer_callback_p = Primitive(
    "buffer_callback",
    multiple_results=True,
    abstract=_abstract,
    effects=_effects,
    lower=_lower,
    jvp=_jvp,
    batch=_batch,
    print=_print,
    needs_full_build=True,
)


def buffer_callback(
    callback: Callable[..., None],
    result_shape_dtypes: PyTree,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: dict[int, int] | None = None,
    command_buffer_compatible: bool = False,
) -> Callable[..., Any]:
    """A function that calls a Python function on the memory of its results.

    Unlike those of `pure_callback`, results are not copied: the callback writes into
    the buffers that it is given.

    Args:
      callback: takes an `ExecutionContext`, the buffers of the results in the structure
        of `result_shape_dtypes`, and the arguments as buffers that must not be written.
        `numpy.asarray(buffer)` is the memory on the CPU; others read `__dlpack__`. The
        buffers end with the call. It returns None.
      result_shape_dtypes: the type of the result: `ShapeDtypeStruct`s in its structure.
      has_side_effect: the call must happen even if its result is unused.
      vmap_method: what `vmap` does, as for `pure_callback`.
      input_output_aliases: numbers of arguments (of their leaves) whose memory results
        may use, and the numbers of those; such results begin with the argument's value.
      command_buffer_compatible: has an effect on GPUs only: the callback may be part of
        a recorded sequence of kernels.

    Returns:
      A function of trees of arrays.

    Raises:
      OlympusRuntimeError: the callback raised an error, which is the cause.

    Example:
      >>> import numpy as np
      >>> import olympus
      >>> import olympus.numpy as onp
      >>> from olympus.experimental.buffer_callback import buffer_callback
      >>> def double(context, out, x):
      ...     np.multiply(x, 2, out=np.asarray(out))
      >>> kind = olympus.ShapeDtypeStruct((3,), 'float32')
      >>> olympus.jit(buffer_callback(double, kind))(onp.arange(3.0))
      Array([0., 2., 4.], dtype=float32)
    """
    del command_buffer_compatible
    host.check_callback("buffer_callback", callback)
    vmap_methods.check("buffer_callback", vmap_method)
    kinds, structure = foreign_calls.result_types(
        "buffer_callback", result_shape_dtypes
    )

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.tree_flatten((args, kwargs))
        inner_programs.check_operands("buffer_callback", "arguments", (args, kwargs))
        ins = [avals_.aval_of(x) for x in leaves]
        outs = buffer_callback_p.bind(
            *leaves,
            callback=_OnBuffers(callback, in_tree, structure),
            result_avals=kinds,
            has_side_effect=bool(has_side_effect),
            vmap_method=vmap_method,
            input_output_aliases=foreign_calls.check_aliases(
                "buffer_callback", input_output_aliases or {}, ins, kinds
            ),
        )
        return structure.unflatten(outs)

    return call
