"""`vmap` of `shard_map` whose elements are spread over axes of the mesh."""

from __future__ import annotations

import re

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import AxisType, NamedSharding, PartitionSpec
from tests.sharding.meshes import entries, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.sin(np.arange(8.0 * 4 * 6, dtype=np.float32)).reshape(8, 4, 6)
W = np.cos(np.arange(6, dtype=np.float32))


def map_rows(f, **options):
    """A function of rows divided over the second axis of the mesh, and a vector."""
    specs = {"in_specs": (P("y"), P()), "out_specs": P("y"), **options}
    return olympus.shard_map(f, mesh=mesh(4, 2), **specs)


def local_shapes(x):
    return {shard.data.shape for shard in x.addressable_shards}


@olympus.custom_vjp
def triple(x):
    return 3 * x


triple.defvjp(lambda x: (triple(x), x), lambda x, ct: (3 * ct + 0 * x,))


def wait_for(x):
    """A loop that takes as many steps as each element needs."""
    start = jnp.zeros_like(x)
    return lax.while_loop(lambda c: c.sum() < x.sum(), lambda c: c + 1.5, start)


BODIES = {
    "elementwise": lambda x, w: jnp.sin(x) * w,
    "scan": lambda x, w: lax.scan(lambda c, t: (c + t, c * t), w * 0, x)[1],
    "scan of zeros": lambda x, w: lax.scan(
        lambda c, t: (c + t, c), jnp.zeros(6), x, reverse=True
    )[1],
    "while": lambda x, w: wait_for(x) * w,
    "fori": lambda x, w: lax.fori_loop(0, 3, lambda i, c: jnp.cos(c) + x, x * 0) * w,
    "cond": lambda x, w: lax.cond(x.sum() > 0, lambda: x * w, lambda: jnp.sin(x)),
    "cond of constants": lambda x, w: lax.cond(
        x.sum() > 0, lambda: jnp.ones_like(x), lambda: jnp.zeros_like(x)
    ),
    "custom rule": lambda x, w: triple(x) + triple(w),
    "remat": lambda x, w: olympus.checkpoint(lambda t: jnp.sin(t * w))(x),
    "jit": lambda x, w: olympus.jit(lambda a, b: a @ jnp.outer(b, b))(x, w),
    "sum along its own axis": lambda x, w: x - lax.pmean((x * w).sum(0), "y"),
    "gathered along its own axis": lambda x, w: x + lax.all_gather(x, "y").sum((0, 1)),
    "exchanged": lambda x, w: lax.ppermute(x * w, "y", [(0, 1), (1, 0)]),
    "loop of sums": lambda x, w: lax.fori_loop(
        0, 2, lambda i, c: c * 0.5 + lax.psum(c, "y"), x * w
    ),
    "sort": lambda x, w: jnp.sort(x, 1) * w,
    "scatter": lambda x, w: jnp.zeros_like(x).at[:, ::2].add(x[:, 1::2]) + w,
}


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", BODIES)
def test_values_and_derivatives(name, check_vma):
    f = map_rows(BODIES[name], check_vma=check_vma)
    differentiate = name != "while"

    def both(spmd_axis_name):
        g = olympus.vmap(f, (0, None), spmd_axis_name=spmd_axis_name)
        outs = olympus.jit(g)(X, W)
        if not differentiate:
            return outs, (), ()
        around = olympus.jit(olympus.grad(lambda *a: (g(*a) * X).sum(), (0, 1)))
        within = olympus.vmap(
            olympus.grad(lambda x, w: (f(x, w) * x).sum(), (0, 1)),
            (0, None),
            spmd_axis_name=spmd_axis_name,
        )
        return outs, around(X, W), olympus.jit(within)(X, W)

    spread, whole = both("x"), both(None)
    olympus.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, 2e-5, 2e-5), spread, whole
    )
    assert entries(spread[0])[:2] == ("x", "y")
    assert local_shapes(spread[0]) == {(2, 2, 6)}
    if differentiate:
        assert entries(spread[2][0])[:1] == ("x",)


def test_one_element_is_seen_inside():
    seen = []

    def f(x, w):
        seen.append(olympus.typeof(x).str_short())
        return x * w

    for options in ({}, {"check_vma": False}):
        out = olympus.vmap(map_rows(f, **options), (0, None), spmd_axis_name="x")(X, W)
        np.testing.assert_allclose(out, X * W)
        assert entries(out)[:2] == ("x", "y")
    assert seen == ["float32[2,6]{V:y}", "float32[2,6]"]


def test_positions_of_the_mapped_axis():
    f = map_rows(lambda x, w: x * w)
    moved = X.transpose(1, 0, 2)
    out = olympus.vmap(f, (1, None), 1, spmd_axis_name="x")(moved, W)
    np.testing.assert_allclose(out, moved * W)
    assert entries(out)[:2] == ("y", "x")
    out = olympus.vmap(f, (2, None), 2, spmd_axis_name="x")(X.transpose(1, 2, 0), W)
    np.testing.assert_allclose(out, (X * W).transpose(1, 2, 0))
    assert entries(out) == ("y", None, "x")


def test_several_axes_of_the_mesh():
    f = olympus.shard_map(jnp.sin, mesh=mesh(4, 2), in_specs=P(), out_specs=P())
    out = olympus.vmap(f, spmd_axis_name=("x", "y"))(X)
    np.testing.assert_allclose(out, np.sin(X), 1e-6)
    assert local_shapes(out) == {(1, 4, 6)}


def test_maps_in_maps():
    f = olympus.shard_map(
        lambda x: x - lax.pmean(x, "y"),
        mesh=mesh(2, 2, 2),
        in_specs=P("y"),
        out_specs=P("y"),
    )
    xs = np.stack([X, X * 2])
    inner = olympus.vmap(f, spmd_axis_name="x")
    out = olympus.jit(olympus.vmap(inner, spmd_axis_name="z"))(xs)
    want = xs - (xs + np.roll(xs, 2, 2)) / 2
    np.testing.assert_allclose(out, want, 1e-4, 1e-6)
    assert entries(out)[:3] == ("z", "x", "y")
    np.testing.assert_allclose(olympus.vmap(inner)(xs), want, 1e-4, 1e-6)
    message = "vmap spmd_axis_name: 'x' cannot appear in in_specs or out_specs"
    with pytest.raises(ValueError, match=message):
        olympus.vmap(inner, spmd_axis_name="x")(xs)


def test_axes_that_the_compiler_divides():
    f = map_rows(lambda x, w: x - lax.pmean(x * w, "y"), axis_names={"y"})
    for transform in (lambda g: g, olympus.jit):
        out = transform(olympus.vmap(f, (0, None), spmd_axis_name="x"))(X, W)
        want = X - (X + np.roll(X, 2, 1)) * W / 2
        np.testing.assert_allclose(out, want, 1e-4, 1e-6)
        assert entries(out)[:2] == ("x", "y")


AWARE = {
    "sum": (lambda x, w: lax.psum(x, "x"), {}, 4 * X),
    "sum of a cast value": (
        lambda x, w: lax.psum(lax.pcast(x, "x", to="varying"), "x"),
        {"check_vma": True},
        4 * X,
    ),
    "position": (lambda x, w: x + lax.psum(lax.axis_index("x"), "x"), {}, X + 6),
    "sum of elements": (lambda x, w: x - lax.psum(x, "i"), {}, X - X.sum(0)),
    "position among elements": (
        lambda x, w: x + lax.axis_index("i"),
        {},
        X + np.arange(8)[:, None, None],
    ),
}


@pytest.mark.parametrize("name", AWARE)
def test_functions_that_see_the_axis(name):
    """Each device has all elements: others are no devices' parts of one."""
    f, options, want = AWARE[name]
    f = map_rows(f, **{"check_vma": False, **options})
    g = olympus.vmap(f, (0, None), axis_name="i", spmd_axis_name="x")
    np.testing.assert_allclose(g(X, W), want, 1e-5, 1e-5)
    np.testing.assert_allclose(olympus.jit(g)(X, W), want, 1e-5, 1e-5)


def with_cotangent(f, change):
    rule = olympus.custom_vjp(f)
    rule.defvjp(lambda x: (f(x), None), lambda _, ct: (change(ct),))
    return rule


def with_tangent(f, change):
    rule = olympus.custom_jvp(f)
    rule.defjvp(lambda p, t: (f(*p), change(*t)))
    return rule


CHANGES = {
    "sum": lambda t: lax.psum(t, "x") * 3,
    "position": lambda t: t * (1 + lax.psum(lax.axis_index("x"), "x")),
    "in a branch": lambda t: lax.cond(True, lambda u: lax.psum(u, "x"), jnp.sin, t),
}


@pytest.mark.parametrize("make", [with_cotangent, with_tangent])
@pytest.mark.parametrize("name", CHANGES)
def test_rules_that_see_the_axis(name, make):
    """They are of one element too: each device has all elements."""
    rule = make(lambda x: x * 1, CHANGES[name])
    f = map_rows(lambda x, w: rule(x), check_vma=False)
    g = olympus.vmap(f, (0, None), spmd_axis_name="x")
    np.testing.assert_allclose(g(X, W), X)
    weights = np.cos(np.arange(X.size).reshape(X.shape)).astype("float32")

    def slope(h):
        return olympus.grad(lambda x: (h(x, W) * weights).sum())

    want = slope(olympus.vmap(f, (0, None)))(X)
    assert abs(want).max() > 1
    for got in (slope(g)(X), olympus.jit(slope(g))(X)):
        np.testing.assert_allclose(got, want, 1e-5, 1e-5)


@pytest.mark.parametrize("kinds", ["both", "x"])
def test_explicit_axes(kinds):
    types = (AxisType.Explicit, AxisType.Explicit if kinds == "both" else AxisType.Auto)
    over = olympus.make_mesh((4, 2), ("x", "y"), types)
    x = olympus.device_put(X, NamedSharding(over, P("x")))
    f = olympus.shard_map(
        lambda x: jnp.sin(x) * 2, mesh=over, in_specs=P(), out_specs=P()
    )
    with olympus.set_mesh(over):
        for transform in (lambda g: g, olympus.jit):
            for name in (None, "x"):
                out = transform(olympus.vmap(f, spmd_axis_name=name))(x)
                np.testing.assert_allclose(out, np.sin(X) * 2, 1e-6)
                assert entries(out)[:1] == ("x",)
        g = olympus.grad(lambda x: olympus.vmap(f)(x).sum())
        np.testing.assert_allclose(olympus.jit(g)(x), np.cos(X) * 2, 1e-5)
        message = "must be the axes that types say divide the mapped axis, got ('y',)"
        with pytest.raises(ValueError, match=re.escape(message)):
            olympus.vmap(f, spmd_axis_name="y")(x)


def test_bad_names_and_sizes():
    f = map_rows(lambda x, w: x * w)
    for g in (f, olympus.jit(f)):
        with pytest.raises(ValueError, match=r"one of \('x', 'y'\), got 'rows'"):
            olympus.vmap(g, (0, None), spmd_axis_name="rows")(X, W)
        with pytest.raises(ValueError, match="'y' cannot appear in in_specs"):
            olympus.vmap(g, (0, None), spmd_axis_name="y")(X, W)
        with pytest.raises(
            ValueError, match=r"the 4 devices along.*got 6; pad it by 2"
        ):
            olympus.vmap(g, (0, None), spmd_axis_name="x")(X[:6], W)


def test_an_axis_of_the_program_around():
    inner = map_rows(lambda x, w: x * w, axis_names={"y"})

    def f(x):
        return olympus.vmap(inner, (0, None), spmd_axis_name="x")(x, W)

    g = map_rows(f, in_specs=P(), out_specs=P(), axis_names={"x"})
    with pytest.raises(ValueError, match="'x' is an axis along which the program"):
        g(X)


@pytest.mark.parametrize("reduce", [lax.psum, lax.pmean, lax.pmax, lax.pmin])
def test_reductions_over_a_name_of_the_mesh_and_of_the_elements_are_refused(reduce):
    summed = map_rows(
        lambda x, w: reduce(x, "y"), out_specs=P(), axis_names={"y"}, check_vma=True
    )
    pattern = "vmap axis_name: 'y' is also the name of an axis of the mesh"
    for f in (summed, olympus.jit(summed)):
        with pytest.raises(ValueError, match=pattern):
            olympus.vmap(f, (0, None), axis_name="y")(X, W)
    np.testing.assert_allclose(
        olympus.vmap(summed, (0, None), axis_name="rows")(X, W),
        olympus.lax.map(lambda x: summed(x, W), X),
        rtol=1e-6,
    )
