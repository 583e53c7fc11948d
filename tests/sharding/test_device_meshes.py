"""Orders of devices in meshes: of hosts, of tori, of groups with slower links."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

import olympus
from olympus.experimental import mesh_utils
from olympus.sharding import Mesh

create, create_hybrid = (
    mesh_utils.create_device_mesh,
    mesh_utils.create_hybrid_device_mesh,
)


class Device(SimpleNamespace):
    def __hash__(self):
        return hash(self.id)


def torus(*sizes, kind="TPU v4", cores=1, slice_index=0):
    """Devices of a torus in the order of their coordinates, the first one quickest."""
    places = itertools.product(*[range(n) for n in reversed(sizes)], range(cores))
    return [
        Device(
            id=i + 10000 * slice_index,
            device_kind=kind,
            coords=tuple(reversed(place[:-1])),
            core_on_chip=place[-1],
            process_index=i // 4,
            slice_index=slice_index,
        )
        for i, place in enumerate(places)
    ]


def plain(n, per_process=8, kind="gpu"):
    return [
        Device(id=i, device_kind=kind, process_index=i // per_process) for i in range(n)
    ]


def ids(grid):
    return np.vectorize(lambda d: d.id, otypes=[int])(grid)


def steps(line):
    """How many links each device of a line is from the next one."""
    places = np.array([(*d.coords, d.core_on_chip) for d in line])
    return np.abs(np.diff(places, axis=0)).sum(1)


def test_devices_without_coordinates_keep_their_order():
    np.testing.assert_array_equal(
        ids(create((4, 2), plain(8))), np.arange(8).reshape(4, 2)
    )
    np.testing.assert_array_equal(ids(create([8], plain(8)[::-1])), np.arange(8)[::-1])


@pytest.mark.eight_devices
def test_meshes_of_the_devices_there_are():
    grid = create((4, 2))
    assert grid.ravel().tolist() == list(olympus.devices())
    assert Mesh(grid, ("x", "y")).shape == {"x": 4, "y": 2}
    hybrid = create_hybrid((4, 2), (1, 1), process_is_granule=True)
    np.testing.assert_array_equal(hybrid, grid)
    with pytest.raises(ValueError, match="must have a slice_index, got"):
        create_hybrid((4, 2), (1, 1))


SHAPES = [
    ((4, 4, 4), (16, 4)),
    ((4, 4, 4), (4, 16)),
    ((4, 4, 4), (4, 4, 4)),
    ((4, 4, 4), (64,)),
    ((4, 4, 4), (1, 64)),
    ((4, 4, 4), (4, 1, 16)),
    ((4, 4, 8), (8, 16)),
    ((4, 4, 8), (16, 8)),
    ((2, 2, 1), (4,)),
    ((2, 2, 1), (2, 2)),
    ((3, 5), (5, 3)),
]


@pytest.mark.parametrize(("sizes", "shape"), SHAPES, ids=str)
def test_axes_follow_the_axes_of_a_torus(sizes, shape):
    devices = torus(*sizes)
    grid = create(shape, devices[::-1])
    assert grid.shape == shape
    assert sorted(ids(grid).ravel()) == sorted(d.id for d in devices)
    for axis in range(len(shape)):
        for line in np.moveaxis(grid, axis, -1).reshape(-1, shape[axis]):
            assert (steps(line) == 1).all()


def test_cores_of_a_chip_are_neighbours():
    grid = create((4, 2), torus(2, 2, 1, kind="TPU v3", cores=2))
    assert all(a.coords == b.coords for a, b in grid)
    assert (steps(create((8,), torus(2, 2, 1, kind="TPU v3", cores=2))) == 1).all()


def test_parts_of_axes():
    devices = torus(4, 4, 4)
    with pytest.raises(NotImplementedError, match="product of some sizes of the dev"):
        create((8, 8), devices)
    for shape in ((8, 8), (2, 32), (32, 2), (2,) * 6):
        grid = create(shape, devices, allow_split_physical_axes=True)
        assert grid.shape == shape
        assert len(set(ids(grid).ravel())) == 64


def test_devices_that_fill_no_box_keep_their_order():
    devices = torus(4, 4)[:6]
    np.testing.assert_array_equal(ids(create((2, 3), devices)).ravel(), range(6))


def test_kinds_that_users_add(monkeypatch):
    def reversed_order(shape, devices, **options):
        return np.array(devices[::-1], object).reshape(shape)

    handlers = mesh_utils.device_kind_handler_dict
    monkeypatch.setitem(handlers, "mine", reversed_order)
    assert ids(create((2, 2), plain(4, kind="mine"))).tolist() == [[3, 2], [1, 0]]
    monkeypatch.setitem(handlers, "mine", lambda *args, **options: None)
    assert ids(create((2, 2), plain(4, kind="mine"))).tolist() == [[0, 1], [2, 3]]


def test_the_devices_of_a_process_are_a_block():
    create((2, 8), plain(16), contiguous_submeshes=True)
    create((4, 2, 2), plain(16), contiguous_submeshes=True)
    with pytest.raises(ValueError, match="must be a block of the mesh, got those of"):
        create((2, 6), plain(12, per_process=4), contiguous_submeshes=True)


def test_groups_with_slower_links():
    devices = [d for s in (1, 0) for d in torus(4, 2, slice_index=s)]
    grid = create_hybrid((2, 4), (2, 1), devices)
    slices = np.vectorize(lambda d: d.slice_index)(grid)
    np.testing.assert_array_equal(slices, np.repeat([0, 0, 1, 1], 4).reshape(4, 4))
    along = create_hybrid((2, 4), (1, 2), devices)
    slices = np.vectorize(lambda d: d.slice_index)(along)
    np.testing.assert_array_equal(slices, [[0] * 4 + [1] * 4] * 2)
    as_given = create_hybrid((2, 4), (2, 1), devices, should_sort_granules_by_key=False)
    assert as_given[0, 0].slice_index == 1
    by_process = create_hybrid((1, 8), (2, 1), plain(16), process_is_granule=True)
    np.testing.assert_array_equal(ids(by_process), np.arange(16).reshape(2, 8))
    longer = create_hybrid((8,), (2, 1), plain(16), process_is_granule=True)
    assert longer.shape == (2, 8)


def test_refusals():
    with pytest.raises(ValueError, match=r"multiply to the number of devices, got \(4"):
        create((4, 3), plain(8))
    with pytest.raises(ValueError, match="multiply to the number of processes, got"):
        create_hybrid((8,), (3,), plain(16), process_is_granule=True)
    with pytest.raises(ValueError, match="multiply to the number of slices, got"):
        create_hybrid((4, 2), (2, 1), torus(4, 2))
    with pytest.raises(ValueError, match="multiply to the number of devices"):
        create_hybrid((4,), (2,), plain(16), process_is_granule=True)


def test_sizes_are_products():
    """Every shape whose sizes divide is either arranged or refused, never wrong."""
    devices = torus(2, 4, 2)
    for shape in itertools.product((1, 2, 4, 8, 16), repeat=2):
        if math.prod(shape) == 16:
            grid = create(shape, devices, allow_split_physical_axes=True)
            assert len(set(ids(grid).ravel())) == 16
