"""Points where functions are smooth: numbers in double precision, always the same."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import olympus.numpy as jnp


class SmoothCase(NamedTuple):
    """A function of arrays, and a point about which it is smooth."""

    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]


class SharedCall:
    """A call that several functions share: `SharedCall(lambda f, x: f(x, axis=1))`."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


def smooth_case(name: str, own: Callable[..., Any], point: tuple[Any, ...]) -> Any:
    """A case of a function and its arguments, or of `(what is called, *arguments)`."""
    f, *args = point if is_call(point[0]) else (own, *point)
    if isinstance(f, SharedCall):
        f = functools.partial(f.call, own)
    return SmoothCase(name, f, tuple(args))


def is_call(x: Any) -> bool:
    return callable(x) or isinstance(x, SharedCall)


def numbers(*shape: int, low: float = 0.3, high: float = 0.9, seed: int = 0) -> Any:
    """Numbers in a range where nearly all functions are smooth."""
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape)


def signed_values(*shape: int, seed: int = 0) -> Any:
    """Different numbers of both signs, none near another, zero or a whole number."""
    n = int(np.prod(shape))
    order = np.random.default_rng((seed, *shape)).permutation(n)
    return ((order - n // 2) * 0.4 + 0.17).reshape(shape)


def parts(*shape: int, seed: int = 0) -> Any:
    """Complex numbers off the axes."""
    return numbers(*shape, seed=seed) + 1j * numbers(*shape, seed=seed + 1)


def make_definite(a: Any) -> Any:
    """A positive definite matrix made of any."""
    return jnp.matmul(a, jnp.swapaxes(a, -1, -2)) + 2 * np.eye(3)


def make_hermitian(a: Any) -> Any:
    """A Hermitian matrix made of any complex one."""
    return jnp.matmul(a, jnp.conj(a).T) + 2 * np.eye(3)


# Vectors of five, matrices of 3 x 4, vectors of four complex numbers.
X, Y = numbers(5), numbers(5, seed=1)
M, N = signed_values(3, 4), signed_values(3, 4, seed=1)
Z, W = parts(4), parts(4, seed=3)
ABOVE = numbers(5, low=1.2, high=2.5)
PLACES = np.array([2, 0, 2])
SQUARE, OTHER = numbers(3, 3), numbers(3, 3, seed=1)
# Of linear algebra: far from singular, and a function of what is made symmetric first.
TALL, WIDE = signed_values(4, 3), signed_values(3, 4)
REGULAR = signed_values(3, 3) / 2 + 2 * np.eye(3)
STACK = signed_values(2, 3, 3) + 3 * np.eye(3)
COMPLEX = parts(3, 3)
OF_DEFINITE = SharedCall(lambda f, a: f(make_definite(a)))
HEADS = [numbers(2, 3, 2, 2, seed=s) for s in range(3)]
