"""Arguments that a program does not use say nothing about where it runs."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.extend import core
from olympus.interpreters import partial_eval as pe
from olympus.sharding import NamedSharding, SingleDeviceSharding
from olympus.sharding import PartitionSpec as P
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
HOST = np.arange(8, dtype=np.float32)


def on(number, x=HOST):
    return olympus.device_put(x, olympus.devices()[number])


def places_of(x):
    return sorted(device.id for device in x.devices()), x.committed


def double(x, unused):
    return x * 2


class Pair:
    """A node of trees that the part in C does not know."""

    def __init__(self, first, second):
        self.first, self.second = first, second


olympus.tree_util.register_pytree_node(
    Pair, lambda p: ((p.first, p.second), None), lambda _, children: Pair(*children)
)


@pytest.mark.parametrize(
    ("first", "unused", "expected"),
    [
        (on, lambda: on(2), ([1], True)),
        (lambda _: jnp.asarray(HOST), lambda: on(2), ([0], False)),
        (lambda _: HOST, lambda: on(2), ([0], False)),
        (on, lambda: divide(HOST, "x", over=mesh(2)), ([1], True)),
        (lambda _: divide(HOST, "x", over=mesh(2)), lambda: on(5), ([0, 1], True)),
        (
            lambda _: divide(HOST, "x", over=mesh(2)),
            lambda: divide(HOST),
            ([0, 1], True),
        ),
    ],
)
def test_programs_run_where_the_used_arguments_are(first, unused, expected):
    x = first(1)
    f = olympus.jit(double)
    g = olympus.jit(lambda pair: pair.first * 2)
    for _ in range(3):
        for out in (
            f(x, unused()),
            g(Pair(x, unused())),
            f.lower(x, unused()).compile()(x, unused()),
        ):
            assert places_of(out) == expected
            np.testing.assert_array_equal(out, HOST * 2)


def test_programs_of_no_argument_run_on_the_default_device():
    f = olympus.jit(lambda x, y: jnp.ones(3))
    assert places_of(f(on(1), on(2))) == ([0], False)
    with olympus.default_device(olympus.devices()[3]):
        assert places_of(f(on(1), on(2))) == ([3], False)


def test_kept_arguments_say_where_a_program_runs():
    f = olympus.jit(double, keep_unused=True)
    assert places_of(f(jnp.asarray(HOST), on(2))) == ([2], True)
    with pytest.raises(ValueError, match="incompatible devices"):
        f(on(1), on(2))


def test_used_arguments_on_two_devices_are_refused():
    used_by_effect = lambda x, y: (olympus.debug.callback(print, y), x)[1]  # noqa: E731
    for f in (lambda x, y: x + y, lambda x, y: (x, y), used_by_effect):
        with pytest.raises(ValueError, match="incompatible devices"):
            olympus.jit(f)(on(1), on(2))


def test_deleted_arguments_that_are_unused_are_taken():
    x, gone = on(1), jnp.asarray(HOST) + 1
    gone.delete()
    f = olympus.jit(double)
    for _ in range(3):
        assert places_of(f(x, gone)) == ([1], True)
    assert places_of(f.lower(x, HOST).compile()(x, gone)) == ([1], True)


def test_unused_donated_arguments_are_kept():
    gift = on(2)
    out = olympus.jit(double, donate_argnums=1)(on(1), gift)
    assert places_of(out) == ([1], True)
    assert not gift.is_deleted()


@pytest.mark.parametrize(
    "run",
    [
        lambda x, y: (
            olympus.grad(lambda x, y: olympus.jit(double)(x, y).sum())(x, y) * x
        ),
        lambda x, y: olympus.vmap(olympus.jit(double))(x, y),
        lambda x, y: olympus.jvp(lambda x: olympus.jit(double)(x, y), (x,), (x,))[1],
        lambda x, y: lax.scan(lambda c, row: (c * 2, None), x, y[:1])[0],
        lambda x, y: lax.cond(True, double, lambda x, y: x, x, y),
        lambda x, y: lax.switch(1, [lambda x, y: x, double], x, y),
        lambda x, y: lax.while_loop(
            lambda c: c[1] < 1, lambda c: (c[0] * 2, c[1] + 1, c[2]), (x, 0, HOST)
        )[0],
        lambda x, y: olympus.checkpoint(double)(x, y),
    ],
)
def test_transformed_programs_run_where_the_used_arguments_are(run):
    out = run(on(1), on(2))
    assert places_of(out) == ([1], True)
    np.testing.assert_array_equal(out, HOST * 2)


def test_captured_arrays_do_not_say_where_a_program_runs():
    table = on(2)
    add = olympus.jit(lambda x: x + table)
    for f in (add, olympus.jit(lambda x: add(x)), add.lower(on(1)).compile()):
        out = f(on(1))
        assert places_of(out) == ([1], True)
        np.testing.assert_array_equal(out, HOST * 2)


def test_options_for_unused_arguments_say_nothing():
    third = SingleDeviceSharding(olympus.devices()[3])
    whole = NamedSharding(mesh(2), P())
    for unused in (third, whole):
        f = olympus.jit(double, in_shardings=(None, unused))
        assert places_of(f(on(1), HOST)) == ([1], True)
        assert places_of(f(HOST, HOST)) == ([0], False)


def test_compiled_programs_tell_which_arguments_they_take():
    for x in (on(1), divide(HOST, "x")):
        compiled = olympus.jit(double).lower(x, on(2)).compile()
        assert compiled.input_shardings == ((x.sharding, None), {})
        assert compiled.input_formats[0][1].sharding is None
        assert compiled.input_formats[0][0].sharding == x.sharding


def test_compiled_programs_refuse_arrays_on_other_devices():
    compiled = olympus.jit(double).lower(on(1), on(2)).compile()
    for free in (jnp.asarray(HOST), HOST):
        assert places_of(compiled(free, on(3))) == ([1], True)
    with pytest.raises(ValueError, match=r"Argument 'x' .*id=1.* called with .*id=2"):
        compiled(on(2), on(2))


# -- in_shardings ----------------------------------------------------------------------


def test_arrays_move_where_the_option_divides_them_alike():
    third = SingleDeviceSharding(olympus.devices()[3])
    pair, other = mesh(2), olympus.sharding.Mesh(olympus.devices()[4:6], ("y",))
    whole, parts = NamedSharding(pair, P()), NamedSharding(pair, P("x"))
    for x, option in (
        (on(1), third),
        (on(1), whole),
        (olympus.device_put(HOST, whole), third),
        (olympus.device_put(HOST, NamedSharding(other, P("y"))), parts),
        (olympus.device_put(HOST, NamedSharding(other, P())), whole),
    ):
        f = olympus.jit(lambda x: x * 2, in_shardings=option)
        before = x.sharding
        for _ in range(3):
            out = f(x)
            np.testing.assert_array_equal(out, HOST * 2)
            assert out.devices() == option.device_set
            assert out.committed
        assert x.sharding == before


def test_arrays_that_the_option_divides_otherwise_are_refused():
    parts = NamedSharding(mesh(2), P("x"))
    for x, option in (
        (on(1), parts),
        (divide(HOST, "x", over=mesh(2)), NamedSharding(mesh(2), P())),
        (divide(HOST, "x", over=mesh(4)), parts),
    ):
        with pytest.raises(ValueError, match="must be divided as the option says"):
            olympus.jit(lambda x: x * 2, in_shardings=option)(x)


def test_no_rule_for_dead_code_is_asked_where_nothing_depends_on_it():
    p = core.Primitive("asked")
    p.def_abstract_eval(lambda x: x)
    asked = []

    def rule(used, eqn):
        asked.append(used)
        return [True], eqn

    pe.dce_rules[p] = rule
    olympus.make_olympuspr(lambda x: (x, p.bind(x)))(1.0)
    assert not asked
