"""Arguments of swept functions: numbers of double precision, the same at every run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A function of arrays, and where it is swept."""

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]


def numbers(*shape: int, low: float = 0.3, high: float = 0.9, seed: int = 0) -> Any:
    """Numbers in a range where nearly all functions are smooth."""
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape)


def signed(*shape: int, seed: int = 0) -> Any:
    """Different numbers of both signs, none near another, zero or a whole number."""
    n = int(np.prod(shape))
    order = np.random.default_rng((seed, *shape)).permutation(n)
    return ((order - n // 2) * 0.4 + 0.17).reshape(shape)


def parts(*shape: int, seed: int = 0) -> Any:
    """Complex numbers off the axes."""
    return numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 1)


class each:
    """A call that several functions share: `each(lambda f, x: f(x, axis=1))`."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)


def words(text: str) -> set[str]:
    return set(text.split())


def table(module: Any, entries: dict[str, Any]) -> list[Case]:
    """Cases from `name: (args)`, `name: (function, args)` or a list of such."""
    cases = []
    for names, given in entries.items():
        for name in names.split():
            for entry in given if isinstance(given, list) else [given]:
                own = getattr(module, name)
                f, *args = entry if callable(entry[0]) else (own, *entry)
                if isinstance(f, each):
                    f = functools.partial(f.call, own)
                cases.append(Case(name, f, tuple(args)))
    return cases
