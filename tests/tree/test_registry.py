"""Registering classes: rules, keys, data classes, static objects, Partial, threads."""

import dataclasses
import functools
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from olympus import tree, tree_util
from olympus._src.runtime import pytree


def _paths(t):
    return [tree_util.keystr(path) for path, _ in tree.leaves_with_path(t)]


def test_a_class_by_its_methods():
    @tree_util.register_pytree_node_class
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def tree_flatten(self):
            return (self.a, self.b), "static"

        @classmethod
        def tree_unflatten(cls, static, children):
            assert static == "static"
            return cls(*children)

    assert tree.map(lambda x: x + 1, Pair(1, 2)).b == 3
    assert _paths(Pair(1, (2,))) == ["[<flat index 0>]", "[<flat index 1>][0]"]
    with pytest.raises(ValueError, match=r"registered once, got .*Pair again"):
        tree_util.register_pytree_node_class(Pair)


def test_a_class_with_keys_by_its_methods():
    @tree_util.register_pytree_with_keys_class
    class Named:
        def __init__(self, a):
            self.a = a

        def tree_flatten_with_keys(self):
            return ((tree_util.GetAttrKey("a"), self.a),), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    assert _paths(Named([1])) == [".a[0]"]
    assert tree.leaves(Named([1])) == [1]
    assert tree.map(lambda x: x + 1, Named(1)).a == 2


def test_functions_with_keys():
    class Bag:
        def __init__(self, *items):
            self.items = items

    flat = []

    def flatten(bag):
        flat.append(bag)
        return bag.items, None

    tree_util.register_pytree_with_keys(
        Bag,
        lambda bag: ([(("item", i), x) for i, x in enumerate(bag.items)], None),
        lambda _, items: Bag(*items),
        flatten,
    )
    assert _paths(Bag(1, 2)) == ["('item', 0)", "('item', 1)"]
    assert flat == []
    assert tree.leaves(Bag(1, 2)) == [1, 2]
    assert len(flat) == 1


def test_subclasses_are_leaves():
    class MyList(list):
        pass

    assert len(tree.leaves(MyList([1, 2]))) == 1


@pytest.mark.parametrize("kind", [list, dict, tuple, type(None)])
def test_built_in_nodes_stay(kind):
    with pytest.raises(ValueError, match="registered once"):
        tree_util.register_pytree_node(kind, lambda x: ((), None), lambda s, c: kind())


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="node type must be a class, got 3; pass int"):
        tree_util.register_pytree_node(3, len, len)
    with pytest.raises(TypeError, match=r"rules of X must be functions, got None"):
        tree_util.register_pytree_node(type("X", (), {}), None, len)
    with pytest.raises(AttributeError, match="must have a method tree_flatten"):
        tree_util.register_pytree_node_class(type("X", (), {}))


def test_static_objects_are_structure():
    @tree_util.register_static
    @dataclasses.dataclass(frozen=True)
    class Options:
        n: int

    assert tree.leaves([Options(1), 2]) == [2]
    assert tree.structure(Options(1)) == tree.structure(Options(1))
    assert tree.structure(Options(1)) != tree.structure(Options(2))
    assert tree.map(lambda x: x, [Options(3)]) == [Options(3)]
    assert tree.leaves_with_path(Options(1)) == []


# -- data classes ----------------------------------------------------------------------


def _layer():
    @dataclasses.dataclass
    class Layer:
        weight: object
        bias: object
        name: str = "none"

    return Layer


def test_named_fields():
    Layer = _layer()
    assert tree_util.register_dataclass(Layer, ["weight", "bias"], ["name"]) is Layer
    layer = Layer(1, [2], "a")
    assert tree.leaves(layer) == [1, 2]
    assert _paths(layer) == [".weight", ".bias[0]"]
    assert tree.map(lambda x: x, layer) == layer
    assert tree.structure(layer) != tree.structure(Layer(1, [2], "b"))


def test_declared_fields():
    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Layer:
        weight: object
        name: str = tree.static(default="n", metadata={"unit": "m"})
        size: int = dataclasses.field(metadata={"static": True}, default=1)
        made: int = dataclasses.field(init=False, default=5)

    layer = Layer(1)
    assert tree.leaves(layer) == [1]
    assert tree.map(lambda x: x + 1, layer) == Layer(2)
    declared = {f.name: f for f in dataclasses.fields(Layer)}
    assert dict(declared["name"].metadata) == {"unit": "m", "static": True}


def test_dropped_fields_are_lost():
    Layer = _layer()
    tree_util.register_dataclass(Layer, drop_fields=["name"])
    assert tree.map(lambda x: x, Layer(1, 2, "a")) == Layer(1, 2, "none")


def test_a_class_that_is_no_data_class_needs_both_lists():
    class Bare:
        def __init__(self, *, a, b):
            self.a, self.b = a, b

    with pytest.raises(TypeError, match="given for a class that is not a data class"):
        tree_util.register_dataclass(Bare)
    with pytest.raises(TypeError, match=r"together, got data_fields=\['a'\]"):
        tree_util.register_dataclass(Bare, ["a"])
    tree_util.register_dataclass(Bare, ["a"], ["b"])
    assert tree.map(lambda x: x + 1, Bare(a=1, b=2)).a == 2


@pytest.mark.parametrize(
    ("data", "meta", "message"),
    [
        (
            ["weight"],
            ["name"],
            "got none of bias; add them, or name them in drop",
        ),
        (["weight", "bias", "z"], ["name"], "must be init fields of Layer, got z;"),
        (["weight", "bias"], ["bias", "name"], "named once .* got bias more often"),
        (["weight", "weight", "bias"], ["name"], "named once .* got weight more often"),
    ],
)
def test_wrong_fields_are_named(data, meta, message):
    with pytest.raises(ValueError, match=message):
        tree_util.register_dataclass(_layer(), data, meta)


def test_a_data_class_is_registered_once():
    Layer = _layer()
    tree_util.register_dataclass(Layer, ["weight", "bias"], ["name"])
    with pytest.raises(ValueError, match=r"register_dataclass: .* again"):
        tree_util.register_dataclass(Layer, ["weight", "bias"], ["name"])


# -- Partial ---------------------------------------------------------------------------


def _call(*args, **kwargs):
    return args, kwargs


def test_partial_is_a_tree_of_its_arguments():
    p = tree_util.Partial(_call, [1, 2], y={"a": 3})
    assert tree.leaves(p) == [1, 2, 3]
    assert tree.map(lambda x: 10 * x, p)(7) == (([10, 20], 7), {"y": {"a": 30}})
    assert tree.structure(p) == tree.structure(
        tree_util.Partial(_call, [0, 0], y={"a": 0})
    )
    assert tree.structure(p) != tree.structure(tree_util.Partial(print, [0, 0]))
    assert isinstance(p, functools.partial)
    assert repr(tree_util.Partial(max, 1, key=3)).endswith(
        "Partial(<built-in function max>, 1, key=3)"
    )


@pytest.mark.parametrize("kind", [functools.partial, tree_util.Partial])
def test_a_partial_inside_stays_static(kind):
    p = tree_util.Partial(kind(_call, 1), 2)
    assert tree.leaves(p) == [2]
    assert p(3, z=4) == ((1, 2, 3), {"z": 4})
    assert tree.map(lambda x: 10 * x, p)(3) == ((1, 20, 3), {})
    assert tree.structure(p) == tree.structure(tree.map(lambda x: x, p))


def test_partial_pickles():
    p = tree_util.Partial(functools.partial(_call, 1), 2, k=3)
    assert pickle.loads(pickle.dumps(p))(4) == p(4)


# -- separate from others --------------------------------------------------------------


def test_the_registry_is_our_own():
    class Ours:
        pass

    tree_util.register_pytree_node(Ours, lambda o: ((), None), lambda s, c: Ours())
    shared = pytree.pytree.default_registry()
    assert not shared.is_node(Ours)
    assert tree_util.default_registry is not shared


def test_registering_in_threads():
    def work(i):
        kind = type(f"Kind{i}", (), {"__init__": lambda self, x: setattr(self, "x", x)})
        tree_util.register_pytree_node(
            kind, lambda k: ((k.x,), None), lambda _, c: kind(*c)
        )
        return [tree.map(lambda x: x + 1, [kind(n)])[0].x for n in range(200)]

    with ThreadPoolExecutor(8) as pool:
        for numbers in pool.map(work, range(16)):
            assert numbers == list(range(1, 201))
