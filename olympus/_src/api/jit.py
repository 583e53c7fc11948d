"""`jit`: compiles a function, once for each signature it is called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from olympus._src.api import call_placement, inlining, parameters
from olympus._src.api.jit_function import JitFunction, Options
from olympus._src.core.array_type import Placement, PyTree
from olympus._src.foundation import source_info
from olympus._src.interpreters import tiers
from olympus._src.runtime import client

if TYPE_CHECKING:
    from typing import ParamSpec, Unpack

    from olympus._src.api.callable_types import JitOptions, Jitted

    P = ParamSpec("P")

R = TypeVar("R")


@overload
def jit(fun: Callable[P, R], /, **options: Unpack[JitOptions]) -> Jitted[P, R]: ...
@overload
def jit(
    fun: None = None, /, **options: Unpack[JitOptions]
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    in_shardings: PyTree = None,
    out_shardings: PyTree = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    keep_unused: bool = False,
    device: Placement = None,
    backend: str | None = None,
    inline: bool | inlining.Inline = False,
    compiler_options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compiles a function with XLA, once for each signature it is called with.

    Args:
      fun: a function of arrays and pytrees of them.
      in_shardings, out_shardings: how arguments and results lie on devices: shardings,
        PartitionSpecs for the mesh that is set, or trees of them that are prefixes of
        the positional arguments and of the result. None leaves it to the arguments
        and to the compiler.
      static_argnums, static_argnames: arguments that are Python values, part of the
        signature; each is inferred from the other. They must be hashable.
      donate_argnums, donate_argnames: arguments whose buffers results may take over.
      keep_unused: keep unused arguments in the compiled program.
      device, backend: where to run; default the arguments' device.
      inline: splice the program into the one that calls it; or an `Inline`.
      compiler_options: XLA's options, by name; and 'tier', which is one of 'full',
        'quick' and 'auto', for this function in place of `config.compiler_tier`.

    Returns:
      A callable with `fun`'s signature, and `trace`, `lower`, `eval_shape`,
      `cache_info` and `clear_cache`.

    Raises:
      TypeError: `fun` is not callable, or an argument is not an array or static.
      RuntimeError: a sharding is a PartitionSpec, and no mesh is set.
      ValueError: static or donated arguments do not exist, or are not hashable.

    Example:
      >>> import olympus
      >>> olympus.jit(lambda x: 2 * x)(3)
      Array(6, dtype=int32, weak_type=True)
    """
    options: dict[str, Any] = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "keep_unused": keep_unused,
        "device": device,
        "backend": backend,
        "inline": inline,
        "compiler_options": compiler_options,
    }
    if fun is None:
        return lambda f: jit(f, **options)
    parameters.check_callable("jit", fun)
    if inspect.isgeneratorfunction(fun) or inspect.iscoroutinefunction(fun):
        raise TypeError(
            f"jit: {source_info.function_name(fun)} is a generator or coroutine "
            "function, "
            "which cannot be traced; return arrays instead"
        )
    if compiler_options:
        tiers.split_tier(tuple(compiler_options.items()))  # refuses wrong ones
    if (device or backend) and (in_shardings, out_shardings) != (None, None):
        raise ValueError(
            "jit: device= and backend= must be left out where in_shardings= or "
            f"out_shardings= say where to run, got {device or backend!r}; name the "
            "device by olympus.sharding.SingleDeviceSharding"
        )
    static = parameters.resolve_options(fun, "static", static_argnums, static_argnames)
    donate = parameters.resolve_options(fun, "donate", donate_argnums, donate_argnames)
    parameters.check_disjoint(static, donate)
    if static is parameters.NO_ARGUMENTS is donate:
        written: frozenset[str] = frozenset()
    else:
        chosen = [k for k in options if "arg" in k and options[k] is not None]
        written = frozenset(chosen)
    return JitFunction(
        fun,
        Options(
            written,
            static_argnums=static[0],
            static_argnames=static[1],
            donate_argnums=donate[0],
            donate_argnames=donate[1],
            keep_unused=bool(keep_unused),
            inline=inlining.is_early(inline),
            device=_device(device, backend),
            in_shardings=call_placement.as_option(in_shardings, "in_shardings"),
            out_shardings=call_placement.as_option(out_shardings, "out_shardings"),
            compiler_options=tuple(sorted((compiler_options or {}).items())),
        ),
    )


_NO_OPTIONS = Options(
    frozenset(),
    static_argnums=(),
    static_argnames=(),
    donate_argnums=(),
    donate_argnames=(),
    keep_unused=False,
    inline=False,
    device=None,
    in_shardings=call_placement.as_option(None, "in_shardings"),
    out_shardings=call_placement.as_option(None, "out_shardings"),
    compiler_options=(),
)


def without_options(fun: Callable[..., Any]) -> JitFunction:
    """`jit` of what is known to be a function that can be traced, in less time."""
    return JitFunction(fun, _NO_OPTIONS)


def _device(device: Any, backend: str | None) -> Any:
    return device if backend is None else client.devices(backend)[0]
