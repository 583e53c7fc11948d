"""Questions about the trace around a call, and about values, for libraries."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from olympus._src.core import array_type, dtypes, ir, trace
from olympus._src.core import avals as avals_
from olympus._src.core import effects as effects_
from olympus._src.core.array_type import DTypeLike
from olympus._src.foundation import errors
from olympus._src.interpreters import evaluate


class TraceTag:
    """What an interpreter and its tracers know each other by."""

    __slots__ = ("__weakref__",)


class OpaqueTraceState:
    """Which trace was current; equal to another if that was the same.

    Args:
      trace_ref: a weak reference to the trace.
    """

    __slots__ = ("_trace_ref",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trace_ref: weakref.ref[Any]) -> None:
        self._trace_ref = trace_ref

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpaqueTraceState):
            return False
        return self._trace_ref is other._trace_ref or (
            self._trace_ref() is not None and self._trace_ref() is other._trace_ref()
        )


def get_opaque_trace_state(convention: str | None = None) -> OpaqueTraceState:
    """Which trace is current, to be compared with another time.

    Args:
      convention: has no effect.

    Example:
      >>> import olympus
      >>> from olympus.extend import core
      >>> outside = core.get_opaque_trace_state()
      >>> outside == core.get_opaque_trace_state()
      True
      >>> _ = olympus.jit(lambda: print(outside == core.get_opaque_trace_state()))()
      False
    """
    del convention
    return OpaqueTraceState(weakref.ref(trace.current.trace))


def find_top_trace(_: Any) -> Any:
    """The current trace; its argument has no effect."""
    return trace.current.trace


def unsafe_am_i_under_a_jit_DO_NOT_USE() -> bool:
    """Whether the operations of a call are being recorded, as under `jit`."""
    return evaluate.is_staging()


# -- values ----------------------------------------------------------------------------


def valid_jaxtype(x: Any) -> bool:
    """Whether a value may be an operand: an array, a traced value, a number."""
    try:
        avals_.aval_of(x)
    except (TypeError, OverflowError):
        return False
    return True


def concrete_or_error(
    force: Callable[[Any], Any] | None, val: Any, context: str = ""
) -> Any:
    """A value that is not traced.

    Args:
      force: makes the result of it, as `int` does; None for the value itself.
      val: the value.
      context: what the error says of why it is needed.

    Raises:
      ConcretizationTypeError: it is traced.

    Example:
      >>> from olympus.extend import core
      >>> core.concrete_or_error(int, 3.2)
      3
    """
    if isinstance(val, trace.Tracer):
        reason = f"\n{context}" if context else ""
        raise val.refusal(
            errors.ConcretizationTypeError,
            "Abstract tracer value encountered where concrete value is expected: "
            f"traced array with shape {val.aval.str_long()}{reason}",
        )
    return val if force is None else force(val)


def primal_dtype_to_tangent_dtype(primal_dtype: DTypeLike) -> Any:
    """The dtype of tangents of values of a dtype.

    Example:
      >>> from olympus.extend import core
      >>> core.primal_dtype_to_tangent_dtype('float16')
      dtype('float16')
    """
    dtype = dtypes.canonicalize_dtype(primal_dtype, allow_extended_dtype=True)
    return avals_.ShapedArray((), dtype).to_tangent().dtype


class Token:
    """What keeps effects in order, as a value.

    Args:
      buf: an array that is there when the effects before are done.
    """

    __slots__ = ("_buf",)

    def __init__(self, buf: Any) -> None:
        self._buf = buf

    def block_until_ready(self) -> None:
        """Waits for them."""
        self._buf.block_until_ready()


_NARROW = [
    getattr(ml_dtypes, name)
    for name in dir(ml_dtypes)
    if isinstance(getattr(ml_dtypes, name), type)
    and dtypes.is_supported(np.dtype(getattr(ml_dtypes, name)))
]
# Types of values, besides Python's numbers, that operations take.
array_types: set[type] = {
    np.ndarray,
    *array_type.concrete_types(),
    *[np.dtype(code).type for code in "?bhilqBHILQefdFD"],
    *_NARROW,
}


# -- programs --------------------------------------------------------------------------


def gensym() -> Callable[[Any], ir.Var]:
    """What makes a new variable of a type."""
    return ir.Var


def new_olympuspr_eqn(
    invars: Sequence[Any],
    outvars: Sequence[Any],
    primitive: Any,
    params: dict[str, Any],
    effects: Any = effects_.no_effects,
    source_info: Any = None,
    ctx: Any = None,
) -> ir.Eqn:
    """An equation.

    Args:
      invars, outvars: operands and results.
      primitive, params, effects: what is applied.
      source_info: where, from another equation's `source`.
      ctx: has no effect.
    """
    del ctx
    place = getattr(source_info, "traceback", source_info)
    return ir.Eqn(
        primitive,
        list(invars),
        list(outvars),
        dict(params),
        frozenset(effects),
        place,
    )


def subolympusprs(olympuspr: ir.Olympuspr) -> Iterator[ir.Olympuspr]:
    """The programs among the parameters of a program's equations."""
    for eqn in olympuspr.eqns:
        yield from ir.subprograms(eqn.params)
