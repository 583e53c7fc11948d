"""The prompt of `debug.breakpoint`."""

from __future__ import annotations

import io

import numpy as np
import pytest

import olympus
from olympus import debug, lax


def session(f, commands, *args):
    out = io.StringIO()
    f(io.StringIO("\n".join(commands) + "\n"), out)(*args)
    olympus.effects_barrier()
    return out.getvalue()


def program(stdin, stdout):
    @olympus.jit
    def f(x):
        y = lax.mul(x, 2.0)
        named = {"y": y, "text": "static"}
        debug.breakpoint(stdin=stdin, stdout=stdout)
        return lax.add(named["y"], 1.0)

    return f


def test_values_of_variables():
    text = session(program, ["p x", "pp y", "p named", "y", "c"], 3.0)
    assert "Array(3., dtype=float32)" in text
    assert "\n(oldb) 6.0\n" in text
    assert "{'text': 'static', 'y': Array(6., dtype=float32)}" in text


def test_frames_and_source():
    text = session(program, ["bt", "l", "u", "p stdin", "d", "d", "c"], 3.0)
    assert f"> {__file__}(" in text
    assert "-> " in text
    assert "debug.breakpoint(stdin=stdin, stdout=stdout)" in text
    assert "there is no frame further on" in text


def test_errors_of_expressions_are_shown():
    text = session(program, ["p missing", "", "c"], 3.0)
    assert "NameError: name 'missing' is not defined" in text


def test_the_end_of_input_continues():
    assert "Entering oldb:" in session(program, [], 3.0)


def test_giving_up_interrupts():
    with pytest.raises(KeyboardInterrupt):
        session(program, ["q"], 3.0)


def test_it_stops_at_each_step():
    def loop(stdin, stdout):
        def body(i, c):
            debug.breakpoint(stdin=stdin, stdout=stdout, ordered=True)
            return lax.add(c, i)

        return olympus.jit(lambda n: lax.fori_loop(0, n, body, 0))

    text = session(loop, ["p i", "c", "p i", "c"], np.int32(2))
    assert text.count("Entering oldb:") == 2
    assert text.index("Array(0,") < text.index("Array(1,")


def test_refusals():
    with pytest.raises(ValueError, match="backend must be 'cli' or None, got 'web'"):
        debug.breakpoint(backend="web")
    with pytest.raises(TypeError, match="the option 'color' is unknown"):
        debug.breakpoint(color=True)
