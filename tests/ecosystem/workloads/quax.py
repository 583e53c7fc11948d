"""Quax: array types of a program's own, by rules for primitives."""

import equinox as eqx
import jax
import jax.numpy as jnp
import quax
from quax.examples import lora, prng, structured_matrices, unitful, zero


class _Dual(quax.ArrayValue):
    """A value with a name, which additions join."""

    array: jax.Array
    name: str = eqx.field(static=True)

    def aval(self):
        return jax.core.ShapedArray(self.array.shape, self.array.dtype)

    def materialise(self):
        return self.array


@quax.register(jax.lax.add_p)
def _add(x: _Dual, y: _Dual, **params):
    return _Dual(x.array + y.array, x.name + y.name)


@quax.register(jax.lax.mul_p)
def _mul(x: _Dual, y: jax.Array, **params):
    return _Dual(x.array * y, x.name)


def own_types():
    x, y = _Dual(jnp.arange(3.0), "a"), _Dual(jnp.ones(3), "b")
    total = quax.quaxify(lambda x, y: x + y)(x, y)
    scaled = quax.quaxify(lambda x: x * jnp.array([1.0, 2.0, 3.0]))(x)
    return {
        "name": total.name,
        "array": total.array,
        "scaled": [scaled.name, scaled.array],
        "materialised": quax.quaxify(jnp.sin)(x),
        "jit": quax.quaxify(jax.jit(lambda x, y: x + y))(x, y).name,
        "outside": jax.jit(quax.quaxify(lambda x, y: x + y))(x, y).array,
    }


def units():
    meters = unitful.meters
    seconds = unitful.seconds
    distance = unitful.Unitful(jnp.array([3.0, 4.0]), {meters: 1})
    time = unitful.Unitful(jnp.array(2.0), {seconds: 1})
    speed = quax.quaxify(lambda a, b: a * b)(distance, time)
    return {
        "value": speed.array,
        "units": sorted(str(power) for power in speed.units.values()),
    }


def low_rank():
    key = jax.random.key(0)
    layer = eqx.nn.Linear(6, 6, key=key)
    adapted = lora.loraify(layer, rank=2, key=key)
    x = jnp.linspace(-1.0, 1.0, 6)
    out = quax.quaxify(adapted)(x)

    @eqx.filter_jit
    @eqx.filter_grad
    def gradient(layer, x):
        return jnp.sum(quax.quaxify(layer)(x) ** 2)

    grads = gradient(adapted, x)
    return {
        "out": out,
        "same": bool(jnp.allclose(out, layer(x), atol=1e-5)),
        "gradient": grads.weight.b,
    }


def zeros():
    x = zero.Zero((2, 3), jnp.float32)
    y = jnp.ones((2, 3))
    total = quax.quaxify(lambda x, y: x + y)(x, y)
    product = quax.quaxify(lambda x, y: x * y)(x, y)
    return {"sum": total, "product": type(product).__name__}


def matrices():
    matrix = structured_matrices.TridiagonalMatrix(
        main_diag=jnp.arange(1.0, 5.0),
        lower_diag=jnp.ones(3),
        upper_diag=jnp.ones(3) / 2,
    )
    return quax.quaxify(lambda m, v: m @ v)(matrix, jnp.ones(4))


def keys():
    key = prng.ThreeFry(3)
    return {
        "normal": prng.normal(key, dtype="float32"),
        "uniform": prng.uniform(key, shape=(3,), dtype="float32"),
        "split": [prng.uniform(k, dtype="float32") for k in prng.split(key)],
    }
