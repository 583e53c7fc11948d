"""A type of a user's own whose tangents are of such a type too: a tuple in a box."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import hijax
from jax.experimental.hijax import HiPrim, HiType, MappingSpec, Zero, instantiate_zeros


@dataclass(frozen=True)
class Leading(MappingSpec):
    pass


@dataclass(frozen=True)
class Box:
    items: tuple


@dataclass(frozen=True)
class BoxType(HiType):
    types: tuple

    def lo_ty(self):
        return list(self.types)

    def lower_val(self, box):
        return list(box.items)

    def raise_val(self, *items):
        return Box(items)

    def to_tangent_aval(self):
        return BoxType(tuple(t.to_tangent_aval() for t in self.types))

    def vspace_zero(self):
        return Box(tuple(instantiate_zeros(Zero(t)) for t in self.types))

    def vspace_add(self, x, y):
        return pack(*[a + b for a, b in zip(unpack(x), unpack(y))])

    def dec_rank(self, size, spec):
        return BoxType(tuple(t.dec_rank(size, 0) for t in self.types))

    def inc_rank(self, size, spec):
        return BoxType(tuple(t.inc_rank(size, 0) for t in self.types))

    def leading_axis_spec(self):
        return Leading()


hijax.register_hitype(Box, lambda box: BoxType(tuple(map(jax.typeof, box.items))))


class Pack(HiPrim):
    def __init__(self, *types):
        self.in_avals, self.out_aval, self.params = types, BoxType(types), {}
        super().__init__()

    def expand(self, *items):
        return Box(items)

    def jvp(self, primals, tangents):
        return pack(*primals), pack(*map(instantiate_zeros, tangents))

    lin, linearized = hijax.linearize_from_jvp

    def vjp_fwd(self, nzs_in, *items):
        return self(*items), None

    def vjp_bwd_retval(self, res, ct):
        return unpack(ct)

    def transpose(self, ct, *accums):
        for accum, part in zip(accums, unpack(ct)):
            accum.accum(part)

    def batch(self, axis_data, args, dims):
        return pack(*hijax.bdims_at_front(axis_data, args, dims)), Leading()


class Unpack(HiPrim):
    def __init__(self, box):
        self.in_avals, self.out_aval, self.params = (box,), box.types, {}
        super().__init__()

    def expand(self, box):
        return box.items

    def jvp(self, primals, tangents):
        return unpack(*primals), unpack(*map(instantiate_zeros, tangents))

    lin, linearized = hijax.linearize_from_jvp

    def vjp_fwd(self, nzs_in, box):
        return self(box), None

    def vjp_bwd_retval(self, res, cts):
        return (pack(*map(instantiate_zeros, cts)),)

    def transpose(self, cts, accum):
        accum.accum(pack(*map(instantiate_zeros, cts)))

    def batch(self, axis_data, args, dims):
        return unpack(*args), tuple(0 for _ in self.out_aval)


def pack(*items):
    return Pack(*map(jax.typeof, items))(*items)


def unpack(box):
    return Unpack(jax.typeof(box))(box)


def show(name, value):
    print(name, jax.tree.map(lambda x: x.items if isinstance(x, Box) else x, value))


def product(box):
    a, b = unpack(box)
    return (a * a * b).sum()


def step(carry, x):
    a, b = unpack(carry)
    return pack(a * x, b + x), a.sum()


x = jnp.arange(3.0) + 1
box = pack(x, x.sum())
rows = pack(jnp.ones((4, 3)), jnp.arange(4.0))

show("pack", box)
show("jit", jax.jit(lambda box: pack(*reversed(unpack(box))))(box))
show("nested in trees", jax.jit(lambda d: {"sum": product(d["a"]) + product(d["b"][0])})({"a": box, "b": [box]}))
print(jax.make_jaxpr(step)(box, 2.0))
print(jax.make_jaxpr(jax.grad(lambda box: unpack(box)[0].sum()))(box))
show("grad", jax.grad(product)(box))
show("grad, two uses", jax.grad(lambda box: product(box) + unpack(box)[0].sum())(box))
show("grad, a use of a part", jax.grad(lambda box: unpack(box)[0].sum())(box))
show("grad of a constant", jax.grad(lambda box: 1.0)(box))
show("grad through", jax.grad(lambda x: product(pack(x, x.sum())))(x))
show("jit of grad", jax.jit(jax.grad(product))(box))
show("jvp", jax.jvp(product, (box,), (box,)))
show("jvp to a value", jax.jvp(lambda x: pack(x, 2 * x), (x,), (x,)))
show("jvp of jit", jax.jvp(jax.jit(product), (box,), (box,)))
show("linearize", jax.linearize(product, box)[1](box))
show("vjp to a value", jax.vjp(lambda x: pack(x, 2 * x), x)[1](pack(x, x)))
show("jvp of grad", jax.jvp(jax.grad(product), (box,), (box,)))
show("scan", lax.scan(step, box, x))
show("scan in jit", jax.jit(lambda box, x: lax.scan(step, box, x))(box, x))
show("jvp of scan", jax.jvp(lambda box, x: lax.scan(step, box, x), (box, x), (box, x)))
show("grad of scan", jax.grad(lambda box, x: lax.scan(step, box, x)[1].sum(), (0, 1))(box, x))
show("grad of fori_loop", jax.grad(lambda box: product(lax.fori_loop(0, 3, lambda i, c: step(c, 2.0)[0], box)))(box))
show("scan over rows", lax.scan(lambda c, row: (c + unpack(row)[1], row), 0.0, rows, length=4))
show("grad of scan over rows", jax.grad(lambda rows: lax.scan(lambda c, row: (c * unpack(row)[1] + 1, row), 1.0, rows, length=4)[0])(rows))
show("vmap", jax.vmap(product, in_axes=Leading(), axis_size=4)(rows))
show("vmap, results", jax.vmap(lambda x: pack(x, 2 * x), out_axes=Leading())(x))
show("vmap, identity", jax.vmap(lambda row: row, in_axes=Leading(), out_axes=Leading(), axis_size=4)(rows))
show("vmap of jit", jax.vmap(jax.jit(product), in_axes=Leading(), axis_size=4)(rows))
show("vmap of grad", jax.vmap(jax.grad(product), in_axes=Leading(), out_axes=Leading(), axis_size=4)(rows))
show("jit of vmap", jax.jit(jax.vmap(product, in_axes=Leading(), axis_size=4))(rows))


@jax.custom_jvp
def first(box):
    return unpack(box)[0]


first.defjvp(lambda primals, tangents: (first(*primals), 7 * first(*tangents)))
show("custom_jvp", (first(box), jax.jit(first)(box), jax.jvp(first, (box,), (box,))))
show("grad of custom_jvp", jax.grad(lambda box: first(box).sum())(box))
show("donated", jax.jit(lambda box: pack(*[2 * a for a in unpack(box)]), donate_argnums=0)(pack(x + 0, x.sum())))
show("eval_shape", jax.eval_shape(lambda box: unpack(box), box))

for name, f in {
    "spec": lambda: jax.vmap(lambda x: pack(x, x))(x),
    "no spec": lambda: jax.vmap(lambda x: pack(x, x), out_axes=None)(x),
    "size": lambda: jax.vmap(product, in_axes=Leading())(rows),
    "carry": lambda: lax.scan(lambda c, _: (pack(1.0), None), box, None, length=2),
    "branches": lambda: lax.cond(True, lambda box: box, lambda box: pack(1.0), box),
    "static": lambda: jax.jit(lambda box: box, static_argnums=0)(box),
    "length": lambda: lax.map(lambda row: unpack(row)[1], rows),
}.items():
    try:
        f()
        print(name, "worked")
    except Exception as error:
        print(name, type(error).__name__)
