"""Every setting of olympus: what it does, and why it exists.

A setting `x` is the state object `x` of this module: `x.value` reads it, and
`with x(value):` sets it in one thread for a block. Users set it for good by
`olympus.config.update("olympus_x", value)`, or before the program starts by the
environment variable `OLYMPUS_X`.

Functions read settings when they run, never at import, so an update works at any time;
the few settings that the device clients take at their start refuse later changes.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from olympus._src.foundation import kinds, states
from olympus._src.foundation.settings import PREFIX, Config, registry
from olympus._src.foundation.states import MISSING, State, trace_context

__all__ = ["State", "config", "make_user_context", "trace_context"]

# The end of the help of a setting that is read nowhere.
_UNREAD = " Accepted so that programs which set it run; nothing depends on it yet."


def _define(
    name: str,
    kind: kinds.Kind,
    value: Any,
    help: str,
    *,
    traces: bool = False,
    implied: Any = MISSING,
    followers: tuple[State, ...] = (),
    honoured: bool = True,
    state: type[State] = State,
) -> State:
    """A setting whose start value the environment may give."""
    full = PREFIX + name
    help = help if honoured else help + _UNREAD
    check = functools.partial(kind.check, full)
    if kind is kinds.TRUTH and implied is MISSING:
        implied = True
    found = state(
        full, check, value, help, traces=traces, implied=implied, followers=followers
    )
    registry[full] = found
    text = os.environ.get(full.upper())
    if text is not None:
        found.set(kind.check_text(full, text))
    return found


class _JitSwitch(State):
    """The setting whose value callers name `disable`, and all others `new_val`."""

    __slots__ = ()

    def __call__(self, disable: Any = MISSING) -> states.Override:
        return super().__call__(disable)


# -- numbers and their types -----------------------------------------------------------

enable_x64 = _define(
    "enable_x64",
    kinds.TRUTH,
    False,
    "Allow 64-bit dtypes. Off, they are narrowed to 32 bits, because accelerators run "
    "64 bits slowly or not at all and Python's own numbers would ask for them.",
    traces=True,
)
explicit_x64_dtypes = _define(
    "explicit_x64_dtypes",
    kinds.choice("error", "warn", "allow"),
    "warn",
    "What happens where a program names a 64-bit dtype while they are disabled: an "
    "error, a warning and 32 bits, or the 64-bit dtype.",
    traces=True,
    honoured=False,
)
numpy_dtype_promotion = _define(
    "numpy_dtype_promotion",
    kinds.choice("standard", "strict"),
    "standard",
    "How operands of different dtypes meet: by the promotion lattice, or not at all, "
    "for programs that want every conversion written out.",
    traces=True,
)
numpy_rank_promotion = _define(
    "numpy_rank_promotion",
    kinds.choice("allow", "warn", "raise"),
    "allow",
    "What happens where broadcasting adds axes to an operand, a frequent source of "
    "silently wrong shapes.",
    traces=True,
)
MATMUL_PRECISIONS = (
    "default",
    "high",
    "highest",
    "bfloat16",
    "tensorfloat32",
    "float32",
    "ANY_F8_ANY_F8_F32",
    "ANY_F8_ANY_F8_F32_FAST_ACCUM",
    "ANY_F8_ANY_F8_ANY",
    "ANY_F8_ANY_F8_ANY_FAST_ACCUM",
    "F16_F16_F16",
    "F16_F16_F32",
    "BF16_BF16_BF16",
    "BF16_BF16_F32",
    "BF16_BF16_F32_X3",
    "BF16_BF16_F32_X6",
    "BF16_BF16_F32_X9",
    "TF32_TF32_F32",
    "TF32_TF32_F32_X3",
    "F32_F32_F32",
    "F64_F64_F64",
)
default_matmul_precision = _define(
    "default_matmul_precision",
    kinds.choice(*MATMUL_PRECISIONS, optional=True),
    None,
    "The precision of contractions and convolutions that name none. None leaves the "
    "choice to the platform, which on GPUs and TPUs trades bits for speed.",
    traces=True,
)
allow_f16_reductions = _define(
    "allow_f16_reductions",
    kinds.TRUTH,
    True,
    "Whether sums may run in 16-bit floats; off, they are an error, to find places "
    "that lose precision.",
    traces=True,
    honoured=False,
)
softmax_custom_jvp = _define(
    "softmax_custom_jvp",
    kinds.TRUTH,
    False,
    "Differentiate softmax by its own rule, which keeps one array instead of three.",
    traces=True,
    honoured=False,
)
check_static_indices = _define(
    "check_static_indices",
    kinds.TRUTH,
    False,
    "Raise an error for constant indices out of bounds, which otherwise are clamped.",
    traces=True,
)

# -- random numbers --------------------------------------------------------------------

default_prng_impl = _define(
    "default_prng_impl",
    kinds.TEXT,
    "threefry2x32",
    "The generator of keys made without naming one: 'threefry2x32', 'rbg', "
    "'unsafe_rbg' or one that a library registered.",
    traces=True,
)
threefry_partitionable = _define(
    "threefry_partitionable",
    kinds.TRUTH,
    True,
    "Count each element's number from its position, so that shards of an array are "
    "made where they live; off gives the numbers of the older scheme.",
    traces=True,
)
enable_custom_prng = _define(
    "enable_custom_prng",
    kinds.TRUTH,
    False,
    "Have random.PRNGKey return typed keys, as random.key does.",
    traces=True,
)
legacy_prng_key = _define(
    "legacy_prng_key",
    kinds.choice("allow", "warn", "error"),
    "allow",
    "What happens where an array of raw bits is used as a key.",
)
random_seed_offset = _define(
    "random_seed_offset",
    kinds.INTEGER,
    0,
    "Added to every seed, to rerun a program with other random numbers.",
    traces=True,
)
high_dynamic_range_gumbel = _define(
    "high_dynamic_range_gumbel",
    kinds.TRUTH,
    False,
    "Draw Gumbel samples with twice the random bits, for sharper tails.",
    traces=True,
)
debug_key_reuse = _define(
    "debug_key_reuse",
    kinds.TRUTH,
    False,
    "Raise KeyReuseError where a key is consumed twice.",
    traces=True,
    honoured=False,
)

# -- finding errors --------------------------------------------------------------------

debug_nans = _define(
    "debug_nans",
    kinds.TRUTH,
    False,
    "Check every result for NaN and raise FloatingPointError at the operation that "
    "made the first.",
    traces=True,
)
debug_infs = _define(
    "debug_infs",
    kinds.TRUTH,
    False,
    "Check every result for infinities, as debug_nans does for NaN.",
    traces=True,
)
disable_jit = _define(
    "disable_jit",
    kinds.TRUTH,
    False,
    "Run jitted functions and loops as plain Python, for a debugger.",
    traces=True,
    state=_JitSwitch,
)
check_tracer_leaks = _define(
    "check_tracer_leaks",
    kinds.TRUTH,
    False,
    "Raise LeakError when a trace ends while its values can still be reached.",
    traces=True,
)
enable_checks = _define(
    "enable_checks",
    kinds.TRUTH,
    False,
    "Check every program that a transformation makes; slow, for olympus's own tests.",
    traces=True,
)
no_tracing = _define(
    "no_tracing",
    kinds.TRUTH,
    False,
    "Make tracing an error, to assert that a program is warm.",
)
no_execution = _define(
    "no_execution",
    kinds.TRUTH,
    False,
    "Make running anything on a device an error, to assert that code only traces.",
)
disable_bwd_checks = _define(
    "disable_bwd_checks",
    kinds.TRUTH,
    False,
    "Skip the check that a custom backward rule returns cotangents of the inputs' "
    "types, for programs that rely on the conversion.",
    traces=True,
    honoured=False,
)
mutable_array_checks = _define(
    "mutable_array_checks",
    kinds.TRUTH,
    True,
    "Refuse programs in which two names reach the same mutable array.",
    traces=True,
    honoured=False,
)
array_garbage_collection_guard = _define(
    "array_garbage_collection_guard",
    kinds.choice("allow", "log", "fatal", optional=True),
    None,
    "What happens to arrays that only the cycle collector frees, which hold device "
    "memory for longer than their last use.",
    honoured=False,
)
thread_guard = _define(
    "thread_guard",
    kinds.TRUTH,
    False,
    "Refuse multi-process programs started from another thread than the one that set "
    "this, since the order of programs must agree between processes.",
    honoured=False,
)

# -- messages --------------------------------------------------------------------------

log_compiles = _define(
    "log_compiles",
    kinds.TRUTH,
    False,
    "Log each trace, lowering and compilation with its time, as warnings.",
)
explain_cache_misses = _define(
    "explain_cache_misses",
    kinds.TRUTH,
    False,
    "Log why each retrace happened: which argument or setting changed, and how.",
)
log_checkpoint_residuals = _define(
    "log_checkpoint_residuals",
    kinds.TRUTH,
    False,
    "Log what each checkpointed function keeps for its backward pass.",
    honoured=False,
)
logging_level = _define(
    "logging_level",
    kinds.choice("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "NOTSET",
    "The level of the logger named olympus.",
)
debug_log_modules = _define(
    "debug_log_modules",
    kinds.TEXT,
    "",
    "Modules, separated by commas, whose debug messages go to stderr.",
)
traceback_filtering = _define(
    "traceback_filtering",
    kinds.choice(
        "auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"
    ),
    "auto",
    "How olympus's own frames leave the tracebacks of errors: not at all ('off'), by "
    "the mark that IPython and pytest know ('tracebackhide'), or by removal, with or "
    "without a note that says so; 'auto' marks under IPython and removes elsewhere.",
)
tracer_error_num_traceback_frames = _define(
    "tracer_error_num_traceback_frames",
    kinds.INTEGER,
    5,
    "Frames of the user's code shown for a traced value in an error message.",
    honoured=False,
)
include_full_tracebacks_in_locations = _define(
    "include_full_tracebacks_in_locations",
    kinds.TRUTH,
    True,
    "Give each operation of a lowered module its call stack, not its line alone.",
    honoured=False,
)
traceback_in_locations_limit = _define(
    "traceback_in_locations_limit",
    kinds.INTEGER,
    100,
    "The frames of such a call stack; negative for all.",
    honoured=False,
)
hlo_source_file_canonicalization_regex = _define(
    "hlo_source_file_canonicalization_regex",
    kinds.MAYBE_TEXT,
    None,
    "Removed from file names in lowered modules, so that a checkout's place does not "
    "change the text.",
    honoured=False,
)
pprint_use_color = _define(
    "pprint_use_color",
    kinds.TRUTH,
    True,
    "Colour printed programs on terminals that can.",
    honoured=False,
)
captured_constants_warn_bytes = _define(
    "captured_constants_warn_bytes",
    kinds.INTEGER,
    2_000_000_000,
    "Warn where a traced function closes over arrays of more bytes; -1 for never.",
    honoured=False,
)
captured_constants_report_frames = _define(
    "captured_constants_report_frames",
    kinds.INTEGER,
    0,
    "Frames shown for each array in that warning; -1 for all.",
    honoured=False,
)

# -- devices ---------------------------------------------------------------------------

platforms = _define(
    "platforms",
    kinds.MAYBE_TEXT,
    None,
    "Platforms to start, separated by commas, the default one first. None starts all "
    "that are installed and prefers accelerators.",
)
platform_name = _define(
    "platform_name", kinds.TEXT, "", "An older name of `platforms`, for one platform."
)
default_device = _define(
    "default_device",
    kinds.DEVICE,
    None,
    "Where computations run whose arguments live nowhere in particular.",
    traces=True,
)
num_cpu_devices = _define(
    "num_cpu_devices",
    kinds.MAYBE_INTEGER,
    -1,
    "How many devices the CPU shows, to try programs for several devices on one "
    "machine; -1 leaves it to XLA_FLAGS, which means one.",
)
cpu_enable_async_dispatch = _define(
    "cpu_enable_async_dispatch",
    kinds.TRUTH,
    True,
    "Return from CPU computations before they are done.",
)
cpu_collectives_implementation = _define(
    "cpu_collectives_implementation",
    kinds.choice("none", "gloo", "mpi", optional=True),
    "gloo",
    "How CPU processes of one program speak to each other.",
    honoured=False,
)
cuda_visible_devices = _define(
    "cuda_visible_devices",
    kinds.TEXT,
    "all",
    "Numbers of the CUDA devices to use, separated by commas, or 'all'.",
)
rocm_visible_devices = _define(
    "rocm_visible_devices",
    kinds.TEXT,
    "all",
    "Numbers of the ROCm devices to use, separated by commas, or 'all'.",
)
pjrt_client_create_options = _define(
    "pjrt_client_create_options",
    kinds.MAYBE_TEXT,
    None,
    "Options for a platform's client, written 'name:value;name:value'.",
)
keep_host_memory = _define(
    "keep_host_memory",
    kinds.TRUTH,
    True,
    "Keep freed memory of large CPU arrays for the next ones instead of returning it "
    "to the system, whose fresh pages cost more than the arithmetic on them.",
)

_guard = kinds.choice(
    "allow", "log", "disallow", "log_explicit", "disallow_explicit", optional=True
)
transfer_guard_host_to_device = _define(
    "transfer_guard_host_to_device",
    _guard,
    None,
    "What happens where data moves to a device: 'log' and 'disallow' regard implicit "
    "transfers, the '_explicit' levels device_put and device_get too.",
    honoured=False,
)
transfer_guard_device_to_device = _define(
    "transfer_guard_device_to_device",
    _guard,
    None,
    "The same for data that moves between devices.",
    honoured=False,
)
transfer_guard_device_to_host = _define(
    "transfer_guard_device_to_host",
    _guard,
    None,
    "The same for data that moves back to the host.",
    honoured=False,
)
transfer_guard = _define(
    "transfer_guard",
    _guard,
    None,
    "Sets the guards of all three directions; read theirs.",
    followers=(
        transfer_guard_host_to_device,
        transfer_guard_device_to_device,
        transfer_guard_device_to_host,
    ),
    honoured=False,
)

# -- the compiler and its cache --------------------------------------------------------

disable_most_optimizations = _define(
    "disable_most_optimizations",
    kinds.TRUTH,
    False,
    "Compile fast and run slowly, for tests.",
    traces=True,
    honoured=False,
)
optimization_level = _define(
    "optimization_level",
    kinds.choice("UNKNOWN", "O0", "O1", "O2", "O3"),
    "UNKNOWN",
    "How hard the compiler works for speed; UNKNOWN leaves it to the platform.",
    traces=True,
    honoured=False,
)
memory_fitting_level = _define(
    "memory_fitting_level",
    kinds.choice("UNKNOWN", "O0", "O1", "O2", "O3"),
    "O2",
    "How hard the compiler works to fit a program into memory.",
    traces=True,
    honoured=False,
)
compiler_enable_remat_pass = _define(
    "compiler_enable_remat_pass",
    kinds.TRUTH,
    True,
    "Let the compiler compute values again to save memory.",
    traces=True,
    honoured=False,
)
use_shardy_partitioner = _define(
    "use_shardy_partitioner",
    kinds.TRUTH,
    True,
    "Partition programs by Shardy rather than GSPMD.",
    traces=True,
    honoured=False,
)
enable_compilation_cache = _define(
    "enable_compilation_cache",
    kinds.TRUTH,
    True,
    "Use the cache on disk, where compilation_cache_dir names one.",
    honoured=False,
)
compilation_cache_dir = _define(
    "compilation_cache_dir",
    kinds.PATH,
    None,
    "Directory in which compiled programs outlive the process.",
    honoured=False,
)
compilation_cache_max_size = _define(
    "compilation_cache_max_size",
    kinds.INTEGER,
    -1,
    "Bytes that directory may hold before the least recently used programs leave; "
    "-1 for no limit, 0 for no cache.",
    honoured=False,
)
compilation_cache_include_metadata_in_key = _define(
    "compilation_cache_include_metadata_in_key",
    kinds.TRUTH,
    False,
    "Compile again where only source positions differ, so that profiles show the "
    "right lines.",
    honoured=False,
)
persistent_cache_min_compile_time_secs = _define(
    "persistent_cache_min_compile_time_secs",
    kinds.NUMBER,
    1.0,
    "Seconds a compilation must take for its program to be kept on disk.",
    honoured=False,
)
persistent_cache_min_entry_size_bytes = _define(
    "persistent_cache_min_entry_size_bytes",
    kinds.INTEGER,
    0,
    "Bytes a program must have to be kept on disk; 0 and -1 for any.",
    honoured=False,
)
persistent_cache_enable_xla_caches = _define(
    "persistent_cache_enable_xla_caches",
    kinds.MAYBE_TEXT,
    "xla_gpu_per_fusion_autotune_cache_dir",
    "XLA's own caches to keep in that directory: 'all', 'none' or names separated by "
    "commas.",
    honoured=False,
)
raise_persistent_cache_errors = _define(
    "raise_persistent_cache_errors",
    kinds.TRUTH,
    False,
    "Raise errors of the cache on disk instead of warning and compiling.",
    honoured=False,
)
dump_ir_to = _define(
    "dump_ir_to",
    kinds.TEXT,
    "",
    "Directory into which each lowered module is written; '' for none.",
    honoured=False,
)
dump_ir_modes = _define(
    "dump_ir_modes",
    kinds.TEXT,
    "stablehlo",
    "What to write there, separated by commas: 'stablehlo', 'olympuspr'.",
    honoured=False,
)
export_ignore_forward_compatibility = _define(
    "export_ignore_forward_compatibility",
    kinds.TRUTH,
    False,
    "Let exported programs use operations that older consumers do not know yet.",
    honoured=False,
)
export_calling_convention_version = _define(
    "export_calling_convention_version",
    kinds.INTEGER,
    10,
    "The calling convention of exported programs.",
    honoured=False,
)

# -- fast reads ------------------------------------------------------------------------


def x64_enabled() -> bool:
    """Whether 64-bit dtypes are allowed in this thread."""
    return enable_x64.value


def jit_disabled() -> bool:
    """Whether jitted functions run as plain Python in this thread."""
    return disable_jit.value


def check_leaks() -> bool:
    """Whether values that outlive their trace are an error in this thread."""
    return check_tracer_leaks.value


def checking_leaks() -> states.Override:
    """A block in which values that outlive their trace are an error."""
    return check_tracer_leaks(True)


# -- the door for users ----------------------------------------------------------------

config = Config()
update = config.update
read = config.read


def make_user_context(default_value: Any = None) -> State:
    """A value of the user's own that traces depend on.

    Functions that are jitted read `state.value` while they are traced; a jitted
    function is traced again where the value differs.

    Args:
      default_value: hashable; the value outside of any `with` block.

    Returns:
      A state: `state.value` reads it, `with state(value):` sets it for a block.

    Example:
      >>> from olympus._src.foundation.config import make_user_context
      >>> training = make_user_context(False)
      >>> with training(True):
      ...     training.value
      True
    """
    return State(
        "user_context",
        _hashable,
        _hashable(default_value),
        "A value of the user's own.",
        traces=True,
    )


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            "make_user_context: the value must be hashable, since traces are kept by "
            f"it, got {type(value).__name__}; use a tuple or another immutable value"
        ) from None
    return value
