"""Additions at several lists of positions are one addition."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.interpreters import joined_scatters
from olympus._src.lax.scatter import scatter_add_p


def count(f, *args, platform="cpu"):
    program = olympus.make_olympuspr(f)(*args).olympuspr
    joined = joined_scatters.join(program, platform)
    return [eqn.primitive for eqn in joined.eqns].count(scatter_add_p)


def add_lists(x, lists, values, **options):
    for i, v in zip(lists, values, strict=True):
        x = x.at[i].add(v, **options)
    return x


def by_numpy(x, lists, values):
    x = np.array(x)
    for i, v in zip(lists, values, strict=True):
        np.add.at(x, np.asarray(i), np.asarray(v))
    return x


def draw(n_lists, length, shape, size, dtype="float32"):
    rng = np.random.default_rng(n_lists * 7 + length)
    lists = [rng.integers(0, size, length) for _ in range(n_lists)]
    values = rng.normal(size=(n_lists, length, *shape)).astype(dtype)
    x = rng.normal(size=(size, *shape)).astype(dtype)
    return x, [jnp.asarray(i, "int32") for i in lists], list(map(jnp.asarray, values))


CASES = {  # lists, their length, shape of what is added; how many additions are left
    "elements": (3, 20, (), 1),
    "rows": (4, 7, (4,), 1),
    "windows": (8, 5, (2, 3), 1),
    "more than XLA joins": (11, 5, (), 2),
    "one more than that": (9, 5, (), 2),
    "two": (2, 9, (), 2),
    "long": (3, 10_000, (), 3),
    "large": (3, 60, (1000,), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_additions(case):
    n_lists, length, shape, n = CASES[case]
    x, lists, values = draw(n_lists, length, shape, 50)
    out = olympus.jit(add_lists)(x, lists, values)
    np.testing.assert_allclose(out, by_numpy(x, lists, values), rtol=1e-5, atol=1e-5)
    assert count(add_lists, x, lists, values) == n


@pytest.mark.parametrize("dtype", ["int32", "uint32", "complex64", "float32"])
def test_dtypes(dtype):
    x, lists, values = draw(3, 30, (), 8)
    x, values = jnp.asarray(x * 100, dtype), [(v * 100).astype(dtype) for v in values]
    out = olympus.jit(add_lists)(x, lists, values)
    np.testing.assert_allclose(out, by_numpy(x, lists, values), rtol=1e-4)
    assert count(add_lists, x, lists, values) == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
def test_narrow_values_are_rounded_after_each_addition(dtype):
    x, lists, values = draw(3, 30, (), 8)
    x, values = jnp.asarray(x, dtype), [v.astype(dtype) for v in values]
    assert count(add_lists, x, lists, values) == 3


def test_the_bits_are_those_of_additions_in_turn():
    x, lists, values = draw(4, 300, (3,), 5)
    values[1] = values[1].at[7].set(np.inf).at[9].set(-0.0)
    values[2] = values[2].at[3].set(np.nan)
    apart = jnp.asarray(x)
    for i, v in zip(lists, values, strict=True):
        apart = olympus.jit(lambda x, i, v: x.at[i].add(v))(apart, i, v)
    joined = olympus.jit(add_lists)(x, lists, values)
    same = np.asarray(apart).view(np.uint32) == np.asarray(joined).view(np.uint32)
    assert (same | (np.isnan(apart) & np.isnan(joined))).all()


@pytest.mark.parametrize("mode", ["drop", "clip", "promise_in_bounds"])
def test_positions_outside(mode):
    x, lists, values = draw(3, 9, (2,), 6)
    if mode != "promise_in_bounds":
        lists[1] = lists[1].at[2].set(11)
    out = olympus.jit(add_lists, static_argnames="mode")(x, lists, values, mode=mode)
    want = x
    for i, v in zip(lists, values, strict=True):
        want = jnp.asarray(want).at[i].add(v, mode=mode)
    np.testing.assert_allclose(out, want, rtol=1e-6)
    assert count(lambda *a: add_lists(*a, mode=mode), x, lists, values) == 1


def _read_between(x, lists, values):
    y = x.at[lists[0]].add(values[0])
    return y.at[lists[1]].add(values[1]), y.sum()


def _other_modes(x, lists, values):
    y = x.at[lists[0]].add(values[0], mode="clip")
    return y.at[lists[1]].add(values[1], mode="drop")


def _values_of_what_was_there(x, lists, values):
    y = x.at[lists[0]].add(values[0])
    return y.at[lists[1]].add(y[lists[0]])


def _rows_and_columns(x, lists, values):
    return x.at[lists[0]].add(values[0]).at[:, lists[0]].add(1.0)


@pytest.mark.parametrize(
    "f", [_read_between, _other_modes, _values_of_what_was_there, _rows_and_columns]
)
def test_what_stays_apart(f):
    x, lists, values = draw(2, 6, (9,), 9)
    assert count(f, x, lists, values) == 2
    apart = f(jnp.asarray(x), lists, values)
    joined = olympus.jit(f)(x, lists, values)
    for got, want in zip(
        *map(olympus.tree_util.tree_leaves, (joined, apart)), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_only_on_the_cpu():
    x, lists, values = draw(3, 9, (), 6)
    assert count(add_lists, x, lists, values, platform="cuda") == 3


def test_lists_of_several_axes():
    x = jnp.zeros((7, 3))
    i, j = jnp.arange(6).reshape(2, 3) % 5, jnp.arange(4)
    u, v = jnp.ones((2, 3, 3)), jnp.full((4, 3), 2.0)

    def f(x, i, j):
        return x.at[i].add(u).at[j].add(v).at[i + 1].add(2 * u)

    out = olympus.jit(f)(x, i, j)
    np.testing.assert_allclose(out, by_numpy(x, [i, j, i + 1], [u, v, 2 * u]))
    assert count(f, x, i, j) == 1


def test_two_lists_in_turns_stay_apart():
    x, (i, j), (u, v) = draw(2, 9, (), 6)

    def f(x, i, j):
        return x.at[i].add(u).at[j].add(v).at[i].add(v).at[j].add(u)

    np.testing.assert_allclose(
        olympus.jit(f)(x, i, j), by_numpy(x, [i, j, i, j], [u, v, v, u]), rtol=1e-5
    )
    assert count(f, x, i, j) == 4


def test_derivatives_of_reads_in_loops_and_maps():
    src, dst = jnp.arange(12) * 5 % 7, jnp.arange(12) * 3 % 7

    def loss(h):
        def step(h, _):
            m = jnp.sin(h[src]) * h[dst] * h[src - dst]
            return h + jnp.zeros_like(h).at[dst].add(m).at[src].add(0.1 * m), None

        return lax.scan(step, h, None, 3)[0].sum()

    h = jnp.linspace(-1.0, 1.0, 14).reshape(7, 2)
    tangent = jnp.cos(h)
    _, forward = olympus.jvp(loss, (h,), (tangent,))
    backward = (olympus.jit(olympus.grad(loss))(h) * tangent).sum()
    np.testing.assert_allclose(backward, forward, rtol=1e-4)
    hs = jnp.stack([h, 2 * h])
    mapped = olympus.jit(olympus.vmap(olympus.grad(loss)))(hs)
    want = [olympus.grad(loss)(x) for x in hs]
    np.testing.assert_allclose(mapped, jnp.stack(want), rtol=2e-5, atol=1e-5)
