"""The bytes of exported programs, and bytes that are something else."""

from __future__ import annotations

import collections
import copy
import dataclasses
import json
import random as random_

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import olympus
import olympus.numpy as jnp
from export.programs import TABLE
from olympus import export, scipy, tree_util
from olympus._src.export import trees
from olympus._src.foundation import container


def f(x, weights, *, scale):
    hidden = jnp.tanh(x @ TABLE)[:, :3]
    return {"loss": (hidden * weights["w"]).sum(), "aux": (hidden, scale)}


ARGS = (np.ones((2, 3), np.float32), {"w": np.ones(3, np.float32)})


@pytest.fixture(scope="module")
def data():
    exported = export.export(olympus.jit(f), platforms=("cpu", "cuda"))(*ARGS, scale=2)
    return bytes(exported.serialize(vjp_order=1))


def unpacked(data):
    return container.unpack(data, "exported program", range(1, 2))


# -- trees -----------------------------------------------------------------------------

Pair = collections.namedtuple("Pair", "first second")
Other = collections.namedtuple("Other", "first second")


@tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    name: str = olympus.tree.static(default="")


class Plain:
    pass


@pytest.fixture(scope="module", autouse=True)
def registered():
    if Pair not in trees.registered_types():
        export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")
        export.register_pytree_node_serialization(
            Layer,
            serialized_name="tests.Layer",
            serialize_auxdata=lambda static: static[0].encode(),
            deserialize_auxdata=lambda written: (written.decode(),),
        )


STRUCTURES = [
    (),
    (((), {}), None),
    {"b": [1, (2, None)], "a": {3: 4, -1: 5}},
    Pair([1], {"x": Pair(2, ())}),
    collections.OrderedDict(b=1, a=(2, 3)),
    [Layer((1, 2), "first"), Layer(3)],
    7,
]


@pytest.mark.parametrize("tree", STRUCTURES, ids=str)
def test_structures_come_back(tree):
    wanted = olympus.tree.structure(tree)
    found = trees.from_json(trees.to_json(wanted))
    assert found == wanted
    assert olympus.tree.unflatten(found, olympus.tree.leaves(tree)) == tree


KEYS = st.text(max_size=3), st.integers(-5, 5)
TREES = st.recursive(
    st.just(0) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS[0], inner, max_size=3)
        | st.dictionaries(KEYS[1], inner, max_size=3).map(collections.OrderedDict)
        | st.tuples(inner, inner).map(lambda pair: Pair(*pair))
    ),
    max_leaves=8,
)


@pytest.mark.slow
@hypothesis.given(TREES)
def test_drawn_structures_come_back(tree):
    wanted = olympus.tree.structure(tree)
    assert trees.from_json(json.loads(json.dumps(trees.to_json(wanted)))) == wanted


@pytest.mark.slow
def test_namedtuples_of_olympus_are_known_by_who_returns_them():
    matrix = np.eye(2, dtype=np.float32)
    for value, name in (
        (jnp.linalg.eigh(matrix), "olympus.numpy.linalg.eigh"),
        (jnp.linalg.slogdet(matrix), "olympus.numpy.linalg.slogdet"),
        (jnp.unique_counts(matrix), "olympus.numpy.unique_counts"),
        (scipy.stats.mode(matrix), "olympus.scipy.stats.mode"),
    ):
        nodes = trees.to_json(olympus.tree.structure(value))
        assert nodes[-1][:2] == ["node", name]
        assert trees.from_json(nodes) == olympus.tree.structure(value)


def test_a_deep_structure_comes_back_and_a_deeper_one_is_refused():
    tree = 1
    for _ in range(300):
        tree = (tree,)
    treedef = olympus.tree.structure(tree)
    nodes = trees.to_json(treedef)
    assert trees.from_json(nodes) == treedef
    with pytest.raises(ValueError, match="deep"):
        trees.from_json([*nodes, *[["tuple", 1]] * 10_000])


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        ["*", "*"],
        [["tuple", 1]],
        ["*", ["tuple", -1]],
        ["*", ["tuple", True]],
        ["*", ["set", 1]],
        ["*", ["dict", [1.5]]],
        ["*", "*", ["dict", ["b", "a"]]],
        ["*", "*", ["dict", ["a", "a"]]],
        ["*", "*", ["dict", ["a", 1]]],
        ["x"],
        [""],
        [None],
        [[]],
        ["*", ["node", "tests.Pair", 1, ""]],
        ["*", ["node", "tests.Pair", 1, 3]],
        ["*", ["node", "tests.Layer", 1, "!"]],
        ["*", ["node", "unknown", 1, ""]],
        ["*", ["node", "olympus.numpy.sin", 1, ""]],
        ["*", ["node", "olympus.no.page", 1, ""]],
    ],
    ids=str,
)
def test_wrong_nodes(nodes):
    with pytest.raises(container.Unreadable):
        trees.from_json(nodes)


def test_types_that_nobody_registered(data):
    for value, remedy in (
        (Other(1.0, 2.0), "register_namedtuple_serialization"),
        (olympus.tree_util.Partial(jnp.sin), "register_pytree_node_serialization"),
    ):
        exported = export.export(olympus.jit(lambda x: 0.0))(value)
        with pytest.raises(ValueError, match=remedy):
            exported.serialize()


def test_registering_twice():
    with pytest.raises(ValueError, match="duplicate serialization registration"):
        export.register_namedtuple_serialization(Pair, serialized_name="tests.New")
    with pytest.raises(ValueError, match="duplicate serialization registration"):
        export.register_namedtuple_serialization(Other, serialized_name="tests.Pair")
    with pytest.raises(ValueError, match="register_pytree_node_serialization"):
        export.register_namedtuple_serialization(dict, serialized_name="tests.dict")
    with pytest.raises(ValueError, match="register_pytree_node first"):
        export.register_pytree_node_serialization(
            Plain,
            serialized_name="tests.Plain",
            serialize_auxdata=lambda _: b"",
            deserialize_auxdata=lambda _: None,
        )


# -- bytes that are something else -----------------------------------------------------


@pytest.mark.parametrize("blob", [b"", b"hello", b"\x93OLYMP\r\n", b"ML\xefR" * 20])
def test_other_bytes(blob):
    with pytest.raises(ValueError, match=r"export\.deserialize: exported program"):
        export.deserialize(blob)
    with pytest.raises(TypeError, match="must be bytes, got str"):
        export.deserialize("text")


def test_damaged_bytes(data):
    draw = random_.Random(0)
    for _ in range(40):
        damaged = bytearray(data)
        damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        with pytest.raises(ValueError, match="exported program"):
            export.deserialize(damaged)
    for size in (1, 8, 16, 40, 500, len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match="exported program"):
            export.deserialize(data[:size])


def test_derivatives_share_constants(data):
    assert len(data) < 2 * TABLE.nbytes
    read = export.deserialize(data)
    assert read.vjp().constants[0] is read.constants[0]
    fields = unpacked(unpacked(data).sections["vjp"]).fields
    assert fields["constants"] == [0]


def test_a_newer_version_of_the_format(data):
    found = unpacked(data)
    newer = container.Container(found.kind, 2, found.fields, found.sections)
    with pytest.raises(ValueError, match="newer olympus"):
        export.deserialize(container.pack(newer))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=4,
)


def places(value, path=()):
    """The paths of all values in JSON."""
    yield path
    items = ()
    if isinstance(value, dict):
        items = sorted(value.items())
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*path, key))


def changed(fields, path, value):
    if not path:
        return value
    out = copy.deepcopy(fields)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return out


def check_forged(forged):
    """A header that was changed on purpose is refused, or makes a program that is."""
    try:
        read = export.deserialize(container.pack(forged))
    except ValueError:
        return
    try:
        read.call(*ARGS, scale=2)
    except (ValueError, TypeError, NotImplementedError):
        return


@pytest.mark.slow
@hypothesis.settings(max_examples=60)
@hypothesis.given(draws=st.data())
def test_forged_headers(data, draws):
    found = unpacked(data)
    path = draws.draw(st.sampled_from(sorted(places(found.fields), key=repr)))
    fields = changed(found.fields, path, draws.draw(JSON))
    check_forged(container.Container(found.kind, 1, fields, found.sections))


def test_sections_that_do_not_fit(data):
    found = unpacked(data)

    def with_sections(**sections):
        kept = {
            k: v for k, v in {**found.sections, **sections}.items() if v is not None
        }
        return container.pack(container.Container(found.kind, 1, found.fields, kept))

    with pytest.raises(ValueError, match="there must be a module"):
        export.deserialize(with_sections(module=None))
    with pytest.raises(ValueError, match="constant 0"):
        export.deserialize(with_sections(**{"constant 0": None}))
    with pytest.raises(ValueError, match="constant 0: must be 24000 bytes"):
        export.deserialize(with_sections(**{"constant 0": b"123"}))
    other = bytes(export.export(olympus.jit(jnp.sin))(1.0).serialize())
    with pytest.raises(ValueError, match="the derivative must"):
        export.deserialize(with_sections(vjp=other))
    nothing = with_sections(module=b"nothing")
    with pytest.raises(ValueError, match="must be a StableHLO artifact"):
        export.deserialize(nothing)
    swapped = export.deserialize(nothing, isolate=False)
    with pytest.raises(ValueError, match="must be a StableHLO artifact"):
        swapped.call(*ARGS, scale=2)
    module = unpacked(other).sections["module"]
    swapped = export.deserialize(with_sections(module=module))
    with pytest.raises(ValueError, match="export the function again"):
        swapped.call(*ARGS, scale=2)


def test_a_module_holds_no_positions_in_its_own_text():
    def chain(x):
        for _ in range(200):
            x = x * x
        return x

    size = jnp.float32(0)
    module = export.export(olympus.jit(chain))(size).mlir_module_serialized
    # Operation, operands and type of an operation are 8 bytes, without a place.
    assert len(module) < 500 + 8 * 200
