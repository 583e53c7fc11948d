"""`call_exported` under transformations, in loops, with effects and kernels."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export, lax
from olympus._src.core.effects import Effect
from olympus._src.core.primitive import Primitive


def f(x, y, n):
    return jnp.sin(x) * y + n * x.sum(), n + 1


X, Y, N = np.float32([1, 2, 3]), np.float32(0.5), 4


@pytest.fixture(scope="module")
def call():
    exported = export.export(olympus.jit(f))(X, Y, N)
    return export.deserialize(exported.serialize(vjp_order=2)).call


def assert_close(found, wanted):
    assert olympus.tree.structure(found) == olympus.tree.structure(wanted)
    for a, b in zip(
        olympus.tree.leaves(found), olympus.tree.leaves(wanted), strict=True
    ):
        dtype = olympus.typeof(a).dtype  # a may be a Python number
        assert dtype == olympus.typeof(b).dtype
        if dtype != olympus.float0:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def loss(g):
    return lambda x, y: (g(x, y, N)[0] ** 2).sum()


TRANSFORMED = {
    "jit": lambda g: olympus.jit(g)(X, Y, N),
    "grad": lambda g: olympus.grad(loss(g), (0, 1))(X, Y),
    "jit of grad": lambda g: olympus.jit(olympus.grad(loss(g), (0, 1)))(X, Y),
    "vjp with an integer": lambda g: olympus.vjp(g, X, Y, N)[1](
        (X, np.zeros((), olympus.float0))
    ),
    "jvp": lambda g: olympus.jvp(lambda x, y: g(x, y, N), (X, Y), (X, Y)),
    "jvp of one": lambda g: olympus.jvp(lambda y: g(X, y, N), (Y,), (Y,)),
    "jit of jvp": lambda g: olympus.jit(
        lambda x: olympus.jvp(lambda x: g(x, Y, N)[0], (x,), (x,))
    )(X),
    "grad of grad": lambda g: olympus.grad(lambda x: olympus.grad(loss(g))(x, Y).sum())(
        X
    ),
    "vmap": lambda g: olympus.vmap(g, (0, None, None))(np.stack([X, 2 * X]), Y, N),
    "vmap of all": lambda g: olympus.vmap(g, (1, 0, 0))(
        np.stack([X, 2 * X], 1), np.float32([1, 2]), np.int32([3, 4])
    ),
    "vmap of grad": lambda g: olympus.vmap(olympus.grad(loss(g)), (0, None))(
        np.stack([X, 2 * X]), Y
    ),
    "grad of vmap": lambda g: olympus.grad(
        lambda xs: olympus.vmap(loss(g), (0, None))(xs, Y).sum()
    )(np.stack([X, 2 * X])),
    "vmap of jvp": lambda g: olympus.vmap(
        lambda x: olympus.jvp(lambda x: g(x, Y, N)[0], (x,), (x,))
    )(np.stack([X, 2 * X])),
    "scan": lambda g: lax.scan(lambda c, x: g(c, x, N), X, np.float32([1, 2])),
    "grad of scan": lambda g: olympus.grad(
        lambda x: lax.scan(lambda c, y: g(c, y, N), x, np.float32([1, 2]))[0].sum()
    )(X),
    "cond": lambda g: olympus.jit(
        lambda p: lax.cond(p, lambda: g(X, Y, N), lambda: g(2 * X, Y, N))
    )(True),
    "checkpoint": lambda g: olympus.grad(olympus.checkpoint(loss(g)))(X, Y),
    "linearize": lambda g: olympus.linearize(loss(g), X, Y)[1](X, Y),
}


QUICK = ("grad", "vmap")


@pytest.mark.parametrize("name", QUICK)
def test_it_is_the_function(call, name):
    assert_close(TRANSFORMED[name](call), TRANSFORMED[name](f))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*TRANSFORMED} - {*QUICK}))
def test_it_is_the_function_under_more(call, name):
    assert_close(TRANSFORMED[name](call), TRANSFORMED[name](f))


def test_forward_derivatives_need_two_reverse_ones():
    exported = export.export(olympus.jit(jnp.sin))(X)
    once = export.deserialize(exported.serialize(vjp_order=1)).call
    np.testing.assert_allclose(olympus.vjp(once, X)[1](X)[0], np.cos(X) * X, rtol=1e-6)
    with pytest.raises(TypeError, match="vjp_order=2"):
        olympus.jvp(once, (X,), (X,))
    with pytest.raises(TypeError, match="vjp_order=2"):
        olympus.jit(lambda x: olympus.jvp(once, (x,), (x,)))(X)


def test_it_prints_by_the_functions_name(call):
    text = str(olympus.make_olympuspr(call)(X, Y, N))
    assert "call_exported[exported=f] a b c" in text


def test_equal_programs_are_written_once(call):
    text = olympus.jit(lambda x: call(call(x, Y, N)[0], Y, N)).lower(X).as_text()
    assert text.count("stablehlo.sine") == 1
    assert text.count("call @call_exported_f") == 2


# -- effects ---------------------------------------------------------------------------


class Ordered(Effect):
    __slots__ = ()
    lowerable = ordered = True


class Unordered(Effect):
    __slots__ = ()
    lowerable = True


class Named(Effect):
    __slots__ = ("name",)
    lowerable = True

    def __init__(self, name):
        self.name = name


def lower_with_token(ctx, x, *, effect):
    block = ctx.block
    if effect.ordered:
        block.tokens[effect] = block.emit(
            f"stablehlo.after_all {block.tokens[effect]} : !stablehlo.token"
        )
    return x


effectful_p = Primitive(
    "effectful",
    abstract=lambda x, *, effect: x,
    effects=lambda x, *, effect: frozenset([effect]),
    lower=lower_with_token,
)


def effectful(x):
    x = effectful_p.bind(x, effect=Ordered())
    return 2 * effectful_p.bind(x, effect=Unordered())


def test_effects_are_kept():
    exported = export.export(olympus.jit(effectful))(X)
    assert "!stablehlo.token" in exported.mlir_module()
    read = export.deserialize(exported.serialize())
    for program in (exported, read):
        assert program.ordered_effects == (Ordered(),)
        assert program.unordered_effects == (Unordered(),)
    np.testing.assert_array_equal(read.call(X), 2 * X)
    np.testing.assert_array_equal(olympus.jit(read.call)(X), 2 * X)
    outer = olympus.jit(lambda x: read.call(effectful(x))).trace(X)
    assert outer.effects == {Ordered(), Unordered()}
    again = export.deserialize(export.export(olympus.jit(read.call))(X).serialize())
    np.testing.assert_array_equal(again.call(X), 2 * X)


def test_effects_that_are_not_told_by_their_class():
    jitted = olympus.jit(lambda x: effectful_p.bind(x, effect=Named("a")))
    with pytest.raises(ValueError, match="identified by their class"):
        export.export(jitted)(X).serialize()


# -- kernels ---------------------------------------------------------------------------


def kernel(target):
    return Primitive(
        "kernel",
        abstract=lambda x: x,
        lower=lambda ctx, x: ctx.block.op1(
            "stablehlo.custom_call",
            [x],
            ctx.avals_in,
            ctx.avals_out[0],
            f'call_target_name = "{target}", api_version = 4 : i32',
        ),
    ).bind


def test_kernels_without_a_guarantee():
    jitted = olympus.jit(kernel("my_kernel"))
    with pytest.raises(ValueError, match=r"custom_call\('my_kernel'\)"):
        export.export(jitted)(X)
    check = export.DisabledSafetyCheck.custom_call("my_kernel")
    assert check.is_custom_call() == "my_kernel"
    assert export.DisabledSafetyCheck.platform().is_custom_call() is None
    exported = export.export(jitted, disabled_checks=[check])(X)
    assert export.deserialize(exported.serialize()).disabled_safety_checks == (check,)
    assert "my_kernel" in exported.mlir_module()
    stable = olympus.jit(kernel("lapack_spotrf_ffi"))
    assert "spotrf" in export.export(stable)(X).mlir_module()


def test_kernels_of_the_array_library_are_stable():
    matrix = np.eye(3, dtype=np.float32) * 2
    for g in (jnp.linalg.cholesky, jnp.linalg.eigvalsh, jnp.linalg.inv):
        exported = export.export(olympus.jit(g), platforms=["cpu"])(matrix)
        assert "custom_call" in exported.mlir_module()


# -- settings --------------------------------------------------------------------------


def test_the_calling_convention_is_a_setting():
    setting = "olympus_export_calling_convention_version"
    try:
        olympus.config.update(setting, 9)
        exported = export.export(olympus.jit(jnp.sin))(X)
        assert exported.calling_convention_version == 9
        olympus.config.update(setting, 3)
        with pytest.raises(ValueError, match="from 9 to 10, got 3"):
            export.export(olympus.jit(jnp.sin))(X)
    finally:
        olympus.config.update(setting, 10)
    low = export.minimum_supported_calling_convention_version
    assert low <= 10 == export.maximum_supported_calling_convention_version


def artifact_version(exported):
    """The version of StableHLO that wrote a module, which its bytes begin with."""
    head = exported.mlir_module_serialized.split(b"\0")[0]
    return tuple(map(int, head.split(b"_v")[1].split(b".")))


def test_older_consumers_are_thought_of():
    setting = "olympus_export_ignore_forward_compatibility"
    plain = artifact_version(export.export(olympus.jit(jnp.sin))(X))
    try:
        olympus.config.update(setting, True)
        newest = artifact_version(export.export(olympus.jit(jnp.sin))(X))
    finally:
        olympus.config.update(setting, False)
    assert plain < newest
