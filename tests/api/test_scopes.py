"""Named scopes, evaluation while tracing, leaks."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import config, errors, lax
from olympus.experimental.xla_metadata import set_xla_metadata

X = np.array([3.0, 1.0, 2.0], np.float32)


def names(f, *args):
    text = olympus.jit(f).lower(*args).as_text(debug_info=True)
    return re.findall(r'loc\("(jit\([^"]*)"', text)


def test_scopes_name_operations_and_nest():
    def f(x):
        with olympus.named_scope("outer"), olympus.named_scope("inner"):
            x = lax.mul(x, x)
        return lax.add(x, x)

    found = names(f, X)
    assert "jit(f)/outer/inner/mul" in found
    assert "jit(f)/add" in found


def test_a_scope_decorates():
    @olympus.named_scope("layer")
    def layer(x):
        return lax.mul(x, x)

    assert layer.__name__ == "layer"
    assert "jit(<lambda>)/layer/mul" in names(lambda x: layer(layer(x)), X)


def test_named_call_takes_the_functions_name():
    def block(x):
        return lax.mul(x, x)

    assert "jit(<lambda>)/block/mul" in names(lambda x: olympus.named_call(block)(x), X)
    other = olympus.named_call(block, name="other")
    assert "jit(<lambda>)/other/mul" in names(lambda x: other(x), X)


def test_a_scope_ends_with_an_error():
    def f(x):
        try:
            with olympus.named_scope("lost"):
                raise ValueError
        except ValueError:
            return lax.mul(x, x)

    assert "jit(f)/mul" in names(f, X)


def test_a_scope_reaches_into_loops():
    def f(x):
        with olympus.named_scope("loop"):
            return lax.fori_loop(0, 3, lambda i, c: lax.mul(c, x), x)

    assert any("loop/scan" in name for name in names(f, X))


def layer(w, x):
    with olympus.named_scope("layer"):
        with olympus.named_scope("dense"):
            y = jnp.dot(x, w)
        return jnp.tanh(y)


def loss(w, x):
    return (layer(w, x) ** 2).sum()


W, ROWS = np.ones((3, 3), np.float32), np.ones((2, 3), np.float32)


def test_derivatives_keep_the_names_of_scopes():
    found = names(olympus.grad(loss), W, ROWS)
    assert "jit(loss)/jvp(layer)/dense/dot_general" in found
    assert "jit(loss)/jvp(layer)/tanh" in found
    assert "jit(loss)/transpose(jvp(layer))/dense/dot_general" in found
    assert "jit(loss)/transpose(jvp())/mul" in found


def test_scopes_around_a_derivative_come_once():
    def outer(w, x):
        with olympus.named_scope("optimizer"):
            return olympus.grad(loss)(w, x)

    found = names(outer, W, ROWS)
    assert "jit(outer)/optimizer/jvp(layer)/tanh" in found
    assert "jit(outer)/optimizer/transpose(jvp(layer))/dense/dot_general" in found
    assert not any(name.count("optimizer") > 1 for name in found)


def test_a_vjp_is_called_in_another_scope():
    def outer(w, x):
        with olympus.named_scope("forward"):
            _, vjp = olympus.vjp(loss, w, x)
        with olympus.named_scope("backward"):
            return vjp(jnp.float32(1))

    found = names(outer, W, ROWS)
    assert "jit(outer)/forward/jvp(layer)/tanh" in found
    assert "jit(outer)/backward/transpose(jvp(layer))/dense/dot_general" in found


def test_mapped_functions_are_marked():
    found = names(olympus.vmap(olympus.grad(loss), (None, 0)), W, ROWS[:, None])
    assert "jit(loss)/vmap(jvp(layer))/tanh" in found
    assert "jit(loss)/vmap(transpose(jvp(layer)))/dense/dot_general" in found
    assert "jit(loss)/vmap(layer)/tanh" in names(
        olympus.vmap(loss, (None, 0)), W, ROWS[:, None]
    )


def test_functions_within_begin_anew():
    inner = olympus.jit(layer)

    def outer(w, x):
        with olympus.named_scope("call"):
            return inner(w, x).sum()

    found = names(olympus.grad(outer), W, ROWS)
    assert "jit(outer)/jvp(call)/jit(layer)" in found
    assert "jit(outer)/transpose(jvp(call))/jit(layer)" in found
    assert "jit(outer)/jit(layer)/transpose(jvp(layer))/dense/dot_general" in found


def test_bodies_of_loops_follow_the_loop():
    def outer(w, x):
        with olympus.named_scope("loop"):
            return lax.scan(lambda c, _: (layer(w, c), None), x, length=3)[0].sum()

    found = names(olympus.grad(outer), W, ROWS)
    assert "jit(outer)/jvp(loop)/scan/jvp(layer)/tanh" in found
    assert any(
        name.startswith("jit(outer)/transpose(jvp(loop))/scan/transpose(jvp(layer))")
        for name in found
    )


def test_rules_of_users_run_in_the_scope_of_the_call():
    @olympus.custom_vjp
    def f(x):
        return jnp.sin(x)

    f.defvjp(lambda x: (jnp.sin(x), x), lambda r, g: (g * jnp.cos(r),))

    def outer(x):
        with olympus.named_scope("mine"):
            return f(x).sum()

    assert "jit(outer)/transpose(jvp(mine))/cos" in names(olympus.grad(outer), X)


def test_attributes_stay_with_derivatives():
    def f(x):
        with olympus.named_scope("mine"), set_xla_metadata(a="1"):
            return jnp.sin(x).sum()

    text = olympus.jit(olympus.grad(f)).lower(X).as_text()
    assert text.count('mhlo.frontend_attributes = {a = "1"}') >= 2


def test_locations_hold_the_calls_of_the_user():
    def inner(x):
        return jnp.sin(x)

    def outer(x):
        return inner(x)

    text = olympus.jit(outer).lower(X).as_text(debug_info=True)
    name = "test_locations_hold_the_calls_of_the_user.<locals>"
    assert f'loc("{name}.inner"(' in text
    assert f'loc("{name}.outer"(' in text
    assert "callsite" in text
    with config.traceback_in_locations_limit(1):
        text = olympus.jit(lambda x: outer(x)).lower(X).as_text(debug_info=True)
    assert "callsite" not in text
    assert 'loc("jit(<lambda>)/sin"' in text
    with config.include_full_tracebacks_in_locations(False):
        text = olympus.jit(lambda x: outer(x)).lower(X).as_text(debug_info=True)
    assert "callsite" not in text


def test_positions_know_their_callers():
    def inner(x):
        return jnp.sin(x)

    def outer(x):
        return inner(x)

    (eqn,) = olympus.make_olympuspr(outer)(X).eqns
    functions = [p.function.rpartition(".")[2] for p in eqn.source.callers]
    assert eqn.source.function.endswith("inner")
    assert functions[:2] == ["outer", "test_positions_know_their_callers"]
    assert [p.file for p in eqn.source.callers[:2]] == [__file__] * 2


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
