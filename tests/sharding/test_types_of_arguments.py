"""`in_shardings` over explicit axes give arguments types; descriptions of results."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus.errors import ShardingTypeError
from olympus.sharding import AxisType, NamedSharding, PartitionSpec

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
HOST = np.arange(8, dtype=np.float32)


@pytest.fixture
def over():
    return olympus.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)


def test_arguments_have_the_type_of_their_sharding(over):
    seen = []

    def double(x):
        seen.append(str(olympus.typeof(x)))
        return x * 2

    along_x = NamedSharding(over, P("x"))
    f = olympus.jit(double, in_shardings=along_x)
    for x in (HOST, jnp.asarray(HOST), olympus.device_put(HOST, along_x)):
        for _ in range(2):
            out = f(x)
            assert str(olympus.typeof(out)) == "float32[8@x]"
            assert tuple(out.sharding.spec) == ("x",)
            np.testing.assert_array_equal(out, HOST * 2)
    nested = olympus.jit(lambda x: f(x) + 1)(HOST)
    assert olympus.typeof(nested).short() == "f32[8@x]"
    np.testing.assert_array_equal(nested, HOST * 2 + 1)
    assert set(seen) == {"float32[8@x]"}
    assert f.trace(HOST).olympuspr.in_avals[0].short() == "f32[8@x]"
    assert f.eval_shape(HOST).sharding.spec == P("x")


def test_each_argument_has_its_own(over):
    along_x, along_y = NamedSharding(over, P("x")), NamedSharding(over, P("y"))
    places = (along_x, {"a": along_y, "b": None})
    seen = []

    def f(x, tree):
        seen.append([olympus.typeof(v).short() for v in (x, tree["a"], tree["b"])])
        return x + tree["b"].sum()

    out = olympus.jit(f, in_shardings=places)(HOST, {"a": HOST, "b": HOST})
    assert seen == [["f32[8@x]", "f32[8@y]", "f32[8]"]]
    np.testing.assert_array_equal(out, HOST + HOST.sum())
    add = olympus.jit(lambda x, y: x + y, in_shardings=(along_x, along_y))
    with pytest.raises(ShardingTypeError, match="8@x"):
        add(HOST, HOST)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: olympus.grad(lambda x: f(x).sum()),
        lambda f: olympus.vmap(lambda y: f(y * jnp.ones(8))),
        lambda f: lambda x: olympus.jvp(f, (x,), (x,))[1],
        lambda f: olympus.jit(olympus.hessian(lambda x: f(x).sum())),
        lambda f: olympus.checkpoint(f),
    ],
    ids=["grad", "vmap", "jvp", "hessian", "checkpoint"],
)
def test_transformations_of_them(transform, over):
    f = olympus.jit(lambda x: jnp.sin(x) * x, in_shardings=NamedSharding(over, P("x")))
    expected = transform(lambda x: jnp.sin(x) * x)(jnp.asarray(HOST))
    actual = transform(f)(jnp.asarray(HOST))
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_compiled_programs_take_arguments_that_are_free(over):
    along_x = NamedSharding(over, P("x"))
    f = olympus.jit(lambda x: x * 2, in_shardings=along_x)
    compiled = f.lower(HOST).compile()
    for x in (HOST, jnp.asarray(HOST), olympus.device_put(HOST, along_x)):
        out = compiled(x)
        assert tuple(out.sharding.spec) == ("x",)
        np.testing.assert_array_equal(out, HOST * 2)
    whole = olympus.device_put(HOST, NamedSharding(over, P()))
    with pytest.raises(ValueError, match="Argument shardings differ"):
        compiled(whole)
    along_y = olympus.device_put(HOST, NamedSharding(over, P("y")))
    with pytest.raises(TypeError, match=r"float32\[8@x\] and called with float32\[8@y"):
        compiled(along_y)


def test_descriptions_say_what_divides_results(over):
    along_x = NamedSharding(over, P("x"))
    x = olympus.device_put(HOST, along_x)
    assert olympus.eval_shape(jnp.sin, HOST).sharding is None
    with olympus.set_mesh(over):
        traced = olympus.jit(lambda x: x.sum()).trace(x)
        info = olympus.eval_shape(lambda x: (x, x.sum(), HOST), x)
        plain = olympus.eval_shape(jnp.sin, HOST)
        again = olympus.eval_shape(jnp.sin, plain)
    assert [i.sharding.spec for i in info] == [P("x"), P(), P(None)]
    assert plain.sharding == NamedSharding(over.abstract_mesh, P(None))
    assert again.sharding == plain.sharding
    assert traced.out_info.sharding.spec == P()
    mixed = over.update(axis_types=(AxisType.Auto, AxisType.Explicit))
    with olympus.set_mesh(mixed):
        assert olympus.eval_shape(jnp.sin, HOST).sharding is None


def test_fills_are_where_the_user_says(over):
    place = NamedSharding(over, P("x"))
    fill = olympus.jit(lambda: olympus.lax.full((8,), 2.0, sharding=place))
    for out in (olympus.lax.full((8,), 2.0, sharding=place), fill()):
        assert out.sharding.is_equivalent_to(place, 1)
        np.testing.assert_array_equal(out, np.full(8, 2.0))
    x = olympus.device_put(HOST, place)
    like = olympus.jit(lambda x: olympus.lax.full_like(x, 3))(x)
    assert olympus.typeof(like).short() == "f32[8@x]"
    mapped = olympus.vmap(lambda y: olympus.lax.full_like(x, y))(jnp.arange(3.0))
    np.testing.assert_array_equal(mapped, np.repeat([[0.0], [1], [2]], 8, 1))
    here = olympus.devices()[3]
    out = olympus.lax.full_like(olympus.device_put(HOST, here), 2)
    assert out.committed
    assert out.devices() == {here}
