"""A partial application that is a tree: its bound arguments are its children."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from olympus._src.tree.registry import register_pytree_node


class _Opaque:
    """Hides that a function is a partial, which functools.partial would merge with.

    The bound arguments of the inner partial stay part of the function, so they are
    static and never traced.
    """

    __slots__ = ("fun",)

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        return self.fun

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Opaque) and self.fun == other.fun

    def __hash__(self) -> int:
        return hash(self.fun)

    def __repr__(self) -> str:
        return repr(self.fun)


class Partial(functools.partial):
    """A `functools.partial` that transformations take as an argument.

    Its function is part of the structure. Its bound arguments are leaves: they are
    traced, differentiated and mapped like any other.

    Args:
      func: the function; if it is a partial, that partial's arguments stay static.
      *args: its first arguments, trees of arrays.
      **kw: keyword arguments, trees of arrays.

    Example:
      >>> from olympus import tree
      >>> from olympus.tree_util import Partial
      >>> scale = Partial(lambda factor, x: factor * x, 3.0)
      >>> tree.map(lambda leaf: leaf + 1, scale)(2.0)
      8.0
    """

    def __new__(cls, func: Callable[..., Any], *args: Any, **kw: Any) -> Partial:
        """Does not merge with a partial that is passed as the function."""
        if isinstance(func, functools.partial):
            func = _Opaque(func)
        return super().__new__(cls, func, *args, **kw)


Partial.__module__ = "olympus.tree_util"


def _apply(func: Callable[..., Any], children: Iterable[Any]) -> Partial:
    args, keywords = children
    return Partial(func, *args, **keywords)


register_pytree_node(
    Partial,
    lambda p: ((p.args, p.keywords), p.func),
    _apply,
)
