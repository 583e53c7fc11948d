"""Calls stay calls where something in them is kept: what XLA sees is the same."""

import collections

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import ir
from olympus._src.interpreters import (
    flat_programs,
    fusion_limits,
    inlining,
    partial_eval,
)
from tests.interpreters.repeated_steps import chain, stencil

X = np.linspace(0.1, 0.9, 18, dtype="float32").reshape(3, 6)


def block(x):
    x = x - x.mean(-1, keepdims=True)
    x = x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return x + jnp.tanh(x @ jnp.eye(6, dtype="float32")) * x


def shift_in_place(x):
    """An array that parts of itself are written over."""
    c = jnp.cumsum(x, axis=1) / 4
    return c.at[:, 1:].set(c[:, :-1])


def call_for_several(step, n):
    """Calls that give a result twice, one that nothing changes, and a number."""
    many = olympus.jit(lambda x, y: (step(x), x, step(x), y, 2.0))

    def run(x):
        y = x * 2
        for i in range(n):
            x, _, z, y, k = many(x, y if i % 3 else x)
            x = (x + z * k) / 4
        return x, y

    return run


def mix_calls(x):
    """Calls of one program in which different values are kept."""
    step = olympus.jit(stencil)
    long = chain(step, 12)(x)
    short = step(jnp.cumsum(x, axis=1))
    return jnp.cumsum(short, axis=1) + long


def call_in_loops(x):
    step = olympus.jit(stencil)
    x = lax.fori_loop(0, 3, lambda _, x: chain(step, 20)(x), x)
    return lax.cond(x[0, 0] > 0, chain(step, 20), chain(step, 2), chain(step, 20)(x))


def repeat(step, n=20):
    return chain(olympus.jit(step), n)


def gradient(f):
    def total(x):
        return sum(jnp.sum(jnp.sin(y)) for y in olympus.tree.leaves(f(x)))

    return olympus.grad(total)


PROGRAMS = {
    "stencils": repeat(stencil),
    "blocks": repeat(block),
    "calls in calls": repeat(chain(olympus.jit(stencil), 3)),
    "one program at several depths": lambda x: repeat(stencil)(
        repeat(repeat(stencil, 3))(x)
    ),
    "several results": call_for_several(stencil, 12),
    "different in calls": mix_calls,
    "loops and branches": call_in_loops,
    "a barrier of a user": repeat(lambda x: stencil(lax.optimization_barrier(x * 0.9))),
    "floats of eight bits": repeat(
        lambda x: (x.astype("float8_e4m3fn") * 2).astype("float32") + x, 8
    ),
    "random bits": repeat(
        lambda x: x + olympus.random.normal(olympus.random.key(3), (40, 6)).sum(), 4
    ),
    "parts of arguments": lambda x: repeat(lambda y: stencil(y * x[1]))(x[0]),
    "what is overwritten": repeat(lambda x: shift_in_place(chain(stencil, 8)(x)), 6),
    "effects": repeat(lambda x: (olympus.debug.print("{}", x), stencil(x))[1], 3),
}
PROGRAMS |= {
    f"gradient of {k}": gradient(f) for k, f in PROGRAMS.items() if k[0] != "e"
}


def expand(f, *args):
    """The program that comes to `fusion_limits`, with constants as inputs."""
    closed = olympus.make_olympuspr(f)(*args)
    whole = partial_eval.expand(ir.hoist_consts(closed.olympuspr), "cpu")
    return partial_eval.dce_olympuspr(whole, True, instantiate=True)[0]


def write_out(program):
    """The program without calls, in loops and branches neither."""
    return ir.map_subprograms(inlining.inline(program), write_out)


@pytest.mark.parametrize("in_bodies", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_is_kept_as_where_calls_are_written_out(name, in_bodies):
    program = expand(PROGRAMS[name], X)
    limited = fusion_limits.limit(program, "cpu", in_bodies)
    if in_bodies:  # where what is called is limited by itself first
        program = ir.map_subprograms(
            program, lambda p: fusion_limits.limit(p, "cpu", is_body=True)
        )
    flat = inlining.inline(program)
    wanted = fusion_limits.limit(flat, "cpu", in_bodies)
    assert str(write_out(limited)) == str(write_out(wanted))


def several(x):
    """Results of several operations, also without any, and numbers as arguments."""
    return jnp.linalg.qr(x), lax.top_k(x, 2), x / x.sum()


def call_with_numbers(x):
    """Calls that take and return numbers and arguments of the program."""
    scale = olympus.jit(lambda x, k: (several(x * k), x / k, k, x, 3.0), inline=False)
    pair = olympus.jit(lambda x, k: (scale(x, k), scale(x + 1, 2.0)))
    first, y, k, same, three = pair(x, 4.0)[0]
    return first, y / three, pair(same * k, k), scale(y / same, three), x / k


NUMBERED = PROGRAMS | {"numbers": call_with_numbers, "several": several}


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_are_those_of_the_program_without_calls(name):
    program = expand(NUMBERED[name], X)
    found = flat_programs.write_out(program)
    wanted = flat_programs.write_out(inlining.inline(program))
    fields = "costs", "sizes", "reads", "of_many", "several", "further", "divisors"
    for field in fields:
        assert getattr(found, field) == getattr(wanted, field), field
    assert found.list_returned() == wanted.list_returned()
    assert not wanted.calls
    for i, (ours, theirs) in enumerate(zip(found.eqns, wanted.eqns, strict=True)):
        assert ours.primitive is theirs.primitive
        assert found.outputs[i] == wanted.outputs[i]
        if ours.primitive.cost_by_spread is not None:
            for n in (1, 2, 3, 5):
                is_one = n.__rmod__  # as good as any to tell numbers
                assert found.has_last(i, is_one) == wanted.has_last(i, is_one)
    assert found.values == wanted.values
    for v in set(wanted.values) - set(wanted.arguments):
        assert found.maker(v) == wanted.maker(v)
        assert found.variable(v).aval.shape == wanted.variable(v).aval.shape


def test_what_several_programs_call_is_numbered_once():
    known = {}
    program = expand(PROGRAMS["one program at several depths"], X)
    flat = flat_programs.write_out(program, known)
    assert flat_programs.write_out(program, known) is flat
    for position, called in flat.calls.items():
        inner = inlining.called_program(program.eqns[position])
        assert flat_programs.write_out(inner, known) is called


def test_a_program_that_is_too_long_with_its_calls_has_no_numbers(monkeypatch):
    program = expand(PROGRAMS["one program at several depths"], X)
    n = len(inlining.inline(program).eqns)
    monkeypatch.setattr(inlining, "MOST_EQUATIONS", n)
    assert flat_programs.write_out(program) is not None
    monkeypatch.setattr(inlining, "MOST_EQUATIONS", n - 1)
    assert flat_programs.write_out(program) is None
    assert inlining.inline(program) is None
    assert fusion_limits.limit(program, "cpu", in_bodies=False) is program


def count_calls(program):
    """How often each program is called."""
    counts = collections.Counter()
    for eqn in program.eqns:
        inner = inlining.called_program(eqn)
        if inner is not None:
            counts[inner] += 1
            counts.update(count_calls(inner))
    return counts


def test_calls_in_which_the_same_is_kept_share_a_program():
    program = expand(gradient(repeat(block, 30)), X)
    limited = fusion_limits.limit(program, "cpu", in_bodies=False)
    counts = count_calls(limited)
    assert sum(counts.values()) == 60
    assert len(counts) <= 8  # the first and the last ones differ
    assert fusion_limits.count_barriers(limited) > 0


def test_calls_in_which_something_else_is_kept_do_not():
    limited = fusion_limits.limit(expand(mix_calls, X), "cpu", in_bodies=False)
    counts = count_calls(limited)
    assert sum(counts.values()) == 13
    kept = {fusion_limits.count_barriers(p) for p in counts}
    assert kept >= {0, max(kept)}
    assert max(kept) > 0


def test_calls_that_share_nothing_are_written_out():
    def run(x):
        for i in range(20):
            x = olympus.jit(lambda x, i=i: stencil(x) * (1 - i / 99))(x)
        return x

    limited = fusion_limits.limit(expand(run, X), "cpu", in_bodies=False)
    assert not count_calls(limited)
    assert fusion_limits.count_barriers(limited) > 0


@pytest.mark.parametrize(
    "name",
    ["stencils", "gradient of blocks", "different in calls", "what is overwritten"],
)
def test_older_compilers_keep_barriers_in_what_is_called(name):
    lowered = olympus.jit(PROGRAMS[name]).lower(X)
    assert "optimization_barrier" in lowered.as_text()
    assert lowered._lowered.has_barriers


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_without_jit(name):
    f = PROGRAMS[name]
    out = olympus.tree.leaves(olympus.jit(f)(X))
    with olympus.disable_jit():
        wanted = olympus.tree.leaves(f(X))
    for x, y in zip(out, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=1e-4)
