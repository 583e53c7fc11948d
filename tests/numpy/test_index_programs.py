"""How large the programs of indexing are, and how often they are compiled."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import monitoring
from olympus._src.foundation import compiler_settings

X = np.ones((6, 4), np.float32)
ONE, ROWS = np.int32(1), np.array([1, 2, 0], np.int32)
LINE = np.arange(10.0)
EACH = np.ones((6, 4), np.int32)


def _vmapped(f):
    return lambda *args: olympus.vmap(f)(*args)


# Equations that jax 0.10.2 traces for the same, those inside of its calls counted.
PROGRAMS = {
    "x[2]": (lambda x: x[2], (X,), 2),
    "x[i]": (lambda x, i: x[i], (X, ONE), 8),
    "x[:, i]": (lambda x, i: x[:, i], (X, ONE), 8),
    "x[1:3]": (lambda x: x[1:3], (X,), 1),
    "x[::-1]": (lambda x: x[::-1], (X,), 1),
    "x[..., None]": (lambda x: x[..., None], (X,), 1),
    "x[rows]": (lambda x, i: x[i], (X, ROWS), 5),
    "x[rows, rows]": (lambda x, i: x[i, i], (X, ROWS), 10),
    "x[uint8]": (lambda x, i: x[i], (X, ROWS.astype(np.uint8)), 3),
    "clip": (lambda x, i: x.at[i].get(mode="clip"), (X, ROWS), 5),
    "set 2": (lambda x: x.at[2].set(1.0), (X,), 3),
    "add 2": (lambda x: x.at[2].add(1.0), (X,), 3),
    "set i": (lambda x, i: x.at[i].set(1.0), (X, ONE), 6),
    "add rows": (lambda x, i: x.at[i].add(1.0), (X, ROWS), 6),
    "take": (lambda x, i: jnp.take(x, i, axis=1), (X, ROWS), 5),
    "take clip": (lambda x, i: jnp.take(x, i, axis=0, mode="clip"), (X, ROWS), 2),
    "take_along_axis": (lambda x, i: jnp.take_along_axis(x, i, 1), (X, EACH), 5),
    "compress": (lambda x: jnp.compress(x > 0, x, size=3), (LINE,), 18),
    "nonzero": (lambda x: jnp.nonzero(x > 0, size=3), (X,), 54),
    "searchsorted": (lambda x: jnp.searchsorted(x, x), (LINE,), 26),
    "digitize": (lambda x, v: jnp.digitize(x, v), (X, LINE), 72),
    "each row's": (_vmapped(lambda r: jnp.searchsorted(r, r)), (X,), 32),
    "each row's i": (_vmapped(lambda r, i: r[i]), (X, np.arange(6)), 6),
}


def _equations(program):
    total = 0
    for eqn in program.eqns:
        inner = eqn.params.get("jaxpr") if eqn.primitive.name == "scan" else None
        total += 1 + (_equations(inner.olympuspr) if inner is not None else 0)
    return total


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_as_small_as_elsewhere(name):
    f, args, most = PROGRAMS[name]
    assert _equations(olympus.make_olympuspr(f)(*args).olympuspr) <= most


def test_a_long_search_is_a_loop_of_few_equations():
    line, values = np.arange(1000.0), np.arange(300.0)
    traced = olympus.make_olympuspr(jnp.searchsorted)(line, values)
    assert _equations(traced.olympuspr) <= 26


@pytest.fixture
def compiled():
    """The compilations since the start of the test."""
    found = []

    def listen(event, duration, **kwargs):
        if "backend_compile" in event:
            found.append(event)

    monitoring.register_event_duration_secs_listener(listen)
    with compiler_settings.first_runs_by_numpy(False):
        yield found
    monitoring.unregister_event_duration_listener(listen)


# Too large to be read by way of the host.
_LARGE = np.arange(300 * 90, dtype=np.float32).reshape(300, 90)
_CALLS = {
    "x[i]": (lambda x, k: x[k], lambda x, k: x[k]),
    "x[i, j]": (lambda x, k: x[k, k + 1], lambda x, k: x[k, k + 1]),
    "x[a:b]": (lambda x, k: x[k : k + 250], lambda x, k: x[k : k + 250]),
    "x[b:a:-2]": (lambda x, k: x[k + 240 : k : -1], lambda x, k: x[k + 240 : k : -1]),
    "x[i, a:b]": (lambda x, k: x[k, k : k + 7], lambda x, k: x[k, k : k + 7]),
    "rows": (
        lambda x, k: x[jnp.arange(3) + k, k : k + 9],
        lambda x, k: x[np.arange(3) + k, k : k + 9],
    ),
    "set": (lambda x, k: x.at[k].set(0.0), lambda x, k: _changed(x, k)),
    "set a:b": (
        lambda x, k: x.at[k : k + 5, k].set(0.0),
        lambda x, k: _changed(x, (slice(k, k + 5), k)),
    ),
    "set a::2": (
        lambda x, k: x.at[k : k + 9 : 2].set(0.0),
        lambda x, k: _changed(x, slice(k, k + 9, 2)),
    ),
    "set mask": (
        lambda x, k: x.at[x < 10.0 * k].set(0.0),
        lambda x, k: _changed(x, x < 10.0 * k),
    ),
}


def _changed(x, index):
    out = x.copy()
    out[index] = 0
    return out


@pytest.mark.parametrize("name", _CALLS)
def test_other_positions_compile_nothing(name, compiled):
    call, meaning = _CALLS[name]
    x = jnp.asarray(_LARGE)
    call(x, 7)
    del compiled[:]
    for k in (0, 3, 40):
        np.testing.assert_array_equal(call(x, k), meaning(_LARGE, k))
    assert not compiled


@pytest.mark.slow
def test_one_program_reads_and_one_writes(compiled):
    olympus.clear_caches()
    x = jnp.asarray(_LARGE)
    x.at[3].add(1.0)
    assert len(compiled) == 1
    x[5:290, 4:80]
    assert len(compiled) == 2


@pytest.mark.slow
def test_threads_write_to_their_own_arrays():
    x = jnp.zeros((8, 16))
    failures = []

    def work(number):
        y = x
        for k in range(40):
            y = y.at[k % 8, : k % 16].add(number)
            y = y.at[y > 100].set(0.0)
        wanted = np.zeros((8, 16), np.float32)
        for k in range(40):
            wanted[k % 8, : k % 16] += number
            wanted[wanted > 100] = 0
        if not np.array_equal(y, wanted):
            failures.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 7)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    assert not np.asarray(x).any()


X = np.linspace(0.5, 1.0, 21, dtype=np.float32)
ONE_CALL = {
    "mean": lambda x, m: jnp.mean(x),
    "var": lambda x, m: jnp.var(m, axis=0),
    "nanmean": lambda x, m: jnp.nanmean(m, axis=1, where=m > 0),
    "nanvar": lambda x, m: jnp.nanvar(x),
    "nanstd": lambda x, m: jnp.nanstd(m, axis=0, keepdims=True),
    "median": lambda x, m: jnp.median(x),
    "cov": lambda x, m: jnp.cov(m),
    "diff": lambda x, m: jnp.diff(x, n=2),
    "gradient": lambda x, m: jnp.gradient(x),
    "interp": lambda x, m: jnp.interp(x, x, x),
    "trapezoid": lambda x, m: jnp.trapezoid(x),
    "vstack": lambda x, m: jnp.vstack([x, x]),
    "column_stack": lambda x, m: jnp.column_stack([x, x]),
    "dstack": lambda x, m: jnp.dstack([m, m]),
    "rot90": lambda x, m: jnp.rot90(m),
    "roll": lambda x, m: jnp.roll(m, 2),
    "split": lambda x, m: jnp.split(x, 3),
    "pad": lambda x, m: jnp.pad(m, 1),
    "where": lambda x, m: jnp.where(m, m, 0.0),
    "clip": lambda x, m: jnp.clip(x, 0.6, 0.8),
    "isclose": lambda x, m: jnp.isclose(x, x),
    "einsum": lambda x, m: jnp.einsum("ij,kj->ik", m, m),
    "kron": lambda x, m: jnp.kron(x, x),
    "norm": lambda x, m: jnp.linalg.norm(m, axis=1),
    "polyval": lambda x, m: jnp.polyval(x[:3], x),
    "searchsorted": lambda x, m: jnp.searchsorted(x, x),
}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ONE_CALL)
def test_what_is_made_of_several_operations_is_one_program(name, compiled):
    x, m = jnp.asarray(X), jnp.asarray(X.reshape(3, 7))
    ONE_CALL[name](x, m)  # what it needs beside, such as a mask, is there already
    olympus.clear_caches()
    x[:3], m > 0
    del compiled[:]
    ONE_CALL[name](x, m)
    assert len(compiled) == 1
