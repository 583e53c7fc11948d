"""`pmap` and `smap`: maps over devices, as programs of JAX have them."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import PartitionSpec
from tests.sharding.meshes import mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.arange(8.0, dtype=np.float32).reshape(4, 2)


def total(x):
    return lax.psum(x, "i")


# Results recorded from jax 0.10.2.
CALLS = {
    "plain": (lambda: olympus.pmap(lambda x: x * 2)(X), X * 2),
    "psum": (lambda: olympus.pmap(total, "i")(X), np.tile(X.sum(0), (4, 1))),
    "for all": (lambda: olympus.pmap(jnp.add, in_axes=(0, None))(X, 3.0), X + 3),
    "other axis": (lambda: olympus.pmap(lambda x: x.sum(), in_axes=1)(X), X.sum(0)),
    "last axis": (lambda: olympus.pmap(lambda x: x.sum(), in_axes=-1)(X), X.sum(0)),
    "out axis": (lambda: olympus.pmap(lambda x: x, out_axes=1)(X), X.T),
    "last out axis": (lambda: olympus.pmap(lambda x: x, out_axes=-1)(X), X.T),
    "one result": (lambda: olympus.pmap(total, "i", out_axes=None)(X), X.sum(0)),
    "static": (
        lambda: olympus.pmap(lambda x, n: x * n, static_broadcasted_argnums=1)(X, 3),
        X * 3,
    ),
    "keyword": (lambda: olympus.pmap(lambda x, k=0: x + k)(X, k=X), X * 2),
    "trees": (
        lambda: olympus.pmap(lambda d: d["a"] + d["b"], in_axes=({"a": 0, "b": None},))(
            {"a": X, "b": 1.0}
        ),
        X + 1,
    ),
    "vmap of it": (
        lambda: olympus.vmap(olympus.pmap(lambda x: x * 2))(np.stack([X, X + 1])),
        np.stack([X, X + 1]) * 2,
    ),
    "it of vmap": (lambda: olympus.pmap(olympus.vmap(jnp.negative))(X), -X),
    "index": (
        lambda: olympus.pmap(lambda x: lax.axis_index("i"), "i")(X),
        np.arange(4),
    ),
    "grad": (
        lambda: olympus.grad(
            lambda x: olympus.pmap(lambda x: total(x**2), "i")(x).sum()
        )(X),
        8 * X,
    ),
    "jit of it": (lambda: olympus.jit(olympus.pmap(lambda x: x * 2))(X), X * 2),
    "several results": (
        lambda: olympus.pmap(lambda x: (x, {"a": x.sum()}), out_axes=(0, None))(X)[1][
            "a"
        ],
        X[0].sum(),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    call, want = CALLS[name]
    np.testing.assert_allclose(call(), want, 1e-6)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: olympus.pmap(total)(np.ones((9, 2))), ValueError, "as many devices"),
        (lambda: olympus.pmap(total)(3.0), ValueError, "in_axes=None for a value"),
        (lambda: olympus.pmap(jnp.add)(X, X[:3]), ValueError, "must have one size"),
        (lambda: olympus.pmap(total, in_axes=None)(X), ValueError, "a mapped axis"),
        (lambda: olympus.pmap(total, axis_size=2)(X), ValueError, "axis_size=2, got 4"),
        (lambda: olympus.pmap(total, in_axes=0.5), TypeError, "pmap in_axes"),
        (lambda: olympus.pmap(3), TypeError, "pmap"),
        (
            lambda: olympus.pmap(total, in_axes=(0, 0))(X),
            ValueError,
            "an entry for each",
        ),
    ],
)
def test_wrong_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_programs_are_kept():
    seen = []

    @olympus.pmap
    def f(x):
        seen.append(x)
        return x + 1

    for k in range(3):
        np.testing.assert_array_equal(f(X + k), X + k + 1)
    assert len(seen) == 1
    assert "sdy.manual_computation" in f.lower(X).as_text()
    devices = olympus.devices()[4:]
    on_others = olympus.pmap(lambda x: x, devices=devices)(X)
    assert on_others.devices() == set(devices)


def test_donated_arguments():
    f = olympus.pmap(lambda x: x + 1, donate_argnums=0)
    x = olympus.pmap(lambda x: x)(X)
    np.testing.assert_array_equal(f(x), X + 1)
    assert x.is_deleted()


def test_smap():
    with olympus.set_mesh(mesh(4, 2)):
        f = olympus.smap(
            lambda x: x - lax.pmean(x, "x"), in_axes=0, out_axes=0, axis_name="x"
        )
        np.testing.assert_allclose(f(X), X - X.mean(0), 1e-6)
        g = olympus.smap(
            lambda x, w: lax.psum(x * w, "y"),
            in_axes=(1, None),
            out_axes=None,
            axis_name="y",
        )
        np.testing.assert_allclose(g(X, 2.0), X.sum(1, keepdims=True) * 2, 1e-6)
        with pytest.raises(TypeError, match="smap: axes"):
            olympus.smap(lambda x: x, in_axes="x", out_axes=0, axis_name="x")


def test_the_position_is_the_same_in_every_context():
    """The type of an index is kept for vmap, and differs along a mesh."""

    def f(x):
        return x + lax.axis_index("x")

    want = np.arange(8.0) + np.arange(8)
    np.testing.assert_array_equal(olympus.vmap(f, axis_name="x")(np.arange(8.0)), want)
    over = {"mesh": mesh(8), "in_specs": P("x"), "out_specs": P("x")}
    for check_vma in (True, False, True):
        g = olympus.shard_map(f, check_vma=check_vma, **over)
        np.testing.assert_array_equal(g(np.arange(8.0)), want)
        h = olympus.shard_map(lambda x: olympus.jit(f)(x), check_vma=check_vma, **over)
        np.testing.assert_array_equal(h(np.arange(8.0)), want)
    with pytest.raises(ValueError, match="may differ along 'x'"):
        olympus.shard_map(
            lambda: olympus.jit(lambda: lax.axis_index("x"))(),
            mesh=mesh(8),
            in_specs=(),
            out_specs=P(),
        )()
