"""What differs between the arguments of two calls: containers by path, and types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from olympus._src import tree
from olympus._src.explanations import places, snapshots, values
from olympus._src.explanations.changes import Change
from olympus._src.explanations.records import Root, Signature


class _Leaf(NamedTuple):
    """A leaf: its type, and where it is committed to."""

    aval: Any
    place: Any


def changes(old: Signature, new: Signature) -> list[Change]:
    """What differs between the arguments of two calls."""
    before, after = _leaves(old), _leaves(new)
    if old.structure == new.structure and _are_same(before, after):
        return []
    old_roots, new_roots = old.roots(), new.roots()
    if len(old_roots) == len(new_roots) and _are_operands((*old_roots, *new_roots)):
        # What an operation's operands are called depends on who applies it.
        pairs = zip(old_roots, new_roots, strict=True)
        old_roots = [Root(like.name, "", root.structure) for root, like in pairs]
    return list(_root_changes(old_roots, before, new_roots, after))


def _are_operands(roots: Sequence[Root]) -> bool:
    return all(not root.passed for root in roots)


def _are_same(old: Sequence[_Leaf], new: Sequence[_Leaf]) -> bool:
    return len(old) == len(new) and all(
        a.aval is b.aval and a.place == b.place for a, b in zip(old, new, strict=True)
    )


def _leaves(signature: Signature) -> list[_Leaf]:
    wheres = signature.places or [None] * len(signature.avals)
    return [_Leaf(a, p) for a, p in zip(signature.avals, wheres, strict=True)]


def _root_changes(
    old: Sequence[Root],
    before: Sequence[_Leaf],
    new: Sequence[Root],
    after: Sequence[_Leaf],
) -> Iterator[Change]:
    olds = _by_name(old, before)
    for name, (root, leaves) in _by_name(new, after).items():
        if name not in olds:
            yield from _whole("added", name, root.structure, leaves)
            continue
        known, known_leaves = olds.pop(name)
        if known.passed != root.passed:
            yield Change(name, "passed", known.passed, root.passed)
        yield from _node_changes(
            name, known.structure, known_leaves, root.structure, leaves
        )
    for name, (root, leaves) in olds.items():
        yield from _whole("removed", name, root.structure, leaves)


def _by_name(roots: Sequence[Root], leaves: Sequence[_Leaf]) -> dict[str, Any]:
    parts, start = {}, 0
    for root in roots:
        end = start + root.structure.num_leaves
        parts[root.name] = root, leaves[start:end]
        start = end
    return parts


def _whole(
    attribute: str, path: str, structure: Any, leaves: Sequence[_Leaf]
) -> Iterator[Change]:
    """A part that only one of the calls has, leaf by leaf."""
    if not leaves:
        pair = ("", "None") if attribute == "added" else ("None", "")
        yield Change(path, attribute, *pair)
    for key, leaf in zip(tree.leaf_key_paths(structure), leaves, strict=True):
        text = _type_text(leaf.aval)
        pair = ("", text) if attribute == "added" else (text, "")
        yield Change(path + tree.keystr(key), attribute, *pair)


# -- containers ------------------------------------------------------------------------


def _node_changes(
    path: str, old: Any, before: Sequence[_Leaf], new: Any, after: Sequence[_Leaf]
) -> Iterator[Change]:
    node, known = new.node_data(), old.node_data()
    if node is None and known is None and new.num_leaves and old.num_leaves:
        yield from _leaf_changes(path, before[0], after[0])
        return
    if node is None or known is None or type(None) in (node[0], known[0]):
        texts = _node_text(old, before), _node_text(new, after)
        if texts[0] != texts[1]:
            yield Change(path, "structure", *texts)
        return
    if node[0] is not known[0]:
        yield _kind_change(path, known[0], node[0])
        return
    yield from _static_changes(path, node[0], known[1], node[1], new)
    yield from _child_changes(path, old, before, new, after)


def _node_text(structure: Any, leaves: Sequence[_Leaf]) -> str:
    node = structure.node_data()
    if node is None:
        return _type_text(leaves[0].aval) if leaves else "None"
    return "None" if node[0] is type(None) else str(node[0].__name__)


def _kind_change(path: str, old: Any, new: Any) -> Change:
    names = old.__name__, new.__name__
    is_remade = (
        old.__qualname__ == new.__qualname__ and old.__module__ == new.__module__
    )
    return Change(path, "class" if is_remade else "container", *names)


def _child_changes(
    path: str, old: Any, before: Sequence[_Leaf], new: Any, after: Sequence[_Leaf]
) -> Iterator[Change]:
    olds = _children(old, before)
    for key, (child, leaves) in _children(new, after).items():
        if key not in olds:
            yield from _whole("added", path + key, child, leaves)
            continue
        known, known_leaves = olds.pop(key)
        yield from _node_changes(path + key, known, known_leaves, child, leaves)
    for key, (child, leaves) in olds.items():
        yield from _whole("removed", path + key, child, leaves)


def _children(structure: Any, leaves: Sequence[_Leaf]) -> dict[str, Any]:
    parts, start = {}, 0
    children = structure.children()
    for key, child in zip(_keys(structure), children, strict=True):
        end = start + child.num_leaves
        parts[key] = child, leaves[start:end]
        start = end
    return parts


def _keys(structure: Any) -> list[str]:
    """The text of each step to a child."""
    kind, static = structure.node_data()
    count = len(structure.children())
    return [tree.keystr((key,)) for key in tree.child_keys(kind, static, count)]


def _static_changes(
    path: str, kind: Any, old: Any, new: Any, structure: Any
) -> Iterator[Change]:
    """What differs in the data of a container that is no array."""
    if old == new and type(old) is type(new):
        return
    if isinstance(new, (list, tuple)) and isinstance(old, (list, tuple)):
        if issubclass(kind, dict):
            if set(old) == set(new):
                yield Change(path, "order", repr(list(old)), repr(list(new)))
            return
        names = _static_names(kind, structure)
        if len(names) == len(old) == len(new):
            for name, a, b in zip(names, old, new, strict=True):
                yield from _value_changes(f"{path}.{name}", a, b)
            return
    yield from _value_changes(path, old, new)


def _value_changes(path: str, old: Any, new: Any) -> Iterator[Change]:
    if old == new:
        return
    parts = values.compare(
        path, "static field", snapshots.take(old), snapshots.take(new), by_identity=True
    )
    yield from parts or [Change(path, "static field", repr(old), repr(new))]


def _static_names(kind: Any, structure: Any) -> list[str]:
    """The fields of a class that are not children, if it is a dataclass."""
    children = {key.removeprefix(".") for key in _keys(structure)}
    return [f for f in getattr(kind, "__dataclass_fields__", ()) if f not in children]


# -- leaves ----------------------------------------------------------------------------


def _leaf_changes(path: str, old: _Leaf, new: _Leaf) -> Iterator[Change]:
    if old.aval is not new.aval:
        for change in _type_changes(path, old.aval, new.aval):
            if change.attribute != "sharding" or old.place == new.place:
                yield change
    if old.place != new.place:
        is_moved = old.place is not None and new.place is not None
        attribute = "device" if is_moved else "committed"
        if is_moved and (
            places.is_division(old.place) or places.is_division(new.place)
        ):
            attribute = "sharding"
        texts = places.show(old.place), places.show(new.place)
        yield Change(path, attribute, *texts)


def _type_changes(path: str, old: Any, new: Any) -> Iterator[Change]:
    if not (hasattr(old, "shape") and hasattr(new, "shape")):
        yield Change(path, "type", old.short(), new.short())
        return
    if old.shape != new.shape:
        attribute = "shape" if len(old.shape) == len(new.shape) else "rank"
        yield Change(path, attribute, _shape_text(old), _shape_text(new))
    if old.dtype != new.dtype:
        yield Change(path, "dtype", str(old.dtype), str(new.dtype))
    if getattr(old, "weak_type", False) != getattr(new, "weak_type", False):
        yield Change(path, "weak type", str(old.weak_type), str(new.weak_type))
    if getattr(old, "explicit", None) != getattr(new, "explicit", None):
        texts = places.show(old.explicit), places.show(new.explicit)
        yield Change(path, "sharding", *texts)
    if getattr(old, "vma", None) != getattr(new, "vma", None):
        texts = _axes_text(old.vma), _axes_text(new.vma)
        yield Change(path, "varying axes", *texts)


def _shape_text(aval: Any) -> str:
    return "[" + ", ".join(map(str, aval.shape)) + "]"


def _axes_text(axes: Any) -> str:
    return ", ".join(sorted(map(repr, axes))) or "none"


def _type_text(aval: Any) -> str:
    if hasattr(aval, "shape"):
        return f"{aval.dtype}{_shape_text(aval)}"
    return str(aval.short())
