"""Named scopes, evaluation while tracing, leaks."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
from olympus import errors, lax

X = np.array([3.0, 1.0, 2.0], np.float32)


def names(f, *args):
    text = olympus.jit(f).lower(*args).as_text(debug_info=True)
    return re.findall(r'loc\("(jit_[^"]*)"', text)


def test_scopes_name_operations_and_nest():
    def f(x):
        with olympus.named_scope("outer"), olympus.named_scope("inner"):
            x = lax.mul(x, x)
        return lax.add(x, x)

    found = names(f, X)
    assert "jit_f/outer/inner/mul" in found
    assert "jit_f/add" in found


def test_a_scope_decorates():
    @olympus.named_scope("layer")
    def layer(x):
        return lax.mul(x, x)

    assert layer.__name__ == "layer"
    assert "jit__lambda_/layer/mul" in names(lambda x: layer(layer(x)), X)


def test_named_call_takes_the_functions_name():
    def block(x):
        return lax.mul(x, x)

    assert "jit__lambda_/block/mul" in names(lambda x: olympus.named_call(block)(x), X)
    other = olympus.named_call(block, name="other")
    assert "jit__lambda_/other/mul" in names(lambda x: other(x), X)


def test_a_scope_ends_with_an_error():
    def f(x):
        try:
            with olympus.named_scope("lost"):
                raise ValueError
        except ValueError:
            return lax.mul(x, x)

    assert "jit_f/mul" in names(f, X)


def test_a_scope_reaches_into_loops():
    def f(x):
        with olympus.named_scope("loop"):
            return lax.fori_loop(0, 3, lambda i, c: lax.mul(c, x), x)

    assert any("loop/scan" in name for name in names(f, X))


def test_a_scope_needs_a_string():
    with pytest.raises(TypeError, match="named_scope: name must be a string, got 3"):
        olympus.named_scope(3)


def test_known_values_are_computed_while_tracing():
    def f(x):
        with olympus.ensure_compile_time_eval():
            n = lax.add(np.int32(2), np.int32(3))
            assert not isinstance(n, olympus.core.Tracer)
            y = lax.mul(x, 2.0)
        assert isinstance(lax.add(np.int32(2), np.int32(3)), olympus.core.Tracer)
        return lax.add(y, float(int(n)))

    text = str(olympus.make_olympuspr(f)(X))
    assert re.search(r"add b 5\.0:f32\[\]", text)
    np.testing.assert_array_equal(olympus.jit(f)(X), 2 * X + 5)
    np.testing.assert_array_equal(olympus.vmap(olympus.jit(f))(X), 2 * X + 5)


def test_compiled_functions_run_while_tracing():
    inner = olympus.jit(
        lambda v: lax.scan(lambda c, u: (lax.add(c, u), None), 0.0, v)[0]
    )

    @olympus.ensure_compile_time_eval()
    def total():
        return float(inner(X))

    assert float(olympus.jit(lambda x: lax.mul(x, total()))(2.0)) == 12.0


def test_evaluation_outside_of_a_trace_is_as_ever():
    with olympus.ensure_compile_time_eval():
        np.testing.assert_array_equal(lax.add(X, X), 2 * X)


# -- leaks -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trace",
    [
        lambda f: olympus.jit(f)(X),
        *(
            pytest.param(f, marks=pytest.mark.slow)
            for f in (
                lambda f: olympus.make_olympuspr(f)(X),
                lambda f: lax.scan(lambda c, x: (f(c), None), X, None, length=2),
                lambda f: lax.cond(True, f, lambda x: x, X),
                lambda f: lax.while_loop(lambda c: False, f, X),
            )
        ),
    ],
    ids=["jit", "make_olympuspr", "scan", "cond", "while_loop"],
)
@pytest.mark.usefixtures("few_objects")
def test_leaks_are_found(trace):
    kept = []

    def leaky(x):
        y = lax.mul(x, x)
        kept.append(y)
        return y

    with olympus.checking_leaks(), pytest.raises(errors.LeakError) as caught:
        trace(leaky)
    assert re.search(
        r"Leaked 1 traced value\(s\) from (leaky|<lambda>)", str(caught.value)
    )
    assert f"made by mul at {__file__}:" in str(caught.value)


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_clean_functions_pass():
    with olympus.checking_leaks():
        out = olympus.jit(
            lambda x: lax.scan(lambda c, v: (lax.add(c, v), c), np.float32(0), x)
        )(X)
    assert float(out[0]) == 6.0


def test_a_value_of_an_ended_loop_is_refused():
    kept = []
    lax.scan(lambda c, x: (kept.append(x) or c, None), 0.0, X)
    with pytest.raises(errors.UnexpectedTracerError, match="the argument x of"):
        lax.add(kept[0], 1.0)
