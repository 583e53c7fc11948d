"""Public functions of divided arrays give what they give on one device.

Drawn calls of the table of public functions are compared with NumPy and SciPy, with
their arrays divided over a drawn mesh as a drawn spec says; derivatives at its smooth
points are compared with those of undivided arrays. A run takes a part of both, which
the seed in the report's header chooses; `OLYMPUS_SWEEP=all` takes all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.sharding import Mesh, NamedSharding, PartitionSpec
from tests.differential import running
from tests.public_functions import table
from tests.public_functions.entries import Entry
from tests.public_functions.points import SmoothCase
from tests.sampling import SEED, generator, part
from tests.sharding.meshes import mesh

pytestmark = [pytest.mark.eight_devices, pytest.mark.slow]

SHARE, SMOOTH_SHARE = 70, 70  # one in so many entries and points
CASES = running.GROUP
# Sizes of the drawn arrays' axes are multiples of some of these.
MESHES = [(4, 2), (2, 2, 2), (2, 3), (3, 2), (5,), (8,)]
SMOOTH = [case for e in table.ENTRIES for case in e.smooth_cases()]


def draw_spec(rng: Any, over: Mesh, shape: tuple[int, ...]) -> PartitionSpec:
    """A spec that divides axes evenly, where the mesh has an axis that can."""
    free = list(rng.permutation(over.axis_names))
    entries: list[Any] = []
    for size in shape:
        names: list[str] = []
        for name in list(free):
            count = over.shape[name] * int(np.prod([over.shape[n] for n in names]))
            if size and size % count == 0 and rng.uniform() < 0.7:
                names.append(str(name))
                free.remove(name)
        entries.append(tuple(names) if len(names) > 1 else names[0] if names else None)
    return PartitionSpec(*entries)


def divide_as_drawn(rng: Any, over: Mesh, x: Any) -> Any:
    spec = draw_spec(rng, over, np.shape(x))
    return olympus.device_put(np.asarray(x), NamedSharding(over, spec))


def draw_mesh(rng: Any) -> Mesh:
    return mesh(*MESHES[rng.integers(len(MESHES))])


@pytest.mark.parametrize("entry", part(table.DRAWN, SHARE), ids=lambda e: e.id)
def test_values(entry: Entry) -> None:
    rng = generator(entry.id)
    over = draw_mesh(rng)
    out = running.sweep(
        entry, range(CASES), SEED, place=lambda x: divide_as_drawn(rng, over, x)
    )
    assert not out.failures, f"{over}\n" + "\n".join(map(str, out.failures))


def weighted_loss(case: SmoothCase, rng: Any) -> Any:
    """A sum of the floating results of a case, with weights that are drawn once."""
    weights: list[Any] = []

    def loss(*args: Any) -> Any:
        outs = [
            jnp.asarray(x)
            for x in olympus.tree.leaves(case.f(*args))
            if jnp.issubdtype(jnp.result_type(x), jnp.inexact)
        ]
        if not weights:
            weights.extend(rng.normal(size=x.shape) for x in outs)
        rows = zip(outs, weights, strict=True)
        return sum(jnp.real(x * w).sum() for x, w in rows)

    return loss


def float_positions(case: SmoothCase) -> tuple[int, ...]:
    kinds = [np.asarray(x).dtype.kind for x in case.args]
    return tuple(i for i, kind in enumerate(kinds) if kind in "fc")


@pytest.mark.parametrize("case", part(SMOOTH, SMOOTH_SHARE), ids=lambda c: c.name)
def test_gradients(case: SmoothCase) -> None:
    rng = generator(case.name)
    with olympus.enable_x64(True):
        loss = weighted_loss(case, rng)
        numbers = float_positions(case)
        derivative = olympus.jit(olympus.grad(loss, numbers))
        want = derivative(*case.args)
        over = draw_mesh(rng)
        divided = [divide_as_drawn(rng, over, x) for x in case.args]
        got = derivative(*divided)
        for actual, expected in zip(got, want, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", part(SMOOTH, SMOOTH_SHARE), ids=lambda c: c.name)
def test_values_and_gradients_in_shard_map(case: SmoothCase) -> None:
    """Each of two devices computes the same: of a part that types say is its own."""
    with olympus.enable_x64(True):
        loss = weighted_loss(case, generator(case.name))
        numbers = float_positions(case)
        want = olympus.jit(olympus.value_and_grad(loss, numbers))(*case.args)
        by_device = olympus.shard_map(
            lambda *args: loss(*[x[0] for x in args])[None],
            mesh=mesh(2),
            in_specs=PartitionSpec("x"),
            out_specs=PartitionSpec("x"),
        )
        both = [np.stack([np.asarray(x)] * 2) for x in case.args]
        whole = olympus.value_and_grad(lambda *args: by_device(*args).sum(), numbers)
        value, got = olympus.jit(whole)(*both)
        np.testing.assert_allclose(value, 2 * want[0], rtol=1e-9, atol=1e-9)
        for actual, expected in zip(got, want[1], strict=True):
            for row in actual:
                np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-9)
