"""Derivatives, `vmap`, loops and `shard_map` over explicit axes, and nested ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.errors import ShardingTypeError
from olympus.sharding import (
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    auto_axes,
    explicit_axes,
)
from tests.sharding.meshes import mesh as automatic_mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
RNG = np.random.default_rng(0)
A = RNG.normal(size=(8, 4)).astype(np.float32)
W = RNG.normal(size=(4, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def mesh():
    return olympus.make_mesh((4, 2), ("x", "y"))


@pytest.fixture(scope="module")
def one():
    """A mesh of one device with axes of the same names."""
    return olympus.make_mesh((1, 1), ("x", "y"))


def put_on(mesh, x, *entries):
    return olympus.device_put(x, NamedSharding(mesh, P(*entries)))


def put(x, *entries):
    return olympus.device_put(np.asarray(x), P(*entries))


def network(params, x):
    hidden = jnp.tanh(x @ params["w"] + params["b"])
    hidden = olympus.reshard(hidden, P("x", None))
    return ((hidden @ params["out"]) ** 2).mean()


@olympus.custom_vjp
def sine_product(x, y):
    return jnp.sin(x) * y


sine_product.defvjp(
    lambda x, y: (sine_product(x, y), (x, y)),
    lambda r, ct: (jnp.cos(r[0]) * r[1] * ct, jnp.sin(r[0]) * ct),
)


def attention(q):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, q)
    return jnp.einsum("bhqk,bkhd->bqhd", olympus.nn.softmax(scores), q)


def grad_of_rows(f):
    return olympus.vmap(olympus.grad(lambda r: f(r).sum()))


def total(f, **options):
    return olympus.grad(lambda *xs: f(*xs).sum(), **options)


def embedding(table, ids):
    return (table.at[ids].get(out_sharding=P("x", "y")) ** 2).sum()


def partly_manual(x):
    return jnp.sin(x).sum(1) * lax.psum(x.sum(), "x")


# A function, and what divides each argument; types of the results.
CASES = {
    "network": (
        olympus.value_and_grad(network),
        lambda: (
            {"w": put(W, None, "y"), "b": put(W[0], "y"), "out": put(A)},
            put(A, "x"),
        ),
        "f32[] f32[8@y] f32[8,4] f32[4,8@y]",
    ),
    "gradient of a vmap of products": (
        olympus.grad(
            lambda w, x: olympus.vmap(lambda r: jnp.tanh(r @ w).sum())(x).sum()
        ),
        lambda: (put(W, None, "y"), put(A, "x")),
        "f32[4,8@y]",
    ),
    "gradient of a scan": (
        olympus.grad(
            lambda w, x: lax.scan(lambda c, r: (jnp.sin(c * r), c.sum()), w, x)[1].sum()
        ),
        lambda: (put(W[:, 0], "y"), put(A, None, "y")),
        "f32[4@y]",
    ),
    "checkpoint in a scan": (
        total(
            lambda x: lax.scan(
                lambda c, _: (olympus.checkpoint(lambda c: jnp.sin(c) * c)(c), None),
                x,
                None,
                length=3,
            )[0]
        ),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y]",
    ),
    "custom_vjp": (
        total(lambda x: sine_product(x, x * 2)),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y]",
    ),
    "hessian": (
        olympus.hessian(lambda x: (jnp.sin(x) * x).sum()),
        lambda: (put(A[0], "y"),),
        "f32[4@y,4]",
    ),
    "cond in two vmaps": (
        olympus.vmap(
            olympus.vmap(lambda e: lax.cond(e > 0, lambda e: 2 * e, lambda e: -e, e))
        ),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y]",
    ),
    "scan in a vmap": (
        olympus.vmap(lambda r: lax.scan(lambda c, e: (c + e, c * e), 0.0, r)),
        lambda: (put(A, "x"),),
        "f32[8@x] f32[8@x,4]",
    ),
    "auto_axes in a vmap of a gradient": (
        grad_of_rows(auto_axes(lambda r: jnp.cumsum(r) * r, out_sharding=P("y"))),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y]",
    ),
    "cumsum in a vmap of a gradient": (
        grad_of_rows(lambda r: jnp.cumsum(jnp.sin(r))),
        lambda: (put(A, "x"),),
        "f32[8@x,4]",
    ),
    "attention": (
        olympus.value_and_grad(lambda q: (attention(q) ** 2).sum()),
        lambda: (put(np.arange(384.0).reshape(4, 6, 2, 8) / 99, "x", None, "y", None),),
        "f32[] f32[4@x,6,2@y,8]",
    ),
    "embedding": (
        olympus.grad(embedding),
        lambda: (put(A, None, "y"), put(np.arange(8) % 5, "x")),
        "f32[8,4@y]",
    ),
    "elements in the order of others": (
        total(
            lambda x: jnp.take_along_axis(x, jnp.argsort(jnp.abs(x), axis=1), axis=1)
        ),
        lambda: (put(A, "x"),),
        "f32[8@x,4]",
    ),
    "both operands of a product": (
        lambda x, w: olympus.vjp(
            lambda x, w: jnp.matmul(x, w, out_sharding=P("x", None)), x, w
        )[1](put(A @ W, "x")),
        lambda: (put(A, "x", "y"), put(W, "y", None)),
        "f32[8@x,4@y] f32[4@y,8]",
    ),
    "out_sharding in a vmap": (
        olympus.grad(
            lambda w, x: olympus.vmap(lambda a: jnp.matmul(a, w, out_sharding=P()))(
                x
            ).sum()
        ),
        lambda: (put(W, "y", None), put(np.stack([A] * 4), "x", None, "y")),
        "f32[4@y,8]",
    ),
    "jvp of a loop": (
        lambda x: olympus.jvp(
            lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) + x, x), (x,), (x,)
        ),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y] f32[8@x,4@y]",
    ),
    "convolution": (
        total(lambda k, x: lax.conv(x, k, (1, 1), "SAME") ** 2, argnums=(0, 1)),
        lambda: (
            put(np.ones((2, 3, 3, 3), np.float32)),
            put(np.arange(864.0).reshape(8, 3, 6, 6) / 500, "x"),
        ),
        "f32[2,3,3,3] f32[8@x,3,6,6]",
    ),
    "partly manual": (
        total(
            lambda x: olympus.shard_map(
                partly_manual, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}
            )(jnp.cos(x))
        ),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y]",
    ),
    "auto_axes in a partly manual program": (
        olympus.shard_map(
            auto_axes(lambda x: jnp.sort(x, 1), axes="y", out_sharding=P(None, "y")),
            in_specs=P("x"),
            out_specs=P("x"),
            axis_names={"x"},
        ),
        lambda: (put(A, "x", "y"),),
        "f32[8@x,4@y]",
    ),
    "reduced factor": (
        lambda w, x: olympus.reshard(
            olympus.grad(lambda w: jnp.sin(x @ w).sum())(w), P()
        ),
        lambda: (
            olympus.reshard(put(W), P(None, None, reduced={"x"})),
            put(A, "x"),
        ),
        "f32[4,8]",
    ),
    "reduced factor in a scan": (
        lambda w, x: olympus.reshard(
            olympus.grad(
                lambda w: lax.scan(
                    lambda c, _: (jnp.sin(c @ w), None), x, None, length=2
                )[0].sum()
            )(w),
            P(),
        ),
        lambda: (
            olympus.reshard(put(W[:, :4]), P(None, None, reduced={"x"})),
            put(A, "x"),
        ),
        "f32[4,4]",
    ),
}
QUICK = ("network", "auto_axes in a vmap of a gradient", "partly manual")
NAMES = [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_values_and_types(name, mesh, one):
    f, arguments, types = CASES[name]
    with olympus.set_mesh(mesh):
        outs = olympus.tree.leaves(olympus.jit(f)(*arguments()))
    assert " ".join([olympus.typeof(x).short() for x in outs]) == types
    with olympus.set_mesh(one):
        expected = olympus.tree.leaves(olympus.jit(f)(*arguments()))
    for x, y in zip(outs, expected, strict=True):
        np.testing.assert_allclose(x, y, 1e-3, 1e-4)


COLLECTIVES = {
    "psum": (lambda x: lax.psum(jnp.sin(x), "x"), P(), "f32[2,4@y]"),
    "pmax": (lambda x: lax.pmax(x, "x"), P(), "f32[2,4@y]"),
    "all_gather": (lambda x: lax.all_gather(x, "x"), P(None, "x"), "f32[4,8@x,4@y]"),
    "psum_scatter": (
        lambda x: lax.psum_scatter(jnp.tile(x, (2, 1)), "x", tiled=True),
        P("x"),
        "f32[4@x,4@y]",
    ),
    "ppermute": (
        lambda x: lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]),
        P("x"),
        "f32[8@x,4@y]",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives_keep_the_entries_of_explicit_axes(name, mesh):
    f, out_specs, expected = COLLECTIVES[name]
    manual = {"in_specs": P("x"), "out_specs": out_specs, "axis_names": {"x"}}
    with olympus.set_mesh(mesh):
        out = olympus.jit(olympus.shard_map(f, **manual))(put(A, "x", "y"))
    assert olympus.typeof(out).short() == expected
    with olympus.set_mesh(automatic_mesh(4, 2)):
        plain = olympus.jit(olympus.shard_map(f, **manual))(A)
    np.testing.assert_allclose(out, plain, 1e-5, 1e-6)


# -- sums that are still to be taken ---------------------------------------------------

SUM = P("x", None, unreduced={"y"})
LINEAR = {
    "add": lambda u: u + u,
    "subtract": lambda u: u - 3.0 * u,
    "negative": lambda u: -u,
    "transpose": lambda u: u.T,
    "sum": lambda u: u.sum(0),
    "sum of all": lambda u: u.sum() * 2.0,
    "reshape": lambda u: u.reshape(8, 2, 4),
    "slice": lambda u: u[:4, 1:3],
    "broadcast": lambda u: jnp.broadcast_to(u[:, :, None], (8, 8, 3)),
    "concatenate": lambda u: jnp.concatenate([u, u * 2.0], 0),
    "stack": lambda u: jnp.stack([u, u]),
    "unstack": lambda u: jnp.unstack(u, axis=1)[2],
    "where": lambda u: jnp.where(jnp.arange(8) > 3, u, u * 2.0),
    "dynamic slice": lambda u: lax.dynamic_slice(u, (jnp.int32(2), 1), (4, 3)),
    "loop": lambda u: lax.fori_loop(0, 2, lambda i, c: c + c, u),
    "scan": lambda u: lax.scan(lambda c, _: (c + u, None), u, None, length=3)[0],
    "outputs of a scan": lambda u: lax.scan(lambda c, _: (c + c, c), u, None, 3)[1],
    "cond": lambda u: lax.cond(u.shape[0] > 3, lambda u: u + u, lambda u: u, u),
    "jit": lambda u: olympus.jit(lambda u: u + u)(u),
    "vmap": lambda u: olympus.vmap(lambda r: r + r, in_axes=1)(u),
}
NOT_LINEAR = {
    "sine": jnp.sin,
    "maximum": lambda u: u.max(),
    "a number added": lambda u: u + 1.0,
    "square": lambda u: u * u,
    "product": lambda u: u @ u,
    "pad": lambda u: jnp.pad(u, ((0, 0), (1, 1))),
    "sort": lambda u: jnp.sort(u, 1),
    "comparison": lambda u: u > 0,
    "integers": lambda u: u.astype(int),
}


def sums():
    return olympus.jit(lambda a, w: jnp.matmul(a, w, out_sharding=SUM))(
        put(A, "x", "y"), put(W, "y", None)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", LINEAR)
def test_linear_operations_pass_on_sums(name, mesh):
    f = LINEAR[name]

    def run(a, w):
        out = f(jnp.matmul(a, w, out_sharding=SUM))
        spec = olympus.typeof(out).sharding.spec
        assert spec.unreduced == {"y"}
        return olympus.reshard(out, P(*spec.partitions))

    with olympus.set_mesh(mesh):
        out = olympus.jit(run)(put(A, "x", "y"), put(W, "y", None))
        passed = olympus.jit(f)(sums())
        taken = olympus.reshard(passed, P())
    expected = f(jnp.asarray(A @ W))
    np.testing.assert_allclose(out, expected, 1e-3, 1e-3)
    np.testing.assert_allclose(taken, expected, 1e-3, 1e-3)


@pytest.mark.parametrize("name", NOT_LINEAR)
def test_other_operations_refuse_sums(name, mesh):
    with olympus.set_mesh(mesh):
        u = sums()
        with pytest.raises(ShardingTypeError, match=r"unreduced|to be summed"):
            olympus.jit(NOT_LINEAR[name]).trace(u)


def test_sums_cannot_be_read_or_moved(mesh):
    with olympus.set_mesh(mesh):
        u = sums()
        with pytest.raises(ValueError, match="still to be taken"):
            np.asarray(u)
        with pytest.raises(ValueError, match="still to be taken"):
            olympus.device_put(u, P("x"))
        np.testing.assert_allclose(olympus.reshard(u, P()), A @ W, 1e-3, 1e-4)


def test_gradients_of_reduced_values_need_no_communication(mesh):
    with olympus.set_mesh(mesh):
        x = put(A, "x")
        w = olympus.reshard(put(W), P(None, None, reduced={"x"}))
        gradient = olympus.jit(olympus.grad(lambda w: jnp.sin(x @ w).sum()))
        assert olympus.typeof(gradient(w)).short() == "f32[4,8]{U:x}"
        assert "all-reduce" not in gradient.lower(w).compile().as_text()


def test_products_leave_their_sum_to_be_taken(mesh):
    with olympus.set_mesh(mesh):
        operands = put(A, "x", "y"), put(W, "y", None)
        f = olympus.jit(
            lambda a, w: (
                jnp.dot(a, w, out_sharding=SUM) + jnp.dot(2 * a, w, out_sharding=SUM)
            )
        )
        assert "all-reduce" not in f.lower(*operands).compile().as_text()
        np.testing.assert_allclose(
            olympus.reshard(f(*operands), P()), 3 * A @ W, 1e-3, 1e-4
        )
        with pytest.raises(ShardingTypeError, match="left to be summed"):
            jnp.matmul(put(A, "x"), operands[1], out_sharding=SUM)


# -- functions with other types of axes ------------------------------------------------


def test_explicit_axes_in_an_automatic_mesh():
    mesh = automatic_mesh(4, 2)
    inner = []

    def f(x):
        inner.append(olympus.typeof(x).short())
        return x.sum(0)

    with olympus.set_mesh(mesh):
        out = explicit_axes(f, in_sharding=P("x", "y"))(A)
    assert inner == ["f32[8@x,4@y]"]
    assert olympus.typeof(out).short() == "f32[4]"
    np.testing.assert_allclose(out, A.sum(0), 1e-5)


def test_results_of_explicit_axes_are_again_the_compilers():
    mesh = automatic_mesh(4, 2)
    double = explicit_axes(lambda x: x * 2, in_sharding=P("x"))
    transpose = explicit_axes(lambda x: x.T, axes="x", in_sharding=P("x"))
    with olympus.set_mesh(mesh):
        for f, spec in [(double, P("x")), (transpose, P(None, "x"))]:
            for out in (f(A), olympus.jit(f)(A), f(put_on(mesh, A, "y"))):
                assert out.sharding.mesh is mesh
                assert out.sharding.is_equivalent_to(NamedSharding(mesh, spec), 2)
        shifted = olympus.jit(lambda x: double(x) + jnp.ones((8, 4)))(A)
        gradient = olympus.jit(olympus.grad(lambda x: (double(x) ** 2).sum()))(A)
    assert shifted.sharding.mesh is gradient.sharding.mesh is mesh
    np.testing.assert_allclose(shifted, A * 2 + 1)
    np.testing.assert_allclose(gradient, A * 8, 1e-5)


def test_auto_axes_needs_a_sharding(mesh):
    with (
        olympus.set_mesh(mesh),
        pytest.raises(TypeError, match="out_sharding must be given"),
    ):
        auto_axes(jnp.sin)(A)


def test_shardings_of_arguments_that_are_described(mesh):
    described = olympus.ShapeDtypeStruct(
        (8, 4), np.float32, sharding=NamedSharding(mesh, P("x"))
    )
    lowered = olympus.jit(lambda x: x.T).lower(described)
    assert lowered.out_info.sharding.spec == P(None, "x")
    shape = olympus.eval_shape(lambda x: x.T * 2, described)
    assert shape.sharding.spec == P(None, "x")
    out = lowered.compile()(olympus.device_put(A, NamedSharding(mesh, P("x"))))
    assert olympus.typeof(out).short() == "f32[4,8@x]"


def test_mapped_axes_must_be_divided_alike(mesh):
    with (
        olympus.set_mesh(mesh),
        pytest.raises(ValueError, match="must be divided alike"),
    ):
        olympus.vmap(jnp.add)(put(A, "x"), put(A, "y"))


@pytest.fixture(scope="module")
def mixed():
    """A mesh with an explicit and an automatic axis."""
    kinds = (AxisType.Explicit, AxisType.Auto)
    return olympus.make_mesh((4, 2), ("x", "y"), kinds)


def test_types_tell_of_the_explicit_axes_of_a_mesh(mixed):
    x = olympus.device_put(A, NamedSharding(mixed, P("x", "y")))
    f = olympus.jit(olympus.value_and_grad(lambda x: (jnp.sin(x).sum(0) ** 2).sum()))
    value, gradient = f(x)
    assert olympus.typeof(gradient).short() == "f32[8@x,4]"
    np.testing.assert_allclose(value, (np.sin(A).sum(0) ** 2).sum(), 1e-4)
    expected = 2 * np.sin(A).sum(0) * np.cos(A)
    np.testing.assert_allclose(gradient, expected, 1e-4, 1e-5)
    over_both = olympus.shard_map(
        lambda x: 2 * x, mesh=mixed, in_specs=P("x", "y"), out_specs=P("x", "y")
    )
    assert olympus.typeof(over_both(x)).short() == "f32[8@x,4]"


def test_arrays_of_parts_have_types(mesh):
    place = NamedSharding(mesh, P("x"))
    x = olympus.make_array_from_callback((8, 4), place, lambda i: A[i])
    assert olympus.typeof(x).short() == "f32[8@x,4]"
    parts = [shard.data for shard in x.addressable_shards]
    assert {olympus.typeof(part).short() for part in parts} == {"f32[2,4]"}
    again = olympus.make_array_from_single_device_arrays((8, 4), place, parts)
    assert olympus.typeof(again) is olympus.typeof(x)
    moved = olympus.device_put(x, olympus.devices()[0])
    assert olympus.typeof(moved).short() == "f32[8,4]"
    assert olympus.typeof(pickle.loads(pickle.dumps(x))).short() == "f32[8,4]"


@pytest.mark.parametrize("order", [1, -1])
def test_constants_and_gradients_tell_which_mesh_it_is(order):
    """No mesh is set, and the process knows two of these axes."""
    types = (AxisType.Explicit,) * 2
    meshes = {
        n: Mesh(np.array(olympus.devices())[::n].reshape(4, 2), ("p", "q"), types)
        for n in (1, -1)
    }
    values = np.arange(32, dtype="float32").reshape(8, 4)
    divided = {
        n: olympus.device_put(values, NamedSharding(over, P("p", "q")))
        for n, over in meshes.items()
    }
    x = divided[order]
    grad, jit = olympus.grad, olympus.jit
    results = {
        "constant": (jit(lambda: x * 2), values * 2),
        "constant and argument": (lambda: jit(lambda y: x * y)(2.0), values * 2),
        "branch": (lambda: jit(lambda p: jnp.where(p, x, 0))(True), values),
        "gradient": (lambda: grad(lambda x: jnp.sin(x).sum())(x), np.cos(values)),
        "value and gradient": (
            lambda: olympus.value_and_grad(lambda x: (x * x).sum())(x)[1], 2 * values
        ),
        "of a constant part": (
            lambda: grad(lambda y: (x * y.sum()).sum())(x),
            np.full_like(values, values.sum()),
        ),
    }  # fmt: skip
    for name, (call, want) in results.items():
        out = call()
        np.testing.assert_allclose(out, want, 1e-5, 1e-5, err_msg=name)
        assert out.sharding == x.sharding, name
