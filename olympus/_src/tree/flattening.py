"""Flattening and unflattening of trees."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from olympus._src.runtime import pytree
from olympus._src.runtime.pytree import GetAttrKey
from olympus._src.tree.keys import KeyPath
from olympus._src.tree.registry import default_registry

PyTreeDef = pytree.PyTreeDef
# Arrays in tuples, lists, dicts, None and registered classes, nested in any way; an
# array alone too. No type of Python says so much: a checker takes any value.
PyTree = Any
IsLeaf = Callable[[Any], bool] | None
IsLeafOrPath = Callable[..., bool] | None  # may take the path before the node

# The engine's own method, without a frame of ours around it: for calls by the thousand.
# It takes the tree and, by position, a predicate; it returns leaves and structure.
flatten = default_registry.flatten


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Flattens a pytree into its leaves and its structure.

    Tuples, lists, dicts (in the order of their keys), namedtuples, OrderedDicts,
    defaultdicts, None and registered classes are nodes; everything else is a leaf.

    Args:
      tree: any value.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Returns:
      The list of leaves, and the structure: a `PyTreeDef`, which compares and hashes.

    Raises:
      ValueError: the keys of a dict have no order.

    Example:
      >>> from olympus import tree
      >>> tree.flatten({"b": (1, 2), "a": None})
      ([1, 2], PyTreeDef({'a': None, 'b': (*, *)}))
    """
    try:
        return flatten(tree, is_leaf)
    except ValueError as error:
        if "Comparator" not in str(error):
            raise
        raise _unordered_keys(error) from None


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a pytree.

    Args:
      tree: any value.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Example:
      >>> from olympus import tree
      >>> tree.leaves([1, (2, None), {"a": 3}])
      [1, 2, 3]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a pytree.

    Args:
      tree: any value.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Example:
      >>> from olympus import tree
      >>> tree.structure([1, (2, None)])
      PyTreeDef([*, (*, None)])
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> PyTree:
    """Rebuilds a pytree from its structure and leaves.

    Args:
      treedef: the structure.
      leaves: as many values as the structure has leaves; they may be trees.

    Raises:
      ValueError: the number of leaves is wrong.

    Example:
      >>> from olympus import tree
      >>> leaves, structure = tree.flatten((1, [2]))
      >>> tree.unflatten(structure, [10, 20])
      (10, [20])
    """
    return treedef.unflatten(leaves)


def tree_flatten_with_path(
    tree: PyTree,
    is_leaf: IsLeafOrPath = None,
    is_leaf_takes_path: bool = False,
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Flattens a pytree, with the key path of each leaf.

    Args:
      tree: any value.
      is_leaf: called at each node; where it returns True, the node is a leaf.
      is_leaf_takes_path: call it as `is_leaf(path, node)`.

    Returns:
      The list of `(path, leaf)`, and the structure.

    Example:
      >>> from olympus import tree
      >>> tree.flatten_with_path([7])[0]
      [((SequenceKey(idx=0),), 7)]
    """
    predicate = is_leaf
    if is_leaf is not None and not is_leaf_takes_path:
        bare = is_leaf

        def predicate(_: KeyPath, node: Any) -> bool:
            return bare(node)

    try:
        return default_registry.flatten_with_path(tree, predicate)
    except ValueError as error:
        if "Comparator" not in str(error):
            raise
        raise _unordered_keys(error) from None


def tree_leaves_with_path(
    tree: PyTree,
    is_leaf: IsLeafOrPath = None,
    is_leaf_takes_path: bool = False,
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a pytree with their key paths.

    Args:
      tree: any value.
      is_leaf: called at each node; where it returns True, the node is a leaf.
      is_leaf_takes_path: call it as `is_leaf(path, node)`.

    Returns:
      The list of `(path, leaf)`.
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def _unordered_keys(error: ValueError) -> ValueError:
    """What jaxlib says of keys that do not compare, in words of ours."""
    return ValueError(
        "tree.flatten: keys of a dict must have an order, got keys that do not compare "
        f"({error.__cause__ or error}); use keys of one type, or an OrderedDict, whose "
        "own order counts"
    )


# -- one node --------------------------------------------------------------------------


def flatten_one_level(tree: PyTree) -> tuple[Iterable[Any], Hashable]:
    """The children of one node, and its static data.

    Args:
      tree: a node.

    Returns:
      `(children, static data)`.

    Raises:
      ValueError: `tree` is a leaf.

    Example:
      >>> from olympus import tree_util
      >>> tree_util.flatten_one_level({"a": [1], "b": 2})
      (([1], 2), ('a', 'b'))
    """
    level = default_registry.flatten_one_level(tree)
    if level is None:
        raise _leaf_error("flatten_one_level", tree)
    return level


def flatten_one_level_with_keys(
    tree: PyTree,
) -> tuple[Iterable[tuple[Any, Any]], Hashable]:
    """The children of one node with their keys, and its static data.

    Args:
      tree: a node.

    Returns:
      `(pairs of key and child, static data)`.

    Raises:
      ValueError: `tree` is a leaf.
    """
    level = one_level_with_keys(tree)
    if level is None:
        raise _leaf_error("flatten_one_level_with_keys", tree)
    return level


def one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Any] | None:
    """As `flatten_one_level_with_keys`; None for a leaf."""
    level: Any = default_registry.flatten_one_level_with_keys(tree)
    if level is not None and isinstance(tree, tuple) and level[1] is type(tree):
        # A namedtuple: jaxlib 0.10 gives each child the key of the first.
        names = map(GetAttrKey, getattr(tree, "_fields", ()))
        return list(zip(names, tree, strict=True)), level[1]
    return level


def _leaf_error(where: str, leaf: Any) -> ValueError:
    return ValueError(
        f"{where}: the value must be a node of a tree, got a leaf of type "
        f"{type(leaf).__name__}; register its type, or check is_tree_node(type) first"
    )


def is_tree_node(typ: type) -> bool:
    """Whether values of this type are nodes.

    Args:
      typ: a class.

    Example:
      >>> from olympus import tree_util
      >>> tree_util.is_tree_node(dict), tree_util.is_tree_node(int)
      (True, False)
    """
    return default_registry.is_node(typ)


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether all of the values are leaves.

    Args:
      iterable: the values.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Example:
      >>> from olympus import tree_util
      >>> tree_util.all_leaves([1, "a"]), tree_util.all_leaves([1, [2]])
      (True, False)
    """
    if is_leaf is None:
        return pytree.all_leaves(default_registry, iterable)
    return all(is_leaf(x) or not is_tree_node(type(x)) for x in iterable)


# -- structures ------------------------------------------------------------------------


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of a structure's children.

    Args:
      treedef: a structure.

    Example:
      >>> from olympus import tree, tree_util
      >>> tree_util.treedef_children(tree.structure([1, [2]]))
      [PyTreeDef(*), PyTreeDef([*])]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is a leaf, or a node without children.

    Args:
      treedef: a structure.
    """
    return treedef.num_nodes == 1


def is_one_leaf(treedef: Any) -> bool:
    """Whether a structure is a leaf; a node without children, such as None, is not."""
    return treedef.num_nodes == 1 and treedef.num_leaves == 1


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple whose elements have these structures.

    Args:
      treedefs: structures.
    """
    return pytree.treedef_tuple(default_registry, treedefs)


def treedef_of(node: tuple[type, Any], children: Iterable[Any]) -> Any:
    """The structure of a node of this type and static data.

    Args:
      node: the type and the static data, as `node_data()` of a structure gives them.
      children: structures.
    """
    return pytree.treedef_of(default_registry, node, children)


def static(**kwargs: Any) -> Any:
    """Declares a static field of a data class.

    Args:
      **kwargs: as for `dataclasses.field`.

    Returns:
      The field, whose metadata says that it is static; see `register_dataclass`.
    """
    metadata = {**kwargs.pop("metadata", {}), "static": True}
    # Imported by those who define data classes; olympus's own import need not pay.
    dataclasses = importlib.import_module("dataclasses")
    return dataclasses.field(metadata=metadata, **kwargs)
