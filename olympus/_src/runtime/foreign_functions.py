"""Functions of other languages that compiled programs call, by name."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from olympus._src.runtime import plugins, versions

Buffer = versions.Buffer
ExecutionContext = versions.ExecutionContext
ExecutionStage = versions.ExecutionStage


def register_target(
    name: str, function: Any, platform: str, api_version: int, traits: int
) -> None:
    """Says which function programs of a platform call by a name.

    Args:
      name: the name.
      function: a capsule with the function's address, or one for each stage by name.
      platform: 'cpu', or that of a plug-in, which may be loaded later.
      api_version: 1 for functions of XLA's typed interface.
      traits: what XLA may rely on, as bits.
    """
    if platform == "cpu":
        versions.register_target(name, function, api_version, traits)
    else:
        plugins.register_target(platform, name, function, api_version)


def register_type(name: str, registration: Any, platform: str) -> None:
    """Says what a type of states is, that stages pass to each other."""
    if platform == "cpu":
        versions.register_type(name, registration)
    else:
        plugins.register_type(platform, name, registration)


def register_as_batch_partitionable(name: str) -> None:
    """Says that a function treats the parts along leading axes one by one."""
    versions.register_as_batch_partitionable(name)


def include_directory() -> str:
    """The folder with the headers of XLA's interface."""
    return os.path.join(versions.folder(), "include")


_CAPSULE_NAME = b"xla._CUSTOM_CALL_TARGET"


def capsule(function: Any) -> Any:
    """The capsule of a function's address."""
    address = ctypes.cast(function, ctypes.c_void_p)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(address, _CAPSULE_NAME, None)
