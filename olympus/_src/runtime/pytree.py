"""jaxlib's pytree engine, under the names this package uses.

The engine is C++: it flattens a small tuple in half a microsecond. Each registry knows
its own node types; `new_registry` makes one that shares nothing with jax's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jaxlib import _jax  # type: ignore[attr-defined]

pytree = _jax.pytree

if TYPE_CHECKING:

    class PyTreeDef:
        """The structure of a pytree; jaxlib ships no types of it."""

        num_leaves: int
        num_nodes: int

        def unflatten(self, leaves: Iterable[Any], /) -> Any: ...
        def flatten_up_to(self, tree: Any, /) -> list[Any]: ...
        def compose(self, inner: PyTreeDef, /) -> PyTreeDef: ...
        def children(self) -> list[PyTreeDef]: ...
        def node_data(self) -> tuple[Any, Any] | None: ...
        def __getattr__(self, name: str) -> Any: ...
        @staticmethod
        def from_node_data_and_children(
            registry: Any, node: Any, children: Iterable[Any], /
        ) -> PyTreeDef: ...

else:
    PyTreeDef = pytree.PyTreeDef
PyTreeRegistry = pytree.PyTreeRegistry

DictKey = pytree.DictKey
FlattenedIndexKey = pytree.FlattenedIndexKey
GetAttrKey = pytree.GetAttrKey
SequenceKey = pytree.SequenceKey


def new_registry(module: str, name: str) -> Any:
    """A registry that knows tuples, lists, dicts, namedtuples and None.

    Args:
      module: where the registry will be found when a treedef is unpickled.
      name: its name in that module.
    """
    registry = PyTreeRegistry()
    # The engine pickles a registry as a reference by these two attributes.
    registry.__module__ = module
    registry.__name__ = name
    return registry


def all_leaves(registry: Any, values: Iterable[Any]) -> bool:
    """Whether all of the values are leaves."""
    return pytree.all_leaves(registry, values)


def treedef_tuple(registry: Any, treedefs: Iterable[Any]) -> Any:
    """The structure of a tuple whose elements have these structures."""
    return pytree.treedef_tuple(registry, list(treedefs))


def treedef_of(registry: Any, node: tuple[type, Any], children: Iterable[Any]) -> Any:
    """The structure of a node of this type and static data, with these children."""
    return PyTreeDef.from_node_data_and_children(registry, node, children)
