"""Questions about traces and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.api import trace_states
from olympus._src.api.value_types import pytype_aval_mappings as pytype_aval_mappings
from olympus._src.compat.pages._src.util import safe_map as safe_map
from olympus._src.compat.pages._src.util import safe_zip as safe_zip
from olympus._src.core import avals, ir, provenance, scopes, trace

# The state of the running thread; its attribute `trace` is the current interpreter.
trace_ctx = trace.current


def trace_state_clean() -> bool:
    """Whether nothing is traced at the moment."""
    return trace.current.trace is trace.base()


def get_aval(x: Any) -> Any:
    """The type of a value."""
    return avals.aval_of(x)


def full_lower(x: Any) -> Any:
    """A traced value as the value that it wraps, if it wraps one."""
    return x.full_lower() if isinstance(x, trace.Tracer) else x


def get_referent(x: Any) -> Any:
    """A traced value as its interpreter knows it: here one value is one tracer."""
    return x


def is_constant_dim(d: Any) -> bool:
    """Whether a size is a number, and not an expression of names."""
    return isinstance(d, (int, np.integer))


class JaxprEqnContext(provenance.EquationContext):
    """The settings of an equation; without arguments, of one that is recorded now."""

    __slots__ = ()

    def __init__(
        self, scope: scopes.Scope | None = None, avals: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(trace.current.scope if scope is None else scope, avals)


class _EquationType(type):
    """Has a class make equations of olympus, and know them."""

    def __call__(
        cls,
        invars: Sequence[Any],
        outvars: Sequence[Any],
        primitive: Any,
        params: dict[str, Any],
        effects: Any = frozenset(),
        source_info: Any = None,
        ctx: Any = None,
    ) -> ir.Eqn:
        return trace_states.new_olympuspr_eqn(
            invars, outvars, primitive, params, effects, source_info, ctx
        )

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, ir.Eqn)


class JaxprEqn(metaclass=_EquationType):
    """Equations, made from fields in JAX's order."""


def physical_aval(aval: Any) -> Any:
    """The type of the arrays that hold the elements of a type."""
    return getattr(aval, "storage", aval)


__all__ = [
    "JaxprEqn",
    "JaxprEqnContext",
    "full_lower",
    "get_aval",
    "get_referent",
    "is_constant_dim",
    "physical_aval",
    "safe_map",
    "safe_zip",
    "trace_ctx",
    "trace_state_clean",
]
