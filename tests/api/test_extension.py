"""Primitives defined from outside, through the documented tables."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.experimental import jet
from olympus.experimental.xla_metadata import set_xla_metadata
from olympus.extend import core
from olympus.interpreters import ad, batching, mlir

F32 = olympus.core.ShapedArray((), np.dtype("float32"))


@pytest.fixture
def scaled_p():
    """X * by, defined as a library would define it."""
    p = core.Primitive("scaled")
    p.def_abstract_eval(lambda x, *, by: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, *, by: [olympus.lax.mul(x, by)]))
    ad.primitive_jvps[p] = lambda primals, tangents, *, by: (
        p.bind(*primals, by=by),
        p.bind(ad.instantiate_zeros(tangents[0]), by=by),
    )

    def transpose(ct, x, *, by):
        assert ad.is_undefined_primal(x)
        return [p.bind(ct, by=by)]

    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = lambda args, dims, *, by: (
        p.bind(*args, by=by),
        dims[0],
    )
    return p


def test_it_computes_stages_differentiates_and_batches(scaled_p):
    def f(x):
        return scaled_p.bind(x, by=3.0)

    x = np.float32(2)
    assert float(f(x)) == float(olympus.jit(f)(x)) == 6.0
    assert "scaled[by=3.0]" in str(olympus.make_olympuspr(f)(x))
    assert float(olympus.grad(f)(x)) == 3.0
    assert float(olympus.jit(olympus.grad(olympus.jit(f)))(x)) == 3.0
    got = olympus.jit(olympus.vmap(f))(np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(got, [0, 3, 6])


def test_tables_are_windows_on_the_record(scaled_p):
    rule = ad.primitive_transposes[scaled_p]
    assert rule.__name__ == "transpose"
    assert scaled_p in ad.primitive_jvps
    assert scaled_p in set(batching.primitive_batchers)
    del ad.primitive_jvps[scaled_p]
    assert scaled_p.jvp is None
    with pytest.raises(KeyError):
        ad.primitive_jvps[scaled_p]
    assert len(ad.primitive_jvps) > 50


def test_rules_of_users_get_tuples():
    p = core.Primitive("joined")
    p.def_impl(lambda x, t: x)
    p.def_abstract_eval(lambda x, t: x)
    seen = []

    def jvp(primals, tangents):
        seen.extend([primals, tangents])
        return primals[0], tangents[0]

    def batch(args, dims):
        seen.extend([args, dims])
        return args[0], dims[0]

    ad.primitive_jvps[p], batching.primitive_batchers[p] = jvp, batch
    olympus.jvp(lambda x: p.bind(x, 1.0), (2.0,), (1.0,))
    olympus.vmap(lambda x: p.bind(x, 1.0))(np.ones(2, np.float32))
    assert len(seen) == 4
    assert all(type(x) is tuple for x in seen)
    assert all(x.dtype == np.float32 and x.weak_type for x in seen[0])


def test_an_implementation_alone():
    p = core.Primitive("hosted")
    p.def_impl(lambda x: np.float32(x) + 1)
    assert p.bind(1.0) == 2.0
    with pytest.raises(NotImplementedError, match="abstract"):
        olympus.jit(p.bind)(1.0)


def test_a_function_as_the_lowering_of_one_platform():
    p = core.Primitive("shifted")
    p.def_abstract_eval(lambda x: x)
    shift = onp.arange(3.0)  # an array that the rule closes over
    mlir.register_lowering(p, mlir.lower_fun(lambda x: [x - 1]))
    mlir.register_lowering(p, mlir.lower_fun(lambda x: [x + shift]), platform="cpu")
    np.testing.assert_array_equal(olympus.jit(p.bind)(onp.ones(3)), [1.0, 2.0, 3.0])
    elsewhere = (
        olympus.jit(p.bind).trace(onp.ones(3)).lower(lowering_platforms=("cuda",))
    )
    assert "subtract" in elsewhere.as_text()


def test_all_primitives_are_primitives():
    from olympus import lax

    assert isinstance(lax.add_p, core.Primitive)
    assert not isinstance(lax.add, core.Primitive)


@pytest.fixture
def product_p():
    """X * y * by, linear in each of x and y."""
    p = core.Primitive("scaled_product")
    p.def_impl(lambda x, y, *, by: x * y * by)
    p.def_abstract_eval(lambda x, y, *, by: x)
    ad.defbilinear(
        p,
        lambda ct, x, y, *, by: ct * y * by,
        lambda ct, x, y, *, by: ct * x * by,
    )
    return p


def test_rules_of_operations_that_are_linear_in_two_operands(product_p):
    def f(x, y):
        return product_p.bind(x, y, by=3.0)

    x_bar, y_bar = olympus.grad(f, (0, 1))(2.0, 5.0)
    assert (float(x_bar), float(y_bar)) == (15.0, 6.0)
    assert float(olympus.jvp(f, (2.0, 5.0), (1.0, 1.0))[1]) == 21.0
    assert float(olympus.grad(olympus.grad(f), 1)(2.0, 5.0)) == 3.0
    with pytest.raises(ValueError, match="two that are not known"):
        olympus.linear_transpose(f, 2.0, 5.0)(1.0)


def test_rules_of_linear_operations_without_operands():
    p = core.Primitive("linear_without_operands")
    p.def_impl(lambda x, *, by: x * by)
    p.def_abstract_eval(lambda x, *, by: x)
    ad.deflinear(p, lambda ct, *, by: [ct * by])
    assert float(olympus.grad(lambda x: p.bind(x, by=4.0))(1.0)) == 4.0
    assert float(olympus.jvp(lambda x: p.bind(x, by=4.0), (1.0,), (2.0,))[1]) == 8.0
    assert ad.get_primitive_transpose(p) is ad.primitive_transposes[p]
    with pytest.raises(NotImplementedError, match="field `transpose`"):
        ad.get_primitive_transpose(core.Primitive("without_rules"))
    assert float(ad.add_jaxvals(1.0, 2.0)) == 3.0


def test_parameters_may_have_any_name():
    scaled_p = core.Primitive("scaled")
    scaled_p.def_abstract_eval(lambda x, *, p, args, series: x)
    mlir.register_lowering(
        scaled_p, mlir.lower_fun(lambda x, *, p, args, series: [x * p])
    )
    ad.defjvp(scaled_p, lambda t, x, **params: scaled_p.bind(t, **params))
    batching.defvectorized(scaled_p)

    def f(x):
        return scaled_p.bind(x, p=3, args=1, series=2)

    np.testing.assert_array_equal(olympus.vmap(f)(np.ones(2, np.float32)), [3, 3])
    assert olympus.jvp(f, (1.0,), (2.0,)) == (3.0, 6.0)
    _, (out_terms,) = jet.jet(lambda x: (f(x),), (1.0,), ([1.0, 0.0],))
    np.testing.assert_array_equal(out_terms, [3.0, 0.0])


def test_transpose_rules_that_return_something_else(scaled_p):
    for wrong, got in (
        (lambda ct, x, *, by: ct, "got 1.0"),
        (_nothing, "got 0"),
    ):
        ad.primitive_transposes[scaled_p] = wrong
        with pytest.raises(TypeError, match=f"scaled: its transpose rule.*1 .*({got})"):
            olympus.grad(lambda x: scaled_p.bind(x, by=3.0))(2.0)


def _nothing(ct, x, *, by):
    return []


TABLES = (ad.primitive_jvps, ad.primitive_transposes, batching.primitive_batchers)
TABLES += (batching.fancy_primitive_batchers, batching.axis_primitive_batchers)


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_rules_that_are_read_can_be_written_back(number):
    table = TABLES[number]
    f = olympus.vmap(olympus.grad(lambda x: (lax.cos(x) * lax.neg(x)).sum()))
    x = np.ones((2, 3), np.float32)
    want = f(x)
    official = {p: table[p] for p in (lax.cos_p, lax.mul_p, lax.neg_p) if p in table}
    assert official
    for p, rule in official.items():
        table[p] = rule
        assert table[p] == rule
    olympus.clear_caches()
    np.testing.assert_array_equal(f(x), want)


def test_a_rule_of_one_primitive_for_another():
    p = core.Primitive("cosine")
    p.def_abstract_eval(lambda x: x)
    p.def_impl(lax.cos)
    ad.primitive_jvps[p] = ad.primitive_jvps[lax.cos_p]
    batching.fancy_primitive_batchers[p] = batching.fancy_primitive_batchers[lax.cos_p]
    out, slope = olympus.jvp(p.bind, (1.0,), (1.0,))
    np.testing.assert_allclose((out, slope), (np.cos(1.0), -np.sin(1.0)), rtol=1e-6)
    np.testing.assert_allclose(olympus.vmap(p.bind)(np.ones(2)), np.cos([1.0, 1.0]))


@pytest.mark.parametrize(
    ("several", "out", "message"),
    [
        (False, None, "type of each result.* got None of type NoneType; return core"),
        (
            False,
            [F32],
            r"got \[.*\] of type list; .*or set multiple_results for several",
        ),
        (False, olympus.ShapeDtypeStruct((), "float32"), "got ShapeDtypeStruct"),
        (True, None, "must return a list or tuple, .*got None of type NoneType"),
        (True, F32, "since its multiple_results is True, got .* of type ShapedArray"),
        (True, [F32, 3], "type of each result.* got 3 of type int"),
    ],
)
def test_rules_that_return_no_types(several, out, message):
    p = core.Primitive("untyped", multiple_results=several)
    p.def_abstract_eval(lambda x: out)
    with pytest.raises(TypeError, match=f"^untyped: its rule for abstract .*{message}"):
        olympus.make_olympuspr(p.bind)(1.0)
    p.def_effectful_abstract_eval(lambda x: (out, ()))
    with pytest.raises(TypeError, match=message):
        olympus.jit(p.bind)(1.0)


def test_equations_are_bound_again_with_the_parameters_that_bind_takes():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: olympus.jit(onp.sin)(c) + i, x)

    program = olympus.jit(f).trace(2.0).jaxpr
    values = dict(zip(program.jaxpr.invars, [2.0], strict=True))
    for eqn in program.eqns:
        operands = [
            v.val if isinstance(v, core.Literal) else values[v] for v in eqn.invars
        ]
        outs = eqn.primitive.bind(
            *operands, **eqn.primitive.get_bind_params(eqn.params)
        )
        several = eqn.primitive.multiple_results
        values.update(zip(eqn.outvars, outs if several else [outs], strict=True))
    assert float(values[program.jaxpr.outvars[0]]) == float(f(2.0))


# -- records of olympus, equations and values, as libraries read them ------------------


@pytest.fixture
def sine():
    """The record of the sine, with its own rules again afterwards."""
    rules = {
        field: getattr(lax.sin_p, field)
        for field in ("abstract", "impl", "lower", "decompose", "rewrite")
    }
    yield lax.sin_p
    for field, rule in rules.items():
        lax.sin_p.set_rule(field, rule)
    del lax.sin_p.rules_are_fixed  # they are those of the class's promise again


def test_def_impl_of_a_primitive_of_olympus_takes_effect(sine):
    np.testing.assert_allclose(lax.sin(1.0), np.sin(1.0), rtol=1e-6)
    sine.def_impl(lambda x: onp.full_like(x, 42.0))
    assert lax.sin(1.0) == 42.0
    assert olympus.vmap(lax.sin)(onp.ones(2)).tolist() == [42.0, 42.0]
    np.testing.assert_allclose(olympus.jit(lax.sin)(1.0), np.sin(1.0), rtol=1e-6)


def test_def_abstract_eval_of_a_primitive_of_olympus_takes_effect(sine):
    assert olympus.eval_shape(lambda x: lax.sin(x), 1.0).shape == ()
    sine.def_abstract_eval(lambda x: olympus.core.ShapedArray((7,), onp.float32))
    assert olympus.eval_shape(lambda x: lax.sin(x), 1.0).shape == (7,)
    sine.def_abstract_eval(lambda x: None)
    with pytest.raises(TypeError, match="sin: its rule for abstract evaluation"):
        olympus.eval_shape(lambda x: lax.sin(x), 1.0)


def test_a_lowering_that_replaces_one_takes_effect_in_programs_of_before(sine):
    np.testing.assert_allclose(lax.sin(1.0), np.sin(1.0), rtol=1e-6)
    mlir.register_lowering(
        sine, mlir.lower_fun(lambda x: x + 1, multiple_results=False)
    )
    assert lax.sin(1.0) == 2.0
    assert not sine.rules_are_fixed


def test_equations_tell_the_settings_they_were_recorded_under():
    def f(x):
        with set_xla_metadata(part="first", n=1):
            return onp.sin(x)

    closed = olympus.make_olympuspr(lambda x: onp.cos(f(x)))(1.0)
    sine_eqn, cosine_eqn = closed.eqns
    assert sine_eqn.ctx.xla_metadata == {"part": "first", "n": "1"}
    assert cosine_eqn.ctx.xla_metadata is None
    assert sine_eqn.ctx.compute_type is None
    assert sine_eqn.ctx.threefry_partitionable is True
    assert sine_eqn.ctx.cur_abstract_mesh.empty
    assert sine_eqn.replace(ctx=sine_eqn.ctx, params={}).params == {}

    def again(x):
        with sine_eqn.ctx.manager:
            x = onp.tan(x)
        with cosine_eqn.ctx.manager:
            return onp.exp(x)

    first, second = olympus.make_olympuspr(again)(1.0).eqns
    assert first.ctx.xla_metadata == {"part": "first", "n": "1"}
    assert second.ctx.xla_metadata is None
    text = olympus.jit(again).lower(1.0).as_text()
    assert 'stablehlo.tan %arg0 {mhlo.frontend_attributes = {n = "1", part' in text


def test_an_equation_tells_the_mesh_that_divides_its_values():
    mesh = olympus.make_mesh(
        (1,), ("x",), axis_types=(olympus.sharding.AxisType.Explicit,)
    )
    sharding = olympus.NamedSharding(mesh, olympus.P("x"))
    with olympus.set_mesh(mesh):
        x = olympus.device_put(onp.ones(2), sharding)
        (eqn,) = olympus.make_olympuspr(onp.sin)(x).eqns
    assert eqn.ctx.cur_abstract_mesh == mesh.abstract_mesh


def test_literals_tell_the_hashes_of_their_values():
    literal = olympus.make_olympuspr(lambda x: x * 2.0)(1.0).eqns[0].invars[1]
    assert literal.hash == hash(2.0)
    aval = olympus.core.ShapedArray((3,), onp.float32)
    assert core.Literal(np.ones(3), aval).hash is None
    zero = core.Literal(np.zeros(()), olympus.core.ShapedArray((), onp.float32))
    assert zero.hash == core.Literal(np.zeros(()), zero.aval).hash


def test_keys_have_no_value_on_the_host_that_libraries_ask_for():
    key = olympus.random.key(0)
    assert not hasattr(key, "_value")
    assert onp.ones(2)._value.tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="opaque and have no NumPy form"):
        np.asarray(key)
