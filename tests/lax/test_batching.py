"""Maps inside maps, of every primitive and of control flow, against loops."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, random
from olympus._src.core import avals, primitive
from tests import comparing
from tests.lax import samples
from tests.lax.test_rules import as_list, assert_close, varied

pytestmark = pytest.mark.sampled(6)

SAMPLES = [s for s in samples.SAMPLES if s.args and s.loop]
# Sizes of the outer and the inner axis.
SIZES = [(2, 3), (1, 2), (2, 1), (3, 0), (0, 2), (0, 0)]


def test_every_primitive_has_a_batching_rule():
    """But those without operands, and those that only lowering writes."""
    packages = "calls callbacks checkify control_flow custom_rules lax numerics remat"
    without = {
        p.name
        for p in primitive.records()
        if p.batch is None and p.file.partition("/")[0] in packages.split()
    }
    no_operands = {"iota", "create_token", "platform_index"}
    kinds = "sum", "prod", "max", "min", "logsumexp"
    prefixes = {f"cum{kind}_{by}" for kind in kinds for by in ("kernel", "in_xla")}
    factors = {"lu_in_lapack", "small_lu", "small_lu_solve"}
    written_last = {"block_scaled_dot", "kept", "separate_call", *prefixes, *factors}
    assert without <= no_operands | written_last


class Placed:
    """How the arguments of a sample are mapped, by two maps, chosen by a seed."""

    def __init__(self, s, sizes, seed):
        rng = np.random.default_rng(seed)
        self.sample, self.sizes = s, sizes
        self.outer, self.inner = (self._some(rng, len(s.args)) for _ in range(2))
        self.inner_dims = [
            int(rng.integers(a.ndim + 1)) if m else None
            for a, m in zip(s.args, self.inner, strict=True)
        ]
        self.outer_dims = [
            int(rng.integers(a.ndim + int(i) + 1)) if o else None
            for a, o, i in zip(s.args, self.outer, self.inner, strict=True)
        ]

    @staticmethod
    def _some(rng, n):
        chosen = rng.random(n) < 0.7
        chosen[rng.integers(n)] = True
        return chosen

    def at(self, i, j):
        """The arguments of one element."""
        found = []
        for a, o, n in zip(self.sample.args, self.outer, self.inner, strict=True):
            a = varied(a, i) if o else a
            found.append(varied(a, 2 * j + 1) if n else a)
        return found

    def stacked(self):
        """The arguments of all elements."""
        outer, inner = self.sizes
        found = []
        for k, a in enumerate(self.sample.args):
            d, e = self.inner_dims[k], self.outer_dims[k]

            def row(i, k=k, a=a, d=d):
                if d is None:
                    return self.at(i, 0)[k]
                return stack([self.at(i, j)[k] for j in range(inner)], a, d)

            like = row(0)
            found.append(
                like if e is None else stack([row(i) for i in range(outer)], like, e)
            )
        return found


def stack(arrays, like, axis):
    if arrays:
        return np.stack(arrays, axis)
    return np.zeros((*like.shape[:axis], 0, *like.shape[axis:]), like.dtype)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SAMPLES)), ids=lambda i: repr(SAMPLES[i]))
def test_nested_maps_are_nested_loops(number):
    s = SAMPLES[number]
    placed = Placed(s, SIZES[number % len(SIZES)], number)

    def f(*args):
        return as_list(s.p, s.p.bind(*args, **s.params))

    inner = olympus.vmap(f, tuple(placed.inner_dims))
    run = olympus.jit(olympus.vmap(inner, tuple(placed.outer_dims)))
    outs = [np.asarray(x) for x in run(*placed.stacked())]
    types = as_list(
        s.p, s.p.results(tuple(avals.aval_of(a) for a in s.args), s.params)[0]
    )
    for out, aval in zip(outs, types, strict=True):
        assert (out.shape, out.dtype) == ((*placed.sizes, *aval.shape), aval.dtype)
    for i, j in itertools.product(*map(range, placed.sizes)):
        for out, want in zip(outs, f(*placed.at(i, j)), strict=True):
            assert_close(out[i, j], want, s.tolerance)


@pytest.mark.parametrize("sizes", [(3, 0), (0, 2), (0, 0)])
def test_convolutions_of_no_examples(sizes):
    """Both operands, one of them, with groups: shapes are right with nothing there."""
    chosen = [s for s in SAMPLES if s.p.name == "conv_general_dilated"]
    for s in chosen:
        for dims in ((0, 0), (0, None), (None, 0)):

            def f(x, w, s=s):
                return s.p.bind(x, w, **s.params)

            want = olympus.eval_shape(f, *s.args).shape
            args = [
                a if d is None else np.zeros((*sizes, *a.shape), a.dtype)
                for a, d in zip(s.args, dims, strict=True)
            ]
            run = olympus.vmap(olympus.vmap(f, dims), dims)
            assert olympus.eval_shape(run, *args).shape == (*sizes, *want)


# -- control flow ----------------------------------------------------------------------

V = np.float32([0.6, 1.1, 1.4])
YES, COUNT = np.array(True), np.int32(1)


def counted(step):
    """A loop of `n` steps."""
    return lambda n, x: lax.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, step(s[1])), (0, x)
    )


def nested_loops(n, m, x):
    def inner(x):
        return counted(lambda x: x * 1.1)(m, x)[1]

    return counted(inner)(n, x)


def gradient_of_bounded(n, x):
    def total(x):
        return lax.while_loop(
            lambda s: s[0] < n,
            lambda s: (s[0] + 1, jnp.sin(s[1])),
            (0, x),
            max_steps=5,
        )[1].sum()

    return olympus.grad(total)(x)


FLOW = {
    "cond": (
        lambda p, x, y: lax.cond(p, lambda a, b: a + b, lambda a, b: a * 2, x, y),
        [YES, V, V],
    ),
    "cond of trees": (
        lambda p, x: lax.cond(
            p,
            lambda a: {"a": a, "b": (a.sum(), 1)},
            lambda a: {"a": -a, "b": (a.max(), 2)},
            x,
        ),
        [YES, V],
    ),
    "switch": (
        lambda i, x: lax.switch(i, [jnp.sin, lambda a: a * 2, jnp.exp], x),
        [np.int32(-1), V],
    ),
    "while": (counted(lambda x: x * 1.5), [COUNT, V]),
    "while of a mapped carry": (
        lambda x: lax.while_loop(lambda s: s.sum() < 20, lambda s: s * 1.5 + 0.1, x),
        [V],
    ),
    "while in while": (nested_loops, [COUNT, COUNT, V]),
    "fori": (
        lambda n, x: lax.fori_loop(0, n, lambda i, c: c + i * x, x),
        [np.int32(2), V],
    ),
    "scan": (
        lambda c, xs, k: lax.scan(lambda c, x: (c * x + k, (c, x * k)), c, xs),
        [V[0], V, V[1]],
    ),
    "scan whose carries are swapped": (
        lambda a, b, xs: lax.scan(lambda s, x: ((s[1], s[0] + 1), s[0]), (a, b), xs),
        [V[0], V[1], V],
    ),
    "scan in reverse": (
        lambda c, xs: lax.scan(
            lambda c, x: (c + x, c * x), c, xs, reverse=True, unroll=2
        ),
        [V[0], V],
    ),
    "map in parts": (lambda xs: lax.map(lambda x: x * x, xs, batch_size=2), [V]),
    "associative scan": (
        lambda xs, ys: lax.associative_scan(
            lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (xs, ys)
        ),
        [V, V],
    ),
    "reduce": (
        lambda xs, start: lax.reduce(xs, start, lambda a, b: a * b, (0,)),
        [V, V[0]],
    ),
    "cond in scan": (
        lambda p, xs: lax.scan(
            lambda c, x: (lax.cond(x > p, lambda: c + x, lambda: c - x), c),
            np.float32(0),
            xs,
        ),
        [V[1], V],
    ),
    "scan in cond": (
        lambda p, xs: lax.cond(
            p,
            lambda: lax.scan(lambda c, x: (c + x, c), np.float32(0), xs)[0],
            lambda: xs.sum() * 2,
        ),
        [YES, V],
    ),
    "gradient of a while": (gradient_of_bounded, [COUNT, V]),
    "gradient of a scan": (
        lambda c, xs: olympus.grad(
            lambda c: lax.scan(lambda c, x: (jnp.sin(c * x), c), c, xs)[0]
        )(c),
        [V[0], V],
    ),
    "gradient of a cond": (
        lambda p, x: olympus.grad(
            lambda x: lax.cond(p, lambda: jnp.log(x), lambda: jnp.sqrt(x)).sum()
        )(x),
        [YES, V],
    ),
    "jit in jit": (
        lambda x, y: olympus.jit(lambda a, b: olympus.jit(jnp.sin)(a) + b)(x, y),
        [V, V],
    ),
    "checkpoint": (
        lambda x, y: olympus.grad(
            lambda x: olympus.checkpoint(lambda a: jnp.sin(a * y))(x).sum()
        )(x),
        [V, V],
    ),
    "sort of several": (lambda a, b: lax.sort((a, b), num_keys=1), [V, V]),
}
N = 3


def variants(x, dim):
    """An argument, or a stack of different ones."""
    if dim is None:
        return x
    if x.dtype == np.bool_:
        return np.stack([x ^ (i % 2 == 1) for i in range(N)])
    return np.stack([x + np.asarray(i, x.dtype) for i in range(N)])


def check_mapped(f, args):
    for mapped in itertools.product((0, None), repeat=len(args)):
        if all(d is None for d in mapped):
            continue
        stacks = [variants(x, d) for x, d in zip(args, mapped, strict=True)]
        rows = [
            f(*[x if d is None else x[i] for x, d in zip(stacks, mapped, strict=True)])
            for i in range(N)
        ]
        want = olympus.tree.map(lambda *r: np.stack([np.asarray(x) for x in r]), *rows)
        twice = [
            x if d is None else np.stack([x, x])
            for x, d in zip(stacks, mapped, strict=True)
        ]
        once = olympus.vmap(f, mapped)
        nested = olympus.jit(olympus.vmap(once, mapped))(*twice)
        olympus.tree.map(close, olympus.jit(once)(*stacks), want)
        olympus.tree.map(lambda x, w: close(x, np.stack([w, w])), nested, want)


close = functools.partial(comparing.assert_close, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOW)
def test_control_flow_is_a_loop(name):
    check_mapped(*FLOW[name])


def test_a_mapped_predicate_selects_and_a_plain_one_branches():
    def f(p, x):
        return lax.cond(p, jnp.sin, jnp.cos, x)

    flags = np.array([True, False, True])
    close(olympus.vmap(f)(flags, V), np.where(flags, np.sin(V), np.cos(V)))
    mapped = str(olympus.make_olympuspr(olympus.vmap(f))(flags, V))
    assert "select_n" in mapped
    assert "cond[" not in mapped
    plain = olympus.make_olympuspr(olympus.vmap(f, (None, 0)))(True, V)
    assert "cond[" in str(plain)


def test_a_mapped_condition_stops_each_element_by_itself():
    steps, value = olympus.vmap(counted(lambda x: x * 2))(np.int32([0, 3, 1]), V)
    assert steps.tolist() == [0, 3, 1]
    close(value, V * [1, 8, 2])


@pytest.mark.parametrize(
    "method",
    [
        "expand_dims",
        "broadcast_all",
        pytest.param("sequential", marks=pytest.mark.slow),
        pytest.param("sequential_unrolled", marks=pytest.mark.slow),
    ],
)
def test_callbacks_by_method(method):
    seen = []

    def host(a, b):
        seen.append((np.shape(a), np.shape(b)))
        return np.sin(a) + np.asarray(b)

    def f(a, b):
        kind = olympus.ShapeDtypeStruct((3,), np.float32)
        return olympus.pure_callback(host, kind, a, b, vmap_method=method)

    x = np.stack([V, V + 1])
    close(olympus.jit(olympus.vmap(f, (0, None)))(x, V), np.sin(x) + V)
    wanted = {
        "sequential": [((3,), (3,))] * 2,
        "sequential_unrolled": [((3,), (3,))] * 2,
        "expand_dims": [((2, 3), (1, 3))],
        "broadcast_all": [((2, 3), (2, 3))],
    }
    assert seen == wanted[method]


# -- random keys -----------------------------------------------------------------------


def looped_keys(k):
    def step(state):
        return random.split(state[0])[0], random.uniform(state[0])

    return lax.while_loop(lambda s: s[1] < 0.8, step, (k, np.float32(0)))


KEYED = {
    "split": lambda k: random.split(k, (2, 2)),
    "fold_in": lambda k: random.fold_in(k, 3),
    "bits": lambda k: random.bits(k, (5,), "uint8"),
    "uniform": lambda k: random.uniform(k, (2, 3)),
    "permutation": lambda k: random.permutation(k, 5),
    "key_data": random.key_data,
    "wrapped": lambda k: random.wrap_key_data(random.key_data(k)),
    "scan": lambda k: lax.scan(
        lambda k, _: (random.split(k)[0], random.uniform(k)), k, None, length=3
    ),
    "while": looped_keys,
    "cond": lambda k: lax.cond(
        random.uniform(k) > 0.5,
        lambda k: random.split(k)[0],
        lambda k: random.split(k)[1],
        k,
    ),
    "where": lambda k: jnp.where(random.uniform(k) > 0.5, k, random.fold_in(k, 1)),
    "switch": lambda k: lax.switch(
        random.randint(k, (), 0, 3),
        [lambda k: k, lambda k: random.fold_in(k, 1), lambda k: random.fold_in(k, 2)],
        k,
    ),
    "index": lambda k: random.split(k, 6).reshape(2, 3).T[np.array([2, 0])],
    "stack": lambda k: jnp.stack([k, random.fold_in(k, 1)])[::-1],
}
QUICK_KEYS = ("where",)


def host(x):
    if jnp.issubdtype(x.dtype, olympus.dtypes.prng_key):
        x = random.key_data(x)
    return np.asarray(x)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_KEYS else pytest.mark.slow)
        for name in KEYED
    ],
)
def test_keys_are_a_loop(name):
    f = KEYED[name]
    keys = random.split(random.key(7), (2, 3))
    rows = [[olympus.tree.map(host, f(keys[i, j])) for j in range(3)] for i in range(2)]
    want = [olympus.tree.map(lambda *xs: np.stack(xs), *row) for row in rows]
    want = olympus.tree.map(lambda *xs: np.stack(xs), *want)
    got = olympus.jit(olympus.vmap(olympus.vmap(f)))(keys)
    olympus.tree.map(lambda a, b: close(host(a), b), got, want)
    got = olympus.vmap(olympus.vmap(f), in_axes=1, out_axes=1)(keys)
    olympus.tree.map(lambda a, b: close(host(a), b), got, want)
