"""`inspect_array_sharding`: what the compiler chose, wherever a value is."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.experimental import checkify
from olympus.sharding import AxisType, NamedSharding, PartitionSpec
from tests import disk_caches
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec
X = np.arange(32.0, dtype=np.float32).reshape(8, 4) / 7


class Inspected:
    """A function that inspects an intermediate value, and what it was told."""

    def __init__(self):
        self.shardings = []

    def __call__(self, x):
        y = jnp.sin(x)
        olympus.debug.inspect_array_sharding(y, callback=self.shardings.append)
        return y.sum()

    @property
    def specs(self):
        return [tuple(s.spec) for s in self.shardings]


def mapped(f, names):
    return olympus.shard_map(
        lambda x: f(x) + x,
        mesh=mesh(4, 2),
        in_specs=P(*names),
        out_specs=P(*names),
        axis_names=set(names),
    )


WHOLE = [("x", "y")]
PLACES = {
    "outside": (lambda f: f, WHOLE),
    "jit": (olympus.jit, WHOLE),
    "grad": (olympus.grad, WHOLE),
    "grad of jit": (lambda f: olympus.grad(olympus.jit(f)), WHOLE),
    "jit of grad": (lambda f: olympus.jit(olympus.grad(f)), WHOLE),
    "checkpoint": (
        lambda f: olympus.jit(olympus.grad(olympus.checkpoint(f))),
        WHOLE * 2,
    ),
    "vmap": (olympus.vmap, WHOLE),
    "jit of vmap": (lambda f: olympus.jit(olympus.vmap(f)), WHOLE),
    "scan": (
        lambda f: lambda x: lax.scan(lambda c, row: (c, f(row)), 0.0, x),
        [("y",)],
    ),
    "while_loop": (
        lambda f: (
            lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + f(c) + 1, x)
        ),
        WHOLE,
    ),
    "cond": (
        lambda f: lambda x: lax.cond(x[0, 0] >= 0, f, lambda x: x.sum(), x),
        WHOLE,
    ),
    "two calls": (
        lambda f: olympus.jit(lambda x: olympus.jit(f)(x) + olympus.jit(f)(x.T)),
        [("x", "y"), ("y", "x")],
    ),
    "checkify": (lambda f: checkify.checkify(olympus.jit(f)), WHOLE),
    "shard_map": (lambda f: mapped(f, ("x", "y")), [()]),
    "grad of shard_map": (
        lambda f: olympus.grad(lambda x: mapped(f, ("x", "y"))(x).sum()),
        [()],
    ),
    "checkify of shard_map": (
        lambda f: checkify.checkify(mapped(f, ("x", "y"))),
        [()],
    ),
    "shard_map over some axes": (
        lambda f: olympus.jit(mapped(f, ("x",))),
        [(None, "y")],
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_places(name):
    transform, specs = PLACES[name]
    f = Inspected()
    g = transform(f)
    out = g(divide(X, "x", "y"))
    assert f.specs == specs
    plain = transform(lambda x: jnp.sin(x).sum())(divide(X, "x", "y"))
    for a, b in zip(olympus.tree.leaves(out), olympus.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-6)
    if "shard_map" in name:
        assert f.shardings[0].mesh.axis_types[0] is AxisType.Manual


def test_it_is_called_when_a_program_is_compiled():
    f = Inspected()
    x = divide(X, "x")
    lowered = olympus.jit(f).lower(x)
    assert not f.shardings
    assert "InspectSharding" in lowered.as_text()
    compiled = lowered.compile()
    assert f.specs == [("x",)]
    compiled(x)
    compiled(x)
    assert f.specs == [("x",)]
    assert "InspectSharding" not in compiled.as_text()


def test_equal_programs_call_their_own_functions():
    x, first, second = divide(X, "x"), Inspected(), Inspected()
    olympus.jit(first)(x)
    olympus.jit(second)(x)
    assert first.specs == second.specs == [("x",)]


def test_the_compilers_choice():
    f = Inspected()
    olympus.jit(lambda x, y: f(x @ y))(divide(X, "x"), divide(X.T, None, "y"))
    assert f.specs == [("x", "y")]


def test_trees():
    shardings = []

    def f(tree):
        olympus.debug.inspect_array_sharding(tree, callback=shardings.append)

    tree = {"a": divide(X, "x"), "b": [divide(X, None, "y")]}
    f(tree)
    olympus.jit(f)(tree)
    assert [tuple(s.spec) for s in shardings] == [("x",), (None, "y")] * 2


def test_one_device():
    f = Inspected()
    x = olympus.device_put(X, olympus.devices()[3])
    olympus.jit(f)(x)
    assert f.shardings == [x.sharding]
    f = Inspected()
    over = mesh(1)
    olympus.jit(f)(divide(X, "x", over=over))
    assert f.shardings == [NamedSharding(over, P())]


def test_programs_on_disk_report_again(tmp_path):
    for _ in range(2):
        olympus.clear_caches()
        with disk_caches.in_folder(tmp_path):
            f = Inspected()
            olympus.jit(f)(divide(X, "x"))
            assert f.specs == [("x",)]


def test_their_programs_are_not_kept_on_disk(tmp_path):
    """Their text holds an address, at which another function may be another time."""
    with disk_caches.in_folder(tmp_path) as counts:
        f = Inspected()
        x = divide(X, "x")
        olympus.clear_caches()
        counts.clear()
        olympus.jit(f)(x)
    assert f.specs == [("x",)]
    assert counts["compile_requests_use_cache"] == 0


def test_errors_of_the_callback_are_raised():
    def callback(sharding):
        raise KeyError("mine")

    f = olympus.jit(
        lambda x: olympus.debug.inspect_array_sharding(x, callback=callback)
    )
    with pytest.raises(KeyError, match="mine"):
        f(divide(X, "x"))


def test_it_needs_a_function():
    with pytest.raises(TypeError, match=r"inspect_array_sharding.*callback must be"):
        olympus.debug.inspect_array_sharding(X, callback=None)
