"""The registry of node types: how they are flattened and unflattened."""

from __future__ import annotations

import operator
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from olympus._src.runtime import pytree
from olympus._src.runtime.pytree import DictKey, GetAttrKey

T = TypeVar("T", bound=type)

default_registry = pytree.new_registry(__name__, "default_registry")


def _register(
    where: str,
    nodetype: Any,
    flatten: Callable[[Any], Any],
    unflatten: Callable[[Any, Any], Any],
    flatten_with_keys: Callable[[Any], Any] | None,
) -> None:
    if not isinstance(nodetype, type):
        raise TypeError(
            f"{where}: a node type must be a class, got {nodetype!r}; pass "
            f"{type(nodetype).__name__}, its class"
        )
    for rule in (flatten, unflatten):
        if not callable(rule):
            raise TypeError(
                f"{where}: the rules of {nodetype.__name__} must be functions, got "
                f"{rule!r}; pass one that flattens and one that unflattens"
            )
    if nodetype in _BUILT_IN:
        raise _registered_before(where, nodetype)
    try:
        default_registry.register_node(nodetype, flatten, unflatten, flatten_with_keys)
    except ValueError:
        raise _registered_before(where, nodetype) from None
    _types[nodetype] = (flatten, unflatten)
    record_types.discard(nodetype)


# Classes of users, which live as long as the registry: jaxlib's never forgets one.
_types: dict[type, tuple[Callable[..., Any], ...]] = {}


def registered_types() -> frozenset[type]:
    """All types of nodes."""
    return _BUILT_IN | _types.keys()


def rules_of(nodetype: type) -> tuple[Callable[..., Any], ...]:
    """The functions that flatten and unflatten objects of a user's class, if any."""
    return _types.get(nodetype, ())


_BUILT_IN: frozenset[type] = frozenset((tuple, list, dict, type(None)))
# Namedtuples that were seen as nodes by themselves: fast paths know them by this.
record_types: set[type] = set()


def is_record_type(kind: type) -> bool:
    """Whether values are nodes as namedtuples: of a class that nobody registered."""
    if kind in record_types:
        return True
    is_record = issubclass(kind, tuple) and hasattr(kind, "_fields")
    if not is_record or kind in _types:
        return False
    record_types.add(kind)
    return True


def _registered_before(where: str, nodetype: type) -> ValueError:
    return ValueError(
        f"{where}: a type can be registered once, got {nodetype.__module__}."
        f"{nodetype.__qualname__} again (duplicate registration); guard the second "
        "call, or register a subclass"
    )


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]]
    | None = None,
) -> None:
    """Registers a class as a pytree node.

    Args:
      nodetype: the class; its subclasses are not affected.
      flatten_func: maps an object to `(children, static data)`; the static data must
        be hashable and comparable.
      unflatten_func: maps the static data and the children back to an object.
      flatten_with_keys_func: as `flatten_func`, with `(key, child)` pairs; without it
        paths show the position of each child.

    Raises:
      TypeError: `nodetype` is not a class, or a rule is not a function.
      ValueError: the class is already registered.

    Example:
      >>> from olympus import tree, tree_util
      >>> class Pair:
      ...     def __init__(self, a, b):
      ...         self.a, self.b = a, b
      >>> tree_util.register_pytree_node(
      ...     Pair, lambda p: ((p.a, p.b), None), lambda _, children: Pair(*children))
      >>> tree.leaves(Pair(1, [2, 3]))
      [1, 2, 3]
    """
    _register(
        "register_pytree_node",
        nodetype,
        flatten_func,
        unflatten_func,
        flatten_with_keys_func,
    )


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Iterable[Any]], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None:
    """Registers a class as a pytree node, with a key for each child.

    Args:
      nodetype: the class; its subclasses are not affected.
      flatten_with_keys: maps an object to `(pairs of key and child, static data)`.
      unflatten_func: maps the static data and the children back to an object.
      flatten_func: the same without keys, where it can be faster.

    Raises:
      TypeError: `nodetype` is not a class, or a rule is not a function.
      ValueError: the class is already registered.
    """
    _register(
        "register_pytree_with_keys",
        nodetype,
        flatten_func or _without_keys(flatten_with_keys),
        unflatten_func,
        flatten_with_keys,
    )


def _without_keys(flatten_with_keys: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def flatten(node: Any) -> tuple[list[Any], Any]:
        pairs, static = flatten_with_keys(node)
        return [child for _, child in pairs], static

    return flatten


def register_pytree_node_class(cls: T) -> T:
    """Registers a class as a pytree node by its own methods; a decorator.

    Args:
      cls: has a method `tree_flatten(self)` and a class method
        `tree_unflatten(cls, static, children)`.

    Returns:
      The class.

    Example:
      >>> from olympus import tree, tree_util
      >>> @tree_util.register_pytree_node_class
      ... class Scaled:
      ...     def __init__(self, x, scale):
      ...         self.x, self.scale = x, scale
      ...     def tree_flatten(self):
      ...         return (self.x,), self.scale
      ...     @classmethod
      ...     def tree_unflatten(cls, scale, children):
      ...         return cls(*children, scale)
      >>> tree.map(lambda x: x + 1, Scaled(1.0, 2)).x
      2.0
    """
    _require_methods("register_pytree_node_class", cls, "tree_flatten")
    _register(
        "register_pytree_node_class",
        cls,
        operator.methodcaller("tree_flatten"),
        cls.tree_unflatten,  # type: ignore[attr-defined]
        None,
    )
    return cls


def register_pytree_with_keys_class(cls: T) -> T:
    """Registers a class as a pytree node by its own methods, with keys; a decorator.

    Args:
      cls: has a method `tree_flatten_with_keys(self)`, a class method
        `tree_unflatten(cls, static, children)`, and perhaps `tree_flatten(self)`.

    Returns:
      The class.
    """
    where = "register_pytree_with_keys_class"
    _require_methods(where, cls, "tree_flatten_with_keys")
    with_keys = operator.methodcaller("tree_flatten_with_keys")
    bare = hasattr(cls, "tree_flatten")
    _register(
        where,
        cls,
        operator.methodcaller("tree_flatten") if bare else _without_keys(with_keys),
        cls.tree_unflatten,  # type: ignore[attr-defined]
        with_keys,
    )
    return cls


def _require_methods(where: str, cls: Any, flatten: str) -> None:
    for name in (flatten, "tree_unflatten"):
        if not hasattr(cls, name):
            raise AttributeError(
                f"{where}: the class must have a method {name}, got {cls!r}; define it "
                "or use the function that takes the rules as arguments"
            )


def register_static(cls: T) -> T:
    """Registers a class as static: nodes without children; a decorator.

    Args:
      cls: must compare and hash, since the object itself is part of the structure.

    Returns:
      The class.

    Example:
      >>> from olympus import tree, tree_util
      >>> @tree_util.register_static
      ... class Name(str):
      ...     pass
      >>> tree.leaves([Name("a"), 1])
      [1]
    """
    _register(
        "register_static", cls, lambda x: ((), x), lambda x, _: x, lambda x: ((), x)
    )
    return cls


# -- data classes ----------------------------------------------------------------------


def register_dataclass(
    nodetype: T,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> T:
    """Registers a data class as a pytree node; a decorator.

    Fields are children unless they are static: named in `meta_fields`, or declared by
    `olympus.tree.static()`.

    Args:
      nodetype: the class. One that is not a data class must be callable with its fields
        as keywords, and needs both lists.
      data_fields: names of the fields that are children; all init fields that are not
        static, if neither list is given.
      meta_fields: names of the static fields; they must compare and hash.
      drop_fields: init fields that are neither, and are lost when a tree is rebuilt.

    Returns:
      The class.

    Raises:
      TypeError: only one list is given, or a list is needed.
      ValueError: the fields are not the data class's, overlap, or the class is
        registered.

    Example:
      >>> import dataclasses
      >>> from olympus import tree, tree_util
      >>> @tree_util.register_dataclass
      ... @dataclasses.dataclass
      ... class Layer:
      ...     weight: float
      ...     name: str = tree.static(default="")
      >>> tree.map(lambda x: 2 * x, Layer(3.0, "first"))
      Layer(weight=6.0, name='first')
    """
    is_dataclass = hasattr(nodetype, "__dataclass_fields__")
    if (data_fields is None) != (meta_fields is None):
        raise TypeError(
            "register_dataclass: data_fields and meta_fields must be given together, "
            f"got data_fields={data_fields!r} and meta_fields={meta_fields!r}; give "
            "both, or neither for a data class"
        )
    if data_fields is None or meta_fields is None:
        if not is_dataclass:
            raise TypeError(
                "register_dataclass: data_fields and meta_fields must be given for a "
                f"class that is not a data class, got {nodetype!r}; give both, or "
                "decorate it by dataclasses.dataclass first"
            )
        data_fields, meta_fields = _declared_fields(nodetype, drop_fields)
    data, meta = tuple(data_fields), tuple(meta_fields)
    _check_fields(nodetype, data, meta, tuple(drop_fields), is_dataclass)
    try:
        default_registry.register_dataclass_node(nodetype, list(data), list(meta))
    except ValueError:
        raise _registered_before("register_dataclass", nodetype) from None
    _types[nodetype] = ()
    record_types.discard(nodetype)
    return nodetype


def _init_fields(nodetype: Any) -> list[Any]:
    # Whoever made the class has imported the module; olympus need not.
    fields = sys.modules["dataclasses"].fields(nodetype)
    return [field for field in fields if field.init]


def _declared_fields(
    nodetype: Any, drop_fields: Sequence[str]
) -> tuple[list[str], list[str]]:
    data: list[str] = []
    meta: list[str] = []
    for field in _init_fields(nodetype):
        if field.name not in drop_fields:
            (meta if field.metadata.get("static") else data).append(field.name)
    return data, meta


def _check_fields(
    nodetype: type,
    data: tuple[str, ...],
    meta: tuple[str, ...],
    drop: tuple[str, ...],
    is_dataclass: bool,
) -> None:
    named = (*data, *meta)
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        raise ValueError(
            "register_dataclass: each field must be named once in data_fields and "
            f"meta_fields, got {', '.join(twice)} more often; choose one place"
        )
    if not is_dataclass:
        return
    init = {field.name for field in _init_fields(nodetype)}
    missing = sorted(init - {*named, *drop})
    if missing:
        raise ValueError(
            f"register_dataclass: every init field of {nodetype.__name__} must be in "
            f"data_fields or meta_fields, got none of {', '.join(missing)}; add them, "
            "or name them in drop_fields"
        )
    unknown = sorted(set(named) - init)
    if unknown:
        raise ValueError(
            f"register_dataclass: data_fields and meta_fields must be init fields of "
            f"{nodetype.__name__}, got {', '.join(unknown)}; its init fields are "
            f"{', '.join(sorted(init))}"
        )


# -- namedtuples of olympus ------------------------------------------------------------

_public_names: dict[type, str] = {}


def returned_by(name: str) -> Callable[[T], T]:
    """Names a namedtuple by the public function that returns it; a decorator.

    Exported programs refer to it by this name.

    Args:
      name: the function with its page, as in 'olympus.numpy.linalg.eigh'.
    """

    def note(nodetype: T) -> T:
        _public_names[nodetype] = name
        return nodetype

    return note


def public_names() -> dict[type, str]:
    """The names that `returned_by` set, of all modules that are loaded."""
    return dict(_public_names)


# -- the standard library's containers -------------------------------------------------


def _ordered_dict_items(d: OrderedDict[Any, Any]) -> tuple[Any, Any]:
    return [(DictKey(key), d[key]) for key in d], tuple(d)


def _default_dict_items(d: defaultdict[Any, Any]) -> tuple[Any, Any]:
    keys = tuple(sorted(d))
    return [(DictKey(key), d[key]) for key in keys], (d.default_factory, keys)


def _default_dict(static: Any, children: Iterable[Any]) -> defaultdict[Any, Any]:
    factory, keys = static
    return defaultdict(factory, zip(keys, children, strict=True))


register_pytree_with_keys(
    OrderedDict,
    _ordered_dict_items,
    lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
    lambda d: (tuple(d.values()), tuple(d)),
)
register_pytree_with_keys(defaultdict, _default_dict_items, _default_dict)

__all__ = [
    "DictKey",
    "GetAttrKey",
    "default_registry",
    "public_names",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "returned_by",
]
