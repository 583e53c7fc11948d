"""Models with a symbolic batch: trained by what was exported, in another process."""

from __future__ import annotations

import numpy as np
import pytest
from examples import transformer
from fresh import run

import olympus
from export.programs import floats, training_step
from olympus import export

CHILD = """
import pathlib
import numpy as np
import olympus
from olympus import export

folder = pathlib.Path({folder!r})
step = export.deserialize((folder / "step").read_bytes())
loss = export.deserialize((folder / "loss").read_bytes())
given = np.load(folder / "arguments.npz")
leaves = [given[f"arr_{{i}}"] for i in range(len(given.files))]
(params, speed, _), _ = step.in_tree.unflatten(leaves)
values = []
for size in (1, 3, 2):
    value, params, speed = step.call(params, speed, leaves[-1][:size])
    slope = olympus.grad(loss.call)(params, leaves[-1][:size])
    values += olympus.tree.leaves((value, params, speed, slope))
np.savez(folder / "results.npz", *map(np.asarray, values))
"""


@pytest.mark.slow
@pytest.mark.sampled(4)
def test_training_in_a_second_process(tmp_path):
    rows = transformer.sentences().astype(np.int32)
    (b,) = export.symbolic_shape("b")
    batch = olympus.ShapeDtypeStruct((b, rows.shape[1]), np.int32)
    params = speed = floats(transformer.parameters())

    def loss(params, rows):
        return transformer.loss(olympus, params, rows)

    step = export.export(olympus.jit(training_step))(params, speed, batch)
    (tmp_path / "step").write_bytes(step.serialize())
    exported = export.export(olympus.jit(loss))(params, batch)
    (tmp_path / "loss").write_bytes(exported.serialize(vjp_order=1))
    np.savez(tmp_path / "arguments.npz", *olympus.tree.leaves((params, speed, rows)))
    run(CHILD.format(folder=str(tmp_path)))

    found = iter(np.load(tmp_path / "results.npz").values())
    advance, gradient = olympus.jit(training_step), olympus.jit(olympus.grad(loss))
    for size in (1, 3, 2):
        advanced = advance(params, speed, rows[:size])
        leaves, structure = olympus.tree.flatten(advanced)
        # The next step goes on from what the process has: products of exported programs
        # add up in another order, which steps of training magnify.
        theirs = [next(found) for _ in leaves]
        _, params, speed = structure.unflatten(theirs)
        leaves += olympus.tree.leaves(gradient(params, rows[:size]))
        theirs += [next(found) for _ in leaves[len(theirs) :]]
        for other, wanted in zip(theirs, leaves, strict=True):
            np.testing.assert_allclose(other, wanted, rtol=1e-4, atol=1e-5)


def test_several_platforms():
    (b,) = export.symbolic_shape("b")
    x = olympus.ShapeDtypeStruct((b, 3), np.float32)
    f = olympus.jit(lambda x: (olympus.numpy.cumsum(x, 0), x.T @ x * x.shape[0]))
    made = export.export(f, platforms=("cuda", "cpu"))(x)
    made = export.deserialize(made.serialize())
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    sums, squares = made.call(values)
    np.testing.assert_array_equal(sums, np.cumsum(values, 0))
    np.testing.assert_array_equal(squares, values.T @ values * 4)


def test_sizes_as_values_of_64_bits():
    (b,) = export.symbolic_shape("b")
    with olympus.enable_x64():
        x = olympus.ShapeDtypeStruct((b,), np.float64)
        f = olympus.jit(lambda x: (x.sum() / x.shape[0], x.shape[0] ** 2))
        mean, square = export.export(f)(x).call(np.arange(5.0))
    assert (mean.dtype, mean.item()) == ("float64", 2.0)
    assert (square.dtype, square.item()) == ("int64", 25)
