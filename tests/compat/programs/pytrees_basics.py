"""Flattening, mapping, comparing and printing trees."""

import collections

import jax
import jax.numpy as jnp

Point = collections.namedtuple("Point", "x y")
trees = [
    [1, "a", object],
    (1, (2, 3), ()),
    {"b": 2, "a": (1, None)},
    Point(1, [2, 3]),
    collections.OrderedDict([("z", 1), ("a", 2)]),
    collections.defaultdict(list, {"k": [1, 2]}),
    None,
    jnp.zeros(2),
]
for tree in trees:
    leaves, treedef = jax.tree.flatten(tree)
    print(len(leaves), treedef, treedef.num_leaves, treedef.num_nodes)
print(jax.tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)}))
print(jax.tree.leaves({"b": 1, "a": 2, "c": None}), jax.tree.leaves(None))
print(jax.tree.leaves([1, None], is_leaf=lambda x: x is None))
print(jax.tree.reduce(lambda a, b: a + b, [1, (2, {"k": 3})]), jax.tree.all([True, (False,)]))
print(jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}, {"a": 3, "b": 4}]))
print(jax.tree.unflatten(jax.tree.structure((0, [0])), [5, 6]))
print(jax.tree_util.tree_structure([1]) == jax.tree.structure([2]), hash(jax.tree.structure([1])) == hash(jax.tree.structure([2])))
print(jax.tree.structure(Point(1, 2)).children(), jax.tree.structure([1]).node_data())
print(jax.tree_util.treedef_tuple([jax.tree.structure(1), jax.tree.structure([1, 2])]))
print(jax.tree_util.tree_flatten_with_path({"a": [1, 2], "p": Point(3, 4)})[0])
for path, leaf in jax.tree_util.tree_leaves_with_path({"a": [1, (2,)], "q": Point(5, 6)}):
    print(jax.tree_util.keystr(path), jax.tree_util.keystr(path, simple=True, separator="/"), leaf)
print(jax.tree.map_with_path(lambda path, x: f"{path[-1]}={x}", {"w": 1, "b": [2]}))
print(jax.tree_util.tree_map(lambda x: x, ({}, [], ())))
print(jax.tree.broadcast(1, {"a": 5, "b": [6, 7]}))
print(jax.tree_util.treedef_children(jax.tree.structure([0, (0,)])))
print(jax.tree_util.all_leaves([1, 2]), jax.tree_util.all_leaves([[1]]))
for bad in [
    lambda: jax.tree.map(lambda x, y: x, [1, 2], [1]),
    lambda: jax.tree.map(lambda x, y: x, [1], (1,)),
    lambda: jax.tree.map(lambda x, y: x, {"a": 1}, {"b": 1}),
    lambda: jax.tree.unflatten(jax.tree.structure([1, 2]), [1]),
    lambda: jax.tree.leaves({1: 2, "a": 3}),
]:
    try:
        bad()
    except Exception as error:
        print(type(error).__name__)
