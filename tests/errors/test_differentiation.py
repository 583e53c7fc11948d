"""Errors of differentiation: they name the function, the argument, and the remedy."""

import gc

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.extend import core as extend_core

X = np.asarray([1.0, 2.0, 3.0], np.float32)


def energy(params, x):
    return params["w"][0] * x


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: olympus.grad(lambda x: x)(X),
            r"only defined for scalar-output functions.*<lambda> returned f32\[3\]; .*"
            "sum or mean, or use jacrev",
        ),
        (
            lambda: olympus.grad(lambda x: (x, x))(1.0),
            r"scalar-output functions.*returned PyTreeDef\(\(\*, \*\)\).*has_aux",
        ),
        (
            lambda: olympus.grad(energy)({"w": [3]}, 1.0),
            r"grad requires real- or complex-valued inputs.*got i32\[\] for "
            r"params\['w'\]\[0\] of energy; .*allow_int",
        ),
        (
            lambda: olympus.grad(energy, argnums=(0, 1))({"w": [3.0]}, True),
            r"got bool\[\] for x of energy",
        ),
        (
            lambda: olympus.grad(energy)({"w": "text"}, 1.0),
            r"params\['w'\] of energy must be an array, got 'text'",
        ),
        (
            lambda: olympus.grad(olympus.random.normal)(olympus.random.key(0)),
            r"got key<fry>\[\] for key of normal; differentiate .* other arguments",
        ),
        (
            lambda: olympus.grad(lambda x: "text")(1.0),
            r"<lambda> must return arrays, got 'text' .* at result",
        ),
        (
            lambda: olympus.vjp(lambda x: {"a": (x, object())}, 1.0),
            r"vjp: <lambda> must return arrays, got <object.*result\['a'\]\[1\]",
        ),
        (
            lambda: olympus.grad(lambda x: x * 1j)(1.0),
            r"real-valued outputs.*the result of <lambda> is c64\[\]; take its real",
        ),
        (
            lambda: olympus.grad(lambda x: 1)(1.0),
            r"real-valued outputs.*is i32\[\]; its derivative is zero",
        ),
        (
            lambda: olympus.grad(lambda z: z.real, holomorphic=True)(1.0 + 1j),
            r"holomorphic=True requires outputs with complex dtype.*f32\[\]",
        ),
        (
            lambda: olympus.grad(lambda z: z, holomorphic=True)(1.0),
            r"holomorphic=True requires inputs with complex dtype.*f32\[\] for z",
        ),
        (
            lambda: olympus.jacfwd(lambda z: z)(1j),
            r"jacfwd requires real-valued inputs.*c64\[\] for z.*holomorphic=True",
        ),
        (
            lambda: olympus.jacfwd(lambda z: z)(1),
            r"jacfwd requires real-valued inputs.*i32\[\] for z.*with jvp",
        ),
        (
            lambda: olympus.jacrev(lambda x: {"k": x.astype(int)})(X),
            r"jacrev requires real-valued outputs.*result\['k'\] of <lambda>",
        ),
        (
            lambda: olympus.grad(energy, 2)({"w": [1.0]}, 1.0),
            r"argnums=2 requires at least 3 positional arguments, but energy was "
            "called with only 2",
        ),
        (
            lambda: olympus.grad(energy)(params={"w": [1.0]}, x=1.0),
            "called with only 0; give differentiated arguments by position",
        ),
        (
            lambda: olympus.grad(lambda x: x, has_aux=True)(1.0),
            "with has_aux, <lambda> must return a pair .* got f32\\[\\]",
        ),
        (
            lambda: olympus.jvp(lambda x: (x, x, x), (1.0,), (1.0,), has_aux=True),
            "jvp: with has_aux, .* got tuple of length 3",
        ),
        (lambda: olympus.grad(3), "grad: expected a callable, got 3"),
        (lambda: olympus.hessian(None), "expected a callable, got None"),
        (lambda: olympus.vjp(2.0, 1.0), "vjp: expected a callable"),
        (lambda: olympus.grad(energy, 1.0), "argnums must be an int or a sequence"),
        (lambda: olympus.grad(energy, "x"), "argnums must be an int or a sequence"),
    ],
)
def test_what_has_no_derivative(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: olympus.grad(energy, -3)({}, 1.0), "argnums=-3 requires at least 3"),
        (lambda: olympus.jacfwd(energy, 2)({}, 1.0), "jacfwd: .* argnums=2 requires"),
        (lambda: olympus.grad(energy, ()), "must name at least one argument"),
        (lambda: olympus.grad(energy, (0, -2))({}, 1.0), "name each argument once"),
    ],
)
def test_positions_that_are_not_there(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_tangents_that_do_not_fit():
    def jvp(tangents):
        return olympus.jvp(energy, ({"w": [X]}, 1), tangents)

    zero = np.zeros((), olympus.float0)
    with pytest.raises(
        ValueError, match=r"params\['w'\]\[0\] must be f32\[3\].*f32\[2"
    ):
        jvp(({"w": [X[:2]]}, zero))
    with pytest.raises(TypeError, match=r"must be f32\[3\].*got i32\[3\]"):
        jvp(({"w": [np.arange(3)]}, zero))
    with pytest.raises(TypeError, match=r"of x must be float0\[\], .*olympus.float0"):
        jvp(({"w": [X]}, 1))
    with pytest.raises(TypeError, match=r"primals\[0\]\['w'\].*tangents\[0\]\['w'\]"):
        jvp(({"w": X}, zero))
    with pytest.raises(TypeError, match=r"tuples or lists.*got float"):
        olympus.jvp(energy, 1.0, 1.0)
    _, derivative = olympus.linearize(energy, {"w": [X]}, 1.0)
    with pytest.raises(ValueError, match=r"params\['w'\]\[0\] must be f32\[3\].*bf16"):
        derivative({"w": [X.astype("bfloat16")]}, 1.0)
    with pytest.raises(TypeError, match="structure of primals"):
        derivative({"w": [X]})


def test_cotangents_that_do_not_fit():
    _, pullback = olympus.vjp(lambda x: {"a": x, "b": (x, x)}, X)
    with pytest.raises(ValueError, match=r"cotangent\['b'\]\[1\] must be f32\[3\], .*"):
        pullback({"a": X, "b": (X, X[:2])})
    with pytest.raises(
        ValueError, match=r"result of <lambda>\['b'\].*cotangent\['b'\]"
    ):
        pullback({"a": X, "b": X})
    with pytest.raises(ValueError, match=r"must be f32\[3\].*got i32\[3\]"):
        pullback({"a": np.arange(3), "b": (X, X)})
    with pytest.raises(TypeError, match="pullback of <lambda> takes one argument"):
        pullback(X, X)
    with pytest.raises(TypeError, match="pullback of <lambda> takes one argument"):
        pullback()
    with pytest.raises(TypeError, match="first argument must be what fwd kept"):
        olympus.fwd_and_bwd(jnp.sin, 0)[1](1.0, 1.0)


def test_names_of_parameters_through_methods_partials_and_wrappers():
    import functools

    class Model:
        def loss(self, weight):
            return weight

    with pytest.raises(TypeError, match="for weight of loss"):
        olympus.grad(Model().loss)(1)
    with pytest.raises(TypeError, match="for weight of"):
        olympus.grad(olympus.jit(Model().loss))(1)
    with pytest.raises(TypeError, match="for params of energy"):
        olympus.grad(olympus.grad(energy))(1, 1.0)
    with pytest.raises(TypeError, match="for x of energy"):
        olympus.grad(functools.partial(energy, {}))(1)


def test_trees_whose_classes_refuse_other_leaves():
    @olympus.tree_util.register_pytree_node_class
    class Strict:
        def __init__(self, x):
            if not hasattr(x, "dtype"):
                raise ValueError("arrays only")
            self.x = x

        def tree_flatten(self):
            return (self.x,), None

        @classmethod
        def tree_unflatten(cls, static, children):
            return cls(*children)

    found = olympus.grad(lambda s: jnp.sum(s.x))(Strict(X))
    np.testing.assert_array_equal(found.x, np.ones(3))
    with pytest.raises(TypeError, match=r"got i32\[3\] for s\[<flat index 0>\]"):
        olympus.grad(lambda s: jnp.sum(s.x))(Strict(np.arange(3)))
    _, pullback = olympus.vjp(lambda s: s, Strict(X))
    with pytest.raises(ValueError, match="the cotangent must have the structure"):
        pullback(X)
    with pytest.raises(
        ValueError, match=r"cotangent\[<flat index 0>\] must be f32\[3\]"
    ):
        pullback(Strict(X[:2]))


def test_rules_that_are_not_there_name_field_and_record():
    bare = extend_core.Primitive("bare_operation")
    bare.def_impl(lambda x: x)
    bare.def_abstract_eval(lambda x: x)
    with pytest.raises(
        NotImplementedError, match=r"`jvp` of the record bare_operation"
    ):
        olympus.grad(lambda x: bare.bind(x))(1.0)
    with pytest.raises(
        NotImplementedError, match=r"`jvp` of the record bare_operation"
    ):
        olympus.jvp(lambda x: bare.bind(x), (1.0,), (1.0,))
    with pytest.raises(NotImplementedError, match=r"`batch` of the record"):
        olympus.vmap(lambda x: bare.bind(x))(X)
    with pytest.raises(NotImplementedError, match=r"`transpose` of the record"):
        olympus.linear_transpose(lambda x: bare.bind(x), 1.0)(1.0)
    with pytest.raises(NotImplementedError, match=r"`lower` of the record"):
        olympus.jit(lambda x: bare.bind(x))(1.0)


def test_a_rule_that_a_backward_pass_misses_names_the_operation_s_line():
    def f(x):
        return lax.sin(x) * 2.0  # the line

    with pytest.raises(NotImplementedError, match=r"sin: .*operation at .*\.f\);"):
        olympus.linear_transpose(f, 1.0)(1.0)


def test_python_numbers_of_differentiated_values():
    def f(x):
        return x * float(x)

    kind = olympus.errors.ConcretizationTypeError
    for call in (
        lambda: olympus.grad(f)(1.0),
        lambda: olympus.jacfwd(f)(1.0),
        lambda: olympus.jvp(f, (1.0,), (1.0,)),
    ):
        with pytest.raises(kind, match=r"of the function f at .*:\d+.*stop_gradient"):
            call()
    assert float(olympus.grad(lambda x: x * float(lax.stop_gradient(x)))(3.0)) == 3.0


@pytest.mark.usefixtures("few_objects")
@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda f: olympus.grad(f)(1.0), ""),
        (lambda f: olympus.jvp(f, (1.0,), (1.0,)), ""),
        (lambda f: olympus.vjp(f, 1.0), ""),
        (lambda f: olympus.vmap(f)(X), r"in vmap of the function f at .*ation\.py"),
        (lambda f: olympus.eval_shape(olympus.vmap(f), X), ""),
    ],
    ids=["grad", "jvp", "vjp", "vmap", "eval_shape"],
)
def test_leaks_are_found(call, where):
    kept = []

    def f(x):
        kept.append(x * 2)
        return x

    message = rf"(?s)Leaked 1 .* from f:.*{where}"
    with (
        olympus.checking_leaks(),
        pytest.raises(olympus.errors.LeakError, match=message),
    ):
        call(f)


@pytest.mark.slow
def test_functions_that_keep_nothing_do_not_leak():
    with olympus.checking_leaks():
        olympus.grad(lambda x: x * x)(1.0)
        olympus.jacfwd(lambda x: (x * x, x), has_aux=True)(1.0)


def test_looking_for_leaks_where_there_are_none_collects_no_garbage():
    collections = []

    def note(phase, info):
        collections.append(phase)

    def f(x):
        return lax.scan(lambda c, y: (jnp.where(y > 0, c, y), c), x[0], jnp.sin(x))

    gc.disable()
    gc.callbacks.append(note)
    try:
        with olympus.checking_leaks():
            olympus.eval_shape(f, X)
            olympus.make_olympuspr(olympus.jit(f))(X)
            olympus.make_olympuspr(olympus.grad(lambda x: f(x)[0]))(X)
            olympus.grad(lambda x: lax.sin(x * x))(1.0)
            olympus.jvp(lambda x: lax.sin(x * x), (1.0,), (1.0,))
            olympus.vmap(lambda x: lax.sin(x * x))(X)
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert not collections


def test_values_that_escape_a_gradient():
    kept = []

    def f(x):
        kept.append(x * 2)
        return lax.sin(x)

    olympus.grad(f)(1.0)
    where = r"escaped(.|\n)*made by mul at .*differentiation.py:\d+.*traced for grad"
    with pytest.raises(olympus.errors.UnexpectedTracerError, match=where):
        jnp.sin(kept[0])
    with pytest.raises(olympus.errors.UnexpectedTracerError, match="escaped"):
        olympus.jit(jnp.sin)(kept[0])


def test_the_traceback_shows_the_user_s_frames_alone():
    def f(x):
        return jnp.dot(x, np.ones(5, np.float32))

    with pytest.raises((TypeError, ValueError)) as caught:
        olympus.grad(f)(X)
    files = {entry.path.name for entry in caught.traceback}
    assert files == {"test_differentiation.py"}
