"""`custom_vjp`: reverse-mode derivatives that users write."""

from __future__ import annotations

import functools
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import custom_derivatives, errors, lax

pytestmark = pytest.mark.sampled(4)


def make_sine(scale=1.0):
    """A sine whose derivative is `scale` times the true one, to tell them apart."""

    @olympus.custom_vjp
    def sine(x):
        return onp.sin(x)

    def sine_fwd(x):
        return sine(x), x

    def sine_bwd(x, ct):
        return (scale * onp.cos(x) * ct,)

    sine.defvjp(sine_fwd, sine_bwd)
    return sine


def test_python_control_flow_on_concrete_values_works_outside_jit():
    @olympus.custom_vjp
    def magnitude(x):
        return x if x > 0 else -x

    magnitude.defvjp(
        lambda x: (x, None) if x > 0 else (-x, None), lambda _, ct: (10 * ct,)
    )
    assert magnitude(-2.0) == 2.0
    assert olympus.grad(magnitude)(-2.0) == 10.0
    with pytest.raises(errors.TracerBoolConversionError):
        olympus.jit(magnitude)(-2.0)


def test_clipped_gradients():
    @olympus.custom_vjp
    def clip_gradient(low, high, x):
        return x

    clip_gradient.defvjp(
        lambda low, high, x: (x, (low, high)),
        lambda res, ct: (None, None, onp.clip(ct, res[0], res[1])),
    )

    def slopes(x):
        inner = olympus.vmap(olympus.grad(lambda x: onp.sin(3 * clip(x))))
        return inner(x)

    def clip(x):
        return clip_gradient(-0.75, 0.75, x)

    x = np.linspace(0, 3, 7, dtype=np.float32)
    expected = np.clip(3 * np.cos(3 * x), -0.75, 0.75)
    np.testing.assert_allclose(slopes(x), expected, rtol=1e-4)
    np.testing.assert_allclose(olympus.jit(slopes)(x), expected, rtol=1e-4)
    found = olympus.grad(clip_gradient, (0, 1, 2))(-1.0, 1.0, 5.0)
    assert found == (0.0, 0.0, 1.0)


def test_fixed_points_by_the_implicit_function_theorem():
    def iterate(f, a, start):
        def body(carry):
            _, x = carry
            return x, f(a, x)

        def running(carry):
            before, after = carry
            return onp.abs(before - after) > 1e-6

        return lax.while_loop(running, body, (start + 1.0, start))[1]

    def fixed_point(f, a, start):
        return iterate(f, a, start)

    fixed_point = olympus.custom_vjp(fixed_point, nondiff_argnums=(0,))

    def fwd(f, a, start):
        x = fixed_point(f, a, start)
        return x, (a, x)

    def bwd(f, res, ct):
        a, x = res
        _, back_a = olympus.vjp(lambda a: f(a, x), a)
        # The adjoint u = ct + (df/dx)^T u is a fixed point too, with a derivative.
        adjoint = fixed_point(functools.partial(adjoint_step, f), (a, x, ct), ct)
        return *back_a(adjoint), onp.zeros_like(x)

    def adjoint_step(f, known, u):
        a, x, ct = known
        _, back_x = olympus.vjp(lambda x: f(a, x), x)
        return ct + back_x(u)[0]

    fixed_point.defvjp(fwd, bwd)

    def newton_sqrt(a):
        return fixed_point(lambda a, x: 0.5 * (x + a / x), a, a)

    # Each derivative of sqrt at 2.
    assert newton_sqrt(2.0) == pytest.approx(2**0.5, rel=1e-6)
    slope = olympus.grad(newton_sqrt)
    assert slope(2.0) == pytest.approx(0.5 * 2**-0.5, rel=1e-5)
    assert olympus.jit(slope)(2.0) == pytest.approx(0.5 * 2**-0.5, rel=1e-5)
    second = olympus.grad(slope)(2.0)
    assert second == pytest.approx(-0.25 * 2**-1.5, rel=1e-4)
    mapped = olympus.vmap(slope)(onp.array([1.0, 2.0]))
    np.testing.assert_allclose(mapped, [0.5, 0.5 * 2**-0.5], rtol=1e-5)


def test_bwd_may_print(capfd):
    @olympus.custom_vjp
    def watched(x):
        return x

    def bwd(_, ct):
        print("the cotangent is", ct)
        return (ct,)

    watched.defvjp(lambda x: (x, None), bwd)
    olympus.grad(lambda x: 3.0 * watched(x))(1.0)
    assert "the cotangent is 3.0" in capfd.readouterr().out


WRAPPERS = {
    "plain": lambda f: f,
    "jit": olympus.jit,
    "vmap": lambda f: lambda x: olympus.vmap(f)(onp.full(2, x))[1],
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), 0), x, None, length=1)[0],
    "cond": lambda f: lambda x: lax.cond(x > 0, f, lambda x: 2 * x, x),
    "grad": lambda f: olympus.grad(lambda x: f(x) * onp.exp(0.0)),
    "summed": lambda f: olympus.grad(
        lambda x: olympus.vmap(lambda i: f(x) * i)(onp.arange(2.0)).sum()
    ),
}
ORDER = {"grad": 1, "summed": 1}
QUICK = [
    ("grad",),
    ("jit", "grad"),
    ("vmap", "grad", "jit"),
    ("scan", "grad"),
    ("grad", "summed", "jit"),
]
DEEP = [
    (a, b, c)
    for a in WRAPPERS
    for b in WRAPPERS
    for c in ("plain", "jit", "vmap", "grad")
    if a != "plain" or b != "plain"
]


def check_nested(names, f):
    for name in names:
        f = WRAPPERS[name](f)
    order = sum(ORDER.get(name, 0) for name in names)
    expected = np.sin(0.7 + order * np.pi / 2)
    np.testing.assert_allclose(f(0.7), expected, rtol=1e-5)


@pytest.mark.parametrize("names", QUICK, ids="-".join)
def test_transformations_nest(names):
    check_nested(names, make_sine())


@pytest.mark.slow
@pytest.mark.parametrize("names", DEEP, ids="-".join)
def test_transformations_nest_three_deep(names):
    check_nested(names, make_sine())


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
def test_the_rules_are_what_is_used(wrap):
    sine = make_sine(10.0)
    slope = olympus.grad(wrap(sine))
    np.testing.assert_allclose(slope(0.7), 10 * np.cos(0.7), rtol=1e-6)
    second = olympus.grad(olympus.grad(wrap(sine)))(0.7)
    np.testing.assert_allclose(second, -10 * np.sin(0.7), rtol=1e-6)


def test_forward_mode_is_refused():
    f = make_sine()
    message = "can't apply forward-mode differentiation.*sine_bwd.*custom_jvp"
    for attempt in (
        lambda: olympus.jvp(f, (1.0,), (1.0,)),
        lambda: olympus.jvp(olympus.jit(f), (1.0,), (1.0,)),
        lambda: olympus.jit(lambda x: olympus.jvp(f, (x,), (x,)))(1.0),
        lambda: olympus.linearize(f, 1.0)[1](1.0),
        lambda: olympus.linearize(olympus.jit(f), 1.0)[1](1.0),
        lambda: olympus.jvp(olympus.grad(f), (1.0,), (1.0,)),
        lambda: olympus.vmap(lambda x: olympus.jvp(f, (x,), (x,)))(onp.ones(2)),
    ):
        with pytest.raises(TypeError, match=message):
            attempt()


def test_a_tangent_that_nobody_needs_is_no_error():
    f = make_sine()
    value = olympus.jit(lambda x: olympus.jvp(f, (x,), (x,))[0])(1.0)
    np.testing.assert_allclose(value, np.sin(1.0), rtol=1e-6)


def test_the_program_shows_the_function_and_its_rules():
    program = str(olympus.make_olympuspr(make_sine())(1.0))
    for part in ("custom_vjp_call[", "name=sine", "fwd=sine_fwd", "bwd=sine_bwd"):
        assert part in program
    assert "call_olympuspr={ lambda ;" in program
    program = str(
        olympus.make_olympuspr(lambda x: olympus.jvp(make_sine(), (x,), (x,)))(1.0)
    )
    for part in ("custom_lin[", "bwd=sine_bwd", "num_res=1"):
        assert part in program


def test_trees_none_cotangents_and_integers():
    def f(tree, n):
        return {"y": tree["a"] * n}

    f = olympus.custom_vjp(f)
    f.defvjp(
        lambda tree, n: (f(tree, n), n),
        lambda n, ct: ({"a": 10 * ct["y"] * n, "b": None}, None),
    )
    tree = {"a": 1.0, "b": (2.0, [3.0])}
    expected = {"a": 30.0, "b": (0.0, [0.0])}
    for transform in (
        olympus.grad,
        lambda g: olympus.jit(olympus.grad(olympus.jit(g))),
    ):
        assert transform(lambda t: f(t, 3)["y"])(tree) == expected
    f.defvjp(lambda tree, n: (f(tree, n), n), lambda n, ct: (None, None))
    expected["a"] = 0.0
    assert olympus.grad(lambda t: f(t, 3)["y"])(tree) == expected


def test_integer_results_have_float0_cotangents():
    seen = []
    f = olympus.custom_vjp(lambda x: (x, 3))

    def bwd(_, ct):
        seen.append(ct[1].dtype)
        return (10 * ct[0],)

    f.defvjp(lambda x: ((x, 3), None), bwd)
    assert olympus.grad(lambda x: f(x)[0])(1.0) == 10.0
    assert olympus.grad(olympus.jit(lambda x: f(x)[0]))(1.0) == 10.0
    assert set(seen) == {olympus.float0}


def test_residuals_may_be_values_of_any_kind():
    f = olympus.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, ("two", x)), lambda res, ct: (ct * len(res[0]) * res[1],))
    for wrap in (lambda f: f, olympus.jit):
        assert olympus.grad(wrap(f))(5.0) == 15.0


def test_symbolic_zeros():
    seen = []
    f = olympus.custom_vjp(lambda x, y: (x * y, y))

    def fwd(x, y):
        seen.append((x.perturbed, y.perturbed))
        x, y = custom_derivatives.custom_vjp_primal_tree_values((x, y))
        return (x * y, y), y

    def bwd(y, ct):
        assert type(ct[1]) is custom_derivatives.SymbolicZero
        return 10 * ct[0] * y, custom_derivatives.zero_from_primal(y, True)

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    for transform in (
        olympus.grad,
        lambda g: olympus.jit(olympus.grad(olympus.jit(g))),
    ):
        assert transform(lambda x: f(x, 3.0)[0])(2.0) == 30.0
    assert set(seen) == {(True, False)}
    mapped = olympus.vmap(olympus.grad(lambda x: f(x, 3.0)[0]))(onp.ones(2))
    np.testing.assert_array_equal(mapped, [30.0, 30.0])


def test_static_arguments_come_first_in_bwd():
    def f(x, apply, y):
        return apply(x * y)

    f = olympus.custom_vjp(f, nondiff_argnums=(1,))
    f.defvjp(
        lambda x, apply, y: (f(x, apply, y), (x, y)),
        lambda apply, res, ct: (apply(res[1] * ct), 10 * apply(res[0] * ct)),
    )
    found = olympus.grad(lambda x, y: f(x, lambda v: 2 * v, y), (0, 1))(3.0, 5.0)
    assert found == (10.0, 60.0)
    found = olympus.grad(lambda x: f(y=x, apply=lambda v: v, x=2.0))(5.0)
    assert found == 20.0
    f = olympus.custom_vjp(lambda n, x: x * n, nondiff_argnums=0)
    f.defvjp(lambda n, x: (x, x), lambda n, res, ct: (ct,))
    with pytest.raises(errors.UnexpectedTracerError, match="the argument n of"):
        olympus.jit(f)(1.0, 2.0)


def test_cotangents_of_unmapped_arguments_are_summed():
    f = olympus.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, ct: (r[1] * ct, r[0] * ct))

    def loss(x, ys):
        return olympus.vmap(f, (None, 0))(x, ys).sum()

    for wrap in (lambda f: f, olympus.jit):
        gx, gys = olympus.grad(wrap(loss), (0, 1))(2.0, onp.arange(3.0))
        assert gx == 3.0
        np.testing.assert_array_equal(gys, [2.0, 2.0, 2.0])
        matrix = olympus.vmap(olympus.grad(wrap(loss), 1), (0, None))
        found = matrix(onp.array([2.0, 5.0]), onp.arange(3.0))
        np.testing.assert_array_equal(found, [[2.0] * 3, [5.0] * 3])


def test_closed_over_values_stay_fixed():
    def outer(x, y):
        @olympus.custom_vjp
        def inner(x):
            return x * y

        inner.defvjp(lambda x: (inner(x), None), lambda _, ct: (10 * ct * y,))
        return inner(x)

    assert olympus.grad(outer)(2.0, 3.0) == 30.0
    assert olympus.jit(olympus.grad(outer))(2.0, 3.0) == 30.0
    slopes = olympus.vmap(olympus.grad(outer))(onp.ones(2), onp.arange(2.0))
    np.testing.assert_array_equal(slopes, [0.0, 10.0])
    mapped = olympus.vmap(outer, (None, 0))
    assert olympus.grad(lambda x: mapped(x, onp.arange(3.0)).sum())(2.0) == 30.0
    # A program keeps the rule, and makes what it closes over an operand.
    jitted = olympus.jit(outer)
    assert olympus.grad(jitted)(2.0, 3.0) == 30.0
    assert olympus.grad(olympus.grad(jitted))(2.0, 3.0) == 0.0
    slopes = olympus.vmap(olympus.grad(jitted))(onp.ones(2), onp.arange(2.0))
    np.testing.assert_array_equal(slopes, [0.0, 10.0])

    def steps(x):
        return lax.scan(lambda c, y: (outer(c, y), None), x, onp.arange(1.0, 3.0))[0]

    assert olympus.grad(steps)(2.0) == 200.0
    with pytest.raises(errors.UnexpectedTracerError, match="Pass the value to that"):
        olympus.grad(outer, 1)(2.0, 3.0)
    with pytest.raises(errors.UnexpectedTracerError, match="closes over"):
        olympus.grad(olympus.jit(outer), 1)(2.0, 3.0)


def with_rules(fwd, bwd):
    f = olympus.custom_vjp(lambda d, x: d["a"] * x)
    f.defvjp(fwd, bwd)
    return lambda x: onp.sum(f({"a": x, "b": x}, x))


def good_fwd(d, x):
    return d["a"] * x, None


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
@pytest.mark.parametrize(
    ("fwd", "bwd", "kind", "message"),
    [
        (
            lambda d, x: x,
            lambda r, ct: (None, ct),
            TypeError,
            "must return a pair of results and residuals",
        ),
        (good_fwd, lambda r, ct: ct, TypeError, "each of its 2 arguments, got"),
        (good_fwd, lambda r, ct: (ct,), TypeError, "got 1 of them"),
        (
            good_fwd,
            lambda r, ct: ({"a": ct, "c": ct}, ct),
            TypeError,
            r"only cotangents\[0\] has 'c', only args\[0\] has 'b'",
        ),
        (
            good_fwd,
            lambda r, ct: ({"a": ct, "b": onp.ones(3)}, ct),
            ValueError,
            r"at cotangents\[0\]\['b'\] expected f32\[\], got f32\[3\]",
        ),
        (
            good_fwd,
            lambda r, ct: ({"a": ct, "b": "no"}, ct),
            TypeError,
            r"at cotangents\[0\]\['b'\] expected f32\[\], got 'no'",
        ),
        (
            good_fwd,
            lambda r, ct: ({"a": ct, "b": 1j * ct}, ct),
            TypeError,
            r"at cotangents\[0\]\['b'\] expected f32\[\], got c64\[\]",
        ),
    ],
)
def test_rules_that_return_something_else_are_told_so(wrap, fwd, bwd, kind, message):
    with pytest.raises(kind, match=message):
        olympus.grad(wrap(with_rules(fwd, bwd)))(1.0)


def test_results_of_fwd_must_be_those_of_the_function():
    for fwd in (
        lambda d, x: ({"a": x}, None),
        lambda d, x: (onp.ones(3), None),
    ):
        f = with_rules(fwd, lambda r, ct: (None, None))
        with pytest.raises(TypeError, match="must return the results of <lambda>"):
            olympus.grad(olympus.jit(f))(1.0)


def test_cotangents_of_another_dtype_are_converted():
    f = olympus.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda r, ct: (ct.astype("bfloat16"),))
    assert olympus.grad(f)(onp.float32(1.5)).dtype == np.float32


def test_misuse_is_explained():
    with pytest.raises(TypeError, match="custom_vjp: fun must be a function"):
        olympus.custom_vjp(3)
    f = olympus.custom_vjp(lambda x: x)
    with pytest.raises(AttributeError, match="no derivative is defined for <lambda>"):
        f(1.0)
    with pytest.raises(TypeError, match="bwd must be a function, got 3"):
        f.defvjp(lambda x: x, 3)
    f.defvjp(lambda x: (x, None), lambda r, ct: (ct,))
    with pytest.raises(TypeError, match="got 'text' at x"):
        f("text")


@pytest.mark.slow
def test_threads_differentiate_one_function_at_once():
    sine = olympus.jit(make_sine())
    found = {}

    def work(i):
        found[i] = [float(olympus.grad(olympus.grad(sine))(i / 4)) for _ in range(3)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in range(4):
        np.testing.assert_allclose(found[i], -np.sin(i / 4), rtol=1e-5)


def test_functions_without_results():
    f = olympus.custom_vjp(lambda x: ())
    f.defvjp(lambda x: ((), None), lambda r, ct: (None,))
    for wrap in (lambda f: f, olympus.jit):
        assert olympus.grad(wrap(lambda x: (f(x), x)[1]))(1.0) == 1.0


@pytest.mark.slow
def test_random_keys_pass_and_have_no_cotangents():
    f = olympus.custom_vjp(lambda key, x: x * olympus.random.normal(key))
    f.defvjp(lambda key, x: (f(key, x), key), lambda key, ct: (None, 7 * ct))
    keys = olympus.random.split(olympus.random.key(0), 2)
    for wrap in (lambda f: f, olympus.jit):
        slopes = olympus.vmap(wrap(olympus.grad(f, 1)))(keys, onp.ones(2))
        np.testing.assert_array_equal(slopes, [7.0, 7.0])


@pytest.mark.slow
def test_collectives_in_rules_under_named_axes():
    f = olympus.custom_vjp(lambda x: lax.psum(x, "i"))
    f.defvjp(lambda x: (f(x), None), lambda r, ct: (10 * lax.psum(ct, "i"),))
    for wrap in (lambda f: f, olympus.jit):
        mapped = olympus.vmap(olympus.grad(wrap(f)), axis_name="i")
        np.testing.assert_array_equal(mapped(onp.arange(3.0)), [30.0] * 3)


@pytest.mark.slow
def test_fwd_gives_way_to_the_function_where_no_residual_is_read():
    f = olympus.custom_vjp(lambda x: onp.sin(x))
    f.defvjp(
        lambda x: (onp.tanh(x), onp.cos(x)),  # another value, to be seen
        lambda c, ct: (10 * ct * c,),
        optimize_remat=True,
    )

    def value(x):
        return olympus.vjp(f, x)[0]

    xs = onp.array([0.3, 0.7])
    np.testing.assert_allclose(olympus.jit(value)(0.7), np.sin(0.7), rtol=1e-6)
    np.testing.assert_allclose(value(0.7), np.tanh(0.7), rtol=1e-6)
    text = olympus.jit(olympus.vmap(value)).lower(xs).as_text()
    assert "sine" in text
    assert "tanh" not in text
    for wrap in (lambda f: f, olympus.jit, olympus.checkpoint):
        slopes = olympus.vmap(olympus.grad(wrap(f)))(xs)
        np.testing.assert_allclose(slopes, 10 * np.cos(xs), rtol=1e-6)
        second = olympus.grad(olympus.grad(wrap(f)))(0.7)
        np.testing.assert_allclose(second, -10 * np.sin(0.7), rtol=1e-6)
    assert "remat_opt[" in str(olympus.make_olympuspr(olympus.grad(f))(0.7))


def _replacing(f):
    """A function whose rule gives 42 for the cotangent, whatever comes."""
    g = olympus.custom_vjp(f)
    g.defvjp(
        lambda x: (f(x), None),
        lambda _, ct: (onp.full_like(olympus.tree.leaves(ct)[0], 42.0),),
    )
    return g


def _silent(f):
    g = olympus.custom_vjp(f)
    g.defvjp(lambda x: (f(x), None), lambda _, ct: (None,))
    return g


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit, olympus.checkpoint])
def test_rules_run_behind_others_that_give_none(wrap):
    # Recorded from JAX 0.10.2; libraries return statistics of a step in this way.
    replacing = _replacing(lambda x: x * 3)
    silent = _silent(lambda x: x * 2)
    cases = [
        lambda x: silent(replacing(x)),
        lambda x: silent(replacing(x) * 2),
        lambda x: silent(onp.sin(replacing(x))),
        lambda x: silent(_replacing(lambda x: (x * 3, x * 4))(x)[1]),
        lambda x: _silent(lambda pair: pair[0])((replacing(x), 1.0)),
    ]
    for f in cases:
        assert olympus.grad(wrap(f))(1.0) == 42
        assert olympus.vjp(wrap(f), 1.0)[1](1.0) == (42,)
        np.testing.assert_array_equal(
            olympus.vmap(olympus.grad(wrap(f)))(onp.ones(2)), [42, 42]
        )

    def steps(x):
        return lax.scan(lambda c, _: (c, silent(replacing(c))), x, None, length=2)[
            1
        ].sum()

    assert olympus.grad(wrap(steps))(1.0) == 84


def test_rules_do_not_run_where_nothing_depends_on_them():
    replacing = _replacing(lambda x: x * 3)
    assert olympus.grad(lambda x: lax.stop_gradient(replacing(x)) + x)(1.0) == 1
    assert olympus.grad(lambda x: (replacing(x), x)[1])(1.0) == 1
