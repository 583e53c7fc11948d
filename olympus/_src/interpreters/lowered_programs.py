"""Lowering of whole programs to StableHLO, for one platform."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from olympus._src.core import effects, ir
from olympus._src.core.primitive import LateRule
from olympus._src.foundation import config, events
from olympus._src.interpreters import (
    constant_warnings,
    discharge,
    donation_warnings,
    embedding,
    equal_elements,
    equal_rows,
    fusion_limits,
    inlining,
    joined_scatters,
    pad_sums,
    partial_eval,
    product_order,
    program_meshes,
    program_sizes,
    progress,
    ref_arguments,
    type_constraints,
)
from olympus._src.interpreters.concrete_arrays import as_array, lift_guards, on_device
from olympus._src.lowering import module as lowering
from olympus._src.lowering import operation_paths, overwriting
from olympus._src.runtime import build_options, callback, client, executable
from olympus._src.sharding.division import Division

_without_high_types = LateRule("interpreters.hi_lowering", "without_high_types")


class LoweredProgram(NamedTuple):
    """A program as StableHLO, and what is needed to compile and call it.

    Attributes:
      text: the module.
      module_name: its name.
      program: what it was lowered from; None where only the executable is here.
      platform: what it is written for.
      device, committed: where it runs, and whether the user chose that.
      consts: arrays that are its first arguments.
      kept: which of the caller's arguments it takes.
      in_avals: types of the arguments it takes, without the constants.
      out_avals: types of its results.
      result_names: a path for each result, where they are known.
      aliases: outputs that share a buffer with an input, by the input's number; None
        where the compiler chooses the output.
      callbacks: the table of the host functions it calls, or None.
      keepalives: objects that its text refers to.
      inspections: values whose sharding it reports when it is compiled.
      effects: its ordered effects, each an extra argument and result.
      has_effects: whether it has any effect.
      has_barriers: whether `fusion_limits` put barriers into it.
      is_small: whether it computes on small arrays only.
      has_dynamic_sizes: whether it calls functions of dynamic sizes, which it refines.
      division: how it is divided over several devices; None where one runs it.
      refs: which arguments are refs; None where none is.
      high: the caller's types, where some are high; all others are of arrays.
      source: the program before anything was replaced in it; None where random keys
        are not followed.
      duration_s: how long lowering took.
    """

    text: str
    module_name: str
    program: Any
    platform: str
    device: Any
    committed: bool
    consts: list[Any]
    kept: Sequence[bool]
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    result_names: Sequence[str] | None = None
    aliases: Mapping[int, int | None] = {}  # of a tuple, and never written
    callbacks: callback.Table | None = None
    keepalives: Any = ()
    inspections: Sequence[Any] = ()
    effects: Sequence[Any] = ()
    has_effects: bool = False
    has_barriers: bool = False
    is_small: bool = False
    has_dynamic_sizes: bool = False
    division: Division | None = None
    refs: ref_arguments.RefArguments | None = None
    high: Any = None  # a hi_lowering.HighUse
    source: Any = None
    duration_s: float = 0.0

    @property
    def is_on_several_devices(self) -> bool:
        """Whether more than one device runs it."""
        return len(self.devices) > 1

    @property
    def takes_callbacks(self) -> bool:
        """Whether its last argument is the number of the table of its callbacks."""
        return self.callbacks is not None and not self.is_on_several_devices

    @property
    def devices(self) -> Sequence[Any]:
        """The devices that it runs on together."""
        return [self.device] if self.division is None else self.division.devices

    def with_locations(self) -> str:
        """The module with source positions."""
        return self._module(operation_paths.location).text()

    def origins(self) -> list[operation_paths.Origin | None]:
        """Where each line of the text comes from, for what XLA says of its lines.

        Nothing where XLA does not say which line it has an instruction from: for
        programs over several devices, and where it refines sizes (see `named_lines`).
        """
        return self.line_origins() if self.keeps_lines else []

    @property
    def keeps_lines(self) -> bool:
        """Whether XLA says which line of the text an instruction is from."""
        return not (self.division or self.has_dynamic_sizes)

    def line_origins(self) -> list[operation_paths.Origin | None]:
        """Where each line of the text comes from; None for lines that say nothing."""
        if self.program is None:
            return []
        numbering = operation_paths.Numbering()
        module = self._module(numbering.note)
        return numbering.of_lines(module.text(), self.text)

    def named_lines(self) -> LoweredProgram:
        """The same program with lines for names, to be compiled for what XLA says."""
        module = self._module(operation_paths.Numbering().note)
        text = operation_paths.with_named_lines(module.text())
        return self._replace(text=text, inspections=module.inspections)

    def located(self) -> LoweredProgram:
        """The same program with source positions, to be compiled for what XLA says."""
        module = self._module(operation_paths.location)
        return self._replace(text=module.text(), inspections=module.inspections)

    def _module(self, locate: lowering.Locate) -> lowering.Module:
        return lowering.lower_module(
            self.program,
            name=self.module_name,
            platform=self.platform,
            result_names=self.result_names,
            aliases=self.aliases,
            locate=locate,
            division=self.division,
            moves_slices=build_options.moves_slices(self.platform),
            keeps_barriers=build_options.barriers_in_bodies,
        )


def lower(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    *,
    name: str,
    device: Any = None,
    platform: str | None = None,
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    result_names: Sequence[str] | None = None,
) -> LoweredProgram:
    """Lowers a program to StableHLO text.

    Args:
      program: what to lower.
      consts: values of its constants; they become arguments of the module.
      name: the function's name; the module is `jit_name`.
      device: where it will run: a device, or a division over several by the
        shardings of the inputs; None for the default device.
      platform: what it is written for; None for the device's.
      donated: which inputs may be overwritten.
      keep_unused: keep inputs nobody reads as arguments.
      result_names: a path for each output.
    """
    with progress.watch_lowering(program, name):
        return _lower(
            program,
            consts,
            name,
            device,
            platform,
            donated,
            keep_unused,
            result_names,
        )


def _lower(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    name: str,
    device: Any,
    platform: str | None,
    donated: Sequence[bool],
    keep_unused: bool,
    result_names: Sequence[str] | None,
) -> LoweredProgram:
    start = time.perf_counter()
    source = program if config.debug_key_reuse.value else None
    high_use = None
    if ir.is_high(program):
        low = _without_high_types(program, consts, donated, device, result_names)
        program, consts, donated, device, result_names, high_use = low
    ref_use = None
    if discharge.uses_refs(program):
        arrays_only = ref_arguments.without_refs(
            program, consts, donated, device, result_names
        )
        program, consts, donated, device, result_names, ref_use = arrays_only
    effects.check_allowed(name, program.effects, "lowerable", ValueError)
    if client.several_devices():
        device = program_meshes.place_of(program, consts, device, name)
    first = device or client.default_device()
    first = first.devices[0] if isinstance(first, Division) else first
    platform = platform or client.platform_of(first)
    device = program_meshes.keep_in_memories(program, device, first)
    committed = device is not None
    division = device if isinstance(device, Division) else None
    out_avals = program.out_avals
    if division is not None:
        division = program_meshes.divide_results(division, program)
        rows = zip(out_avals, division.out_shardings, strict=True)
        out_avals = [a if s is None else a.update(sharding=s) for a, s in rows]
        device = division.devices[0]
    device = device if committed else first
    if consts:
        program, consts = embedding.embed_scalars(program, consts)
    n_consts = len(consts)
    is_divided = division is not None
    whole = _expand(program, platform, is_divided)
    used = [True] * len(whole.outvars)
    keep = [False] * n_consts + [keep_unused] * len(program.invars)
    if ref_use is not None:
        for i in ref_use.written:  # it lends its memory, even if that is not read
            keep[i + n_consts] = True
    whole, kept_mask = partial_eval.dce_olympuspr(whole, used, instantiate=keep)
    needed = [c for c, k in zip(consts, kept_mask[:n_consts], strict=True) if k]
    if division is None:
        place = device if committed else None
        is_absent = executable.is_absent([device])
        place = None if is_absent else place
        with lift_guards():
            arrays = [as_array(c, place) for c in needed]
            arrays = arrays if is_absent else on_device(arrays, device)
    else:  # which knows where they go when it is compiled
        with lift_guards():
            arrays = list(map(as_array, needed))
        division = of_kept(division, len(arrays), kept_mask[n_consts:], whole)
    if arrays:
        constant_warnings.warn(whole, name, len(arrays))
    kept = kept_mask[n_consts:]
    in_avals = whole.in_avals[len(arrays) :]
    in_bodies = build_options.barriers_in_bodies
    limited = _rewrite(whole, platform, is_divided)
    n_barriers = fusion_limits.count_barriers
    has_barriers = n_barriers(limited) > n_barriers(whole)
    # An array that is donated to a function that captured it must stay a constant.
    if arrays and division is None and not is_absent and not any(donated):
        with lift_guards():  # it reads them on the host
            limited, arrays = embedding.embed_arrays(limited, arrays)
    shared = output_aliases(limited, len(arrays), donated, kept, ref_use)
    if any(donated):
        _warn_of_donated(limited, name, len(arrays), donated, kept, ref_use, shared)
    aliases: dict[int, int | None] = {**shared}
    if division is not None:
        aliases = of_equal_parts(aliases, division)
    module = lowering.lower_module(
        limited,
        name=f"jit_{name}",
        platform=platform,
        result_names=result_names,
        aliases=aliases,
        division=division,
        moves_slices=build_options.moves_slices(platform),
        keeps_barriers=in_bodies,
    )
    if division is not None and module.callbacks:
        _check_processes_of_callbacks(name, division, platform)
    text = module.text()
    if has_barriers and not in_bodies:  # nor may a user's be there
        n = text.count("stablehlo.optimization_barrier")
        has_barriers = n == n_barriers(limited) + _count_held(limited)
    duration_s = time.perf_counter() - start
    events.record_event_duration_secs(
        "/olympus/core/compile/to_mlir_module_duration", duration_s, fun_name=name
    )
    return LoweredProgram(
        text=text,
        module_name=f"jit_{name}",
        program=limited,
        platform=platform,
        device=device,
        committed=committed,
        consts=arrays,
        kept=kept,
        in_avals=in_avals,
        out_avals=out_avals,  # weak also where what it expands to is not
        result_names=result_names,
        aliases=aliases,
        callbacks=callback.Table(module.callbacks) if module.callbacks else None,
        keepalives=module.keepalives,
        inspections=module.inspections,
        effects=[e for e in sorted(limited.effects, key=repr) if e.ordered],
        has_effects=bool(limited.effects),
        has_barriers=has_barriers,
        is_small=program_sizes.is_small(limited),
        has_dynamic_sizes=module.has_dynamic_calls,
        division=division,
        refs=ref_use,
        high=high_use,
        source=source,
        duration_s=duration_s,
    )


# -- passes; their order is explained in docs/architecture.md --------------------------


def _expand(program: ir.Olympuspr, platform: str, is_divided: bool) -> ir.Olympuspr:
    """The program in operations that have rules for lowering, with constants as inputs.

    What the first passes look for is expanded by the last.
    """
    if is_divided:
        program = type_constraints.constrain(program)
    else:
        if ir.has_operation(program, "cumsum"):
            program = equal_elements.multiply(program)
        if ir.has_operation(program, "scatter-add"):
            program = pad_sums.join_windows(program)
    whole = ir.hoist_consts(program)
    return partial_eval.expand(whole, platform, divisible=is_divided)


def _rewrite(program: ir.Olympuspr, platform: str, is_divided: bool) -> ir.Olympuspr:
    """The program with its work joined, and with barriers where it would be repeated.

    Args:
      program: one without dead code, which would count as work.
      platform: for which.
      is_divided: whether it is divided over devices.
    """
    in_bodies = build_options.barriers_in_bodies
    if not is_divided:
        # Of files that most programs need not load.
        if ir.has_operation(program, "pad"):
            program = pad_sums.merge(program)
        if ir.has_operation(program, "scatter-add"):
            program = joined_scatters.join(program, platform)
        if ir.has_operation(program, "concatenate", "stack"):
            program = equal_rows.join(program, in_bodies)
        if platform == "cpu" and ir.has_operation(program, "dot_general"):
            program = product_order.exchange(program)
    return fusion_limits.limit(program, platform, in_bodies, is_divided)


def _count_held(program: ir.Olympuspr) -> int:
    """How many barriers hold what a program, or what it calls, overwrites."""
    programs = inlining.called_programs(program)
    return sum(len(set(overwriting.variables_to_hold(p).values())) for p in programs)


# -- arguments that lend their memory --------------------------------------------------


def _warn_of_donated(
    program: ir.Olympuspr,
    name: str,
    n_consts: int,
    donated: Sequence[bool],
    kept: Sequence[bool],
    ref_use: ref_arguments.RefArguments | None,
    shared: Mapping[int, int],
) -> None:
    taken = [i for i, k in enumerate(kept) if k]
    lenders = () if ref_use is None else ref_use.written
    mine = [n for n, i in enumerate(taken) if donated[i] and i not in lenders]
    donation_warnings.warn(program, name, [n + n_consts for n in mine], shared)


def _check_processes_of_callbacks(name: str, division: Division, platform: str) -> None:
    """Raises unless all processes can call Python, and learn of what fails."""
    n = len({device.process_index for device in division.devices})
    if n == 1 or (platform == "cpu" and n == client.process_count(platform)):
        return
    raise NotImplementedError(
        f"{name}: callbacks to Python require a program of one process, or of all "
        f"processes on CPUs, got one over {n} of {client.process_count(platform)} on "
        f"{platform}; call the function outside of the program, on its results"
    )


def of_kept(
    division: Division, n_consts: int, kept: Sequence[bool], program: Any
) -> Division:
    """The division of a program that takes its constants and the kept inputs.

    Args:
      division: of the caller's arguments, and of the results.
      n_consts: how many constants come first.
      kept: which of the arguments it takes.
      program: the program.
    """
    rows = zip(division.in_shardings, kept, strict=True)
    taken = tuple([sharding for sharding, is_kept in rows if is_kept])
    results = division.out_shardings or (None,) * len(program.outvars)
    return Division(division.mesh, (None,) * n_consts + taken, results)


def of_equal_parts(
    aliases: dict[int, int | None], division: Division
) -> dict[int, int | None]:
    """What `output_aliases` gave, for a divided program.

    An input and an output of one type share a buffer only if their parts are alike,
    which is not known before the compiler has divided the program.
    """
    return dict.fromkeys(aliases) if division.mesh.size > 1 else aliases


def output_aliases(
    program: ir.Olympuspr,
    n_consts: int,
    donated: Sequence[bool],
    kept: Sequence[bool],
    ref_use: ref_arguments.RefArguments | None = None,
) -> dict[int, int]:
    """Gives each donated input an output of the same type to share its buffer with.

    Args:
      program: its inputs are constants and what is kept of the caller's arguments.
      n_consts: how many inputs are constants.
      donated: a flag for each of the caller's arguments.
      kept: which of those the program takes.
      ref_use: which arguments are refs; what those hold in the end are the first
        outputs, in the memory that they lend.

    Returns:
      The number of an output for numbers of inputs.
    """
    if not any(donated):
        return {}
    free: dict[Any, list[int]] = {}
    for i, aval in enumerate(program.out_avals):
        free.setdefault(aval.strip_weak_type(), []).append(i)
    aliases = {}
    taken = [i for i, k in enumerate(kept) if k]
    lenders = () if ref_use is None else ref_use.written
    for i in [*lenders, *[i for i in taken if donated[i] and i not in lenders]]:
        number = n_consts + taken.index(i)
        aval = program.in_avals[number].strip_weak_type()
        if free.get(aval):
            aliases[number] = free[aval].pop(0)
    return aliases
