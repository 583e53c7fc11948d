"""Functions of pytrees: nested containers with arrays, or anything else, as leaves.

Tuples, lists, dicts, namedtuples, OrderedDicts, defaultdicts and None are nodes; so are
classes registered with `olympus.tree_util`.
"""

import olympus as _olympus  # noqa: F401
from olympus._src.foundation.lazy_names import claim as _claim
from olympus._src.tree.flattening import static
from olympus._src.tree.flattening import tree_flatten as flatten
from olympus._src.tree.flattening import tree_flatten_with_path as flatten_with_path
from olympus._src.tree.flattening import tree_leaves as leaves
from olympus._src.tree.flattening import tree_leaves_with_path as leaves_with_path
from olympus._src.tree.flattening import tree_structure as structure
from olympus._src.tree.flattening import tree_unflatten as unflatten
from olympus._src.tree.mapping import tree_all as all
from olympus._src.tree.mapping import tree_broadcast as broadcast
from olympus._src.tree.mapping import tree_map as map
from olympus._src.tree.mapping import tree_map_with_path as map_with_path
from olympus._src.tree.mapping import tree_reduce as reduce
from olympus._src.tree.mapping import tree_reduce_associative as reduce_associative
from olympus._src.tree.mapping import tree_transpose as transpose

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]

_claim(__name__)
