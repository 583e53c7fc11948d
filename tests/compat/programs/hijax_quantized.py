"""A type of a user's own: int8 values with a scale for each row."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.hijax import HiPrim, HiType, ShapedArray, register_hitype


@dataclass(frozen=True)
class QArray:
    values: jax.Array
    scales: jax.Array


@dataclass(frozen=True)
class QArrayType(HiType):
    shape: tuple[int, int]

    def lo_ty(self):
        rows = self.shape[:1]
        return [ShapedArray(self.shape, jnp.dtype("int8")), ShapedArray(rows, jnp.dtype("float32"))]

    def lower_val(self, q):
        return [q.values, q.scales]

    def raise_val(self, values, scales):
        return QArray(values, scales)

    def to_tangent_aval(self):
        return ShapedArray(self.shape, jnp.dtype("float32"))


register_hitype(QArray, lambda q: QArrayType(q.values.shape))


class Quantize(HiPrim):
    def __init__(self, x):
        self.in_avals, self.out_aval, self.params = (x,), QArrayType(x.shape), {}
        super().__init__()

    def expand(self, x):
        scales = jnp.max(jnp.abs(x), axis=1) / 127
        return QArray(jnp.round(x / scales[:, None]).astype(jnp.int8), scales)

    def vjp_fwd(self, nzs_in, x):
        return self(x), None

    def vjp_bwd_retval(self, res, ct):
        return (ct,)


class Dequantize(HiPrim):
    def __init__(self, q):
        self.in_avals, self.params = (q,), {}
        self.out_aval = ShapedArray(q.shape, jnp.dtype("float32"))
        super().__init__()

    def expand(self, q):
        return q.values.astype(jnp.float32) * q.scales[:, None]

    def vjp_fwd(self, nzs_in, q):
        return self(q), None

    def vjp_bwd_retval(self, res, ct):
        return (ct,)


def quantize(x):
    return Quantize(jax.typeof(x))(x)


def dequantize(q):
    return Dequantize(jax.typeof(q))(q)


def show(name, value):
    print(name, jax.tree.map(lambda x: (x.values, x.scales) if isinstance(x, QArray) else x, value))


def round_trip(x):
    return dequantize(quantize(x))


def loss(x):
    return jnp.sum(jnp.sin(round_trip(x)))


def steps(x):
    def body(q, _):
        return quantize(dequantize(q) * 1.5), dequantize(q).sum()

    return lax.scan(body, quantize(x), None, length=3)


x = jnp.arange(6.0).reshape(2, 3) + 1
q = quantize(x)

# 1-6: values, and what programs show of them.
show("eager", q)
print("type", jax.typeof(q), jax.typeof(q).is_high, jax.typeof(x).is_high)
show("jit result", jax.jit(quantize)(x))
show("jit argument", jax.jit(dequantize)(q))
show("jit identity", jax.jit(lambda q: q)(q))
show("jit closed over", jax.jit(lambda y: y + dequantize(q))(x))
show("jit constant", jax.jit(lambda: q)())
show("jit in trees", jax.jit(lambda d: [d["q"], dequantize(d["q"])])({"q": q}))
print(jax.make_jaxpr(round_trip)(x))
print(jax.make_jaxpr(lambda y: y + dequantize(q))(x))
print("main(%arg0: tensor<2x3xi8>, %arg1: tensor<2xf32>)" in jax.jit(dequantize).lower(q).as_text())
print(jax.eval_shape(quantize, x))

# Derivatives: straight through.
show("grad", jax.grad(loss)(x))
show("grad of jit", jax.grad(jax.jit(loss))(x))
show("jit of grad", jax.jit(jax.grad(loss))(x))
show("grad by a value", jax.grad(lambda q: jnp.sum(jnp.sin(dequantize(q))))(q))
show("value_and_grad", jax.value_and_grad(loss)(x))
out, pullback = jax.vjp(dequantize, q)
show("vjp", pullback(2 * out))
show("vjp to a value", jax.vjp(quantize, x)[1](x))

# Loops and branches.
show("scan", steps(x))
show("scan in jit", jax.jit(steps)(x))
show("grad of scan", jax.grad(lambda x: steps(x)[1].sum())(x))
show("fori_loop", lax.fori_loop(0, 2, lambda i, q: quantize(dequantize(q) + 1), q))
show("while_loop", lax.while_loop(lambda q: dequantize(q).sum() < 100, lambda q: quantize(2 * dequantize(q)), q))
show("cond", lax.cond(x.sum() > 0, quantize, lambda x: quantize(2 * x), x))
show("grad of cond", jax.grad(lambda x: dequantize(lax.cond(x.sum() > 0, quantize, lambda x: quantize(2 * x), x)).sum())(x))
show("checkpoint", jax.checkpoint(lambda q: dequantize(q).sum())(q))

# What is refused.
for name, f in {
    "attribute": lambda: jax.jit(lambda q: q.values)(q),
    "addition": lambda: jax.jit(lambda q: q + 1)(q),
    "array": lambda: jnp.sin(q),
    "traced array": lambda: jax.jit(jnp.sin)(q),
    "jvp": lambda: jax.jvp(round_trip, (x,), (x,)),
    "linearize": lambda: jax.linearize(round_trip, x),
    "axis": lambda: jax.vmap(dequantize)(q),
    "length": lambda: lax.scan(lambda c, q: (c, dequantize(q)), 0.0, q),
}.items():
    try:
        f()
        print(name, "worked")
    except Exception as error:
        print(name, type(error).__name__)
