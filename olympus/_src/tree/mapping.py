"""Functions over the leaves of trees."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from olympus._src.tree import mismatch
from olympus._src.tree.flattening import (
    IsLeaf,
    IsLeafOrPath,
    PyTree,
    PyTreeDef,
    flatten,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_structure,
)
from olympus._src.tree.registry import default_registry

Function = Callable[..., Any]


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"


_MISSING: Any = _Missing()


def tree_map(
    f: Function, tree: PyTree, *rest: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Applies a function to each leaf of a pytree.

    Args:
      f: called with a leaf of `tree` and its counterpart in each of `rest`.
      tree: any value.
      *rest: trees that have the structure of `tree`, or one of which it is a prefix.
      is_leaf: called at each node of `tree`; where True, the node is a leaf.

    Returns:
      A tree of the structure of `tree`.

    Raises:
      ValueError: one of `rest` does not match; the message says where.

    Example:
      >>> from olympus import tree
      >>> tree.map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
      {'a': 11, 'b': [22]}
    """
    leaves, treedef = tree_flatten(tree, is_leaf)
    if rest:
        columns = _columns("tree.map", treedef, tree, rest, is_leaf)
        return treedef.unflatten(map(f, leaves, *columns))
    return treedef.unflatten(map(f, leaves))


def tree_map_with_path(
    f: Function,
    tree: PyTree,
    *rest: PyTree,
    is_leaf: IsLeafOrPath = None,
    is_leaf_takes_path: bool = False,
) -> PyTree:
    """Applies a function to each leaf of a pytree and its key path.

    Args:
      f: called with the path of a leaf, the leaf, and its counterparts in `rest`.
      tree: any value.
      *rest: trees that have the structure of `tree`, or one of which it is a prefix.
      is_leaf: called at each node of `tree`; where True, the node is a leaf.
      is_leaf_takes_path: call it as `is_leaf(path, node)`.

    Returns:
      A tree of the structure of `tree`.

    Raises:
      ValueError: one of `rest` does not match; the message says where.

    Example:
      >>> from olympus import tree, tree_util
      >>> tree.map_with_path(lambda path, x: tree_util.keystr(path), {"a": [1, 2]})
      {'a': ["['a'][0]", "['a'][1]"]}
    """
    pairs, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    paths = [path for path, _ in pairs]
    leaves = [leaf for _, leaf in pairs]
    bare = None if is_leaf_takes_path else is_leaf
    columns = _columns("tree.map_with_path", treedef, tree, rest, bare)
    return treedef.unflatten(map(f, paths, leaves, *columns))


def _columns(
    where: str, treedef: Any, tree: Any, rest: tuple[Any, ...], is_leaf: IsLeaf
) -> list[list[Any]]:
    """The counterparts in each of `rest` of the leaves of `tree`."""
    columns = []
    for i, other in enumerate(rest):
        try:
            columns.append(treedef.flatten_up_to(other))
        except ValueError:
            mismatches = mismatch.prefix_errors(tree, other, is_leaf)
            if not mismatches:
                raise
            second = f"rest[{i}]"
            raise mismatch.explain(where, "tree", second, mismatches) from None
    return columns


def tree_all(tree: PyTree, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves of a tree are true.

    Args:
      tree: any value.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Example:
      >>> from olympus import tree
      >>> tree.all([True, (True, None)])
      True
    """
    return all(tree_leaves(tree, is_leaf))


def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: PyTree,
    initializer: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combines the leaves of a pytree from the first to the last.

    Args:
      function: called with the result so far and the next leaf.
      tree: any value.
      initializer: the initial value; default the first leaf.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Raises:
      TypeError: there is no leaf and no initializer.

    Example:
      >>> from olympus import tree
      >>> tree.reduce(lambda a, b: a + b, [1, (2, 3)])
      6
    """
    leaves = tree_leaves(tree, is_leaf)
    if initializer is not _MISSING:
        return functools.reduce(function, leaves, initializer)
    if not leaves:
        raise TypeError(
            "tree.reduce: the tree must have a leaf where no initializer is given, got "
            f"{tree_structure(tree)}; pass initializer"
        )
    return functools.reduce(function, leaves)


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: PyTree,
    *,
    identity: Any = _MISSING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combines the leaves of a pytree pairwise, so that parts may run in parallel.

    Args:
      operation: combines two values; it must be associative.
      tree: any value.
      identity: the result for a tree without leaves.
      is_leaf: called at each node; where it returns True, the node is a leaf.

    Raises:
      TypeError: there is no leaf and no identity.

    Example:
      >>> from olympus import tree
      >>> tree.reduce_associative(lambda a, b: f"({a}{b})", list("abcd"))
      '((ab)(cd))'
    """
    leaves = tree_leaves(tree, is_leaf)
    if leaves:
        return _halves(operation, leaves, 0, len(leaves))
    if identity is _MISSING:
        raise TypeError(
            "tree.reduce_associative: the tree must have a leaf where no identity is "
            f"given, got {tree_structure(tree)}; pass identity"
        )
    return identity


def _halves(
    operation: Callable[[Any, Any], Any], leaves: list[Any], start: int, stop: int
) -> Any:
    if stop - start == 1:
        return leaves[start]
    middle = (start + stop) // 2
    return operation(
        _halves(operation, leaves, start, middle),
        _halves(operation, leaves, middle, stop),
    )


def tree_transpose(
    outer_treedef: PyTreeDef,
    inner_treedef: PyTreeDef | None,
    pytree_to_transpose: PyTree,
) -> PyTree:
    """Exchanges the outer and the inner structure of a pytree of pytrees.

    Args:
      outer_treedef: the structure of the outer tree.
      inner_treedef: the structure of the trees at its leaves; None infers it from the
        first one.
      pytree_to_transpose: the tree.

    Returns:
      A tree of the inner structure, of trees of the outer structure.

    Raises:
      TypeError: the tree does not have as many leaves as the structures say.

    Example:
      >>> from olympus import tree
      >>> rows = [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]
      >>> tree.transpose(tree.structure([0, 0, 0]), None, rows)
      {'x': [1, 3, 5], 'y': [2, 4, 6]}
    """
    leaves, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(
            outer_treedef.flatten_up_to(pytree_to_transpose)[0]
        )
    inner, outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if treedef.num_leaves != inner * outer:
        raise TypeError(
            "tree.transpose: the tree must have the structure "
            f"{outer_treedef.compose(inner_treedef)}, got {treedef}; check the outer "
            "and the inner structure"
        )
    columns = [outer_treedef.unflatten(leaves[i::inner]) for i in range(inner)]
    return inner_treedef.unflatten(columns)


# -- prefixes --------------------------------------------------------------------------


def tree_broadcast(
    prefix_tree: PyTree, full_tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Copies the leaves of a prefix to all leaves of the pytree below them.

    Args:
      prefix_tree: a tree whose leaves correspond to subtrees.
      full_tree: the tree it is a prefix of.
      is_leaf: called at each node of `prefix_tree`; where True, the node is a leaf.

    Returns:
      A tree of the structure of `full_tree`, of leaves of `prefix_tree`.

    Raises:
      ValueError: it is not a prefix; the message says where.

    Example:
      >>> from olympus import tree
      >>> tree.broadcast([1, 2], [{"a": 0, "b": 0}, (0,)])
      [{'a': 1, 'b': 1}, (2,)]
    """
    what = "tree.broadcast prefix_tree"
    leaves = broadcast_prefix(prefix_tree, full_tree, is_leaf, what=what)
    return tree_structure(full_tree).unflatten(leaves)


def broadcast_prefix(
    prefix_tree: Any,
    full_tree: Any,
    is_leaf: IsLeaf = None,
    *,
    what: str = "broadcast_prefix prefix_tree",
    full_name: str = "full_tree",
) -> list[Any]:
    """The leaf of a prefix that corresponds to each leaf of a tree.

    Args:
      prefix_tree: a tree whose leaves correspond to subtrees.
      full_tree: the tree it is a prefix of.
      is_leaf: called at each node of `prefix_tree`; where True, the node is a leaf.
      what: the public function and its name for `prefix_tree`, for messages, such as
        "vmap in_axes".
      full_name: its name for `full_tree`.

    Returns:
      As many values as `full_tree` has leaves.
    """
    leaves, treedef = flatten(prefix_tree, is_leaf)
    if len(leaves) == 1 and leaves[0] is prefix_tree:
        return leaves * len(flatten(full_tree)[0])
    try:
        subtrees = treedef.flatten_up_to(full_tree)
    except ValueError:
        mismatches = mismatch.prefix_errors(prefix_tree, full_tree, is_leaf)
        if not mismatches:
            raise
        where, _, name = what.rpartition(" ")
        raise mismatch.explain(where, name, full_name, mismatches) from None
    spread: list[Any] = []
    for leaf, subtree in zip(leaves, subtrees, strict=True):
        spread += [leaf] * len(flatten(subtree)[0])
    return spread


def broadcast_axes(
    where: str, name: str, axes: Any, treedef: Any, *, full_name: str = "args"
) -> list[Any]:
    """The axis of each leaf of a structure, from axes in which None is a leaf.

    Args:
      where: the public function, for messages.
      name: the name of `axes` in that function, such as "in_axes".
      axes: a prefix of the structure; a single int or None applies to all leaves.
      treedef: the structure.
      full_name: what has the structure, for messages.

    Returns:
      As many values as the structure has leaves.

    Raises:
      ValueError: `axes` is not a prefix; the message says where.
    """
    if axes is None or type(axes) is int:
        return [axes] * treedef.num_leaves
    spread: list[Any] = []
    if not _spread(axes, treedef, spread):
        mismatches = mismatch.prefix_errors(axes, mismatch.skeleton(treedef), _is_none)
        raise mismatch.explain(where, name, full_name, mismatches)
    return spread


def _spread(axes: Any, treedef: Any, spread: list[Any]) -> bool:
    """Appends the axis of each leaf to `spread`; False if `axes` is not a prefix."""
    # Structures are compared, not trees of them: a node's class may refuse to be made
    # of anything but its own kind of leaves.
    lone = axes is None or type(axes) is int
    node = None if lone else default_registry.flatten_one_level(axes)
    if node is None:
        spread += [axes] * treedef.num_leaves
        return True
    below = treedef.children()
    full = treedef.node_data()
    children, static = node
    children = list(children)
    if full is None or full[0] is not type(axes) or len(children) != len(below):
        return False
    if not _same_static(type(axes), static, full[1]):
        return False
    pairs = zip(children, below, strict=True)
    return all(_spread(child, inner, spread) for child, inner in pairs)


def _same_static(kind: type, first: Any, second: Any) -> bool:
    if kind is dict:  # the engine gives the keys as a tuple or as a list
        return list(first) == list(second)
    if first is kind:  # a namedtuple: the class is all there is to compare
        return True
    return first == second


def _is_none(x: Any) -> bool:
    return x is None
