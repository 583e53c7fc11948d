"""What `olympus.Array` declares for type checkers is what arrays have."""

from __future__ import annotations

import ast
import inspect

import pytest

import olympus
import olympus.numpy as jnp
from olympus._src.core import array_type, trace

CONCRETE = type(jnp.zeros(()))
# For the library's own use; no part of what is promised.
OWN = {
    "committed_device",
    "host_value",
    "host_view",
    "platform",
    "single_device",
}
OWN |= {"num_addressable_shards", "traceback", "words"}
# NumPy's methods that change arrays, which are refused by their names.
OWN |= {"fill", "itemset", "partition", "put", "resize"}


# Of Python's classes, or asked by protocols and not by users.
class Empty:
    """Has what Python gives every class."""


IMPLIED = set(dir(Empty)) | {"__slots__"}
IMPLIED |= {"__array_priority__", "__buffer__", "__cuda_array_interface__"}
IMPLIED |= {"__copy__", "__deepcopy__", "__format__", "__hex__", "__oct__"}
# Answered with an error that says what to write instead.
IMPLIED |= {"__setitem__"}
IMPLIED |= {"__annotations__"}
ONLY_CONCRETE = """
__array_namespace__ __dlpack__ __dlpack_device__ addressable_data addressable_shards
block_until_ready committed copy_to_host_async delete device devices global_shards
is_deleted is_fully_addressable is_fully_replicated is_ready on_device_size_in_bytes
format sharding unsafe_buffer_pointer
"""


def declared():
    """The nodes of the members, by name."""
    tree = ast.parse(inspect.getsource(array_type))
    (array,) = [n for n in tree.body if getattr(n, "name", "") == "Array"]
    (block,) = [n for n in array.body if isinstance(n, ast.If)]
    members = {}
    for node in block.body:
        if isinstance(node, ast.AnnAssign):
            members[node.target.id] = None
        elif isinstance(node, ast.FunctionDef):
            members[node.name] = node
    return members


def test_all_that_arrays_have_is_declared():
    public = {n for n in dir(CONCRETE) if not n.startswith("_") or n[:2] == "__"}
    missing = public - set(declared()) - IMPLIED - OWN
    assert missing == set()


def test_all_that_is_declared_is_there():
    assert set(declared()) - set(dir(CONCRETE)) == set()
    absent = set(declared()) - set(dir(trace.Tracer))
    assert absent - set(ONLY_CONCRETE.split()) == set()


@pytest.mark.parametrize("name", sorted(n for n in declared() if n[0] != "_"))
def test_methods_take_what_is_declared(name):
    node = declared()[name]
    if node is None or node.decorator_list:
        return
    have = inspect.signature(getattr(CONCRETE, name))
    if list(have.parameters) == ["self", "args", "kwargs"]:
        have = inspect.signature(getattr(jnp, name))
    want = [a.arg for a in node.args.args + node.args.kwonlyargs][1:]
    for parameter in want:
        assert parameter in have.parameters


def test_an_annotation_is_only_that():
    with pytest.raises(TypeError, match=r"use olympus\.numpy\.array"):
        olympus.Array()
