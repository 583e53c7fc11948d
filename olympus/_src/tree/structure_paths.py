"""Paths of the leaves of a structure, without a tree of it.

Classes of users may refuse anything but arrays when they are built, or choose by the
types of their leaves what is static. They are built of marks that stand for no value,
one node at a time, and where they fail, or lose marks, a number stands for the key.
"""

from __future__ import annotations

from typing import Any

from olympus._src.runtime.pytree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    PyTreeDef,
    SequenceKey,
)
from olympus._src.tree.flattening import (
    flatten_one_level_with_keys,
    tree_structure,
    treedef_of,
)
from olympus._src.tree.registry import registered_types


def leaf_key_paths(structure: PyTreeDef) -> list[tuple[Any, ...]]:
    """A key path for each leaf of a structure, in order."""
    node = structure.node_data()
    if node is None:
        return [()]
    children = structure.children()
    keys = child_keys(*node, len(children))
    return [
        (key, *path)
        for key, child in zip(keys, children, strict=True)
        for path in leaf_key_paths(child)
    ]


def child_keys(kind: type, static: Any, count: int) -> list[Any]:
    """The keys that lead to a node's children.

    Args:
      kind, static: of the node, as `node_data` gives them.
      count: of its children.
    """
    if kind is tuple or kind is list:
        return [SequenceKey(i) for i in range(count)]
    if kind is dict:
        return [DictKey(key) for key in static]
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if fields is not None and kind not in registered_types():
        return [GetAttrKey(name) for name in fields]
    marks = [_Mark() for _ in range(count)]
    try:
        node = treedef_of((kind, static), [_LEAF] * count).unflatten(marks)
        pairs = list(flatten_one_level_with_keys(node)[0])
    except Exception:
        pairs = []
    if [value for _, value in pairs] != marks:
        return [FlattenedIndexKey(i) for i in range(count)]
    return [key for key, _ in pairs]


class _Mark:
    """A leaf that stands for no value; equal to itself alone."""

    __slots__ = ()


_LEAF = tree_structure(0)
