"""What is checked of a function of arrays: all its derivatives agree."""

from __future__ import annotations

from typing import Any

import numpy as np

import olympus
import olympus.numpy as jnp
from olympus import tree_util
from tests.public_functions.points import SmoothCase
from tests.sampling import generator


def inexact(out: Any) -> list[Any]:
    """The leaves of a result that can move."""
    leaves = [jnp.asarray(x) for x in tree_util.tree_leaves(out)]
    return [x for x in leaves if np.issubdtype(x.dtype, np.inexact)]


def like(rng: Any, x: Any) -> Any:
    """A direction of the shape and dtype of an array."""
    out = rng.uniform(-1, 1, x.shape)
    if np.issubdtype(x.dtype, np.complexfloating):
        out = out + 1j * rng.uniform(-1, 1, x.shape)
    return out.astype(x.dtype)


def everything(f: Any) -> Any:
    """Value, tangents, cotangents and how these move, of one point and direction."""

    def run(xs: Any, vs: Any, cts: Any) -> Any:
        outs, tangents = olympus.jvp(f, xs, vs)

        def pulled(*xs: Any) -> Any:
            return olympus.vjp(f, *xs)[1](cts)

        cotangents, moved = olympus.jvp(pulled, xs, vs)
        return outs, tangents, cotangents, moved

    return run


def close(got: Any, want: Any, tolerance: float) -> None:
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def paired(xs: Any, ys: Any) -> float:
    """The real part of the sum of products: what transposition leaves alone."""
    return sum(
        float(np.real(np.sum(np.asarray(x) * np.asarray(y))))
        for x, y in zip(xs, ys, strict=True)
    )


def moved(xs: Any, vs: Any, step: float) -> Any:
    return tuple(x + step * v for x, v in zip(xs, vs, strict=True))


def variants(rng: Any, xs: Any) -> tuple[Any, Any]:
    """Arguments with a mapped axis of two, anywhere or nowhere, and their axes."""
    axes = [int(rng.integers(0, x.ndim + 1)) for x in xs]
    kept = rng.uniform(size=len(xs)) < 0.3
    if kept.all():
        kept[0] = False
    stacked = [
        x if keep else np.stack([x, x + 1e-3 * like(rng, x)], axis)
        for x, axis, keep in zip(xs, axes, kept, strict=True)
    ]
    return stacked, [None if k else a for k, a in zip(kept, axes, strict=True)]


def check(case: SmoothCase) -> None:
    """Compares tangents and their own tangents with central differences, cotangents
    with tangents, compiled results with others, and mapped ones with a loop.
    """
    rng = generator(case.name)
    with olympus.enable_x64(True):
        xs = tuple(np.asarray(x) for x in case.args)

        def f(*xs: Any) -> Any:
            return inexact(case.f(*xs))

        vs = tuple(like(rng, x) for x in xs)
        shapes = olympus.eval_shape(f, *xs)
        cts = [like(rng, s) for s in shapes]
        run = olympus.jit(everything(f))
        _, tangents, cotangents, second = run(xs, vs, cts)
        step = 1e-6
        above, below = (run(moved(xs, vs, s), vs, cts) for s in (step, -step))
        slopes = [
            [
                (np.asarray(a) - np.asarray(b)) / (2 * step)
                for a, b in zip(above[part], below[part], strict=True)
            ]
            for part in (0, 2)
        ]
        close(tangents, slopes[0], 2e-6)
        close(second, slopes[1], 2e-5)
        np.testing.assert_allclose(
            paired(cts, tangents), paired(cotangents, vs), rtol=1e-9, atol=1e-9
        )
        close(olympus.vjp(f, *xs)[1](cts), cotangents, 1e-10)
        stacked, axes = variants(rng, xs)
        mapped = olympus.jit(olympus.vmap(lambda *xs: run(xs, vs, cts), axes))(*stacked)
        for i in range(2):
            one = tuple(
                x if a is None else np.take(x, i, a)
                for x, a in zip(stacked, axes, strict=True)
            )
            want = run(one, vs, cts)
            close(
                [np.asarray(x)[i] for x in tree_util.tree_leaves(mapped)],
                tree_util.tree_leaves(want),
                1e-9,
            )
