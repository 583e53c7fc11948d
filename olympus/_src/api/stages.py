"""The stages of a call as values: traced, lowered, compiled."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from olympus._src import tree
from olympus._src.api import (
    arguments,
    layouts,
    native_calls,
    retraces,
    shapes,
    signatures,
)
from olympus._src.api.tracing import TracedProgram
from olympus._src.core import avals as avals_
from olympus._src.core import ir, trace
from olympus._src.core.primitive import LateRule
from olympus._src.foundation import compile_notes, tracebacks
from olympus._src.interpreters import concrete_arrays, evaluate, tiers
from olympus._src.interpreters.compiled_programs import CompiledProgram
from olympus._src.interpreters.lowered_programs import LoweredProgram
from olympus._src.interpreters.portable import PortableProgram
from olympus._src.runtime import client, mlir
from olympus._src.sharding import contexts
from olympus._src.sharding.division import Division
from olympus._src.sharding.layouts import Format
from olympus._src.sharding.meshes import NO_MESH, AbstractMesh

# XLA's options by name; and 'tier'.
CompilerOptions: TypeAlias = dict[str, Any]


class ArgInfo:
    """Type of an argument, and whether it is donated.

    Attributes:
      aval: the type.
      donated: whether a result may take over the argument's buffer.
    """

    __slots__ = ("aval", "donated")

    def __init__(self, aval: Any, donated: bool) -> None:
        self.aval = aval
        self.donated = donated

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.aval.dtype

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is ArgInfo
            and other.aval is self.aval
            and other.donated == self.donated
        )

    def __hash__(self) -> int:
        return hash((self.aval, self.donated))

    def __repr__(self) -> str:
        return f"ArgInfo(_aval={self.aval!r}, donated={self.donated})"


class Signature(NamedTuple):
    """The facts about a function that all stages share.

    Attributes:
      name: the function's name.
      call: the structure, types and names of the arguments.
      out_tree: the structure of the results.
      out_avals: their types.
      donated: which leaves of the arguments a result may overwrite.
      keep_unused: whether programs take unused arguments.
      mesh: the axes of the mesh that was set.
    """

    name: str
    call: signatures.Call
    out_tree: Any
    out_avals: Sequence[Any]
    donated: Sequence[bool]
    keep_unused: bool
    mesh: AbstractMesh = NO_MESH.abstract_mesh


class _Stage:
    """A view of the facts known at a stage."""

    # Of each class its own: one of them is a class of C too, whose layout comes first.
    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def _signature(self) -> Signature: ...
        @_signature.setter
        def _signature(self, signature: Signature) -> None: ...

    def __init__(self, signature: Signature) -> None:
        self._signature = signature

    @property
    def in_tree(self) -> Any:
        """The structure of `(args, kwargs)`, static arguments left out."""
        return self._signature.call.structure

    @property
    def out_tree(self) -> Any:
        """The structure of the result."""
        return self._signature.out_tree

    @property
    def in_avals(self) -> Any:
        """Types of the arguments, in `in_tree`."""
        return self.in_tree.unflatten(self._signature.call.avals)

    @property
    def args_info(self) -> Any:
        """An `ArgInfo` for each argument, in `in_tree`."""
        avals, donated = self._signature.call.avals, self._signature.donated
        infos = [ArgInfo(a, d) for a, d in zip(avals, donated, strict=True)]
        return self.in_tree.unflatten(infos)

    @property
    def keep_unused(self) -> bool:
        """Whether unused arguments are kept."""
        return self._signature.keep_unused

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """Indices of donated leaves."""
        return tuple([i for i, d in enumerate(self._signature.donated) if d])

    @property
    def out_info(self) -> Any:
        """A `ShapeDtypeStruct` for each result, in `out_tree`."""
        mesh = self._signature.mesh
        structs = [shapes.struct_of(a, mesh) for a in self._signature.out_avals]
        return self.out_tree.unflatten(structs)


def _check_types(name: str, what: str, actual: Any, expected: Any) -> None:
    """Raises TypeError where values have not the types of a program's variables."""
    avals = [avals_.aval_of(x) for x in actual]
    kinds = [(a.shape, a.dtype) for a in avals]
    if kinds != [(v.aval.shape, v.aval.dtype) for v in expected]:
        listed = [
            ", ".join([a.short() for a in row])
            for row in ([v.aval for v in expected], avals)
        ]
        raise TypeError(
            f"{name}: {what} must be of types [{listed[0]}], got [{listed[1]}]; "
            "convert them, or trace the function for these"
        )


class Traced(_Stage):
    """A function specialised to a signature, as an olympuspr.

    Example:
      >>> import olympus
      >>> print(olympus.jit(lambda x: 2 * x).trace(3).olympuspr)
      { lambda ; a:i32[]. let b:i32[] = mul 2:i32[] a in (b,) }
    """

    __slots__ = ("_jitted", "_note", "_place", "_signature", "_traced")

    def __init__(
        self,
        traced: TracedProgram,
        call: signatures.Call,
        jitted: Any,
        place: Any,
        note: Any = None,
    ) -> None:
        super().__init__(
            Signature(
                name=traced.name,
                call=call.light(),
                out_tree=traced.out_tree,
                out_avals=traced.out_avals,
                donated=traced.donated,
                keep_unused=jitted.keep_unused,
                mesh=contexts.get_abstract_mesh(),
            )
        )
        self._traced = traced
        self._jitted = jitted
        self._place = place
        self._note = note

    @property
    def out_avals(self) -> Any:
        """Types of the results, in `out_tree`."""
        return self.out_tree.unflatten(self._signature.out_avals)

    @property
    def olympuspr(self) -> ir.ClosedOlympuspr:
        """The program, with the values of its constants."""
        return ir.ClosedOlympuspr(self._traced.program, self._traced.consts)

    @property
    def jaxpr(self) -> ir.ClosedOlympuspr:
        """The program, under the name that JAX gives it."""
        return self.olympuspr

    @property
    def effects(self) -> frozenset[Any]:
        """The program's effects."""
        return self._traced.program.effects

    @property
    def fun_name(self) -> str:
        """The function's name."""
        return self._traced.name

    def closure_convert(self) -> tuple[list[Any], Callable[..., Any]]:
        """The values that the function closed over, and a function of them.

        Returns:
          The values of the program's constants, and a function of a list of such
          values and of the function's arguments, those that are static left out.

        Example:
          >>> import olympus
          >>> import olympus.numpy as onp
          >>> y = onp.arange(3.0)
          >>> values, f = olympus.jit(lambda x: x + y).trace(1.0).closure_convert()
          >>> f([2 * y], 1.0)
          Array([1., 3., 5.], dtype=float32)
        """
        program, out_tree = self._traced.program, self.out_tree

        def call(values: Any, *args: Any, **kwargs: Any) -> Any:
            flat, in_tree = tree.tree_flatten((args, kwargs))
            if in_tree != self.in_tree:
                raise TypeError(
                    f"{self.fun_name}, converted by closure_convert: arguments must "
                    f"be of the structure {self.in_tree}, got {in_tree}; pass the "
                    "values first, and no static arguments"
                )
            consts = tree.tree_leaves(values)
            name = f"{self.fun_name}, converted by closure_convert"
            _check_types(name, "values", consts, program.constvars)
            _check_types(name, "arguments", flat, program.invars)
            return out_tree.unflatten(ir.eval_olympuspr(program, consts, *flat))

        return list(self._traced.consts), call

    def lower(
        self, *, lowering_platforms: Sequence[str] | None = None, **_: Any
    ) -> Lowered:
        """Lowers to StableHLO.

        Args:
          lowering_platforms: the platform to lower for in place of the device's. A
            program for several takes the number of one of them as first argument, and
            can be read but not compiled.
        """
        _refuse_tracers(self._traced.consts)
        platforms = _as_platforms(lowering_platforms)
        lowered = self._jitted.lower_traced(self._traced, self._place, platforms)
        options = self._jitted.compiler_options
        return Lowered(self._signature, lowered, options, self._note)

    def division(self) -> Division | None:
        """How the program is divided over several devices; None where one runs it."""
        return self._jitted.division_of_traced(self._traced, self._place)

    def __repr__(self) -> str:
        return f"Traced({self.fun_name}: {self._traced.program.in_avals})"


def _as_platforms(platforms: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(platforms, str):
        return (platforms,)
    return tuple(platforms or ())


def _refuse_tracers(consts: Sequence[Any]) -> None:
    for c in consts:
        if isinstance(c, trace.Tracer):
            raise trace.leak_error(c, "lowering")


class Lowered(_Stage):
    """A function as StableHLO, ready to compile."""

    __slots__ = ("_lowered", "_note", "_options", "_signature")

    def __init__(
        self,
        signature: Signature,
        lowered: LoweredProgram | PortableProgram,
        options: Sequence[tuple[str, Any]],
        note: Any = None,
    ) -> None:
        super().__init__(signature)
        self._note = note
        self._lowered = lowered
        self._options = options

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The program in readable form.

        Args:
          dialect: 'stablehlo' (the default) or 'hlo'.
          debug_info: write source positions.

        Raises:
          ValueError: an unknown dialect.
        """
        text = self._lowered.with_locations() if debug_info else self._lowered.text
        if _dialect("as_text", dialect) == "hlo":
            return mlir.hlo_text(text, debug_info)
        printed = None if debug_info else _printer().canonical_text(text)
        return mlir.canonical_text(text, debug_info) if printed is None else printed

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as the compiler's own object: an MLIR module, or an XLA one.

        Raises:
          ValueError: an unknown dialect.
        """
        if _dialect("compiler_ir", dialect) == "hlo":
            return mlir.xla_computation(self._lowered.text)
        return mlir.parse(self._lowered.text)

    def cost_analysis(self) -> Any:
        """XLA's estimate of the cost before optimisation, or None."""
        return mlir.cost_analysis(self._lowered.text)

    def compile(self, compiler_options: CompilerOptions | None = None) -> Compiled:
        """Compiles for the device, whichever platform it was lowered for.

        Args:
          compiler_options: XLA's options by name, added to those of `jit`; and 'tier',
            one of 'full' (here the default), 'quick' and 'auto'.
        """
        options = dict(self._options)
        options.update(compiler_options or {})
        with compile_notes.Recorded() as disk_notes:
            compiled, upgrade = tiers.compile(
                self._lowered, tuple(sorted(options.items())), default="full"
            )
        if self._note is not None:
            retraces.add_cost(self._note, self._lowered, compiled, disk_notes)
        executable = Compiled(self._signature, compiled)
        if upgrade is not None:
            upgrade.start(executable.adopt)
        return executable

    def __repr__(self) -> str:
        return f"Lowered({self._signature.name})"


def _dialect(method: str, dialect: str | None) -> str:
    if dialect in (None, "stablehlo", "mhlo"):
        return "stablehlo"
    if dialect == "hlo":
        return "hlo"
    raise ValueError(
        f"{method}: dialect must be 'stablehlo' or 'hlo', got {dialect!r}; leave it "
        "out for 'stablehlo'"
    )


def _printer() -> Any:
    """What prints modules as MLIR does, but for places and forms that are rare."""
    return importlib.import_module("olympus._src.lowering.canonical.modules")


def _readers() -> Any:
    """What reads the text of optimised programs, for which few ask."""
    return importlib.import_module("olympus._src.api.program_costs")


_group_lows = LateRule("interpreters.hi_lowering", "group_lows")
_NO_FORMATS = (
    "Compiled formats: programs of values of high types have none, since a value is of "
    "several arrays; ask a program of those arrays"
)


class Compiled(native_calls.Caller, _Stage):
    """A compiled function of one signature; static arguments are not passed."""

    __slots__ = (
        "__weakref__",
        "_compiled",
        "_entries",
        "_entry",
        "_expected",
        "_signature",
    )

    def __init__(self, signature: Signature, compiled: CompiledProgram) -> None:
        _Stage.__init__(self, signature)
        self._entry = native_calls.Entry(compiled.run)
        self._entries: dict[Any, Any] = {}
        self.look_up(self._entries, (), frozenset())
        self.adopt(compiled)
        self._expected = [a.strip_weak_type() for a in signature.call.avals]

    def __get__(self, instance: Any, owner: Any = None) -> Compiled:
        return self  # as an attribute of a class it is no method

    def __copy__(self) -> Compiled:
        return self  # it cannot change

    def __deepcopy__(self, memo: Any) -> Compiled:
        return self

    def adopt(self, compiled: CompiledProgram) -> None:
        """Runs this program from the next call on."""
        self._compiled = compiled
        self._entry.call = native_calls.runner(self.out_tree, compiled)

    @tracebacks.api_boundary
    def _call_slowly(self, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the program; static arguments are not passed.

        Raises:
          TypeError: the arguments' structure or types are not those compiled for, or an
            argument is being traced.
        """
        leaves, structure = tree.tree_flatten((args, kwargs))
        for x in leaves:
            if isinstance(x, trace.Tracer):
                raise TypeError(
                    "Cannot apply OLYMPUS transformations to a function lowered and "
                    "compiled for a particular signature. Detected argument of Tracer "
                    f"type {type(x)}"
                )
        if structure != self.in_tree:
            raise TypeError(self._structure_message(structure))
        call = self._signature.call
        arrays = arguments.as_arguments(call, leaves)
        self._check_types(arrays)
        compiled = self._compiled
        arguments.check_transfers(leaves, compiled.taken_arguments())
        if client.several_devices():
            self._check_shardings(arrays)
        out = self.out_tree.unflatten(compiled.call(arrays))
        if native_calls.IS_NATIVE and self._are_in_place(arrays):
            self._keep(leaves, args, kwargs)
        return out

    def _are_in_place(self, arrays: Sequence[Any]) -> bool:
        """Whether the program takes arguments from where they are."""
        if not client.several_devices():
            return True
        lowered = self._compiled.lowered
        return lowered.division is None and all(
            type(x) is concrete_arrays.ArrayImpl and x.single_device == lowered.device
            for x in arrays
        )

    def _keep(self, leaves: Sequence[Any], args: Any, kwargs: Any) -> None:
        """Has calls like this one run the program at once."""
        known, order = native_calls.leaf_order(leaves, args, kwargs)
        if known:
            evaluate.make_room(self._entries)
            place = native_calls.place_of_hosts(self._compiled.lowered.device)
            self.keep(self._entry, order, place, *args, **kwargs)

    def _explain_failure(
        self, error: Exception, entry: Any, /, *args: Any, **kwargs: Any
    ) -> None:
        tracebacks.hide(error)

    def call(self, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the program, as calling it does."""
        return self(*args, **kwargs)

    def _structure_message(self, structure: Any) -> str:
        return (
            "Function compiled with input pytree does not match the input pytree it "
            f"was called with. Compiled with:\n  {self.in_tree}\nbut called with:\n  "
            f"{structure}\nfor the function {self._signature.name}; static arguments "
            "are part of the compiled function and are not passed"
            f"{self._differences(structure)}"
        )

    def _differences(self, structure: Any) -> str:
        mismatches = tree.treedef_errors(self.in_tree, structure)
        lines = [m.describe("compiled", "called") for m in mismatches[:3]]
        return "".join([f"\n  - {line}" for line in lines])

    def _check_types(self, arrays: Sequence[Any]) -> None:
        wrong = [
            (i, expected, a.aval)
            for i, (expected, a) in enumerate(zip(self._expected, arrays, strict=True))
            if not _is_of_type(a.aval.strip_weak_type(), expected)
        ]
        if not wrong:
            return
        paths = self._signature.call.paths()
        lines = [
            f"Argument '{paths[i]}' compiled with {expected.str_long()} and called "
            f"with {actual.str_long()}"
            for i, expected, actual in wrong
        ]
        error = TypeError(
            "Argument types differ from the types for which this computation was "
            "compiled. The mismatches are:\n" + "\n".join(lines)
        )
        error.add_note(
            "Lower and compile again for these types, or call the jitted function, "
            "which does."
        )
        raise error

    def _check_shardings(self, arrays: Sequence[Any]) -> None:
        shardings = self._compiled.input_shardings()
        paths = self._signature.call.paths()
        lines = [
            f"Argument '{path}' compiled with {sharding} and called with {x.sharding}"
            for x, sharding, path in zip(arrays, shardings, paths, strict=True)
            if hasattr(x, "committed")  # arrays of a high type are placed by the call
            and x.committed
            and sharding is not None
            and not x.sharding.is_equivalent_to(sharding, x.ndim)
        ]
        if lines:
            raise ValueError(
                "Argument shardings differ from those for which this computation was "
                "compiled. The mismatches are:\n" + "\n".join(lines) + "\nMove them "
                "with olympus.device_put(x, compiled.input_shardings[0][i])"
            )

    def as_text(self) -> str | None:
        """The optimised program in XLA's HLO.

        Instructions name the operation of the program that they serve, as in
        `jit(f)/jvp(layer)/tanh`, and the user's line.
        """
        return _readers().optimized_text(self._compiled)

    def explain(self) -> Any:
        """What the program computes and holds, by the user's lines; runs nothing.

        Operations, bytes and kernels for each line, the memory at its peak and what is
        alive then, and what XLA computes more than once. Numbers follow from the text
        of the optimised program: products and convolutions are counted exactly, every
        other number that is computed counts as one operation.

        Returns:
          A `ProgramCosts`, with `flops`, `size_bytes`, `intensity`, `lines`,
          `peak_bytes`, `held` and `repeated`, which prints as tables.

        Example:
          >>> import olympus
          >>> import olympus.numpy as jnp
          >>> x = olympus.ShapeDtypeStruct((512, 512), jnp.float32)
          >>> compiled = olympus.jit(lambda x: jnp.tanh(x @ x)).lower(x).compile()
          >>> costs = compiled.explain()
          >>> f"{costs.flops:.3g} flops, {costs.peak_bytes / 2**20:.0f} MiB"
          '2.69e+08 flops, 3 MiB'
        """
        return _readers().explain(self._compiled, self._signature.call.paths())

    def cost_analysis(self) -> Any:
        """XLA's estimate of the cost, by name (as in 'flops'), or None."""
        return self._compiled.executable.cost_analysis()

    def memory_analysis(self) -> Any:
        """XLA's estimate of the memory for arguments, results and temporaries."""
        return self._compiled.executable.memory_analysis()

    def runtime_executable(self) -> Any:
        """The executable as the runtime holds it."""
        return self._compiled.executable.whole

    @property
    def input_shardings(self) -> Any:
        """A sharding for each positional and keyword argument: `(args, kwargs)`.

        None for an argument that the program does not use.
        """
        return self.in_tree.unflatten(self._compiled.input_shardings())

    @property
    def output_shardings(self) -> Any:
        """A sharding for each result, in `out_tree`."""
        shardings = self._compiled.executable.shardings
        high = self._compiled.lowered.high
        if high is not None:
            return self.out_tree.unflatten(_group_lows(shardings, high.out_avals))
        return self.out_tree.unflatten(shardings[: len(self._signature.out_avals)])

    @property
    def input_formats(self) -> Any:
        """A `Format` for each positional and keyword argument: `(args, kwargs)`.

        An empty one for an argument that the program does not use.
        """
        lowered = self._compiled.lowered
        if lowered.high is not None:
            raise NotImplementedError(_NO_FORMATS)
        ins, _ = self._compiled.executable.layouts()
        taken = iter(
            layouts.of_runtime(
                None if ins is None else ins[len(lowered.consts) :], lowered.in_avals
            )
        )
        n = 0 if lowered.refs is None else len(lowered.refs.captured)
        for _ in range(sum(lowered.kept[:n])):
            next(taken)
        chosen = [next(taken) if is_kept else None for is_kept in lowered.kept[n:]]
        formats = map(Format, chosen, self._compiled.input_shardings())
        return self.in_tree.unflatten(list(formats))

    @property
    def output_formats(self) -> Any:
        """A `Format` for each result, in `out_tree`."""
        if self._compiled.lowered.high is not None:
            raise NotImplementedError(_NO_FORMATS)
        _, outs = self._compiled.executable.layouts()
        chosen = layouts.of_runtime(outs, self._signature.out_avals)
        shardings = self._compiled.executable.shardings[: len(chosen)]
        return self.out_tree.unflatten(list(map(Format, chosen, shardings)))

    def __repr__(self) -> str:
        return f"Compiled({self._signature.name})"


if not native_calls.IS_NATIVE:
    Compiled.__call__ = Compiled._call_slowly


def _is_of_type(aval: Any, expected: Any) -> bool:
    """Whether a program takes arguments of a type for one for which it was compiled.

    A type may leave open how explicit axes divide it: the program puts it in place.
    """
    if aval is expected:
        return True
    is_open = not aval.is_high and getattr(aval, "explicit", expected) is None
    return is_open and aval is expected.update(sharding=None)


def parts_of(compiled: Compiled) -> tuple[Signature, CompiledProgram]:
    """What a compiled function is made of: its signature and its program."""
    return compiled._signature, compiled._compiled


def located(lowered: Lowered) -> tuple[LoweredProgram, Sequence[tuple[str, Any]]]:
    """The program of a lowered function with source positions, and its options.

    Raises:
      ValueError: it is for several platforms.
    """
    program = lowered._lowered
    if not isinstance(program, LoweredProgram):
        raise ValueError(
            "A program must be lowered for one platform to be compiled, got one for "
            f"{', '.join(program.platforms)}; leave lowering_platforms out"
        )
    return program.located(), lowered._options


def call_of(stage: _Stage) -> signatures.Call:
    """The call that a stage was made for: its structure, types and names."""
    return stage._signature.call
