"""Arguments by number and by name."""

from __future__ import annotations

import inspect
from typing import Any


def infer_argnums_and_argnames(
    sig: inspect.Signature, argnums: Any, argnames: Any
) -> Any:
    """The numbers and names of arguments that are told by one of them.

    Only those have both that may be given either way. Where both are told, both stay.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    params = list(sig.parameters.values())
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if argnames is None:
        told = [params[i] for i in numbers if -len(params) <= i < len(params)]
        return numbers, tuple([p.name for p in told if p.kind is either])
    if argnums is None:
        known = [p.kind is either and p.name in names for p in params]
        return tuple([i for i, is_told in enumerate(known) if is_told]), names
    return numbers, names


__all__ = ["infer_argnums_and_argnames"]
