"""Compiled functions as bytes: what one machine compiled, another of its kind loads.

The bytes are a container of kind 'compiled executable'. Nothing in them is pickled, so
reading them runs no code; calling what was loaded runs the machine code they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from olympus._src.api import parameters, signatures, stages
from olympus._src.export import arrays, divisions
from olympus._src.export.json_fields import Fields
from olympus._src.foundation import container
from olympus._src.foundation.container import Container, Unreadable
from olympus._src.interpreters import (
    compiled_programs,
    concrete_arrays,
    lowered_programs,
)
from olympus._src.runtime import client, executable, machine
from olympus._src.sharding.division import Division
from olympus._src.sharding.meshes import Mesh
from olympus._src.tree import PyTreeDef

KIND = "compiled executable"
_VERSIONS = range(1, 2)
_MACHINE_CODE = "executable"


# -- writing ---------------------------------------------------------------------------


def serialize(compiled: stages.Compiled) -> tuple[bytes, PyTreeDef, PyTreeDef]:
    """A compiled function as bytes, and the structures of its arguments and results.

    Args:
      compiled: what `jit(f).lower(...).compile()` gave.

    Returns:
      The bytes, `in_tree` and `out_tree`, which `deserialize_and_load` takes. The bytes
      hold machine code, the constants that the function captured, the types of
      arguments and results, and what the machine must be like.

    Raises:
      TypeError: it is not a compiled function.
      ValueError: the program calls Python, or runs in several processes.

    Example:
      >>> import olympus
      >>> import olympus.numpy as jnp
      >>> from olympus.experimental import serialize_executable
      >>> compiled = olympus.jit(jnp.cumsum).lower(jnp.arange(3)).compile()
      >>> parts = serialize_executable.serialize(compiled)
      >>> again = serialize_executable.deserialize_and_load(*parts)
      >>> again(jnp.array([1, 2, 3]))
      Array([1, 3, 6], dtype=int32)
    """
    return pack(compiled), compiled.in_tree, compiled.out_tree


def pack(compiled: Any, shared: Sequence[Any] = ()) -> bytes:
    """The bytes of a compiled function, without its trees; see `serialize`.

    Args:
      compiled: the function.
      shared: arrays that are kept elsewhere; constants that are one of them are left
        out, and must be given to `Program.load`.
    """
    if not isinstance(compiled, stages.Compiled):
        raise TypeError(
            "serialize: must be given a compiled function, got "
            f"{compiled!r} of type {type(compiled).__name__}; compile it by "
            "jit(f).lower(*args).compile()"
        )
    signature, program = stages.parts_of(compiled)
    lowered = program.lowered
    _refuse_callbacks(signature.name, lowered)
    _refuse_processes(signature.name, lowered)
    if lowered.refs is not None:
        raise ValueError(
            f"serialize: the program of {signature.name} must not use refs from "
            "outside, which no file holds; pass arrays, and return what they become"
        )
    places = {id(x): i for i, x in enumerate(shared)}
    kept_elsewhere = [places.get(id(c)) for c in lowered.consts]
    fields = {
        "name": signature.name,
        "module": lowered.module_name,
        "machine": machine.facts(lowered.device),
        "device": lowered.device.id,
        "committed": lowered.committed,
        "side_effects": lowered.has_effects,
        "options": [[name, str(value)] for name, value in program.options],
        "arguments": [arrays.write_aval(a) for a in signature.call.avals],
        "argument_names": signature.call.argument_names(),
        "donated": list(signature.donated),
        "kept": [bool(k) for k in lowered.kept],
        "aliases": [[i, o] for i, o in lowered.aliases.items()],
        "results": [arrays.write_aval(a) for a in signature.out_avals],
        "constants": [arrays.write_aval(c.aval) for c in lowered.consts],
        "shared": kept_elsewhere,
    }
    if lowered.division is not None:
        fields["division"] = _write_division(signature, program)
    sections = {_MACHINE_CODE: program.executable.serialize()}
    for i, value in enumerate(lowered.consts):
        if kept_elsewhere[i] is None:
            sections[_constant(i)] = arrays.write_array(value)
    return container.pack(Container(KIND, _VERSIONS[-1], fields, sections))


def _refuse_callbacks(name: str, lowered: Any) -> None:
    if lowered.callbacks is not None or lowered.effects:
        table = lowered.callbacks
        count = 0 if table is None else len(table.functions)
        raise ValueError(
            f"serialize: the program of {name} must not call Python, which cannot be "
            f"written to bytes, got one with {count} callbacks; take out debug.print, "
            "io_callback and pure_callback, or export the function"
        )


def _refuse_processes(name: str, lowered: Any) -> None:
    n = len({device.process_index for device in lowered.devices})
    if n > 1:
        raise ValueError(
            f"serialize: the program of {name} must run in one process, got one of "
            f"{n}; export the function, or keep compiled programs on disk by the "
            "setting compilation_cache_dir"
        )


def _write_division(signature: Any, program: Any) -> dict[str, Any]:
    """The devices of a divided program, and the shardings it was compiled for."""
    division = program.lowered.division
    rows = {
        "in_shardings": program.executable.in_shardings or [],
        "out_shardings": program.executable.shardings,
        "argument_types": [a.explicit for a in signature.call.avals],
        "result_types": [a.explicit for a in signature.out_avals],
    }
    return {
        "mesh": divisions.write_mesh(division.mesh),
        "devices": [device.id for device in division.devices],
        **{k: list(map(divisions.write_sharding, row)) for k, row in rows.items()},
    }


def _constant(i: int) -> str:
    return f"constant {i}"


# -- reading ---------------------------------------------------------------------------


def deserialize_and_load(
    serialized: bytes,
    in_tree: PyTreeDef,
    out_tree: PyTreeDef,
    backend: str | Any = None,
    execution_devices: Sequence[Any] | None = None,
) -> stages.Compiled:
    """Loads what `serialize` wrote; nothing is traced and nothing compiled.

    Args:
      serialized: the bytes. They hold machine code: load only bytes that you trust.
      in_tree, out_tree: the structures that `serialize` gave with them.
      backend: the platform to load for, as in 'cpu'; None for that of the bytes.
      execution_devices: the devices to run on, as many as it was compiled for; None
        for those of the same numbers, if they are there, or else the first.

    Returns:
      A `stages.Compiled`.

    Raises:
      ValueError: the bytes are damaged or something else, were compiled for another
        kind of machine or by another version of jaxlib, or do not have these trees.
      RuntimeError: the platform does not run here.

    Example:
      >>> import olympus
      >>> from olympus.experimental import serialize_executable
      >>> compiled = olympus.jit(lambda x: x + 1).lower(1).compile()
      >>> data, in_tree, out_tree = serialize_executable.serialize(compiled)
      >>> load = serialize_executable.deserialize_and_load
      >>> load(data, in_tree, out_tree)(2)
      Array(3, dtype=int32, weak_type=True)
      >>> load(data[:-1], in_tree, out_tree)
      Traceback (most recent call last):
      ...
      ValueError: deserialize_and_load: compiled executable: its ...
    """
    try:
        program = Program(_as_bytes(serialized))
        return program.load(
            in_tree, out_tree, _devices(program, backend, execution_devices)
        )
    except Unreadable as error:
        raise ValueError(f"deserialize_and_load: {error}") from None


def _as_bytes(data: Any) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise TypeError(
        f"deserialize_and_load: serialized must be bytes, got {type(data).__name__}; "
        "pass the first of the three values of serialize"
    )


def _devices(
    program: Program, backend: Any, devices: Sequence[Any] | None
) -> Sequence[Any]:
    if devices is not None:
        chosen = list(devices)
        n = program.n_devices
        if len(chosen) != n:
            raise ValueError(
                f"deserialize_and_load: execution_devices must be {n} "
                f"{'device' if n == 1 else 'devices'}, as many as it was compiled for, "
                f"got {len(chosen)}"
            )
        return list(map(client.as_device, chosen))
    if backend is not None and not isinstance(backend, str):
        backend = backend.platform
    return program.own_devices(backend)


class Program:
    """A compiled program that was read and is not loaded yet.

    Args:
      data: the bytes of `pack`.

    Attributes:
      name: the function's name.
      machine: what the machine must be like; see `runtime.machine.facts`.
      in_avals, out_avals: types of arguments and results.
      committed: whether a device was chosen for it when it was compiled.
      mesh: its axes, where it is divided over several devices; else None.

    Raises:
      Unreadable: they are something else, or damaged.
    """

    __slots__ = (
        "_aliases",
        "_constants",
        "_device_ids",
        "_donated",
        "_in_shardings",
        "_kept",
        "_module",
        "_names",
        "_options",
        "_out_shardings",
        "_sections",
        "_shared",
        "_side_effects",
        "committed",
        "in_avals",
        "machine",
        "mesh",
        "name",
        "out_avals",
    )

    def __init__(self, data: bytes) -> None:
        parts = container.unpack(data, KIND, _VERSIONS)
        fields = Fields(parts.fields, KIND)
        self.name = fields.text("name")
        self.machine = fields.texts_by_name("machine")
        self.in_avals = fields.each("arguments", arrays.read_aval)
        self.out_avals = fields.each("results", arrays.read_aval)
        self.committed = fields.flag("committed")
        n = len(self.in_avals)
        self._module = fields.text("module")
        self._device_ids = [fields.integer("device")]
        self._side_effects = fields.flag("side_effects")
        self._options = fields.each("options", _option)
        self._names = fields.texts("argument_names")
        self._donated = fields.flags("donated", n)
        self._kept = fields.flags("kept", n)
        self._constants = fields.each("constants", arrays.read_aval)
        limits = len(self._constants) + sum(self._kept), len(self.out_avals)
        self._aliases = dict(
            fields.each("aliases", lambda value, where: _alias(value, where, limits))
        )
        self._shared = fields.items("shared", len(self._constants))
        if any(x is not None and type(x) is not int for x in self._shared):
            raise fields.wrong("shared", "numbers or null", self._shared)
        self._sections = parts.sections
        self.mesh: Any = None
        self._in_shardings: list[Any] = []
        self._out_shardings: list[Any] = []
        if fields.has("division"):
            self._read_division(fields.inner("division"))
        own = [i for i, place in enumerate(self._shared) if place is None]
        section_names = [_MACHINE_CODE, *map(_constant, own)]
        if list(self._sections) != section_names:
            raise Unreadable(
                f"{KIND}: its sections must be {section_names}, got "
                f"{list(self._sections)}"
            )

    def _read_division(self, fields: Fields) -> None:
        self.mesh = divisions.read_mesh(fields)
        self._device_ids = fields.items("devices", self.mesh.size)
        if any(type(i) is not int for i in self._device_ids):
            raise fields.wrong("devices", "numbers", self._device_ids)
        rows = zip(self.in_avals, self._kept, strict=True)
        ins = [*self._constants, *[a for a, is_kept in rows if is_kept]]
        for name, avals in (("in_shardings", ins), ("out_shardings", self.out_avals)):
            row = fields.each(name, divisions.read_sharding, len(avals))
            if None in row:
                raise fields.wrong(name, "a sharding for each value", None)
            divisions.check_shardings(row, avals, self.mesh.size)
            setattr(self, f"_{name}", row)
        self.in_avals = _read_explicit(fields, "argument_types", self.in_avals)
        self.out_avals = _read_explicit(fields, "result_types", self.out_avals)

    @property
    def n_devices(self) -> int:
        """How many devices it was compiled for."""
        return len(self._device_ids)

    @property
    def n_shared(self) -> int:
        """How many constants must be given to `load`."""
        return len(self._shared) - self._shared.count(None)

    @property
    def size(self) -> int:
        """Bytes of machine code."""
        return len(self._sections[_MACHINE_CODE])

    def own_devices(self, platform: str | None = None) -> list[Any]:
        """The devices it was compiled for, or the first of that platform.

        Raises:
          RuntimeError: the platform does not run here.
        """
        devices = client.local_devices(platform or self.machine.get("platform"))
        by_id = {d.id: d for d in devices}
        same = [by_id[i] for i in self._device_ids if i in by_id]
        return same if len(same) == self.n_devices else devices[: self.n_devices]

    def obstacles(self, device: Any) -> list[str]:
        """Why it cannot run on devices like one, in words; empty if it can."""
        reasons = machine.differences(self.machine, machine.facts(device))
        n = len(client.local_devices(device.client.platform))
        if n < self.n_devices:
            reasons.append(f"it needs {self.n_devices} devices, and there are {n}")
        return reasons

    def load(
        self,
        in_tree: Any,
        out_tree: Any,
        devices: Sequence[Any],
        *,
        shared: Sequence[Any] = (),
    ) -> stages.Compiled:
        """Loads the program for devices.

        Args:
          in_tree: the structure of `(args, kwargs)`.
          out_tree: the structure of the result.
          devices: where to run it, as many as it was compiled for.
          shared: the arrays that `pack` was given.

        Raises:
          Unreadable: the trees do not fit, the devices are of the wrong kind or too
            few, or the runtime refuses the machine code.
        """
        self._check_trees(in_tree, out_tree)
        reasons = self.obstacles(devices[0])
        if reasons:
            raise Unreadable(
                f"{self.name} was compiled for another kind of machine: "
                f"{'; '.join(reasons)}. Compile it on this machine"
            )
        code = self._sections[_MACHINE_CODE]
        try:
            loaded = executable.deserialize(code, devices=devices)
        except RuntimeError as error:
            raise Unreadable(
                f"{self.name}: the runtime must be able to load the machine code, got: "
                f"{error}"
            ) from error
        self._check_results(executable.result_types(loaded))
        lowered = self._lowered_program(devices, self._constants_on(devices[0], shared))
        compiled = compiled_programs.build(lowered, tuple(self._options), loaded)
        names = parameters.Names.from_names(self.name, self._names)
        call = signatures.Call(names, (), (), (), in_tree)
        call.avals = list(self.in_avals)
        signature = stages.Signature(
            name=self.name,
            call=call,
            out_tree=out_tree,
            out_avals=self.out_avals,
            donated=self._donated,
            keep_unused=False,
        )
        return stages.Compiled(signature, compiled)

    def _lowered_program(
        self, devices: Sequence[Any], consts: list[Any]
    ) -> lowered_programs.LoweredProgram:
        device = devices[0]
        return lowered_programs.LoweredProgram(
            text="",
            module_name=self._module,
            program=None,
            platform=device.platform,
            device=device,
            committed=self.committed or device != self.own_devices()[0],
            consts=consts,
            kept=self._kept,
            in_avals=[a for a, k in zip(self.in_avals, self._kept, strict=True) if k],
            out_avals=self.out_avals,
            aliases=self._aliases,
            has_effects=self._side_effects,
            division=self._division(devices),
        )

    def _division(self, devices: Sequence[Any]) -> Division | None:
        """How it is divided over devices; None where one runs it."""
        if self.mesh is None:
            return None
        grid = np.empty(len(devices), object)
        grid[:] = list(devices)
        ins, outs = (
            [_over(sharding, grid) for sharding in row]
            for row in (self._in_shardings, self._out_shardings)
        )
        return Division(_mesh_of(self.mesh, grid), tuple(ins), tuple(outs))

    def _constants_on(self, device: Any, shared: Sequence[Any]) -> list[Any]:
        constants = []
        for i, (aval, place) in enumerate(
            zip(self._constants, self._shared, strict=True)
        ):
            if place is None:
                data = self._sections[_constant(i)]
                constants.append(arrays.read_array(data, aval, device, _constant(i)))
                continue
            if not 0 <= place < len(shared) or shared[place].aval is not aval:
                raise Unreadable(
                    f"{KIND}: {_constant(i)} must be given with it, got "
                    f"{len(shared)} arrays"
                )
            constants += concrete_arrays.on_device([shared[place]], device)
        return constants

    def _check_results(self, types: list[str]) -> None:
        # A result read by a wrong type would be memory of another object.
        parts = [a.storage for a in self.out_avals]
        if self.mesh is not None:  # its results are the parts on one device
            rows = zip(parts, self._out_shardings, strict=True)
            parts = [a.update(shape=s.shard_shape(a.shape)) for a, s in rows]
        expected = list(map(executable.xla_type, parts))
        if types != expected:
            raise Unreadable(
                f"{KIND}: its results must be those of its machine code, {types}, got "
                f"{expected}"
            )

    def _check_trees(self, in_tree: Any, out_tree: Any) -> None:
        for what, treedef, avals in (
            ("in_tree", in_tree, self.in_avals),
            ("out_tree", out_tree, self.out_avals),
        ):
            leaves = getattr(treedef, "num_leaves", None)
            if leaves != len(avals):
                raise Unreadable(
                    f"{what} must be the structure of {len(avals)} leaves that was "
                    f"written with {self.name}, got {treedef}"
                )


def _read_explicit(fields: Fields, name: str, avals: Sequence[Any]) -> list[Any]:
    """The types, with what explicit axes of a mesh divide."""
    row = fields.each(name, divisions.read_sharding, len(avals))
    return [a.update(sharding=s) for a, s in zip(avals, row, strict=True)]


def _mesh_of(axes: Any, grid: np.ndarray) -> Mesh:
    """A mesh of these axes, of the devices in order."""
    return Mesh(grid.reshape(axes.axis_sizes), axes.axis_names, axes.axis_types)


def _over(sharding: Any, grid: np.ndarray) -> Any:
    return sharding.update(mesh=_mesh_of(sharding.mesh, grid))


def _option(value: Any, where: str) -> tuple[str, str]:
    if type(value) is not list or [type(x) for x in value] != [str, str]:
        raise Unreadable(f"{where}: must be a name and a value, got {value!r}")
    return value[0], value[1]


def _alias(value: Any, where: str, limits: tuple[int, int]) -> tuple[int, int]:
    if type(value) is not list or [type(x) for x in value] != [int, int]:
        raise Unreadable(f"{where}: must be two numbers, got {value!r}")
    if not (0 <= value[0] < limits[0] and 0 <= value[1] < limits[1]):
        raise Unreadable(
            f"{where}: must be the numbers of an argument below {limits[0]} and a "
            f"result below {limits[1]}, got {value!r}"
        )
    return value[0], value[1]
