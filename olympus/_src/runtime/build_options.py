"""The options with which a program is built, in addition to the user's."""

from __future__ import annotations

from typing import Any

from olympus._src.foundation import compiler_settings as compiler
from olympus._src.runtime import versions
from olympus._src.runtime.compiling import Options

_PASSES = "xla_disable_hlo_passes"
_LEVEL = "xla_backend_optimization_level"
# jaxlib takes barriers out before it fuses up to 0.11.0, and has no code for those that
# are left in the bodies of small loops.
barriers_in_bodies = versions.JAXLIB_VERSION >= (0, 11, 1)
# Up to some 0.11 XLA adds the positions of slices of slices without moving the first.
_ADDS_MOVED_POSITIONS = versions.JAXLIB_VERSION >= (0, 12)


def moves_slices(platform: str) -> bool:
    """Whether programs have to move dynamic slices inside before XLA does."""
    return platform != "cpu" or not _ADDS_MOVED_POSITIONS


def complete(
    options: Options,
    platform: str,
    *,
    has_barriers: bool,
    is_small: bool,
    is_over_processes: bool = False,
) -> tuple[tuple[str, Any], ...]:
    """A user's options with those of the settings, and those that the program needs.

    Args:
      options: XLA's options by name, as the user gave them; they override settings.
      platform: where the program runs.
      has_barriers: whether fusion must stop at the program's barriers.
      is_small: whether it computes on small arrays only.
      is_over_processes: whether its devices belong to several processes.
    """
    chosen = _of_settings()
    if is_small and platform == "cpu" and "optimization_level" not in chosen:
        chosen.setdefault(_LEVEL, 2)  # LLVM's second highest
    passes = []
    if not compiler.compiler_enable_remat_pass.value:
        passes.append("rematerialization")
    if has_barriers and platform == "cpu" and not barriers_in_bodies:
        # It takes barriers out before it fuses; later versions do it after.
        passes.append("cse_barrier_expander")
    if is_over_processes and platform == "cpu":
        # A process in which one of the sums that it combines has failed goes on with
        # the next: Gloo ends processes that receive this while they wait for the first.
        passes.append("cpu-all-reduce-combiner")
    if not chosen and not passes:
        return tuple(options)
    chosen.update(options)
    if passes:
        off = str(chosen.get(_PASSES, ""))
        chosen[_PASSES] = ",".join([off, *passes] if off else passes)
    return tuple(sorted(chosen.items()))


def _of_settings() -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    if compiler.disable_most_optimizations.value:
        chosen[_LEVEL] = 0
        chosen["xla_llvm_disable_expensive_passes"] = True
    if compiler.optimization_level.value != compiler.optimization_level.default:
        chosen["optimization_level"] = _effort(compiler.optimization_level.value)
    if compiler.memory_fitting_level.value != compiler.memory_fitting_level.default:
        chosen["memory_fitting_level"] = _effort(compiler.memory_fitting_level.value)
    if not compiler.use_shardy_partitioner.value:
        chosen["use_shardy_partitioner"] = False
    return chosen


def _effort(level: str) -> int:
    number: int = compiler.CompilerEffortLevel[level].value
    return number


# -- quick builds ----------------------------------------------------------------------

# Programs of fewer operations compile in no time (60 ms).
_FEW = 40
# From this share of contractions on jaxlib 0.10 builds no faster in the quick way.
_DOTS = 0.2


def quick(platform: str) -> Options:
    """Options that halve the time to compile a small program, and do not slow it much.

    Programs with large operands, contractions or loops run up to ten times slower so.
    """
    if platform != "cpu":
        return ()
    options: list[tuple[str, Any]] = [(_LEVEL, 0)]
    if versions.JAXLIB_VERSION < (0, 11):
        options.append(("xla_cpu_use_fusion_emitters", False))
    return tuple(options)


def has_quick(platform: str, text: str) -> bool:
    """Whether `quick` makes a program's build much shorter.

    Args:
      platform: where the program runs.
      text: its module.
    """
    n = text.count(" = ")
    if platform != "cpu" or n < _FEW:
        return False
    return versions.JAXLIB_VERSION >= (0, 11) or text.count("dot_general") < _DOTS * n
