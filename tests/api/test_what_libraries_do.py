"""What libraries written for JAX do, and no program of ours does."""

import collections

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import custom_derivatives, lax, tree_util
from olympus.extend import core
from olympus.extend import linear_util as lu


class Split:
    """A node whose arrays are children and whose numbers are static."""

    def __init__(self, a, b):
        self.a, self.b = a, b


def _split(t):
    values = (t.a, t.b)
    children = [x for x in values if hasattr(x, "shape")]
    return children, tuple([None if hasattr(x, "shape") else x for x in values])


def _join(static, children):
    remaining = iter(children)
    return Split(*[next(remaining) if x is None else x for x in static])


tree_util.register_pytree_node(Split, _split, _join)


class Converting:
    """A node that makes arrays of its leaves."""

    def __init__(self, a):
        self.a = onp.asarray(a)


tree_util.register_pytree_node(
    Converting, lambda t: ((t.a,), None), lambda _, leaves: Converting(*leaves)
)


def test_nodes_that_choose_by_the_types_of_their_leaves():
    f = olympus.jit(lambda t: t.a * t.b)
    np.testing.assert_array_equal(f(Split(onp.ones(2), 3.0)), [3.0, 3.0])
    np.testing.assert_array_equal(f(Split(onp.ones(2), onp.full(2, 4.0))), [4.0, 4.0])


def test_nodes_that_convert_their_leaves():
    captured = onp.ones(3)
    out = olympus.jit(lambda t: t.a + captured)(Converting(onp.ones(3)))
    np.testing.assert_array_equal(out, [2.0, 2.0, 2.0])


def test_paths_without_values_in_users_classes():
    structure = tree_util.tree_structure(({"w": [1, 2]}, Split(onp.ones(2), 3.0)))
    from olympus._src import tree

    paths = [tree.keystr(path) for path in tree.leaf_key_paths(structure)]
    assert paths == ["[0]['w'][0]", "[0]['w'][1]", "[1][<flat index 0>]"]


def test_errors_name_leaves_of_such_nodes():
    with pytest.raises(TypeError, match="at path t"):
        olympus.jit(lambda t: t)({"x": "text"})


class Named:
    """A callable whose `__name__` is an array."""

    def __init__(self):
        self.__name__ = onp.ones(2)
        self.__qualname__ = self.__module__ = self.__doc__ = 3

    def __call__(self, x):
        return x.sum() * 2


@pytest.mark.parametrize(
    "transform",
    [
        olympus.jit,
        olympus.grad,
        olympus.vmap,
        olympus.checkpoint,
        olympus.jacrev,
        olympus.named_call,
        lambda f: lambda x: lax.map(f, x),
    ],
)
def test_names_that_are_no_text(transform):
    x = onp.ones((2, 3))
    out = transform(Named())(x)
    assert np.all(np.asarray(out) >= 0)


def test_weak_booleans_promote():
    assert onp.result_type(lax.lt(1, 2)) == np.bool_
    assert onp.result_type(lax.lt(1, 2), onp.int8(1)) == np.int8


def test_descriptions_as_results():
    struct = olympus.ShapeDtypeStruct((2,), onp.float32)
    out = olympus.eval_shape(lambda x: {"a": struct, "b": x + 1}, 2.0)
    assert out["a"] == struct
    assert out["b"].shape == ()


def test_zero_of_a_tree():
    zeros = custom_derivatives.zero_from_primal({"a": onp.ones(2)}, symbolic_zeros=True)
    assert isinstance(zeros["a"], custom_derivatives.SymbolicZero)


def test_numbers_reach_forward_rules_as_arrays():
    seen = []

    @olympus.custom_vjp
    def f(x, y):
        return x * y

    def forward(x, y):
        seen.append(y.shape)
        return x * y, (x, y)

    f.defvjp(forward, lambda r, g: (g * r[1], g * r[0]))
    assert olympus.grad(olympus.jit(lambda x: f(x, 2.0)))(1.0) == 2.0
    assert () in seen


def test_device_get_leaves_traced_values():
    assert olympus.grad(lambda x: olympus.device_get(x) * 2)(1.0) == 2.0


def test_sequences_of_arrays_of_other_dtypes():
    one = onp.bfloat16(128)
    out = onp.array([one, one], dtype=onp.bfloat16)
    assert out.dtype == onp.bfloat16
    assert out.shape == (2,)
    assert onp.array([[one], [one]]).dtype == onp.bfloat16


def test_one_row_for_all_segments():
    ids = onp.array([0, 1, 1, 2])
    out = olympus.ops.segment_sum(2.0, ids, 3)
    np.testing.assert_array_equal(out, [2.0, 4.0, 2.0])
    out = olympus.ops.segment_max(onp.ones((1, 2)), ids, 3)
    np.testing.assert_array_equal(out, np.ones((3, 2)))


class OfLibrary:
    """An object of a library for JAX that stands for an array."""

    def __jax_array__(self):
        return onp.arange(3.0)


def test_the_protocol_of_arrays():
    np.testing.assert_array_equal(onp.square(OfLibrary()), [0.0, 1.0, 4.0])
    out = olympus.jit(lambda x: x + 1)(OfLibrary())
    np.testing.assert_array_equal(out, [1.0, 2.0, 3.0])


def test_wrapped_functions_of_newer_libraries():
    from olympus._src.custom_rules.custom_jvp import custom_jvp_call_p

    fun = lu.wrap_init(lambda x: [x * 2])
    rule = lu.wrap_init(lambda x, t: [x * 2, t * 3])

    def f(x):
        return custom_jvp_call_p.bind(x, subfuns=(fun, rule), symbolic_zeros=False)[0]

    assert olympus.grad(f)(1.0) == 3.0


def test_parameters_under_the_names_that_libraries_read():
    def f(x):
        def body(c, x):
            return c + x, c

        total, _ = lax.scan(body, 0.0, x)
        total = lax.while_loop(lambda c: c < 3, lambda c: c + 1, total)
        total = lax.cond(total > 2, lambda c: c, lambda c: -c, total)
        return olympus.checkpoint(olympus.jit(onp.sin))(total)

    program = olympus.make_olympuspr(f)(onp.ones(3))
    names = {e.primitive.name: set(e.params) for e in program.eqns}
    assert {"jaxpr", "num_consts", "num_carry"} <= names["scan"]
    assert {"cond_jaxpr", "body_jaxpr"} <= names["while"]
    assert "branches" in names["cond"]
    assert "jaxpr" in names["remat2"]
    assert "olympuspr={" in str(program)
    assert "jaxpr={" not in str(program).replace("olympuspr={", "")
    closed = next(e.params["jaxpr"] for e in program.eqns if "jaxpr" in e.params)
    assert closed.jaxpr is closed.olympuspr
    assert closed.jaxpr.jaxpr is closed.jaxpr
    assert closed.replace(jaxpr=closed.jaxpr).eqns == closed.eqns
    assert closed.invars == closed.jaxpr.invars


def test_operands_of_scan_in_groups():
    program = olympus.make_olympuspr(
        lambda x: lax.scan(lambda c, x: (c + x, c), 0.0, x)
    )(onp.ones(3))
    (eqn,) = program.eqns
    from olympus._src.control_flow.operand_groups import Groups

    params = {k: v for k, v in eqn.params.items() if not k.startswith("num_")}
    params["ft_in"] = Groups.of_sizes((0, 1, 1))
    params["ft_out"] = Groups.of_sizes((1, 1))
    last, _ = eqn.primitive.bind(0.0, onp.ones(3), **params)
    assert last == 3.0


def test_binding_in_a_trace_with_types():
    assert core.Primitive is type(core.Primitive("p"))
    trace = olympus.core.Trace
    assert trace().full_raise(3) == 3


def test_members_of_the_class_of_arrays():
    x = onp.ones((2, 3))
    assert olympus.Array.sum(x) == 6
    assert olympus.Array.__add__(x, 1)[0, 0] == 2
    assert olympus.Array.item(onp.float32(3.0)) == 3.0
    assert olympus.Array.shape.__get__(x) == (2, 3)
    assert olympus.jit(lambda x: olympus.Array.ndim.__get__(x) + x)(1) == 1


Pair = collections.namedtuple("Pair", "a d")
tree_util.register_pytree_node(
    Pair, lambda s: ((s.a,), s.d), lambda d, leaves: Pair(leaves[0], d)
)


def test_namedtuples_that_are_registered():
    def step(c, _):
        return Pair(c.a + 1, c.d), None

    last, _ = lax.scan(step, Pair(onp.zeros(()), "text"), None, length=3)
    assert last.a == 3
    assert last.d == "text"
    with pytest.raises(TypeError, match="carry"):
        lax.scan(lambda c, _: (Pair(c.a > 1, c.d), None), last, None, length=3)


def test_words_of_types():
    aval = olympus.typeof(onp.ones(3))
    assert aval.to_tangent_aval() is aval.at_least_vspace() is aval
    assert aval.str_short(short_dtypes=True) == "f32[3]"
    assert aval.str_short() == "float32[3]"
    assert not lax.sin_p.call_primitive
    assert onp.ones(2).sharding._addressable_device_assignment == tuple(
        onp.ones(2).devices()
    )


def test_scalars_that_a_program_closes_over_are_written_in_place():
    from olympus._src.core import avals, ir
    from olympus._src.interpreters import lowered_programs

    three, row = onp.float32(3.0), onp.arange(2.0)
    program = olympus.make_olympuspr(lambda x, c, r: x * c + r)(row, three, row)
    c, r = program.jaxpr.invars[1:]
    open_ = program.jaxpr.replace(constvars=[c, r], invars=program.jaxpr.invars[:1])
    assert isinstance(c, ir.Var)
    assert isinstance(c.aval, avals.ShapedArray)
    text = lowered_programs.lower(open_, [three, row], name="f").text
    assert "dense<3.0" in text
    assert text.count("%arg") < 8
    closed = ir.ClosedOlympuspr(open_, [three, row])
    out = olympus.jit(ir.program_as_function(closed))(row)[0]
    np.testing.assert_array_equal(out, [0.0, 4.0])


BODIES = {
    "grad": lambda w, y: olympus.grad(lambda z: w * onp.sin(z))(y),
    "jit": lambda w, y: olympus.jit(lambda z: w * onp.sin(z))(y),
    "scan": lambda w, y: lax.scan(lambda c, _: (c * w, None), y, None, length=2)[0],
    "cond": lambda w, y: lax.cond(y > 1, lambda z: w * z, lambda z: w + z, y),
    "remat": lambda w, y: olympus.checkpoint(lambda z: w * onp.sin(z))(y),
    "hessian": lambda w, y: olympus.hessian(lambda z: w * onp.sin(z))(y),
}


def _with_custom_vjp(body, w, y):
    f = olympus.custom_vjp(lambda y: body(w, y))
    f.defvjp(lambda y: (body(w, y), y), lambda y, g: (g * body(w, y),))
    return f(y)


def _with_custom_gradient(body, w, y):
    def f(y):
        return body(w, y), lambda g: g * body(w, y)

    return olympus.custom_gradient(f)(y)


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("rule", [_with_custom_vjp, _with_custom_gradient])
def test_functions_with_rules_transform_what_they_close_over(rule, name):
    """As solvers of jaxopt do, with a loss that closes over mapped weights."""
    body = BODIES[name]
    ws = np.float32([0.5, 1.5, 2.5])

    def apply(w, y):
        return rule(body, w, y)

    want = [body(w, np.float32(2)) for w in ws]
    for mapped in (
        olympus.vmap(apply, (0, None)),
        olympus.jit(olympus.vmap(apply, (0, None))),
        olympus.vmap(olympus.jit(apply), (0, None)),
        olympus.vmap(olympus.grad(apply, 1), (0, None)),
    ):
        np.testing.assert_allclose(mapped(ws, np.float32(2)), want, 1e-5)

    twice = olympus.vmap(lambda w: olympus.vmap(lambda y: apply(w, y))(ws))(ws)
    np.testing.assert_allclose(twice[1, 2], body(ws[1], ws[2]), 1e-5)


@pytest.mark.parametrize("name", BODIES)
def test_rules_of_custom_gradient_run_after_the_vmap_of_what_they_close_over(name):
    ws = np.float32([0.5, 1.5, 2.5])

    def total(y):
        f = olympus.vmap(lambda w: _with_custom_gradient(BODIES[name], w, y))
        return onp.sum(f(ws))

    want = sum(BODIES[name](w, np.float32(2)) for w in ws)
    for grad in (olympus.grad(total), olympus.jit(olympus.grad(total))):
        np.testing.assert_allclose(grad(np.float32(2)), want, 1e-5)


def test_values_of_a_vmap_that_has_ended_are_refused():
    kept = []
    olympus.vmap(lambda w: kept.append(w) or w)(np.arange(3.0))
    with pytest.raises(olympus.errors.UnexpectedTracerError):
        olympus.vmap(lambda y: olympus.grad(lambda z: kept[0] * z)(y))(np.arange(3.0))
