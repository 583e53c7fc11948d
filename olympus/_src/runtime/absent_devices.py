"""Devices that are not here, which plug-ins describe and compile for.

A plug-in's compiler needs no device where a text says what the device is like. Its
programs can be read, and kept, but not run.
"""

from __future__ import annotations

from typing import Any

from olympus._src.runtime import compiling, interrupts, mlir, plugins, versions
from olympus._src.runtime.plugins import Plugin


def describe(plugin: Plugin, name: str, options: dict[str, Any]) -> list[Any]:
    """Devices of a topology, for compilation alone.

    Args:
      plugin: whose devices they are. Its kernels are registered, as where it starts.
      name: of the topology, in the plug-in's words.
      options: what the plug-in takes, as in `target_config`.

    Raises:
      RuntimeError: the plug-in is of another version than jaxlib.
      XlaRuntimeError: it knows no such devices.
    """
    c_api = plugins.load(plugin)
    return versions.describe_devices(c_api, name, options)


def compile_for(text: str, devices: list[Any], options: dict[str, Any]) -> Any:
    """The program of a module for described devices; it says what it is, and runs not.

    Args:
      text: a module of StableHLO for one device.
      devices: one of them is compiled for.
      options: of XLA, by their names.
    """
    first = devices[:1]
    built = compiling.compile_options(tuple(options.items()), first)
    place = versions.DeviceList(tuple(first))
    compile_ = first[0].client.compile
    return interrupts.run_uninterrupted(compile_, mlir.parse(text), place, built)
