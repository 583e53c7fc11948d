"""Python functions called from programs: results, effects, order, mapping, errors."""

from __future__ import annotations

import contextlib
import gc
import re
import threading
import weakref

import fresh
import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import debug, errors, experimental, lax
from olympus._src.foundation import events

X = np.array([3.0, 1.0, 2.0], np.float32)
LIKE_X = olympus.ShapeDtypeStruct((3,), np.float32)
SCALAR = olympus.ShapeDtypeStruct((), np.float32)

WAYS = pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["eager", "jit"])


def barrier():
    olympus.effects_barrier()


@pytest.fixture(autouse=True)
def _no_errors_are_left():
    """Where calls do not wait, a failed effect is told at the next barrier."""
    yield
    with contextlib.suppress(errors.OlympusRuntimeError):
        barrier()


# -- pure callbacks --------------------------------------------------------------------


@WAYS
def test_pure_callback_returns_what_the_function_returns(wrap):
    def host(d, y):
        return {"sum": d["x"] + y, "sorted": (np.sort(d["x"]),)}

    def f(x, y):
        kinds = {"sum": LIKE_X, "sorted": (LIKE_X,)}
        return olympus.pure_callback(host, kinds, {"x": x}, y=y)

    out = wrap(f)(X, np.float32(2))
    np.testing.assert_array_equal(out["sum"], X + 2)
    np.testing.assert_array_equal(out["sorted"][0], np.sort(X))


@WAYS
def test_callbacks_are_given_arrays(wrap):
    kinds = []

    def host(x):
        kinds.append(isinstance(x, olympus.Array))
        return np.asarray(x)

    wrap(lambda x: olympus.pure_callback(host, LIKE_X, x))(X).block_until_ready()
    assert kinds == [True]


@WAYS
@pytest.mark.parametrize(
    ("given", "declared"),
    [(1, np.float32), (2.5, np.float32), (np.float64(2.5), np.float32), (True, bool)],
)
def test_results_take_the_declared_dtype(wrap, given, declared):
    kind = olympus.ShapeDtypeStruct((), declared)
    out = wrap(lambda x: olympus.pure_callback(lambda _: given, kind, x))(X)
    assert out.dtype == declared
    assert np.asarray(out) == given


def test_an_unused_pure_callback_does_not_run():
    seen = []

    @olympus.jit
    def f(x):
        olympus.pure_callback(lambda v: seen.append(1) or v, LIKE_X, x)
        return x

    f(X).block_until_ready()
    assert not seen


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [((), ())] * 3),
        ("sequential_unrolled", [((), ())] * 3),
        ("expand_dims", [((3,), (1,))]),
        ("broadcast_all", [((3,), (3,))]),
        ("legacy_vectorized", [((3,), ())]),
    ],
)
@WAYS
def test_mapped_pure_callback(wrap, method, shapes):
    seen = []

    def host(x, y):
        seen.append((x.shape, y.shape))
        return np.asarray(x) * np.asarray(y)

    def f(x):
        return olympus.pure_callback(host, SCALAR, x, np.float32(2), vmap_method=method)

    np.testing.assert_array_equal(wrap(olympus.vmap(f))(X), 2 * X)
    assert seen == shapes


def test_pure_callback_in_a_loop():
    def step(c, x):
        return lax.add(c, olympus.pure_callback(np.square, SCALAR, x)), None

    out, _ = olympus.jit(lambda v: lax.scan(step, np.float32(0), v))(X)
    assert float(np.asarray(out)) == float((X**2).sum())


# -- callbacks with effects ------------------------------------------------------------


def test_io_callback_runs_each_time_and_in_order():
    seen = []

    @olympus.jit
    def f(x):
        for i in range(5):
            experimental.io_callback(
                lambda v, i=i: seen.append((i, float(v))), None, x, ordered=True
            )

    f(np.float32(1))
    f(np.float32(2))
    barrier()
    assert seen == [(i, 1.0) for i in range(5)] + [(i, 2.0) for i in range(5)]


def test_io_callback_in_control_flow_keeps_the_order():
    seen = []

    def note(tag, x):
        experimental.io_callback(
            lambda v: seen.append((tag, int(v))), None, x, ordered=True
        )

    @olympus.jit
    def f(n):
        def body(i, c):
            note("body", i)
            lax.cond(lax.eq(i, 1), lambda: note("one", i), lambda: note("other", i))
            return lax.add(c, i)

        return lax.fori_loop(0, n, body, 0)

    f(3)
    barrier()
    assert seen == [
        ("body", 0),
        ("other", 0),
        ("body", 1),
        ("one", 1),
        ("body", 2),
        ("other", 2),
    ]


def test_mapped_io_callback_runs_for_each_element():
    seen = []
    f = lambda x: experimental.io_callback(lambda v: seen.append(float(v)), None, x)  # noqa: E731
    olympus.jit(olympus.vmap(f))(X)
    barrier()
    assert sorted(seen) == sorted(X.tolist())


# -- debugging -------------------------------------------------------------------------


@WAYS
def test_print(wrap, capsys):
    wrap(lambda x: debug.print("x={x} {} {{}} {:.1f}", "text", x[0], x=x))(X)
    barrier()
    assert capsys.readouterr().out == "x=[3. 1. 2.] text {} 3.0\n"


def test_print_in_control_flow(capsys):
    def body(c):
        debug.print("body {}", c, ordered=True)
        return lax.add(c, 1)

    def test(c):
        debug.print("test {}", c, ordered=True)
        return lax.lt(c, 2)

    @olympus.jit
    def f(x):
        n = lax.while_loop(test, body, 0)
        lax.cond(
            lax.gt(n, 1),
            lambda: debug.print("true {}", n, ordered=True),
            lambda: debug.print("false {}", n, ordered=True),
        )
        return lax.scan(lambda c, v: (c, debug.print("scan {}", v, ordered=True)), 0, x)

    f(X)
    barrier()
    assert capsys.readouterr().out == (
        "test 0\nbody 0\ntest 1\nbody 1\ntest 2\ntrue 2\nscan 3.0\nscan 1.0\nscan 2.0\n"
    )


@WAYS
@pytest.mark.parametrize("ordered", [False, True])
def test_mapped_print_runs_for_each_element_in_order(wrap, ordered, capsys):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    f = lambda v, y: debug.print("{} {}", v, y, ordered=ordered)  # noqa: E731
    wrap(olympus.vmap(olympus.vmap(f, (1, None)), (None, 0)))(x, X)
    barrier()
    lines = [f"{x[:, j]} {y}" for y in X for j in range(3)]
    assert capsys.readouterr().out.splitlines() == lines


def test_gradients_pass_by(capsys):
    def f(x):
        debug.print("x={}", x)
        return lax.mul(x, x)

    assert float(np.asarray(olympus.grad(f)(3.0))) == 6.0
    assert float(np.asarray(olympus.jit(olympus.grad(f))(3.0))) == 6.0
    barrier()
    assert set(capsys.readouterr().out.splitlines()) == {"x=3.0"}


def test_print_follows_numpys_settings(capsys):
    with np.printoptions(precision=2):
        f = olympus.jit(lambda x: debug.print("{}", x))
        f(np.array([1 / 3], np.float32))
        barrier()
    assert capsys.readouterr().out == "[0.33]\n"


def test_options_can_be_given_before_the_function(capsys):
    say = debug.print(ordered=True)
    look = debug.callback(ordered=True)
    seen = []

    @olympus.jit
    def f(x):
        say("a {}", x)
        look(lambda v, name: seen.append((name, float(v))), x, name="static")

    f(np.float32(1))
    barrier()
    assert capsys.readouterr().out == "a 1.0\n"
    assert seen == [("static", 1.0)]


def test_printed_program():
    text = str(olympus.make_olympuspr(lambda x: debug.print("a\n{}", x))(1.0))
    assert text == (
        "{ lambda ; a:f32[]. let\n"
        "    debug_print[fmt=a\\n{} ordered=False partitioned=False] a\n"
        "  in () }"
    )
    text = str(olympus.make_olympuspr(lambda x: debug.callback(print, x))(1.0))
    assert text == (
        "{ lambda ; a:f32[]. let\n"
        "    debug_callback[\n"
        "      callback=<host function print>\n"
        "      effect=Debug\n"
        "      partitioned=False\n"
        "    ] a\n"
        "  in () }"
    )


def test_equal_prints_share_a_compiled_program():
    def f(x):
        return lax.scan(lambda c, v: (c, debug.print("{}", v)), 0, x)

    f(X)
    counts = []

    def count(event, duration, **_):
        counts.append(event.endswith("backend_compile_duration") and duration)

    events.register_event_duration_secs_listener(count)
    try:
        f(X)
    finally:
        events.unregister_event_duration_listener(count)
    barrier()
    assert max(filter(None, counts), default=0.0) < 0.01


# -- callbacks that compute ------------------------------------------------------------


def _compute_in_callbacks(times):
    inner = olympus.jit(lambda v: lax.mul(v, 2.0))

    def host(v):
        return inner(lax.add(v, np.float32(1)))

    @olympus.jit
    def f(c):
        return olympus.pure_callback(host, SCALAR, c)

    c = np.float32(0)
    for _ in range(times):
        c = f(c)
        c = lax.div(c, np.float32(2))
    assert float(np.asarray(c)) == times


def _in_time(work, timeout_s):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout_s)
    assert not thread.is_alive(), "the callbacks stand still"


def test_thousand_callbacks_that_compute():
    _in_time(lambda: _compute_in_callbacks(1000), 120)


@pytest.mark.slow
def test_ten_thousand_callbacks_that_compute():
    _in_time(lambda: _compute_in_callbacks(10_000), 600)


def test_many_callbacks_in_one_program_that_compute():
    inner = olympus.jit(lambda v: lax.mul(v, 2.0))

    def step(c, _):
        return olympus.pure_callback(lambda v: inner(v), SCALAR, c), None

    run = olympus.jit(
        lambda c: lax.scan(
            lambda c, x: (lax.mul(step(c, x)[0], 0.5), None), c, length=200
        )
    )
    _in_time(lambda: run(np.float32(3))[0].block_until_ready(), 120)


def test_callbacks_of_callbacks_with_ordered_effects(capsys):
    inner = olympus.jit(lambda v: debug.print("inner {}", v, ordered=True))

    @olympus.jit
    def outer(v):
        debug.print("before {}", v, ordered=True)
        debug.callback(lambda u: inner(u), v, ordered=True)
        debug.print("after {}", v, ordered=True)

    _in_time(lambda: (outer(np.float32(1)), barrier()), 60)
    assert capsys.readouterr().out == "before 1.0\ninner 1.0\nafter 1.0\n"


# -- errors ----------------------------------------------------------------------------


def broken(*_):
    raise ValueError("no luck")


CALLS = {
    "pure": lambda x: olympus.pure_callback(broken, LIKE_X, x),
    "io": lambda x: experimental.io_callback(broken, LIKE_X, x),
    "ordered io": lambda x: experimental.io_callback(broken, LIKE_X, x, ordered=True),
    "debug": lambda x: debug.callback(broken, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_exception_is_the_cause_of_the_error(name):
    with pytest.raises(
        errors.OlympusRuntimeError, match="ValueError: no luck"
    ) as caught:
        olympus.block_until_ready(olympus.jit(CALLS[name])(X))
    assert type(caught.value.__cause__) is ValueError
    assert caught.value.__cause__.__traceback__.tb_frame.f_code is broken.__code__


@pytest.mark.parametrize("name", ["pure", "io"])
def test_an_exception_where_nothing_is_traced(name):
    with pytest.raises(
        errors.OlympusRuntimeError, match="ValueError: no luck"
    ) as caught:
        CALLS[name](X)
    assert type(caught.value.__cause__) is ValueError


def test_debug_callbacks_raise_their_own_error_where_nothing_is_traced():
    with pytest.raises(ValueError, match="no luck"):
        CALLS["debug"](X)


def test_a_failed_callback_leaves_the_next_calls_alone():
    fail = [True]

    def host(x):
        if fail[0]:
            raise RuntimeError("once")
        return np.asarray(x)

    f = olympus.jit(lambda x: experimental.io_callback(host, LIKE_X, x, ordered=True))
    with pytest.raises(errors.OlympusRuntimeError):
        f(X).block_until_ready()
    fail[0] = False
    np.testing.assert_array_equal(f(X), X)


def test_exceptions_whose_text_is_no_text_are_causes_too():
    out, _ = fresh.run("""
        import gc
        import numpy as np
        import olympus
        from olympus import debug, errors, experimental

        class Mute(Exception):
            def __str__(self):
                raise ValueError("no text")

        RAISED = {
            "surrogate": (ValueError("a\\udc80b"), "ValueError: a\\\\udc80b"),
            "nul": (ValueError("a\\0b"), "ValueError: a\\0b"),
            "mute": (Mute(), "Mute: (its __str__ raised ValueError)"),
            "group": (ExceptionGroup("\\udc80", [OSError("x")]), "ExceptionGroup"),
        }
        x = np.ones(3, np.float32)
        for name, (error, text) in RAISED.items():

            def broken(*_):
                raise error

            for call in (
                lambda x: olympus.pure_callback(broken, x, x),
                lambda x: experimental.io_callback(broken, x, x),
                lambda x: experimental.io_callback(broken, x, x, ordered=True),
                lambda x: debug.callback(broken, x),
            ):
                try:
                    olympus.block_until_ready(olympus.jit(call)(x))
                except errors.OlympusRuntimeError as caught:
                    assert caught.__cause__ is error, caught
                    assert text in str(caught), caught
                    assert error.__traceback__.tb_frame.f_code.co_filename == "<string>"
                else:
                    raise AssertionError(name)
        print("alive")
    """)
    assert out == "alive\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_an_exception_is_let_go_with_the_error(name):
    class Large:
        pass

    seen = []

    def broken(*_):
        large = Large()
        seen.append(weakref.ref(large))
        raise ValueError("no luck")

    calls = {
        "pure": lambda x: olympus.pure_callback(broken, LIKE_X, x),
        "io": lambda x: experimental.io_callback(broken, LIKE_X, x),
        "ordered io": lambda x: experimental.io_callback(
            broken, LIKE_X, x, ordered=True
        ),
        "debug": lambda x: debug.callback(broken, x),
    }
    with pytest.raises(errors.OlympusRuntimeError) as caught:
        olympus.block_until_ready(olympus.jit(calls[name])(X))
    assert seen[-1]() is not None
    del caught
    gc.collect()
    assert seen[-1]() is None


WRONG = {
    "shape": (lambda x: np.asarray(x)[:2], "must return f32[3], got float32[2]"),
    "dtype": (lambda x: np.asarray(x, np.int32), "must return f32[3], got int32[3]"),
    "structure": (lambda x: (x, x), "must return the structure PyTreeDef(*)"),
}


@WAYS
@pytest.mark.parametrize("name", WRONG)
def test_wrong_results(wrap, name):
    host, message = WRONG[name]
    with pytest.raises(errors.OlympusRuntimeError) as caught:
        wrap(lambda x: olympus.pure_callback(host, LIKE_X, x))(X)
    assert message in str(caught.value.__cause__)


REFUSED = {
    "method": (
        lambda: olympus.pure_callback(np.sin, LIKE_X, X, vmap_method="loop"),
        ValueError,
        "pure_callback: vmap_method must be one of sequential,",
    ),
    "no method": (
        lambda: olympus.vmap(lambda x: olympus.pure_callback(np.sin, SCALAR, x))(X),
        NotImplementedError,
        "pure_callback: under vmap the argument vmap_method must say",
    ),
    "wide": (
        lambda: olympus.pure_callback(np.sin, np.zeros(3), X),
        ValueError,
        "pure_callback: result_shape_dtypes must have dtypes of 32 bits or less, got "
        "float64; enable 64-bit types",
    ),
    "no type": (
        lambda: olympus.pure_callback(np.sin, {"a": 1}, X),
        TypeError,
        "pure_callback: result_shape_dtypes must hold arrays or ShapeDtypeStructs, "
        "got 1",
    ),
    "no function": (
        lambda: experimental.io_callback(3, None, X),
        TypeError,
        "io_callback: callback must be a function, got 3",
    ),
    "gradient": (
        lambda: olympus.grad(lambda x: olympus.pure_callback(np.sin, SCALAR, x))(1.0),
        ValueError,
        "pure_callback: a callback has no derivative; define one by wrapping the call "
        "in olympus.custom_jvp",
    ),
    "transpose": (
        lambda: olympus.linear_transpose(
            lambda x: olympus.pure_callback(np.negative, SCALAR, x), 1.0
        )(1.0),
        ValueError,
        "pure_callback: a callback has no transpose; define one by wrapping the call "
        "in olympus.custom_jvp",
    ),
    "ordered under vmap": (
        lambda: olympus.vmap(
            lambda x: experimental.io_callback(np.sin, SCALAR, x, ordered=True)
        )(X),
        ValueError,
        "io_callback: an ordered call cannot be mapped by vmap",
    ),
    "mapped cond": (
        lambda: olympus.vmap(
            lambda x: lax.cond(
                lax.gt(x, 1.0),
                lambda v: experimental.io_callback(np.sin, SCALAR, v),
                lambda v: v,
                x,
            )
        )(X),
        NotImplementedError,
        "cond: under vmap with a mapped predicate both branches run, which IO effects",
    ),
    "mapped while": (
        lambda: olympus.vmap(
            lambda x: lax.while_loop(
                lambda v: lax.lt(v, 1.0),
                lambda v: experimental.io_callback(np.sin, SCALAR, v),
                x,
            )
        )(X),
        NotImplementedError,
        "while_loop: under vmap with a mapped condition the body also runs",
    ),
    "debug function": (
        lambda: debug.callback(3, X),
        TypeError,
        "debug.callback: callback must be a function, got 3",
    ),
    "format": (
        lambda: debug.print(X),
        TypeError,
        "debug.print: fmt must be a string, got f32[3]",
    ),
    "no place": (
        lambda: debug.print("x", X, y=X),
        ValueError,
        "debug.print: fmt must have a placeholder for every argument, got 'x', which "
        "has none for argument 0, 'y'",
    ),
    "no value": (lambda: debug.print("{y}", x=X), KeyError, "'y'"),
}


def look(n):
    debug.print("test {}", n)


def look_in_turn(n):
    debug.print("test {}", n, ordered=True)


def look_deep_inside(n):
    """Through each of the operations that hold programs."""

    def branch(n):
        lax.scan(lambda c, _: (c, look_with_rule(n)), 0, None, length=1)
        return n

    olympus.jit(lambda n: lax.cond(True, branch, lambda n: n, n))(n)


@olympus.custom_jvp
def look_with_rule(n):
    return lax.while_loop(lambda c: c < 1, lambda c: (look(n), c + 1)[1], 0)


look_with_rule.defjvp(lambda primals, tangents: (look_with_rule(*primals), 0))

LOOKS = {"at once": look, "in turn": look_in_turn, "deep inside": look_deep_inside}


@pytest.mark.parametrize("name", LOOKS)
@WAYS
def test_the_condition_of_a_mapped_loop_prints_for_those_not_done(wrap, name, capsys):
    def count(n, stop, shown):
        def test(n):
            LOOKS[name](shown(n))
            return n < stop

        return lax.while_loop(test, lambda n: n + 1, n)

    def printed(f, *args):
        out = wrap(f)(*args)
        olympus.effects_barrier()
        lines = capsys.readouterr().out.splitlines()
        return np.asarray(out).tolist(), [int(line.split()[1]) for line in lines]

    starts = np.array([0, 2, 5], np.int32)
    once = olympus.vmap(lambda n: count(n, 3, lambda n: n))
    assert printed(once, starts) == ([3, 3, 5], [0, 2, 5, 1, 3, 2, 3])
    # Two axes: what is looked at tells the elements of each apart.
    stops = np.array([3, 1], np.int32)
    twice = olympus.vmap(
        lambda stop: olympus.vmap(lambda n: count(n, stop, lambda n: 10 * stop + n))(
            starts
        )
    )
    values, seen = printed(twice, stops)
    assert values == [[3, 3, 5], [1, 2, 5]]
    want = [10 * s + n for s in stops for a in starts for n in range(a, max(s, a) + 1)]
    assert sorted(seen) == sorted(want)


def test_a_mapped_loop_whose_condition_prints_has_derivatives(capsys):
    def f(x, y):
        def test(c):
            debug.print("{}", y)
            return c[0] < x

        return lax.while_loop(test, lambda c: (c[0] + 1, c[1] * y), (0.0, x))[1]

    x, y = jnp.array([2.0, 3.0]), jnp.array([5.0, 7.0])
    out, slope = olympus.jvp(olympus.vmap(f), (x, y), (jnp.ones(2), jnp.ones(2)))
    np.testing.assert_allclose(out, [50.0, 1029.0])
    np.testing.assert_allclose(slope, [25.0 + 20.0, 343.0 + 441.0])
    olympus.effects_barrier()
    lines = capsys.readouterr().out.split()
    assert (lines.count("5.0"), lines.count("7.0")) in ((3, 4), (6, 8))
    columns = olympus.vmap(f, in_axes=(None, 0))(2.0, y)
    np.testing.assert_allclose(columns, [50.0, 98.0])


VECTOR = olympus.ShapeDtypeStruct((3,), np.float32)
# What a callback returns, the types that are due, and whether it will do.
RETURNED = {
    "a list for a tuple": ([np.float32(1), np.float32(2)], (SCALAR, SCALAR), True),
    "a tuple for a list": ((np.float32(1), np.float32(2)), [SCALAR, SCALAR], True),
    "a number": (1.0, SCALAR, True),
    "a list for an array": ([1.0, 2.0, 3.0], VECTOR, False),
    "a tuple for an array": ((1.0, 2.0, 3.0), VECTOR, False),
    "none": (None, VECTOR, False),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_callbacks_may_return(name):
    value, types, fits = RETURNED[name]
    for call in (olympus.pure_callback, experimental.io_callback):
        if fits:
            assert olympus.block_until_ready(call(lambda: value, types)) is not None
        else:
            with pytest.raises(Exception, match=r"callback"):
                olympus.block_until_ready(call(lambda: value, types))


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=re.escape(message)):
        call()


def test_the_check_of_formats_can_be_skipped(capsys):
    debug.print("x", X, skip_format_check=True)
    assert capsys.readouterr().out == "x\n"
