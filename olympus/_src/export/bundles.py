"""Bundles: a function in one file, as a portable program and as machine code."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from olympus._src import tree
from olympus._src.api import arguments, parameters, shapes, signatures, stages
from olympus._src.api.jit import jit
from olympus._src.core import trace
from olympus._src.core.array_type import Placement, PyTree
from olympus._src.export import (
    bundle_files,
    calling,
    deserialization,
    divisions,
    named_arrays,
    result_checks,
    trees,
)
from olympus._src.export import executables as executables_
from olympus._src.export.bundle_files import Contents, Sample, Slot
from olympus._src.export.executables import Program
from olympus._src.export.exported import Exported
from olympus._src.foundation import config, container, logs, tracebacks
from olympus._src.foundation.container import Unreadable
from olympus._src.runtime import client
from olympus._src.sharding.meshes import Mesh


class ExecutableInfo(NamedTuple):
    """A compiled program of a bundle.

    Attributes:
      platform, device_kind, jaxlib: what it was compiled for and by.
      in_avals: types of its arguments.
      size: bytes of machine code.
      obstacles: why it cannot run here, in words; empty if it can.
    """

    platform: str
    device_kind: str
    jaxlib: str
    in_avals: Sequence[Any]
    size: int
    obstacles: Sequence[str]


class Bundle:
    """A function that was read from a file, or is about to be written to one.

    It is called like the function. Where the bundle has machine code for this machine
    and the arguments' types, nothing is traced or compiled; else the portable program
    is compiled, once for each signature. Under `jit`, `grad` and `vmap` the portable
    program is applied.

    Made by `bundle.make` or `bundle.load`.

    Attributes:
      name, doc: of the function.
      in_tree, out_tree: structures of `(args, kwargs)` and of the result.
      platforms: those of the portable program.
      vjp_order: how many reverse derivatives the portable program has.
      made_by: versions and machines, for people to read.
    """

    def __init__(
        self,
        contents: Contents,
        *,
        exported: Exported | None = None,
        use_executables: bool = True,
        device: Placement | Mesh = None,
        compiler_options: Sequence[tuple[str, Any]] = (),
    ) -> None:
        self._contents = contents
        self._compiler_options = dict(compiler_options)
        self._exported = exported
        self._mesh = device if isinstance(device, Mesh) else None
        if self._mesh is not None:
            device = self._mesh.flat_devices[0]
        self._chosen_device = None if device is None else client.as_device(device)
        self._device = client.as_device(device)
        self.name = self.__name__ = contents.name
        self.doc = self.__doc__ = contents.doc
        self.platforms = tuple(contents.platforms)
        self.vjp_order = contents.vjp_order
        self.made_by = dict(contents.made_by)
        self.in_tree = _read_tree(contents.in_tree, contents.arguments, "in_tree")
        self.out_tree = _read_tree(contents.out_tree, contents.results, "out_tree")
        names = parameters.Names.from_names(self.name, contents.argument_names)
        self._call = signatures.Call(names, (), (), (), self.in_tree)
        self._use_executables = use_executables
        self._programs = [self._read_program(data) for data in contents.executables]
        self._ready: dict[Any, Any] = {}  # loaded programs, by types
        self._runs: dict[Any, Any] = {}  # what to call, by types with weakness
        self._portable: Any = None
        wide = {s.dtype for s in (*contents.arguments, *contents.results)}
        self._is_wide = any(
            d.kind in "iufc" and d.itemsize >= _WIDE[d.kind] for d in wide
        )

    def _read_program(self, data: bytes) -> Program | Unreadable:
        """A compiled program, or why it cannot be read: a later olympus wrote it."""
        try:
            program = Program(data)
        except Unreadable as error:
            return error
        if len(program.in_avals) == len(self._contents.arguments):
            return program
        return Unreadable(
            f"it must take {len(self._contents.arguments)} arguments, got "
            f"{len(program.in_avals)}"
        )

    def _usable(self) -> list[Program]:
        """The compiled programs that can run here."""
        return [
            p
            for p in self._programs
            if isinstance(p, Program) and not p.obstacles(self._device)
        ]

    # -- what it is --

    @property
    def argument_paths(self) -> tuple[str, ...]:
        """A path for each leaf of the arguments, as in `x` or `params['w']`."""
        return tuple([slot.path for slot in self._contents.arguments])

    @property
    def result_paths(self) -> tuple[str, ...]:
        """A path for each leaf of the result, as in `result` or `result['loss']`."""
        return tuple([slot.path for slot in self._contents.results])

    @property
    def arguments(self) -> tuple[Slot, ...]:
        """Path, dtype and shape of each leaf of the arguments."""
        return tuple(self._contents.arguments)

    @property
    def results(self) -> tuple[Slot, ...]:
        """Path, dtype and shape of each leaf of the result."""
        return tuple(self._contents.results)

    @property
    def executables(self) -> tuple[ExecutableInfo, ...]:
        """The compiled programs in it, also those that cannot run here."""
        return tuple([self._info(p) for p in self._programs])

    def _info(self, program: Program | Unreadable) -> ExecutableInfo:
        if isinstance(program, Unreadable):
            return ExecutableInfo("", "", "", (), 0, (str(program),))
        facts = program.machine
        return ExecutableInfo(
            facts.get("platform", ""),
            facts.get("device_kind", ""),
            facts.get("jaxlib", ""),
            tuple(program.in_avals),
            program.size,
            tuple(program.obstacles(self._device)),
        )

    @property
    def uses_machine_code(self) -> bool:
        """Whether calls so far, or the next one, use machine code that is in it."""
        return bool(self._ready)

    @property
    def is_portable(self) -> bool:
        """Whether it holds the program for other machines, too."""
        return self._contents.exported is not None

    @property
    def has_sample(self) -> bool:
        """Whether it holds arguments and results to check itself by."""
        return self._contents.sample is not None

    @property
    def exported(self) -> Exported:
        """The portable program.

        Raises:
          ValueError: there is none, or it cannot be read here.
        """
        if self._exported is None:
            data = self._contents.exported
            if data is None:
                raise ValueError(
                    f"Bundle: {self.name!r} was made with portable=False and has no "
                    "portable program; make it again without"
                )
            # Who has its machine code run trusts the rest as well.
            isolate = False if self._use_executables else None
            self._exported = deserialization.deserialize(data, isolate=isolate)
        return self._exported

    def has_vjp(self) -> bool:
        """Whether `vjp` gives a program."""
        return self.is_portable and self.vjp_order > 0

    def vjp(self) -> Exported:
        """The program of the reverse derivative; see `Exported.vjp`.

        Raises:
          ValueError: it is not in the bundle.
        """
        return self.exported.vjp()

    def __repr__(self) -> str:
        arguments = ", ".join([f"{s.path}: {s.type_text()}" for s in self.arguments])
        return f"Bundle({self.name}({arguments}))"

    # -- calls --

    @tracebacks.api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Applies the function.

        Raises:
          TypeError: the arguments' structure, shapes or dtypes differ from those the
            function was bundled for.
        """
        leaves = self._flatten_arguments(args, kwargs)
        return self.out_tree.unflatten(self.call_leaves(leaves))

    def _flatten_arguments(self, args: Any, kwargs: Any) -> list[Any]:
        leaves, structure = tree.tree_flatten((args, kwargs))
        if structure != self.in_tree:
            raise TypeError(self._structure_message(structure))
        return leaves

    def call_leaves(self, leaves: Sequence[Any]) -> list[Any]:
        """As a call, with the leaves of arguments and result as flat lists."""
        with self._numbers():
            if any(isinstance(x, trace.Tracer) for x in leaves):
                types = [
                    arguments.argument_aval(x, self._call, i)
                    for i, x in enumerate(leaves)
                ]
                self._check_types(types)
                return calling.call_flat(self.exported, leaves)
            values = [
                arguments.as_argument(x, self._call, i) for i, x in enumerate(leaves)
            ]
            key = tuple([x.aval for x in values])
            run = self._runs.get(key)
            if run is None:
                self._check_types(key)
                run = self._runs[key] = self._runner(key)
            return run(values)

    def arrays_of(self, values: Sequence[Any]) -> list[Any]:
        """Arrays of the arguments' types from NumPy arrays, one for each leaf.

        Raises:
          ValueError: another shape.
          TypeError: another dtype, or values that the dtype does not hold.
        """
        return [
            named_arrays.as_argument(x, slot.aval(_shape_of(x, slot)), slot.path)
            for x, slot in zip(values, self.arguments, strict=True)
        ]

    def _numbers(self) -> Any:
        """The setting under which the program's types can be told."""
        if self._is_wide and not config.x64_enabled():
            return config.enable_x64(True)
        return contextlib.nullcontext()

    def _structure_message(self, structure: Any) -> str:
        mismatches = tree.treedef_errors(self.in_tree, structure)
        lines = [
            m.describe("the bundled (args, kwargs)", "the call's") for m in mismatches
        ]
        return (
            f"{self.name}: arguments must have the structure {self.in_tree}, got "
            f"{structure}" + "".join([f"\n  - {line}" for line in lines])
        )

    def _check_types(self, types: Sequence[Any]) -> None:
        wrong = [
            f"argument {slot.path!r} must be of type {slot.type_text()}, got "
            f"{a.str_long()}"
            for slot, a in zip(self.arguments, types, strict=True)
            if not _fits(slot, a)
        ]
        if wrong:
            raise TypeError(
                f"{self.name}: {'; '.join(wrong)}; convert the arguments, or bundle "
                "the function for these types"
            )

    def _runner(self, types: Sequence[Any]) -> Callable[[list[Any]], list[Any]]:
        """What takes arrays of these types and returns the results."""
        program = self._find(types)
        if program is None:
            compiling = self._portable_function()
            return lambda values: compiling(*values)
        return program.call

    def _find(self, types: Sequence[Any]) -> Any:
        """The machine code for arguments of these types, loaded, if it runs here."""
        key = tuple([a.strip_weak_type() for a in types])
        compiled = self._ready.get(key)
        if compiled is not None or not self._use_executables:
            return compiled
        reasons = []
        for program in self._usable():
            if key == tuple([a.strip_weak_type() for a in program.in_avals]):
                try:
                    compiled = self._ready[key] = self._load_program(program)
                except Unreadable as error:
                    reasons.append(str(error))
                else:
                    return compiled
        if not self.is_portable:
            why = "; ".join(reasons) or "there is none for these shapes"
            raise ValueError(
                f"{self.name}: its executables must run on this machine, as it has no "
                f"portable program: {why}"
            )
        if reasons:
            logs.warning(
                f"{self.name}: machine code of the bundle was not loaded, and its "
                f"portable program is compiled: {'; '.join(reasons)}"
            )
        return None

    def _load_program(self, program: Program) -> Any:
        shared = self.exported.constants if program.n_shared else ()
        devices = [self._device]
        if program.mesh is not None:
            devices = self._devices_of(program.mesh)
        loaded = program.load(self.in_tree, self.out_tree, devices, shared=shared)
        return stages.parts_of(loaded)[1]

    def _portable_function(self) -> Any:
        """The portable program as a jitted function of leaves."""
        if self._portable is None:
            exported, device, mesh = self.exported, self._chosen_device, None
            if exported.nr_devices > 1:
                axes = divisions.mesh_of(exported)
                grid = np.empty(axes.size, object)
                grid[:] = self._devices_of(axes)
                grid, device = grid.reshape(axes.axis_sizes), None
                mesh = Mesh(grid, axes.axis_names, axes.axis_types)

            def program(*leaves: Any) -> list[Any]:
                return calling.call_flat(exported, leaves, mesh)

            program.__name__ = self.name
            donated = [i for i, d in enumerate(self._contents.donated) if d]
            self._portable = jit(program, donate_argnums=donated, device=device)
        return self._portable

    def _devices_of(self, axes: Any) -> list[Any]:
        """The devices for a mesh: of the given one, or the first ones.

        Raises:
          ValueError: there are too few.
        """
        devices = client.local_devices(self._device.client.platform)
        if self._mesh is not None:
            devices = list(self._mesh.flat_devices)
        if len(devices) < axes.size or (self._mesh and len(devices) != axes.size):
            raise ValueError(
                f"{self.name}: must run on {axes.size} devices, got {len(devices)}; "
                "give load a mesh of as many, as device="
            )
        return devices[: axes.size]

    def prepare(self) -> Bundle:
        """Loads the machine code that runs here, or says why the function cannot.

        Raises:
          ValueError: nothing in the bundle runs here; the message says why.
        """
        usable = self._usable() if self._use_executables else []
        if usable and self._find(usable[0].in_avals) is not None:
            return self
        here = client.platform_of(self._device)
        if self.is_portable and here in self.platforms:
            return self
        reasons = []
        if self.is_portable:
            known = ", ".join(self.platforms)
            reasons.append(f"its portable program is for {known}, and this is {here!r}")
        elif not self._use_executables:
            reasons.append("it has no portable program, and executables=False")
        else:
            reasons.append("it has no portable program")
        if self._use_executables:
            for i, info in enumerate(self.executables):
                reasons.append(f"executable {i}: {', '.join(info.obstacles)}")
        raise ValueError(f"{self.name}: cannot run here: {'; '.join(reasons)}")

    # -- keeping it --

    def add_executable(self, *args: Any, **kwargs: Any) -> Bundle:
        """Adds machine code for this machine, compiled from the portable program.

        Args:
          args, kwargs: arguments, or `ShapeDtypeStruct`s, of the shapes to compile for;
            none for those the function was bundled for.

        Returns:
          The bundle, to be saved.

        Raises:
          ValueError: there is no portable program, or a size is symbolic.
          TypeError: the arguments do not fit the function.
        """
        if not args and not kwargs and self.in_tree.num_leaves:
            types = self._own_types()
        else:
            leaves = self._flatten_arguments(args, kwargs)
            with self._numbers():
                types = [
                    arguments.abstract_argument(x, self._call, i)
                    for i, x in enumerate(leaves)
                ]
            self._check_types(types)
        with self._numbers():
            structs = list(map(shapes.struct_of, types))
            lowered = self._portable_function().lower(*structs)
            compiled = lowered.compile(self._compiler_options)
        self._keep(executables_.pack(compiled, self.exported.constants))
        return self

    def _own_types(self) -> list[Any]:
        open_sizes = [s.path for s in self.arguments if s.is_symbolic()]
        if open_sizes:
            raise ValueError(
                f"add_executable: sizes must be given, since those of {open_sizes} are "
                f"symbolic in {self.name!r}; pass arguments with the sizes to compile "
                "for"
            )
        return [slot.aval() for slot in self.arguments]

    def _keep(self, data: bytes) -> None:
        """Adds an executable, in place of one for the same machine and types."""
        new = Program(data)
        same = [
            i
            for i, p in enumerate(self._programs)
            if isinstance(p, Program)
            and (p.machine, p.in_avals) == (new.machine, new.in_avals)
        ]
        for i in reversed(same):
            del self._programs[i], self._contents.executables[i]
        self._programs.append(new)
        self._contents.executables.append(data)
        self._ready.clear()
        self._runs.clear()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the bundle to a file, whole or not at all."""
        bundle_files.write_file(os.fspath(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The bundle as bytes, which `bundle.load` reads."""
        return bundle_files.pack(self._contents)

    # -- checking it --

    def sample_arguments(self) -> tuple[Any, Any]:
        """The `(args, kwargs)` of the self-test, created again each time.

        Raises:
          ValueError: there is none.
        """
        return self.in_tree.unflatten(
            [stored.array() for stored in self._sample().arguments]
        )

    def _sample(self) -> Sample:
        if self._contents.sample is None:
            raise ValueError(
                f"{self.name}: must have a self-test, got none; make the bundle with "
                "arrays as arguments and self_test=True"
            )
        return self._contents.sample

    def check(self) -> None:
        """Runs the self-test: the results must be those of the machine it was made on.

        Raises:
          ValueError: there is no self-test, or a result differs; says which, by how
            much.
        """
        sample = self._sample()
        args, kwargs = self.sample_arguments()
        results = tree.tree_leaves(self(*args, **kwargs))
        reasons = result_checks.failures(
            self.result_paths,
            results,
            [stored.array() for stored in sample.results],
            sample.tolerance,
        )
        if reasons:
            raise ValueError(f"{self.name}: fails its self-test: {'; '.join(reasons)}")


_WIDE = {"i": 8, "u": 8, "f": 8, "c": 16}


def slots_of_exported(exported: Exported) -> tuple[list[Slot], list[Slot]]:
    """The arguments and results of an exported program, which has no names for them."""
    names = parameters.Names.from_names(exported.fun_name, ())
    paths = signatures.Call(names, (), (), (), exported.in_tree).paths()
    return (
        bundle_files.slots_of(paths, exported.in_avals),
        bundle_files.slots_of(result_paths(exported.out_tree), exported.out_avals),
    )


def result_paths(out_tree: Any) -> list[str]:
    """A path for each leaf of a result of this structure."""
    return [f"result{tree.keystr(path)}" for path in tree.leaf_key_paths(out_tree)]


def _fits(slot: Slot, aval: Any) -> bool:
    """Whether a type is that of a slot; a symbolic size may be any."""
    if aval.dtype != slot.dtype or aval.ndim != len(slot.shape):
        return False
    return all(
        type(w) is str or n == w for n, w in zip(aval.shape, slot.shape, strict=True)
    )


def _shape_of(x: Any, slot: Slot) -> Sequence[int]:
    """The shape of a value without the words of a key."""
    return np.shape(x)[: len(slot.shape)]


def _read_tree(nodes: Any, slots: Sequence[Slot], what: str) -> Any:
    try:
        treedef = trees.from_json(nodes)
    except (ValueError, TypeError) as error:
        raise Unreadable(f"bundle: {what}: {error}") from error
    if treedef.num_leaves != len(slots):
        raise Unreadable(
            f"bundle: {what} must have {len(slots)} leaves, got {treedef.num_leaves}"
        )
    return treedef


# -- reading ---------------------------------------------------------------------------


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    executables: bool = True,
    check: bool = False,
    device: Placement | Mesh = None,
) -> Bundle:
    """Reads a bundle.

    A bundle holds machine code, which runs with your rights when the bundle is called:
    load only files that you trust. The digest in the file is verified, which detects
    damage but not tampering.

    Args:
      source: the file's path, or its bytes.
      executables: use the machine code in it that was compiled for a machine like this;
        if not, only the portable program is used, which XLA compiles.
      check: run the self-test before returning.
      device: where to run it: a device, or a mesh for a program that is divided over
        as many devices; None for the default device, or the first devices.

    Returns:
      A `Bundle`, to be called like the function. Where it holds machine code for this
      kind of machine, nothing is traced or compiled.

    Raises:
      ValueError: the file is damaged or something else, nothing in it runs here, or the
        self-test fails; the message says why.
      OSError: the file cannot be read.

    Example:
      >>> import olympus
      >>> from olympus import bundle
      >>> data = bundle.make(olympus.jit(lambda x: x + 1))(1.0).to_bytes()
      >>> bundle.load(data, check=True)(2.0)
      Array(3., dtype=float32, weak_type=True)
    """
    where = "bundle.load"
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    else:
        where = f"{where}: {os.fspath(source)}"
        with open(source, "rb") as file:
            try:
                data = container.read(file, "bundle")
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from error
    try:
        bundle = Bundle(
            bundle_files.unpack(data), use_executables=executables, device=device
        ).prepare()
        if check:
            bundle.check()
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    return bundle


def add_executable(
    path: str | os.PathLike[str], /, *args: PyTree, **kwargs: PyTree
) -> None:
    """Adds machine code for this machine to a bundle's file.

    Args:
      path: the file.
      args, kwargs: as in `Bundle.add_executable`.

    Raises:
      ValueError: there is no portable program for this machine, or a size is symbolic.

    Example:
      >>> import os, tempfile
      >>> import olympus
      >>> from olympus import bundle
      >>> path = os.path.join(tempfile.mkdtemp(), "double.bundle")
      >>> made = bundle.make(olympus.jit(lambda x: 2 * x), executables=False)(1.0)
      >>> made.save(path)
      >>> bundle.add_executable(path)
      >>> len(bundle.load(path).executables)
      1
    """
    load(path).add_executable(*args, **kwargs).save(path)
