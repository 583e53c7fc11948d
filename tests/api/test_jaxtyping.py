"""Annotations of shapes and dtypes with the package jaxtyping."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp

jaxtyping = pytest.importorskip("jaxtyping")
Float = jaxtyping.Float


def check_types(fun):
    """A checker of types at run time: arguments, then the result."""
    signature = inspect.signature(fun)

    @functools.wraps(fun)
    def checked(*args, **kwargs):
        for name, x in signature.bind(*args, **kwargs).arguments.items():
            kind = fun.__annotations__[name]
            if not isinstance(x, kind):
                raise TypeError(f"{name} must be {kind}, got {x!r}")
        return fun(*args, **kwargs)

    return checked


def multiply(a, b):
    return a @ b


multiply.__annotations__ = {
    "a": Float[olympus.Array, "n k"],
    "b": Float[olympus.Array, "k m"],
}
multiply = jaxtyping.jaxtyped(typechecker=check_types)(multiply)

MATRIX = jnp.ones((2, 3))


@pytest.mark.parametrize(
    ("x", "kind", "holds"),
    [
        (MATRIX, Float[olympus.Array, "b d"], True),
        (MATRIX, Float[olympus.Array, "2 3"], True),
        (MATRIX, Float[olympus.Array, "b"], False),
        (MATRIX, Float[olympus.Array, "3 3"], False),
        (MATRIX, jaxtyping.Int[olympus.Array, "b d"], False),
        (MATRIX.astype(jnp.bfloat16), Float[olympus.Array, "..."], True),
        (MATRIX > 0, jaxtyping.Bool[olympus.Array, "b d"], True),
        (np.ones((2, 3)), Float[olympus.Array, "b d"], False),
        (olympus.random.key(0), jaxtyping.Shaped[olympus.Array, ""], True),
    ],
)
def test_isinstance(x, kind, holds):
    assert isinstance(x, kind) is holds


def test_traced_arrays_are_checked():
    assert olympus.jit(multiply)(MATRIX, MATRIX.T).shape == (2, 2)
    rows = jnp.ones((5, 2, 3))
    assert olympus.vmap(multiply)(rows, jnp.ones((5, 3, 4))).shape == (5, 2, 4)
    slope = olympus.grad(lambda a: multiply(a, MATRIX.T).sum())(MATRIX)
    assert slope.shape == (2, 3)


@pytest.mark.parametrize("transform", [lambda f: f, olympus.jit])
def test_sizes_of_one_name_must_agree(transform):
    with pytest.raises(jaxtyping.TypeCheckError, match="multiply"):
        transform(multiply)(MATRIX, MATRIX)
