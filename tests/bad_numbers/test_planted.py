"""Each planted NaN and infinity is found at its line, and explained."""

import inspect

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import errors, lax
from olympus._src.checkify import number_steps
from tests.bad_numbers import planted, planted_more


def error_of(run, *args, kind="nan"):
    setting = olympus.debug_nans if kind == "nan" else olympus.debug_infs
    with setting(True), pytest.raises(errors.BadNumberError) as caught:
        run(*args)
    return caught.value


def marked_line(function):
    """The line of the mark in a row's program."""
    function = planted_more.MARKED.get(inspect.unwrap(function).__name__, function)
    lines, first = inspect.getsourcelines(inspect.unwrap(function))
    [at] = [i for i, line in enumerate(lines) if line.rstrip().endswith("# here")]
    return first + at


ROWS = [*planted.ROWS, *planted_more.ROWS]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.run.__name__)
def test_planted(row):
    error = error_of(row.run, *row.args, kind=row.kind)
    said = str(error)
    assert error.position.line == marked_line(row.run), said
    assert error.direction == row.direction, said
    assert error.iterations == row.iterations, said
    assert row.index is None or error.index == row.index, said
    assert error.cure, said
    assert row.cure in error.cure, said


def test_there_are_many():
    assert len({inspect.unwrap(row.run).__name__ for row in ROWS}) == len(ROWS) >= 120


def test_a_nan_that_came_in_is_said_by_the_name_of_its_argument():
    @olympus.jit
    def f(params, x):
        return x @ params["w"][1]

    w = np.ones((3, 2), np.float32)
    w[2, 1] = np.nan
    error = error_of(f, {"w": [w, w]}, np.ones(3, np.float32))
    assert "it came in with params['w'][1][2, 1] (nan)" in str(error)


def test_a_bad_argument_that_is_masked_is_not_blamed():
    @olympus.jit
    def f(data, x):
        return jnp.where(jnp.isnan(data), 0.0, data) + jnp.log(x)

    data = np.asarray([np.nan, 1], np.float32)
    error = error_of(f, data, np.asarray([1, -1], np.float32))
    assert error.primitive == "log"
    assert error.index == (1,)


def test_donated_arguments_are_kept_for_the_search():
    f = olympus.jit(lambda x: jnp.log(x) + 1, donate_argnums=0)
    error = error_of(f, jnp.asarray([1.0, -1.0]))
    assert error.primitive == "log"
    assert float(error.operands[0][1]) == -1


def test_hidden_numbers_are_found_on_request():
    f = olympus.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))
    x = np.asarray([-1, 2], np.float32)
    with olympus.debug_nans(True):
        f(x)
    olympus.config.update("olympus_debug_all_numbers", True)
    try:
        assert error_of(f, x).primitive == "log"
    finally:
        olympus.config.update("olympus_debug_all_numbers", False)


def test_a_long_scan_is_one_run():
    xs = np.ones(1000, np.float32)
    xs[700] = -1
    scan = olympus.jit(lambda xs: lax.scan(lambda c, x: (c + jnp.log(x), c), 0.0, xs))
    assert error_of(scan, xs).iterations == (700,)


def test_many_straight_equations_are_looked_at_one_by_one():
    def f(x):
        for i in range(150):
            x = jnp.sin(x) + i
        x = jnp.log(x - 1000.0)
        for _ in range(150):
            x = jnp.cos(x)
        return x

    error = error_of(olympus.jit(f), np.ones(3, np.float32))
    assert error.primitive == "log"


def test_equations_that_differ_in_literals_share_a_program():
    program = olympus.make_olympuspr(lambda x: (x + 1.0) * (x + 2.0) + (x + x))(1.0)
    first, second, _, double, _ = program.eqns
    assert number_steps._key(first) == number_steps._key(second)
    assert number_steps._key(first) != number_steps._key(double)


def test_a_mapped_while_loop_is_looked_into():
    def shrink(x, n):
        def step(carry):
            x, i = carry
            return jnp.log(x), i + 1

        return lax.while_loop(lambda c: c[1] < n, step, (x, 0))[0]

    x = np.asarray([1, 9, 20], np.float32)
    error = error_of(olympus.jit(olympus.vmap(shrink)), x, np.asarray([1, 2, 5]))
    assert error.primitive == "log"
    assert error.iterations == (4,)
    assert error.index == (2,)
    assert "cure: log" in str(error)


def test_a_mapped_while_loop_in_a_scan_is_looked_into():
    def shrink(x):
        def step(carry):
            x, i = carry
            return jnp.log(x), i + 1

        return lax.while_loop(lambda c: c[1] < x.astype("int32"), step, (x, 0))[0]

    @olympus.jit
    def f(rows):
        return lax.scan(lambda c, row: (c, olympus.vmap(shrink)(row)), 0.0, rows)[1]

    error = error_of(f, np.asarray([[1, 1], [2, 4]], np.float32))
    assert error.primitive == "log"
    assert error.iterations == (1, 3)
    assert error.index == (1,)


def test_callers_are_those_of_this_call_not_of_the_first_trace():
    @olympus.jit
    def inner(x):
        return jnp.log(x)

    def first(x):
        return inner(x)

    def second(x):
        return inner(x)

    olympus.jit(first)(np.float32(1))
    said = str(error_of(olympus.jit(second), np.float32(-1)))
    assert "second)" in said
    assert "first)" not in said


def mesh_of_four():
    mesh = olympus.make_mesh((4,), ("i",))
    return mesh, olympus.sharding.NamedSharding(mesh, P("i"))


P = olympus.sharding.PartitionSpec


@pytest.mark.eight_devices
def test_in_a_divided_loop():
    x = olympus.device_put(np.arange(8, dtype=np.float32), mesh_of_four()[1])
    f = olympus.jit(
        lambda x: lax.fori_loop(0, 4, lambda i, c: jnp.log(c) * (i < 9), x + 2.0)
    )
    error = error_of(f, x)
    assert (error.primitive, error.iterations, error.index) == ("log", (2,), (0,))


@pytest.mark.eight_devices
def test_in_a_shard_map():
    mesh, _ = mesh_of_four()
    f = olympus.shard_map(
        lambda x: jnp.log(x - 3.0), mesh=mesh, in_specs=P("i"), out_specs=P("i")
    )
    error = error_of(olympus.jit(f), np.arange(8, dtype=np.float32))
    assert error.primitive == "log"


@pytest.mark.eight_devices
def test_on_another_device():
    x = olympus.device_put(np.asarray([1, -1], np.float32), olympus.devices()[1])
    error = error_of(olympus.jit(lambda x: jnp.log(x)), x)
    assert (error.primitive, error.index) == ("log", (1,))


def test_a_program_of_many_different_equations_is_searched_in_one_piece():
    @olympus.jit
    def f(x):
        for _ in range(70):
            x = jnp.concatenate([x, x[:1]]) * 0.5
        return jnp.log(x - 1.0)

    error = error_of(f, np.ones(3, np.float32))
    assert error.primitive == "log"
