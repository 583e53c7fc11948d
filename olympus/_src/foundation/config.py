"""Every setting of olympus: what it does, and why it exists.

A setting `x` is the state object `x` of this module: `x.value` reads it, and
`with x(value):` sets it in one thread for a block. Users set it globally by
`olympus.config.update("olympus_x", value)`, or before the program starts by the
environment variable `OLYMPUS_X`.

Functions read settings when they run, never at import, so an update works at any time;
the few settings that the device clients take at their start refuse later changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from olympus._src.foundation import compiler_settings as compiler
from olympus._src.foundation import setting_states, setting_types
from olympus._src.foundation.public_settings import Config, define
from olympus._src.foundation.setting_states import MISSING, State, trace_context

__all__ = ["State", "compiler", "config", "make_user_context", "trace_context"]


class _JitSwitch(State):
    """The setting whose value callers name `disable`, and all others `new_val`."""

    __slots__ = ()

    def __call__(self, disable: Hashable = MISSING) -> setting_states.Override:
        return super().__call__(disable)


# -- numbers and their types -----------------------------------------------------------

enable_x64 = define(
    "enable_x64",
    setting_types.TRUTH,
    False,
    "Allow 64-bit dtypes. When off, they are converted to 32 bits, since "
    "accelerators are slow at 64 bits or do not support them.",
    traces=True,
)
explicit_x64_dtypes = define(
    "explicit_x64_dtypes",
    setting_types.choice("error", "warn", "allow"),
    "warn",
    "What happens where a program names a 64-bit dtype while they are disabled: an "
    "error, a warning and 32 bits, or the 64-bit dtype.",
    traces=True,
    honoured=False,
)
numpy_dtype_promotion = define(
    "numpy_dtype_promotion",
    setting_types.choice("standard", "strict"),
    "standard",
    "How operands of different dtypes are combined: by the promotion lattice, or not "
    "at all, for programs that convert explicitly.",
    traces=True,
)
numpy_rank_promotion = define(
    "numpy_rank_promotion",
    setting_types.choice("allow", "warn", "raise"),
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
default_matmul_precision = define(
    "default_matmul_precision",
    setting_types.choice(*MATMUL_PRECISIONS, optional=True),
    None,
    "The precision of contractions and convolutions that name none. None leaves the "
    "choice to the platform, which on GPUs and TPUs trades bits for speed.",
    traces=True,
)
allow_f16_reductions = define(
    "allow_f16_reductions",
    setting_types.TRUTH,
    True,
    "Whether sums may run in 16-bit floats; off, they are an error, to find places "
    "that lose precision.",
    traces=True,
    honoured=False,
)
softmax_custom_jvp = define(
    "softmax_custom_jvp",
    setting_types.TRUTH,
    False,
    "Differentiate softmax by its own rule, which keeps one array instead of three.",
    traces=True,
    honoured=False,
)
check_static_indices = define(
    "check_static_indices",
    setting_types.TRUTH,
    False,
    "Raise an error for constant indices out of bounds, which otherwise are clamped.",
    traces=True,
)

# -- random numbers --------------------------------------------------------------------

# The names of all generators; those that libraries register are added.
generator_names = {
    "threefry2x32",
    "threefry4x32",
    "rbg",
    "unsafe_rbg",
    "philox2x32",
    "philox4x32",
}
default_prng_impl = define(
    "default_prng_impl",
    setting_types.name_in(
        generator_names,
        "one of "
        + ", ".join(map(repr, sorted(generator_names)))
        + ", or a generator that a library registered",
    ),
    "threefry2x32",
    "The generator of keys made without naming one: 'threefry2x32', 'rbg', "
    "'unsafe_rbg' or one that a library registered.",
    traces=True,
)
threefry_partitionable = define(
    "threefry_partitionable",
    setting_types.TRUTH,
    True,
    "Compute each random number from its position in the array, so that each shard "
    "can be generated on its own device; off gives the numbers of the older scheme.",
    traces=True,
)
enable_custom_prng = define(
    "enable_custom_prng",
    setting_types.TRUTH,
    False,
    "Have random.PRNGKey return typed keys, as random.key does.",
    traces=True,
)
legacy_prng_key = define(
    "legacy_prng_key",
    setting_types.choice("allow", "warn", "error"),
    "allow",
    "What happens where an array of raw bits is used as a key.",
)
random_seed_offset = define(
    "random_seed_offset",
    setting_types.INTEGER,
    0,
    "Added to every seed, to rerun a program with other random numbers.",
    traces=True,
)
high_dynamic_range_gumbel = define(
    "high_dynamic_range_gumbel",
    setting_types.TRUTH,
    False,
    "Draw Gumbel samples with twice the random bits, for sharper tails.",
    traces=True,
)
debug_key_reuse = define(
    "debug_key_reuse",
    setting_types.TRUTH,
    False,
    "Raise KeyReuseError where a key is consumed twice.",
    traces=True,
)

# -- finding errors --------------------------------------------------------------------

debug_nans = define(
    "debug_nans",
    setting_types.TRUTH,
    False,
    "Check every result for NaN and raise FloatingPointError at the operation that "
    "made the first.",
    traces=True,
)
debug_infs = define(
    "debug_infs",
    setting_types.TRUTH,
    False,
    "Check every result for infinities, as debug_nans does for NaN.",
    traces=True,
)
debug_all_numbers = define(
    "debug_all_numbers",
    setting_types.TRUTH,
    False,
    "With debug_nans or debug_infs, check the result of every operation inside of "
    "compiled programs, also where it does not reach a result.",
)
disable_jit = define(
    "disable_jit",
    setting_types.TRUTH,
    False,
    "Run jitted functions and loops as plain Python, for a debugger.",
    traces=True,
    state=_JitSwitch,
)
check_tracer_leaks = define(
    "check_tracer_leaks",
    setting_types.TRUTH,
    False,
    "Raise LeakError when a trace ends while its values can still be reached.",
    traces=True,
)
enable_checks = define(
    "enable_checks",
    setting_types.TRUTH,
    False,
    "Check every program that a transformation makes; slow, for olympus's own tests.",
    traces=True,
)
no_tracing = define(
    "no_tracing",
    setting_types.TRUTH,
    False,
    "Make tracing an error, to assert that a program is warm.",
)
no_execution = define(
    "no_execution",
    setting_types.TRUTH,
    False,
    "Make running anything on a device an error, to assert that code only traces.",
)
disable_bwd_checks = define(
    "disable_bwd_checks",
    setting_types.TRUTH,
    False,
    "Skip the check that a custom backward rule returns cotangents of the inputs' "
    "types, for programs that rely on the conversion.",
    traces=True,
)
mutable_array_checks = define(
    "mutable_array_checks",
    setting_types.TRUTH,
    True,
    "Refuse programs in which two names reach the same mutable array.",
    traces=True,
    honoured=False,
)
array_garbage_collection_guard = define(
    "array_garbage_collection_guard",
    setting_types.choice("allow", "log", "fatal", optional=True),
    None,
    "What happens to arrays that only the cycle collector frees, which hold device "
    "memory for longer than their last use.",
)
thread_guard = define(
    "thread_guard",
    setting_types.TRUTH,
    False,
    "Refuse multi-process programs started from another thread than the one that set "
    "this, since the order of programs must agree between processes.",
)

# -- messages --------------------------------------------------------------------------

log_compiles = define(
    "log_compiles",
    setting_types.TRUTH,
    False,
    "Log each trace, lowering and compilation with its time, as warnings.",
)
explain_cache_misses = define(
    "explain_cache_misses",
    setting_types.TRUTH,
    False,
    "Log why each program was made: what changed since the most similar call, where "
    "the call is, what it cost, and how to avoid it.",
)
report = define(
    "report",
    setting_types.TRUTH,
    False,
    "Print at the end what making programs cost: functions by the seconds that "
    "tracing and compiling them again took, why, and how to avoid it.",
)
compile_progress = define(
    "compile_progress",
    setting_types.choice("auto", "on", "off"),
    "auto",
    "Whether traces, lowerings and compilations of over two seconds say so, with the "
    "lines of most operations; 'auto' where that is a terminal or a notebook.",
)
log_checkpoint_residuals = define(
    "log_checkpoint_residuals",
    setting_types.TRUTH,
    False,
    "Log what each checkpointed function keeps for its backward pass.",
    honoured=False,
)
logging_level = define(
    "logging_level",
    setting_types.choice("NOTSET", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "NOTSET",
    "The level of the logger named olympus.",
)
debug_log_modules = define(
    "debug_log_modules",
    setting_types.TEXT,
    "",
    "Modules, separated by commas, whose debug messages go to stderr.",
)
traceback_filtering = define(
    "traceback_filtering",
    setting_types.choice(
        "auto", "off", "tracebackhide", "remove_frames", "quiet_remove_frames"
    ),
    "auto",
    "How olympus's own frames leave the tracebacks of errors: not at all ('off'), by "
    "the mark that IPython and pytest know ('tracebackhide'), or by removal, with or "
    "without a note that says so; 'auto' removes them, with a note.",
)
tracer_error_num_traceback_frames = define(
    "tracer_error_num_traceback_frames",
    setting_types.INTEGER,
    5,
    "Frames of the user's code shown for a traced value in an error message.",
    honoured=False,
)
include_full_tracebacks_in_locations = define(
    "include_full_tracebacks_in_locations",
    setting_types.TRUTH,
    True,
    "Give each operation of a lowered module its call stack, not its line alone.",
)
traceback_in_locations_limit = define(
    "traceback_in_locations_limit",
    setting_types.INTEGER,
    100,
    "The frames of such a call stack; negative for all.",
)
hlo_source_file_canonicalization_regex = define(
    "hlo_source_file_canonicalization_regex",
    setting_types.MAYBE_TEXT,
    None,
    "Removed from file names in lowered modules, so that the location of a checkout "
    "does not change the text.",
)
pprint_use_color = define(
    "pprint_use_color",
    setting_types.TRUTH,
    True,
    "Colour printed programs on terminals that support it.",
    honoured=False,
)
captured_constants_warn_bytes = define(
    "captured_constants_warn_bytes",
    setting_types.INTEGER,
    2_000_000_000,
    "Warn where a traced function closes over arrays of more bytes; -1 for never.",
)
captured_constants_report_frames = define(
    "captured_constants_report_frames",
    setting_types.INTEGER,
    0,
    "How many of these arrays that warning places, by the line that reads them first; "
    "-1 for all.",
)

# -- devices ---------------------------------------------------------------------------

platforms = define(
    "platforms",
    setting_types.MAYBE_TEXT,
    None,
    "Platforms to start, separated by commas, the default one first. None starts all "
    "that are installed and prefers accelerators.",
)
platform_name = define(
    "platform_name",
    setting_types.TEXT,
    "",
    "An older name of `platforms`, for one platform.",
)
default_device = define(
    "default_device",
    setting_types.DEVICE,
    None,
    "The device of computations whose arguments are not committed to one.",
    traces=True,
)
num_cpu_devices = define(
    "num_cpu_devices",
    setting_types.MAYBE_INTEGER,
    -1,
    "The number of devices that the CPU is split into, to try programs for several "
    "devices on one machine; -1 leaves it to XLA_FLAGS, which means one.",
)
cpu_enable_async_dispatch = define(
    "cpu_enable_async_dispatch",
    setting_types.TRUTH,
    True,
    "Return from CPU computations before they are done.",
)
cpu_collectives_implementation = define(
    "cpu_collectives_implementation",
    setting_types.choice("none", "gloo", "mpi", optional=True),
    "gloo",
    "How the CPU processes of one program communicate: 'gloo', or not at all.",
)
peer_silence_limit_s = define(
    "peer_silence_limit_s",
    setting_types.NUMBER,
    30.0,
    "Seconds without a sign of life after which another process of the program counts "
    "as dead. Each process gives ten signs in that time, at most one in 50 ms, from a "
    "thread, so it must not hold the interpreter's lock for longer. Read by "
    "distributed.initialize.",
)
peer_lag_limit_s = define(
    "peer_lag_limit_s",
    setting_types.NUMBER,
    600.0,
    "Seconds that a process waits for another one that lives but does not start the "
    "program that both must run; 0 for no limit. Read by distributed.initialize.",
)
cuda_visible_devices = define(
    "cuda_visible_devices",
    setting_types.TEXT,
    "all",
    "Numbers of the CUDA devices to use, separated by commas, or 'all'.",
)
skip_cuda_constraints_check = define(
    "skip_cuda_constraints_check",
    setting_types.TRUTH,
    False,
    "Start NVIDIA's GPUs with any versions of CUDA's libraries.",
)
rocm_visible_devices = define(
    "rocm_visible_devices",
    setting_types.TEXT,
    "all",
    "Numbers of the ROCm devices to use, separated by commas, or 'all'.",
)
pjrt_client_create_options = define(
    "pjrt_client_create_options",
    setting_types.MAYBE_TEXT,
    None,
    "Options for a platform's client, written 'name:value;name:value'.",
)
keep_host_memory = define(
    "keep_host_memory",
    setting_types.TRUTH,
    True,
    "Keep freed memory of large CPU arrays for the next ones instead of returning it "
    "to the system, whose fresh pages cost more than the arithmetic on them. What "
    "stays free for a second, beyond 128 MiB, is returned.",
)

_guard = setting_types.choice(
    "allow", "log", "disallow", "log_explicit", "disallow_explicit", optional=True
)
transfer_guard_host_to_device = define(
    "transfer_guard_host_to_device",
    _guard,
    None,
    "What happens where data moves to a device: 'log' and 'disallow' regard implicit "
    "transfers, the '_explicit' levels device_put and device_get too.",
)
transfer_guard_device_to_device = define(
    "transfer_guard_device_to_device",
    _guard,
    None,
    "The same for data that moves between devices.",
)
transfer_guard_device_to_host = define(
    "transfer_guard_device_to_host",
    _guard,
    None,
    "The same for data that moves back to the host.",
)
transfer_guard = define(
    "transfer_guard",
    _guard,
    None,
    "Sets the guards of all three directions; read each of them by its own name.",
    followers=(
        transfer_guard_host_to_device,
        transfer_guard_device_to_device,
        transfer_guard_device_to_host,
    ),
)

# -- blocks that are no settings of users ----------------------------------------------

xla_metadata = State(
    "set_xla_metadata",
    tuple,
    (),
    "The attributes of operations that blocks of `set_xla_metadata` say, as pairs of a "
    "name and a text. It is set by these blocks alone, and is a state so that programs "
    "that were traced with other attributes are not used again.",
    traces=True,
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


def checking_leaks() -> setting_states.Override:
    """A context manager in which values that outlive their trace are an error."""
    return check_tracer_leaks(True)


# -- entry points for users ------------------------------------------------------------

config = Config()
update = config.update
read = config.read


def make_user_context(default_value: Hashable = None) -> State:
    """A user-defined setting that traces depend on.

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
