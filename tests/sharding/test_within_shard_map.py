"""Shardings and meshes within functions of `shard_map`, whose values are parts.

XLA refuses what does not fit in its own words, or ends the process.
"""

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import lax
from olympus.sharding import Mesh, NamedSharding
from olympus.sharding import PartitionSpec as P
from tests.sharding.meshes import mesh

pytestmark = pytest.mark.eight_devices
X = np.arange(8.0, dtype=np.float32)
WHOLE, PARTS = P(), P("x")


def over(f, spec=PARTS, devices=None, **options):
    devices = mesh(2) if devices is None else devices
    return olympus.shard_map(f, mesh=devices, in_specs=spec, out_specs=spec, **options)


def other_devices():
    return Mesh(np.array(olympus.devices()[2:4]), ("x",))


OTHER_MESHES = {
    "more axes": lambda: mesh(2, 2),
    "more devices": lambda: mesh(4),
    "other devices": other_devices,
    "other name": lambda: Mesh(np.array(olympus.devices()[:2]), ("other",)),
}
PLACED = {
    "constraint": lambda x, place: lax.with_sharding_constraint(x, place),
    "device_put": lambda x, place: olympus.device_put(x, place),
    "in_shardings": lambda x, place: olympus.jit(lambda y: y, in_shardings=place)(x),
    "out_shardings": lambda x, place: olympus.jit(lambda y: y, out_shardings=place)(x),
    "zeros": lambda x, place: x + jnp.zeros(x.shape, x.dtype, device=place),
}


@pytest.mark.parametrize("name", PLACED)
def test_specs_of_manual_axes_are_refused(name):
    place = NamedSharding(mesh(2), P("x"))
    with pytest.raises(ValueError, match=r"in a function of shard_map a spec must not"):
        olympus.jit(over(lambda x: PLACED[name](x, place)))(X)


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize("which", OTHER_MESHES)
def test_shardings_over_other_meshes_are_refused(name, which):
    place = NamedSharding(OTHER_MESHES[which](), P())
    with pytest.raises(ValueError, match=r"the mesh must be that of shard_map"):
        olympus.jit(over(lambda x: PLACED[name](x, place)))(X)


def test_specs_of_axes_that_the_compiler_divides_are_taken():
    two = mesh(2, 2)
    place = NamedSharding(two, P("y"))

    def f(x):
        return lax.with_sharding_constraint(x * 2, place)

    got = olympus.jit(over(f, devices=two, axis_names={"x"}))(X)
    np.testing.assert_array_equal(got, X * 2)


def test_mapped_axes_that_are_spread_over_a_manual_axis_are_refused():
    place = NamedSharding(mesh(2), P())
    rows = olympus.vmap(
        lambda x: lax.with_sharding_constraint(x, place), spmd_axis_name="x"
    )
    with pytest.raises(ValueError, match="a spec must not name the manual axes"):
        olympus.jit(over(rows))(np.ones((4, 3), np.float32))


@pytest.mark.parametrize("jitted", [True, False])
@pytest.mark.parametrize("which", OTHER_MESHES)
def test_functions_over_other_meshes_are_refused(which, jitted):
    inner = over(lambda y: y, WHOLE, OTHER_MESHES[which]())
    f = over(lambda x: inner(x))
    with pytest.raises(ValueError, match="the mesh must be the outer one"):
        (olympus.jit(f) if jitted else f)(X)


def test_pmap_is_refused():
    with pytest.raises(ValueError, match="the mesh must be the outer one"):
        over(olympus.pmap(lambda y: y))(X)


def test_functions_with_specs_of_the_outer_axes_are_refused():
    inner = over(lambda y: y)
    np.testing.assert_array_equal(olympus.jit(inner)(X), X)  # its program is kept
    with pytest.raises(ValueError, match="specs must not name the axes"):
        olympus.jit(over(lambda x: inner(x)))(X)


def test_programs_that_are_run_within_are_refused():
    closed = olympus.make_olympuspr(over(lambda y: y))(X[:4])

    def f(x):
        return olympus.core.eval_olympuspr(closed.olympuspr, closed.consts, x)[0]

    with pytest.raises(ValueError, match="specs must not name the axes"):
        olympus.jit(over(f))(X)


def test_functions_of_the_same_mesh_within():
    inner = over(lambda y: y * 2, WHOLE)
    np.testing.assert_array_equal(olympus.jit(over(lambda x: inner(x)))(X), X * 2)


@pytest.mark.parametrize("extreme", [lax.pmax, lax.pmin])
def test_extremes_of_complex_values_are_refused(extreme):
    """XLA said so only where a result was read."""

    def f(x):
        return extreme(x, "x")

    z = X.astype(np.complex64)
    with pytest.raises(NotImplementedError, match=r"p(max|min): values of different"):
        over(f, check_vma=False)(z)
