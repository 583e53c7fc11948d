"""Programs over several devices: their instructions belong to the user's lines."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.lens.nodes import unfolded
from olympus.sharding import PartitionSpec as P
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices

X = np.ones((32, 16), np.float32)
W1 = np.ones((16, 64), np.float32)
W2 = np.ones((64, 16), np.float32)


def line_of(mark):
    with open(__file__) as file:
        return next(i for i, row in enumerate(file, 1) if row.rstrip().endswith(mark))


def loss(w1, w2, x):
    hidden = jnp.tanh(x @ w1)  # <- first
    return ((hidden @ w2) ** 2).sum()  # <- second


def arguments():
    return divide(W1, None, "y"), divide(W2, "y"), divide(X, "x")


def looped(w1, w2, x):
    def step(x, _):
        return jnp.tanh(x @ w1) @ w2, x.sum()  # <- step

    return lax.scan(step, x, length=5)


def test_costs_belong_to_lines():
    step = olympus.value_and_grad(loss, (0, 1))
    compiled = olympus.jit(step).lower(*arguments()).compile()
    before = compiled.as_text()
    costs = compiled.explain()
    by_line = {line.place and line.place.line: line.cost for line in costs.lines}
    assert set(by_line) == {line_of("# <- first"), line_of("# <- second")}
    # Each of 8 devices has an eighth of the products, three of each line in all.
    products = 2 * 2 * 32 * 16 * 64 / 8
    assert by_line[line_of("# <- first")].flops >= products
    assert by_line[line_of("# <- first")].directions == ("backward", "forward")
    assert compiled.as_text() == before
    assert np.isfinite(np.asarray(compiled(*arguments())[0]))


def mapped(w1, w2, x):
    def block(x):
        return lax.psum(jnp.tanh(x).sum(0), "x")  # <- block

    total = olympus.shard_map(block, mesh=mesh(4, 2), in_specs=P("x"), out_specs=P())
    return total(x) * w1.sum()


MARKS = {
    looped: ["# <- step"],
    mapped: ["# <- block"],
    loss: ["# <- first", "# <- second"],
}


@pytest.mark.parametrize("f", MARKS)
def test_a_lens_knows_the_line_of_each_instruction(f):
    view = olympus.lens(olympus.grad(f) if f is loss else f)(*arguments())
    for pane in (view.olympuspr, view.stablehlo, view.hlo):
        lines = {
            view.places.spans[node.place][1]
            for _, node in unfolded(pane)
            if node.place >= 0
        }
        assert {line_of(mark) for mark in MARKS[f]} <= lines
    instructions = [node for _, node in unfolded(view.hlo)]
    assert sum(node.place >= 0 for node in instructions) >= 0.99 * len(instructions)
    assert not any("olympus" in node.text for node in instructions)
    total = sum(view.times.instructions.values())
    by_line = sum(row[0] for row in view.line_costs().values())
    assert by_line >= 0.9 * total > 0


def test_the_time_of_collectives_counts():
    view = olympus.lens(loss)(*arguments())
    collectives = [n for _, n in unfolded(view.hlo) if " all-reduce(" in n.text]
    assert collectives
    assert all(node.time_us > 0 for node in collectives)
