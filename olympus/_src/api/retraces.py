"""Why a function was traced again, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from olympus._src.api.signatures import Call, LazyNames
from olympus._src.core import trace
from olympus._src.foundation import config, logs, source_info


class Retrace:
    """One tracing of a function: why, and what it cost.

    Attributes:
      function: name and place.
      cause: in words: the argument, what it was and what it is.
      cure: what to change, where there is something.
      trace_s, lower_s, compile_s: seconds; 0 where the stage has not run.
      program_reused: whether an equal program had been compiled before.
    """

    __slots__ = (
        "call",
        "cause",
        "compile_s",
        "cure",
        "function",
        "lower_s",
        "program_reused",
        "trace_s",
    )

    def __init__(
        self,
        call: Call,
        earlier: Sequence[Retrace],
        trace_s: float,
        remade: bool = False,
    ) -> None:
        name, where = (
            source_info.function_name(call.fun),
            source_info.function_location(call.fun),
        )
        self.function = f"{name} at {where}" if where else name
        self.call = _Signature(call)
        self.cause, self.cure = _cause(self.call, [r.call for r in earlier], remade)
        self.trace_s = trace_s
        self.program_reused = False
        self.lower_s = self.compile_s = 0.0

    def __repr__(self) -> str:
        cure = f" {self.cure}" if self.cure else ""
        stages = (
            ("trace", self.trace_s),
            ("lower", self.lower_s),
            ("compile", self.compile_s),
        )
        costs = ", ".join([f"{name} {s * 1e3:.1f} ms" for name, s in stages if s])
        again = "; traced again, program reused" if self.program_reused else ""
        return f"{self.function}: {self.cause}{again}.{cure} ({costs})"


class _Signature:
    """What is kept of a call: types and names, not values."""

    __slots__ = ("avals", "axes", "names", "static", "structure")

    def __init__(self, call: Call) -> None:
        self.avals = list(call.avals)
        self.axes = trace.current.axis_env
        self.structure = call.structure
        self.static = dict((*call.static_args, *call.static_kwargs))
        self.names = LazyNames(call)


def report(record: Retrace) -> None:
    """Logs why a function was traced, if the settings ask for it."""
    if config.explain_cache_misses.value:
        logs.warning(f"TRACING CACHE MISS: {record}")


def _cause(
    new: _Signature, earlier: Sequence[_Signature], remade: bool
) -> tuple[str, str]:
    if not earlier and remade:
        return (
            "first call of a new function object, whose code was traced before",
            "Make the function once, outside of the loop, to save the trace.",
        )
    if not earlier:
        return "first call", ""
    nearest = min(reversed(earlier), key=lambda old: _distance(new, old))
    if new.structure != nearest.structure:
        return (
            f"the arguments' structure changed from {nearest.structure} to "
            f"{new.structure}",
            "Pass the same containers and keyword names each time.",
        )
    for name, value in new.static.items():
        old = nearest.static.get(name)
        if old != value or type(old) is not type(value):
            return (
                f"the static argument {name} changed from {old!r} to {value!r}",
                "Pass it as an array if the function does not branch on it.",
            )
    for i, (a, b) in enumerate(zip(new.avals, nearest.avals, strict=True)):
        if a is not b:
            return _type_cause(new.names[i], b, a)
    if new.axes != nearest.axes:
        return (
            f"the named axes around the call changed from {_axes(nearest.axes)} to "
            f"{_axes(new.axes)}",
            "Name axes of vmap only where a collective refers to them.",
        )
    return (
        "a setting that affects tracing changed, or the cache was cleared",
        "Set olympus.config once, before the first call.",
    )


def _axes(axis_env: Sequence[Any]) -> str:
    named = [f"{name!r} of size {size}" for name, size in axis_env]
    return ", ".join(named) or "none"


def _distance(new: _Signature, old: _Signature) -> int:
    if new.structure != old.structure:
        return 1_000_000
    differing = sum(a is not b for a, b in zip(new.avals, old.avals, strict=True))
    differing += new.axes != old.axes
    return differing + 1000 * sum(old.static.get(k) != v for k, v in new.static.items())


def _type_cause(name: str, old: Any, new: Any) -> tuple[str, str]:
    if old.shape != new.shape:
        return (
            f"the shape of {name} changed from {list(old.shape)} to {list(new.shape)}",
            "Pad to one shape, or expect one compilation for each shape.",
        )
    if old.dtype != new.dtype:
        return (
            f"the dtype of {name} changed from {old.dtype} to {new.dtype}",
            "Convert it to one dtype before the call.",
        )
    return (
        f"the weak type of {name} changed from {old.weak_type} to {new.weak_type}",
        "Pass an array in place of a Python number, or always a Python number.",
    )
