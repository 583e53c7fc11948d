"""`grad`, `value_and_grad`, `jvp`, `vjp` and `linearize`: meaning, types, structure.

Values and types said to be recorded were observed with jax 0.10.2 on CPU, x64 off.
"""

import functools
import inspect
import threading
import typing

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax, tree_util
from olympus.extend import core

X = np.asarray([0.5, -1.0, 2.0], np.float32)


def square(x):
    return x * x


def kind(tree):
    """Shape, dtype and weakness of each leaf."""
    return tree_util.tree_map(lambda a: (a.shape, str(a.dtype), a.weak_type), tree)


# -- grad ------------------------------------------------------------------------------


def test_gradient_has_the_structure_of_the_argument():
    def loss(p, x):
        return jnp.sum(p["w"] * x) + p["b"][0]

    p = {"w": jnp.asarray(X), "b": [jnp.asarray(2.0), None]}
    found = olympus.grad(loss)(p, 3.0)
    assert tree_util.tree_structure(found) == tree_util.tree_structure(p)
    np.testing.assert_array_equal(found["w"], np.full(3, 3.0))
    assert float(found["b"][0]) == 1.0


def test_argnums_choose_arguments_from_either_end():
    def f(x, y, z=1.0):
        return x * y * y * z

    assert float(olympus.grad(f, -1)(2.0, 3.0)) == 12.0
    several = olympus.grad(f, (1, 0))(2.0, 3.0)
    assert isinstance(several, tuple)
    assert [float(g) for g in several] == [12.0, 9.0]
    assert [float(g) for g in olympus.grad(f, [0])(2.0, 3.0)] == [9.0]
    assert float(olympus.grad(f, np.int32(1))(2.0, 3.0, z=2.0)) == 24.0


def test_other_arguments_may_be_anything():
    def f(x, how, *, scale):
        return (x if how == "plain" else -x) * scale.factor

    class Scale:
        factor = 4.0

    assert float(olympus.grad(f)(1.0, "plain", scale=Scale())) == 4.0
    assert float(olympus.grad(f)(1.0, object(), scale=Scale())) == -4.0


def test_types_of_gradients_are_those_recorded():
    weak, strong = ((), "float32", True), ((), "float32", False)
    assert kind(olympus.grad(lambda x: x)(2.0)) == weak
    assert kind(olympus.grad(lambda x: np.float32(2) * x)(2.0)) == weak
    assert kind(olympus.grad(lambda x, y: x, 1)(2.0, 3.0)) == weak
    assert kind(olympus.grad(lambda x: 2.0)(jnp.float32(2))) == strong
    assert kind(olympus.grad(lambda x: x)(jnp.float32(2))) == strong
    assert kind(olympus.grad(square)(np.float64(2))) == strong
    assert kind(olympus.grad(square)(jnp.bfloat16(2))) == ((), "bfloat16", False)
    assert kind(olympus.jit(olympus.grad(lambda x: jnp.float32(2) * x))(2.0)) == weak
    array = ((3,), "float32", False)
    both = olympus.grad(lambda x, y: jnp.sum(x * y), (0, 1))(jnp.asarray(X), 2.0)
    assert kind(both) == (array, weak)
    found = olympus.vjp(square, 2.0)[1](jnp.float32(1))
    assert kind(found) == (strong,)


def test_value_and_auxiliary_values_come_with_the_gradient():
    def f(x):
        return x * x, {"twice": 2 * x, "name": "f", "x": x}

    (value, aux), slope = olympus.value_and_grad(f, has_aux=True)(3.0)
    assert (float(value), float(slope), aux["name"]) == (9.0, 6.0, "f")
    assert float(aux["twice"]) == 6.0
    assert aux["x"] == 3.0
    slope, aux = olympus.grad(f, has_aux=True)(3.0)
    assert (float(slope), float(aux["twice"])) == (6.0, 6.0)
    value, slope = olympus.value_and_grad(square)(3.0)
    assert (float(value), float(slope)) == (9.0, 6.0)


def test_auxiliary_values_are_built_outside_of_the_function():
    states = []

    class Box:
        def __init__(self, x):
            self.x = x
            states.append(core.get_opaque_trace_state())

    tree_util.register_pytree_node(Box, lambda b: ((b.x,), None), lambda _, c: Box(*c))

    def f(x):
        return x * x, Box(2 * x)

    outside = core.get_opaque_trace_state()
    for call in (
        lambda: olympus.grad(f, has_aux=True)(3.0)[1],
        lambda: olympus.value_and_grad(f, has_aux=True)(3.0)[0][1],
        lambda: olympus.vjp(f, 3.0, has_aux=True)[2],
        lambda: olympus.jvp(f, (3.0,), (1.0,), has_aux=True)[2],
        lambda: olympus.linearize(f, 3.0, has_aux=True)[2],
        lambda: olympus.jacfwd(f, has_aux=True)(3.0)[1],
        lambda: olympus.jacrev(f, has_aux=True)(3.0)[1],
    ):
        assert float(call().x) == 6.0
        assert states[-1] == outside


def test_auxiliary_values_keep_the_tangents_of_outer_differentiation():
    def outer(x):
        return olympus.grad(lambda y: (x * y, x * x), has_aux=True)(1.0)[1]

    assert float(olympus.grad(outer)(3.0)) == 6.0
    assert float(olympus.jvp(outer, (3.0,), (1.0,))[1]) == 6.0

    def through_jvp(x):
        return olympus.jvp(lambda y: (y, x * y), (2.0,), (1.0,), has_aux=True)[2]

    assert float(olympus.grad(through_jvp)(3.0)) == 2.0


def test_name_signature_and_place_of_the_function_are_kept():
    def f(x, y, *, k: int = 1):
        """Says f."""
        return x

    for wrap in (olympus.grad, olympus.value_and_grad, olympus.jacfwd, olympus.jacrev):
        g = wrap(f)
        assert g.__name__ == "f"
        assert g.__wrapped__ is f
        assert g.__module__ == __name__
        assert g.__qualname__ == f.__qualname__
        assert inspect.signature(g) == inspect.signature(f)
        assert "f" in g.__doc__
    assert olympus.grad(jnp.sin).__name__ == "sin"


def test_gradients_of_gradients():
    f = olympus.grad(olympus.grad(olympus.grad(lambda x: x**4)))
    assert float(f(2.0)) == 48.0
    assert float(olympus.jit(f)(2.0)) == 48.0
    third = olympus.vmap(olympus.grad(olympus.grad(jnp.sin)))(X)
    np.testing.assert_allclose(third, -np.sin(X), rtol=1e-6)


def chain(n):
    def f(x):
        for _ in range(n // 2):
            x = lax.mul(lax.sin(x), x)
        return x

    return f


@pytest.mark.slow
def test_work_grows_with_the_program():
    sizes = [
        len(olympus.make_olympuspr(olympus.grad(chain(n)))(1.0).eqns)
        for n in (100, 200, 10_000)
    ]
    assert sizes[2] - sizes[1] == 98 * (sizes[1] - sizes[0])


def test_differentiation_in_several_threads_at_once():
    found = [None] * 8

    def work(i):
        found[i] = [float(olympus.grad(lambda x: x * x * i)(float(k))) for k in (1, 2)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [[2.0 * i, 4.0 * i] for i in range(8)]


# -- integers --------------------------------------------------------------------------


def test_gradients_of_integers_have_no_values():
    f = olympus.grad(lambda d: d["a"] * 2.0 + d["b"][1], allow_int=True)
    found = f({"a": 1.0, "b": np.arange(2), "c": True, "d": 3})
    assert float(found["a"]) == 2.0
    for key, shape in (("b", (2,)), ("c", ()), ("d", ())):
        assert found[key].dtype == olympus.float0
        assert found[key].shape == shape
    key = olympus.random.key(0)
    none = olympus.grad(lambda k: olympus.random.normal(k), allow_int=True)(key)
    assert none.dtype == olympus.float0


def test_integers_among_the_arguments_of_jvp_vjp_and_linearize():
    def f(x, i):
        return x * i, i + 1

    zero = np.zeros((), olympus.float0)
    outs, slopes = olympus.jvp(f, (2.0, 3), (1.0, zero))
    assert [float(o) for o in outs] == [6.0, 4.0]
    assert float(slopes[0]) == 3.0
    assert slopes[1].dtype == olympus.float0
    _, pullback = olympus.vjp(f, 2.0, 3)
    x_bar, i_bar = pullback((1.0, zero))
    assert float(x_bar) == 3.0
    assert i_bar.dtype == olympus.float0
    _, derivative = olympus.linearize(f, 2.0, 3)
    slopes = derivative(1.0, zero)
    assert float(slopes[0]) == 3.0
    assert slopes[1].dtype == olympus.float0
    # Integers are arrays inside, whatever they were, as they are where they are traced.
    for i in (3, np.int32(3), np.asarray([3])):
        value, _ = olympus.vjp(lambda x, i: x * i.at[...].add(1), 2.0, i)
        np.testing.assert_array_equal(value, 8.0 * np.ones(np.shape(i)))


def test_stopped_gradients_of_trees_and_integers():
    def f(x):
        held = olympus.lax.stop_gradient({"x": x, "n": 3, "i": jnp.arange(2)})
        return x * held["x"] * held["n"] + held["i"][1]

    assert float(olympus.grad(f)(2.0)) == 6.0
    assert float(olympus.jvp(f, (2.0,), (1.0,))[1]) == 6.0


# -- jvp, linearize, vjp ---------------------------------------------------------------


def test_jvp_returns_values_of_the_result_s_types():
    value, slope = olympus.jvp(lambda x: 3.0, (2.0,), (1.0,))
    assert (value, kind(slope)) == (3.0, ((), "float32", True))
    assert olympus.jvp(lambda x: None, (2.0,), (1.0,)) == (None, None)
    value, slope, aux = olympus.jvp(
        lambda x: (x * x, {"a": x * 3}), (2.0,), (1.0,), has_aux=True
    )
    assert (float(value), float(slope), float(aux["a"])) == (4.0, 4.0, 6.0)
    value, slope = olympus.jvp(square, [X.astype(np.float64)], [np.ones(3)])
    assert slope.dtype == np.float32


def test_linearize_is_linear_and_equals_jvp():
    def f(p):
        return jnp.sin(p["x"]) * p["y"], p["x"][0]

    p = {"x": jnp.asarray(X), "y": jnp.asarray(2.0)}
    t = {"x": jnp.ones(3), "y": jnp.asarray(0.5)}
    value, derivative = olympus.linearize(f, p)
    expected, slopes = olympus.jvp(f, (p,), (t,))
    np.testing.assert_allclose(value[0], expected[0])
    for a, b in zip(derivative(t), slopes, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    twice = derivative(tree_util.tree_map(lambda x: 2 * x, t))
    np.testing.assert_allclose(twice[0], 2 * slopes[0], rtol=1e-6)


def test_linearize_with_auxiliary_values_and_arguments_that_stay():
    def f(x, y):
        return x * y, {"sum": x + y, "word": "w"}

    value, derivative, aux = olympus.linearize(f, 2.0, 3.0, has_aux=True)
    assert (float(value), float(derivative(1.0, 0.0)), aux["word"]) == (6.0, 3.0, "w")
    _, derivative = olympus.linearize(
        lambda x, y: (x * y, y), 2.0, 3.0, in_nzs=(True, False)
    )
    assert derivative.out_nzs == (True, False)
    assert [float(t) for t in derivative(1.0, 1.0)] == [3.0, 0.0]


def test_derivatives_are_trees_that_other_functions_take():
    x = jnp.asarray(X)
    _, derivative = olympus.linearize(jnp.sin, x)
    apply = olympus.jit(lambda f, t: f(t))
    np.testing.assert_allclose(apply(derivative, x), np.cos(X) * X, rtol=1e-6)
    _, pullback = olympus.vjp(jnp.sin, x)
    np.testing.assert_allclose(apply(pullback, x)[0], np.cos(X) * X, rtol=1e-6)
    _, pullback = olympus.jit(lambda x: olympus.vjp(jnp.sin, x))(x)
    np.testing.assert_allclose(pullback(x)[0], np.cos(X) * X, rtol=1e-6)
    many = olympus.vmap(lambda x: olympus.vjp(jnp.sin, x)[1])(x)
    found = olympus.vmap(lambda f, t: f(t))(many, x)[0]
    np.testing.assert_allclose(found, np.cos(X) * X, rtol=1e-6)
    doubled = tree_util.tree_map(lambda r: 2 * r, pullback)
    np.testing.assert_allclose(doubled(x)[0], 2 * np.cos(X) * X, rtol=1e-6)


def test_what_a_pullback_keeps_can_be_left_out_and_put_back():
    w, x = jnp.asarray(X), jnp.asarray(2 * X)

    def f(w, x, unused):
        return jnp.sin(w * x)

    _, pullback = olympus.vjp(f, w, x, 1.0)
    assert pullback.args_res[0] is w
    assert repr(pullback.args_res[2]) == "NotNeeded()"
    assert pullback.out_nzs == (True,)
    assert "sin" not in str(pullback.olympuspr)  # the derivative's program is linear
    expected = pullback(jnp.ones(3))
    _, light = olympus.vjp(f, w, x, 1.0, saveable_args=(False, True, True))
    assert repr(light.args_res[0]) == "NotSaveable()"
    kept = tree_util.tree_leaves(pullback)
    assert len(tree_util.tree_leaves(light)) == len(kept) - 1
    with pytest.raises(ValueError, match=r"not saved, w; put them back in args_res"):
        light(jnp.ones(3))
    whole = light.replace(args_res=[w, *light.args_res[1:]])
    for a, b in zip(whole(jnp.ones(3)), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(TypeError, match="only args_res and opaque_residuals"):
        light.replace(fun=f)


def test_only_what_the_derivative_needs_is_kept():
    def f(x):
        unused = jnp.exp(x) * jnp.cos(x)
        return jnp.sin(x) + lax.stop_gradient(unused)

    _, pullback = olympus.vjp(f, jnp.asarray(X))
    assert len(tree_util.tree_leaves(pullback)) == 1
    _, derivative = olympus.linearize(f, jnp.asarray(X))
    assert len(tree_util.tree_leaves(derivative)) == 1
    np.testing.assert_allclose(pullback(jnp.ones(3))[0], np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(derivative(jnp.ones(3)), np.cos(X), rtol=1e-6)


@pytest.mark.slow
def test_derivatives_of_one_function_at_several_points_are_traced_once():
    traced = []

    @olympus.jit
    def apply(f, t):
        traced.append(1)
        return f(t)

    for scale in (1.0, 2.0, 3.0):
        x = scale * jnp.asarray(X)
        for f in (olympus.vjp(jnp.sin, x)[1], olympus.linearize(jnp.sin, x)[1]):
            found = tree_util.tree_leaves(apply(f, jnp.ones(3)))[0]
            np.testing.assert_allclose(found, np.cos(scale * X), rtol=1e-5)
    assert len(traced) == 2
    other = olympus.vjp(jnp.cos, jnp.asarray(X))[1]
    np.testing.assert_allclose(apply(other, jnp.ones(3))[0], -np.sin(X), rtol=1e-6)
    assert len(traced) == 3


def test_arguments_whose_cotangents_are_not_wanted():
    seen = []

    def f(x, p):
        seen.append(p["a"])
        return x * p["a"] * p["b"]

    p = {"a": 3.0, "b": 4.0}
    _, pullback = olympus.vjp(f, 2.0, p, in_nzs=(True, False))
    x_bar, p_bar = pullback(1.0)
    assert (float(x_bar), float(p_bar["a"]), float(p_bar["b"])) == (12.0, 0.0, 0.0)
    assert isinstance(seen[0], olympus.Array)
    assert not isinstance(seen[0], olympus.core.Tracer)
    with pytest.raises(ValueError, match="vjp: in_nzs and the arguments must agree"):
        olympus.vjp(f, 2.0, p, in_nzs=(True, False, True))
    with pytest.raises(TypeError, match="vjp: in_nzs must hold bools"):
        olympus.vjp(f, 2.0, p, in_nzs=(True, "no"))


def test_fwd_and_bwd_are_compiled_once_each():
    traced = []

    def f(x, w):
        traced.append(1)
        return jnp.tanh(x @ w), {"x": x}

    x, w = jnp.ones((2, 3)), jnp.ones((3, 2))
    for jitted in (True, False):
        fwd, bwd = olympus.fwd_and_bwd(f, argnums=(0, 1), has_aux=True, jitted=jitted)
        traced.clear()
        for _ in range(3):
            _, kept, aux = fwd(x, w)
            x_bar, w_bar = bwd(kept, jnp.ones((2, 2)))
        assert len(traced) == (1 if jitted else 3)
        assert aux["x"].shape == (2, 3)
        want = olympus.grad(lambda *a: f(*a)[0].sum(), (0, 1))(x, w)
        np.testing.assert_allclose(x_bar, want[0], rtol=1e-5)
        np.testing.assert_allclose(w_bar, want[1], rtol=1e-5)
    fwd, bwd = olympus.fwd_and_bwd(jnp.multiply, -1)
    assert float(bwd(fwd(2.0, 3.0)[1], 1.0)) == 2.0


@pytest.mark.slow
def test_hessian_vector_products_by_all_pairs_of_modes():
    def f(x):
        return jnp.sum(jnp.sin(x) * x[::-1])

    x, v = jnp.asarray(X), jnp.asarray([1.0, 2.0, -1.0])
    by_jvp = olympus.jvp(olympus.grad(f), (x,), (v,))[1]
    by_vjp = olympus.vjp(olympus.grad(f), x)[1](v)[0]
    by_linearize = olympus.linearize(olympus.grad(f), x)[1](v)
    by_grad = olympus.grad(lambda x: olympus.jvp(f, (x,), (v,))[1])(x)
    dense = olympus.hessian(f)(x) @ v
    for found in (by_jvp, by_vjp, by_linearize, by_grad):
        np.testing.assert_allclose(found, dense, rtol=1e-5)


# -- complex numbers -------------------------------------------------------------------

# For z = 1.5 - 0.5i, recorded: the cotangent for 0.75 + 2i (0.75 where the result is
# real), and the tangent along 0.3 + 0.7i.
COMPLEX = {
    "abs": (0.711512 + 0.237171j, 0.063246),
    "real": (0.75, 0.3),
    "imag": (-0.75j, 0.7),
    "conj": (0.75 - 2.0j, 0.3 - 0.7j),
    "exp": (7.247061 + 6.254627j, 2.683961 + 2.108546j),
    "log": (0.05 + 1.35j, 0.04 + 0.48j),
    "sqrt": (0.166987 + 0.832772j, 0.073164 + 0.293859j),
    "sin": (-0.979756 + 0.549373j, -0.339923 + 0.211773j),
    "tanh": (-0.213808 + 0.341272j, -0.070541 + 0.125064j),
    "reciprocal": (0.24 - 0.82j, 0.072 - 0.296j),
    "angle": (0.15 - 0.45j, 0.48),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPLEX)
def test_conventions_for_complex_numbers_are_those_recorded(name):
    f = getattr(jnp, name)
    cotangent, tangent = COMPLEX[name]
    y, pullback = olympus.vjp(f, 1.5 - 0.5j)
    given = 0.75 + 2.0j if np.iscomplexobj(np.asarray(y)) else 0.75
    np.testing.assert_allclose(pullback(given)[0], cotangent, atol=2e-6)
    found = olympus.jvp(f, (1.5 - 0.5j,), (0.3 + 0.7j,))[1]
    np.testing.assert_allclose(found, tangent, atol=2e-6)


def test_products_of_complex_matrices():
    a = np.asarray([[1 + 2j, 0.5], [-1j, 2.0]], np.complex64)
    b = np.asarray([[0.5j, 1], [2, -1 - 1j]], np.complex64)
    ct = np.asarray([[1, 1j], [2, -1]], np.complex64)
    a_bar, b_bar = olympus.vjp(jnp.matmul, a, b)[1](ct)
    np.testing.assert_allclose(a_bar, ct @ b.T, rtol=1e-6)
    np.testing.assert_allclose(b_bar, a.T @ ct, rtol=1e-6)


def test_real_functions_of_complex_and_complex_functions_of_real_numbers():
    z = 1.5 - 0.5j
    # The conjugate of the direction of steepest ascent: recorded.
    squared = olympus.grad(lambda z: (z * jnp.conj(z)).real)(z)
    np.testing.assert_allclose(squared, 3 + 1j, rtol=1e-6)
    found = olympus.vjp(lambda x: x * (1 + 2j), 2.0)[1](1.0 + 1.0j)[0]
    assert kind(found)[1] == "float32"
    np.testing.assert_allclose(found, -1.0)
    np.testing.assert_allclose(
        olympus.grad(lambda x: jnp.abs(x * (1 + 2j)))(2.0), np.sqrt(5), rtol=1e-6
    )
    for derivative in (olympus.grad, olympus.jacfwd, olympus.jacrev):
        found = derivative(jnp.sin, holomorphic=True)(z)
        np.testing.assert_allclose(found, np.cos(z), rtol=1e-6)


# -- callables and containers of all kinds ---------------------------------------------


class Pair(typing.NamedTuple):
    a: float
    b: float


class Scaled:
    by = 3.0

    def method(self, x):
        return x * self.by

    @classmethod
    def of_class(cls, x):
        return x * cls.by

    def __call__(self, x):
        return x * self.by


@functools.partial(olympus.grad, argnums=1)
def decorated(x, y):
    return x * y


def test_callables_of_all_kinds():
    kinds = [
        Scaled().method,
        Scaled.of_class,
        Scaled(),
        functools.partial(jnp.multiply, 3.0),
    ]
    assert [float(olympus.grad(f)(2.0)) for f in kinds] == [3.0] * 4
    assert float(decorated(2.0, 3.0)) == 2.0
    assert float(olympus.grad(lambda *xs: xs[0] * xs[1], -1)(2.0, 3.0)) == 2.0
    assert float(olympus.grad(lambda x, y=4.0: x * y)(2.0)) == 4.0


def test_containers_of_all_kinds():
    found = olympus.grad(lambda p: p.a * p.b)(Pair(2.0, 3.0))
    assert isinstance(found, Pair)
    assert (float(found.a), float(found.b)) == (3.0, 2.0)
    assert olympus.grad(lambda nothing, y: y * 2.0, (0, 1))({}, 1.0)[0] == {}
    assert olympus.vjp(lambda: 1.0)[1](1.0) == ()
    assert float(olympus.jvp(lambda: 1.0, (), ())[1]) == 0.0
    assert float(olympus.linearize(lambda: 1.0)[1]()) == 0.0
    assert olympus.jacrev(lambda nothing: 1.0)({}) == {}


def test_an_error_inside_leaves_nothing_behind():
    def bad(x):
        raise ValueError("from inside")

    for call in (
        lambda: olympus.grad(bad)(1.0),
        lambda: olympus.jacfwd(bad)(1.0),
        lambda: olympus.linearize(bad, 1.0),
        lambda: olympus.vmap(olympus.grad(bad))(X),
    ):
        with pytest.raises(ValueError, match="from inside"):
            call()
    assert isinstance(jnp.sin(0.0), olympus.Array)
    assert not isinstance(jnp.sin(0.0), olympus.core.Tracer)


def test_differentiation_inside_differentiation_keeps_variables_apart():
    def outer(x):
        return x * olympus.grad(lambda y: x + y)(1.0)

    assert float(olympus.grad(outer)(1.0)) == 1.0
    nested = olympus.grad(lambda x: olympus.grad(lambda y: x * y * y)(x))
    assert float(nested(3.0)) == 12.0
    inner = olympus.jvp(
        lambda x: olympus.jvp(lambda y: x * y, (3.0,), (1.0,))[1], (2.0,), (1.0,)
    )
    assert [float(v) for v in inner] == [2.0, 1.0]
