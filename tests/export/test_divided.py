"""Programs over several devices are refused by what writes programs of one."""

from __future__ import annotations

import numpy as np
import pytest

import olympus
from olympus import export, lax
from olympus.sharding import NamedSharding, PartitionSpec
from tests.sharding.meshes import divide, mesh

pytestmark = pytest.mark.eight_devices
P = PartitionSpec


def by_argument():
    return olympus.jit(lambda x: x + 1), divide(np.arange(8.0), "x")


def by_description():
    place = NamedSharding(mesh(8), P("x"))
    struct = olympus.ShapeDtypeStruct((8,), "float32", sharding=place)
    return olympus.jit(lambda x: x + 1), struct


def by_in_shardings():
    place = NamedSharding(mesh(8), P("x"))
    return olympus.jit(lambda x: x * 2, in_shardings=place), np.arange(8.0)


def by_out_shardings():
    place = NamedSharding(mesh(8), P())
    return olympus.jit(lambda x: x * 2, out_shardings=place), np.arange(8.0)


def by_constraint():
    place = NamedSharding(mesh(8), P("x"))
    return olympus.jit(lambda x: lax.with_sharding_constraint(x, place)), np.arange(8.0)


def by_shard_map():
    body = lambda x: lax.psum(x, "x")  # noqa: E731
    mapped = olympus.shard_map(body, mesh=mesh(8), in_specs=P("x"), out_specs=P())
    return olympus.jit(mapped), np.arange(8.0)


CASES = [by_argument, by_description, by_in_shardings, by_out_shardings, by_constraint,
         by_shard_map]  # fmt: skip


@pytest.mark.parametrize("make", CASES)
def test_refused(make):
    f, x = make()
    message = "must run on one device, got a program divided over Mesh"
    with pytest.raises(NotImplementedError, match=f"export: .* {message}"):
        export.export(f)(x)
    with pytest.raises(NotImplementedError, match=f"several platforms: .* {message}"):
        f.trace(x).lower(lowering_platforms=("cpu", "cuda"))


def test_what_runs_on_one_of_the_devices_is_exported():
    x = olympus.device_put(np.arange(3.0), olympus.devices()[5])
    exported = export.export(olympus.jit(lambda x: x + 1))(x)
    assert exported.nr_devices == 1
    assert exported.call(x).devices() == {olympus.devices()[5]}
    again = export.deserialize(exported.serialize())
    np.testing.assert_array_equal(again.call(np.arange(3.0)), [1, 2, 3])
    f = olympus.jit(again.call, out_shardings=NamedSharding(mesh(8), P()))
    np.testing.assert_array_equal(f(np.arange(3.0)), [1, 2, 3])
