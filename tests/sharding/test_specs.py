"""Partition specs, meshes and named shardings as data; one device is enough."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

import olympus
from olympus._src.sharding import tiling
from olympus.core import ShapedArray
from olympus.sharding import (
    AbstractMesh,
    AxisType,
    ManualAxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    Sharding,
    SingleDeviceSharding,
    UnreducedKind,
    get_abstract_mesh,
    get_mesh,
    use_abstract_mesh,
)

P = PartitionSpec


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        # Recorded from jax 0.10.2.
        (P("x", None, ("y", "z")), "P('x', None, ('y', 'z'))"),
        (P(("x",)), "P('x',)"),
        (P(()), "P(None,)"),
        (P(), "P()"),
        (P("x", unreduced={"y"}), "P('x', unreduced={'y'})"),
        (P("x", reduced={"y"}), "P('x', reduced={'y'})"),
        (P(P.UNCONSTRAINED), "P(UNCONSTRAINED,)"),
        (P(["x", "y"]), "P(('x', 'y'),)"),
        (P("x") + P("y"), "P('x', 'y')"),
        (P("x") + ("y",), "P('x', 'y')"),  # noqa: RUF005
        (("x",) + P("y"), "P('x', 'y')"),  # noqa: RUF005
    ],
)
def test_specs_print(spec, text):
    assert repr(spec) == text


def test_equal_specs_are_one_object():
    assert P("x", ("y",)) is P("x", "y")
    assert P("x") is not P("x", None)
    assert P("x") != ("x",)
    assert P(1) is not P(True)
    for spec in (P("x", None), P(P.UNCONSTRAINED, unreduced="x"), P(("x", "y"))):
        assert pickle.loads(pickle.dumps(spec)) is spec
        assert copy.deepcopy(spec) is spec


def test_specs_are_sequences():
    spec = P("x", None, ("y", "z"))
    assert len(spec) == 3
    assert spec[2] == ("y", "z")
    assert next(iter(spec)) == "x"
    assert spec.index(("y", "z")) == 2
    assert spec.count(None) == 1
    assert spec.update(partitions=("y",)) is P("y")
    assert spec.update(unreduced={"w"}).unreduced == {"w"}


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: P({"x"}), TypeError, "entry must be None"),
        (lambda: P(("x", ("y",))), TypeError, "entry must be None"),
        (lambda: P("x", unreduced={"x"}), ValueError, "one role"),
        (lambda: P(unreduced={"x"}, reduced={"x"}), ValueError, "one role"),
        (lambda: P(unreduced=3), TypeError, "unreduced must be a set"),
    ],
)
def test_wrong_specs(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_specs_cannot_be_changed():
    with pytest.raises(AttributeError, match="as it was made"):
        P("x").partitions = ("y",)


# -- meshes ----------------------------------------------------------------------------


def test_abstract_meshes():
    mesh = AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit, AxisType.Auto))
    assert repr(mesh) == "AbstractMesh('x': 4, 'y': 2, axis_types=(Explicit, Auto))"
    assert mesh.size == 8
    assert mesh.shape == {"x": 4, "y": 2}
    assert not mesh.empty
    assert mesh.explicit_axes == ("x",)
    assert mesh.auto_axes == ("y",)
    manual = mesh.update_axis_types({"y": AxisType.Manual})
    assert manual.manual_axes == ("y",)
    assert not manual.are_all_axes_manual
    assert pickle.loads(pickle.dumps(mesh)) is mesh


def test_a_mesh_of_one_device():
    device = olympus.devices()[0]
    mesh = Mesh([device], "x")
    assert repr(mesh) == "Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))"
    assert Mesh(np.array([device]), ("x",)) is mesh
    assert mesh.local_mesh is mesh
    assert not mesh.is_multi_process
    assert not mesh.is_scalar
    assert Mesh(np.array(device), ()).is_scalar
    assert olympus.make_mesh((1,), ("x",)).axis_types == (AxisType.Explicit,)
    assert pickle.loads(pickle.dumps(mesh)) is mesh
    assert mesh.abstract_mesh is AbstractMesh((1,), ("x",), AxisType.Auto)
    assert AbstractMesh((1,), ("x",)).axis_types == (AxisType.Explicit,)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda d: Mesh([d], ("x", "y")), ValueError, "an axis for each name"),
        (lambda d: Mesh([d, d], "x"), ValueError, "more than once"),
        (lambda d: Mesh([[d]], ("x", "x")), ValueError, "names of axes must differ"),
        (lambda d: Mesh([1], "x"), TypeError, "must be an array of devices"),
        (lambda d: Mesh([], "x"), ValueError, "at least one device"),
        (lambda d: Mesh([d], "x", ("Auto",)), ValueError, "AxisType"),
        (lambda d: AbstractMesh((2,), ("x", "y")), ValueError, "one length"),
        (lambda d: AbstractMesh((0,), ("x",)), ValueError, "at least 1"),
        (lambda d: olympus.make_mesh((99,), "x"), ValueError, "NUM_CPU_DEVICES=99"),
        (lambda d: olympus.make_mesh((1, 1), "x"), ValueError, "one length"),
    ],
)
def test_wrong_meshes(make, error, text):
    with pytest.raises(error, match=text):
        make(olympus.devices()[0])


def test_the_mesh_that_is_set():
    mesh = olympus.make_mesh((1,), ("x",))
    assert get_mesh().empty
    assert get_abstract_mesh().empty
    with olympus.set_mesh(mesh):
        assert get_mesh() is mesh
        assert get_abstract_mesh() is mesh.abstract_mesh
        other = AbstractMesh((2,), ("z",))
        with use_abstract_mesh(other):
            assert get_abstract_mesh() is other
            assert get_mesh() is mesh
        array = olympus.device_put(np.arange(3), P("x"))
        assert array.sharding is NamedSharding(mesh, P("x"))
    assert get_mesh().empty
    with pytest.raises(TypeError, match="must be a Mesh"):
        olympus.set_mesh("x")
    with pytest.raises(TypeError, match="must be an AbstractMesh"):
        use_abstract_mesh(mesh).__enter__()


# -- shardings -------------------------------------------------------------------------


def test_named_shardings():
    mesh = olympus.make_mesh((1,), ("x",))
    sharding = NamedSharding(mesh, P("x"))
    assert NamedSharding(mesh, P("x"), memory_kind="device") is sharding
    assert isinstance(sharding, Sharding)
    assert isinstance(SingleDeviceSharding(olympus.devices()[0]), Sharding)
    assert pickle.loads(pickle.dumps(sharding)) is sharding
    assert sharding.update(spec=("x", None)).spec is P("x", None)
    assert sharding.is_equivalent_to(NamedSharding(mesh, P("x", None)), 2)
    assert sharding.is_fully_replicated
    assert sharding.is_fully_addressable


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda m: NamedSharding(m, P("z")), ValueError, "one of \\('x',\\), got 'z'"),
        (lambda m: NamedSharding(m, P("x", "x")), ValueError, "more than once"),
        (lambda m: NamedSharding(m, "x"), TypeError, "must be a PartitionSpec"),
        (lambda m: NamedSharding("x", P()), TypeError, "must be a Mesh"),
        (
            lambda m: NamedSharding(m, P(), memory_kind="foo"),
            ValueError,
            "memory_kind: must be one of",
        ),
        (
            lambda m: NamedSharding(m, P("x", None)).shard_shape((3,)),
            ValueError,
            "at most one entry for each axis",
        ),
    ],
)
def test_wrong_shardings(make, error, text):
    with pytest.raises(error, match=text):
        make(olympus.make_mesh((1,), ("x",)))


def test_uneven_sizes_are_refused_with_the_padding_to_add():
    sharding = NamedSharding(AbstractMesh((4,), ("x",)), P(None, "x"))
    with pytest.raises(ValueError, match=r"numpy.pad\(x, \(\(0, 0\), \(0, 2\)\)\)"):
        sharding.shard_shape((3, 10))


def test_xlas_shardings_and_specs_are_inverse():
    sizes = {"a": 2, "b": 3, "c": 2}
    for k in range(4):
        for names in itertools.permutations(sizes, k):
            for cut in range(k + 1):
                spec = P(names[:cut], names[cut:])
                hlo = tiling.to_hlo(sizes, spec, 3)
                back = tiling.from_hlo(sizes, hlo, 3)
                assert back is not None
                shape = (12, 12, 12)
                assert tiling.device_slices(sizes, back, shape) == (
                    tiling.device_slices(sizes, spec, shape)
                )


# -- kinds and roles -------------------------------------------------------------------


def test_kinds_of_unreduced_arrays():
    spec = P("x", unreduced={"y"}, unreduced_kind=UnreducedKind.sum)
    assert spec is P("x", unreduced={"y"})
    assert spec.unreduced_kind is UnreducedKind.sum
    assert P("x").unreduced_kind is None
    with pytest.raises(
        NotImplementedError, match=r"got UnreducedKind.max; reduce with"
    ):
        P("x", unreduced={"y"}, unreduced_kind=UnreducedKind.max)
    with pytest.raises(ValueError, match="None where no axis is unreduced"):
        P("x", unreduced_kind=UnreducedKind.sum)
    with pytest.raises(TypeError, match=r"must be a sharding.UnreducedKind, got 'max'"):
        P("x", unreduced={"y"}, unreduced_kind="max")


def test_types_of_manual_axes():
    kind = ManualAxisType(varying=["x"], unreduced={"y"})
    assert (kind.varying, kind.unreduced, kind.reduced) == ({"x"}, {"y"}, set())
    assert kind.unreduced_kind is UnreducedKind.sum
    assert kind is pickle.loads(pickle.dumps(kind))
    assert kind.update(varying=(), unreduced=()) is ManualAxisType()
    assert ManualAxisType().empty
    assert not kind.empty
    # Recorded from jax 0.12.0.1.
    assert repr(kind) == (
        "ManualAxisType(varying=frozenset({'x'}), unreduced=frozenset({'y'}), "
        "reduced=frozenset(), unreduced_kind=UnreducedKind.sum)"
    )
    with pytest.raises(ValueError, match="'x' both varying and reduced"):
        ManualAxisType(varying={"x"}, reduced={"x"})


def test_types_of_arrays_say_their_manual_axes():
    kinds = []

    def f(x):
        kinds.append(olympus.typeof(x).manual_axis_type)
        return x

    mesh = olympus.make_mesh((1,), ("x",), AxisType.Auto)
    olympus.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(np.ones(2))
    assert kinds == [ManualAxisType(varying={"x"})]
    aval = ShapedArray((2,), "float32", manual_axis_type=kinds[0])
    assert aval is ShapedArray((2,), "float32", vma=frozenset({"x"}))
    assert aval.update(manual_axis_type=ManualAxisType()) is ShapedArray(
        (2,), "float32"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"memory_space": olympus.memory.Space.Host},
            "memory_space must be Space.Device",
        ),
        ({"layout": (1, 0)}, "layout must be None"),
        (
            {"manual_axis_type": ManualAxisType(unreduced={"x"})},
            "manual_axis_type must have varying axes only",
        ),
    ],
)
def test_what_types_of_arrays_do_not_say(changes, text):
    with pytest.raises(NotImplementedError, match=text):
        ShapedArray((2, 3), "float32", **changes)
    with pytest.raises(NotImplementedError, match=text):
        ShapedArray((2, 3), "float32").update(**changes)


def test_names_of_the_sizes_of_meshes():
    mesh = olympus.make_mesh(axis_sizes=(1,), axis_names=("x",))
    assert mesh is olympus.make_mesh((1,), ("x",))
    assert mesh is olympus.make_mesh(axis_shapes=(1,), axis_names=("x",))
    for sizes in ({}, {"axis_sizes": (1,), "axis_shapes": (1,)}):
        with pytest.raises(TypeError, match="axis_sizes and axis_names must be given"):
            olympus.make_mesh(axis_names=("x",), **sizes)


def test_kinds_of_memory_by_position():
    mesh = olympus.make_mesh((1,), ("x",))
    (device,) = mesh.devices
    kind = device.default_memory().kind
    assert NamedSharding(mesh, P(), kind).memory_kind == kind
    assert SingleDeviceSharding(device, kind).memory_kind == kind
