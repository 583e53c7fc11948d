"""`platform_dependent`: one of several functions, by where the program will run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from olympus._src.control_flow import cond as cond_
from olympus._src.core import trace
from olympus._src.core.array_type import PyTree
from olympus._src.core.primitive import Primitive
from olympus._src.interpreters import concrete_arrays
from olympus._src.programs import inner_programs


def _place(platform: str, platforms: Any) -> int:
    """The first entry that names the platform, or that names none."""
    for i, names in enumerate(platforms):
        if names is None or platform in names:
            return i
    known = ", ".join(name for names in platforms for name in names)
    raise NotImplementedError(
        f"platform_dependent: there must be a function for the platform {platform!r}, "
        f"got those for {known or 'none'}; add {platform}= or default="
    )


def _lower(ctx: Any, *, platforms: Any) -> str:
    place = _place(ctx.platform, platforms)
    name = ctx.block.constant(place, cond_.INDEX)
    ctx.block.known[name] = place
    return name


platform_index_p = Primitive(
    "platform_index",
    abstract=lambda *, platforms: cond_.INDEX,
    lower=_lower,
    impl=lambda *, platforms: np.int32(
        _place(concrete_arrays.default_platform(), platforms)
    ),
)


def platform_dependent(
    *args: PyTree,
    default: Callable[..., Any] | None = None,
    **per_platform: Callable[..., Any],
) -> PyTree:
    """Applies the function for the platform that the program is lowered for.

    All functions are traced, and only the one that is needed is lowered.

    Args:
      *args: trees of arrays.
      default: for platforms that are not named.
      **per_platform: functions by the platform's name: `cpu`, `cuda`, `rocm`, `tpu`;
        they return arrays of the same types in the same structure.

    Returns:
      What the chosen function returns.

    Raises:
      NotImplementedError: there is none for the platform, when it is lowered.
      TypeError: an argument is not a function, or they return different types.
      ValueError: a platform is named `gpu`, which may be `cuda` or `rocm`.

    Example:
      >>> from olympus import lax
      >>> lax.platform_dependent(
      ...     1.0, cpu=lambda x: x + 1.0, cuda=lambda x: x, default=lambda x: x)
      2.0
    """
    choices: dict[Any, Callable[..., Any]] = dict(per_platform)
    if "gpu" in choices:
        raise ValueError(
            "platform_dependent: platforms must be given by exact names, got gpu; use "
            "cuda or rocm"
        )
    if default is not None:
        choices[None] = default
    inner_programs.check_callable(
        "platform_dependent", **{name or "default": f for name, f in choices.items()}
    )
    platforms = tuple([None if name is None else (name,) for name in choices])
    index = platform_index_p.bind(platforms=platforms)
    branches = list(choices.values())
    if not isinstance(index, trace.Tracer):
        return branches[int(index)](*args)
    names = {name or "default": f for name, f in choices.items()}
    return cond_.choose("platform_dependent", lambda: index, names, args)
