"""Programs that define operations, and interpreters of programs, by public names."""

import numpy as np
import pytest

import olympus
import olympus.numpy as onp
from olympus import lax
from olympus.extend import core
from olympus.extend.core import primitives
from olympus.interpreters import ad, batching, mlir

# -- an operation with all its rules ---------------------------------------------------

fma_p = core.Primitive("fma")


def fma(x, y, z):
    """The product of two arrays, and a third."""
    return fma_p.bind(x, y, z)


@fma_p.def_impl
def fma_impl(x, y, z):
    return np.asarray(x) * np.asarray(y) + np.asarray(z)


@fma_p.def_abstract_eval
def fma_abstract(x, y, z):
    assert x.shape == y.shape == z.shape
    return x.update(weak_type=False)


@mlir.register_lowering(fma_p)
def fma_lowering(ctx, x, y, z):
    assert ctx.avals_in[0].dtype == ctx.avals_out[0].dtype
    assert ctx.primitive is fma_p
    assert ctx.module_context.platforms == ("cpu",)
    return [mlir.hlo.AddOp(mlir.hlo.MulOp(x, y).result, z).result]


def fma_jvp(primals, tangents):
    x, y, z = primals
    tx, ty, tz = map(ad.instantiate_zeros, tangents)
    return fma(x, y, z), fma(tx, y, fma(x, ty, tz))


def fma_transpose(ct, x, y, z):
    if not ad.is_undefined_primal(x):
        return None, None if not ad.is_undefined_primal(y) else ct * x, ct
    return ct * y, None, ct


def fma_batch(args, dims):
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
    whole = [
        batching.bdim_at_front(x, d, size) for x, d in zip(args, dims, strict=True)
    ]
    return fma(*whole), 0


ad.primitive_jvps[fma_p] = fma_jvp
ad.primitive_transposes[fma_p] = fma_transpose
batching.primitive_batchers[fma_p] = fma_batch

X, Y, Z = (onp.array(v) for v in ([2.0, 3.0], [10.0, 20.0], [1.0, 1.0]))


def test_values():
    np.testing.assert_array_equal(fma(X, Y, Z), [21, 61])
    np.testing.assert_array_equal(olympus.jit(fma)(X, Y, Z), [21, 61])
    text = olympus.jit(lambda x: fma(fma(x, x, x), x, x)).lower(X).as_text()
    assert text.count("func.func private @fma") == 1  # written once, called twice
    assert text.count("call @fma") == 2


def test_derivatives():
    value, slope = olympus.jvp(lambda x: fma(x, Y, x), (X,), (onp.ones(2),))
    np.testing.assert_array_equal(value, X * Y + X)
    np.testing.assert_array_equal(slope, Y + 1)
    for transform in (lambda f: f, olympus.jit):
        gradient = transform(olympus.grad(lambda x, y: fma(x, y, x).sum(), (0, 1)))
        for got, expected in zip(gradient(X, Y), (Y + 1, X), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_batches():
    rows = onp.stack([X, Y])
    mapped = olympus.jit(olympus.vmap(fma, in_axes=(0, None, 0)))(rows, Y, rows)
    np.testing.assert_array_equal(mapped, rows * Y + rows)


# -- rules that build operations -------------------------------------------------------


def new_primitive(rule, **options):
    p = core.Primitive("built")
    p.def_abstract_eval(lambda x, **params: x.update(weak_type=False))
    mlir.register_lowering(p, rule, **options)
    return p


def test_constants_types_and_parameters():
    def rule(ctx, x, *, factor, shift):
        kind = mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0])
        assert str(kind) == "tensor<2xf32>"
        assert [
            str(k) for k in mlir.aval_to_ir_types(ctx.module_context, ctx.avals_in[0])
        ] == [str(kind)]
        assert str(mlir.dtype_to_ir_type("int8")) == "i8"
        assert str(mlir.i32_attr(3)) == "3 : i32"
        assert str(mlir.ir_attribute((1, 2))) == "dense<[1, 2]> : tensor<2xi64>"
        dims = mlir.dense_int_array([])
        scale = mlir.hlo.BroadcastInDimOp(
            kind, mlir.ir_constant(np.float32(factor)), dims
        )
        added = mlir.ir_constant(np.array(shift, "float32"))
        return mlir.hlo.add(mlir.hlo.multiply(x, scale), added)

    p = new_primitive(rule)
    out = olympus.jit(lambda x: p.bind(x, factor=3.0, shift=(1.0, 2.0)))(X)
    np.testing.assert_array_equal(out, [7, 11])
    other = olympus.jit(lambda x: p.bind(x, factor=2.0, shift=(0.0, 0.0)))(X)
    np.testing.assert_array_equal(other, [4, 6])


def test_a_rule_for_one_platform():
    p = new_primitive(lambda ctx, x: mlir.hlo.negate(x), platform="cuda")
    with pytest.raises(NotImplementedError, match="no lowering for platform cpu"):
        olympus.jit(p.bind)(X)
    mlir.register_lowering(p, lambda ctx, x: mlir.hlo.abs(x), platform="cpu")
    np.testing.assert_array_equal(olympus.jit(p.bind)(-X), X)


def test_wrong_results():
    p = new_primitive(lambda ctx, x: mlir.ir_constant(np.float32(1)))
    with pytest.raises(TypeError, match="must return values of types"):
        olympus.jit(p.bind)(X)
    p = new_primitive(lambda ctx, x: 3)
    with pytest.raises(TypeError, match=r"must return MLIR values, got .* int"):
        olympus.jit(p.bind)(X)


# -- an interpreter that inverts functions ---------------------------------------------

INVERSES = {
    primitives.exp_p: lax.log,
    primitives.tanh_p: lax.atanh,
    primitives.neg_p: lax.neg,
}


def inverse(fun):
    def inverted(y):
        closed = olympus.make_olympuspr(fun)(y)
        return invert(closed.olympuspr, closed.consts, y)

    return inverted


def invert(program, consts, *outs):
    values = dict(zip(program.outvars, outs, strict=True))
    values.update(zip(program.constvars, consts, strict=True))
    for eqn in reversed(program.eqns):
        if eqn.primitive is primitives.jit_p:
            inner = eqn.params["jaxpr"]
            results = [values[v] for v in eqn.outvars]
            values[eqn.invars[0]] = invert(inner.olympuspr, inner.consts, *results)
            continue
        if eqn.primitive not in INVERSES:
            raise NotImplementedError(f"{eqn.primitive} has no registered inverse")
        values[eqn.invars[0]] = INVERSES[eqn.primitive](values[eqn.outvars[0]])
    return values[program.invars[0]]


def test_an_interpreter():
    def f(x):
        return onp.exp(olympus.jit(onp.tanh)(-x))

    np.testing.assert_allclose(inverse(f)(f(0.5)), 0.5, rtol=1e-5)
    np.testing.assert_allclose(olympus.jit(inverse(f))(f(0.5)), 0.5, rtol=1e-5)
    slopes = olympus.vmap(olympus.grad(inverse(f)))(f(onp.array([0.1, 0.5])))
    expected = [1 / olympus.grad(f)(x) for x in (0.1, 0.5)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-4)
    with pytest.raises(NotImplementedError, match="sin has no registered inverse"):
        inverse(onp.sin)(0.5)


def test_all_operations_are_named():
    for name in dir(primitives):
        if name.endswith("_p"):
            assert isinstance(getattr(primitives, name), core.Primitive.__mro__[1])
