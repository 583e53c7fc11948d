"""Structures of trees as data, and the types of nodes that may occur in them."""

from __future__ import annotations

import base64
import importlib
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from olympus._src import tree
from olympus._src.foundation import caching
from olympus._src.foundation.container import Unreadable

# Trees that anybody makes are far below these.
_MOST_NODES = 1 << 22
_DEEPEST = 1 << 10


class _Node:
    """How nodes of a registered type are written and read."""

    __slots__ = ("from_children", "name", "nodetype", "read", "write")

    def __init__(
        self,
        nodetype: type,
        name: str,
        write: Callable[[Any], bytes],
        read: Callable[[bytes], Any],
        from_children: Callable[[Any, Sequence[Any]], Any] | None,
    ) -> None:
        self.nodetype = nodetype
        self.name = name
        self.write = write
        self.read = read
        self.from_children = from_children


_by_type: dict[type, _Node] = {}
_by_name: dict[str, _Node] = {}
_lock = caching.lock()


def register_pytree_node_serialization(
    nodetype: type[Any],
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> type[Any]:
    """Lets exported programs take and return nodes of a type.

    Args:
      nodetype: a class that is registered as a node of trees.
      serialized_name: stands for the class in the bytes; it must mean the same class
        where they are read.
      serialize_auxdata: makes bytes of a node's static data.
      deserialize_auxdata: makes static data of the bytes.
      from_children: makes a node of static data and children; None for what the class
        was registered with.

    Returns:
      The class.

    Raises:
      ValueError: the class is not a node of trees, or it or the name is registered.
      TypeError: a rule is not a function.

    Example:
      >>> from olympus import export, tree_util
      >>> @tree_util.register_pytree_node_class
      ... class Point:
      ...     def __init__(self, x, y):
      ...         self.x, self.y = x, y
      ...     def tree_flatten(self):
      ...         return (self.x, self.y), None
      ...     @classmethod
      ...     def tree_unflatten(cls, static, children):
      ...         return cls(*children)
      >>> _ = export.register_pytree_node_serialization(
      ...     Point, serialized_name="example.Point",
      ...     serialize_auxdata=lambda static: b"", deserialize_auxdata=lambda _: None)
    """
    what = "register_pytree_node_serialization"
    for rule in (serialize_auxdata, deserialize_auxdata):
        if not callable(rule):
            raise TypeError(
                f"{what}: serialize_auxdata and deserialize_auxdata must be functions, "
                f"got {rule!r}"
            )
    if from_children is None and not (
        isinstance(nodetype, type) and tree.is_tree_node(nodetype)
    ):
        raise ValueError(
            f"{what}: the type must be a node of trees, got {nodetype!r}; call "
            "olympus.tree_util.register_pytree_node first"
        )
    _add(
        what,
        _Node(
            nodetype,
            serialized_name,
            serialize_auxdata,
            deserialize_auxdata,
            from_children,
        ),
    )
    return nodetype


def register_namedtuple_serialization(
    nodetype: type[Any], *, serialized_name: str
) -> type[Any]:
    """Lets exported programs take and return a namedtuple.

    Args:
      nodetype: a class made by `collections.namedtuple` or `typing.NamedTuple`.
      serialized_name: stands for the class in the bytes; it must mean the same class
        where they are read.

    Returns:
      The class.

    Raises:
      ValueError: it is not a namedtuple, or it or the name is registered.

    Example:
      >>> import collections
      >>> from olympus import export
      >>> State = collections.namedtuple("State", "mean count")
      >>> export.register_namedtuple_serialization(State, serialized_name="my.State")
      <class '...State'>
    """
    what = "register_namedtuple_serialization"
    if not _is_namedtuple(nodetype):
        raise ValueError(
            f"{what}: the type must be a namedtuple, got {nodetype!r}; use "
            "register_pytree_node_serialization for other types"
        )
    _add(what, _namedtuple(nodetype, serialized_name))
    return nodetype


def _namedtuple(nodetype: Any, name: str) -> _Node:
    return _Node(
        nodetype,
        name,
        lambda static: b"",
        lambda data: None,
        lambda static, children: nodetype(*children),
    )


def _is_namedtuple(nodetype: Any) -> bool:
    return (
        isinstance(nodetype, type)
        and issubclass(nodetype, tuple)
        and hasattr(nodetype, "_fields")
    )


def _add(what: str, node: _Node) -> None:
    with _lock:
        same_type, same_name = _by_type.get(node.nodetype), _by_name.get(node.name)
        if same_type is not None:
            raise ValueError(
                f"{what}: a type can be registered once, got {node.nodetype!r} again "
                f"(duplicate serialization registration); it is {same_type.name!r}"
            )
        if same_name is not None:
            raise ValueError(
                f"{what}: serialized_name must be new, got {node.name!r} (duplicate "
                f"serialization registration), which is {same_name.nodetype!r}"
            )
        _by_type[node.nodetype] = _by_name[node.name] = node


def registered_types() -> list[type]:
    """The types of nodes that are registered here."""
    return list(_by_type)


def _node_of(nodetype: type) -> _Node | None:
    """How nodes of a type are written; None where it is not registered."""
    node = _by_type.get(nodetype)
    name = tree.public_names().get(nodetype)
    if node is None and name is not None:
        return _namedtuple(nodetype, name)
    return node


def _node_called(name: Any) -> _Node | None:
    """How nodes of a type of that name are read; None where it is not known."""
    if type(name) is not str:
        return None
    node = _by_name.get(name)
    if node is not None or not name.startswith("olympus."):
        return node
    module_name, _, function = name.rpartition(".")
    try:
        getattr(
            importlib.import_module(module_name), function
        )  # loads the file of both
    except (ImportError, AttributeError, ValueError):
        return None
    for nodetype, known in tree.public_names().items():
        if known == name:
            return _namedtuple(nodetype, name)
    return None


def _write_ordered(keys: Any) -> bytes:
    return json.dumps([_key_to_json(key) for key in keys]).encode()


def _read_ordered(data: bytes) -> Any:
    return tuple([_key_from_json(key) for key in json.loads(data)])


_add(
    "export",
    _Node(
        OrderedDict,
        "collections.OrderedDict",
        _write_ordered,
        _read_ordered,
        lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
    ),
)

# -- structures as lists of nodes ------------------------------------------------------
#
# Children come before their parents, as a stack machine reads them: no structure is too
# deep. A leaf is "*", None is "none"; others are lists that begin with their kind.


def to_json(treedef: Any, what: str = "Exported.serialize") -> list[Any]:
    """The nodes of a structure.

    Args:
      treedef: it.
      what: the function, for messages.

    Raises:
      ValueError: a type of node is not registered, or a key is not a string or integer.
    """
    out: list[Any] = []
    pending = [treedef]
    while pending:  # parents before children, the last child first: reversed below
        node = pending.pop()
        children = node.children()
        out.append(_node_to_json(node.node_data(), len(children), what))
        pending.extend(children)
    out.reverse()
    return out


def _node_to_json(data: Any, n: int, what: str) -> Any:
    if data is None:
        return "*"
    nodetype, static = data
    if nodetype is type(None):
        return "none"
    if nodetype is tuple or nodetype is list:
        return [nodetype.__name__, n]
    if nodetype is dict:
        return ["dict", [_key_to_json(key, what) for key in static]]
    node = _node_of(nodetype)
    if node is None:
        remedy = (
            "register_namedtuple_serialization"
            if _is_namedtuple(nodetype)
            else "register_pytree_node_serialization"
        )
        raise ValueError(
            f"{what}: types of nodes must be registered, got "
            f"{nodetype.__module__}.{nodetype.__qualname__}; call "
            f"olympus.export.{remedy} here and where the bytes are read"
        )
    written = node.write(static)
    if not isinstance(written, (bytes, bytearray)):
        raise TypeError(
            f"{what}: serialize_auxdata of {node.name!r} must return bytes, got "
            f"{written!r}"
        )
    return ["node", node.name, n, base64.b64encode(written).decode()]


def _key_to_json(key: Any, what: str = "Exported.serialize") -> Any:
    if type(key) is str or type(key) is int:
        return key
    raise ValueError(
        f"{what}: keys of dicts must be strings or integers, got {key!r}; use other "
        "keys"
    )


def _key_from_json(key: Any) -> Any:
    require(type(key) is str or type(key) is int, "keys must be strings or integers")
    return key


def require(condition: bool, what: str) -> None:
    """Raises Unreadable with what was required."""
    if not condition:
        raise Unreadable(what)


def from_json(nodes: list[Any]) -> Any:
    """The structure with these nodes.

    Raises:
      Unreadable: they make no structure, or a type is not registered.
    """
    require(0 < len(nodes) <= _MOST_NODES, "a tree must have a sensible size")
    stack: list[tuple[Any, int]] = []  # structures and their depths
    for node in nodes:
        n = 0 if type(node) is str else _arity(node)
        require(n <= len(stack), "a node must come after its children")
        children = stack[len(stack) - n :]
        del stack[len(stack) - n :]
        depth = 1 + max([d for _, d in children], default=0)
        require(depth <= _DEEPEST, f"a tree must be at most {_DEEPEST} deep")
        stack.append((_build(node, [c for c, _ in children]), depth))
    require(len(stack) == 1, "a tree must have one root")
    return stack[0][0]


def _arity(node: Any) -> int:
    require(type(node) is list and len(node) >= 2, "a node must be a list")
    kind = node[0]
    if kind == "dict":
        require(type(node[1]) is list, "a dict must have a list of keys")
        return len(node[1])
    n = node[2] if kind == "node" and len(node) == 4 else node[1]
    require(type(n) is int and n >= 0, "a node must have a number of children")
    return n


_LEAF = tree.tree_structure(0)
_NONE = tree.tree_structure(None)


def _build(node: Any, children: list[Any]) -> Any:
    if node == "*":
        return _LEAF
    if node == "none":
        return _NONE
    require(type(node) is list, f"there are no nodes {node!r}")
    kind = node[0]
    if kind == "tuple" or kind == "list":
        return tree.treedef_of((tuple if kind == "tuple" else list, None), children)
    if kind == "dict":
        keys = [_key_from_json(key) for key in node[1]]
        require(len(set(keys)) == len(keys), "keys of a dict must differ")
        return _dict(keys, children)
    require(kind == "node" and len(node) == 4, f"there are no nodes of kind {kind!r}")
    return _build_registered(node[1], node[3], children)


def _dict(keys: list[Any], children: list[Any]) -> Any:
    try:
        ordered = sorted(keys)
    except TypeError:
        ordered = []
    require(ordered == keys, "keys of a dict must be in order")
    return tree.treedef_of((dict, keys), children)


def _build_registered(name: Any, written: Any, children: list[Any]) -> Any:
    node = _node_called(name)
    if node is None:
        raise Unreadable(
            f"the type of nodes called {name!r} must be registered; call "
            "olympus.export.register_pytree_node_serialization or "
            "register_namedtuple_serialization for it first"
        )
    require(type(written) is str, "static data must be text")
    try:
        return _with_static(node, base64.b64decode(written, validate=True), children)
    except Exception as error:  # of the functions that the user registered
        raise Unreadable(
            f"a node of type {name!r} must come back from what was written of it, got "
            f"{type(error).__name__}: {error}"
        ) from error


def _with_static(node: _Node, written: bytes, children: list[Any]) -> Any:
    static = node.read(written)
    if node.from_children is None:
        return tree.treedef_of((node.nodetype, static), children)
    instance = node.from_children(
        static, [c.unflatten([_LEAF] * c.num_leaves) for c in children]
    )
    built = tree.tree_structure(instance)
    same = built.num_leaves == sum(c.num_leaves for c in children)
    require(same, "from_children must keep the children's leaves")
    return built
