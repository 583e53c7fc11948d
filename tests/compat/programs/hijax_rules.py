"""The rules of operations of a user's own, on arrays."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import hijax
from jax.experimental.hijax import GradAccum, HiPrim, Zero, instantiate_zeros

log = []


class Scaled(HiPrim):
    """x * y * k."""

    def __init__(self, x, y, k):
        self.in_avals, self.out_aval, self.params = (x, y), x, {"k": k}
        super().__init__()

    def expand(self, x, y):
        return x * y * self.k

    def batch(self, axis_data, args, dims):
        log.append(("batch", axis_data.size, dims))
        x, y = hijax.bdims_at_front(axis_data, args, dims)
        return type(self)(jax.typeof(x), jax.typeof(y), self.k)(x, y), 0


class ByJvp(Scaled):
    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, map(instantiate_zeros, tangents)
        log.append(("jvp", [type(t) is Zero for t in tangents]))
        return self(x, y), (dx * y + x * dy) * self.k

    lin, linearized = hijax.linearize_from_jvp
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_jvp


class ByLin(Scaled):
    def lin(self, nzs_in, x, y):
        log.append(("lin", nzs_in))
        return self(x, y), (x, y)

    def linearized(self, residuals, dx, dy):
        (x, y), (dx, dy) = residuals, map(instantiate_zeros, (dx, dy))
        return (dx * y + x * dy) * self.k

    jvp = hijax.jvp_from_lin
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_lin


class ByAccumulators(Scaled):
    def vjp_fwd(self, nzs_in, x, y):
        log.append(("fwd", nzs_in))
        return self(x, y), (x, y)

    def vjp_bwd(self, residuals, ct, x_accum, y_accum):
        x, y = residuals
        log.append([type(a).__name__ for a in (x_accum, y_accum)])
        x_accum.accum(ct * y * self.k)
        y_accum.accum(ct * x * self.k)


class Twice(HiPrim):
    """2 * (x + y), which is linear."""

    def __init__(self, x):
        self.in_avals, self.out_aval, self.params = (x, x), x, {}
        super().__init__()

    def expand(self, x, y):
        return 2 * (x + y)

    def jvp(self, primals, tangents):
        return self(*primals), self(*map(instantiate_zeros, tangents))

    lin, linearized = hijax.linearize_from_jvp
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_jvp

    def transpose(self, ct, *maybe_accums):
        log.append([isinstance(a, GradAccum) for a in maybe_accums])
        for a in maybe_accums:
            if isinstance(a, GradAccum):
                a.accum(2 * ct)


class InTrees(HiPrim):
    def __init__(self, d, n):
        self.in_avals, self.params = (d,), {"n": n}
        self.out_aval = {"u": d["a"], "v": (d["a"],)}
        super().__init__()

    def check(self, d):
        log.append(("check", sorted(d)))

    def pp_params(self):
        return {"times": self.n}

    def expand(self, d):
        return {"u": d["a"] * self.n, "v": (d["b"][0] + 1,)}

    def vjp_fwd(self, nzs_in, d):
        log.append(nzs_in)
        return self(d), {"none": None, "a": d["a"]}

    def vjp_bwd_retval(self, res, cts):
        log.append((sorted(res), type(cts["v"][0]).__name__))
        return ({"a": cts["u"] * self.n, "b": [instantiate_zeros(cts["v"][0])]},)

    def dce(self, used_outs, live_ins):
        log.append(("dce", used_outs, live_ins))
        return super().dce(used_outs, live_ins)


def apply(kind, k=2.0):
    return lambda x, y: kind(jax.typeof(x), jax.typeof(y), k)(x, y)


def drain():
    shown, log[:] = list(log), []
    return shown


v, w = jnp.arange(3.0), jnp.arange(3.0) + 1
for kind in (ByJvp, ByLin, ByAccumulators):
    f = apply(kind)
    print(kind.__name__, f(v, w), jax.jit(f)(v, w))
    print(jax.make_jaxpr(f)(v, w))
    print("grad", jax.grad(lambda v: f(v, w).sum())(v), drain())
    print("grad of both", jax.grad(lambda v, w: f(v, w).sum(), (0, 1))(v, w), drain())
    print("grad of jit", jax.grad(jax.jit(lambda v: f(v, w).sum()))(v))
    print("scan", jax.grad(lambda v: lax.scan(lambda c, _: (f(c, w), None), v, None, length=2)[0].sum())(v))
    drain()
    print("vmap", jax.vmap(f)(v, w), drain())
    print("vmap of one", jax.vmap(lambda x: f(x, w[2]))(v), drain())
    print("vmap, axis 1", jax.vmap(f, (1, None), 0)(jnp.ones((2, 3)), w[:2]), drain())
    print("vmap of grad", jax.vmap(jax.grad(f))(v, w))
    drain()
    if kind is not ByAccumulators:
        print("jvp", jax.jvp(f, (v, w), (v, v)), drain())
        print("jvp of one", jax.jvp(lambda v: f(v, w), (v,), (v,)), drain())
        print("linearize", jax.linearize(lambda v: f(v, w), v)[1](v), drain())
        print("hessian", jax.hessian(lambda v: f(v, v).sum())(v))
        print("remat", jax.grad(jax.checkpoint(lambda v: f(v, w).sum()))(v))
        print("fori", jax.jvp(lambda v: lax.fori_loop(0, 2, lambda i, c: f(c, w), v), (v,), (v,)))
        drain()

twice = lambda x, y: Twice(jax.typeof(x))(x, y)
print("transpose", jax.linear_transpose(lambda v: twice(v, v), v)(v), drain())
print("transpose by one", jax.linear_transpose(lambda v: twice(v, jnp.ones(3)), v)(v), drain())
print("grad", jax.grad(lambda v: twice(v, v).sum())(v), drain())

d = {"a": v, "b": [w]}
tree = InTrees(jax.tree.map(jax.typeof, d), 2)
print(tree(d), tree.n, tree.in_tree, drain())
print(jax.make_jaxpr(tree)(d))
print(tree == InTrees(tree.in_avals[0], 2), tree == InTrees(tree.in_avals[0], 3), hash(tree) == hash(InTrees(tree.in_avals[0], 2)), tree)
drain()
print(jax.grad(lambda d: tree(d)["u"].sum())(d), drain())
print(jax.grad(lambda d: tree({"a": d["a"], "b": [w]})["u"].sum())(d), drain())
print(jax.jit(lambda d: tree(d)["u"])(d), drain())

# The functions for rules.
aval = jax.typeof(v)
total = hijax.ValAccum(aval)
print(total.freeze().aval is not None, total.accum(v), total.accum(Zero(aval)), total.accum(v), total.freeze())
print(hijax.NullAccum(aval).accum(v))
ref = hijax.RefAccum(aval)
print(ref.inst() is ref, ref.accum(v), ref.accum(v), ref.freeze(), ref.ref)
print(instantiate_zeros(Zero(aval)), Zero(aval).instantiate(), instantiate_zeros(v))
print(aval.inc_rank(4, 1).shape, aval.inc_rank(4, 0).dec_rank(4, 0) == aval, aval.lo_ty(), aval.leading_axis_spec(), aval.is_high)


class Types(Scaled):
    def batch(self, axis_data, args, dims):
        print("types", hijax.unmap_avals(axis_data, self.in_avals, dims))
        run = hijax.vmap_rule(axis_data, lambda x, y: (x * y, y), dims, (0, None))
        out, same = run(*args)
        print(out.shape, same.shape, hijax.vmap_rule(axis_data, lambda x, z: z, (0, 0), 0)(args[0], Zero(jax.typeof(args[0]))))
        return out, 0


print(jax.vmap(apply(Types), (0, None))(jnp.ones((2, 3)), w))
for name, f in {
    "expand": lambda: Scaled.__mro__[1].expand(tree, d),
    "count": lambda: apply(ByJvp)(v, w, v),
    "no vjp": lambda: jax.jvp(apply(ByAccumulators), (v, w), (v, w)),
    "no lin": lambda: jax.linearize(apply(ByAccumulators), v, w),
    "no batch": lambda: jax.vmap(twice)(v, v),
    "no rule": lambda: jax.grad(lambda v: apply(Scaled)(v, w).sum())(v),
    "not a value": lambda: tree({"a": "text", "b": [w]}),
    "vspace": lambda: hijax.HiType().vspace_zero(),
    "lo_ty": lambda: hijax.HiType().lo_ty(),
    "hash": lambda: hash(hijax.HiType()),
    "spec": lambda: hijax.HiPspec().to_lo(),
}.items():
    try:
        f()
        print(name, "worked")
    except (NotImplementedError, AttributeError) as error:
        print(name, type(error).__name__, str(error).split(",")[0])
    except Exception as error:
        print(name, "refused")
