"""The stages of library functions: `numpy.cos.lower(x)` without a `jit` around it."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable
from typing import Any

from olympus._src.api.jit import jit

# Parameters of these types are arrays; all others are static.
_ARRAYS = re.compile(
    r"\b(Array|Arrays|ArrayLike|OptionalArray|Indices|Matrices|PyTree)\b"
)

_jitted: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def apply(
    function: Callable[..., Any], stage: str, args: tuple[Any, ...], kwargs: Any
) -> Any:
    """A stage of a function, jitted with all that is no array as static arguments.

    Args:
      function: a function of the library.
      stage: 'trace', 'lower' or 'eval_shape'.
      args, kwargs: of the stage.
    """
    jitted = _jitted.get(function)
    if jitted is None:
        jitted = _jitted[function] = jit(
            function, static_argnames=_static_names(function)
        )
    return getattr(jitted, stage)(*args, **kwargs)


def _static_names(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        [
            p.name
            for p in parameters
            if not _ARRAYS.search(str(p.annotation))
            and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        ]
    )
