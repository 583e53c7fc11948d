"""No program is taken from the cache on disk for another one.

Programs differ from one another by as little as can be: a constant's last bit, a shape,
a value that a function closes over, a dtype, a static argument, an option. Each is
jitted anew, as a fresh process would, and run through one cache.
"""

from __future__ import annotations

import functools
import random
from collections import namedtuple

import disk_caches
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.runtime import cache_key
from tests.sampling import EVERYTHING, SEED

Program = namedtuple(
    "Program", "function size dtype constant captured kind steps axis level donates"
)
CHOICES = Program(
    function=("sin", "tanh", "square", "negative", "cos"),
    size=(1, 2, 3, 4, 5),
    dtype=("float32", "float16", "int32", "float64"),
    # The second differs from the first in float64 only, the third in its last bit.
    constant=(0.5, 0.5 + 2**-53, 0.5 + 2**-24, -0.5, 2.0),
    captured=(0, 1, 2, 3),
    kind=("list", "array", "large", "device"),
    steps=(1, 2, 3),
    axis=(0, 1, None),
    level=(None, 0, 1),
    donates=(False, True),
)
STEPS = 1000 if EVERYTHING else 150


def mutated(program, draw):
    """The program with one part changed."""
    field = draw.choice(Program._fields)
    others = [v for v in getattr(CHOICES, field) if v != getattr(program, field)]
    return program._replace(**{field: draw.choice(others)})


def captured(program, module):
    rows = 40 if program.kind == "large" else 1
    value = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    value[0, 1] += program.captured
    if program.kind == "list":
        return value.tolist()
    return jnp.asarray(value) if module is jnp and program.kind == "device" else value


def build(program):
    """The function in olympus, made anew."""
    bias = captured(program, jnp)
    constant = program.constant

    def f(x, steps):
        x = x.astype("float32")
        y = lax.fori_loop(
            0, steps, lambda i, y: getattr(jnp, program.function)(y) * constant, x
        )
        return y.sum(program.axis) + jnp.asarray(bias).sum(), y

    options = {} if program.level is None else {"xla_backend_optimization_level": 0}
    if program.level == 1:
        options["xla_backend_optimization_level"] = 1
    return olympus.jit(
        f,
        static_argnums=1,
        donate_argnums=(0,) if program.donates else (),
        compiler_options=options or None,
    )


def argument(program):
    x = np.linspace(-1, 1, program.size * 2).reshape(program.size, 2)
    return x.astype(program.dtype)


@functools.cache
def expected(program):
    y = argument(program).astype(np.float32)
    for _ in range(program.steps):
        y = getattr(np, program.function)(y) * np.float32(program.constant)
    total = np.asarray(captured(program, np)).sum()
    return y.sum(program.axis) + total, y


def check(program):
    with olympus.enable_x64(program.dtype == "float64"):
        got = build(program)(jnp.asarray(argument(program)), program.steps)
    for ours, theirs in zip(got, expected(program), strict=True):
        assert ours.shape == theirs.shape, program
        np.testing.assert_allclose(ours, theirs, 1e-5, 1e-6, err_msg=str(program))


@pytest.fixture
def seen(monkeypatch):
    """The key of each module and options that the cache was asked for."""
    found = {}
    real = cache_key.key

    def key(code, built, device):
        made = real(code, built, device)
        found.setdefault((code, built.SerializeAsString()), set()).add(made)
        return made

    monkeypatch.setattr(cache_key, "key", key)
    return found


@pytest.mark.slow
@pytest.mark.sampled(2)
def test_a_thousand_mutated_programs(tmp_path, seen):
    draw = random.Random(SEED)
    program = Program(*(choices[0] for choices in CHOICES))
    history = [program]
    with disk_caches.in_folder(tmp_path / "cache") as counts:
        for step in range(STEPS):
            if draw.random() < 0.3:
                program = draw.choice(history)
            program = mutated(program, draw)
            history.append(program)
            check(program)
            if step % 25 == 24:
                olympus.clear_caches()  # what is asked for again comes from disk
        olympus.clear_caches()
        for program in draw.sample(history, STEPS // 4):
            check(program)
    keys = [key for made in seen.values() for key in made]
    # One key for each program, and another for every other one.
    assert len(keys) == len(set(keys)) == len(seen) == counts.misses
    assert counts.hits > STEPS // 8
