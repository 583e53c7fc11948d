"""Operations that are written again from templates are written as by their rules."""

import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core.avals import ShapedArray
from olympus._src.core.primitive import Primitive
from olympus._src.lax.elementwise import sin_p
from olympus._src.lowering import builder, module, templates
from olympus.extend import core

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def _text(f, *args):
    return olympus.jit(lambda *xs: f(*xs)).lower(*args)._lowered.text


def _with_rules(f, *args):
    """The text as rules alone write it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templates, "of_module", lambda module: None)
        return _text(f, *args)


def _layers(x):
    for _ in range(3):
        x = jnp.tanh(x @ x.T @ x) / jnp.max(x, axis=1, keepdims=True) + 2
        x = jnp.where(x > 0, x, -0.0) - jnp.sum(x * x, axis=0)
    return x


@pytest.mark.parametrize(
    "f",
    [
        _layers,
        lambda x: olympus.grad(lambda x: _layers(x).sum())(x),
        lambda x: [jnp.sort(x, axis=i % 2) for i in range(6)],
        lambda x: [jnp.max(x, axis=0) for _ in range(4)],
        lambda x: [x.at[i].add(x[0], mode="drop") for i in range(4)],
        lambda x: [lax.rem(x.astype(int), i) for i in range(5)],
        lambda x: [jnp.cumsum(x * i, axis=1) for i in range(4)],
        lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(jnp.sin(c)), x),
        lambda x: [jnp.unstack(x * i) for i in range(4)],
    ],
)
def test_texts_are_those_of_the_rules(f):
    want = _with_rules(f, X)
    for _ in range(3):  # the second time templates are made, and used the third time
        assert _text(f, X) == want


def test_networks_are_written_from_templates(monkeypatch):
    calls = []
    init = builder.Context.__init__

    def count(self, outer, block, eqn):
        calls.append(eqn.primitive)
        init(self, outer, block, eqn)

    monkeypatch.setattr(builder.Context, "__init__", count)
    for _ in range(3):
        calls.clear()
        _text(_layers, X)
    assert not calls


def test_divisors_are_told_by_their_values():
    def divide(by):
        return lambda x: [x / by, x / by, x / by]

    # The reciprocal of the second is no normal number.
    divisors = (3.0, np.float32(2.0**127), X, 3.0)
    want = [_with_rules(divide(by), X) for by in divisors]
    for _ in range(3):
        assert [_text(divide(by), X) for by in divisors] == want
    assert "clamp" in want[1]
    assert "clamp" not in want[0]


@pytest.mark.parametrize("fills", [(0.0, -0.0), (0.0, np.nan), (1, 1.0, True)])
def test_equal_parameters_are_told_apart(fills):
    def take(fill):
        return lambda x: [jnp.take(x, X.astype(int), fill_value=fill) for _ in range(3)]

    want = [_with_rules(take(fill), X) for fill in fills]
    for _ in range(3):
        assert [_text(take(fill), X) for fill in fills] == want


def test_attributes_of_foreign_calls_are_told_apart():
    kind = olympus.ShapeDtypeStruct((3, 4), np.float32)

    def call(value):
        f = olympus.ffi.ffi_call("a_target", kind)
        return lambda x: [f(x, value=value) for _ in range(3)]

    values = (np.float32(0.0), np.float32(-0.0), True, np.int32(1), np.float32(1.0))
    want = [_with_rules(call(value), X) for value in values]
    assert len(set(want)) == len(want)
    for _ in range(3):
        assert [_text(call(value), X) for value in values] == want


def test_zeros_and_nan_of_constants_are_told_apart():
    nan = np.float32(np.nan)
    payload = np.array(0x7FC00001, np.uint32).view(np.float32)[()]
    for values in [(0.0, -0.0), (nan, payload), (np.nan, -np.nan), (0, 0.0, False)]:
        block = builder.Block()
        kind = ShapedArray((), np.float32)
        again = [block.constant(x, kind) for x in (*values, *values)]
        texts = [line.partition(" = ")[2] for line in block.lines]
        assert len(texts) == len(set(texts))
        assert again[: len(values)] == again[len(values) :]


# -- rules -----------------------------------------------------------------------------


def test_rules_of_users_are_called_each_time():
    calls = []
    twice_p = core.Primitive("twice_of_a_user")
    twice_p.def_abstract_eval(lambda x: x)

    def lower(ctx, x):
        calls.append(x)
        return ctx.block.elementwise("stablehlo.add", [x, x], ctx.avals_out[0])

    twice_p.set_rule("lower", lower)
    for _ in range(3):
        _text(lambda x: [twice_p.bind(x) for _ in range(3)], X)
    assert len(calls) == 9


def test_a_rule_that_is_replaced_is_called(monkeypatch):
    for _ in range(3):
        assert "stablehlo.sine" in _text(lambda x: jnp.sin(jnp.sin(x)), X)

    def cosine(ctx, x):
        return ctx.block.elementwise("stablehlo.cosine", [x], ctx.avals_out[0])

    monkeypatch.setattr(sin_p, "lower", cosine)
    for _ in range(3):
        assert "stablehlo.sine" not in _text(lambda x: jnp.sin(jnp.sin(x)), X)


def _ours(rule):
    """A primitive whose rule counts as one of olympus."""
    rule.__module__ = "olympus._src.lax.elementwise"
    return Primitive("ours", abstract=lambda *xs: xs[0], lower=rule)


def _refused(look):
    """Whether a rule that does something besides writing is called each time."""
    calls = []

    def rule(ctx, x):
        calls.append(x)
        look(ctx, x)
        return ctx.block.elementwise("stablehlo.negate", [x], ctx.avals_out[0])

    p = _ours(rule)
    for _ in range(4):
        _text(lambda x: p.bind(x), X)
    # One call more, which was refused.
    return len(calls) == 5


@pytest.mark.parametrize(
    "look",
    [
        lambda ctx, x: ctx.eqn,
        lambda ctx, x: ctx.module.symbol("f"),
        lambda ctx, x: ctx.module.functions,
        lambda ctx, x: ctx.block.lines,
        lambda ctx, x: ctx.block.known,
        lambda ctx, x: ctx.block.tokens,
        lambda ctx, x: ctx.block.sizes,
        lambda ctx, x: ctx.block.counter,
        lambda ctx, x: ctx.block.constants,
        lambda ctx, x: ctx.block.fresh(),
        lambda ctx, x: ctx.block.callbacks(),
        lambda ctx, x: ctx.block.inner().counter,
        lambda ctx, x: setattr(ctx.block, "known", {}),
        lambda ctx, x: setattr(ctx.block, "folds", False),
        lambda ctx, x: x == "%0",
        lambda ctx, x: x != "%0",
        lambda ctx, x: {x: 1},
        lambda ctx, x: x in ["%0"],
        lambda ctx, x: x[0],
        lambda ctx, x: len(x),
        lambda ctx, x: bool(x),
        lambda ctx, x: x.partition("#"),
        lambda ctx, x: repr(x),
        lambda ctx, x: str(x) == "%0",
    ],
)
def test_rules_that_look_further_are_called_each_time(look):
    assert _refused(look)


def test_a_rule_that_only_writes_is_called_twice():
    assert not _refused(lambda ctx, x: (ctx.platform, ctx.module.moves_slices))


def test_errors_of_rules_are_theirs():
    def rule(ctx, x):
        if len(ctx.block.lines) > 2:
            raise NotImplementedError("of the rule")
        return ctx.block.elementwise("stablehlo.negate", [x], ctx.avals_out[0])

    p = _ours(rule)
    with pytest.raises(NotImplementedError, match="of the rule"):
        _text(lambda x: [p.bind(p.bind(p.bind(p.bind(x))))], X)


# -- what is kept ----------------------------------------------------------------------


def test_templates_are_of_platform_and_settings():
    def kept(platform):
        return templates.of_module(module.Module("jit_f", platform))

    here = kept("cpu")
    assert kept("cpu") is here
    assert kept("cuda") is not here
    with olympus.enable_x64(True):
        assert kept("cpu") is not here
    olympus.clear_caches()
    assert kept("cpu") is not here


def test_few_templates_are_kept(monkeypatch):
    monkeypatch.setattr(templates, "_MOST", 8)
    olympus.clear_caches()
    for n in range(1, 30):
        _text(lambda x: jnp.sin(jnp.sin(x)), np.ones(n, np.float32))
    assert len(templates.of_module(module.Module("jit_f", "cpu"))) <= 8
    olympus.clear_caches()


def test_threads_write_the_same():
    want = _with_rules(_layers, X)
    olympus.clear_caches()
    texts = []
    barrier = threading.Barrier(6)

    def run():
        barrier.wait()
        texts.extend(_text(_layers, X) for _ in range(4))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [want] * 24
