"""Python functions that run on the host of the devices of their arguments.

One process drives all of its devices, so that host is the one that runs this program.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.core import avals as avals_
from olympus._src.core import trace
from olympus._src.core.array_type import PyTree
from olympus._src.foundation import config, source_info
from olympus._src.runtime import client, versions
from olympus._src.runtime.array import ArrayImpl
from olympus._src.sharding.meshes import Mesh


class _Specialization(NamedTuple):
    """What is known of the calls of a function.

    Attributes:
      in_specs: types of `(args, kwargs)`, or None.
      out_specs_fn: gives the types of results, or None.
      devices: where it runs, or None.
    """

    in_specs: Any = None
    out_specs_fn: Any = None
    devices: tuple[Any, ...] | None = None

    def specialize(self, name: str, **fields: Any) -> _Specialization:
        """With more known; ValueError where that is known already."""
        fields = {field: x for field, x in fields.items() if x is not None}
        for field in fields:
            if getattr(self, field) is not None:
                raise ValueError(
                    f"colocated_python: {name} is specialized once for each of "
                    f"in_specs, out_specs_fn and devices, got {field} again; "
                    "specialize the function that has none"
                )
        return self._replace(**fields)


def colocated_python(fun: Callable[..., PyTree]) -> Callable[..., PyTree]:
    """Makes a function run on the host of the devices where its arguments are.

    Args:
      fun: a Python function of arrays and trees of them, which returns such.

    Returns:
      A function like `fun` for arrays on the same devices. Its method
      `specialize(in_specs=None, out_specs_fn=None, devices=None)` returns one for
      certain arguments (types of `(args, kwargs)`), results (a function of these) or
      devices. A function without arguments needs `devices`. New arrays are made on the
      first of the devices.

    Raises:
      TypeError: an argument or a result is not an array, or is being traced; or it is
        of another type than it is specialized for.
      ValueError: arguments are on different devices, or there are none.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental.colocated_python import colocated_python
      >>> colocated_python(lambda x: x + 1)(jnp.arange(3))
      Array([1, 2, 3], dtype=int32)
    """
    return _wrap(fun, _Specialization())


def _wrap(fun: Callable[..., Any], known: _Specialization) -> Callable[..., Any]:
    name = source_info.function_name(fun)

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        devices = _check_arguments(name, known, args, kwargs)
        with config.default_device(devices[0]):
            result = fun(*args, **kwargs)
        _check_results(name, known, args, kwargs, result)
        return result

    def specialize(
        in_specs: PyTree = None,
        out_specs_fn: Callable[..., PyTree] | None = None,
        devices: Sequence[versions.Device] | None = None,
    ) -> Callable[..., Any]:
        """The function for certain arguments, results or devices."""
        more = known.specialize(
            name,
            in_specs=in_specs,
            out_specs_fn=out_specs_fn,
            devices=None if devices is None else tuple(devices),
        )
        return _wrap(fun, more)

    call.specialize = specialize  # type: ignore[attr-defined]
    return call


def _check_arguments(name: str, known: _Specialization, args: Any, kwargs: Any) -> Any:
    """The devices of a call."""
    leaves = tree.tree_leaves((args, kwargs))
    for x in leaves:
        _check_array(name, "arguments", x)
    if known.in_specs is not None:
        _check_types(name, "arguments", known.in_specs, (args, kwargs))
    places = {_devices_of(x) for x in leaves}
    if len(places) > 1:
        listed = " and ".join(sorted(map(_list_devices, places)))
        raise ValueError(
            f"colocated_python: arguments of {name} must be on the same devices, got "
            f"{listed}; move them with olympus.device_put"
        )
    if known.devices is not None:
        return known.devices
    if not places:
        raise ValueError(
            f"colocated_python: {name} requires devices, got a call without arrays; "
            f"write {name}.specialize(devices=olympus.devices()[:1])"
        )
    return places.pop()


def _check_array(name: str, what: str, x: Any) -> None:
    if isinstance(x, trace.Tracer):
        raise TypeError(
            f"colocated_python: {what} of {name} must be concrete arrays, got a traced "
            f"{x.aval.short()}; call it outside of jit, grad and vmap, or use "
            "olympus.pure_callback"
        )
    if type(x) is not ArrayImpl:
        raise TypeError(
            f"colocated_python: {what} of {name} must be arrays, got a value of type "
            f"{type(x).__name__}; convert it with olympus.numpy.asarray"
        )


def _devices_of(x: Any) -> tuple[Any, ...]:
    device = x.single_device
    return (device,) if device is not None else tuple(x.sharding._device_assignment)


def _list_devices(devices: tuple[Any, ...]) -> str:
    return f"({', '.join(map(str, devices))})"


def _check_results(
    name: str, known: _Specialization, args: Any, kwargs: Any, result: Any
) -> None:
    for x in tree.tree_leaves(result):
        _check_array(name, "results", x)
    if known.out_specs_fn is not None:
        specs = known.out_specs_fn(*args, **kwargs)
        _check_types(name, "results", specs, result)


def _check_types(name: str, what: str, specs: Any, values: Any) -> None:
    wanted, structure = tree.tree_flatten(specs)
    leaves, actual = tree.tree_flatten(values)
    if structure != actual:
        raise TypeError(
            f"colocated_python: {what} of {name} must be a tree like {structure}, as "
            f"specialized, got {actual}; specialize it for these"
        )
    for spec, x in zip(wanted, leaves, strict=True):
        if tuple(spec.shape) != x.shape or spec.dtype != x.dtype:
            wanted_type = avals_.ShapedArray(tuple(spec.shape), spec.dtype).short()
            raise TypeError(
                f"colocated_python: {what} of {name} must be {wanted_type}, as "
                f"specialized, got {x.aval.short()}; specialize it for these"
            )


def colocated_python_class(cls: type) -> type:
    """Makes the methods of a class run on the host of the devices of their arguments.

    The object is made when a method is first called, and serves all later calls.

    Args:
      cls: a class; methods take and return arrays and trees of them.

    Returns:
      A class of the same name with the methods of `cls`, each as by
      `colocated_python`, and nothing else: its attributes stay on the host.

    Example:
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental.colocated_python import colocated_python_class
      >>> @colocated_python_class
      ... class Counter:
      ...     def __init__(self, start):
      ...         self.total = start
      ...
      ...     def add(self, x):
      ...         self.total = self.total + x
      ...         return self.total
      >>> counter = Counter(10)
      >>> counter.add(jnp.ones(2)), counter.add(jnp.ones(2))
      (Array([11., 11.], dtype=float32), Array([12., 12.], dtype=float32))
    """
    return type(cls.__name__, (_Colocated,), {"_cls": cls, "__doc__": cls.__doc__})


class _Colocated:
    """An object that is made by the first call of a method.

    Attributes:
      _cls: its class.
    """

    _cls: type

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__lock = threading.Lock()
        self.__arguments = args, kwargs
        self.__object: Any = None

    def __make(self) -> Any:
        with self.__lock:
            if self.__object is None:
                args, kwargs = self.__arguments
                self.__object = self._cls(*args, **kwargs)
            return self.__object

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._cls, name, None)
        if name.startswith("__") or not callable(method) or isinstance(method, type):
            raise AttributeError(
                f"colocated_python_class: {self._cls.__name__} has no method {name!r}; "
                "attributes of its objects are read by methods that return arrays"
            )

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(self.__make(), name)(*args, **kwargs)

        return colocated_python(call)


def colocated_cpu_devices(
    devices_or_mesh: Sequence[versions.Device] | Mesh,
) -> Sequence[versions.Device] | Mesh:
    """The CPU devices on the hosts of some devices, or the mesh of these.

    Args:
      devices_or_mesh: devices, or a mesh.

    Returns:
      As many CPU devices in the same order, or a mesh of the same shape and axes. CPU
      devices stay; the others, by their order among those of their kind in the process,
      get CPU devices in turn.

    Raises:
      TypeError: it is neither.

    Example:
      >>> import olympus
      >>> from olympus.experimental.colocated_python import colocated_cpu_devices
      >>> colocated_cpu_devices(olympus.devices("cpu")[:1])
      [CpuDevice(id=0)]
    """
    if isinstance(devices_or_mesh, Mesh):
        mesh = devices_or_mesh
        devices = mesh.devices.copy()
        for index in np.ndindex(devices.shape):
            devices[index] = _cpu_device_of(devices[index])
        return Mesh(devices, mesh.axis_names, axis_types=mesh.axis_types)
    if not isinstance(devices_or_mesh, (list, tuple)):
        raise TypeError(
            "colocated_cpu_devices: devices or a mesh are required, got "
            f"{devices_or_mesh!r}; for example olympus.devices()"
        )
    return [_cpu_device_of(device) for device in devices_or_mesh]


def _cpu_device_of(device: versions.Device) -> versions.Device:
    if device.platform == "cpu":
        return device
    peers = [d for d in client.local_devices() if d.platform == device.platform]
    cpus = client.local_devices("cpu")
    return cpus[peers.index(device) % len(cpus)]
