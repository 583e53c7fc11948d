"""Key paths: how to reach a leaf from the root of its tree.

A path is a tuple of keys, each of which prints as the Python text that takes one step:
`['a']`, `[0]`, `.weight`. Types that users register may have keys of any hashable
class.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias, TypeVar

from olympus._src.runtime.pytree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    SequenceKey,
)

KeyEntry = TypeVar("KeyEntry", bound=Hashable)
KeyPath: TypeAlias = tuple[KeyEntry, ...]


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A key path as text.

    Args:
      keys: the path.
      simple: print the bare name or number of each step, without brackets and dots.
      separator: put between the steps.

    Returns:
      The text.

    Example:
      >>> from olympus import tree, tree_util
      >>> [(path, _)] = tree.leaves_with_path({"layers": [3.0]})
      >>> tree_util.keystr(path)
      "['layers'][0]"
      >>> tree_util.keystr(path, simple=True, separator="/")
      'layers/0'
    """
    step = _bare if simple else str
    return separator.join([step(key) for key in keys])


def _bare(key: object) -> str:
    if isinstance(key, SequenceKey):
        return str(key.idx)
    if isinstance(key, (DictKey, FlattenedIndexKey)):
        return str(key.key)
    if isinstance(key, GetAttrKey):
        return key.name
    return str(key)
