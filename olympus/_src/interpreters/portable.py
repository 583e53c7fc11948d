"""Programs that leave the process: lowered for one platform or for several.

Large constants are not in the text but arguments of the module: text of them would be
slow to write, to read and to compile. Small ones are part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from olympus._src.core import effects as effects_
from olympus._src.core import ir, sizes
from olympus._src.core.primitive import LateRule
from olympus._src.interpreters import (
    concrete_arrays,
    discharge,
    lowered_programs,
    partial_eval,
    program_meshes,
    type_constraints,
)
from olympus._src.lowering import portable
from olympus._src.sharding.division import Division

# Text of this many bytes of constants costs no more than their place elsewhere.
_SMALL_BYTES = 1 << 12


class PortableProgram(NamedTuple):
    """A program as a module whose `main` others may call; see `lowering.portable`.

    Attributes:
      name: the function's name.
      platforms: those it is for, in the order of their numbers.
      text: the module.
      consts: arrays that are its first inputs.
      kept: which of the caller's arguments it takes after them.
      effects: its ordered effects.
      callbacks: host functions it calls.
      division: how the caller's arguments and the results are divided over several
        devices; None where one runs it.
    """

    name: str
    platforms: tuple[str, ...]
    text: str
    consts: list[Any]
    kept: Sequence[bool]
    effects: Sequence[Any]
    callbacks: Sequence[Any]
    division: Division | None = None

    def with_locations(self) -> str:
        """The module; what is written for several platforms has no positions."""
        return self.text

    def refuse_compilation(self) -> NoReturn:
        """Refuses to be compiled: a device needs a program for its platform.

        Raises:
          ValueError: always.
        """
        raise ValueError(
            f"compile: a program must be lowered for one platform, got {self.name} "
            f"lowered for {', '.join(self.platforms)}; lower it for one of them, or "
            "call it through olympus.export"
        )


_without_high_types = LateRule("interpreters.hi_lowering", "of_arrays")


def lower(
    program: ir.Olympuspr,
    consts: Sequence[Any],
    *,
    name: str,
    platforms: Sequence[str],
    donated: Sequence[bool] = (),
    keep_unused: bool = False,
    result_names: Sequence[str] | None = None,
    arg_paths: Sequence[str] = (),
    solve_sizes: Callable[..., Any] | None = None,
    division: Division | None = None,
) -> PortableProgram:
    """Lowers a program for platforms.

    Args:
      program: what to lower.
      consts: values of its constants.
      name: the function's name; the module is `jit_name`.
      platforms: 'cpu', 'cuda', ...
      donated: which inputs may be overwritten.
      keep_unused: keep unused inputs as arguments.
      result_names: a path for each output.
      arg_paths: how users write each argument.
      solve_sizes: `lowering.variables.Arguments`, where sizes may be symbolic.
      division: how the arguments are divided over several devices, and the results as
        far as the types do not say; its mesh may be without devices.
    """
    if ir.is_high(program):
        program, consts = _without_high_types(name, program, consts)
    program, consts = discharge.of_arrays(name, program, consts)
    effects_.check_allowed(name, program.effects, "lowerable", ValueError)
    if division is not None:
        division = program_meshes.divide_results(division, program)
        _refuse_ordered_effects(name, program, division)
        program = type_constraints.constrain(program)
    program, small, large = _split_constants(program, consts)
    variants = [(p, partial_eval.expand(program, p, divisible=True)) for p in platforms]
    used = [True] * len(program.outvars)
    # An argument that is not read may tell the sizes of others.
    is_dynamic = [not sizes.is_constant_shape(a.shape) for a in program.in_avals]
    keep = [keep_unused or o for o in is_dynamic]
    keep[: len(large)] = [False] * len(large)
    for _, variant in variants:  # all take what one of them needs
        _, needed = partial_eval.dce_olympuspr(variant, used, instantiate=keep)
        keep = [k or n for k, n in zip(keep, needed, strict=True)]
    variants = [
        (p, partial_eval.dce_olympuspr(variant, used, instantiate=keep)[0])
        for p, variant in variants
    ]
    kept = keep[len(large) :]
    used_consts = [c for c, k in zip(large, keep, strict=False) if k]
    first = variants[0][1]
    aliases: dict[int, int | None] = {
        **lowered_programs.output_aliases(first, len(used_consts), donated, kept)
    }
    taken = None
    if division is not None:
        taken = lowered_programs.of_kept(division, len(used_consts), kept, first)
        aliases = lowered_programs.of_equal_parts(aliases, division)
    module = portable.lower_portable(
        variants,
        small,
        name=f"jit_{name}",
        result_names=result_names,
        aliases=aliases,
        sizes=(
            solve_sizes(*_kept_inputs(program, keep, arg_paths))
            if solve_sizes is not None and any(is_dynamic)
            else None
        ),
        division=taken,
    )
    return PortableProgram(
        name=name,
        platforms=tuple(platforms),
        text=module.text(),
        consts=used_consts,
        kept=kept,
        effects=effects_.ordered(first.effects),
        callbacks=module.callbacks,
        division=division,
    )


def _kept_inputs(
    program: ir.Olympuspr, keep: Sequence[bool], paths: Sequence[str]
) -> tuple[list[Any], list[str]]:
    """Types and names of the inputs that are kept; constants come before arguments."""
    names = [*["a constant"] * (len(program.invars) - len(paths)), *paths]
    positions = [i for i, k in enumerate(keep) if k]
    return [program.in_avals[i] for i in positions], [names[i] for i in positions]


def _split_constants(
    program: ir.Olympuspr, consts: Sequence[Any]
) -> tuple[ir.Olympuspr, list[Any], list[Any]]:
    """The program with large constants as its first inputs, and the values of both."""
    small: list[Any] = []
    large: list[Any] = []
    for v, c in zip(program.constvars, consts, strict=True):
        (small if _is_small(v.aval) else large).append((v, c))
    program = program.replace(
        constvars=[v for v, _ in small],
        invars=[v for v, _ in large] + list(program.invars),
        debug_info=None,
    )
    return program, [_to_numpy(c) for _, c in small], [c for _, c in large]


def _is_small(aval: Any) -> bool:
    storage = aval.storage
    return storage.size * storage.dtype.itemsize <= _SMALL_BYTES


def _to_numpy(x: Any) -> Any:
    """The values of a constant; of keys, their words."""
    return np.asarray(concrete_arrays.storage_of(concrete_arrays.as_array(x)))


def _refuse_ordered_effects(name: str, program: Any, division: Division) -> None:
    """Refuses ordered effects of a program on several devices.

    Raises:
      ValueError: it has some.
    """
    ordered = effects_.ordered(program.effects)
    if ordered and division.mesh.size > 1:
        raise ValueError(
            f"{name}: exported programs with ordered effects run on one device, got "
            f"{', '.join(map(str, ordered))} on {division.mesh.size}; make the "
            "callback unordered"
        )
