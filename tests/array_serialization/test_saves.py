"""Trees that are saved, and loaded onto other meshes."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import NamedTuple

import numpy as np
import pytest

import olympus
import olympus.numpy as jnp
from olympus import export
from olympus._src.array_serialization import indexing, saving, shard_files
from olympus.experimental.array_serialization import pytree_serialization, serialization
from olympus.sharding import NamedSharding, PartitionSpec
from tests.sharding.meshes import divide, mesh

P = PartitionSpec
save, load = pytree_serialization.save, pytree_serialization.load


def assert_same(actual, expected):
    actual, expected = jnp.asarray(actual), jnp.asarray(expected)
    assert actual.aval is expected.aval
    if jnp.issubdtype(actual.dtype, olympus.dtypes.prng_key):
        actual, expected = map(olympus.random.key_data, (actual, expected))
    assert np.asarray(actual).tobytes() == np.asarray(expected).tobytes()


class State(NamedTuple):
    step: object
    moments: object


export.register_namedtuple_serialization(State, serialized_name="tests.saves.State")


class Unregistered(NamedTuple):
    a: object


def sample_tree():
    return {
        "weights": [jnp.arange(12.0).reshape(3, 4), jnp.ones((), "bfloat16")],
        "state": State(7, (np.float32(-0.0), None)),
        "key": olympus.random.key(3),
        "keys": olympus.random.split(olympus.random.key(4), (2, 4)),
        "integers": np.arange(3),
        "small": jnp.arange(-4, 4).astype("int4"),
        "empty": jnp.zeros((0, 3)),
        "numbers": (True, 2, 1.5, 2j, np.array([np.nan, 1], "float32")),
    }


def test_a_tree_of_everything(tmp_path):
    tree = sample_tree()
    save(tree, tmp_path)
    loaded = load(tmp_path)
    assert olympus.tree.structure(loaded) == olympus.tree.structure(tree)
    olympus.tree.map(assert_same, loaded, tree)
    types = pytree_serialization.load_pytreedef(str(tmp_path))
    assert olympus.tree.structure(types) == olympus.tree.structure(tree)
    assert types["small"] == olympus.ShapeDtypeStruct((8,), "int4")
    assert types["state"].step.weak_type


SPECS = [(), ("x",), ("x", "y"), ("y", "x"), (None, ("x", "y")), (("y", "x"),)]
MESHES = [(4, 2), (2, 4), (8, 1), (2, 2), (1, 1)]


@pytest.mark.eight_devices
def test_between_meshes(tmp_path):
    places = [
        NamedSharding(mesh(*m), P(*s)) for m, s in itertools.product(MESHES, SPECS)
    ]
    values = np.arange(128).reshape(16, 8) - 64
    for i, (first, dtype) in enumerate(
        zip(places[::2], itertools.cycle(["float32", "bfloat16", "int8"]), strict=False)
    ):
        expected = values.astype(jnp.dtype(dtype))
        save({"x": olympus.device_put(expected, first)}, tmp_path)
        for second in (places[(7 * i + 3) % 30], places[(11 * i + 1) % 30], None):
            x = load(tmp_path, second)["x"]
            np.testing.assert_array_equal(x, expected)
            if second is not None:
                assert x.sharding is second


def one_folder(path):
    (name,) = [name for name in os.listdir(path) if indexing.is_folder(name)]
    return name


@pytest.mark.eight_devices
def test_one_file_for_each_distinct_shard(tmp_path):
    m = mesh(4, 2)
    for spec, count in (((), 1), (("x",), 4), (("y",), 2), (("x", "y"), 8)):
        save(divide(np.arange(64.0).reshape(8, 8), *spec, over=m), tmp_path)
        assert len(os.listdir(tmp_path / one_folder(tmp_path))) == count


@pytest.mark.eight_devices
def test_divided_keys_and_prefixes_and_types(tmp_path):
    m = mesh(4, 2)
    place = NamedSharding(m, P("x"))
    keys = olympus.random.split(olympus.random.key(0), 8)
    tree = {
        "a": [jnp.arange(8.0), jnp.arange(16)],
        "k": olympus.device_put(keys, place),
    }
    save(tree, tmp_path)
    device = olympus.devices()[5]
    asked = olympus.ShapeDtypeStruct((16,), "bfloat16", sharding=place)
    loaded = load(tmp_path, {"a": [device, asked], "k": NamedSharding(m, P("y"))})
    assert loaded["a"][0].devices() == {device}
    assert loaded["a"][1].sharding is place
    assert loaded["a"][1].dtype == jnp.bfloat16
    assert tuple(loaded["k"].sharding.spec) == ("y",)
    assert_same(loaded["k"], keys)
    with olympus.set_mesh(m):
        assert load(tmp_path, P("x"))["a"][0].sharding is place


def test_arrays_that_are_left_out(tmp_path):
    save({"a": [1, 2], "b": jnp.ones(3)}, tmp_path)
    (tmp_path / one_folder(tmp_path) / "1.0").unlink()
    loaded = load(tmp_path, mask={"a": [True, False], "b": True})
    assert loaded["a"][1] is None
    assert (int(loaded["a"][0]), loaded["b"].tolist()) == (1, [1, 1, 1])


# -- in the background -----------------------------------------------------------------


def test_futures(tmp_path):
    x = jnp.arange(4.0)
    step = olympus.jit(lambda x: x + 1, donate_argnums=0)
    futures = []
    for i in range(3):
        futures.append(
            pytree_serialization.nonblocking_save({"x": x}, tmp_path / str(i))
        )
        x = step(x)
    assert futures[0].pytree == {"x": olympus.ShapeDtypeStruct((4,), "float32")}
    assert [f.result() for f in futures] == [None] * 3

    async def load_all():
        each = [
            pytree_serialization.nonblocking_load(tmp_path / str(i)) for i in range(3)
        ]
        return [await future for future in each]

    loaded = asyncio.run(load_all())
    assert [t["x"][0].item() for t in loaded] == [0, 1, 2]


def test_managers(tmp_path):
    manager = serialization.GlobalAsyncCheckpointManager()
    arrays = [jnp.arange(4), jnp.ones((2, 2))]
    paths = [str(tmp_path / name) for name in "ab"]
    called = []
    manager.serialize_with_paths(
        arrays, paths, on_commit_callback=lambda: called.append(os.listdir(paths[1]))
    )
    manager.wait_until_finished()
    assert len(called) == 1
    assert "index.json" in called[0]
    manager.check_for_errors()
    places = [olympus.sharding.SingleDeviceSharding(olympus.devices()[0])] * 2
    loaded = manager.deserialize_with_paths(
        places, paths, [(4,), (2, 2)], ["float32", None]
    )
    assert loaded[0].dtype == "float32"
    assert loaded[1].tolist() == [[1, 1], [1, 1]]
    specs = list(map(serialization.get_tensorstore_spec, paths))
    serialization.run_serialization(arrays[::-1], specs)
    assert serialization.run_deserialization(places, specs)[1].tolist() == [0, 1, 2, 3]
    with pytest.raises(
        ValueError, match=r"must be that of the saved array, got \(5,\)"
    ):
        manager.deserialize_with_paths(places[:1], paths[:1], [(5,)])
    for specs in ([{"driver": "zarr"}], ["x"]):
        with pytest.raises(ValueError, match="must come from get_tensorstore_spec"):
            manager.serialize(arrays[:1], specs)
    with pytest.raises(ValueError, match="transaction must be None"):
        manager.serialize([], [], transaction=1)


def test_a_manager_raises_what_a_save_raised(tmp_path):
    (tmp_path / "file").write_text("")
    manager = serialization.GlobalAsyncCheckpointManager()
    manager.serialize_with_paths([jnp.ones(2)], [str(tmp_path / "file")])
    with pytest.raises(OSError, match="file"):
        manager.wait_until_finished()
    manager.wait_until_finished()


# -- what goes wrong -------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    save({"x": jnp.arange(6.0)}, tmp_path)
    return tmp_path


def damage_index(path, **changes):
    file = path / "index.json"
    fields = json.loads(file.read_text())
    contents = fields["contents"]
    for name, value in changes.items():
        (contents if name in contents else fields)[name] = value
    if "sha256" not in changes:
        fields["sha256"] = indexing.digest(contents)
    file.write_text(json.dumps(fields))


def change_shard(path, **changes):
    leaves = json.loads((path / "index.json").read_text())["contents"]["leaves"]
    leaves[0]["shards"][0] |= changes
    damage_index(path, leaves=leaves)


def shards_file(path):
    return path / one_folder(path) / "0.0"


DAMAGES = {
    "an index that is cut": (
        lambda p: (p / "index.json").write_bytes((p / "index.json").read_bytes()[:-9]),
        "index.json is not intact: it must be JSON",
    ),
    "another digest": (lambda p: damage_index(p, sha256="0"), "must have the digest"),
    "another kind": (lambda p: damage_index(p, format="x"), "must be 'olympus arrays'"),
    "a later version": (lambda p: damage_index(p, version=2), "version: must be at"),
    "a folder elsewhere": (
        lambda p: damage_index(p, folder="../.."), "must be a folder of files"
    ),
    "a file elsewhere": (
        lambda p: change_shard(p, file="../index.json"), "must be the name of a file"
    ),
    "a box outside": (lambda p: change_shard(p, box=[[0, 7]]), "of shape \\(6,\\)"),
    "a box inside out": (lambda p: change_shard(p, box=[[2, 1]]), "of shape \\(6,\\)"),
    "a part is missing": (
        lambda p: change_shard(p, box=[[0, 5]]), "bytes instead of 20"
    ),
    "no parts": (
        lambda p: damage_index(p, leaves=[{"path": "['x']", "shards": [], "type": {
            "dtype": "float32", "shape": [6]}}]),
        "must hold all of it, got 0 of the 6 elements",
    ),
    "checksums of another number": (
        lambda p: change_shard(p, crc32=[]), "must be a list of 1 integers"
    ),
    "another byte": (
        lambda p: shards_file(p).write_bytes(b"\1" + shards_file(p).read_bytes()[1:]),
        "0.0 must be as it was saved, got a damaged file: the checksum of its bytes",
    ),
    "fewer bytes": (
        lambda p: shards_file(p).write_bytes(b""), "0 bytes instead of 24"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damage(saved, name):
    damage, message = DAMAGES[name]
    damage(saved)
    with pytest.raises(ValueError, match=message):
        load(saved)


def test_missing_files(saved, tmp_path):
    shards_file(saved).unlink()
    with pytest.raises(FileNotFoundError, match=r"0\.0 must exist, got no such file"):
        load(saved)
    for what in (load, pytree_serialization.load_pytreedef):
        with pytest.raises(FileNotFoundError, match="hold a finished save, got no"):
            what(tmp_path / "absent")


def test_refusals(saved, tmp_path):
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save(1, saved, overwrite=False)
    save(1, tmp_path / "new", overwrite=False)
    with pytest.raises(TypeError, match=r"got str at data\['a'\]\[1\]"):
        save({"a": [1, "text"]}, saved)
    with pytest.raises(TypeError, match=r"got dtype float64 at data\['a'\]"):
        save({"a": np.ones(2)}, saved)
    with pytest.raises(TypeError, match=r"got dtype int64 at data\['a'\]"):
        save({"a": np.array([2**40])}, saved)
    with pytest.raises(ValueError, match=r"save: types of nodes must be registered"):
        save(Unregistered(1), saved)
    with pytest.raises(ValueError, match="ts_specs must be None"):
        save(1, saved, ts_specs={})
    with pytest.raises(ValueError, match="shardings"):
        load(saved, {"y": None})
    with pytest.raises(
        ValueError, match=r"must be that of the saved array, got \(2,\)"
    ):
        load(saved, olympus.ShapeDtypeStruct((2,), "float32"))
    assert load(saved)["x"].tolist() == [0, 1, 2, 3, 4, 5]


def test_dtypes_of_64_bits(tmp_path):
    with olympus.enable_x64(True):
        save({"x": np.arange(3.0)}, tmp_path)
        assert load(tmp_path)["x"].dtype == "float64"
    with pytest.raises(TypeError, match=r"got float64\[3\] saved at data\['x'\]"):
        load(tmp_path)
    x = load(tmp_path, olympus.ShapeDtypeStruct((3,), "float32"))["x"]
    assert x.dtype == "float32"


def test_a_key_stays_a_key(tmp_path):
    save(olympus.random.key(1), tmp_path)
    with pytest.raises(TypeError, match="random keys must keep their dtype"):
        load(tmp_path, olympus.ShapeDtypeStruct((), "float32"))


@pytest.mark.eight_devices
def test_a_mesh_that_cannot_divide(saved):
    with pytest.raises(ValueError, match=r"load: data\['x'\]: the size of a divided"):
        load(saved, NamedSharding(mesh(4, 2), P("x")))


FAILING = [
    (shard_files, "write"),
    (saving.bundle_files, "write_file"),
    (indexing, "pack"),
]


@pytest.mark.parametrize(("module", "name"), FAILING)
def test_a_save_that_fails_leaves_the_former_one(saved, monkeypatch, module, name):
    def fail(*arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(module, name, fail)
    before = sorted(os.listdir(saved))
    with pytest.raises(OSError, match="the disk is full"):
        save({"x": jnp.zeros(6)}, saved)
    assert sorted(os.listdir(saved)) == before
    assert load(saved)["x"].tolist() == [0, 1, 2, 3, 4, 5]


def test_what_others_left_is_removed(saved):
    (saved / "arrays-0123456789abcdef").mkdir()
    (saved / ".index.json.abc").write_text("")
    (saved / "notes.txt").write_text("mine")
    save(2, saved)
    assert set(os.listdir(saved)) == {one_folder(saved), "index.json", "notes.txt"}
