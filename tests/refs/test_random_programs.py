"""Drawn programs with refs, against the same steps on arrays without any loop."""

import random

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from tests.sampling import SEED

N = 4


class Arrays:
    """Two vectors, each replaced by a new one at each write."""

    def __init__(self, x, y):
        self.vectors = [x, y]

    def read(self, k, i):
        return self.vectors[k][i]

    def write(self, k, i, value):
        self.vectors[k] = self.vectors[k].at[i].set(value)

    def add(self, k, i, value):
        self.vectors[k] = self.vectors[k].at[i].add(value)

    def repeat(self, steps, body):
        for i in range(steps):
            body(i)

    def choose(self, condition, yes, no):
        yes() if bool(condition) else no()

    def call(self, body):
        body()

    apart = call

    def all(self):
        return onp.concatenate(self.vectors)


class Refs:
    """Two refs, with loops, branches and calls of the language."""

    def __init__(self, x, y, scans):
        self.refs = [olympus.new_ref(x), olympus.new_ref(y)]
        self.scans = scans

    def read(self, k, i):
        return self.refs[k][i]

    def write(self, k, i, value):
        self.refs[k][i] = value

    def add(self, k, i, value):
        self.refs[k].addupdate(value, i)

    def repeat(self, steps, body):
        if self.scans:
            lax.scan(lambda _, i: (None, body(i)), None, onp.arange(steps))
        else:

            def step(i):
                body(i)
                return i + 1

            lax.while_loop(lambda i: i < steps, step, 0, max_steps=steps)

    def choose(self, condition, yes, no):
        lax.cond(condition, yes, no)

    def call(self, body):
        olympus.jit(body)()

    def apart(self, body):
        olympus.checkpoint(body)()

    def all(self):
        return onp.concatenate([r[...] for r in self.refs])


def draw(rng, depth):
    """Statements: nested tuples of a name and what it is about."""
    statements = []
    for _ in range(rng.randint(1, 3)):
        kinds = ["write", "add"] * 2
        if depth:
            kinds += ["repeat", "choose", "call", "apart"]
        kind = rng.choice(kinds)
        if kind in ("write", "add"):
            statements.append((kind, [rng.randrange(99) for _ in range(5)]))
        else:
            inner = [draw(rng, depth - 1) for _ in range(2)]
            statements.append((kind, rng.randint(1, 3), inner))
    return statements


def run(store, statements, offset):
    """Runs statements; positions move with the counter of the innermost loop."""
    for statement in statements:
        kind = statement[0]
        if kind in ("write", "add"):
            a, b, c, d, e = statement[1]
            here = (offset + a) % N
            value = onp.sin(store.read(b % 2, (offset + c) % N)) * store.read(
                d % 2, e % N
            )
            getattr(store, kind)(a % 2, here, value)
            continue
        _, steps, (first, second) = statement
        if kind == "repeat":
            store.repeat(steps, lambda i, s=first: run(store, s, i))
        elif kind == "choose":
            condition = store.read(steps % 2, offset % N) > 0.1
            store.choose(
                condition,
                lambda s=first, o=offset: run(store, s, o),
                lambda s=second, o=offset: run(store, s, o),
            )
        else:
            getattr(store, kind)(lambda s=first, o=offset: run(store, s, o))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_drawn_programs(number):
    rng = random.Random(f"{SEED} {number}")
    statements = draw(rng, 3)
    scans = rng.random() < 0.5
    x = onp.array([rng.uniform(-1, 1) for _ in range(N)], "float32")
    y = onp.array([rng.uniform(-1, 1) for _ in range(N)], "float32")
    weights = onp.linspace(-1.0, 1.0, 2 * N)

    def on_arrays(x, y):
        store = Arrays(x, y)
        run(store, statements, 0)
        return (store.all() * weights).sum(), store.all()

    def on_refs(x, y):
        store = Refs(x, y, scans)
        run(store, statements, 0)
        return (store.all() * weights).sum(), store.all()

    both = {"argnums": (0, 1), "has_aux": True}
    expected = olympus.value_and_grad(on_arrays, **both)(x, y)
    jitted = olympus.jit(on_refs)(x, y)
    np.testing.assert_allclose(jitted[1], expected[0][1], rtol=1e-5, atol=1e-6)
    for f in (
        olympus.value_and_grad(on_refs, **both),
        olympus.jit(olympus.value_and_grad(on_refs, **both)),
        lambda x, y: olympus.tree.map(
            lambda pair: pair[1],
            olympus.vmap(olympus.value_and_grad(on_refs, **both))(
                onp.stack([y, x]), onp.stack([x, y])
            ),
        ),
    ):
        leaves = olympus.tree.leaves(f(x, y)), olympus.tree.leaves(expected)
        for got, wanted in zip(*leaves, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
