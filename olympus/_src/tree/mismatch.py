"""Descriptions of where and how two trees differ in structure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from olympus._src.tree.flattening import IsLeaf, one_level_with_keys
from olympus._src.tree.keys import KeyPath, keystr
from olympus._src.tree.registry import default_registry


class Mismatch:
    """A place at which two trees differ.

    Attributes:
      path: how to reach it.
      says: the difference, with {0} and {1} for the two places.
      remedy: what to do about it; may be empty.
    """

    __slots__ = ("path", "remedy", "says")

    def __init__(self, path: KeyPath, says: str, remedy: str = "") -> None:
        self.path = path
        self.says = says
        self.remedy = remedy

    def describe(self, first: str, second: str) -> str:
        """The difference in words; `first` and `second` name the two trees."""
        where = keystr(self.path)
        text = self.says.replace("{0}", first + where).replace("{1}", second + where)
        return f"{text}; {self.remedy}" if self.remedy else text


def prefix_errors(prefix: Any, full: Any, is_leaf: IsLeaf = None) -> list[Mismatch]:
    """The places at which one tree is not a prefix of another.

    Args:
      prefix: a tree whose leaves correspond to subtrees.
      full: the other tree.
      is_leaf: called at each node of `prefix`; where True, the node is a leaf.

    Returns:
      One mismatch for each place; none if `prefix` is a prefix of `full`.
    """
    return list(_differences((), prefix, full, is_leaf, exact=False))


def equality_errors(first: Any, second: Any, is_leaf: IsLeaf = None) -> list[Mismatch]:
    """The places at which two trees have different structures."""
    return list(_differences((), first, second, is_leaf, exact=True))


def treedef_errors(first: Any, second: Any) -> list[Mismatch]:
    """The places at which two structures differ."""
    return equality_errors(skeleton(first), skeleton(second))


def skeleton(treedef: Any) -> Any:
    """A tree of a structure, for `prefix_errors`; its leaves print as leaves."""
    return treedef.unflatten([_LEAF] * treedef.num_leaves)


class _Leaf:
    """A placeholder for any leaf."""

    __slots__ = ()


_LEAF = _Leaf()


def explain(
    where: str, first: str, second: str, mismatches: list[Mismatch]
) -> ValueError:
    """The error that a public function raises for trees that do not match.

    Args:
      where: the public function.
      first: the name of one tree in that function.
      second: the name of the other.
      mismatches: at least one.
    """
    lines = [m.describe(first, second) for m in mismatches[:_MAX_SHOWN]]
    if len(mismatches) > _MAX_SHOWN:
        lines.append(f"and {len(mismatches) - _MAX_SHOWN} more places")
    return ValueError(
        f"{where}: {first} and {second} must agree in structure, got "
        + "\n  and ".join(lines)
    )


_MAX_SHOWN = 4


def _differences(
    path: KeyPath, first: Any, second: Any, is_leaf: IsLeaf, *, exact: bool
) -> Iterator[Mismatch]:
    node: Any = None
    if is_leaf is None or not is_leaf(first):
        node = one_level_with_keys(first)
    other: Any = one_level_with_keys(second)
    if node is None:
        if exact and other is not None:
            yield Mismatch(path, f"a leaf at {{0}} and {_kind(second)} at {{1}}")
        return
    if type(first) is not type(second):
        yield _types_differ(path, first, second)
        return
    pairs, static = list(node[0]), node[1]
    others, other_static = list(other[0]), other[1]
    if len(pairs) != len(others):
        yield _lengths_differ(path, first, pairs, others)
        return
    if static != other_static:
        yield _static_data_differs(path, first, static, other_static)
        return
    for (key, child), (_, other_child) in zip(pairs, others, strict=True):
        yield from _differences((*path, key), child, other_child, is_leaf, exact=exact)


def _types_differ(path: KeyPath, first: Any, second: Any) -> Mismatch:
    remedy = ""
    if first is None:
        remedy = (
            "None is a node without leaves; to treat it as a leaf, pass "
            "is_leaf=lambda x: x is None"
        )
    elif {type(first), type(second)} == {list, tuple}:
        remedy = "lists and tuples are different nodes; write one as the other"
    names = _kind(first), _kind(second)
    if names[0] == names[1]:
        names = _full_name(type(first)), _full_name(type(second))
    return Mismatch(path, f"{names[0]} at {{0}} and {names[1]} at {{1}}", remedy)


def _lengths_differ(
    path: KeyPath, first: Any, pairs: list[Any], others: list[Any]
) -> Mismatch:
    if isinstance(first, (list, tuple)) and not hasattr(first, "_fields"):
        return Mismatch(
            path,
            f"{_kind(first)} of {len(pairs)} at {{0}} and one of {len(others)} at "
            "{1}",
        )
    mine = {str(key) for key, _ in pairs}
    theirs = {str(key) for key, _ in others}
    parts = []
    if mine - theirs:
        parts.append(f"only {{0}} has {_format_names(mine - theirs)}")
    if theirs - mine:
        parts.append(f"only {{1}} has {_format_names(theirs - mine)}")
    return Mismatch(
        path,
        f"{_kind(first)} with {len(pairs)} children at {{0}} and one with "
        f"{len(others)} at {{1}}" + "".join(f", {part}" for part in parts),
    )


def _static_data_differs(path: KeyPath, first: Any, mine: Any, theirs: Any) -> Mismatch:
    if isinstance(first, dict) and isinstance(mine, tuple):
        only = set(mine) - set(theirs), set(theirs) - set(mine)
        if all(only):
            return Mismatch(
                path,
                f"different keys: only {{0}} has {_format_names(map(repr, only[0]))}, "
                f"only {{1}} has {_format_names(map(repr, only[1]))}",
            )
    return Mismatch(
        path,
        f"{_kind(first)} with static data {_short(mine)} at {{0}} and with "
        f"{_short(theirs)} at {{1}}",
        "static data is compared by ==",
    )


def _format_names(names: Any) -> str:
    names = sorted(names)
    if len(names) > _MAX_LISTED:
        return ", ".join(names[:_MAX_LISTED]) + f" and {len(names) - _MAX_LISTED} more"
    return ", ".join(names)


_MAX_LISTED = 6


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 3] + "..."


_MAX_TEXT = 200


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    if value is _LEAF:
        return "a leaf"
    if default_registry.flatten_one_level(value) is None:
        return f"a leaf of type {type(value).__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _full_name(kind: type) -> str:
    return f"a {kind.__module__}.{kind.__qualname__} (class {id(kind):#x})"
