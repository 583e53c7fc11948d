"""Long operations that a program repeats are functions of its exported module."""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax, random
from olympus._src.export import outlining

KEY = random.key(0)


def draws(key, n=20, size=8):
    total = 0.0
    for _ in range(n):
        key, own = random.split(key)
        total += random.normal(own, (size,)).sum()
    return total


def exported(f, *args, **kwargs):
    return export.export(olympus.jit(f), **kwargs)(*args)


def functions(program):
    return program.mlir_module().count("func.func private")


def test_a_draw_more_is_a_few_operations_more():
    n_bytes = [
        len(exported(lambda k, n=n: draws(k, n), KEY).serialize()) for n in (4, 20)
    ]
    # JAX 0.10.2 writes 7.1 kB for 20 draws; without functions it were 63 kB here.
    assert n_bytes[1] < 10_000
    assert n_bytes[1] - n_bytes[0] < 16 * 300


def test_values_are_the_same():
    program = export.deserialize(exported(draws, KEY).serialize())
    assert functions(program) == 3  # splitting, bits, the inverse of erf
    np.testing.assert_allclose(program.call(KEY), draws(KEY), rtol=1e-5)


@pytest.mark.parametrize("platforms", [["cpu"], ["cpu", "cuda"]])
def test_derivatives(platforms):
    def f(x, key):
        keys = random.split(key, 3)
        return sum(
            lax.erf_inv(jnp.tanh(x * random.uniform(k, (4,)))).sum() for k in keys
        )

    x = jnp.linspace(0.1, 0.5, 4)
    program = exported(f, x, KEY, platforms=platforms)
    again = export.deserialize(program.serialize(vjp_order=1))
    found = olympus.grad(again.call)(x, KEY)
    np.testing.assert_allclose(found, olympus.grad(f)(x, KEY), rtol=1e-5)


def test_operations_that_are_written_once_stay_where_they_are():
    program = exported(lambda k: random.normal(k, (8,)), KEY)
    assert functions(program) == 0
    program = exported(lambda x: jnp.sin(jnp.sin(jnp.sin(x))), 1.0)
    assert functions(program) == 0


def test_types_have_functions_of_their_own():
    def f(key):
        a, b, c, d = random.split(key, 4)
        first = random.bits(a, (4,)) + random.bits(b, (4,))
        return first.sum() + (random.bits(c, (5,)) + random.bits(d, (5,))).sum()

    program = exported(f, KEY)
    assert functions(program) == 2
    assert program.call(KEY) == f(KEY)


def test_symbolic_sizes():
    (n,) = export.symbolic_shape("n")

    def f(x, key):
        a, b = random.split(key)
        noise = random.normal(a, (3,)).sum() + random.normal(b, (3,)).sum()
        return lax.erf_inv(x) + lax.erf_inv(x / 2) + noise

    x = jnp.linspace(0.1, 0.5, 5)
    program = exported(f, olympus.ShapeDtypeStruct((n,), "float32"), KEY)
    np.testing.assert_allclose(program.call(x, KEY), f(x, KEY), rtol=1e-5)


def test_calls_inside_transformations():
    program = exported(draws, KEY)
    keys = random.split(KEY, 3)
    expected = [draws(k) for k in keys]
    np.testing.assert_allclose(olympus.vmap(program.call)(keys), expected, rtol=1e-4)


def test_parameters_that_are_equal_in_python_alone_stay_apart():
    """0.0 and -0.0 are equal there, and not to a program."""
    (eqn,) = olympus.make_olympuspr(lax.erf_inv)(np.float32(0.5)).eqns
    keys = [
        outlining._key(eqn.replace(params={"limit": limit}))
        for limit in (0.0, -0.0, 0, False)
    ]
    assert len(set(keys)) == 4


def test_symbolic_sizes_are_those_of_the_whole_program():
    (b,) = export.symbolic_shape("b")
    f = olympus.jit(lambda v: jnp.argwhere(v > 0, size=v.shape[0]))
    exported = export.export(f)(olympus.ShapeDtypeStruct((b,), jnp.float32))
    loaded = export.deserialize(exported.serialize())
    for values in ([1.0, -1.0, 2.0], [3.0]):
        x = jnp.asarray(np.array(values, np.float32))
        np.testing.assert_array_equal(loaded.call(x), f(x))
