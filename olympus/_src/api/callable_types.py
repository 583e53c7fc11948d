"""The types of what transformations return, for type checkers only.

A jitted function is called like the function, also as a method. Its stages
(`trace`, `lower`) also take `ShapeDtypeStruct`s, so their arguments are untyped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    Self,
    TypedDict,
    TypeVar,
    overload,
)

if TYPE_CHECKING:
    from olympus._src.api import jit_cache, stages
    from olympus._src.core.array_type import Placement, PyTree

P = ParamSpec("P")
Rest = ParamSpec("Rest")
Instance = TypeVar("Instance")
R_co = TypeVar("R_co", covariant=True)


class Jitted(Protocol[P, R_co]):
    """A function that compiles itself for each signature it is called with."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    @overload
    def __get__(self, instance: None, owner: type | None = None, /) -> Self: ...
    @overload
    def __get__(
        self: Jitted[Concatenate[Instance, Rest], R_co],
        instance: Instance,
        owner: type | None = None,
        /,
    ) -> Jitted[Rest, R_co]: ...

    @property
    def __wrapped__(self) -> Callable[P, R_co]: ...
    def trace(self, *args: Any, **kwargs: Any) -> stages.Traced: ...
    def lower(self, *args: Any, **kwargs: Any) -> stages.Lowered: ...
    def eval_shape(self, *args: Any, **kwargs: Any) -> Any: ...
    def cache_info(self) -> jit_cache.CacheInfo: ...
    def clear_cache(self) -> None: ...


class JitOptions(TypedDict, total=False):
    """The keyword arguments of `jit`."""

    in_shardings: PyTree
    out_shardings: PyTree
    static_argnums: int | Sequence[int] | None
    static_argnames: str | Sequence[str] | None
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Sequence[str] | None
    keep_unused: bool
    device: Placement
    backend: str | None
    inline: bool
    compiler_options: dict[str, Any] | None
