"""`custom_jvp`: derivatives that users write, under every transformation."""

from __future__ import annotations

import functools
import threading

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import custom_derivatives, errors, lax
from olympus.custom_batching import custom_vmap
from olympus.experimental import checkify

pytestmark = pytest.mark.sampled(4)


def make_sine(scale=1.0):
    """A sine whose derivative is `scale` times the true one, to tell them apart."""

    @olympus.custom_jvp
    def sine(x):
        return onp.sin(x)

    @sine.defjvp
    def sine_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return sine(x), scale * onp.cos(x) * t

    return sine


def test_python_control_flow_on_concrete_values_works_outside_jit():
    @olympus.custom_jvp
    def magnitude(x):
        return x if x > 0 else -x

    @magnitude.defjvp
    def magnitude_jvp(primals, tangents):
        (x,), (t,) = primals, tangents
        return magnitude(x), t if x > 0 else -t

    assert magnitude(-2.0) == 2.0
    assert olympus.grad(magnitude)(-2.0) == -1.0
    assert olympus.jvp(magnitude, (-2.0,), (3.0,)) == (2.0, -3.0)
    with pytest.raises(errors.TracerBoolConversionError):
        olympus.jit(magnitude)(-2.0)


def test_stable_gradient_of_log1pexp():
    @olympus.custom_jvp
    def log1pexp(x):
        return onp.log1p(onp.exp(x))

    log1pexp.defjvps(lambda t, out, x: t * (1 - 1 / (1 + onp.exp(x))))
    points = np.array([-100.0, -1.0, 0.0, 1.0, 100.0], np.float32)
    slopes = olympus.vmap(olympus.grad(log1pexp))(points)
    expected = np.exp(-np.logaddexp(0, -points.astype(np.float64)))
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-40)
    plain = olympus.grad(lambda x: onp.log1p(onp.exp(x)))(100.0)
    assert np.isnan(plain)


WRAPPERS = {
    "plain": lambda f: f,
    "jit": olympus.jit,
    "vmap": lambda f: lambda x: olympus.vmap(f)(onp.full(2, x))[1],
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), 0), x, None, length=1)[0],
    "cond": lambda f: lambda x: lax.cond(x > 0, f, lambda x: 2 * x, x),
    "grad": lambda f: olympus.grad(lambda x: f(x) * onp.exp(0.0)),
    "jvp": lambda f: lambda x: olympus.jvp(f, (x,), (1.0,))[1],
}
# What a wrapper makes of a derivative order of the sine.
ORDER = {"grad": 1, "jvp": 1}


def nested(names, f):
    for name in names:
        f = WRAPPERS[name](f)
    return f


def derivative(order, x):
    return np.sin(x + order * np.pi / 2)


QUICK = [
    ("grad",),
    ("jit", "grad"),
    ("vmap", "grad", "jit"),
    ("scan", "grad"),
    ("grad", "grad", "jit"),
]
DEEP = [
    (a, b, c)
    for a in WRAPPERS
    for b in WRAPPERS
    for c in ("plain", "jit", "vmap", "grad")
    if a != "plain" or b != "plain"
]


def check_nested(names, f):
    order = sum(ORDER.get(name, 0) for name in names)
    got = nested(names, f)(0.7)
    np.testing.assert_allclose(got, derivative(order, 0.7), rtol=1e-5)


@pytest.mark.parametrize("names", QUICK, ids="-".join)
def test_transformations_nest(names):
    check_nested(names, make_sine())


@pytest.mark.slow
@pytest.mark.parametrize("names", DEEP, ids="-".join)
def test_transformations_nest_three_deep(names):
    check_nested(names, make_sine())


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
def test_the_rule_is_what_is_used(wrap):
    sine = make_sine(10.0)
    np.testing.assert_allclose(
        olympus.grad(wrap(sine))(0.7), 10 * np.cos(0.7), rtol=1e-6
    )
    # The rule is differentiated in turn: d(10 cos x) = -10 sin x.
    second = olympus.grad(olympus.grad(wrap(sine)))(0.7)
    np.testing.assert_allclose(second, -10 * np.sin(0.7), rtol=1e-6)


def test_while_loops_take_the_rule_in_forward_mode():
    sine = make_sine(10.0)

    def loop(x):
        return lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, sine(c[1])), x)

    _, tangent = olympus.jvp(lambda x: loop((0, x))[1], (0.7,), (1.0,))
    np.testing.assert_allclose(tangent, 10 * np.cos(0.7), rtol=1e-6)


def test_the_program_shows_the_function_and_its_rule():
    program = str(olympus.make_olympuspr(make_sine())(1.0))
    assert "custom_jvp_call[" in program
    assert "name=sine" in program
    assert "call_olympuspr={ lambda ;" in program
    assert "jvp=sine_jvp" in program
    assert "symbolic_zeros=False" in program


@pytest.mark.slow
def test_a_rule_may_call_jitted_functions_on_values_and_tangents_together():
    inner = olympus.jit(lambda x: onp.sin(x) * x)

    @olympus.custom_jvp
    def f(x):
        return onp.exp(inner(x))

    @f.defjvp
    def f_jvp(primals, tangents):
        y, t = olympus.jvp(inner, primals, tangents)
        return onp.exp(y), onp.exp(y) * t

    def plain(x):
        return onp.exp(onp.sin(x) * x)

    for order in (olympus.grad, lambda f: olympus.grad(olympus.jit(olympus.grad(f)))):
        np.testing.assert_allclose(order(f)(0.7), order(plain)(0.7), rtol=1e-5)


def test_trees_defaults_keywords_and_static_arguments():
    def f(name, tree, scale=2.0):
        return {"out": tree["a"] * scale, name: tree["b"][0]}

    f = olympus.custom_jvp(f, nondiff_argnums=(0,))

    @f.defjvp
    def f_jvp(name, primals, tangents):
        tree, scale = primals
        dtree, dscale = tangents
        tangent = dtree["a"] * scale + 10 * tree["a"] * dscale
        return f(name, tree, scale), {"out": tangent, name: dtree["b"][0]}

    tree = {"a": 3.0, "b": (4.0,)}
    found = olympus.grad(lambda t: f("extra", t)["out"])(tree)
    assert found == {"a": 2.0, "b": (0.0,)}
    found = olympus.grad(lambda s: f(scale=s, tree=tree, name="extra")["out"])(5.0)
    assert found == 30.0
    by_name = olympus.custom_jvp(lambda n, x: x * n, nondiff_argnames="n")
    by_name.defjvp(lambda n, p, t: (p[0] * n, 10 * n * t[0]))
    assert olympus.grad(lambda x: by_name(x=x, n=3))(1.0) == 30.0


def test_integers_have_float0_tangents():
    seen = []

    @olympus.custom_jvp
    def power(x, n):
        return x**n, n

    @power.defjvp
    def power_jvp(primals, tangents):
        (x, n), (t, dn) = primals, tangents
        seen.append(dn.dtype)
        return (x**n, n), (n * x ** (n - 1) * t, dn)

    assert olympus.grad(lambda x: power(x, 3)[0])(2.0) == 12.0
    assert olympus.jit(olympus.grad(lambda x: power(x, 3)[0]))(2.0) == 12.0
    assert set(seen) == {olympus.float0}


def test_symbolic_zeros():
    seen = []

    def f(x, y):
        return x * y, y

    f = olympus.custom_jvp(f)

    def f_jvp(primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        seen.append(type(dy))
        assert (dy.shape, dy.dtype) == ((), np.float32)
        return (x * y, y), (dx * y, dy)

    f.defjvp(f_jvp, symbolic_zeros=True)
    for transform in (
        olympus.grad,
        lambda f: olympus.jit(olympus.grad(olympus.jit(f))),
    ):
        assert transform(lambda x: f(x, 3.0)[0])(2.0) == 3.0
    assert set(seen) == {custom_derivatives.SymbolicZero}


def test_closed_over_values_stay_fixed():
    def outer(x, y):
        @olympus.custom_jvp
        def inner(x):
            return x * y

        inner.defjvp(lambda p, t: (inner(*p), 10 * t[0] * y))
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


def test_rules_close_over_containers_that_are_no_trees():
    in_itself = [3.0]
    in_itself.append(in_itself)
    without_order = {("a", 1): 3.0, "a": 2.0}

    def outer(x, y):
        values = {**without_order, 1: [y]}  # a traced value, among such keys

        @olympus.custom_jvp
        def inner(x):
            return x * values[1][0] * in_itself[0]

        inner.defjvp(lambda p, t: (inner(*p), 10 * t[0] * values[1][0] * in_itself[0]))
        return inner(x)

    jitted = olympus.jit(outer)
    assert jitted(2.0, 3.0) == 18.0
    assert olympus.grad(jitted)(2.0, 3.0) == 90.0
    assert olympus.jit(olympus.grad(outer))(2.0, 3.0) == 90.0


def rule_of(rule):
    f = olympus.custom_jvp(lambda x: {"a": x * 2})
    f.defjvp(rule)
    return f


@pytest.mark.parametrize("wrap", [lambda f: f, olympus.jit], ids=["plain", "jit"])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda p, t: p[0], "must return a pair of results and tangents, got"),
        (lambda p, t: (1.0, 2.0, 3.0), "must return a pair"),
        (
            lambda p, t: ({"a": p[0]}, {"b": t[0]}),
            r"only the tangent has 'b', only the result has 'a'",
        ),
        (
            lambda p, t: ({"a": p[0]}, {"a": onp.ones(3)}),
            r"at tangent\['a'\] expected f32\[\], got f32\[3\]",
        ),
        (
            lambda p, t: ({"a": p[0]}, {"a": 3}),
            r"at tangent\['a'\] expected f32\[\], got i32\[\]",
        ),
        (lambda p, t: ({"a": p[0]}, {"a": "no"}), r"at tangent\['a'\] .* got 'no'"),
    ],
)
def test_rules_that_return_something_else_are_told_so(wrap, rule, message):
    with pytest.raises(TypeError, match=message):
        olympus.jvp(wrap(rule_of(rule)), (1.0,), (1.0,))


def test_results_of_the_rule_must_be_those_of_the_function():
    for rule in (
        lambda p, t: (p[0], t[0]),
        lambda p, t: ({"a": onp.ones(3)}, {"a": onp.ones(3)}),
    ):
        with pytest.raises(TypeError, match="must return the results of <lambda>"):
            olympus.jvp(olympus.jit(rule_of(rule)), (1.0,), (1.0,))


def test_misuse_is_explained():
    with pytest.raises(TypeError, match="custom_jvp: fun must be a function, got 3"):
        olympus.custom_jvp(3)
    f = olympus.custom_jvp(lambda x, y=1.0, *, k=2: x)
    with pytest.raises(AttributeError, match="no derivative is defined for <lambda>"):
        f(1.0)
    with pytest.raises(TypeError, match="jvp must be a function, got None"):
        f.defjvp(None)
    f.defjvp(lambda p, t: (p[0], t[0]))
    assert f(1.0) == 1.0
    with pytest.raises(TypeError, match="got k by keyword only"):
        f(1.0, k=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        f(1.0, z=3)
    with pytest.raises(TypeError, match=r"got 'text' at x\['k'\]"):
        f({"k": "text"})
    g = olympus.custom_jvp(lambda x: "text")
    g.defjvp(lambda p, t: p)
    with pytest.raises(TypeError, match="must return arrays, got 'text' at result"):
        g(1.0)
    h = olympus.custom_jvp(lambda x: x, nondiff_argnums=5)
    h.defjvp(lambda p, t: p)
    with pytest.raises(ValueError, match="got 5 for 1 arguments"):
        h(1.0)
    h = olympus.custom_jvp(lambda x: x, nondiff_argnames="q")
    h.defjvp(lambda p, t: p)
    with pytest.raises(ValueError, match="got 'q'; it has x"):
        h(1.0)
    with pytest.raises(TypeError, match="nondiff_argnums must be an int or ints"):
        olympus.custom_jvp(lambda x: x, nondiff_argnums="x")


def test_defjvps_takes_none_for_terms_that_are_zero():
    product = olympus.custom_jvp(lambda x, y: x * y)
    product.defjvps(lambda t, out, x, y: 10 * t * y, None)
    assert olympus.grad(product, (0, 1))(2.0, 3.0) == (30.0, 0.0)
    product.defjvps(None)
    with pytest.raises(TypeError, match="each of its 2 arguments, got 1"):
        olympus.grad(product)(2.0, 3.0)


def test_linear_functions_can_be_transposed():
    double = olympus.custom_jvp(lambda x: 2 * x)
    double.defjvp(lambda p, t: (double(*p), double(*t)))
    assert olympus.grad(double)(1.0) == 2.0
    assert olympus.grad(olympus.jit(double))(1.0) == 2.0


def test_methods_and_names():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @olympus.custom_jvp
        def double(x):
            """Twice x."""
            return 2 * x

    Model.double.defjvp(lambda p, t: (2 * p[0], 20 * t[0]))
    assert olympus.grad(Model.double)(1.0) == 20.0
    assert Model.double.__name__ == "double"
    assert Model.double.__doc__ == """Twice x."""
    assert repr(Model.double).startswith("<custom_jvp of double at ")


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


def test_remade_functions_that_use_it_compile_once():
    sine = make_sine()
    for _ in range(3):
        jitted = olympus.jit(lambda x: sine(x) + 1)
        jitted(1.0)
    assert jitted.cache_info().size == 1
    assert len(jitted.cache_info().retraces) == 1


@pytest.mark.slow
def test_checks_leave_functions_with_rules():
    def positive(x):
        checkify.check(x > 0, "not positive: {}", x)
        return onp.sin(x)

    by_jvp = olympus.custom_jvp(positive)
    by_jvp.defjvp(lambda p, t: (by_jvp(*p), 10 * t[0]))
    by_vjp = olympus.custom_vjp(positive)
    by_vjp.defvjp(lambda x: (by_vjp(x), x), lambda x, ct: (10 * ct,))
    by_vmap = custom_vmap(positive)
    by_vmap.def_vmap(lambda size, batched, x: (onp.cos(x), True))
    for f in (by_jvp, by_vjp, by_vmap):
        error, value = checkify.checkify(f)(-0.5)
        assert "not positive: -0.5" in error.get()
        np.testing.assert_allclose(value, np.sin(-0.5), rtol=1e-6)
    for f in (by_jvp, by_vjp, olympus.jit(by_jvp), olympus.jit(by_vjp)):
        error, slope = checkify.checkify(olympus.grad(f))(-0.5)
        assert "not positive: -0.5" in error.get()
        assert slope == 10.0
        slope, error = olympus.grad(
            lambda x, f=f: checkify.checkify(f)(x)[::-1], has_aux=True
        )(-0.5)
        assert "not positive: -0.5" in error.get()
        assert slope == 10.0


def test_keywords_that_leave_out_arguments_between():
    @functools.partial(olympus.custom_jvp, nondiff_argnums=(1, 3))
    def scale(x, keep=False, factor=1.0, sign=False):
        return x * factor

    @scale.defjvp
    def rule(keep, sign, primals, tangents):
        return scale(*primals), tangents[0] * (3 + keep + 2 * sign)

    assert olympus.grad(lambda x: scale(x, sign=True))(1.0) == 5
    assert olympus.grad(lambda x: scale(x, factor=2.0))(1.0) == 3
    assert olympus.grad(lambda x: scale(x=x, factor=2.0, sign=True))(1.0) == 5
    assert scale(2.0, factor=3.0) == 6


def test_keywords_without_a_position_are_refused():
    @olympus.custom_jvp
    def scale(x, *, factor=1.0):
        return x * factor

    scale.defjvp(lambda primals, tangents: (scale(*primals), tangents[0]))
    assert scale(2.0) == 2
    with pytest.raises(TypeError, match="must have a position, got factor by keyword"):
        scale(2.0, factor=2.0)


@pytest.mark.parametrize("number", [3, 3.0, True])
def test_rules_of_programs_get_numbers_as_arrays(number):
    seen = []

    @olympus.custom_jvp
    def scale(x, factor):
        return x * factor

    @scale.defjvp
    def rule(primals, tangents):
        x, factor = primals
        seen.append(isinstance(factor, olympus.Array) and factor.weak_type)
        return scale(x, factor), tangents[0] * factor

    inner = olympus.jit(lambda x: scale(x, number))

    def loop(x):
        return lax.scan(lambda c, _: (scale(c, number), None), x, None, 2)[0]

    assert olympus.grad(inner)(1.0) == number
    assert olympus.jvp(inner, (1.0,), (1.0,))[1] == number
    assert olympus.jvp(loop, (1.0,), (1.0,))[1] == number**2
    assert seen
    assert all(seen) == (number is not True)
