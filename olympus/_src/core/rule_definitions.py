"""The methods by which libraries define what a primitive computes.

Each writes fields of the record, of a primitive of the library or of olympus.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from olympus._src.core import avals
from olympus._src.core import effects as effects_


class RuleDefinitions:
    """The methods `def_impl`, `def_abstract_eval`, ... of primitives."""

    __slots__ = ()

    multiple_results: bool

    def set_rule(self, field: str, rule: Any) -> None:
        """Writes a rule."""
        raise NotImplementedError

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Sets how to compute it outside of jit: `impl(*args, **params)`."""
        self.set_rule("impl", impl)
        return impl

    def def_abstract_eval(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule for its results' types: `rule(*avals, **params)`."""

        def abstract(*avals: Any, **params: Any) -> Any:
            out = rule(*avals, **params)
            self._check_avals(out)
            return out

        self.set_rule("abstract", abstract)
        return rule

    def def_effectful_abstract_eval(
        self, rule: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Sets the rule for its results' types and effects, as a pair."""

        def effects(*avals: Any, **params: Any) -> frozenset[Any]:
            inferred = frozenset(rule(*avals, **params)[1])
            for effect in inferred:
                if not isinstance(effect, effects_.Effect):
                    raise TypeError(
                        f"{self}: effects must be instances of extend.core.Effect, got "
                        f"{effect!r}; derive its class from that, and return an "
                        "instance of it"
                    )
            return inferred

        self.def_abstract_eval(lambda *avals, **params: rule(*avals, **params)[0])
        self.set_rule("effects", effects)
        return rule

    def _check_avals(self, out: Any) -> None:
        """Raises TypeError unless a rule returned the types of the results."""
        if self.multiple_results and type(out) not in (list, tuple):
            raise TypeError(
                f"{self}: its rule for abstract evaluation must return a list or tuple,"
                f" since its multiple_results is True, got {out!r} of type "
                f"{type(out).__name__}; write it so for one result too"
            )
        for aval in out if self.multiple_results else (out,):
            if not isinstance(aval, avals.AbstractValue):
                raise TypeError(
                    f"{self}: its rule for abstract evaluation must return the type of "
                    "each result, an instance of core.AbstractValue, got "
                    f"{aval!r} of type {type(aval).__name__}; return "
                    "core.ShapedArray(shape, dtype), or set multiple_results for "
                    "several results"
                )
