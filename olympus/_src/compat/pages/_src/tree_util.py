"""The table of types of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from olympus._src.runtime import pytree
from olympus._src.tree import flattening, registry


class _RegistryEntry(NamedTuple):
    """How nodes of a type are taken apart, and made again.

    Attributes:
      to_iter: maps a node to its children and its static data.
      from_iter: maps static data and children to a node.
    """

    to_iter: Callable[[Any], tuple[Iterable[Any], Any]]
    from_iter: Callable[[Any, Iterable[Any]], Any]


def _entry(kind: type) -> _RegistryEntry:
    leaf = flattening.tree_structure(0)

    def make(static: Any, children: Iterable[Any]) -> Any:
        if kind is type(None):
            return None
        values = list(children)
        node = pytree.PyTreeDef.from_node_data_and_children(
            registry.default_registry, (kind, static), [leaf] * len(values)
        )
        return node.unflatten(values)

    return _RegistryEntry(flattening.flatten_one_level, make)


class _Registry(Mapping[type, _RegistryEntry]):
    """Types of nodes that are registered."""

    def __getitem__(self, kind: type) -> _RegistryEntry:
        if kind not in registry.registered_types():
            raise KeyError(kind)
        return _entry(kind)

    def __contains__(self, kind: object) -> bool:
        return kind in registry.registered_types()

    def __iter__(self) -> Iterator[type]:
        return iter(registry.registered_types())

    def __len__(self) -> int:
        return len(registry.registered_types())


_registry = _Registry()

__all__: list[str] = []
