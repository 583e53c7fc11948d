"""Callbacks of programs over two processes."""

from __future__ import annotations

import pytest

from distributed import processes

pytestmark = pytest.mark.slow

START = """
from olympus.experimental import io_callback
mesh = Mesh(np.array(olympus.devices()), "x")
values = np.arange(8, dtype="float32")
x = olympus.device_put(values, NamedSharding(mesh, P("x")))
calls = []

def sine(v):
    calls.append(np.array(v))
    return np.sin(v)

def shape(n):
    return olympus.ShapeDtypeStruct((n,), "float32")

def check(out, expected):
    for shard in out.addressable_shards:
        np.testing.assert_allclose(shard.data, expected[shard.index], rtol=1e-6)

def take_calls():
    olympus.effects_barrier()
    taken = [c.tolist() for c in calls]
    calls.clear()
    return taken
"""

VALUES = """
# The first device calls, with the whole, and all devices have what it returned.
whole = values.tolist()
for call in (
    lambda a: olympus.pure_callback(sine, shape(8), a),
    lambda a: io_callback(sine, shape(8), a),
    lambda a: io_callback(sine, shape(8), a, ordered=True),
):
    check(olympus.jit(call)(x), np.sin(values))
    assert take_calls() == ([whole] if me == 0 else [])
# In a loop, in order.
def step(c, a):
    io_callback(lambda v: calls.append(np.array(v)), None, a, ordered=True)
    return c + a, a
total, _ = olympus.jit(lambda a: olympus.lax.scan(step, 0.0, a))(x)
check(total, np.array(28.0))
assert take_calls() == (whole if me == 0 else [])
# In shard_map each device calls, with its part.
part = olympus.shard_map(
    lambda a: olympus.pure_callback(sine, shape(2), a),
    mesh=mesh, in_specs=P("x"), out_specs=P("x"))
for _ in range(3):
    check(olympus.jit(part)(x), np.sin(values))
    mine = values.reshape(4, 2)[2 * me : 2 * me + 2].tolist()
    assert sorted(take_calls()) == mine
# Prints, and values without a mesh beside them.
olympus.jit(lambda a: olympus.debug.print("sum {}", a.sum()))(x)
olympus.effects_barrier()
olympus.jit(lambda a: olympus.debug.callback(sine, a))(x)
assert take_calls() == ([whole] if me == 0 else [])
olympus.jit(lambda a: olympus.debug.print("own {}", a))(np.float32(me))
olympus.effects_barrier()
"""

FAILURES = """
from olympus.errors import OlympusRuntimeError
def fail(v):
    raise KeyError("no such row")

for target in (fail, lambda v: np.zeros(3)):
    try:
        olympus.jit(lambda a: olympus.pure_callback(target, shape(8), a))(x)
    except OlympusRuntimeError as error:
        print(error)
    else:
        raise AssertionError("no error")
# Both go on together.
sines = olympus.jit(lambda a: olympus.pure_callback(sine, shape(8), a))(x)
check(sines, np.sin(values))
"""


def test_values_and_calls():
    first, second = processes.run_well(2, START + VALUES)
    assert "sum 28.0" in first
    assert "own 0.0" in first
    assert "sum" not in second
    assert "own 1.0" in second


def test_all_processes_learn_of_a_failure():
    first, second = processes.run_well(2, START + FAILURES)
    assert "a callback of the program raised KeyError: 'no such row'" in first
    assert "in process 0 a callback of the program raised KeyError" in second
    assert first.count("a callback of the program raised") == 2
    assert second.count("in process 0") == 2


SOME = """
some = Mesh(np.array(olympus.devices()[:4]), "x")
y = olympus.device_put(values, NamedSharding(some, P("x"))) if me < 2 else None
if me < 2:
    try:
        olympus.jit(lambda a: olympus.pure_callback(sine, shape(8), a))(y)
    except NotImplementedError as error:
        print(error)
"""


def test_programs_of_some_processes_are_refused():
    outputs = processes.run_well(3, START.replace("(8,", "(12,") + SOME)
    for out in outputs[:2]:
        assert "or of all processes on CPUs, got one over 2 of 3 on cpu" in out
