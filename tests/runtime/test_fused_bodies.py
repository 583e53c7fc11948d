"""Programs without the bodies of fusions run, and the whole ones describe them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import random
from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import compile_cache, compiling, fused_bodies

X = np.linspace(-2.0, 2.0, 24, dtype=np.float32).reshape(4, 6)


def loops(x):
    return olympus.lax.fori_loop(0, 3, lambda i, y: jnp.sin(y) * 2 + i, x)


def reductions(x):
    return jnp.tanh(x).sum(0), (x * x + 1).max(1), jnp.sort(jnp.exp(x) - x, axis=0)


def products(x):
    y = x @ x.T
    return (jnp.tanh(y * 2 + 1) * jnp.exp(-y * y) + jnp.sin(y)) @ jnp.cos(x)


def draws(x):
    return random.normal(random.key(0), x.shape) + x


def gradients(x):
    return olympus.grad(lambda x: (jnp.tanh(x * 3 + 1) ** 3).mean())(x)


def calls(x):
    kind = olympus.ShapeDtypeStruct(x.shape, x.dtype)
    y = olympus.pure_callback(lambda y: np.asarray(y) * 2, kind, jnp.tanh(x * 3) + 1)
    return jnp.sin(y) * jnp.exp(-y) + jnp.cos(y * x)


PROGRAMS = [loops, reductions, products, draws, gradients, calls]


@pytest.fixture
def folder(tmp_path):
    with (
        compiler.enable_compilation_cache(True),
        compiler.compilation_cache_dir(str(tmp_path)),
        compiler.host_kernels_after(-1),  # which look at whole programs
    ):
        yield tmp_path
    compile_cache.reset()


def compile_again(function):
    """The function compiled in a new place, as another process would."""
    olympus.clear_caches()
    return olympus.jit(lambda x: function(x)).lower(X).compile()


@pytest.mark.parametrize("function", PROGRAMS)
def test_a_shorter_program_does_the_same_and_describes_the_whole(
    function, folder, monkeypatch
):
    first = compile_again(function)
    lengths = []
    load = compiling.load_serialized

    def note(data, *args):
        lengths.append(len(data))
        return load(data, *args)

    monkeypatch.setattr(compiling, "load_serialized", note)
    second = compile_again(function)
    assert len(lengths) == 1  # the program was on disk, and loaded once
    for a, b in zip(
        olympus.tree.leaves(first(X)), olympus.tree.leaves(second(X)), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    whole = second._compiled.executable.serialize()
    assert lengths[0] < len(whole)
    assert fused_bodies.leave_out(whole) is not None
    n_loaded = len(lengths)  # calls of Python in calls have programs of their own
    assert second.as_text() == first.as_text()
    assert len(lengths) == n_loaded + 1  # looked at, it is loaded whole, once
    assert second.cost_analysis() == first.cost_analysis()
    described = [str(p.memory_analysis()) for p in (first, second)]
    assert re.sub("0x[0-9a-f]+", "", described[0]) == re.sub(
        "0x[0-9a-f]+", "", described[1]
    )
    assert "left out" not in second.runtime_executable().hlo_modules()[0].to_string()
    assert len(lengths) == n_loaded + 1


def test_the_whole_program_is_loaded_where_the_shorter_one_fails(folder, monkeypatch):
    monkeypatch.setattr(fused_bodies, "leave_out", lambda program: b"nonsense")
    want = np.asarray(compile_again(products)(X))
    np.testing.assert_array_equal(compile_again(products)(X), want)


def test_bodies_are_left_out_once(folder):
    short = fused_bodies.leave_out(
        compile_again(products)._compiled.executable.serialize()
    )
    assert short is not None
    assert b"left out" in short
    assert fused_bodies.leave_out(short) is None


@pytest.mark.parametrize("data", [b"", b"\0", b"\x01", b"\x7f" * 40, bytes(100)])
def test_other_bytes_are_left_alone(data):
    assert fused_bodies.leave_out(data) is None
