"""`while_loop`, `fori_loop`, `scan`, `map`: against Python loops over NumPy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
from olympus._src.control_flow import loops
from olympus._src.control_flow import scan as scan_
from olympus._src.control_flow import while_loop as while_
from olympus._src.core import checker, ir
from olympus._src.foundation import config
from olympus._src.interpreters import partial_eval
from olympus._src.lax import elementwise as el
from olympus._src.lax import reductions

scan, while_loop = scan_.scan, while_.while_loop
fori_loop, map_ = loops.fori_loop, loops.map_
X = np.array([1.0, -2.0, 3.0], np.float32)

WAYS = pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["eager", "jit"])


def printed(f, *args):
    program = olympus.make_olympuspr(f)(*args)
    checker.check_olympuspr(program)
    return str(program)


def running(c, y):
    new = el.add(el.mul(c, 0.5), y)
    return new, el.sub(new, c)


def python_scan(f, c, xs, reverse=False):
    rows = list(xs)[::-1] if reverse else list(xs)
    ys = []
    for x in rows:
        c, y = f(c, x)
        ys.append(y)
    return c, np.array(ys[::-1] if reverse else ys)


def numpy_running(c, y):
    new = np.float32(c * np.float32(0.5) + y)
    return new, np.float32(new - c)


# -- scan ------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [0, 1, 2, 3, 7, 8, 100, True, False])
def test_scan_is_the_python_loop(wrap, reverse, unroll, rng):
    xs = rng.normal(size=(7, 4)).astype(np.float32)
    init = np.zeros(4, np.float32)
    carry, ys = wrap(lambda c, v: scan(running, c, v, reverse=reverse, unroll=unroll))(
        init, xs
    )
    want_carry, want_ys = python_scan(numpy_running, init, xs, reverse)
    np.testing.assert_allclose(carry, want_carry, rtol=1e-6)
    np.testing.assert_allclose(ys, want_ys, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("unroll", [1, 2, True])
def test_scan_of_no_steps(unroll):
    carry, ys = scan(running, X, np.zeros((0, 3), np.float32), unroll=unroll)
    np.testing.assert_array_equal(carry, X)
    assert ys.shape == (0, 3)
    assert ys.dtype == np.float32


def test_scan_over_trees_and_over_nothing():
    def step(c, x):
        return {"n": el.add(c["n"], 1)}, (x["a"], {"n": c["n"]})

    xs = {"a": np.arange(6, dtype=np.float32).reshape(3, 2), "b": None}
    carry, (a, n) = scan(step, {"n": 0}, xs)
    assert int(np.asarray(carry["n"])) == 3
    np.testing.assert_array_equal(a, xs["a"])
    np.testing.assert_array_equal(n["n"], [0, 1, 2])
    carry, ys = scan(lambda c, x: (el.mul(c, 2), x), 1, None, length=5)
    assert int(np.asarray(carry)) == 32
    assert ys is None


def test_weak_carry_takes_the_dtype_of_its_successor():
    carry, ys = scan(lambda c, y: (el.add(el.convert(c, y.dtype), y), c), 0, X)
    assert carry.dtype == ys.dtype == np.float32
    np.testing.assert_allclose(carry, X.sum())
    out = while_loop(lambda c: el.lt(c[0], 3), _halve, (0, 1))
    assert out[1].dtype == np.float32
    assert float(np.asarray(out[1])) == 0.125


def _halve(c):
    return el.add(c[0], 1), el.mul(el.convert(c[1], np.dtype(np.float32)), 0.5)


def test_fixed_carries_and_passed_slices_stay_out_of_the_loop():
    def f(x):
        init = (reductions.reduce_sum(x, (0,)), np.float32(0))
        return scan(lambda c, y: ((c[0], el.add(c[1], el.mul(c[0], y))), y), init, x)

    assert printed(f, X) == (
        "{ lambda ; a:f32[3]. let\n"
        "    b:f32[] = reduce_sum[axes=(0,)] a\n"
        "    c:f32[] = scan[\n"
        "      olympuspr={ lambda ; d:f32[] e:f32[] f:f32[]. let\n"
        "          g:f32[] = mul d f\n"
        "          h:f32[] = add e g\n"
        "        in (h,) }\n"
        "      length=3\n"
        "      num_carry=1\n"
        "      num_consts=1\n"
        "      reverse=False\n"
        "      unroll=1\n"
        "    ] b 0.0:f32[] a\n"
        "  in (b, c, a) }"
    )
    np.testing.assert_allclose(f(X)[0][1], X.sum() * X.sum())
    np.testing.assert_array_equal(f(X)[1], X)


def test_scan_printed():
    def f(x):
        return scan(lambda c, y: (el.add(c, y), c), np.float32(0), x, unroll=2)

    assert printed(f, X) == (
        "{ lambda ; a:f32[3]. let\n"
        "    b:f32[] c:f32[3] = scan[\n"
        "      olympuspr={ lambda ; d:f32[] e:f32[]. let"
        " f:f32[] = add d e in (f, d) }\n"
        "      length=3\n"
        "      num_carry=1\n"
        "      num_consts=0\n"
        "      reverse=False\n"
        "      unroll=2\n"
        "    ] 0.0:f32[] a\n"
        "  in (b, c) }"
    )


@pytest.mark.slow
@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (None, 1), (1, 2)])
@pytest.mark.parametrize("unroll", [1, 2])
def test_mapped_scan_is_a_loop_of_scans(in_axes, unroll, rng):
    init_shape, xs_shape = [3], [5, 3]
    for shape, axis in zip((init_shape, xs_shape), in_axes, strict=True):
        if axis is not None:
            shape.insert(axis, 4)
    init = rng.normal(size=init_shape).astype(np.float32)
    xs = rng.normal(size=xs_shape).astype(np.float32)

    def f(c, v):
        return scan(running, c, v, unroll=unroll)

    carry, ys = olympus.jit(olympus.vmap(f, in_axes))(init, xs)
    for i in range(4):
        one = [
            a if axis is None else np.take(a, i, axis)
            for a, axis in zip((init, xs), in_axes, strict=True)
        ]
        want_carry, want_ys = python_scan(numpy_running, *one)
        np.testing.assert_allclose(np.asarray(carry)[i], want_carry, rtol=1e-5)
        np.testing.assert_allclose(np.asarray(ys)[i], want_ys, rtol=1e-5, atol=1e-6)


def test_mapped_constant_maps_carries_step_by_step():
    # The second carry is mapped only from the second step on, through the first.
    def f(v):
        step = lambda c, _: ((el.add(c[0], v), el.add(c[1], c[0])), c[1])  # noqa: E731
        return scan(step, (0.0, 0.0), None, length=3)

    (a, b), ys = olympus.vmap(f)(X)
    np.testing.assert_array_equal(a, 3 * X)
    np.testing.assert_array_equal(b, 3 * X)
    np.testing.assert_array_equal(ys, np.stack([0 * X, 0 * X, X], 1))


def test_scan_dead_code():
    def f(x, z):
        def step(c, v):
            a, b = c
            return (el.add(a, v[0]), el.mul(b, v[1])), (b, el.neg(a))

        return scan(step, (np.float32(0), np.float32(1)), (x, z))

    program = olympus.make_olympuspr(f)(X, X).olympuspr
    small, kept = partial_eval.dce_olympuspr(program, [True, False, False, True])
    checker.check_olympuspr(small)
    assert kept == [True, False]
    (eqn,) = small.eqns
    assert eqn.params["num_carry"] == 1
    assert len(eqn.outvars) == 2


def test_scan_under_disable_jit():
    with config.disable_jit(True):
        carry, ys = scan(running, X, np.stack([X, 2 * X]), reverse=True)
        with pytest.raises(ValueError, match="under disable_jit there must be a step"):
            scan(running, X, np.zeros((0, 3), np.float32))
    want_carry, want_ys = python_scan(numpy_running, X, np.stack([X, 2 * X]), True)
    np.testing.assert_allclose(carry, want_carry)
    np.testing.assert_allclose(ys, want_ys)


def test_eager_scan_of_a_closed_over_array():
    big = np.arange(1000, dtype=np.float32)
    carry, _ = scan(lambda c, _: (el.add(c, big), None), np.zeros_like(big), None, 3)
    np.testing.assert_array_equal(carry, 3 * big)


# -- while -----------------------------------------------------------------------------


def collatz(n):
    def step(c):
        n, steps = c
        odd = el.eq(el.rem(n, 2), 1)
        return el.select_n(odd, el.div(n, 2), el.add(el.mul(n, 3), 1)), el.add(steps, 1)

    return while_loop(lambda c: el.gt(c[0], 1), step, (n, 0))[1]


def python_collatz(n):
    steps = 0
    while n > 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


@WAYS
def test_while_is_the_python_loop(wrap):
    f = wrap(collatz)
    for n in (1, 2, 7, 27):
        assert int(np.asarray(f(n))) == python_collatz(n)


def test_mapped_condition_stops_each_element_by_itself():
    n = np.arange(1, 30, dtype=np.int32)
    want = [python_collatz(int(i)) for i in n]
    np.testing.assert_array_equal(olympus.vmap(collatz)(n), want)
    square = n[:28].reshape(4, 7)
    twice = olympus.jit(olympus.vmap(olympus.vmap(collatz), in_axes=1))(square)
    np.testing.assert_array_equal(twice, np.reshape(want[:28], (4, 7)).T)


@pytest.mark.parametrize("order", [(0, None), (None, 0)])
def test_mapped_carry_around_mapped_condition(order):
    def f(x, n):
        def step(c):
            return el.add(c[0], 1), el.add(c[1], x)

        return while_loop(lambda c: el.lt(c[0], n), step, (0, 0.0))[1]

    x, n = np.arange(3, dtype=np.float32), np.arange(4, dtype=np.int32)
    other = tuple(0 if a is None else None for a in order)
    out = olympus.vmap(olympus.vmap(f, other), order)(x, n)
    want = x[:, None] * n if order[0] == 0 else x * n[:, None]
    np.testing.assert_array_equal(out, want)


def test_while_printed():
    def f(x):
        return while_loop(
            lambda c: el.lt(c[0], 10),
            lambda c: (el.add(c[0], 1), el.mul(c[1], x)),
            (0, x),
        )

    assert printed(f, X) == (
        "{ lambda ; a:f32[3]. let\n"
        "    b:i32[] c:f32[3] = while[\n"
        "      body_olympuspr={ lambda ; d:f32[3] e:i32[] f:f32[3]. let\n"
        "          g:i32[] = add e 1:i32[]\n"
        "          h:f32[3] = mul f d\n"
        "        in (g, h) }\n"
        "      body_nconsts=1\n"
        "      cond_olympuspr={ lambda ; i:i32[] j:f32[3]. let\n"
        "          k:bool[] = lt i 10:i32[]\n"
        "        in (k,) }\n"
        "      cond_nconsts=0\n"
        "    ] a 0:i32[] a\n"
        "  in (b, c) }"
    )


def test_while_drops_carries_nobody_needs():
    def f(x, y):
        return while_loop(
            lambda c: el.lt(c[0], 10),
            lambda c: (el.add(c[0], 1), el.mul(c[1], 2.0), el.add(c[2], y)),
            (0, x, y),
        )

    program = olympus.make_olympuspr(f)(X, X).olympuspr
    small, kept = partial_eval.dce_olympuspr(program, [False, True, False])
    checker.check_olympuspr(small)
    assert kept == [True, False]
    (eqn,) = small.eqns
    assert len(eqn.outvars) == 2
    assert eqn.params["body_nconsts"] == 0


def test_dead_carries_inside_of_calls_and_loops_go():
    table = olympus.numpy.arange(3.0)

    def inner(x):  # all results of it are used, but not all that its loop carries
        def body(c):
            return el.add(c[0], 1), el.mul(c[1], 2.0), el.add(c[2], el.add(c[1], table))

        return while_loop(lambda c: el.lt(c[0], 5), body, (0, x, el.mul(x, 0.0)))[1]

    def outer(x):
        step = lambda c, _: (olympus.jit(inner)(c), None)  # noqa: E731
        return scan(step, x, None, length=2)[0]

    def choose(x):
        return olympus.lax.cond(x[0] < 0, outer, lambda x: outer(el.neg(x)), x)

    for f in (olympus.jit(inner), outer, choose):
        closed = olympus.make_olympuspr(f)(X)
        assert set(_carries(closed.olympuspr)) == {3}
        small, _ = partial_eval.dce_olympuspr(closed.olympuspr, [True])
        checker.check_olympuspr(small)
        assert set(_carries(small)) == {2}
        (out,) = ir.eval_olympuspr(small, closed.consts, X)
        np.testing.assert_array_equal(out, f(X))
        again, _ = partial_eval.dce_olympuspr(small, [True])
        assert partial_eval.is_whole(again, small)


def _carries(program):
    """How many values each loop with a condition carries, in all programs inside."""
    for eqn in program.eqns:
        if eqn.primitive.name == "while":
            yield len(eqn.outvars)
        for inner in ir.subprograms(eqn.params):
            yield from _carries(inner)


def test_while_under_disable_jit_runs_python():
    seen = []

    def step(x):
        seen.append(x)
        return el.mul(x, 3)

    with config.disable_jit(True):
        out = while_loop(lambda x: el.lt(x, 50), step, 1)
        mapped = olympus.vmap(
            lambda v: while_loop(lambda c: el.lt(c, 5.0), lambda c: el.add(c, 2.0), v)
        )(X)
    assert int(np.asarray(out)) == 81
    assert len(seen) == 4
    np.testing.assert_array_equal(mapped, [5.0, 6.0, 5.0])


# -- fori and map ----------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize(("low", "high"), [(0, 5), (2, 5), (-3, 4), (5, 2), (3, 3)])
def test_fori_is_range(wrap, low, high):
    want = sum(i * i for i in range(low, high))
    static = wrap(lambda t: fori_loop(low, high, _add_square, t))(0)
    traced = wrap(lambda a, b: fori_loop(a, b, _add_square, 0))(low, high)
    assert int(np.asarray(static)) == int(np.asarray(traced)) == want


def _add_square(i, total):
    return el.add(total, el.mul(i, i))


def test_fori_with_static_bounds_is_a_scan():
    assert "scan[" in printed(
        lambda x: fori_loop(0, 3, lambda i, c: el.mul(c, x), x), X
    )
    text = printed(lambda n, x: fori_loop(0, n, lambda i, c: el.mul(c, x), x), 3, X)
    assert "while[" in text
    assert "scan[" not in text


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint32, int])
def test_fori_index_of_concrete_bounds_is_as_python_s_integers(kind):
    outs = [
        fori_loop(low, high, lambda i, c: el.add(c, i), 0)
        for low, high in ((kind(1), kind(4)), (kind(1), 4), (1, kind(4)))
    ]
    assert all((int(x), x.dtype, x.weak_type) == (6, np.int32, True) for x in outs)
    out = fori_loop(np.uint32(2**32 - 3), np.uint32(2**32 - 1), lambda i, c: i, 0)
    assert (int(out), out.dtype) == (2**32 - 2, np.uint32)


def test_fori_index_takes_the_bound_that_is_typed():
    out = olympus.jit(lambda n: fori_loop(0, n, lambda i, c: el.add(c, i), np.int8(1)))(
        np.int8(3)
    )
    assert out.dtype == np.int8
    assert int(np.asarray(out)) == 4


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 5, 7])
def test_map_is_a_list_comprehension(wrap, batch_size, rng):
    x = rng.normal(size=(5, 3)).astype(np.float32)

    def f(row):
        return {"sum": reductions.reduce_sum(row, (0,)), "neg": el.neg(row)}

    out = wrap(lambda v: map_(f, v, batch_size=batch_size))(x)
    np.testing.assert_allclose(out["sum"], x.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(out["neg"], -x)


def test_loops_nest():
    def f(x):
        def outer(i, c):
            inner = fori_loop(0, 3, lambda j, d: el.add(d, 1.0), c)
            return while_loop(lambda d: el.lt(d, 10.0), lambda d: el.mul(d, 2.0), inner)

        return fori_loop(0, 2, outer, x)

    def python(v):
        for _ in range(2):
            v += 3
            while v < 10:
                v *= 2
        return v

    x = np.array([0.5, 1.0, 100.0], np.float32)
    want = [python(v) for v in x]
    np.testing.assert_allclose(olympus.vmap(f)(x), want)
    np.testing.assert_allclose(olympus.jit(olympus.vmap(f))(x), want)
    np.testing.assert_allclose([f(v) for v in x], want)


# -- messages --------------------------------------------------------------------------


def bad_step(c, x):
    return {"h": np.ones(4, np.float32)}, x


ERRORS = {
    "carry type": (
        lambda: scan(bad_step, {"h": X}, X),
        TypeError,
        f"scan: f bad_step at {__file__}:{bad_step.__code__.co_firstlineno} must "
        "return a carry of the input's type; at carry['h'] got f32[4], expected f32[3]",
    ),
    "carry structure": (
        lambda: scan(lambda c, x: ({"a": c["a"]}, x), {"a": 1.0, "b": 2.0}, X),
        TypeError,
        "must return a carry of the input's structure, got a dict with 2 children at "
        "the carry and one with 1 at the result, only the carry has ['b']",
    ),
    "no pair": (
        lambda: scan(lambda c, x: c, 0.0, X),
        TypeError,
        "must return a pair of the carry and an output, got f32[]; return (carry",
    ),
    "three": (
        lambda: scan(lambda c, x: (c, x, x), 0.0, X),
        TypeError,
        "must return a pair of the carry and an output, got 3 values",
    ),
    "sizes": (
        lambda: scan(running, 0.0, (X, X[:2])),
        ValueError,
        "scan: all of xs must have one leading size, got 3 for xs[0], 2 for xs[1]",
    ),
    "length": (
        lambda: scan(running, 0.0, X, length=4),
        ValueError,
        "scan: length must be the leading size of xs, got length=4 and sizes 3",
    ),
    "negative length": (
        lambda: scan(running, 0.0, None, length=-1),
        ValueError,
        "scan: length must not be negative, got -1",
    ),
    "no length": (
        lambda: scan(running, 0.0, None),
        ValueError,
        "scan: xs must hold an array or length must be given, got neither",
    ),
    "scalar": (
        lambda: scan(running, 0.0, {"x": 1.0}),
        ValueError,
        "scan: xs must have a leading axis to scan over, got xs['x'] of type f32[]",
    ),
    "unroll": (
        lambda: scan(running, 0.0, X, unroll=-1),
        ValueError,
        "scan: unroll must be a bool or an integer that is not negative, got -1",
    ),
    "function": (
        lambda: scan(X, 0.0, X),
        TypeError,
        "scan: f must be a function, got f32[3]",
    ),
    "condition type": (
        lambda: while_loop(lambda c: c, lambda c: c, 0.0),
        TypeError,
        "must return a boolean scalar, got f32[]; compare values",
    ),
    "condition structure": (
        lambda: while_loop(lambda c: (True, c), lambda c: c, 0.0),
        TypeError,
        "must return a boolean scalar, got the structure",
    ),
    "while carry": (
        lambda: while_loop(lambda c: True, lambda c: X, 0.0),
        TypeError,
        "must return a carry of the input's type; at carry got f32[3], expected f32[]",
    ),
    "while structure": (
        lambda: while_loop(lambda c: True, lambda c: (c, c), 0.0),
        TypeError,
        "must return a carry of the input's structure, got a leaf at the carry and a "
        "tuple at the result",
    ),
    "float bound": (
        lambda: fori_loop(0, 1.0, lambda i, c: c, 0),
        TypeError,
        "fori_loop: upper must be an integer scalar, got f32[]",
    ),
    "bounds": (
        lambda: fori_loop(np.int32(0), np.int8(1), lambda i, c: c, 0),
        TypeError,
        "fori_loop: lower and upper must have equal dtypes, got i32[] and i8[]",
    ),
    "unroll of traced": (
        lambda: olympus.jit(lambda n: fori_loop(0, n, lambda i, c: c, 0, unroll=2))(3),
        ValueError,
        "fori_loop: unroll needs concrete bounds, got unroll=2",
    ),
    "batch size": (
        lambda: map_(el.neg, X, batch_size=-1),
        ValueError,
        "map: batch_size must be positive, got -1",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, message = ERRORS[name]
    with pytest.raises(kind, match=re.escape(message)):
        call()


def test_truth_of_a_carry_names_the_carry():
    with pytest.raises(TypeError, match="depends on the value of the argument total"):
        scan(lambda total, x: (total if total else x, x), np.float32(0), X)


def test_a_batch_of_no_size_is_one_slice_at_a_time():
    np.testing.assert_array_equal(map_(el.neg, X, batch_size=0), -X)
