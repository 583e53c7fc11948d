"""Collectives under `vmap`, against their meaning on whole NumPy arrays."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus._src.core import ir
from tests.comparing import assert_close

pytestmark = pytest.mark.sampled(5)

N = 4
X = np.arange(1, 1 + N * N * 2, dtype=np.float32).reshape(N, N, 2) / 4
PERM = [(0, 1), (1, 3), (3, 0)]
HALVES = [[0, 3], [2, 1]]
UNEQUAL = [[2], [0, 1, 3]]


def everyone(x):
    """What all get, repeated for each."""
    return np.broadcast_to(x, (N, *np.shape(x)))


def permuted(x):
    out = np.zeros_like(x)
    for source, destination in PERM:
        out[destination] = x[source]
    return out


def by_group(f, x, groups):
    """`f` of each group's rows, in the group's order, as a row for each member."""
    out = [None] * N
    for group in groups:
        for place, i in enumerate(group):
            out[i] = f(x[group])[place]
    return np.stack(out)


def alike(reduce):
    return lambda rows: np.broadcast_to(reduce(rows), (len(rows), *rows.shape[1:]))


# name -> the function of one element, and of the stack of all of them
CASES = {
    "psum": (lambda x: lax.psum(x, "i"), lambda x: everyone(x.sum(0))),
    "pmean": (lambda x: lax.pmean(x, "i"), lambda x: everyone(x.mean(0))),
    "pmax": (lambda x: lax.pmax(x, "i"), lambda x: everyone(x.max(0))),
    "pmin": (lambda x: lax.pmin(x, "i"), lambda x: everyone(x.min(0))),
    "psum of an axis too": (
        lambda x: lax.psum(x, (1, "i")),
        lambda x: everyone(x.sum((0, 2))),
    ),
    "pmean of an axis too": (
        lambda x: lax.pmean(x, (1, "i")),
        lambda x: everyone(x.mean((0, 2))),
    ),
    "psum of an axis alone": (lambda x: lax.psum(x, 0), lambda x: x.sum(1)),
    "pmax of an axis alone": (lambda x: lax.pmax(x, (0, 1)), lambda x: x.max((1, 2))),
    "psum of no axis": (lambda x: lax.psum(x, ()), lambda x: x),
    "psum in groups": (
        lambda x: lax.psum(x, "i", axis_index_groups=UNEQUAL),
        lambda x: by_group(alike(lambda r: r.sum(0)), x, UNEQUAL),
    ),
    "pmean in groups": (
        lambda x: lax.pmean(x, "i", axis_index_groups=UNEQUAL),
        lambda x: by_group(alike(lambda r: r.mean(0)), x, UNEQUAL),
    ),
    "pmax in groups": (
        lambda x: lax.pmax(x, "i", axis_index_groups=HALVES),
        lambda x: by_group(alike(lambda r: r.max(0)), x, HALVES),
    ),
    "all_gather": (lambda x: lax.all_gather(x, "i"), everyone),
    "all_gather at an axis": (
        lambda x: lax.all_gather(x, "i", axis=-2),
        lambda x: everyone(np.moveaxis(x, 0, 1)),
    ),
    "all_gather tiled": (
        lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
        lambda x: everyone(np.concatenate(list(x), 1)),
    ),
    "all_gather in groups": (
        lambda x: lax.all_gather(x, "i", axis_index_groups=HALVES),
        lambda x: by_group(lambda r: np.stack([r, r]), x, HALVES),
    ),
    "psum_scatter": (lambda x: lax.psum_scatter(x, "i"), lambda x: x.sum(0)),
    "psum_scatter tiled": (
        lambda x: lax.psum_scatter(lax.concatenate([x, x], 0), "i", tiled=True),
        lambda x: np.concatenate([x, x], 1).sum(0).reshape(N, 2, 2),
    ),
    "psum_scatter in groups": (
        lambda x: lax.psum_scatter(
            x, "i", axis_index_groups=HALVES, scatter_dimension=0, tiled=True
        ),
        lambda x: by_group(lambda r: r.sum(0).reshape(2, 2, 2), x, HALVES),
    ),
    "all_to_all": (
        lambda x: lax.all_to_all(x, "i", 0, 0),
        lambda x: np.swapaxes(x, 0, 1),
    ),
    "all_to_all elsewhere": (
        lambda x: lax.all_to_all(x, "i", 0, 1),
        lambda x: np.moveaxis(np.swapaxes(x, 0, 1), 1, 2),
    ),
    "all_to_all to the front": (
        lambda x: lax.all_to_all(lax.transpose(x, (1, 0)), "i", 1, 0),
        lambda x: np.swapaxes(x, 0, 1),
    ),
    "all_to_all tiled": (
        lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True),
        lambda x: np.swapaxes(x, 0, 1).reshape(N, 1, 2 * N),
    ),
    "all_to_all tiled in place": (
        lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
        lambda x: np.swapaxes(x, 0, 1),
    ),
    "all_to_all in groups": (
        lambda x: lax.all_to_all(x, "i", 0, 0, axis_index_groups=HALVES, tiled=True),
        lambda x: by_group(
            lambda r: np.swapaxes(r.reshape(2, 2, 2, 2), 0, 1).reshape(2, 4, 2),
            x,
            HALVES,
        ),
    ),
    "pswapaxes": (
        lambda x: lax.pswapaxes(x, "i", 0),
        lambda x: np.swapaxes(x, 0, 1),
    ),
    "ppermute": (lambda x: lax.ppermute(x, "i", PERM), permuted),
    "ppermute of nobody": (lambda x: lax.ppermute(x, "i", []), np.zeros_like),
    "pshuffle": (
        lambda x: lax.pshuffle(x, "i", [2, 0, 3, 1]),
        lambda x: x[[2, 0, 3, 1]],
    ),
    "pbroadcast": (lambda x: lax.pbroadcast(x, "i", 2), lambda x: everyone(x[2])),
    "axis_index": (
        lambda x: x * lax.axis_index("i"),
        lambda x: x * np.arange(N)[:, None, None],
    ),
    "axis_size": (lambda x: x * lax.axis_size("i"), lambda x: x * N),
}
LINEAR = [k for k in CASES if not k.startswith(("pmax", "pmin", "axis", "psum of no"))]


def mapped(f, **options):
    return olympus.vmap(f, axis_name="i", **options)


QUICK = (
    "psum",
    "pmax",
    "all_gather",
    "psum_scatter",
    "all_to_all",
    "ppermute",
    "pbroadcast",
    "axis_index",
)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in CASES
    ],
)
def test_value_is_that_of_the_whole_array(name):
    f, whole = CASES[name]
    assert_close(olympus.jit(mapped(f))(X), whole(X))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_value_without_jit_and_along_another_axis(name):
    f, whole = CASES[name]
    assert_close(mapped(f)(X), whole(X))
    got = mapped(f, in_axes=2, out_axes=-1)(np.moveaxis(X, 0, 2))
    assert_close(got, np.moveaxis(whole(X), 0, -1))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_value_of_an_operand_that_is_not_mapped(name):
    f, whole = CASES[name]
    run = mapped(lambda _, x: f(x), in_axes=(0, None))
    assert_close(olympus.jit(run)(np.zeros(N), X[0]), whole(np.stack([X[0]] * N)))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_staged_inside_programs(name):
    """The same inside jit, scan, cond and while, each below the map."""
    f, whole = CASES[name]
    want = whole(X)

    def looped(x):
        def step(carry, _):
            return carry + 1, f(x)

        return lax.scan(step, 0, None, length=2)[1][1]

    def branched(x):
        return lax.cond(x[0, 0] > -1, f, lambda x: f(x) * 0, x)

    def repeated(x):
        def step(state):
            return state[0] + 1, f(x)

        start = 0, f(x) * 0
        return lax.while_loop(lambda state: state[0] < 2, step, start)[1]

    for g in (olympus.jit(f), looped, branched, repeated):
        assert_close(mapped(g)(X), want)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_unmapped_operands_inside_programs(name):
    """A program that only knows of the axis by name is mapped all the same."""
    f, whole = CASES[name]
    out = mapped(lambda _: olympus.jit(lambda: f(X[0]))())(np.zeros(N))
    assert_close(out, whole(np.stack([X[0]] * N)))


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.slow
def test_gradients_are_adjoint(name):
    """<ct, f(x)> = <f'(ct), x>, with the map outside of the derivative and inside."""
    f, whole = CASES[name]
    rng = np.random.default_rng(1)
    ct = rng.uniform(-1, 1, whole(X).shape).astype(np.float32)

    def pulled_back(x, ct):
        return olympus.vjp(f, x)[1](ct)[0]

    inner = olympus.jit(mapped(pulled_back))(X, ct)
    outer = olympus.vjp(mapped(f), X)[1](ct)[0]
    left = np.sum(ct * whole(X))
    np.testing.assert_allclose(np.sum(outer * X), left, rtol=1e-4)
    np.testing.assert_allclose(np.sum(inner * X), left, rtol=1e-4)
    assert_close(inner, outer)
    _, slope = olympus.jvp(mapped(f), (X,), (X,))
    assert_close(slope, whole(X))


def test_gradient_of_the_greatest_goes_to_it():
    x = np.float32([1.0, 5.0, 5.0, 2.0])
    got = olympus.grad(lambda x: mapped(lambda e: lax.pmax(e, "i"))(x).sum())(x)
    assert_close(got, [0, 2, 2, 0])
    got = mapped(olympus.grad(lambda e: lax.pmin(e, "i")))(x)
    assert_close(got, [4, 0, 0, 0])
    want = olympus.jvp(lambda x: x.max(), (x,), (x + 1,))[1]

    def pushed(e, t):
        return olympus.jvp(lambda e: lax.pmax(e, "i"), (e,), (t,))[1]

    slope = mapped(pushed)(x, x + 1)
    assert_close(slope, [want] * N)


# -- several axes ----------------------------------------------------------------------

Y = np.arange(2 * 3 * 6 * 2, dtype=np.float32).reshape(2, 3, 6, 2)
FLAT = Y.reshape(6, 6, 2)
SIX = {
    "psum": (lambda x, n: lax.psum(x, n), lambda x: np.stack([x.sum(0)] * 6)),
    "pmean": (lambda x, n: lax.pmean(x, n), lambda x: np.stack([x.mean(0)] * 6)),
    "all_gather": (
        lambda x, n: lax.all_gather(x, n, axis=1),
        lambda x: np.stack([np.moveaxis(x, 0, 1)] * 6),
    ),
    "all_gather tiled": (
        lambda x, n: lax.all_gather(x, n, axis=1, tiled=True),
        lambda x: np.stack([np.concatenate(list(x), 1)] * 6),
    ),
    "psum_scatter": (lambda x, n: lax.psum_scatter(x, n), lambda x: x.sum(0)),
    "psum_scatter tiled": (
        lambda x, n: lax.psum_scatter(x, n, tiled=True),
        lambda x: x.sum(0)[:, None],
    ),
    "all_to_all": (
        lambda x, n: lax.all_to_all(x, n, 0, 0),
        lambda x: np.swapaxes(x, 0, 1),
    ),
    "all_to_all elsewhere": (
        lambda x, n: lax.all_to_all(x, n, 0, 1, tiled=True),
        lambda x: np.swapaxes(x, 0, 1).reshape(6, 1, 12),
    ),
    "all_to_all to the front": (
        lambda x, n: lax.all_to_all(lax.transpose(x, (1, 0)), n, 1, 0, tiled=True),
        lambda x: np.moveaxis(x, 1, 0).reshape(6, 12, 1),
    ),
    "ppermute": (
        lambda x, n: lax.ppermute(x, n, [(0, 5), (5, 1), (2, 2)]),
        lambda x: np.stack([0 * x[0], x[5], x[2], 0 * x[0], 0 * x[0], x[0]]),
    ),
    "pbroadcast": (
        lambda x, n: lax.pbroadcast(x, n, 4),
        lambda x: np.stack([x[4]] * 6),
    ),
    "axis_index": (
        lambda x, n: x + lax.axis_index(n),
        lambda x: x + np.arange(6)[:, None, None],
    ),
    "axis_size": (lambda x, n: x + lax.axis_size(n), lambda x: x + 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIX)
@pytest.mark.parametrize("order", ["ij", "ji"])
def test_several_axes_are_one(name, order):
    """A tuple of names is the axis that the named ones make, the first one slowest."""
    f, whole = SIX[name]
    names = ("i", "j")

    def one(x):
        return f(x, names)

    if order == "ij":
        run = olympus.vmap(olympus.vmap(one, axis_name="j"), axis_name="i")
    else:
        run = olympus.vmap(
            olympus.vmap(one, axis_name="i"), axis_name="j", in_axes=1, out_axes=1
        )
    got = np.asarray(olympus.jit(run)(Y))
    assert_close(got.reshape(6, *got.shape[2:]), whole(FLAT))


def test_an_axis_of_several_is_left_to_its_map():
    def one(x):
        return lax.psum(x, "outer"), lax.psum(x, "inner"), lax.axis_index("outer")

    run = olympus.vmap(olympus.vmap(one, axis_name="inner"), axis_name="outer")
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    outer, inner, index = run(x)
    assert_close(outer, np.stack([x.sum(0)] * 2))
    assert_close(inner, np.stack([x.sum(1)] * 3, 1))
    assert_close(index, [[0] * 3, [1] * 3])


def test_the_innermost_axis_of_a_name_is_meant():
    def inner(x):
        return lax.psum(x, "i"), lax.axis_size("i")

    def outer(x):
        return olympus.vmap(inner, axis_name="i")(x), lax.axis_size("i")

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    (total, size), outer_size = mapped(outer)(x)
    assert_close(total, np.stack([x.sum(1)] * 3, 1))
    assert (np.asarray(size) == 3).all()
    assert (np.asarray(outer_size) == 2).all()


# -- inside functions with rules of users ----------------------------------------------


@olympus.custom_jvp
def share(x):
    return x / lax.psum(x, "i")


@share.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    total = lax.psum(x, "i")
    return x / total, 10 * (t / total - x * lax.psum(t, "i") / total**2)


@olympus.custom_vjp
def total(x):
    return lax.psum(x, "i")


total.defvjp(lambda x: (total(x), None), lambda _, ct: (lax.psum(ct, "i"),))


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_rules_of_users_see_the_axis(jit):
    wrap = olympus.jit if jit else lambda f: f
    x = np.float32([1, 2, 3, 4])
    ct = np.float32([1, 0, 2, -1])

    def weighted(f):
        return lambda x: (mapped(f)(x) * ct).sum()

    assert_close(wrap(mapped(share))(x), x / 10)
    plain = olympus.grad(weighted(lambda e: e / lax.psum(e, "i")))(x)
    assert_close(wrap(olympus.grad(weighted(share)))(x), 10 * plain)
    assert_close(wrap(mapped(total))(x), [10] * N)
    assert_close(wrap(olympus.grad(weighted(total)))(x), [ct.sum()] * N)
    assert_close(wrap(mapped(olympus.grad(total)))(x), [N] * N)
    unmapped = wrap(mapped(lambda _: share(2.0) + lax.axis_index("i")))(x)
    assert_close(unmapped, 0.25 + np.arange(N))


@pytest.mark.slow
def test_rematerialised_and_bounded_programs_see_the_axis():
    x = np.float32([1, 2, 3, 4])

    def again(e):
        return olympus.checkpoint(lambda y: lax.psum(jnp.sin(y), "i"))(e)

    def bounded(e):
        def step(s):
            return s[0] + 1, lax.psum(s[1], "i") / 10

        return lax.while_loop(lambda s: s[0] < 2, step, (0, e), max_steps=3)[1]

    assert_close(mapped(olympus.grad(again))(x), N * np.cos(x))
    assert_close(mapped(olympus.grad(bounded))(x), [(N / 10) ** 2] * N)
    indexed = mapped(lambda _: olympus.checkpoint(lambda y: y + lax.axis_index("i"))(1))
    assert_close(indexed(x), 1 + np.arange(N))


# -- arguments and types ---------------------------------------------------------------


def test_numbers_are_summed_at_once():
    sizes = []

    def one(x):
        sizes.append(lax.psum(1, "i"))
        return x * lax.psum(2.5, "i") + lax.psum(np.float32(1), "i")

    assert_close(mapped(one)(np.ones(N)), [2.5 * N + N] * N)
    assert sizes == [N]
    assert type(sizes[0]) is int


def test_pytrees_and_dtypes():
    def one(x):
        sums = lax.psum({"bool": x > 1, "int": x.astype("int8")}, "i")
        whole, half = x.astype("int32"), x.astype("bfloat16")
        return sums, lax.pmean(whole, "i"), lax.pmean(half, "i")

    sums, mean, half = mapped(one)(np.arange(N, dtype=np.float32))
    assert sums["bool"].dtype == np.int32
    assert sums["int"].dtype == np.int8
    assert (mean.dtype.name, half.dtype.name) == ("float32", "bfloat16")
    assert_close(sums["bool"], [2] * N)
    assert_close(mean, [1.5] * N)


def test_keys_are_exchanged():
    keys = olympus.random.split(olympus.random.key(0), N)
    data = np.asarray(olympus.random.key_data(keys))
    swapped = mapped(lambda k: lax.pshuffle(k, "i", [3, 2, 1, 0]))(keys)
    np.testing.assert_array_equal(olympus.random.key_data(swapped), data[::-1])
    gathered = mapped(lambda k: lax.all_gather(k, "i"))(keys)
    np.testing.assert_array_equal(olympus.random.key_data(gathered)[1], data)


def test_programs_print_as_users_of_the_field_know():
    make = lambda f: str(olympus.make_olympuspr(f, axis_env=[("i", 4)])(X[0]))  # noqa: E731
    assert "psum[axes=('i',) axis_index_groups=None] a" in make(CASES["psum"][0])
    assert "div b 4.0:f32[]" in make(CASES["pmean"][0])
    assert "axis_index[axis_name=i]" in make(CASES["axis_index"][0])
    assert "ppermute[axis_name=('i',) perm=((0, 1)" in make(CASES["ppermute"][0])
    text = make(CASES["all_to_all"][0])
    assert "axis_size" not in text
    assert "split_axis=0" in text


def test_a_traced_function_is_kept_for_its_axes():
    """One jitted function under axes of different sizes, and under none."""
    shared = olympus.jit(lambda x: x / lax.axis_size("i"))
    for n in (2, 3, 2):
        assert_close(mapped(shared)(np.ones(n)), np.ones(n) / n)
    with pytest.raises(NameError, match="unbound axis name: i"):
        shared(np.ones(2))


def test_a_jitted_function_resolves_its_own_axes():
    @olympus.jit
    def normalised(x):
        return mapped(lambda e: e / lax.psum(e, "i"))(x)

    x = np.float32([[1, 3], [2, 2]])
    assert_close(olympus.vmap(normalised)(x), x / x.sum(1, keepdims=True))


def test_conditional_on_a_named_axis():
    """A predicate that is mapped by the name alone selects."""

    def one(x):
        first = lax.axis_index("i") == 0
        return lax.cond(first, lambda x: lax.psum(x, "i"), lambda x: -x, x)

    assert_close(mapped(one)(np.float32([1, 2, 3])), [6, -2, -3])


def test_axes_for_a_program_without_a_map():
    def f(x):
        return x * lax.axis_size("i") + lax.axis_size("j")

    for env in ([("i", 4), ("j", np.int64(2))], {"i": 4, "j": 2}):
        text = str(olympus.make_olympuspr(f, axis_env=env)(1.0))
        assert "mul a 4.0" in text
        assert "add b 2.0" in text
    for env in (["i"], [("i",)], 3, [("i", 2.5)]):
        with pytest.raises(TypeError, match="axis_env must be pairs of the name and"):
            olympus.make_olympuspr(f, axis_env=env)


# -- errors ----------------------------------------------------------------------------

UNBOUND = {
    "psum": lambda: lax.psum(X, "i"),
    "pmean": lambda: lax.pmean(X, ("i", "j")),
    "all_gather": lambda: lax.all_gather(X, "i"),
    "ppermute": lambda: lax.ppermute(X, "i", [(0, 1)]),
    "axis_index": lambda: lax.axis_index("i"),
    "axis_size": lambda: lax.axis_size(["i"]),
}


@pytest.mark.parametrize("name", UNBOUND)
def test_unknown_axis(name):
    with pytest.raises(NameError, match=f"{name}: unbound axis name: i.*axis_name='i'"):
        UNBOUND[name]()
    with pytest.raises(NameError, match="got 'k' there"):
        olympus.vmap(lambda _: UNBOUND[name](), axis_name="k")(X)


def test_axis_left_open_in_a_program():
    program = olympus.make_olympuspr(
        lambda x: olympus.jit(lambda x: lax.psum(x, "i"))(x), axis_env=[("i", N)]
    )(X[0])

    def run(x):
        return ir.eval_olympuspr(program.olympuspr, program.consts, x)[0]

    with pytest.raises(NameError, match="psum: unbound axis name: i"):
        run(X[0])
    assert_close(mapped(run)(X), everyone(X.sum(0)))


REFUSED = {
    "all_gather: to must": lambda x: lax.all_gather(x, "i", to="reduced"),
    "all_gather axis: axis 5": lambda x: lax.all_gather(x, "i", axis=5),
    "psum_scatter: axis 1 .* size of the mapped axis, 4, got 2; use tiled": (
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=1)
    ),
    "psum_scatter: axis 1 .* divisible by .* 4; pad": (
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True)
    ),
    "all_to_all: axis 1 ": lambda x: lax.all_to_all(x, "i", 1, 0),
    "ppermute: each source": lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]),
    "ppermute: each destination": lambda x: lax.ppermute(x, "i", [(0, 9)]),
    "pshuffle: perm must": lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]),
    "pbroadcast: source must": lambda x: lax.pbroadcast(x, "i", 4),
    "psum: axis_index_groups must hold": (
        lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]])
    ),
    "psum: axis_index_groups needs a single": (
        lambda x: lax.psum(x, ("i", 0), axis_index_groups=HALVES)
    ),
    "all_gather: axis_index_groups must be groups of one size": (
        lambda x: lax.all_gather(x, "i", axis_index_groups=UNEQUAL)
    ),
    "ppermute: axis_name must name": lambda x: lax.ppermute(x, (), []),
    "all_to_all: axis_name must name": lambda x: lax.all_to_all(x, (), 0, 0),
    "pbroadcast: axis_name must name": lambda x: lax.pbroadcast(x, (), 0),
    "psum: axes must be distinct": lambda x: lax.psum(x, (7, "i")),
    "psum: axis_name must name each axis once": lambda x: lax.psum(x, ("i", "i")),
    "all_gather: axis_name must name each axis once": (
        lambda x: lax.all_gather(x, ("i", "i"))
    ),
    "ppermute: axis_name must name each axis once": (
        lambda x: lax.ppermute(x, ("i", "i"), [(0, 1)])
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_bad_arguments(message):
    with pytest.raises(ValueError, match=message):
        mapped(REFUSED[message])(X)


def test_sums_over_no_axis_change_nothing():
    for f in (lax.psum, lax.pmean, lax.pmax, lax.all_gather, lax.psum_scatter):
        for g in (lambda x, f=f: f(x, ()), mapped(lambda x, f=f: f(x, ()))):
            np.testing.assert_array_equal(g(X), X)
            np.testing.assert_array_equal(olympus.jit(g)(X), X)


def test_bad_types():
    with pytest.raises(TypeError, match=r"psum: x\['a'\] must be an array, got 'b'"):
        mapped(lambda x: lax.psum({"a": "b"}, "i"))(X)
    with pytest.raises(TypeError, match="all_gather: axis_name must name a mapped"):
        mapped(lambda x: lax.all_gather(x, 0))(X)
