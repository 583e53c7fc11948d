"""Settings of the compiler and of its cache; `config` holds the others."""

from __future__ import annotations

import enum
from typing import Any

from olympus._src.foundation import setting_types
from olympus._src.foundation.public_settings import define


class CompilerEffortLevel(enum.Enum):
    """How much the compiler does to make programs fast, or to fit them into memory.

    The settings `olympus_optimization_level` and `olympus_memory_fitting_level` take
    these, or their names.

    Source: OpenXLA's effort levels.

    Example:
      >>> import olympus
      >>> level = olympus.CompilerEffortLevel.O1
      >>> olympus.config.update("olympus_optimization_level", level)
      >>> olympus.config.olympus_optimization_level
      'O1'
      >>> olympus.config.update("olympus_optimization_level", "UNKNOWN")
    """

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39


def _effort_level() -> setting_types.Kind:
    kind = setting_types.choice(*CompilerEffortLevel.__members__)

    def accept(value: Any) -> Any:
        is_level = isinstance(value, CompilerEffortLevel)
        return kind.accept(value.name if is_level else value)

    return setting_types.Kind(kind.words, accept, kind.read)


disable_most_optimizations = define(
    "disable_most_optimizations",
    setting_types.TRUTH,
    False,
    "Compile fast and run slowly, for tests.",
    traces=True,
)
compiler_tier = define(
    "compiler_tier",
    setting_types.choice("full", "quick", "auto"),
    "full",
    "Which build of a jitted function runs: 'full'; 'quick', which is compiled sooner "
    "and may run slower; 'auto' for the quick one first, until the full one is ready.",
    traces=True,
)
first_runs_by_numpy = define(
    "first_runs_by_numpy",
    setting_types.TRUTH,
    True,
    "Leave the first three calls of a small operation on a CPU to NumPy where it gives "
    "the same bits, and compile it for later ones. Turn it off to compile it in the "
    "first call, as to fill the cache on disk.",
)
host_kernels_after = define(
    "host_kernels_after",
    setting_types.INTEGER,
    250,
    "After so many runs, call what the compiler made of a small program for a CPU "
    "without the compiler's runtime, which takes longer to start than such a program "
    "to run. -1 has the runtime run all programs.",
)
optimization_level = define(
    "optimization_level",
    _effort_level(),
    "UNKNOWN",
    "The effort of the compiler to optimize for speed; UNKNOWN uses the platform's "
    "default.",
    traces=True,
)
memory_fitting_level = define(
    "memory_fitting_level",
    _effort_level(),
    "O2",
    "The effort of the compiler to reduce the memory of a program.",
    traces=True,
)
compiler_enable_remat_pass = define(
    "compiler_enable_remat_pass",
    setting_types.TRUTH,
    True,
    "Let the compiler compute values again to save memory.",
    traces=True,
)
use_shardy_partitioner = define(
    "use_shardy_partitioner",
    setting_types.TRUTH,
    True,
    "Partition programs by Shardy rather than GSPMD.",
    traces=True,
)
enable_compilation_cache = define(
    "enable_compilation_cache",
    setting_types.TRUTH,
    True,
    "Keep compiled programs on disk and load them from there.",
)
compilation_cache_dir = define(
    "compilation_cache_dir",
    setting_types.PATH,
    None,
    "Folder for compiled programs on disk; None for `olympus` in the user's cache "
    "folder. OLYMPUS_CACHE_DIR sets it too.",
    short_variable="OLYMPUS_CACHE_DIR",
)
compilation_cache_max_size = define(
    "compilation_cache_max_size",
    setting_types.INTEGER,
    2 << 30,
    "Bytes that folder may hold before the least recently used programs are removed; "
    "-1 for no limit, 0 for no cache.",
)
compilation_cache_include_metadata_in_key = define(
    "compilation_cache_include_metadata_in_key",
    setting_types.TRUTH,
    False,
    "Compile again where only source positions differ. Modules are compiled without "
    "positions, so there are no such programs.",
    honoured=False,
)
persistent_cache_min_compile_time_secs = define(
    "persistent_cache_min_compile_time_secs",
    setting_types.NUMBER,
    0.0,
    "Seconds a compilation must take for its program to be kept on disk.",
)
persistent_cache_min_entry_size_bytes = define(
    "persistent_cache_min_entry_size_bytes",
    setting_types.INTEGER,
    0,
    "Bytes a program must have to be kept on disk; 0 and -1 for any.",
)
persistent_cache_enable_xla_caches = define(
    "persistent_cache_enable_xla_caches",
    setting_types.MAYBE_TEXT,
    "xla_gpu_per_fusion_autotune_cache_dir",
    "XLA's own caches for NVIDIA's GPUs to keep in that folder: 'all', 'none' or names "
    "separated by commas, of xla_gpu_per_fusion_autotune_cache_dir and "
    "xla_gpu_kernel_cache_file.",
)
load_programs_ahead = define(
    "load_programs_ahead",
    setting_types.TRUTH,
    True,
    "When a script runs again, load in a thread the large programs that its last run "
    "took from the cache on disk.",
)
raise_persistent_cache_errors = define(
    "raise_persistent_cache_errors",
    setting_types.TRUTH,
    False,
    "Raise errors of the cache on disk instead of reporting them and compiling.",
)
dump_ir_to = define(
    "dump_ir_to",
    setting_types.TEXT,
    "",
    "Directory into which each lowered module is written; '' for none.",
)
dump_ir_modes = define(
    "dump_ir_modes",
    setting_types.TEXT,
    "stablehlo",
    "What to write there, separated by commas: 'stablehlo', 'olympuspr'.",
)
export_ignore_forward_compatibility = define(
    "export_ignore_forward_compatibility",
    setting_types.TRUTH,
    False,
    "Let exported programs use operations that older consumers do not know yet.",
)
export_calling_convention_version = define(
    "export_calling_convention_version",
    setting_types.INTEGER,
    10,
    "The calling convention of exported programs.",
)
