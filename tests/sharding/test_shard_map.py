"""Programs for one device of a mesh: values, types, derivatives and errors."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import NamedSharding, PartitionSpec
from tests.sharding.meshes import divide, entries, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.arange(32.0, dtype=np.float32).reshape(8, 4) / 7
W = np.float32(1.5)


def map_parts(f, in_specs, out_specs, **options):
    return olympus.shard_map(
        f, mesh=mesh(4, 2), in_specs=in_specs, out_specs=out_specs, **options
    )


def blocks(x):
    """What the devices of a row and a column of the mesh have of `P('x', 'y')`."""
    return x.reshape(4, 2, 2, 2).transpose(0, 2, 1, 3)


def tile(parts):
    """The array of which `P('x', 'y')` gives devices these parts."""
    a, b, c, d = parts.shape
    return parts.transpose(0, 2, 1, 3).reshape(a * c, b * d)


# -- collectives -----------------------------------------------------------------------

B = blocks(X)
COLLECTIVES = {
    "psum": (lambda x: lax.psum(x, "x"), B.sum(0), P(None, "y")),
    "psum of both": (lambda x: lax.psum(x, ("x", "y")), B.sum((0, 1)), P()),
    "pmean": (lambda x: lax.pmean(x, "y"), B.mean(1), P("x")),
    "pmax": (lambda x: lax.pmax(x, "x"), B.max(0), P(None, "y")),
    "pmin": (lambda x: lax.pmin(x, ("x", "y")), B.min((0, 1)), P()),
    "psum of a number": (lambda x: x * lax.psum(1, "x"), X * 4, P("x", "y")),
}


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_reductions(name, check_vma):
    f, want, spec = COLLECTIVES[name]
    if want.ndim == 3:  # one block for each device along the axis that is left
        want = np.concatenate(list(want), 1 if spec == P(None, "y") else 0)
    g = map_parts(f, P("x", "y"), spec, check_vma=check_vma)
    np.testing.assert_allclose(g(X), want, 1e-6)
    np.testing.assert_allclose(olympus.jit(g)(divide(X, "x", "y")), want, 1e-6)


def rotate(x, k):
    return np.roll(x.reshape(4, 2, 4), k, 0).reshape(8, 4)


EXCHANGES = {
    "all_gather": (
        lambda x: lax.all_gather(x, "x", tiled=True),
        np.tile(X, (4, 1)),
    ),
    "all_gather, new axis": (
        lambda x: lax.all_gather(x, "x").sum(0),
        np.tile(X.reshape(4, 2, 4).sum(0), (4, 1)),
    ),
    "psum_scatter": (
        lambda x: lax.psum_scatter(jnp.tile(x, (4, 1)), "x", tiled=True),
        np.tile(X.reshape(4, 2, 4).sum(0), (4, 1)),
    ),
    "ppermute": (
        lambda x: lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]),
        rotate(X, 1),
    ),
    "ppermute to some": (
        lambda x: lax.ppermute(x, "x", [(0, 3)]),
        np.concatenate([np.zeros((6, 4)), X[:2]]),
    ),
    "pshuffle": (lambda x: lax.pshuffle(x, "x", [1, 2, 3, 0]), rotate(X, -1)),
    "pbroadcast": (lambda x: lax.pbroadcast(x, "x", 2), np.tile(X[4:6], (4, 1))),
    "all_to_all": (
        lambda x: lax.all_to_all(x, "x", 1, 0, tiled=True),
        np.concatenate([X[:, i : i + 1] for i in range(4)]),
    ),
    "axis_index": (
        lambda x: x * 0 + lax.axis_index("x"),
        np.repeat(np.arange(4.0), 2)[:, None] + X * 0,
    ),
    "axis_size": (lambda x: x * lax.axis_size(("x", "y")), X * 8),
    "groups": (
        lambda x: lax.psum(x, "x", axis_index_groups=[[0, 3], [1, 2]]),
        np.concatenate([X[:2] + X[6:], X[2:4] + X[4:6]] * 2)[[0, 1, 2, 3, 2, 3, 0, 1]],
    ),
}


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", EXCHANGES)
def test_exchanges(name, check_vma):
    f, want = EXCHANGES[name]
    g = map_parts(f, P("x"), P("x"), check_vma=check_vma)
    np.testing.assert_allclose(g(X), want, 1e-6)


@pytest.mark.parametrize("axes", ["xy", "yx"])
@pytest.mark.parametrize("name", sorted(set(EXCHANGES) - {"axis_size"}))
def test_exchanges_along_some_of_the_axes(name, axes):
    """The compiler divides values along the other axis."""
    f, want = EXCHANGES[name]
    sizes = {"x": 4, "y": 2}
    over = mesh(*[sizes[n] for n in axes], names=axes)
    g = olympus.shard_map(
        f, mesh=over, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    for x in (X, divide(X, None, "y", over=over)):
        np.testing.assert_allclose(olympus.jit(g)(x), want, 1e-6)


@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "bool", "complex64", "uint32"])
def test_reductions_of_every_dtype(dtype):
    x = (np.arange(16).reshape(8, 2) % 3).astype(jnp.dtype(dtype))
    out = map_parts(lambda x: lax.psum(x, "x"), P("x"), P())(x)
    np.testing.assert_array_equal(out, x.reshape(4, 2, 2).sum(0))


def test_several_arrays_and_names():
    def f(tree, y):
        gathered = lax.all_gather(y, ("x", "y"), tiled=True, to="invarying")
        return lax.psum(tree, ("x", "y")), gathered

    g = map_parts(f, ({"a": P("x"), "b": P(None, "y")}, P(("x", "y"))), P())
    total, gathered = g({"a": X, "b": X}, X)
    np.testing.assert_allclose(total["a"], X.reshape(4, 2, 4).sum(0) * 2, 1e-6)
    np.testing.assert_allclose(total["b"], (X[:, :2] + X[:, 2:]) * 4, 1e-6)
    np.testing.assert_array_equal(gathered, X)


# -- types -----------------------------------------------------------------------------


def test_types_say_what_varies():
    seen = []

    def f(x, w):
        y = x * w
        seen.extend(map(olympus.typeof, (x, w, y, lax.psum(y, "x"))))
        seen.append(olympus.typeof(lax.pcast(w, "y", to="varying")))
        seen.append(olympus.typeof(lax.all_gather(x, "x", to="invarying")))
        return y

    map_parts(f, (P("x", "y"), P()), P("x", "y"))(X, W)
    assert [aval.short() for aval in seen] == [
        "f32[2,2]{V:(x,y)}",
        "f32[]",
        "f32[2,2]{V:(x,y)}",
        "f32[2,2]{V:y}",
        "f32[]{V:y}",
        "f32[4,2,2]{V:y}",
    ]


def test_results_that_vary_are_not_hidden():
    with pytest.raises(ValueError, match=r"out_specs of result\['a'\] of .*along 'x'"):
        map_parts(lambda x: {"a": x}, P("x"), P())(X)
    loose = map_parts(lambda x: x, P("x"), P(), check_vma=False)(X)
    np.testing.assert_array_equal(loose, X[:2])


def test_loops_and_branches_take_the_types_they_need():
    def f(x):
        total, _ = lax.scan(lambda c, r: (c + r, None), jnp.zeros(4), x)
        last, _ = lax.scan(lambda c, r: (jnp.ones(4), None), x[0], x)
        n = lax.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + x[0]), (0, last)
        )
        y = lax.cond(x[0, 0] > 1, lambda: total, lambda: jnp.zeros(4))
        z = lax.fori_loop(0, 2, lambda i, c: c + x[i], jnp.zeros(4))
        return (total + n[1] + y + z)[None]

    want = []
    for part in X.reshape(4, 2, 4):
        total = part.sum(0)
        want.append(total + 1 + 3 * part[0] + (total if part[0, 0] > 1 else 0) + total)
    np.testing.assert_allclose(map_parts(f, P("x"), P("x"))(X), want, 1e-6)


# -- transformations -------------------------------------------------------------------


def loss(check_vma):
    def f(x, w):
        y = jnp.tanh(x * w)
        total = lax.psum((y**2).sum(), ("x", "y"))
        return total * lax.pmean(w, "x") if check_vma else total * w

    return map_parts(f, (P("x", "y"), P()), P(), check_vma=check_vma)


def plain(x, w):
    return (jnp.tanh(x * w) ** 2).sum() * w


@pytest.mark.parametrize("check_vma", [True, False])
def test_derivatives(check_vma):
    f = loss(check_vma)
    for g, h in (
        (olympus.grad(f, (0, 1)), olympus.grad(plain, (0, 1))),
        (olympus.jit(olympus.grad(f, (0, 1))), olympus.grad(plain, (0, 1))),
        (olympus.jacfwd(f, 1), olympus.jacfwd(plain, 1)),
        (olympus.hessian(f, 1), olympus.hessian(plain, 1)),
    ):
        got, want = (olympus.tree.leaves(k(X, W)) for k in (g, h))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, 2e-4, 2e-4)


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("name", [*EXCHANGES])
def test_derivatives_of_exchanges(name, check_vma):
    f, _ = EXCHANGES[name]
    g = map_parts(lambda x: jnp.sin(f(x * x)), P("x"), P("x"), check_vma=check_vma)
    rng = np.random.default_rng(0)
    t = rng.normal(size=X.shape).astype(np.float32)
    out, tangent = olympus.jvp(g, (X,), (t,))
    ct = rng.normal(size=out.shape).astype(np.float32)
    (back,) = olympus.vjp(g, X)[1](ct)
    np.testing.assert_allclose((back * t).sum(), (tangent * ct).sum(), 1e-3, 1e-3)


def test_derivatives_of_gathered_values():
    def f(x):
        whole = lax.all_gather(x, ("x", "y"), tiled=True, to="invarying")
        new = lax.all_gather(x, ("x", "y"), axis=1, to="invarying")
        return jnp.sin(whole), new

    g = map_parts(f, P(("x", "y")), P())
    t = np.random.default_rng(0).normal(size=X.shape).astype(np.float32)
    (whole, new), (dw, dn) = olympus.jvp(g, (X,), (t,))
    np.testing.assert_allclose(dw, np.cos(X) * t, 1e-4, 1e-5)
    np.testing.assert_allclose(new, X.reshape(8, 1, 4).swapaxes(0, 1), 1e-6)
    (back,) = olympus.vjp(g, X)[1]((whole, new))
    want = np.cos(X) * np.asarray(whole) + X
    np.testing.assert_allclose(back, want, 1e-4, 1e-5)
    assert dn.shape == (1, 8, 4)


# What a function inside of another one does along the outer one's axis `x`, whose
# devices have halves of the rows; and the same for all rows.
ALONG_OUTER = {
    "sum": (lambda q: q - lax.psum(q, "x"), lambda h: h - h.sum(0)),
    "mean": (
        lambda q: jnp.sin(lax.pmean(q, "x") * q),
        lambda h: jnp.sin(h.mean(0) * h),
    ),
    "gather": (
        lambda q: q * lax.psum(lax.all_gather(q, "x")[0], "x"),
        lambda h: h * 2 * h[0],
    ),
    "index": (
        lambda q: q * lax.axis_index("x"),
        lambda h: h * np.arange(2)[:, None, None],
    ),
    "permutation": (
        lambda q: q * lax.ppermute(q, "x", [(0, 1), (1, 0)]),
        lambda h: h * h[::-1],
    ),
}


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("name", ALONG_OUTER)
def test_collectives_along_axes_of_the_function_around(name, levels):
    part, whole = ALONG_OUTER[name]
    over = mesh(2, 2, 2)
    inner = part
    for axis in "zy"[: levels - 1] if levels == 3 else "y":
        inner = olympus.shard_map(
            inner, in_specs=P(axis), out_specs=P(axis), axis_names={axis}
        )
    f = olympus.shard_map(
        inner, mesh=over, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )

    def plain(x):
        return whole(x.reshape(2, 4, 4)).reshape(8, 4)

    for run in (lambda f: f, olympus.jit):
        np.testing.assert_allclose(run(f)(X), plain(X), 1e-5, 1e-5)
        got = run(olympus.grad(lambda x: (f(x) ** 2).sum()))(X)
        want = olympus.grad(lambda x: (plain(x) ** 2).sum())(X)
        np.testing.assert_allclose(got, want, 1e-4, 1e-4)
        got = run(lambda x: olympus.jvp(f, (x,), (jnp.cos(x),)))(X)[1]
        want = olympus.jvp(plain, (X,), (np.cos(X),))[1]
        np.testing.assert_allclose(got, want, 1e-4, 1e-4)


def test_the_innermost_of_three_takes_the_axes_that_are_left():
    def innermost(x):
        return x - lax.psum(x, ("x", "y", "z"))

    f = olympus.shard_map(innermost, in_specs=P("z"), out_specs=P("z"))
    f = olympus.shard_map(f, in_specs=P("y"), out_specs=P("y"), axis_names={"y"})
    f = olympus.shard_map(
        f, mesh=mesh(2, 2, 2), in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    want = X.reshape(8, 1, 4) - X.reshape(8, 1, 4).sum(0)
    np.testing.assert_allclose(olympus.jit(f)(X), want.reshape(8, 4), 1e-5)


RESIDUALS = {
    "arrays": lambda x, w: jnp.tanh(x * w) * jnp.sin(x),
    "a number": lambda x, w: x * jnp.sin((x * w).sum()),
    "a number and arrays": lambda x, w: jnp.tanh(x) * jnp.sin((x * w).mean() * x),
    "nothing": lambda x, w: x + w,
    "no elements": lambda x, w: x * w + jnp.tanh(x[:0] * w).sum(),
    "booleans": lambda x, w: jnp.where(x > w, jnp.sin(x), w * x),
}


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("spec", [P("x", "y"), P("y"), P()], ids=str)
@pytest.mark.parametrize("name", RESIDUALS)
def test_what_devices_keep_for_derivatives(name, spec, check_vma):
    f = RESIDUALS[name]
    g = map_parts(f, (spec, P()), spec, check_vma=check_vma)
    n_x, n_y = NamedSharding(mesh(4, 2), spec).shard_shape(X.shape)

    def by_parts(x, w):
        rows = [f(x[i : i + n_x, j : j + n_y], w)
                for i in range(0, 8, n_x) for j in range(0, 4, n_y)]  # fmt: skip
        return sum((row**2).sum() for row in rows)

    def loss(x, w):
        return (g(x, w) ** 2).sum()

    for order in (olympus.grad, lambda h, k: olympus.jit(olympus.grad(h, k))):
        for argument in (0, 1):
            got = order(loss, argument)(X, W)
            want = olympus.grad(by_parts, argument)(X, W)
            np.testing.assert_allclose(got, want, 2e-4, 2e-4)
    slopes = olympus.jvp(olympus.grad(loss), (X, W), (X, W))[1]
    want = olympus.jvp(olympus.grad(by_parts), (X, W), (X, W))[1]
    np.testing.assert_allclose(slopes, want, 2e-3, 2e-3)


def test_arrays_are_kept_as_they_are():
    f = map_parts(lambda x: jnp.sin(jnp.sin(x)), P("x", "y"), P("x", "y"))
    text = str(olympus.make_olympuspr(olympus.grad(lambda x: f(x).sum()))(X))
    assert "squeeze" not in text
    assert "reshape" not in text


def test_gradients_inside_of_the_function():
    """The cotangents that devices have of one value are summed."""

    def f(x, w):
        return olympus.grad(lambda w: (x * w).sum())(w)

    total = map_parts(f, (P("x", "y"), P()), P())(X, W)
    np.testing.assert_allclose(total, X.sum(), 1e-6)
    per_device = map_parts(
        lambda x, w: f(x, lax.pcast(w, ("x", "y"), to="varying"))[None, None],
        (P("x", "y"), P()),
        P("x", "y"),
    )
    np.testing.assert_allclose(per_device(X, W), B.sum((2, 3)), 1e-6)


def test_custom_rules_remat_and_jit_inside():
    @olympus.custom_vjp
    def double(x):
        return 2 * x

    double.defvjp(lambda x: (double(x), None), lambda _, ct: (3 * ct,))

    def f(x, w):
        y = olympus.checkpoint(lambda x: jnp.sin(double(x)))(x)
        return lax.psum(olympus.jit(lambda y: (y * w).sum())(y), ("x", "y"))

    g = olympus.grad(map_parts(f, (P("x", "y"), P()), P()), (0, 1))
    gx, gw = g(X, W)
    np.testing.assert_allclose(gx, 3 * W * np.cos(2 * X), 1e-4, 1e-4)
    np.testing.assert_allclose(gw, np.sin(2 * X).sum(), 1e-4)


def along_x(f, in_spec, out_spec, check_vma=True):
    return olympus.shard_map(
        f, mesh=mesh(4), in_specs=in_spec, out_specs=out_spec, check_vma=check_vma
    )


def test_tangents_of_rules_that_are_the_same_on_all_devices():
    """They are of values that differ, so their transpose sums."""
    rule = olympus.custom_jvp(jnp.sin)
    rule.defjvp(lambda p, t: (jnp.sin(*p), 3 * lax.psum(*t, "x")))
    x = np.arange(8, dtype="float32").reshape(4, 2)
    weights = np.arange(1, 9, dtype="float32").reshape(4, 2)
    for check_vma in (True, False):
        f = along_x(rule, P("x"), P("x"), check_vma)
        _, slope = olympus.jvp(f, (x,), (weights,))
        np.testing.assert_allclose(slope, [3 * weights.sum(0)] * 4)
        grads = olympus.grad(lambda x: (f(x) * weights).sum())(x)  # noqa: B023
        np.testing.assert_allclose(grads, [3 * weights.sum(0)] * 4)


def test_rules_that_tell_devices_apart():
    index = lambda: 1.0 + lax.axis_index("x")  # noqa: E731
    backward = olympus.custom_vjp(jnp.sin)
    backward.defvjp(lambda x: (jnp.sin(x), None), lambda _, ct: (ct * index(),))
    forward = olympus.custom_jvp(jnp.sin)
    forward.defjvp(lambda p, t: (jnp.sin(*p), t[0] * index()))
    x = np.ones(2, "float32")
    for rule in (backward, forward):
        f = along_x(rule, P(), P())
        with pytest.raises(
            TypeError, match="must be the same on all devices along 'x'"
        ):
            olympus.grad(lambda x: f(x).sum())(x)  # noqa: B023
        f = along_x(rule, P(), P(), check_vma=False)  # where the devices' mean counts
        np.testing.assert_allclose(olympus.grad(lambda x: f(x).sum())(x), [2.5, 2.5])  # noqa: B023
        np.testing.assert_allclose(
            along_x(rule, P("x"), P("x"))(x.repeat(2)), np.sin(1)
        )


def test_cotangents_of_one_value_must_be_summed():
    rule = olympus.custom_vjp(jnp.multiply)
    rule.defvjp(lambda w, x: (w * x, None), lambda _, ct: (2 * ct.sum(0), 3 * ct))
    f = along_x(rule, (P(), P("x")), P("x"))
    x = np.ones((4, 2), "float32")
    with pytest.raises(
        TypeError, match=r"sum it in the rule, with lax.psum\(..., 'x'\)"
    ):
        olympus.grad(lambda w: f(w, x).sum())(x[0])


def test_vmap():
    xs = np.stack([X, X + 1, X * 2])
    f = map_parts(lambda x, w: lax.psum(x * w, "x"), (P("x"), P()), P())
    got = olympus.vmap(f, in_axes=(0, None))(xs, W)
    np.testing.assert_allclose(got, xs.reshape(3, 4, 2, 4).sum(1) * W, 1e-6)
    got = olympus.vmap(f, in_axes=(1, 0), out_axes=1)(xs.swapaxes(0, 1), np.ones(3))
    np.testing.assert_allclose(got, xs.reshape(3, 4, 2, 4).sum(1).swapaxes(0, 1), 1e-6)


def test_in_loops_around():
    f = map_parts(lambda x: x + lax.pmean(x, "x"), P("x"), P("x"))

    def step(c, _):
        return f(c), f(c).sum()

    out, sums = olympus.jit(lambda x: lax.scan(step, x, None, length=3))(X)
    want = X
    for k in range(3):
        want = want + np.tile(want.reshape(4, 2, 4).mean(0), (4, 1))
        np.testing.assert_allclose(sums[k], want.sum(), 1e-4)
    np.testing.assert_allclose(out, want, 1e-4)


def test_some_axes_only():
    f = map_parts(lambda x: lax.psum(x @ x.T, "x"), P("x"), P(), axis_names={"x"})
    want = sum(p @ p.T for p in X.reshape(4, 2, 4))
    np.testing.assert_allclose(olympus.jit(f)(divide(X, "x", "y")), want, 1e-5)


def test_what_the_function_closes_over():
    table = jnp.asarray(X[0])
    f = map_parts(lambda x: x + table, P("x"), P("x"))
    np.testing.assert_allclose(f(X), X + X[0])
    g = olympus.grad(
        lambda t: map_parts(lambda x: lax.psum((x * t).sum(), "x"), P("x"), P())(X)
    )
    np.testing.assert_allclose(g(table), X.sum(0), 1e-5)


def test_the_mesh_and_specs_that_are_not_given():
    x = divide(X, "x")
    with olympus.set_mesh(mesh(4, 2)):
        out = olympus.shard_map(lambda x: lax.psum(x, "x"), out_specs=P())(x)
    np.testing.assert_allclose(out, X.reshape(4, 2, 4).sum(0), 1e-6)

    @olympus.shard_map(mesh=mesh(8), in_specs=P("x"), out_specs=P("x"))
    def f(x):
        """Adds one."""
        return x + 1

    assert f.__name__ == "f"
    assert f.__doc__ == "Adds one."
    assert entries(f(X)) == ("x",)


def test_random_numbers_in_parts():
    keys = olympus.random.split(olympus.random.key(0), 8)
    f = olympus.shard_map(
        lambda k: olympus.random.bits(k[0])[None],
        mesh=mesh(8),
        in_specs=P("x"),
        out_specs=P("x"),
    )
    np.testing.assert_array_equal(f(keys), olympus.vmap(olympus.random.bits)(keys))


def test_collectives_in_branches_that_devices_choose_differently():
    """They would wait for each other forever."""

    def f(x, w):
        y = lax.cond(x[0, 0] > 1, lambda: x.sum() * w, lambda: x.sum())
        return lax.psum(y, ("x", "y"))

    g = map_parts(f, (P("x", "y"), P()), P())
    want = sum(p.sum() * (W if p[0, 0] > 1 else 1) for row in B for p in row)
    np.testing.assert_allclose(g(X, W), want, 1e-5)
    with pytest.raises(ValueError, match="each other forever"):
        olympus.grad(g, 1)(X, W)

    def cast(x, w):
        return f(x, lax.pcast(w, ("x", "y"), to="varying"))

    slope = olympus.grad(map_parts(cast, (P("x", "y"), P()), P()), 1)(X, W)
    want = sum(p.sum() for row in B for p in row if p[0, 0] > 1)
    np.testing.assert_allclose(slope, want, 1e-5)


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: map_parts(len, P("z"), P()), ValueError, "one of \\('x', 'y'\\)"),
        (lambda: map_parts(len, P("x", "x"), P()), ValueError, "more than once"),
        (lambda: map_parts(len, "x", P()), TypeError, "in_specs: must be a tree of"),
        (lambda: map_parts(3, P(), P()), TypeError, "shard_map"),
        (
            lambda: map_parts(lambda x: x, P("x"), P("x"), axis_names={"y"}),
            ValueError,
            "must name axes of axis_names",
        ),
        (
            lambda: map_parts(lambda x: x, P("x", None, None), P("x"))(X),
            ValueError,
            "in_specs of x: .* at most one entry",
        ),
        (
            lambda: map_parts(lambda x: x, P("x"), P("x"))(np.ones(10)),
            ValueError,
            "in_specs of x: .* pad it by 2",
        ),
        (
            lambda: map_parts(lambda x: x.sum(), P("x"), P("x"))(X),
            ValueError,
            "out_specs of result: .* at most one entry",
        ),
        (
            lambda: map_parts(lambda x, y: x, (P(), P(), P()), P())(X, X),
            ValueError,
            "in_specs",
        ),
        (
            lambda: map_parts(lambda x: lax.psum(x, "z"), P("x"), P("x"))(X),
            NameError,
            "unbound axis name: z",
        ),
        (
            lambda: olympus.shard_map(lambda x: x, in_specs=P(), out_specs=P())(X),
            ValueError,
            "a mesh with devices is required",
        ),
    ],
)
def test_wrong_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_arguments_on_other_devices():
    x = olympus.device_put(X, NamedSharding(mesh(2), P("x")))
    with pytest.raises(ValueError, match="incompatible devices"):
        map_parts(lambda x: x, P("x"), P("x"))(x)


def test_programs_over_a_mesh_without_devices_are_traced_only():
    over = olympus.sharding.AbstractMesh(
        (4, 2), ("x", "y"), olympus.sharding.AxisType.Auto
    )
    f = olympus.shard_map(
        lambda x: lax.psum(x, "y"), mesh=over, in_specs=P("x", "y"), out_specs=P("x")
    )
    assert olympus.eval_shape(f, X).shape == (8, 2)
    assert "psum" in str(olympus.make_olympuspr(olympus.grad(lambda x: f(x).sum()))(X))
    for call in (f, olympus.jit(f), olympus.jit(f).lower, olympus.grad(f)):
        with pytest.raises(ValueError, match="a mesh with devices is required"):
            call(X)
    with olympus.set_mesh(mesh(4, 2)):
        np.testing.assert_allclose(olympus.jit(f)(X), X[:, :2] + X[:, 2:], 1e-6)


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("size", [4, 512])
def test_constants_of_derivative_rules(size, check):
    """Those of a rule are constants of the program that a transformation makes."""
    table = np.arange(1.0, size + 1, dtype=np.float32)
    picks = np.arange(size)[::-1].copy()

    f = olympus.custom_jvp(lambda x: x * x)

    def slope(x, t):
        return (t * table * x + t[..., picks]) * jnp.asarray(table)

    f.defjvp(lambda xs, ts: (f(*xs), slope(*xs, *ts)))
    x = np.linspace(0, 1, 4 * size, dtype=np.float32).reshape(4, size)
    mapped = olympus.shard_map(
        f, mesh=mesh(4), in_specs=P("x"), out_specs=P("x"), check_vma=check
    )
    for transform in (
        lambda g: lambda x: olympus.jvp(g, (x,), (x,))[1],
        lambda g: olympus.grad(lambda x: g(x).sum()),
        lambda g: olympus.grad(lambda x: olympus.jvp(g, (x,), (x,))[1].sum()),
        lambda g: lambda x: olympus.vmap(olympus.grad(lambda x: g(x).sum()))(x[None]),
    ):
        for wrap in (lambda h: h, olympus.jit):
            actual = wrap(transform(mapped))(x)
            np.testing.assert_allclose(actual, transform(f)(x), rtol=1e-5)


def double_rows(x):
    return olympus.shard_map(
        lambda x: x * lax.psum(1.0, "y"),
        in_specs=P(None, "y"),
        out_specs=P(None, "y"),
        axis_names={"y"},
    )(x)


NAMED_INSIDE = {
    "a program inside": (double_rows, lambda x: 2 * x),
    "a program in a loop": (
        lambda x: lax.fori_loop(0, 2, lambda i, x: double_rows(x), x), lambda x: 4 * x
    ),
    "a constraint": (
        lambda x: lax.with_sharding_constraint(x * 3, P(None, "y")), lambda x: 3 * x
    ),
    "the axes": (
        lambda x: x * len(olympus.sharding.get_abstract_mesh().axis_names),
        lambda x: 2 * x,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED_INSIDE)
def test_the_mesh_names_axes_inside(name):
    """No mesh is set: specs inside are of the mesh of the program around."""
    f, want = NAMED_INSIDE[name]
    g = olympus.shard_map(
        f, mesh=mesh(4, 2), in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
    )
    x = np.arange(32, dtype="float32").reshape(8, 4)
    for transform in (lambda h: h, olympus.jit):
        np.testing.assert_allclose(transform(g)(x), want(x))
        slope = transform(olympus.grad(lambda x: (g(x) * x).sum()))(x)
        np.testing.assert_allclose(slope, 2 * want(x))
    assert olympus.sharding.get_mesh().empty
