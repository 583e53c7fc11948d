"""Flattening: against recursion by hand, with paths, structures and pickles."""

import collections
import copy
import pickle
import subprocess
import sys

import pytest
from hypothesis import given

from olympus import tree, tree_util
from tree.trees import TREES, Box, Point, leaves_by_hand, step


@pytest.mark.slow
@given(TREES)
def test_leaves_are_those_of_the_recursion(t):
    assert tree.leaves(t) == leaves_by_hand(t)


@given(TREES)
def test_unflatten_undoes_flatten(t):
    leaves, structure = tree.flatten(t)
    back = tree.unflatten(structure, leaves)
    assert back == t
    assert type(back) is type(t)
    assert tree.structure(back) == structure
    assert hash(tree.structure(back)) == hash(structure)
    assert structure.num_leaves == len(leaves)


@given(TREES)
def test_paths_lead_to_their_leaves(t):
    pairs, structure = tree.flatten_with_path(t)
    assert structure == tree.structure(t)
    assert [leaf for _, leaf in pairs] == tree.leaves(t)
    for path, leaf in pairs:
        here = t
        for key in path:
            here = step(here, key)
        assert here is leaf


@given(TREES)
def test_printed_paths_are_python(t):
    for path, leaf in tree.leaves_with_path(t):
        text = tree_util.keystr(path)
        assert text == "".join(str(key) for key in path)
        if "flat index" not in text:
            assert eval(f"t{text}", {"t": t}) is leaf


@given(TREES)
def test_structures_pickle(t):
    structure = tree.structure(t)
    assert pickle.loads(pickle.dumps(structure)) == structure
    assert copy.deepcopy(structure) == structure


def test_a_structure_is_unpickled_without_jax():
    data = pickle.dumps(tree.structure([1, {"a": (2, None)}]))
    code = (
        f"import pickle, sys; t = pickle.loads({data!r}); print(t);"
        "assert 'jax' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "PyTreeDef([*, {'a': (*, None)}])\n", done.stderr


def test_structures_print():
    t = [1, {"a": 2}, None, (3,), Point(1, 2), collections.OrderedDict(z=1)]
    assert str(tree.structure(t)) == (
        "PyTreeDef([*, {'a': *}, None, (*,), CustomNode(namedtuple[Point], [*, *]), "
        "CustomNode(OrderedDict[('z',)], [*])])"
    )


def test_the_order_of_dicts():
    assert tree.leaves({"b": 1, "a": 2}) == [2, 1]
    assert tree.leaves(collections.OrderedDict([("b", 1), ("a", 2)])) == [1, 2]
    assert tree.leaves(collections.defaultdict(int, {"b": 1, "a": 2})) == [2, 1]
    back = tree.map(lambda x: x, collections.defaultdict(list, {"b": 1}))
    assert back.default_factory is list


def test_keys_without_an_order_are_explained():
    for flatten in (tree.flatten, tree.flatten_with_path, tree.leaves):
        with pytest.raises(ValueError, match="keys of a dict must have an order"):
            flatten({1: 2, "a": 3})


def test_is_leaf():
    assert tree.leaves([None, 1], lambda x: x is None) == [None, 1]
    assert tree.leaves({"a": [1, 2]}, is_leaf=lambda x: isinstance(x, list)) == [[1, 2]]
    pairs = tree.leaves_with_path({"a": [1]}, lambda x: isinstance(x, list))
    assert pairs == [((tree_util.DictKey("a"),), [1])]
    pairs = tree.leaves_with_path(
        {"a": [[1]]}, lambda path, x: len(path) == 2, is_leaf_takes_path=True
    )
    assert [(tree_util.keystr(p), x) for p, x in pairs] == [("['a'][0]", [1])]


def test_unflatten_counts():
    structure = tree.structure([1, 2])
    with pytest.raises(ValueError, match="Too few leaves"):
        tree.unflatten(structure, [1])
    with pytest.raises(ValueError, match="Too many leaves"):
        tree.unflatten(structure, [1, 2, 3])
    assert tree.unflatten(structure, iter(["a", [1]])) == ["a", [1]]


def test_keystr():
    (path, _), *_ = tree.leaves_with_path({"b": [Point(1, 2)]})
    assert tree_util.keystr(path) == "['b'][0].x"
    assert tree_util.keystr(path, simple=True) == "b0x"
    assert tree_util.keystr(path, simple=True, separator="/") == "b/0/x"
    assert tree_util.keystr(path, separator=" ") == "['b'] [0] .x"
    (path, _), *_ = tree.leaves_with_path(Box([1], "m"))
    assert tree_util.keystr(path) == "[<flat index 0>]"
    assert tree_util.keystr(path, simple=True) == "0"
    assert tree_util.keystr(("own", 3)) == "own3"
    assert tree_util.keystr((), simple=True) == ""


def test_keys_are_values():
    for kind, key in [
        (tree_util.DictKey, "a"),
        (tree_util.SequenceKey, 1),
        (tree_util.GetAttrKey, "x"),
        (tree_util.FlattenedIndexKey, 2),
    ]:
        assert kind(key) == kind(key)
        assert hash(kind(key)) == hash(kind(key))
        assert pickle.loads(pickle.dumps(kind(key))) == kind(key)
    assert repr(tree_util.DictKey("a")) == "DictKey(key='a')"


def test_one_level():
    assert tree_util.flatten_one_level({"b": [1], "a": 2}) == ((2, [1]), ("a", "b"))
    assert tree_util.flatten_one_level(None) == ((), None)
    pairs, static = tree_util.flatten_one_level_with_keys(Point(1, [2]))
    assert [(str(key), child) for key, child in pairs] == [(".x", 1), (".y", [2])]
    assert static is Point
    with pytest.raises(ValueError, match="must be a node of a tree, got a leaf of"):
        tree_util.flatten_one_level(3)
    with pytest.raises(ValueError, match=r"flatten_one_level_with_keys: .* type str"):
        tree_util.flatten_one_level_with_keys("a")


def test_questions():
    assert tree_util.is_tree_node(Box)
    assert tree_util.is_tree_node(type(None))
    assert tree_util.is_tree_node(Point)
    assert not tree_util.is_tree_node(int)
    assert tree_util.all_leaves([1, "a"])
    assert not tree_util.all_leaves([1, None])
    assert not tree_util.all_leaves([1, [2]])
    assert tree_util.all_leaves([[1], 2], lambda x: True)
    assert not tree_util.all_leaves([[1], 2], lambda x: False)


def test_parts_of_structures():
    structure = tree.structure([1, [2]])
    children = tree_util.treedef_children(structure)
    assert children == [tree.structure(0), tree.structure([0])]
    assert tree_util.treedef_tuple(children) == tree.structure((1, [2]))
    assert tree_util.treedef_is_leaf(children[0])
    assert tree_util.treedef_is_leaf(tree.structure(None))
    assert not tree_util.treedef_is_leaf(children[1])
    assert isinstance(structure, tree_util.PyTreeDef)
    assert tree_util.default_registry.flatten([1]) == tree.flatten([1])


def test_large_trees():
    t = {f"k{i:05}": (i, [i]) for i in range(10_000)}
    leaves, structure = tree.flatten(t)
    assert leaves == [i for i in range(10_000) for _ in range(2)]
    assert tree.unflatten(structure, leaves) == t
