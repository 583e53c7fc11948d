"""Devices that are not here, which plug-ins describe and compile for.

A plug-in's compiler needs no device where a text says what the device is like. Its
programs can be read, and kept, but not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from olympus._src.runtime import client, compiling, interrupts, mlir, plugins, versions
from olympus._src.runtime.plugins import Plugin
from olympus._src.runtime.versions import XlaRuntimeError


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
    devices = versions.describe_devices(c_api, name, options)
    client.note_described(devices[0].client, plugin.platform)
    return devices


class AbsentProgram:
    """A program for devices that are not here: it says what it is, and does not run.

    What it does not define is asked of what the compiler gave.

    Args:
      program: what the compiler gave.
      devices: which it was compiled for.
    """

    __slots__ = ("_devices", "_program")

    def __init__(self, program: Any, devices: Sequence[Any]) -> None:
        self._program = program
        self._devices = list(devices)

    def __getattr__(self, name: str) -> Any:
        if name in self.__slots__:  # a copy that has nothing yet
            raise AttributeError(name)
        return getattr(self._program, name)

    def local_devices(self) -> list[Any]:
        """The devices, of which none is of this process."""
        return self._devices

    def refuse(self, buffers: list[Any]) -> Any:
        """Raises the error of a program that cannot run."""
        raise RuntimeError(
            "Compiled: a program must be for devices that are here to run, got one for "
            f"{self._devices[0].device_kind!r}, which is only described; read it, or "
            "compile it for olympus.devices()"
        )


def refuse_callbacks(devices: Sequence[Any]) -> NoReturn:
    """Raises the error of a program that calls functions of this process."""
    raise RuntimeError(
        "compile: a program that calls Python functions must be for devices that are "
        f"here, got one for {devices[0].device_kind!r}, which is only described; leave "
        "callbacks and debug.print out"
    )


# Kernels are tuned by running them.
_UNTUNED = ("xla_gpu_autotune_level", 0)


def _run_compiler(module: Any, devices: Sequence[Any], built: Any) -> Any:
    place = versions.DeviceList(tuple(devices))
    compile_ = devices[0].client.compile
    return interrupts.run_uninterrupted(compile_, module, place, built)


def compile_for(
    code: str | bytes, devices: Sequence[Any], options: compiling.Options
) -> AbsentProgram:
    """The program of a module for described devices; kernels are not tuned.

    Args:
      code: a module of StableHLO, as text or bytecode.
      devices: of one description.
      options: of XLA, by name.

    Raises:
      ValueError: an option is unknown or has a wrong value.
      RuntimeError: XLA refuses the module.
    """
    pairs = dict(options)
    if devices[0].platform == "gpu":
        pairs.setdefault(*_UNTUNED)
    built = compiling.compile_options(tuple(pairs.items()), devices, 1, len(devices))
    try:
        program = _run_compiler(mlir.parse(code), devices, built)
    except XlaRuntimeError as error:
        raise compiling.compile_error(error, options) from None
    return AbsentProgram(program, devices)
