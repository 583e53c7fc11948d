"""`make_olympuspr` and `eval_shape`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.api import jit as jit_
from olympus._src.api import jit_function, parameters, shapes
from olympus._src.core import ir, trace
from olympus._src.core.array_type import PyTree
from olympus._src.foundation import source_info, tracebacks

current = trace.current


def make_olympuspr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that traces `fun` and returns its program.

    Args:
      fun: a function of arrays and pytrees of them.
      static_argnums: positions of arguments that are Python values.
      axis_env: pairs of the name and size of mapped axes `fun` may refer to.
      return_shape: also return the `ShapeDtypeStruct`s of the result.

    Returns:
      A function of `fun`'s arguments (or descriptions of them) that returns a
      `ClosedOlympuspr`, or a pair of it and the result's description.

    Raises:
      TypeError: `fun` is not callable.

    Example:
      >>> import olympus
      >>> olympus.make_olympuspr(lambda x: x * x)(2.0)
      { lambda ; a:f32[]. let b:f32[] = mul a a in (b,) }
    """
    parameters.check_callable("make_olympuspr", fun)
    jitted: Any = jit_.jit(fun, static_argnums=static_argnums)
    named = _axes(axis_env)

    @tracebacks.api_boundary
    def traced_program(*args: Any, **kwargs: Any) -> Any:
        outer = current.axis_env
        current.axis_env = (*outer, *named)
        try:
            traced = jitted.trace_afresh(*args, **kwargs)
        finally:
            current.axis_env = outer
        program: ir.ClosedOlympuspr = traced.olympuspr
        return (program, traced.out_info) if return_shape else program

    name = source_info.function_name(fun)
    traced_program.__name__ = traced_program.__qualname__ = f"make_olympuspr({name})"
    traced_program.__wrapped__ = fun  # type: ignore[attr-defined]
    return traced_program


def _axes(axis_env: Any) -> tuple[tuple[Any, int], ...]:
    """Pairs of the name and size of axes."""
    pairs = axis_env.items() if isinstance(axis_env, dict) else axis_env or ()
    try:
        return tuple([(name, size.__index__()) for name, size in pairs])
    except (TypeError, ValueError, AttributeError):
        raise TypeError(
            "make_olympuspr: axis_env must be pairs of the name and size of axes, as "
            f"[('i', 4)], got {axis_env!r}"
        ) from None


def eval_shape(fun: Callable[..., Any], *args: PyTree, **kwargs: PyTree) -> PyTree:
    """The shapes and dtypes of `fun`'s results, without computing them.

    Args:
      fun: a function of arrays and pytrees of them.
      *args, **kwargs: arrays, or `ShapeDtypeStruct`s in their place.

    Returns:
      A `ShapeDtypeStruct` for each result, in the result's structure.

    Example:
      >>> import olympus, olympus.numpy as onp
      >>> olympus.eval_shape(lambda x: x[:, 0], onp.ones((3, 2)))
      ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    if isinstance(fun, jit_function.JitFunction):
        return fun.eval_shape(*args, **kwargs)
    parameters.check_callable("eval_shape", fun)
    described = _Described(fun)
    jitted = jit_.without_options(described)
    return described.restore(jitted.eval_shape_afresh(*args, **kwargs))


class _Described:
    """A function whose results may be descriptions of arrays, in place of arrays."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        source_info.update_wrapper(self, fun)
        self._structs: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]
        leaves, structure = tree.tree_flatten(result)
        is_struct = [type(x) is shapes.ShapeDtypeStruct for x in leaves]
        if not any(is_struct):
            return result
        pairs = list(zip(leaves, is_struct, strict=True))
        self._structs = [x if s else None for x, s in pairs]
        return structure.unflatten([0.0 if s else x for x, s in pairs])

    def restore(self, result: Any) -> Any:
        """What describes the result, with the descriptions that the function gave."""
        if not self._structs:
            return result
        leaves, structure = tree.tree_flatten(result)
        pairs = zip(leaves, self._structs, strict=True)
        return structure.unflatten([x if s is None else s for x, s in pairs])
