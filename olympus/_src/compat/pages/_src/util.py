"""Small functions that libraries take from JAX."""

from __future__ import annotations

import functools
import itertools as it
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def safe_zip(*args: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The list of `zip` of sequences that must have one length."""
    return list(zip(*args, strict=True))


def safe_map(f: Callable[..., Any], *args: Iterable[Any]) -> list[Any]:
    """The list of `map` over sequences that must have one length."""
    return [f(*xs) for xs in zip(*args, strict=True)]


def unzip2(pairs: Iterable[tuple[Any, Any]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The first and the second values of pairs."""
    listed = list(pairs)
    return tuple([x for x, _ in listed]), tuple([y for _, y in listed])


def unzip3(triples: Iterable[tuple[Any, Any, Any]]) -> tuple[Any, Any, Any]:
    """The first, second and third values of triples."""
    listed = list(triples)
    return tuple([tuple([t[i] for t in listed]) for i in range(3)])  # type: ignore[return-value]


def split_list(values: Sequence[Any], counts: Sequence[int]) -> list[list[Any]]:
    """Values in groups of as many as `counts` says, and the others."""
    ends = list(it.accumulate(counts))
    starts = [0, *ends]
    return [list(values[a:b]) for a, b in zip(starts, [*ends, None], strict=True)]


def partition_list(bs: Sequence[bool], values: Sequence[Any]) -> tuple[Any, Any]:
    """The values with False, and those with True."""
    pairs = list(zip(bs, values, strict=True))
    return [x for b, x in pairs if not b], [x for b, x in pairs if b]


def merge_lists(bs: Sequence[bool], first: Sequence[Any], second: Sequence[Any]) -> Any:
    """What `partition_list` divided, in order."""
    no, yes = iter(first), iter(second)
    return [next(yes) if b else next(no) for b in bs]


def wraps(wrapped: Any, **options: Any) -> Callable[[Any], Any]:
    """`functools.wraps`."""
    return functools.wraps(wrapped)


def cache(max_size: int | None = 4096, **options: Any) -> Callable[[Any], Any]:
    """`functools.lru_cache`."""
    if callable(max_size):
        return functools.lru_cache(4096)(max_size)
    return functools.lru_cache(max_size)


class HashablePartial:
    """A function with first arguments, equal to another of the same ones."""

    def __init__(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.f, self.args, self.kwargs = f, args, kwargs

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is HashablePartial
            and self.f.__code__ == other.f.__code__
            and self.args == other.args
            and self.kwargs == other.kwargs
        )

    def __hash__(self) -> int:
        return hash((self.f.__code__, self.args, tuple(sorted(self.kwargs.items()))))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.f(*self.args, *args, **self.kwargs, **kwargs)


__all__ = [
    "HashablePartial",
    "cache",
    "merge_lists",
    "partition_list",
    "safe_map",
    "safe_zip",
    "split_list",
    "unzip2",
    "unzip3",
    "wraps",
]
