"""Names for parts of programs, and evaluation in the middle of tracing."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar, cast

from olympus._src.core import trace
from olympus._src.foundation import source_info

current = trace.current


F = TypeVar("F", bound=Callable[..., Any])


class _Block:
    """A context manager that also decorates functions."""

    __slots__ = ()

    def __call__(self, fun: F) -> F:
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return fun(*args, **kwargs)

        source_info.update_wrapper(inside, fun)
        return cast("F", inside)

    def _again(self) -> Any:
        raise NotImplementedError


class named_scope(_Block):
    """Names the operations that are traced inside, in lowered programs and profiles.

    Args:
      name: the name; names of nested blocks are joined by a slash.

    Raises:
      TypeError: `name` is not a string.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> @olympus.jit
      ... def f(x):
      ...     with olympus.named_scope("layer"):
      ...         return lax.mul(x, x)
      >>> "layer/mul" in f.lower(np.float32(2)).as_text(debug_info=True)
      True
    """

    __slots__ = ("_outer", "name")

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(
                f"named_scope: name must be a string, got {name!r}; pass its name"
            )
        self.name = name

    def _again(self) -> named_scope:
        return named_scope(self.name)

    def __enter__(self) -> None:
        self._outer = current.scope
        current.scope = (*self._outer, self.name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        current.scope = self._outer


def named_call(fun: F, *, name: str | None = None) -> F:
    """A function whose operations are traced in a `named_scope`.

    Args:
      fun: any function.
      name: the scope's name; None for the function's own.

    Example:
      >>> import olympus
      >>> from olympus import lax
      >>> double = olympus.named_call(lambda x: lax.mul(x, 2.0), name="double")
      >>> double(3.0)
      Array(6., dtype=float32, weak_type=True)
    """
    return named_scope(name or source_info.function_name(fun))(fun)


class _Folding(trace.Trace):
    """Applies operations on known values immediately, and stages those on others."""

    __slots__ = ()
    is_adopted = False

    def process(self, p: Any, args: tuple[Any, ...], params: Any) -> Any:
        known = not any(isinstance(x, trace.Tracer) for x in args)
        current.trace = trace.base() if known else self.parent
        try:
            return p.bind(*args, **params)
        finally:
            current.trace = self

    def lift_number(self, x: Any) -> Any:
        return x


class ensure_compile_time_eval(_Block):
    """A context manager in which operations run immediately, also during tracing.

    Operations on traced values are staged as usual.

    Example:
      >>> import olympus, numpy as np
      >>> from olympus import lax
      >>> @olympus.jit
      ... def f(x):
      ...     with olympus.ensure_compile_time_eval():
      ...         n = int(lax.add(np.int32(2), np.int32(3)))  # a number while tracing
      ...     return lax.mul(x, float(n))
      >>> f(2.0)
      Array(10., dtype=float32, weak_type=True)
    """

    __slots__ = ("_outer",)

    def _again(self) -> ensure_compile_time_eval:
        return ensure_compile_time_eval()

    def __enter__(self) -> None:
        self._outer = current.trace
        if self._outer is not trace.base():
            current.trace = _Folding(self._outer)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        current.trace = self._outer
